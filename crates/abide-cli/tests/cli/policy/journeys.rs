//! Three stories of the stable API versioning policy, as their users live them: only protos are edited, and only
//! commands run. After each step `abide check` is clean or says what is next, and what it says is
//! done word for word.

use std::fs;

use tempfile::TempDir;

use crate::breaking::{commit, git};
use crate::run::{Ran, abide, put, repository};

const BASE: &str = "acme/base/v1/base.proto";
const USER: &str = "acme/user/v1/user.proto";
const SHOP: &str = "acme/shop/v1/shop.proto";
const CANDIDATE: &str = "acme/user/v2alpha/user.proto";

/// A tree under version control, on one day.
struct Journey {
    folder: TempDir,
    day: &'static str,
    /// How many releases are tagged.
    releases: u32,
}

impl Journey {
    /// Begins on the day of the first release.
    fn begin(version_in: &str, config: &str, files: &[(&str, &str)]) -> Journey {
        let folder = TempDir::new().unwrap();
        let api = repository().join("api").display().to_string();
        let config = format!("import-paths = [{api:?}]\nversion-in = \"{version_in}\"\n{config}");
        put(folder.path(), &[("abide.toml", &config)]);
        put(folder.path(), files);
        let mut journey = Journey { folder, day: "2026-07-05", releases: 0 };
        journey.ok("bump --write");
        journey.release();
        assert_eq!(journey.follow(), [""; 0], "a new tree is clean");
        journey
    }

    fn run(&self, command: &str) -> Ran {
        let words: Vec<&str> = command.split(' ').chain(["--as-of", self.day]).collect();
        abide(self.folder.path(), &words)
    }

    fn ok(&self, command: &str) -> Ran {
        let ran = self.run(command);
        assert_eq!(ran.status, 0, "abide {command}: {} {}", ran.text(), ran.stderr);
        ran
    }

    /// What `abide check` reports that is more than a note: rule and advice.
    fn asked(&self) -> Vec<(String, String)> {
        let ran = self.run(&format!("check --format json --against git:r{}", self.releases));
        assert_ne!(ran.status, 2, "{}", ran.stderr);
        let lines = ran.json();
        let findings =
            lines.iter().filter(|it| it["kind"] == "finding" && it["severity"] != "note");
        let text =
            |it: &serde_json::Value, key: &str| it[key].as_str().unwrap_or_default().to_owned();
        findings.map(|it| (text(it, "rule"), text(it, "help"))).collect()
    }

    /// Does what `abide check` advises, until it has nothing more to say. Returns the rules that
    /// spoke, in the order in which they were obeyed.
    fn follow(&self) -> Vec<String> {
        let mut obeyed = Vec::new();
        loop {
            let asked = self.asked();
            let Some((rule, command)) = asked.iter().find_map(|(rule, help)| {
                let (_, command) = help.split_once("run `abide ")?;
                Some((rule, command.split_once('`')?.0))
            }) else {
                assert!(asked.is_empty(), "no command is advised: {asked:?}");
                return obeyed;
            };
            self.ok(command);
            obeyed.push(rule.clone());
            assert!(obeyed.len() < 9, "the advice leads nowhere: {obeyed:?}");
        }
    }

    /// Everything is settled: commits it and tags it as a release.
    fn release(&mut self) {
        commit(self.folder.path());
        self.releases += 1;
        git(self.folder.path(), &["tag", &format!("r{}", self.releases)]);
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.folder.path().join(path)).unwrap_or_default()
    }

    fn edit(&self, path: &str, from: &str, to: &str) {
        let text = self.read(path);
        assert!(text.contains(from), "{path} holds no {from:?}: {text}");
        fs::write(self.folder.path().join(path), text.replacen(from, to, 1)).unwrap();
    }

    fn version(&self, package: &str) -> String {
        let ran = self.ok("bump --format json --against git:HEAD");
        let found = ran.json().into_iter().find(|it| it["package"] == package);
        found.map_or_else(String::new, |it| it["to"].as_str().unwrap_or_default().to_owned())
    }
}

