//! Lives of packages: over every command, each ends clean, or is refused with a word to whoever is
//! concerned.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::breaking::{commit, git};
use crate::run::{Ran, abide, put, repository};
use crate::version_lives::{Programs, live};

const DAY: &str = "2026-06-10";

/// A repository with a tree below `proto`, which the commands of a life work on.
struct Life(TempDir);

impl Life {
    fn of(config: &str, files: &[(&str, &str)]) -> Life {
        let folder = TempDir::new().unwrap();
        let path = folder.path();
        git(path, &["init", "--quiet", "-b", "main"]);
        let api = repository().join("api").display().to_string();
        // What stands before the first table is of the whole configuration.
        let keys = format!("roots = [\"proto\"]\nimport-paths = [{api:?}]\n");
        put(path, &[("abide.toml", &format!("{keys}{config}"))]);
        let life = Life(folder);
        files.iter().for_each(|(path, text)| life.put(path, text));
        life
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn put(&self, path: &str, text: &str) {
        put(self.path(), &[(&format!("proto/{path}"), text)]);
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path().join("proto").join(path)).unwrap()
    }

    fn has(&self, path: &str) -> bool {
        self.path().join("proto").join(path).exists()
    }

    fn edit(&self, path: &str, from: &str, to: &str) {
        let text = self.read(path);
        assert!(text.contains(from), "{path} has no {from:?}:\n{text}");
        self.put(path, &text.replacen(from, to, 1));
    }

    fn run(&self, args: &[&str]) -> Ran {
        let mut all = args.to_vec();
        all.extend(["--as-of", DAY]);
        abide(self.path(), &all)
    }

    /// Runs a command that does its work.
    fn ok(&self, args: &[&str]) -> String {
        let ran = self.run(args);
        assert_eq!(ran.status, 0, "{args:?}: {}{}", ran.text(), ran.stderr);
        ran.stderr
    }

    /// Runs a command that is refused, and changes no proto. Returns what it says.
    fn refused(&self, args: &[&str]) -> String {
        let before = self.protos();
        let ran = self.run(args);
        assert_eq!(ran.status, 1, "{args:?}: {}{}", ran.text(), ran.stderr);
        assert_eq!(self.protos(), before, "{args:?} writes nothing");
        ran.stderr + &String::from_utf8_lossy(&ran.stdout)
    }

    fn protos(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let mut open = vec![self.path().join("proto")];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => open.push(path),
                    false => {
                        found.push((path.display().to_string(), fs::read_to_string(&path).unwrap()))
                    }
                }
            }
        }
        found.sort();
        found
    }

    /// The rules that report an error.
    fn errors(&self, args: &[&str]) -> Vec<String> {
        let mut all = vec!["check", "-q", "--format", "json"];
        all.extend(args);
        let ran = self.run(&all);
        let is_error = |it: &serde_json::Value| it["severity"] == "error";
        let found = ran.json().into_iter().filter(is_error);
        found.map(|it| it["rule"].as_str().unwrap().to_owned()).collect()
    }

    fn release_of(&self, tag: &str) {
        commit(self.path());
        git(self.path(), &["tag", tag]);
    }

    fn lock(&self) -> String {
        fs::read_to_string(self.path().join("abide.lock")).unwrap()
    }
}

fn none() -> Vec<String> {
    Vec::new()
}

/// A file of a package.
fn file(package: &str, rest: &str) -> String {
    format!("syntax = \"proto3\";\npackage {package};\n{rest}")
}

const LIFECYCLE: &str = "import \"abide/annotations/v1/lifecycle.proto\";\n";
const STATUS: &str = "import \"abide/annotations/v1/status.proto\";\n";
const BY_HAND: &str = "option (abide.annotations.v1.file_policy).by_hand = true;\n";
const OLD: &str = "message User {\n  string id = 1;\n  string old = 2 [deprecated = true, \
                   (abide.annotations.v1.field_policy).lossy = \"unused\"];\n}\n";

fn user() -> String {
    file("acme.user.v1", &format!("{LIFECYCLE}{OLD}"))
}

#[test]
fn a_normal_release_changes_nothing_that_is_frozen() {
    let plain = file("acme.user.v1", "message User {\n  string mail = 1;\n}\n");
    let life = Life::of("", &[("acme/user/v1/user.proto", &plain)]);
    life.ok(&["bump", "--write"]);
    life.release_of("r1");
    // An annotation that the hash leaves out is no change, before and after the freeze.
    let rename = "string mail = 1 [(abide.annotations.v1.field_policy).migration.rename = \
                  \"email\"];";
    life.edit("acme/user/v1/user.proto", "string mail = 1;", rename);
    life.edit("acme/user/v1/user.proto", "message", &format!("{LIFECYCLE}message"));
    life.ok(&["upgrade", "--write"]);
    life.ok(&["release", "--write"]);
    assert_eq!(life.errors(&["--against", "git:r1"]), none());
    life.ok(&["bump", "--check", "--against", "git:r1"]);
    life.release_of("r2");
    life.edit("acme/user/v1/user.proto", "\"email\"]", "\"address\"]");
    assert_eq!(life.errors(&["--against", "git:r2"]), none());
    // What it means may not change.
    life.edit("acme/user/v1/user.proto", "string mail", "bytes mail");
    let errors = life.errors(&["--against", "git:r2"]);
    assert!(errors.contains(&"frozen-package-changed".to_owned()), "{errors:?}");
}

