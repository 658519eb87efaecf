//! `cargo xtask hooks`: runs the hooks of `.pre-commit-hooks.yaml` with the real
//! pre-commit on the commits of a small repository.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use abide_harness::Result;
use abide_harness::programs::{abide, output, stdout, target, workspace};

use crate::packages::path_without;

/// The hooks that run the `abide` on the PATH. Each has a twin that installs a
/// wheel, and one that is built from source.
const HOOKS: &[&str] = &["abide-check", "abide-check-changed", "abide-bump"];

const SETTINGS: &str = "against = \"git:HEAD\"\n";

const USER: &str = "\
syntax = \"proto3\";
package acme.user.v1;

message User {
  string id = 1;
  string mail = 2;
}
";

/// A commit, and its expected result.
struct Commit {
    what: &'static str,
    file: &'static str,
    text: &'static str,
    /// Whether its author ran `abide bump --write`.
    bumps: bool,
    /// What pre-commit prints, if it refuses the commit.
    refused: Option<&'static str>,
}

/// The commits in order, each after those that succeeded.
const COMMITS: &[Commit] = &[
    Commit {
        what: "a field is added",
        file: "acme/user/v1/user.proto",
        text: "\
syntax = \"proto3\";
package acme.user.v1;

message User {
  string id = 1;
  string mail = 2;
  string name = 3;
}
",
        bumps: true,
        refused: None,
    },
    Commit {
        what: "a field is added, and its package keeps its version",
        file: "acme/user/v1/user.proto",
        text: "\
syntax = \"proto3\";
package acme.user.v1;

message User {
  string id = 1;
  string mail = 2;
  string name = 3;
  string phone = 4;
}
",
        bumps: false,
        refused: Some("acme.user.v1 1.1.0 → 1.2.0"),
    },
    Commit {
        what: "a field is removed",
        file: "acme/user/v1/user.proto",
        text: "\
syntax = \"proto3\";
package acme.user.v1;

message User {
  string id = 1;
  string name = 3;
}
",
        bumps: false,
        refused: Some("error[field-removed]"),
    },
    Commit {
        what: "a file that does not link",
        file: "acme/group/v1/group.proto",
        text: "\
syntax = \"proto3\";
package acme.group.v1;

message Group {
  User owner = 1;
}
",
        bumps: false,
        refused: Some("error[name-not-found]"),
    },
    Commit {
        what: "no proto file",
        file: "README.md",
        text: "Users.\n",
        bumps: false,
        refused: None,
    },
];

/// Stands in for cargo: installs a binary that is built already, where the source lies that it
/// is asked to build.
const STAND_IN: &str = "\
#!/bin/sh
set -eu
[ \"$1\" = install ]
while [ $# -gt 0 ]; do
  case $1 in
    --root) root=$2 ;;
    --path) path=$2 ;;
  esac
  shift
done
grep -q '^name = \"abide\"$' \"$path/Cargo.toml\"
mkdir -p \"$root/bin\"
cp '{binary}' \"$root/bin/abide\"
";

/// Tries every hook; true if each commit has the expected result.
///
/// Those that install a wheel are tried if `wheels` is a folder with one. The hooks that are built from source are handed `binary` by a stand-in for cargo, unless
/// `from_source` has them built in the clone that pre-commit makes, with nothing built before.
pub(crate) fn run(from_source: bool, wheels: Option<&Path>, binary: Option<&Path>) -> Result<bool> {
    let version = stdout(Command::new("pre-commit").arg("--version"))
        .map_err(|error| format!("`pip install pre-commit`: {error}"))?;
    println!("hooks: {}", version.trim());
    let stage = target()?.join("hooks");
    if stage.exists() {
        fs::remove_dir_all(&stage)?;
    }
    let source = Repository::snapshot(&stage)?;
    stdout(source.command("pre-commit").args(["validate-manifest", ".pre-commit-hooks.yaml"]))?;

    let binary = abide(binary)?;
    let path = path_with(binary.parent())?;
    let mut agreed = source.user("user", "", path, &binary)?.commits(&binary)?;
    let path = if from_source {
        path_with(None)?
    } else {
        path_with(Some(&write_stand_in(&stage, &binary)?))?
    };
    agreed &= source.user("from-source", "-from-source", path, &binary)?.commits(&binary)?;
    if let Some(wheels) = wheels {
        let source = Repository { wheels: Some(std::path::absolute(wheels)?), ..source };
        let user = source.user("from-wheel", "-from-wheel", path_without("cargo")?, &binary)?;
        agreed &= user.commits(&binary)?;
    }
    println!("hooks: {}", if agreed { "as expected" } else { "not as expected" });
    Ok(agreed)
}

/// The PATH, with this folder before all others.
fn path_with(folder: Option<&Path>) -> Result<OsString> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = folder.map(Path::to_owned).into_iter().chain(std::env::split_paths(&path));
    Ok(std::env::join_paths(folders)?)
}

/// The folder of a `cargo` that installs this binary.
fn write_stand_in(stage: &Path, binary: &Path) -> Result<PathBuf> {
    let folder = stage.join("cargo");
    let binary = binary.to_str().ok_or("the path of `abide` is no text")?;
    let path = folder.join("cargo");
    fs::create_dir_all(&folder)?;
    fs::write(&path, STAND_IN.replace("{binary}", binary))?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    Ok(folder)
}

/// A repository of this run, whose commands do not see the user's settings.
#[derive(Clone)]
struct Repository {
    folder: PathBuf,
    /// Where pre-commit keeps its clones.
    cache: PathBuf,
    /// Where cargo builds.
    target: PathBuf,
    path: OsString,
    /// Where pip finds wheels that no index has.
    wheels: Option<PathBuf>,
}