/// Where versions and days are recorded: `version-in`.
const VERSION_IN: [&str; 2] = ["lock", "option"];

/// The next major has what the stable version has, and what is only planned for it.
#[test]
fn a_field_is_added_to_the_stable_version_or_only_to_the_next() {
    for version_in in VERSION_IN {
        let user = "syntax = \"proto3\";\n\npackage acme.user.v1;\n\n\
                    import \"abide/annotations/v1/lifecycle.proto\";\n\nmessage User {\n  string id \
                    = 1;\n\n  string name = 2 [\n    deprecated = true,\n    \
                    (abide.annotations.v1.field_policy).replaced_by = \"id\"\n  ];\n}\n";
        let mut journey = Journey::begin(version_in, "", &[(USER, user)]);
        journey.ok("upgrade --write");
        // In the lock, the upgrade recorded the version of the candidate.
        let asked: &[&str] = if version_in == "lock" { &[] } else { &["version-not-bumped"] };
        assert_eq!(journey.follow(), asked);
        journey.release();

        journey.edit(USER, "\n}\n", "\n\n  // Where to write to.\n  string mail = 3;\n}\n");
        let mut rules = journey.follow();
        rules.sort();
        rules.dedup();
        assert_eq!(rules, ["candidate-edited", "version-not-bumped"]);
        assert!(journey.read(CANDIDATE).contains("// Where to write to.\n  string mail = 3;"));
        assert_eq!(journey.version("acme.user.v1"), "1.1.0");
        journey.release();

        // A field of the next major alone, declared as that.
        let alone =
            "string phone = 4 [(abide.annotations.v1.field_policy).next_major_only = true];";
        journey.edit(CANDIDATE, "\n}\n", &format!("\n\n  // To call.\n  {alone}\n}}\n"));
        let package = "package acme.user.v2alpha;\n";
        let lifecycle = "import \"abide/annotations/v1/lifecycle.proto\";\n";
        if !journey.read(CANDIDATE).contains(lifecycle) {
            journey.edit(CANDIDATE, package, &format!("{package}\n{lifecycle}"));
        }
        let rules = journey.follow();
        assert!(!rules.contains(&"candidate-edited".to_owned()), "{rules:?}");
        journey.release();
        // Whatever follows in the stable version, it stays.
        journey.edit(USER, "string mail = 3;", "string mail = 3;\n\n  string city = 5;");
        journey.follow();
        let next = journey.read(CANDIDATE);
        assert!(next.contains(alone) && next.contains("string city = 5;"), "{next}");
        assert!(!journey.read(USER).contains("phone"));
    }
}