#[test]
fn what_must_not_break_stays_with_its_major_and_is_named() {
    let config = "\n[packages]\nunversioned = [\"acme.type\"]\n";
    let uses = "import \"acme/user/v1/user.proto\";\nmessage Card {\n  acme.user.v1.User user = \
                1;\n}\n";
    let life = Life::of(
        config,
        &[
            ("acme/user/v1/user.proto", &user()),
            ("acme/type/type.proto", &file("acme.type", uses)),
            ("acme/lab/v1alpha/lab.proto", &file("acme.lab.v1alpha", uses)),
        ],
    );
    life.ok(&["bump", "--write"]);
    life.ok(&["upgrade", "--write"]);
    life.release_of("r1");
    let bound = life.read("acme/type/type.proto");
    let said = life.ok(&["release", "--write"]);
    assert_eq!(life.read("acme/type/type.proto"), bound);
    assert!(said.contains("`acme.type` stays with the versions that it uses"), "{said}");
    assert!(said.contains("`proto/acme/lab/v1alpha/lab.proto` follows"), "{said}");
    assert!(life.read("acme/lab/v1alpha/lab.proto").contains("acme.user.v2.User user"));
    assert_eq!(life.errors(&["--against", "git:r1"]), none());
    life.ok(&["bump", "--check", "--against", "git:r1"]);
}

#[test]
fn a_beta_that_the_preset_binds_stays_with_its_major() {
    let uses = "import \"acme/user/v1/user.proto\";\nmessage Order {\n  acme.user.v1.User user = \
                1;\n}\n";
    let life = Life::of(
        "preset = \"google\"\n",
        &[
            ("acme/user/v1/user.proto", &user()),
            ("acme/order/v1beta1/order.proto", &file("acme.order.v1beta1", uses)),
        ],
    );
    life.ok(&["bump", "--write"]);
    life.ok(&["upgrade", "--write"]);
    life.release_of("r1");
    let said = life.ok(&["release", "--write"]);
    assert!(said.contains("`acme.order.v1beta1` stays"), "{said}");
    assert!(life.read("acme/order/v1beta1/order.proto").contains("acme.user.v1.User"));
    assert_eq!(life.errors(&["--against", "git:r1"]), none());
}

#[test]
fn a_beta_that_the_preset_binds_stays_beside_its_release() {
    let next =
        format!("{STATUS}{BY_HAND}message User {{\n  string id = 1;\n  string two = 2;\n}}\n");
    for (preset, is_bound) in [("google", true), ("standard", false)] {
        let life = Life::of(
            &format!("preset = \"{preset}\"\n"),
            &[
                ("acme/user/v1/user.proto", &file("acme.user.v1", "message User {}\n")),
                ("acme/user/v2beta/user.proto", &file("acme.user.v2beta", &next)),
            ],
        );
        life.ok(&["bump", "--write"]);
        life.release_of("r1");
        let said = life.ok(&["release", "--write"]);
        assert!(life.has("acme/user/v2/user.proto"));
        assert_eq!(life.has("acme/user/v2beta/user.proto"), is_bound, "{said}");
        assert_eq!(
            said.contains("`acme.user.v2beta` stays beside its release"),
            is_bound,
            "{said}"
        );
        assert!(life.lock().contains("frozen acme.user.v1 "), "{}", life.lock());
        assert_eq!(life.errors(&["--against", "git:r1"]), none());
        life.ok(&["bump", "--check", "--against", "git:r1"]);
        // It is at rest.
        life.ok(&["release", "--check"]);
        life.ok(&["upgrade", "--check"]);
    }
}

