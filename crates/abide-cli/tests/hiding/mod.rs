//! The table of tricks that try to hide a change, and the repository that they are played in: for the
//! tests, and for `cargo xtask oracle`, which asks buf what it says of each.
//!
//! `testdata/hidden/tricks.txt` holds a trick behind each line `== NAME`: what Abide and buf say of
//! it, why it may pass if it does, and then the commands of a shell that play it. They run in a
//! repository with the files of `testdata/hidden/tree` as the commit of `main`.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, unreachable_pub)] // A test, wherever it runs.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// What every trick can use: short names of the files, a break, and a commit.
const PRELUDE: &str = "\
set -e
U=proto/acme/user/v1/user.proto
M=proto/acme/money/v1/money.proto
S=proto/acme/shop/v1/shop.proto
L=proto/acme/legacy/v1/legacy.proto
D=proto/acme/draft/v1alpha/draft.proto
T=third_party/lib/v1/id.proto
broken() { sed -i 's/string mail = 2/int32 mail = 2/' \"$1\"; }
commit() { git add --all; git commit --quiet --message next; }
";

/// A way to hide a change.
pub struct Trick {
    /// What is done, in words.
    pub name: String,
    /// The exit status of Abide, and the rules that report errors.
    pub abide: String,
    /// The exit status of buf, and the rules that it reports.
    pub buf: String,
    /// Why it passes; empty if it does not.
    pub why: String,
    /// The commands of a shell that play it.
    pub script: String,
}

/// The path of the table.
pub fn table() -> PathBuf {
    data().join("tricks.txt")
}

/// Reads the table.
pub fn read_tricks() -> Vec<Trick> {
    let text = fs::read_to_string(table()).unwrap();
    format!("\n{text}").split("\n== ").skip(1).map(parse_trick).collect()
}

fn parse_trick(text: &str) -> Trick {
    let (name, mut rest) = text.split_once('\n').unwrap();
    let mut take = |key: &str| {
        let Some(found) = rest.strip_prefix(key) else { return String::new() };
        let (value, below) = found.split_once('\n').unwrap();
        rest = below;
        value.to_owned()
    };
    let (abide, buf, why) = (take("abide: "), take("buf: "), take("why: "));
    Trick { name: name.to_owned(), abide, buf, why, script: rest.trim_end().to_owned() }
}

/// Writes the table anew.
pub fn write_tricks(tricks: &[Trick]) {
    let mut text = String::new();
    for trick in tricks {
        let Trick { name, abide, buf, why, script } = trick;
        let _ = writeln!(text, "== {name}");
        for (key, value) in [("abide", abide), ("buf", buf), ("why", why)] {
            if !value.is_empty() {
                let _ = writeln!(text, "{key}: {value}");
            }
        }
        let _ = writeln!(text, "{script}\n");
    }
    fs::write(table(), format!("{}\n", text.trim_end())).unwrap();
}

/// The repository in which nothing was done yet. It lies in a folder of its own, in which tricks
/// put what is outside of it.
pub fn make_repository() -> TempDir {
    let folder = TempDir::new().unwrap();
    let tree = data().join("tree");
    run_shell(
        folder.path(),
        "mkdir repository\ncd repository\ncp -R \"$TREE\"/. .\ngit init --quiet --initial-branch main\n\
         git add --all\ngit commit --quiet --message old\ngit checkout --quiet -b change",
        &tree,
    );
    folder
}

impl Trick {
    /// Plays the trick in a copy of the repository. Returns the folder around the copy.
    pub fn play(&self, repository: &Path, abide: &Path) -> TempDir {
        let folder = TempDir::new().unwrap();
        let mut copy = Command::new("cp");
        copy.arg("-a").arg(repository.join("repository")).arg(folder.path());
        assert!(copy.status().unwrap().success());
        let script = format!("{PRELUDE}{}", self.script);
        run_shell(&folder.path().join("repository"), &script, abide);
        folder
    }
}

/// Runs commands of a shell, as an author of its own and without the settings of the user. `$TREE` and
/// `$ABIDE` are what is named by `path`.
fn run_shell(folder: &Path, script: &str, path: &Path) {
    let mut shell = Command::new("sh");
    shell.args(["-e", "-c", script]).current_dir(folder).env("TREE", path).env("ABIDE", path);
    shell.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    for role in ["AUTHOR", "COMMITTER"] {
        shell.env(format!("GIT_{role}_NAME"), "Ann");
        shell.env(format!("GIT_{role}_EMAIL"), "ann@example.org");
    }
    let ran = shell.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{script}\n{said}");
}

fn data() -> PathBuf {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_folder.ancestors().nth(2).expect("the crate has two above").join("testdata/hidden")
}