impl Repository {
    /// This workspace as it is now, including uncommitted changes: pre-commit only
    /// uses hooks from commits.
    fn snapshot(stage: &Path) -> Result<Self> {
        let source = Self::init(stage.join("abide"), path_with(None)?, None)?;
        let from = workspace()?;
        let mut list = Command::new("git");
        list.current_dir(&from).args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ]);
        for file in stdout(&mut list)?.split_terminator('\0') {
            let (from, to) = (from.join(file), source.folder.join(file));
            // One that is deleted may still be in the index.
            if from.is_file() {
                fs::create_dir_all(to.parent().ok_or("a file lies in a folder")?)?;
                fs::copy(from, to)?;
            }
        }
        source.record("the hooks")?;
        Ok(source)
    }

    /// Beside this repository, one with a tree of protos and only the hooks of this repository
    /// whose names have this suffix.
    fn user(&self, name: &str, suffix: &str, path: OsString, binary: &Path) -> Result<Self> {
        let user = Self::init(self.folder.with_file_name(name), path, self.wheels.clone())?;
        let revision = stdout(self.git().args(["rev-parse", "HEAD"]))?;
        let hooks: String = HOOKS.iter().map(|id| format!("  - id: {id}{suffix}\n")).collect();
        let config = format!(
            "repos:\n- repo: {}\n  rev: {}\n  hooks:\n{hooks}",
            self.folder.display(),
            revision.trim()
        );
        user.write(".pre-commit-config.yaml", &config)?;
        user.write("abide.toml", SETTINGS)?;
        user.write("acme/user/v1/user.proto", USER)?;
        user.record("the tree before versions")?;
        user.bump(binary)?;
        user.record("the tree before the hooks")?;
        stdout(user.command("pre-commit").arg("install"))?;
        Ok(user)
    }

    fn init(folder: PathBuf, path: OsString, wheels: Option<PathBuf>) -> Result<Self> {
        fs::create_dir_all(&folder)?;
        let (cache, target) = (folder.with_file_name("cache"), folder.with_file_name("target"));
        let repository = Self { folder, cache, target, path, wheels };
        stdout(repository.git().args(["init", "--quiet", "--initial-branch", "main"]))?;
        Ok(repository)
    }

    /// Makes every commit, in the repository and in a linked worktree, where git
    /// passes other folders to its hooks.
    fn commits(&self, binary: &Path) -> Result<bool> {
        let worktree = self.folder.with_extension("worktree");
        stdout(self.git().args(["worktree", "add", "--quiet", "-b", "linked"]).arg(&worktree))?;
        let linked = Self { folder: worktree, ..self.clone() };
        let mut agreed = true;
        for repository in [self, &linked] {
            for commit in COMMITS {
                agreed &= repository.tries(commit, binary)?;
            }
        }
        Ok(agreed)
    }

    /// Records the versions of the tree.
    fn bump(&self, binary: &Path) -> Result<()> {
        let binary = binary.to_str().ok_or("the path of `abide` is not UTF-8")?;
        stdout(self.command(binary).args(["bump", "--write"]))?;
        Ok(())
    }

    fn tries(&self, commit: &Commit, binary: &Path) -> Result<bool> {
        self.write(commit.file, commit.text)?;
        if commit.bumps {
            self.bump(binary)?;
        }
        stdout(self.git().args(["add", "--all"]))?;
        let before = stdout(self.git().args(["rev-parse", "HEAD"]))?;
        let output = output(self.git().args(["commit", "--message", commit.what]))?;
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        let succeeded = stdout(self.git().args(["rev-parse", "HEAD"]))? != before;
        stdout(self.git().args(["reset", "--quiet", "--hard"]))?;
        let agrees = match commit.refused {
            Some(why) => !succeeded && said.contains(why),
            None => succeeded,
        };
        let name = self.folder.file_name().unwrap_or_default().display();
        let became = if succeeded { "committed" } else { "refused" };
        println!("{name}: {}: {became}{}", commit.what, if agrees { "" } else { ", WRONG" });
        if !agrees {
            println!("{said}");
        }
        Ok(agrees)
    }

    fn write(&self, file: &str, text: &str) -> Result<()> {
        let path = self.folder.join(file);
        fs::create_dir_all(path.parent().ok_or("a file lies in a folder")?)?;
        Ok(fs::write(path, text)?)
    }

    /// Commits everything without running hooks.
    fn record(&self, message: &str) -> Result<()> {
        stdout(self.git().args(["add", "--all"]))?;
        stdout(self.git().args(["commit", "--quiet", "--no-verify", "--message", message]))?;
        Ok(())
    }

    fn git(&self) -> Command {
        self.command("git")
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let nobody = if cfg!(windows) { "NUL" } else { "/dev/null" };
        command
            .current_dir(&self.folder)
            .env("PATH", &self.path)
            .env("PRE_COMMIT_HOME", &self.cache)
            // Apart from what this workspace has built: cargo would take one for the other.
            .env("CARGO_TARGET_DIR", &self.target)
            .env("GIT_CONFIG_GLOBAL", nobody)
            .env("GIT_CONFIG_NOSYSTEM", "1");
        if let Some(wheels) = &self.wheels {
            command.env("PIP_FIND_LINKS", wheels);
        }
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "Ann");
            command.env(format!("GIT_{role}_EMAIL"), "ann@example.org");
        }
        command
    }
}