#[test]
fn an_upgrade_leaves_a_tree_that_links_or_none() {
    let kinds = "enum Kind {\n  KIND_UNSPECIFIED = 0;\n  KIND_A = 1 [deprecated = true];\n}\n";
    let task = "import \"acme/kinds/v1/kinds.proto\";\nmessage Task {\n  acme.kinds.v1.Kind kind = \
                1;\n}\n";
    let apart = "message Apart {\n  string old = 1 [deprecated = true];\n}\n";
    let life = Life::of(
        "",
        &[
            ("acme/kinds/v1/kinds.proto", &file("acme.kinds.v1", kinds)),
            ("acme/task/v1/task.proto", &file("acme.task.v1", task)),
        ],
    );
    life.ok(&["bump", "--write"]);
    life.ok(&["upgrade", "--write"]);
    life.edit(
        "acme/kinds/v1/kinds.proto",
        "enum Kind {",
        "enum Kind {\n  option deprecated = true;",
    );
    let said = life.refused(&["upgrade", "--write"]);
    for package in ["acme.kinds.v1", "acme.task.v1"] {
        assert!(said.contains(&format!("`{package}` was not upgraded")), "{said}");
    }
    // What does not depend on it is upgraded.
    life.put("acme/apart/v1/apart.proto", &file("acme.apart.v1", apart));
    let kept = life.read("acme/kinds/v2alpha/kinds.proto");
    assert_eq!(life.run(&["upgrade", "--write"]).status, 1);
    assert!(life.has("acme/apart/v2alpha/apart.proto"));
    assert_eq!(life.read("acme/kinds/v2alpha/kinds.proto"), kept);
    // Since there is a candidate, `check` finds it before the merge.
    let errors = life.errors(&[]);
    assert!(errors.contains(&"deprecated-type-in-use".to_owned()), "{errors:?}");
    assert!(!errors.contains(&"name-not-found".to_owned()), "{errors:?}");
}

#[test]
fn an_alpha_that_uses_a_candidate_is_not_broken_silently() {
    let bad = format!("{LIFECYCLE}{OLD}message Bad {{\n  string id = 1;\n}}\n");
    let life = Life::of("", &[("acme/user/v1/user.proto", &file("acme.user.v1", &bad))]);
    life.ok(&["bump", "--write"]);
    life.ok(&["upgrade", "--write"]);
    let lab = "import \"acme/user/v2alpha/user.proto\";\nmessage Lab {\n  acme.user.v2alpha.Bad \
               bad = 1;\n}\n";
    life.put("acme/lab/v1alpha/lab.proto", &file("acme.lab.v1alpha", lab));
    life.ok(&["bump", "--write"]);
    life.release_of("r1");
    life.edit(
        "acme/user/v1/user.proto",
        "message Bad {",
        "message Bad {\n  option deprecated = true;",
    );
    let said = life.refused(&["upgrade", "--write"]);
    assert!(said.contains("`proto/acme/lab/v1alpha/lab.proto` uses what"), "{said}");
    assert_eq!(life.run(&["upgrade", "--check"]).status, 1);
    git(life.path(), &["checkout", "--quiet", "."]);
    // Nothing calls for the candidate any more.
    let plain = "message User {\n  string id = 1;\n}\nmessage Bad {\n  string id = 1;\n}\n";
    life.put("acme/user/v1/user.proto", &file("acme.user.v1", plain));
    let said = life.refused(&["upgrade", "--write"]);
    assert!(said.contains("`proto/acme/lab/v1alpha/lab.proto` uses what"), "{said}");
}

#[test]
fn a_release_is_judged_as_it_will_be() {
    let user = file("acme.user.v1", "message User {\n  string id = 1;\n}\n");
    let lab = file("acme.lab.v1alpha", "message Test {\n  string id = 1;\n}\n");
    let next = |field: &str, import: &str| {
        let rest = format!(
            "{STATUS}import \"{import}\";\n{BY_HAND}message User {{\n  string id = 1;\n  {field}\n}}\n"
        );
        file("acme.user.v2alpha", &rest)
    };
    let on_alpha = next("acme.lab.v1alpha.Test test = 2;", "acme/lab/v1alpha/lab.proto");
    let life = Life::of(
        "",
        &[
            ("acme/user/v1/user.proto", &user),
            ("acme/lab/v1alpha/lab.proto", &lab),
            ("acme/user/v2alpha/user.proto", &on_alpha),
        ],
    );
    life.ok(&["bump", "--write"]);
    let said = life.refused(&["release", "--write"]);
    assert!(said.contains("stable-depends-on-unstable"), "{said}");
    // A type that a person named stays that type, whatever the severity of the rule.
    let on_itself = next("acme.user.v1.User old = 2;", "acme/user/v1/user.proto");
    life.put("acme/user/v2alpha/user.proto", &on_itself);
    for config in ["", "rules.older-major-of-itself = \"off\"\n"] {
        let toml = life.path().join("abide.toml");
        let text = fs::read_to_string(&toml).unwrap() + config;
        fs::write(&toml, text).unwrap();
        let said = life.refused(&["release", "--write"]);
        assert!(said.contains("uses `acme.user.v1.User`"), "{said}");
    }
}

/// An error that the stable version has already is none that a release brings.
#[test]
fn an_error_that_was_there_keeps_nobody_from_a_release() {
    let lab = file("acme.lab.v1alpha", "message Test {\n  string id = 1;\n}\n");
    let uses = format!(
        "{LIFECYCLE}import \"acme/lab/v1alpha/lab.proto\";\nmessage Run {{\n  \
         acme.lab.v1alpha.Test test = 1;\n}}\n{OLD}"
    );
    let user = file("acme.user.v1", &uses);
    let life =
        Life::of("", &[("acme/user/v1/user.proto", &user), ("acme/lab/v1alpha/lab.proto", &lab)]);
    assert_eq!(life.errors(&[]), ["stable-depends-on-unstable"]);
    life.ok(&["upgrade", "--write"]);
    life.ok(&["release", "--write"]);
    assert!(life.has("acme/user/v2/user.proto"));
}

