//! `abide release`, on a tree of three packages, one of which changes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::run::{abide, put, repository};

const STATUS: &str = "import \"abide/annotations/v1/status.proto\";\n\
option (abide.annotations.v1.file_policy).package_version_status = \
PACKAGE_VERSION_STATUS_ACTIVE;\n";

/// `base` changes, `user` depends on it, `calm` does not, and `wild` is an alpha.
fn tree() -> TempDir {
    let folder = TempDir::new().unwrap();
    let api = repository().join("api").display().to_string();
    let file = |package: &str, rest: &str| {
        format!("syntax = \"proto3\";\n\npackage {package};\n\n{STATUS}\n{rest}")
    };
    let off = "rules.conversion-missing = \"off\"";
    let config = format!("import-paths = [{api:?}]\n{off}\n");
    let base = file(
        "acme.base.v1",
        "message Id {\n  string text = 1;\n\n  // Use `text`.\n  string old = 2 [deprecated = true];\n}\n",
    );
    let user = file(
        "acme.user.v1",
        "import \"acme/base/v1/base.proto\";\n\nmessage User {\n  acme.base.v1.Id id = 1;\n}\n",
    );
    let calm = file("acme.calm.v1", "message Calm {}\n");
    let wild = "syntax = \"proto3\";\n\npackage acme.wild.v1alpha;\n\n\
                import \"acme/base/v1/base.proto\";\n\n\
                // Knows [Id][acme.base.v1.Id].\n\
                message Wild {\n  acme.base.v1.Id id = 1; // as it is\n}\n";
    put(
        folder.path(),
        &[
            ("abide.toml", &config),
            ("acme/base/v1/base.proto", &base),
            ("acme/user/v1/user.proto", &user),
            ("acme/calm/v1/calm.proto", &calm),
            ("acme/wild/v1alpha/wild.proto", wild),
        ],
    );
    folder
}

/// Every proto below a folder, by path.
fn files(root: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|it| it == "proto") {
                let name = path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
                files.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
    }
    files
}

fn errors(folder: &Path) -> Vec<String> {
    abide(folder, &["check", "--format", "json", "--as-of", "2026-01-15", "-q"]).rules()
}