/// A type moves from one package to another: the next versions of both are written by hand, and
/// what depends on them follows in the release.
#[test]
fn a_type_moved_between_packages_is_released_with_its_dependents() {
    let file =
        |package: &str, body: &str| format!("syntax = \"proto3\";\n\npackage {package};\n\n{body}");
    for version_in in VERSION_IN {
        let base = file("acme.base.v1", "message Id {\n  string text = 1;\n}\n");
        let user = file(
            "acme.user.v1",
            "import \"abide/annotations/v1/lifecycle.proto\";\nimport \
             \"acme/base/v1/base.proto\";\n\nmessage User {\n  acme.base.v1.Id id = 1;\n\n  string \
             street = 2 [(abide.annotations.v1.field_policy).lossy = \"addresses move\"];\n}\n",
        );
        let shop = file(
            "acme.shop.v1",
            "import \"acme/user/v1/user.proto\";\n\nmessage Order {\n  acme.user.v1.User buyer = \
             1;\n}\n",
        );
        let config = "[calendar]\napi-releases = [\"06-30\"]\n[upgrade]\nby-hand = \
                      [\"acme.*.v2alpha\"]\n";
        let mut journey =
            Journey::begin(version_in, config, &[(BASE, &base), (USER, &user), (SHOP, &shop)]);
        let base = file(
            "acme.base.v2alpha",
            "message Id {\n  string text = 1;\n}\n\nmessage Address {\n  string street = 1;\n}\n",
        );
        let user = file(
            "acme.user.v2alpha",
            "import \"acme/base/v2alpha/base.proto\";\n\nmessage User {\n  reserved 2;\n\n  \
             reserved \"street\";\n\n  acme.base.v2alpha.Id id = 1;\n\n  acme.base.v2alpha.Address \
             address = 3;\n}\n",
        );
        let folder = journey.folder.path();
        put(folder, &[("acme/base/v2alpha/base.proto", &base), (CANDIDATE, &user)]);
        assert_eq!(journey.follow().iter().filter(|it| *it != "version-not-bumped").count(), 0);
        journey.release();

        // Between two releases of the API it waits.
        let refused = journey.run("release --write");
        assert_eq!(refused.status, 1, "{}", refused.stderr);
        assert!(refused.stderr.contains("2027-05-31"), "{}", refused.stderr);
        journey.day = "2027-06-15";
        let ran = journey.ok("release --write");
        assert!(ran.stderr.contains("`acme.shop.v1` becomes `acme.shop.v2`"), "{}", ran.stderr);
        journey.follow();
        for (package, version) in [("base", "2.0.0"), ("user", "2.0.0"), ("shop", "2.0.0")] {
            assert_eq!(journey.version(&format!("acme.{package}.v2")), version, "{package}");
        }
        let shop = journey.read("acme/shop/v2/shop.proto");
        assert!(shop.contains("acme.user.v2.User buyer = 1;"), "{shop}");
        assert!(journey.read("acme/user/v2/user.proto").contains("acme.base.v2.Address address"));
        assert!(!journey.folder.path().join(CANDIDATE).exists());
        journey.release();
        assert_eq!(journey.ok("release --check").status, 0, "nothing is left to release");
    }
}