#[test]
fn a_package_that_moved_and_was_released_is_at_rest() {
    let moving = |status: &str| {
        let rest = format!(
            "{STATUS}option (abide.annotations.v1.file_policy).move_to_package = \
             \"acme.people.v1\";\n{status}message User {{\n  string id = 1;\n}}\n"
        );
        file("acme.user.v1", &rest)
    };
    let active = "option (abide.annotations.v1.file_policy).package_version_status = \
                  PACKAGE_VERSION_STATUS_ACTIVE;\n";
    for status in ["", active] {
        let life = Life::of("", &[("acme/user/v1/user.proto", &moving(status))]);
        life.ok(&["bump", "--write"]);
        life.ok(&["upgrade", "--write"]);
        let warned = |life: &Life| life.run(&["check", "-q", "--format", "json"]).rules();
        assert_eq!(warned(&life), none(), "what an upgrade wrote");
        life.ok(&["release", "--write"]);
        assert!(life.has("acme/people/v1/user.proto"));
        assert_eq!(warned(&life), none(), "what a release wrote");
        life.ok(&["upgrade", "--check"]);
        life.ok(&["upgrade", "--write"]);
        life.ok(&["release", "--check"]);
    }
}

/// An upgrade that is refused for one package names what people edited in the candidates of those
/// that wait for it.
#[test]
fn an_edit_of_a_candidate_is_named_beside_what_keeps_it() {
    let item = |rest: &str| {
        file("acme.item.v1", &format!("message Item {{\n  string id = 1;\n{rest}}}\n"))
    };
    let import = "import \"acme/item/v1/item.proto\";\n";
    let cart = file(
        "acme.cart.v1",
        &format!("{LIFECYCLE}{import}message Cart {{\n  acme.item.v1.Item item = 1;\n}}\n{OLD}"),
    );
    let user = user();
    let life = Life::of(
        "",
        &[
            ("acme/item/v1/item.proto", &item("")),
            ("acme/cart/v1/cart.proto", &cart),
            ("acme/user/v1/user.proto", &user),
        ],
    );
    life.ok(&["upgrade", "--write"]);
    let candidate = "acme/cart/v2alpha/cart.proto";
    let edited = life.read(candidate) + "\nmessage ByHand {\n  string id = 1;\n}\n";
    life.put(candidate, &edited);
    life.put("acme/item/v1/item.proto", &item("  option deprecated = true;\n"));
    life.put(
        "acme/user/v1/user.proto",
        &user.replace("string id", "string name = 7;\n  string id"),
    );
    let ran = life.run(&["upgrade", "--write"]);
    let said = &ran.stderr;
    assert!(ran.status == 1 && said.contains("`acme.cart.v1` was not upgraded"), "{said}");
    assert!(said.contains(candidate), "{said}");
    assert_eq!(life.read(candidate), edited);
    assert!(life.read("acme/user/v2alpha/user.proto").contains("name = 7"), "{said}");
}

/// The option goes, and the imports that nothing needs any more, whatever the order of both.
#[test]
fn a_package_moves_wherever_its_option_stands() {
    let option =
        "option (abide.annotations.v1.file_policy).move_to_package = \"acme.people.v1\";\n";
    let other = "option java_package = \"com.acme.user.v1\";\n";
    let import = "import \"acme/id/v1/id.proto\";\n";
    let gone = "message Old {\n  option deprecated = true;\n  acme.id.v1.Id id = 1;\n}\n";
    let rest = "message User {\n  string id = 1;\n}\n";
    let id = file("acme.id.v1", "message Id {\n  string id = 1;\n}\n");
    let heads = [
        format!("{option}{STATUS}\n{import}\n"),
        format!("{option}\n{STATUS}{import}\n"),
        format!("{other}{option}{STATUS}{import}"),
        format!("{STATUS}\n{option}{import}\n"),
        format!("{STATUS}{import}\n{option}\n"),
    ];
    for head in heads {
        for body in [gone.to_owned(), format!("{gone}\n{rest}"), format!("{rest}\n{gone}")] {
            let user = file("acme.user.v1", &format!("{head}{body}"));
            let life =
                Life::of("", &[("acme/user/v1/user.proto", &user), ("acme/id/v1/id.proto", &id)]);
            life.ok(&["upgrade", "--write"]);
            let made = life.read("acme/people/v1alpha/user.proto");
            let is_kept = ["move_to_package", "Old", "acme/id"].iter().any(|it| made.contains(it));
            assert!(!is_kept && !made.ends_with("\n\n"), "{user}\n{made}");
            assert_eq!(made.contains("message User"), body.contains("message User"), "{made}");
        }
    }
}

