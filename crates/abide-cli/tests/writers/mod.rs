//! The commands that write, with trees to write to: for the tests, and for `cargo xtask soundness`,
//! which ends more runs of them than the tests have time for.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, unreachable_pub)] // A test, wherever it runs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A command that writes, and the tree that it writes to.
pub struct Writer {
    /// What it is run with.
    pub args: &'static [&'static str],
    /// Makes the tree, with this binary.
    pub set_up: fn(&Path, &Path),
}

/// Releases three files.
pub const RELEASE: Writer = Writer { args: &["release", "--write"], set_up: candidates };
/// Lays out three files.
pub const FORMAT: Writer = Writer { args: &["format", "--write"], set_up: unformatted };

/// The day of a deprecation.
const DAY: &str = "2026-01-15";

/// All commands that write, but those whose only file is a report.
pub const WRITERS: &[Writer] = &[
    RELEASE,
    FORMAT,
    Writer { args: &["upgrade", "--write"], set_up: active },
    Writer { args: &["upgrade", "--write"], set_up: no_longer_active },
    Writer { args: &["upgrade", "--out", "made/here"], set_up: active },
    Writer { args: &["upgrade", "--check", "--mapping", "v2.json"], set_up: candidates },
    Writer { args: &["bump", "--write"], set_up: versions_in_options },
    Writer { args: &["bump", "--write"], set_up: active },
    Writer { args: &["format", "--write"], set_up: other_names },
    Writer { args: &["lint", "--fix"], set_up: fixable },
    Writer { args: &["check", "--accept"], set_up: fixable },
    Writer { args: &["deprecations", "--write"], set_up: active },
    Writer { args: &["config", "upgrade", "--api", ".", "--write", "ada.yaml"], set_up: instances },
    Writer {
        args: &[
            "deprecate",
            "acme.user.v1.User.name",
            "--dropped",
            "nobody has one",
            "--date",
            DAY,
            "--write",
        ],
        set_up: active,
    },
    Writer { args: &["edition", "--to", "2023", "--write"], set_up: unformatted },
    Writer {
        args: &["waive", "import-unused", "user.proto", "--reason", "a test", "--write"],
        set_up: fixable,
    },
    Writer { args: &["build", "-o", "made/set.binpb"], set_up: active },
    Writer { args: &["init", "made"], set_up: active },
];

/// A file with a message.
pub fn proto(name: &str, rest: &str) -> String {
    format!(
        "syntax = \"proto3\";\npackage acme.user.v1;\n{rest}message {name} {{\n  string text = 1;\n}}\n"
    )
}

fn user(rest: &str) -> String {
    let mail = "  string mail = 2 [deprecated = true];  // use `name`\n";
    format!(
        "syntax = \"proto3\";\npackage acme.user.v1;\n{rest}message User {{\n  string name = 1;\n{mail}}}\n"
    )
}

fn config(folder: &Path, more: &str) {
    let text = format!("roots = [\"proto\"]\n{more}[rules]\nconversion-missing = \"off\"\n");
    put(folder, &[("abide.toml", &text)]);
}

/// A package that asks for candidates.
pub fn active(_: &Path, folder: &Path) {
    config(folder, "");
    put(
        folder,
        &[
            ("proto/acme/user/v1/user.proto", &user("")),
            ("proto/acme/user/v1/yote.proto", &proto("Yote", "")),
        ],
    );
}

fn candidates(abide: &Path, folder: &Path) {
    active(abide, folder);
    ok(abide, folder, &["upgrade", "--write"]);
    assert!(folder.join("proto/acme/user/v2alpha/yote.proto").exists());
}

/// Candidates that nothing asks for any more.
fn no_longer_active(abide: &Path, folder: &Path) {
    candidates(abide, folder);
    put(folder, &[("proto/acme/user/v1/user.proto", &proto("User", ""))]);
}