/// A field is deprecated, and followed over two releases of the API: through every phase, the
/// freeze of its major and the end of its support.
#[test]
fn a_deprecated_field_passes_all_phases_until_its_major_ends() {
    let config = "[packages]\nmax-majors = 3\n[calendar]\nclient-releases = [\"03-31\", \"06-30\", \
                  \"09-30\", \"12-31\"]\napi-releases = [\"06-30\"]\nprevious-major-months = \
                  12\nalpha-max-releases = 2\n[rules]\ndeprecation-without-version = \"error\"\n";
    let user = "syntax = \"proto3\";\n\npackage acme.user.v1;\n\nmessage User {\n  string mail = \
                1;\n\n  repeated string mails = 2;\n}\n";
    for version_in in VERSION_IN {
        let mut journey = Journey::begin(version_in, config, &[(USER, user)]);
        let rules = |journey: &Journey| -> Vec<String> {
            journey.asked().into_iter().map(|it| it.0).collect()
        };
        // 2026: it is deprecated. What is missing is asked for, and then recorded.
        journey.day = "2026-07-10";
        let package = "package acme.user.v1;\n";
        let lifecycle = "import \"abide/annotations/v1/lifecycle.proto\";\n";
        journey.edit(USER, package, &format!("{package}\n{lifecycle}"));
        let policy = "(abide.annotations.v1.field_policy)";
        journey.edit(
            USER,
            "mail = 1;",
            &format!(
                "mail = 1 [\n    deprecated = true,\n    {policy}.replaced_by = \"mails\"\n  ];"
            ),
        );
        assert!(rules(&journey).contains(&"deprecation-without-version".to_owned()));
        journey.edit(
            USER,
            "true,",
            &format!("true,\n    {policy}.deprecated_at = \"2026-07-10\","),
        );
        journey.follow();
        journey.ok("upgrade --write");
        journey.follow();
        assert_eq!(journey.version("acme.user.v1"), "1.1.0");
        assert!(journey.read(CANDIDATE).contains("reserved \"mail\";"));
        journey.ok("deprecations --write");
        journey.release();
        let phase = |journey: &Journey| {
            let lines = journey.ok("deprecations --format json").json();
            let line = lines.into_iter().find(|it| it["kind"] == "deprecation");
            line.map(|it| it["phase"].as_str().unwrap_or_default().to_owned())
        };
        assert_eq!(phase(&journey).as_deref(), Some("deprecated"));
        // The next release of clients warns, the one after it refuses.
        journey.day = "2026-10-01";
        assert_eq!((phase(&journey).as_deref(), rules(&journey).len()), (Some("warned"), 0));
        journey.day = "2027-01-02";
        assert_eq!(phase(&journey).as_deref(), Some("disallowed"));
        assert_eq!(rules(&journey), ["deprecated-not-disallowed"]);
        journey.edit(USER, "true,", &format!("true,\n    {policy}.disallowed_by_default = true,"));
        journey.follow();
        assert_eq!(journey.version("acme.user.v1"), "1.2.0");
        journey.release();
        // Nothing asks for its removal: only the next major may remove it.
        journey.day = "2027-05-01";
        assert_eq!(rules(&journey), [""; 0]);
        assert_eq!(journey.run("release --write").status, 1, "it is too early for a major");

        // The first release of the API: v2 does not have it, and v1 is frozen with it.
        journey.day = "2027-06-15";
        journey.ok("release --write");
        journey.follow();
        journey.ok("deprecations --write");
        journey.release();
        assert_eq!(journey.version("acme.user.v2"), "2.0.0");
        assert!(journey.read(USER).contains("string mail = 1"));
        journey.edit(USER, "\n}\n", "\n  string late = 9;\n}\n");
        assert_eq!(rules(&journey), ["frozen-package-changed"]);
        assert_eq!(journey.run("bump --write --against git:HEAD").status, 1);
        journey.edit(USER, "\n  string late = 9;\n}\n", "\n}\n");
        assert_eq!(rules(&journey), [""; 0]);
        let calendar = journey.ok("calendar").text();
        assert!(
            calendar.contains("`acme.user.v1`")
                || calendar.contains("acme.user.v1 is supported until 2028-06-15"),
            "{calendar}"
        );

        // What came in the window of 2027 is the newest until that of 2028.
        let life = journey.ok("calendar simulate --from 2027-07-01 --package acme.user.v2").text();
        assert!(life.contains("2028-06-30  the next major may be stable"), "{life}");

        // The second release of the API makes v3, and the support of v1 ends.
        let reserved = "  string id = 3 [\n    deprecated = true,\n    (abide.annotations.v1.field_policy).deprecated_at = \"2027-07-10\",\n    (abide.annotations.v1.field_policy).lossy = \"nobody sets it\",\n    (abide.annotations.v1.field_policy).replaced_by = \"mails\"\n  ];\n}\n";
        let second = "acme/user/v2/user.proto";
        journey.day = "2027-07-10";
        journey.edit(second, "\n}\n", &format!("\n\n{reserved}"));
        if !journey.read(second).contains(lifecycle) {
            let package = "package acme.user.v2;\n";
            journey.edit(second, package, &format!("{package}\n{lifecycle}"));
        }
        journey.follow();
        journey.ok("upgrade --write");
        journey.follow();
        journey.release();
        journey.day = "2028-06-14";
        assert_eq!(rules(&journey), ["deprecated-not-disallowed"], "{version_in}");
        journey.ok("release --write");
        journey.follow();
        journey.ok("deprecations --write");
        journey.release();
        assert_eq!(journey.version("acme.user.v3"), "3.0.0");
        journey.day = "2028-06-16";
        let late = rules(&journey);
        assert_eq!(late, ["major-past-support"], "{version_in}");
        // What it advises is possible: nobody is promised v1 any longer.
        git(journey.folder.path(), &["rm", "-rq", "acme/user/v1"]);
        journey.follow();
        let calendar = journey.ok("calendar").text();
        assert!(!calendar.contains("acme.user.v1"), "{calendar}");
        assert!(calendar.contains("acme.user.v2 is supported until 2029-06-14"), "{calendar}");
    }
}