#[test]
fn candidates_become_stable_and_dependents_catch_up() {
    let tree = tree();
    let folder = tree.path();
    assert_eq!(abide(folder, &["upgrade", "--write", "--closure", "type"]).status, 0);
    // The dependent has a candidate, for its type names the one that changes; nothing else has.
    let before = files(folder);
    let candidates: Vec<&String> = before.keys().filter(|it| it.contains("v2alpha")).collect();
    assert_eq!(candidates, ["acme/base/v2alpha/base.proto", "acme/user/v2alpha/user.proto"]);

    let ran = abide(folder, &["release", "--check"]);
    assert_eq!((ran.status, ran.stdout.len()), (1, 0));
    let ran = abide(folder, &["release", "--write", "--as-of", "2026-01-15"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert_eq!(
        ran.stderr,
        "note: `acme.base.v1` becomes `acme.base.v2`\n\
         note: `acme.user.v1` becomes `acme.user.v2`\n\
         note: 2 files released\n\
         note: `acme/base/v1/base.proto` is frozen\n\
         note: `acme/user/v1/user.proto` is frozen\n\
         note: `acme/wild/v1alpha/wild.proto` follows to the new versions\n\
         next: commit the release and tag it: `abide bump` counts from the tag\n"
    );
    let after = files(folder);
    let paths: Vec<&str> = after.keys().map(String::as_str).collect();
    assert_eq!(
        paths,
        [
            "acme/base/v1/base.proto",
            "acme/base/v2/base.proto",
            "acme/calm/v1/calm.proto",
            "acme/user/v1/user.proto",
            "acme/user/v2/user.proto",
            "acme/wild/v1alpha/wild.proto",
        ]
    );
    assert!(!folder.join("acme/base/v2alpha").exists(), "no empty folder is left");
    assert_eq!(after["acme/calm/v1/calm.proto"], before["acme/calm/v1/calm.proto"]);
    let base = &after["acme/base/v2/base.proto"];
    assert!(base.contains("package acme.base.v2;") && base.contains("STATUS_ACTIVE;"), "{base}");
    assert!(base.contains("reserved \"old\";"), "{base}");
    let user = &after["acme/user/v2/user.proto"];
    assert!(user.contains("acme.base.v2.Id id = 1;"), "{user}");
    assert!(user.contains("previous_type = \"acme.user.v1.User\";"), "{user}");
    let frozen = before["acme/base/v1/base.proto"].replace("STATUS_ACTIVE", "STATUS_FROZEN");
    assert_eq!(after["acme/base/v1/base.proto"], frozen);
    // What may change in place is re-pointed; the rest of it stays.
    let wild = before["acme/wild/v1alpha/wild.proto"]
        .replace("acme.base.v1", "acme.base.v2")
        .replace("acme/base/v1", "acme/base/v2");
    assert_eq!(after["acme/wild/v1alpha/wild.proto"], wild);
    assert_eq!(errors(folder), Vec::<String>::new());

    let ran = abide(folder, &["release", "--write"]);
    assert_eq!(
        (ran.status, ran.stderr.as_str()),
        (0, "note: there is no candidate to release\n"),
        "a second release has nothing to do"
    );
    assert_eq!(files(folder), after);
    assert_eq!(abide(folder, &["release", "--check"]).status, 0);
    assert_eq!(abide(folder, &["upgrade", "--check"]).status, 0);
}

#[test]
fn who_has_no_candidate_rises_too() {
    let tree = tree();
    let folder = tree.path();
    // Only the package itself, as by hand.
    let out = folder.join("out");
    assert_eq!(abide(folder, &["upgrade", "--out", out.to_str().unwrap()]).status, 0);
    let candidate = "acme/base/v2alpha/base.proto";
    put(folder, &[(candidate, &fs::read_to_string(out.join(candidate)).unwrap())]);
    fs::remove_dir_all(&out).unwrap();
    let ran = abide(folder, &["release", "--write", "--as-of", "2026-01-15"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let caught = "note: `acme.user.v1` becomes `acme.user.v2` to catch up: it depends on \
                  `acme.base.v1`, which gets a new major\n";
    assert!(ran.stderr.contains(caught), "{}", ran.stderr);
    assert!(files(folder).contains_key("acme/user/v2/user.proto"));
    assert_eq!(errors(folder), Vec::<String>::new());
}

#[test]
fn an_edited_candidate_is_not_released() {
    let tree = tree();
    let folder = tree.path();
    assert_eq!(abide(folder, &["upgrade", "--write"]).status, 0);
    let candidate = folder.join("acme/base/v2alpha/base.proto");
    let text = fs::read_to_string(&candidate).unwrap();
    fs::write(&candidate, text.replace("string text = 1;", "string text = 1;\n  int32 x = 7;"))
        .unwrap();
    let before = files(folder);
    let ran = abide(folder, &["release", "--write"]);
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains("run `abide upgrade --write`"), "{}", ran.stderr);
    assert!(ran.stderr.ends_with("note: nothing was released\n"), "{}", ran.stderr);
    assert_eq!(files(folder), before);
}

/// Wherever a release is interrupted, the next one ends it.
#[test]
fn an_interrupted_release_is_taken_up() {
    let tree = tree();
    let before_others = |path: &String| u8::from(path.contains("v1"));
    interrupted_everywhere(tree.path(), &before_others);
}

/// The same with a version that people maintain by hand, and with additions to a candidate.
#[test]
fn an_interrupted_release_of_a_hand_maintained_version_resumes() {
    let tree = tree();
    let folder = tree.path();
    let by_hand = "syntax = \"proto3\";\n\npackage acme.calm.v2alpha;\n\nimport \
                   \"abide/annotations/v1/status.proto\";\n\noption \
                   (abide.annotations.v1.file_policy) = {\n  package_version_status: \
                   PACKAGE_VERSION_STATUS_ACTIVE\n  by_hand: true\n};\n\nmessage Calm {}\n";
    put(folder, &[("acme/calm/v2alpha/calm.proto", by_hand)]);
    assert_eq!(abide(folder, &["upgrade", "--write"]).status, 0);
    let path = folder.join("acme/base/v2alpha/base.proto");
    let text = fs::read_to_string(&path).unwrap();
    let added = "string text = 1;\n  int32 more = 9 \
                 [(abide.annotations.v1.field_policy).next_major_only = true];";
    fs::write(&path, text.replace("string text = 1;", added)).unwrap();
    let before_others = |path: &String| u8::from(path.contains("v1"));
    interrupted_everywhere(folder, &before_others);
}

/// The same where candidates lie where they are released: what they replace is
/// frozen before the first of them is stable.
#[test]
fn an_interrupted_release_in_place_is_taken_up() {
    let folder = TempDir::new().unwrap();
    let imports = repository().join("testdata/imports").display().to_string();
    let file = |name: &str, imports: &str, body: &str| {
        format!(
            "syntax = \"proto3\";\n\npackage envoy.{name}.v2;\n\n{imports}import \
             \"udpa/annotations/status.proto\";\n\noption \
             (udpa.annotations.file_status).package_version_status = ACTIVE;\n\n{body}"
        )
    };
    let import = |name: &str| format!("import \"envoy/{name}/v2/{name}.proto\";\n\n");
    let off = "rules.conversion-missing = \"off\"";
    let config = format!("preset = \"envoy\"\nimport-paths = [{imports:?}]\n{off}\n");
    let base = "message Base {\n  string old = 1 [deprecated = true];\n\n  string new = 2;\n}\n";
    put(
        folder.path(),
        &[
            ("abide.toml", &config),
            ("envoy/base/v2/base.proto", &file("base", "", base)),
            (
                "envoy/amid/v2/amid.proto",
                &file("amid", &import("base"), "message Amid {\n  base.v2.Base base = 1;\n}\n"),
            ),
            (
                "envoy/tip/v2/tip.proto",
                &file("tip", &import("amid"), "message Tip {\n  amid.v2.Amid amid = 1;\n}\n"),
            ),
        ],
    );
    interrupted_everywhere(folder.path(), &|path| u8::from(path.contains("v3")));
}

/// Upgrades a tree and interrupts its release after each file that it changes,
/// of which it takes those with the lowest `rank` first.
fn interrupted_everywhere(folder: &Path, rank: &dyn Fn(&String) -> u8) {
    assert_eq!(abide(folder, &["upgrade", "--write"]).status, 0);
    let before = files(folder);
    let lock = fs::read_to_string(folder.join("abide.lock")).unwrap();
    assert_eq!(abide(folder, &["release", "--write"]).status, 0);
    let after = files(folder);
    let created = after.keys().filter(|path| !before.contains_key(*path));
    let differs = |path: &&String| after.get(*path).is_some_and(|it| *it != before[*path]);
    let mut changed: Vec<&String> = before.keys().filter(differs).collect();
    let deleted = before.keys().filter(|path| !after.contains_key(*path));
    for reversed in [false, true] {
        changed.reverse();
        changed.sort_by_key(|path| rank(path));
        let steps = created.clone().chain(changed.iter().copied()).chain(deleted.clone());
        let steps: Vec<&String> = steps.collect();
        assert!(steps.len() > 5, "{steps:?}");
        for done in 0..=steps.len() {
            for path in before.keys().chain(after.keys()) {
                let state = if steps[..done].contains(&path) { &after } else { &before };
                match state.get(path) {
                    Some(text) => put(folder, &[(path, text)]),
                    None => drop(fs::remove_file(folder.join(path))),
                }
            }
            // It is written last.
            put(folder, &[("abide.lock", &lock)]);
            let ran = abide(folder, &["release", "--write"]);
            let told = format!("after {done} of {steps:?} ({reversed}): {}", ran.stderr);
            assert_eq!(ran.status, 0, "{told}");
            assert_eq!(files(folder), after, "{told}");
        }
    }
}

/// A file that stays is not made to name what is gone.
#[test]
fn who_names_what_goes_is_told() {
    let tree = tree();
    let folder = tree.path();
    let base = fs::read_to_string(folder.join("acme/base/v1/base.proto")).unwrap();
    let old = "\n// Use `Id`.\nmessage Old {\n  option deprecated = true;\n}\n";
    let wild = fs::read_to_string(folder.join("acme/wild/v1alpha/wild.proto")).unwrap();
    let wild = wild.replace("acme.base.v1.Id id = 1;", "acme.base.v1.Old id = 1;");
    put(
        folder,
        &[
            ("acme/base/v1/base.proto", &format!("{base}{old}")),
            ("acme/wild/v1alpha/wild.proto", &wild),
        ],
    );
    assert_eq!(abide(folder, &["upgrade", "--write"]).status, 0);
    let before = files(folder);
    let ran = abide(folder, &["release", "--write"]);
    assert_eq!(ran.status, 1);
    assert_eq!(
        ran.stderr,
        "error: `acme/wild/v1alpha/wild.proto` uses `acme.base.v1.Old`, which is deprecated and \
         not in the next version: use another type\nnote: nothing was released\n"
    );
    assert_eq!(files(folder), before);
}

/// A file may pass on, by a public import, what has a next version, and stay itself.
#[test]
fn names_that_a_file_passes_on_are_found_before_and_after() {
    let tree = tree();
    let folder = tree.path();
    let file = |package: &str, status: &str, rest: &str| {
        format!("syntax = \"proto3\";\n\npackage {package};\n\n{status}\n{rest}")
    };
    let door = "import public \"acme/base/v1/base.proto\";\n";
    let through = "import \"acme/door/v1/door.proto\";\n\n";
    let uses = |name: &str| format!("{through}message {name} {{\n  acme.base.v1.Id id = 1;\n}}\n");
    put(
        folder,
        &[
            ("acme/door/v1/door.proto", &file("acme.door.v1", STATUS, door)),
            ("acme/user/v1/user.proto", &file("acme.user.v1", STATUS, &uses("User"))),
            ("acme/wild/v1alpha/wild.proto", &file("acme.wild.v1alpha", "", &uses("Wild"))),
        ],
    );
    assert_eq!(errors(folder), Vec::<String>::new());
    assert_eq!(abide(folder, &["upgrade", "--write"]).status, 0);
    assert_eq!(errors(folder), Vec::<String>::new());
    let ran = abide(folder, &["release", "--write", "--as-of", "2026-01-15"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert_eq!(errors(folder), Vec::<String>::new());
    // Users may be frozen, so they see what they saw.
    let after = files(folder);
    assert!(after["acme/door/v1/door.proto"].contains(door));
    for path in ["acme/user/v2/user.proto", "acme/wild/v1alpha/wild.proto"] {
        let text = &after[path];
        assert!(text.contains("import \"acme/base/v2/base.proto\";"), "{text}");
        assert!(text.contains("acme.base.v2.Id id = 1;"), "{text}");
    }
}

/// Why the candidate differs is said, not only that it does.
#[test]
fn an_error_in_the_source_of_a_candidate_is_shown() {
    let tree = tree();
    let folder = tree.path();
    assert_eq!(abide(folder, &["upgrade", "--write"]).status, 0);
    let base = folder.join("acme/base/v1/base.proto");
    let text = fs::read_to_string(&base).unwrap();
    fs::write(&base, text.replace("string text = 1;", "mess;")).unwrap();
    let before = files(folder);
    for action in ["--write", "--check", "--diff"] {
        let ran = abide(folder, &["release", action]);
        assert_eq!((ran.status, ran.text().as_str()), (1, ""), "{action}");
        assert!(ran.stderr.starts_with("error[syntax-error]: "), "{}", ran.stderr);
        assert!(ran.stderr.ends_with("note: nothing was written\n"), "{}", ran.stderr);
    }
    assert_eq!(files(folder), before);
}

/// A patch is shown even where the release is refused; the status says that it is.
#[test]
fn a_refused_release_fails_with_its_patch() {
    let tree = tree();
    let folder = tree.path();
    let config = fs::read_to_string(folder.join("abide.toml")).unwrap();
    put(folder, &[("abide.toml", &config.replace("\"off\"", "\"note\""))]);
    // The comment names no replacement.
    let base = fs::read_to_string(folder.join("acme/base/v1/base.proto")).unwrap();
    put(folder, &[("acme/base/v1/base.proto", &base.replace("Use `text`.", "The old one."))]);
    assert_eq!(abide(folder, &["upgrade", "--write"]).status, 0);
    for action in ["--write", "--check", "--diff"] {
        let ran = abide(folder, &["release", action]);
        assert_eq!(ran.status, 1, "{action}");
        assert!(ran.stderr.starts_with("error[conversion-missing]: "), "{}", ran.stderr);
        assert_eq!(ran.text().contains("+package acme.base.v2;"), action == "--diff");
    }
    // `abide.toml` may permit the loss.
    put(
        folder,
        &[(
            "abide.toml",
            &format!(
                "{}upgrade.lossy = [\"acme.base.v1.Id.old\"]\n",
                config.replace("\"off\"", "\"note\"")
            ),
        )],
    );
    let diff = abide(folder, &["release", "--diff"]);
    assert_eq!(diff.status, 0, "{}", diff.stderr);
    assert!(diff.stderr.contains(" to release\n"), "{}", diff.stderr);
}