#[test]
fn the_lines_of_the_lock_are_not_lost_without_a_word() {
    let life = Life::of("", &[("acme/user/v1/user.proto", &user())]);
    life.ok(&["bump", "--write"]);
    life.ok(&["upgrade", "--write"]);
    life.ok(&["release", "--write"]);
    life.release_of("r1");
    let whole = life.lock();
    // As with other lock files: delete it, and generate it.
    fs::remove_file(life.path().join("abide.lock")).unwrap();
    life.ok(&["bump", "--write"]);
    assert_eq!(life.lock(), whole);
    // Single lines are missed: that of a frozen package, and that of a number.
    for (start, what) in [
        ("frozen acme.user.v1", "that `acme.user.v1` is frozen since"),
        ("field acme.user.v1.User 2 old", "number 2 of `acme.user.v1.User`, which `old` used"),
    ] {
        let rest: Vec<&str> = whole.lines().filter(|it| !it.starts_with(start)).collect();
        assert_eq!(rest.len() + 1, whole.lines().count(), "{whole}");
        fs::write(life.path().join("abide.lock"), rest.join("\n") + "\n").unwrap();
        let against = ["--against", "git:r1"];
        assert_eq!(life.errors(&against), ["version-not-bumped"], "{what}");
        let said = life.refused(&["bump", "--check", "--against", "git:r1"]);
        assert!(said.contains(&format!("no longer records {what}")), "{said}");
        life.ok(&["bump", "--write", "--against", "git:r1"]);
        assert_eq!(life.lock(), whole);
    }
}

#[test]
fn an_upgrade_is_done_in_one_step() {
    let order = |version: &str| {
        file(&format!("acme.order.{version}"), "message Order {\n  string id = 1;\n}\n")
    };
    let stock = "import \"acme/order/v1/order.proto\";\nmessage Stock {\n  acme.order.v1.Order \
                 order = 1;\n  string old = 2 [deprecated = true];\n}\n";
    for preset in ["envoy", "google", "standard"] {
        let config = format!("preset = \"{preset}\"\n[packages]\npattern = \"*.vN\"\n");
        let life = Life::of(
            &config,
            &[
                ("acme/order/v1/order.proto", &order("v1")),
                ("acme/order/v3/order.proto", &order("v3")),
                ("acme/stock/v1/stock.proto", &file("acme.stock.v1", stock)),
            ],
        );
        life.ok(&["upgrade", "--write"]);
        let first = life.protos();
        life.ok(&["upgrade", "--check"]);
        life.ok(&["upgrade", "--write"]);
        assert_eq!(life.protos(), first, "{preset}");
    }
}

#[test]
fn a_step_records_the_versions_that_it_knows() {
    let life = Life::of("", &[("acme/user/v1/user.proto", &user())]);
    life.ok(&["bump", "--write"]);
    life.release_of("r1");
    life.ok(&["upgrade", "--write"]);
    assert_eq!(life.errors(&["--against", "git:r1"]), none());
    assert!(life.lock().contains("package acme.user.v2alpha 2.0.0-alpha.1 "), "{}", life.lock());
    life.ok(&["release", "--write"]);
    assert_eq!(life.errors(&["--against", "git:r1"]), none());
    assert!(life.lock().contains("package acme.user.v2 2.0.0 "), "{}", life.lock());
    assert!(!life.lock().contains("acme.user.v2alpha"), "{}", life.lock());
    life.ok(&["bump", "--check", "--against", "git:r1"]);
    // A tree that records no versions gets none.
    let life = Life::of("", &[("acme/user/v1/user.proto", &user())]);
    life.ok(&["upgrade", "--write"]);
    assert!(!life.lock().contains("2.0.0"), "{}", life.lock());
}

#[test]
fn an_experiment_without_a_candidate_stays_one() {
    let active = "option (abide.annotations.v1.file_policy).package_version_status = \
                  PACKAGE_VERSION_STATUS_ACTIVE;\n";
    let core = format!(
        "{STATUS}{LIFECYCLE}{active}message X {{\n  string name = 1;\n  string old = 2 [deprecated \
         = true, (abide.annotations.v1.field_policy).deprecated_at = \"2025-01-01\", \
         (abide.annotations.v1.field_policy).replaced_by = \"name\"];\n}}\nmessage Y {{\n  string \
         id = 1;\n}}\n"
    );
    let lab = format!(
        "{STATUS}import \"envoy/core/v3/a.proto\";\n{active}message Lab {{\n  envoy.core.v3.Y y = \
         1;\n}}\n"
    );
    let life = Life::of(
        "preset = \"envoy\"\n",
        &[
            ("envoy/core/v3/a.proto", &file("envoy.core.v3", &core)),
            ("envoy/lab/v3alpha/a.proto", &file("envoy.lab.v3alpha", &lab)),
        ],
    );
    life.ok(&["upgrade", "--write"]);
    life.ok(&["release", "--write"]);
    assert!(life.has("envoy/core/v4/a.proto") && !life.has("envoy/lab/v4/a.proto"));
    assert!(life.read("envoy/lab/v3alpha/a.proto").contains("envoy.core.v4.Y y"));
}