fn unformatted(_: &Path, folder: &Path) {
    config(folder, "");
    for name in ["User", "Xote", "Yote"] {
        let path = format!("proto/acme/user/v1/{}.proto", name.to_lowercase());
        put(folder, &[(&path, &proto(name, "").replace("  string", "       string"))]);
    }
}

/// Files without layout, one with two names.
pub fn other_names(abide: &Path, folder: &Path) {
    unformatted(abide, folder);
    fs::hard_link(folder.join("proto/acme/user/v1/yote.proto"), folder.join("other-name")).unwrap();
}

fn versions_in_options(_: &Path, folder: &Path) {
    let status = fs::read_to_string(api().join("abide/annotations/v1/status.proto")).unwrap();
    config(folder, "version-in = \"option\"\nimport-paths = [\"third_party\"]\n");
    put(
        folder,
        &[
            ("third_party/abide/annotations/v1/status.proto", &status),
            ("proto/acme/user/v1/user.proto", &proto("User", "")),
            ("proto/acme/user/v1/yote.proto", &proto("Yote", "")),
        ],
    );
}

/// Files with findings that can be fixed.
pub fn fixable(_: &Path, folder: &Path) {
    config(folder, "");
    let import = "import \"google/protobuf/any.proto\";\n";
    put(
        folder,
        &[
            ("proto/acme/user/v1/user.proto", &proto("User", import)),
            ("proto/acme/user/v1/yote.proto", &proto("Yote", import)),
        ],
    );
}

fn instances(abide: &Path, folder: &Path) {
    let api = api().display().to_string();
    config(folder, &format!("import-paths = [{api:?}]\n"));
    let options = "import \"abide/annotations/v1/lifecycle.proto\";\nimport \"abide/annotations/v1/status.proto\";\n\
        option (abide.annotations.v1.file_policy).package_version_status = PACKAGE_VERSION_STATUS_ACTIVE;\n";
    let renamed = " = 1 [(abide.annotations.v1.field_policy).migration.rename = \"word\"];";
    let text = proto("User", options).replace(" = 1;", renamed);
    put(folder, &[("proto/acme/user/v1/user.proto", &text)]);
    ok(abide, folder, &["upgrade", "--write"]);
    ok(abide, folder, &["release", "--write"]);
    put(folder, &[("ada.yaml", "# proto-message: acme.user.v1.User\ntext: a\n")]);
    fs::hard_link(folder.join("ada.yaml"), folder.join("other-name")).unwrap();
}

/// Runs it, and fails unless it ends with status 0.
fn ok(abide: &Path, folder: &Path, args: &[&str]) {
    let ran = Command::new(abide).args(args).current_dir(folder).output().expect("it starts");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "`abide {}`: {said}", args.join(" "));
}

/// Writes files, with the folders on the way.
fn put(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("it has a name")).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// The protos of the annotations.
fn api() -> PathBuf {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().find(|it| it.join("api").is_dir());
    top.expect("the crate is in the repository").join("api")
}

/// All that a folder holds, by path; nothing for a folder.
pub type Contents = BTreeMap<String, Option<String>>;

/// Looks at all that a folder holds.
pub fn contents(folder: &Path) -> Contents {
    fn walk(folder: &Path, below: &str, found: &mut Contents) {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{below}{}", entry.file_name().to_str().unwrap());
            if entry.path().is_dir() {
                walk(&entry.path(), &format!("{path}/"), found);
                found.insert(path, None);
            } else {
                let bytes = fs::read(entry.path()).unwrap();
                found.insert(path, Some(String::from_utf8_lossy(&bytes).into_owned()));
            }
        }
    }
    let mut found = Contents::new();
    walk(folder, "", &mut found);
    found
}

impl Writer {
    /// A tree to write to.
    pub fn prepared(&self, abide: &Path) -> TempDir {
        let folder = TempDir::new().unwrap();
        (self.set_up)(abide, folder.path());
        folder
    }

    /// What an unfailed run leaves.
    pub fn result(&self, abide: &Path) -> Contents {
        let folder = self.prepared(abide);
        ok(abide, folder.path(), self.args);
        contents(folder.path())
    }
}
