//! The everyday work under the stable API versioning policy on a small tree, through the command line: from adding a field
//! to releasing the next major version. Each story runs twice: with versions in `abide.lock`, and
//! with versions in options.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::breaking::{commit, git};
use crate::run::{Ran, abide, put, repository};

pub(crate) const USER: &str = "acme/user/v1/user.proto";
const BASE: &str = "acme/base/v1/base.proto";
pub(crate) const CALM: &str = "acme/calm/v1/calm.proto";
pub(crate) const CANDIDATE: &str = "acme/user/v2alpha/user.proto";
const RELEASED: &str = "acme/user/v2/user.proto";

const HEAD: &str = "\
import \"abide/annotations/v1/status.proto\";

option (abide.annotations.v1.file_policy).package_version_status = PACKAGE_VERSION_STATUS_ACTIVE;
";

pub(crate) const TELLINGS: [&str; 2] = ["lock", "option"];

/// A tree of three packages whose versions and candidates are on record, released as `r1`.
pub(crate) fn released(version_in: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let api = repository().join("api").display().to_string();
    let config = format!(
        "import-paths = [{api:?}]\nversion-in = \"{version_in}\"\n\
         rules.conversion-missing = \"off\"\n"
    );
    let file = |package: &str, rest: &str| {
        format!("syntax = \"proto3\";\n\npackage {package};\n\n{HEAD}\n{rest}")
    };
    let user = "import \"acme/base/v1/base.proto\";\n\nmessage User {\n  acme.base.v1.Id id = 1;\n\n  \
                // Use `id`.\n  string name = 2 [deprecated = true];\n}\n";
    put(
        folder.path(),
        &[
            ("abide.toml", &config),
            (USER, &file("acme.user.v1", user)),
            (BASE, &file("acme.base.v1", "message Id {\n  string text = 1;\n}\n")),
            (CALM, &file("acme.calm.v1", "message Calm {}\n")),
        ],
    );
    ok(folder.path(), &["upgrade", "--write"]);
    ok(folder.path(), &["bump", "--write"]);
    tagged(folder.path(), "r1");
    settled(folder.path(), "r1");
    folder
}

fn tagged(folder: &Path, name: &str) {
    commit(folder);
    git(folder, &["tag", name]);
}

pub(crate) fn ok(folder: &Path, args: &[&str]) -> Ran {
    let ran = abide(folder, args);
    assert_eq!(ran.status, 0, "{args:?}: {} {}", ran.text(), ran.stderr);
    ran
}

pub(crate) fn read(folder: &Path, path: &str) -> String {
    fs::read_to_string(folder.join(path)).unwrap_or_default()
}

pub(crate) fn edit(folder: &Path, path: &str, from: &str, to: &str) {
    let text = read(folder, path);
    assert!(text.contains(from), "{path} holds no {from:?}: {text}");
    fs::write(folder.join(path), text.replacen(from, to, 1)).unwrap();
}

/// Everything that a gate would ask is content.
fn settled(folder: &Path, since: &str) {
    let since = format!("git:{since}");
    ok(folder, &["check", "--as-of", "2026-01-15", "--against", &since]);
    ok(folder, &["upgrade", "--check"]);
    ok(folder, &["bump", "--check", "--against", &since]);
}

/// The two commands that make everything follow.
fn follow(folder: &Path, since: &str) {
    ok(folder, &["upgrade", "--write"]);
    ok(folder, &["bump", "--write", "--against", &format!("git:{since}")]);
    settled(folder, since);
    // Running them again changes nothing.
    let before = [CANDIDATE, USER, "abide.lock"].map(|path| read(folder, path));
    ok(folder, &["upgrade", "--write"]);
    ok(folder, &["bump", "--write", "--against", &format!("git:{since}")]);
    assert_eq!([CANDIDATE, USER, "abide.lock"].map(|path| read(folder, path)), before);
}

/// What `abide check` reports at error level.
fn errors(folder: &Path, since: &str) -> Vec<String> {
    let args = ["check", "--format", "json", "--as-of", "2026-01-15", "--against", since];
    let mut rules = abide(folder, &args).rules();
    rules.sort();
    rules
}

/// The version on record of a package.
fn version(folder: &Path, package: &str) -> String {
    let since = "git:HEAD";
    let ran = ok(folder, &["bump", "--format", "json", "--against", since]);
    let found = ran.json().into_iter().find(|it| it["package"] == package);
    found.map(|it| it["to"].as_str().unwrap_or_default().to_owned()).unwrap_or_default()
}

#[test]
fn a_field_is_added() {
    for telling in TELLINGS {
        let tree = released(telling);
        let folder = tree.path();
        assert_eq!(version(folder, "acme.user.v1"), "1.0.0");
        // Only the stable version is edited; that it rises and the candidate follows is forced.
        edit(folder, USER, "\n}\n", "\n\n  // Where to write to.\n  string mail = 3;\n}\n");
        assert_eq!(errors(folder, "git:r1"), ["candidate-edited", "version-not-bumped"]);
        follow(folder, "r1");
        assert_eq!(version(folder, "acme.user.v1"), "1.1.0");
        assert_eq!(version(folder, "acme.base.v1"), "1.0.0");
        let end = "\n  // Where to write to.\n  string mail = 3;\n}\n";
        assert!(read(folder, CANDIDATE).ends_with(end), "{}", read(folder, CANDIDATE));
    }
}