#[test]
fn every_rename_that_is_annotated_is_carried_out() {
    let policy = |of: &str| format!("(abide.annotations.v1.{of}_policy).migration.rename");
    let cases = [
        ("message", format!("message Old {{\n  option {} = \"Neu\";\n}}\n", policy("message"))),
        (
            "enum",
            format!("enum Old {{\n  option {} = \"Neu\";\n  OLD_A = 0;\n}}\n", policy("enum")),
        ),
        (
            "nested",
            format!(
                "message Outer {{\n  message Old {{\n    option {} = \"Neu\";\n  }}\n  Old old = \
                 1;\n}}\n",
                policy("message")
            ),
        ),
        (
            "oneof",
            format!(
                "message Outer {{\n  oneof Old {{\n    option {} = \"Neu\";\n    string a = 1;\n  \
                 }}\n}}\n",
                policy("oneof")
            ),
        ),
        (
            "service",
            format!(
                "message M {{}}\nservice Old {{\n  option {} = \"Neu\";\n  rpc Get(M) returns \
                 (M);\n}}\n",
                policy("service")
            ),
        ),
        (
            "method",
            format!(
                "message M {{}}\nservice S {{\n  rpc Old(M) returns (M) {{\n    option {} = \
                 \"Neu\";\n  }}\n}}\n",
                policy("method")
            ),
        ),
        (
            "value",
            format!(
                "enum E {{\n  ZERO = 0;\n  Old = 1 [{} = \"Neu\"];\n}}\n",
                policy("enum_value")
            ),
        ),
    ];
    for (kind, text) in cases {
        let text = file("acme.user.v1", &format!("{LIFECYCLE}{text}"));
        let life = Life::of("", &[("acme/user/v1/user.proto", &text)]);
        life.ok(&["upgrade", "--write"]);
        assert!(life.has("acme/user/v2alpha/user.proto"), "{kind}");
        let made = life.read("acme/user/v2alpha/user.proto");
        assert!(made.contains(" Neu") && !made.contains(" Old"), "{kind}: {made}");
        life.ok(&["upgrade", "--check"]);
    }
}

#[test]
fn a_value_that_gets_lost_is_explained_once() {
    let config = "rules.conversion-missing = \"error\"\nrules.deprecation-without-replacement = \
                  \"error\"\n";
    let life = Life::of(config, &[("acme/user/v1/user.proto", &user())]);
    life.ok(&["upgrade", "--write"]);
    assert_eq!(life.errors(&[]), none());
    life.ok(&["deprecations", "--write"]);
    let list = fs::read_to_string(life.path().join("DEPRECATED.md")).unwrap();
    assert!(list.contains("nothing replaces it: unused"), "{list}");
    life.ok(&["release", "--write"]);
}

/// One statement about a deprecation is enough for `check`, `upgrade`, `release` and the list.
#[test]
fn each_statement_of_a_deprecation_satisfies_every_command() {
    let rules = "[rules]\nconversion-missing = \"error\"\ndeprecation-without-replacement = \
                 \"error\"\n";
    let lossy = "replacement: nobody set it.";
    for (comment, annotation, dropped, said) in [
        ("// Use `mail`.", "", false, "Use `mail`"),
        ("// Deprecated: use `mail` instead.", "", false, "use `mail` instead"),
        ("//", "replaced_by = \"mail\"", false, "mail"),
        ("//", "lossy = \"nobody set it\"", false, "nothing replaces it: nobody set it"),
        ("//", "", true, "nothing replaces it"),
        ("// Deprecated without replacement: nobody set it.", "", false, lossy),
    ] {
        for (kind, element) in [
            ("field", "acme.user.v1.User.old"),
            ("enum_value", "acme.user.v1.OLD"),
            ("message", "acme.user.v1.Old"),
            ("enum", "acme.user.v1.Old"),
            ("service", "acme.user.v1.Old"),
            ("method", "acme.user.v1.Users.Old"),
        ] {
            let said_at = format!("{kind}: {comment} {annotation} {dropped}");
            let option = match annotation {
                "" => String::new(),
                it => format!("(abide.annotations.v1.{kind}_policy).{it}"),
            };
            let (listed, stated) = match annotation {
                "" => (String::new(), String::new()),
                _ => (format!(", {option}"), format!(" option {option};")),
            };
            let of_block = format!("option deprecated = true;{stated}");
            let body = match kind {
                "field" => format!(
                    "message User {{\n  string mail = 1;\n  {comment}\n  string old = 2 \
                     [deprecated = true{listed}];\n}}\n"
                ),
                "enum_value" => format!(
                    "enum E {{\n  ZERO = 0;\n  mail = 1;\n  {comment}\n  OLD = 2 [deprecated = \
                     true{listed}];\n}}\n"
                ),
                "message" => {
                    format!("message mail {{}}\n{comment}\nmessage Old {{ {of_block} }}\n")
                }
                "enum" => {
                    format!("enum mail {{ A = 0; }}\n{comment}\nenum Old {{ {of_block} B = 0; }}\n")
                }
                "service" => format!(
                    "message M {{}}\nservice mail {{}}\n{comment}\nservice Old {{ {of_block} }}\n"
                ),
                _ => format!(
                    "message M {{}}\nservice Users {{\n  rpc mail(M) returns (M);\n  \
                     {comment}\n  rpc Old(M) returns (M) {{ {of_block} }}\n}}\n"
                ),
            };
            let import = if annotation.is_empty() { "" } else { LIFECYCLE };
            let dropped = match dropped {
                true => format!("[deprecation]\ndropped = [\"{element}\"]\n"),
                false => String::new(),
            };
            let text = file("acme.user.v1", &format!("{import}{body}"));
            let life =
                Life::of(&format!("{dropped}{rules}"), &[("acme/user/v1/user.proto", &text)]);
            assert_eq!(life.errors(&[]), none(), "{said_at}");
            let list = life.run(&["deprecations"]).text();
            assert!(list.contains(said), "{said_at}: {list}");
            life.ok(&["upgrade", "--write"]);
            life.ok(&["release", "--write"]);
            assert!(life.has("acme/user/v2/user.proto"), "{said_at}");
        }
    }
}

/// A migration on any kind of element is carried out, or is an error at its place.
#[test]
fn a_migration_is_carried_out_or_refused_at_its_place() {
    let body = |kind: &str, migration: &str| {
        let of = |kind: &str| format!("(abide.annotations.v1.{kind}_policy).migration.{migration}");
        let (field, value) = (of("field"), of("enum_value"));
        match kind {
            "message" => format!("message Old {{ option {}; }}", of("message")),
            "nested message" => {
                format!("message O {{ message Old {{ option {}; }} }}", of("message"))
            }
            "enum" => format!("enum Old {{ option {}; A = 0; }}", of("enum")),
            "oneof" => {
                format!("message O {{ oneof Old {{ option {}; int32 a = 1; }} }}", of("oneof"))
            }
            "service" => format!("service Old {{ option {}; }}", of("service")),
            "method" => format!(
                "message M {{}} service S {{ rpc Old(M) returns (M) {{ option {}; }} }}",
                of("method")
            ),
            "value" => format!("enum E {{ A = 0; Old = 1 [{value}]; }}"),
            "zero value" => format!("enum E {{ Old = 0 [{value}]; }}"),
            "field" => format!("message M {{ optional int32 Old = 1 [{field}]; }}"),
            "repeated" => format!("message M {{ repeated int32 Old = 1 [{field}]; }}"),
            "required" => format!("message M {{ required int32 Old = 1 [{field}]; }}"),
            "map" => format!("message M {{ map<int32, int32> Old = 1 [{field}]; }}"),
            "member" => format!("message M {{ oneof k {{ int32 Old = 1 [{field}]; }} }}"),
            "group" => format!("message M {{ optional group Old = 1 [{field}] {{}} }}"),
            "type of a group" => {
                format!("message M {{ optional group Old = 1 {{ option {}; }} }}", of("message"))
            }
            "extension" => format!(
                "message M {{ extensions 100; }} extend M {{ optional int32 Old = 100 [{field}]; }}"
            ),
            _ => unreachable!("{kind}"),
        }
    };
    let kinds = [
        ("message", true, false),
        ("nested message", true, false),
        ("enum", true, false),
        ("oneof", true, false),
        ("service", true, false),
        ("method", true, false),
        ("value", true, false),
        ("zero value", true, false),
        ("field", true, true),
        ("repeated", true, false),
        ("required", true, false),
        ("map", true, false),
        ("member", true, false),
        ("group", true, true),
        ("type of a group", false, false),
        ("extension", true, false),
    ];
    for (kind, can_be_renamed, can_be_promoted) in kinds {
        for (migration, is_possible, made) in [
            ("rename = \"Neu\"", can_be_renamed, "Neu"),
            ("promote_to_oneof = \"neu\"", can_be_promoted, "oneof neu"),
            ("rename = \"Old\"", false, ""),
            ("rename = \"1st\"", false, ""),
            ("rename = \"a.Neu\"", false, ""),
            ("promote_to_oneof = \"x y\"", false, ""),
        ] {
            let text = format!(
                "syntax = \"proto2\";\npackage acme.user.v1;\n{LIFECYCLE}{}\n",
                body(kind, migration)
            );
            let life = Life::of("", &[("acme/user/v1/user.proto", &text)]);
            let errors = life.errors(&[]);
            if is_possible {
                assert_eq!(errors, none(), "{kind}: {migration}");
                life.ok(&["upgrade", "--write"]);
                let made_text = life.read("acme/user/v2alpha/user.proto");
                assert!(made_text.contains(made), "{kind}: {migration}: {made_text}");
            } else {
                let at = ["migration-name-taken", "promotion-impossible"];
                let is_refused = errors.iter().any(|it| at.contains(&&**it));
                assert!(is_refused, "{kind}: {migration}: {errors:?}");
            }
        }
    }
}