#[test]
fn a_field_is_deprecated() {
    for telling in TELLINGS {
        let tree = released(telling);
        let folder = tree.path();
        // Nothing but this makes the package need a candidate.
        edit(folder, BASE, "text = 1;\n", "text = 1;\n\n  // Use `text`.\n  int32 old = 2;\n");
        follow(folder, "r1");
        tagged(folder, "r2");
        assert!(!folder.join("acme/base/v2alpha").exists());
        edit(folder, BASE, "int32 old = 2;", "int32 old = 2 [deprecated = true];");
        follow(folder, "r2");
        // Marked in the stable version, and gone from the candidate: nobody loses anything yet.
        assert!(read(folder, BASE).contains("int32 old = 2 [deprecated = true];"));
        let base = read(folder, "acme/base/v2alpha/base.proto");
        assert!(base.contains("reserved 2;\n\n  reserved \"old\";\n"), "{base}");
        assert!(!base.contains("int32 old") && !base.contains("Use `text`"), "{base}");
        // Who depends on it follows: an API has one definition.
        assert!(read(folder, CANDIDATE).contains("acme.base.v2alpha.Id id = 1;"));
        assert!(!folder.join("acme/calm/v2alpha").exists());
        assert_eq!(version(folder, "acme.base.v1"), "1.2.0", "deprecating breaks nobody");
    }
}

#[test]
fn a_package_is_refactored() {
    for telling in TELLINGS {
        let tree = released(telling);
        let folder = tree.path();
        // A field is called otherwise, two become a choice: declared, and done by machine.
        let lifecycle = "import \"abide/annotations/v1/lifecycle.proto\";\n";
        edit(folder, USER, "import", &format!("{lifecycle}import"));
        let rename = "[(abide.annotations.v1.field_policy).migration.rename = \"key\"]";
        let choice = "[(abide.annotations.v1.field_policy).migration.promote_to_oneof = \"reach\"]";
        edit(folder, USER, "Id id = 1;", &format!("Id id = 1 {rename};"));
        let reach = format!("\n  string mail = 3 {choice};\n  string phone = 4 {choice};\n}}\n");
        edit(folder, USER, "\n}\n", &format!("\n{reach}"));
        follow(folder, "r1");
        let user = read(folder, CANDIDATE);
        assert!(user.contains("Id key = 1;\n"), "{user}");
        let made = "\n  oneof reach {\n    string mail = 3;\n    string phone = 4;\n  }\n}\n";
        assert!(user.ends_with(made), "{user}");
        assert!(!user.contains("migration"), "{user}");
        let findings = errors(folder, "git:r1");
        assert_eq!(findings, Vec::<String>::new(), "the stable version breaks nobody");
        assert_eq!(version(folder, "acme.user.v1"), "1.1.0");
    }
}

#[test]
fn the_next_major_version_is_released() {
    for telling in TELLINGS {
        let tree = released(telling);
        let folder = tree.path();
        let (base, calm) = (read(folder, BASE), read(folder, CALM));
        let ran = ok(folder, &["release", "--write", "--as-of", "2026-01-15"]);
        assert_eq!(
            ran.stderr,
            "note: `acme.user.v1` becomes `acme.user.v2`\nnote: 1 file released\n\
             note: `acme/user/v1/user.proto` is frozen\n\
             next: commit the release and tag it: `abide bump` counts from the tag\n"
        );
        ok(folder, &["bump", "--write", "--against", "git:r1"]);
        settled(folder, "r1");
        assert_eq!(version(folder, "acme.user.v2"), "2.0.0");
        assert_eq!(version(folder, "acme.user.v1"), "1.0.0");
        let user = read(folder, RELEASED);
        assert!(user.contains("STATUS_ACTIVE") && user.contains("reserved \"name\";"), "{user}");
        assert!(read(folder, USER).contains("STATUS_FROZEN"));
        assert!(!folder.join("acme/user/v2alpha").exists());
        assert_eq!((read(folder, BASE), read(folder, CALM)), (base, calm), "only what changes");
        tagged(folder, "r2");

        let again = ok(folder, &["release", "--write", "--as-of", "2026-01-15"]);
        assert_eq!(again.stderr, "note: there is no candidate to release\n");
        settled(folder, "r2");
        // The frozen version stays as it is, and the next field goes into the new one.
        edit(folder, USER, "\n}\n", "\n\n  string mail = 3;\n}\n");
        let found = errors(folder, "git:r2");
        assert!(found.contains(&"frozen-package-changed".to_owned()), "{found:?}");
        edit(folder, USER, "\n\n  string mail = 3;\n}\n", "\n}\n");
        edit(folder, RELEASED, "\n}\n", "\n\n  string mail = 3;\n}\n");
        ok(folder, &["bump", "--write", "--against", "git:r2"]);
        settled(folder, "r2");
        assert_eq!(version(folder, "acme.user.v2"), "2.1.0");
    }
}