#[test]
fn what_two_branches_record_in_one_file_is_merged_by_bump() {
    let plain = file("acme.user.v1", "message User {\n  string id = 1;\n}\n");
    let life = Life::of("version-in = \"option\"\n", &[("acme/user/v1/user.proto", &plain)]);
    let (path, at) = (life.path(), "acme/user/v1/user.proto");
    life.ok(&["bump", "--write"]);
    life.release_of("r1");
    git(path, &["checkout", "--quiet", "-b", "one"]);
    life.edit(at, "  string id = 1;", "  string id = 1;\n  string a = 2;");
    life.ok(&["bump", "--write", "--against", "git:r1"]);
    git(path, &["commit", "--quiet", "--all", "-m", "one"]);
    git(path, &["checkout", "--quiet", "-b", "two", "r1"]);
    life.put(at, &(life.read(at) + "message Two {\n  string t = 1;\n}\n"));
    life.ok(&["bump", "--write", "--against", "git:r1"]);
    git(path, &["commit", "--quiet", "--all", "-m", "two"]);
    let merge = std::process::Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@b", "merge", "--quiet", "one"])
        .current_dir(path)
        .output()
        .unwrap();
    assert!(!merge.status.success() && life.read(at).contains("<<<<<<<"), "they conflict");
    assert_eq!(life.errors(&["--against", "git:r1"]), ["version-not-bumped"]);
    let said = life.ok(&["bump", "--write", "--against", "git:r1"]);
    assert!(said.contains("has a merge conflict in what it records"), "{said}");
    let merged = life.read(at);
    assert!(!merged.contains("<<<<<<<") && merged.contains("\"1.1.0\""), "{merged}");
    assert!(merged.contains("string a = 2;") && merged.contains("message Two"), "{merged}");
    assert_eq!(life.errors(&["--against", "git:r1"]), none());
    life.ok(&["bump", "--check", "--against", "git:r1"]);
}

#[test]
fn the_newest_tag_is_the_last_release() {
    let plain = file("acme.user.v1", "message User {\n  string id = 1;\n}\n");
    let life =
        Life::of("bump-against = \"git:newest(v*)\"\n", &[("acme/user/v1/user.proto", &plain)]);
    git(life.path(), &["config", "commit.gpgsign", "false"]);
    // There is no tag yet.
    life.ok(&["bump", "--write", "--against", "."]);
    commit(life.path());
    let ran = life.run(&["bump", "--check"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("no tags"), "{}", ran.stderr);
    git(life.path(), &["tag", "vendor"]);
    let ran = life.run(&["bump", "--check"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("the tags are `vendor`"), "{}", ran.stderr);
    for tag in ["v1.9.0", "v1.10.0-rc.1"] {
        git(life.path(), &["tag", tag]);
    }
    life.edit("acme/user/v1/user.proto", "  string id = 1;", "  string id = 1;\n  string a = 2;");
    life.ok(&["bump", "--write"]);
    life.release_of("v1.10.0");
    life.ok(&["bump", "--check"]);
    assert!(life.lock().contains("package acme.user.v1 1.1.0 "), "{}", life.lock());
    // The pre-release is below its release, which has the second field already.
    life.edit("acme/user/v1/user.proto", "  string id = 1;", "  string id = 1;\n  string b = 3;");
    life.ok(&["bump", "--write"]);
    assert!(life.lock().contains("package acme.user.v1 1.2.0 "), "{}", life.lock());
}

#[test]
fn a_promotion_of_what_is_no_field_is_refused() {
    let text = format!(
        "{LIFECYCLE}message M {{\n  option \
         (abide.annotations.v1.message_policy).migration.promote_to_oneof = \"x\";\n}}\n"
    );
    let life = Life::of("", &[("acme/user/v1/user.proto", &file("acme.user.v1", &text))]);
    assert_eq!(life.errors(&[]), ["promotion-impossible"]);
    let said = life.refused(&["upgrade", "--write"]);
    assert!(said.contains("only fields can be members of a oneof"), "{said}");
}

/// Ten lives of random trees, under every law; `cargo xtask soundness` plays more of them.
/// `ABIDE_LIVES=FIRST..END` plays those seeds.
#[test]
fn random_lives_end_clean() {
    let asked = std::env::var("ABIDE_LIVES").ok();
    let seeds = asked.as_deref().and_then(|it| it.split_once("..")).unwrap_or(("0", "10"));
    let (first, end): (u64, u64) = (seeds.0.parse().unwrap(), seeds.1.parse().unwrap());
    let abide = env!("CARGO_BIN_EXE_abide").into();
    let programs = &Programs { abide, api: repository().join("api") };
    std::thread::scope(|scope| {
        let lives = (first..end).map(|seed| scope.spawn(move || live(programs, None, seed)));
        let lives: Vec<_> = lives.collect();
        for life in lives {
            if let Err(why) = life.join() {
                std::panic::resume_unwind(why);
            }
        }
    });
}
