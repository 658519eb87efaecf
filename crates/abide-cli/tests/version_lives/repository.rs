//! A repository in which a life happens, and the laws that every command keeps.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::start::Start;

/// The day of every command: in the window for new majors of the presets.
const DAY: &str = "2026-06-10";

/// The files of a tree and the lock, by path.
pub(super) type Files = BTreeMap<String, String>;

/// What a run left.
pub(super) struct Ran {
    pub(super) status: i32,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl Ran {
    /// Everything that it said.
    pub(super) fn said(&self) -> String {
        format!("status {}\n{}{}", self.status, self.stdout, self.stderr)
    }
}

/// The programs that lives run.
#[derive(Clone, Debug)]
pub struct Programs {
    /// The binary `abide`.
    pub abide: PathBuf,
    /// The folder of Abide's annotations.
    pub api: PathBuf,
}

/// A repository with a tree below `proto`.
pub(super) struct Repository {
    folder: TempDir,
    abide: PathBuf,
    /// True if the tree is a part of a real one.
    pub(super) is_real: bool,
    /// What happened, for the report of a violation.
    pub(super) told: Vec<String>,
    /// The number of commands so far.
    pub(super) commands: usize,
    /// The number of checked laws so far.
    pub(super) checks: usize,
}

impl Repository {
    pub(super) fn new(programs: &Programs, start: &Start) -> Repository {
        let folder = TempDir::new().expect("a folder can be made");
        let repository = Repository {
            folder,
            abide: programs.abide.clone(),
            is_real: !start.is_clean,
            told: Vec::new(),
            commands: 0,
            checks: 0,
        };
        repository.git(&["init", "--quiet", "-b", "main"]);
        let imports = start.imports.iter().chain([&programs.api]);
        let imports: Vec<String> =
            imports.map(|it| format!("{:?}", it.display().to_string())).collect();
        let keys = format!("roots = [\"proto\"]\nimport-paths = [{}]\n", imports.join(", "));
        repository.write("abide.toml", &(keys + &start.config));
        start
            .files
            .iter()
            .for_each(|(path, text)| repository.write(&format!("proto/{path}"), text));
        repository
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn tell(&mut self, what: impl Into<String>) {
        self.told.push(what.into());
    }

    /// Checks a law.
    #[track_caller]
    pub(super) fn law(&mut self, holds: bool, law: &str, why: impl FnOnce() -> String) {
        self.checks += 1;
        if !holds {
            let kept = std::env::var_os("ABIDE_LIFE_KEPT");
            if let Some(kept) = kept {
                let copied = Command::new("cp").arg("-r").arg(self.path()).arg(kept).status();
                copied.expect("cp is there");
            }
            panic!("{}\nVIOLATED: {law}\n{}", self.told.join("\n"), why());
        }
    }

    pub(super) fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().expect("it has a name")).expect("it can be made");
        fs::write(path, text).expect("it can be written");
    }

    pub(super) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path().join(path)).unwrap_or_default()
    }

    /// Runs a command. It never crashes, and is not refused as wrong.
    #[track_caller]
    pub(super) fn abide(&mut self, args: &[&str]) -> Ran {
        let ran = self.try_abide(args);
        self.law((0..=1).contains(&ran.status), "no command is refused as wrong", || {
            format!("`abide {}`: {}", args.join(" "), ran.said())
        });
        ran
    }

    /// Runs a command that may be refused as wrong. It never crashes.
    #[track_caller]
    pub(super) fn try_abide(&mut self, args: &[&str]) -> Ran {
        self.commands += 1;
        let ran = Command::new(&self.abide)
            .args(args)
            .args(["--as-of", DAY])
            .current_dir(self.path())
            .env_remove("NO_COLOR")
            .output()
            .expect("the binary starts");
        let read = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (stdout, stderr) = (read(&ran.stdout), read(&ran.stderr));
        let ran = Ran { status: ran.status.code().unwrap_or(-1), stdout, stderr };
        let what = format!("`abide {}`", args.join(" "));
        self.law((0..=2).contains(&ran.status), "no command crashes", || {
            format!("{what}: {}", ran.said())
        });
        ran
    }

    /// Runs git, and returns whether it did its work.
    pub(super) fn try_git(&self, args: &[&str]) -> (bool, String) {
        let ran = Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"])
            .args(args)
            .current_dir(self.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env_remove("GIT_DIR")
            .output()
            .expect("lives need the `git` program: install it");
        (ran.status.success(), String::from_utf8_lossy(&ran.stdout).into_owned())
    }

    #[track_caller]
    pub(super) fn git(&self, args: &[&str]) -> String {
        let (done, said) = self.try_git(args);
        assert!(done, "git {args:?}: {said}");
        said
    }

    pub(super) fn commit(&self, subject: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", subject]);
    }

    /// Everything that commands write.
    pub(super) fn files(&self) -> Files {
        let mut found = Files::new();
        let mut open = vec![self.path().join("proto")];
        while let Some(folder) = open.pop() {
            let entries = fs::read_dir(&folder).expect("it is a folder");
            for path in entries.map(|it| it.expect("it can be read").path()) {
                match path.is_dir() {
                    true => open.push(path),
                    false => {
                        drop(found.insert(
                            self.name(&path),
                            fs::read_to_string(&path).unwrap_or_default(),
                        ))
                    }
                }
            }
        }
        if self.path().join("abide.lock").exists() {
            found.insert("abide.lock".to_owned(), self.read("abide.lock"));
        }
        found
    }

    /// The protos alone.
    pub(super) fn protos(&self) -> Files {
        let mut files = self.files();
        files.remove("abide.lock");
        files
    }

    fn name(&self, path: &Path) -> String {
        let inside = path.strip_prefix(self.path()).expect("it is inside");
        inside.to_string_lossy().into_owned()
    }

    /// Makes the files these.
    pub(super) fn restore(&self, files: &Files) {
        let now = self.files();
        for path in now.keys().filter(|it| !files.contains_key(*it)) {
            fs::remove_file(self.path().join(path)).expect("it is there");
        }
        let changed = files.iter().filter(|(path, text)| now.get(*path) != Some(text));
        changed.for_each(|(path, text)| self.write(path, text));
    }

    /// The errors of `check`: the rule, and the element without the version of its package.
    pub(super) fn errors(&mut self, args: &[&str]) -> BTreeSet<(String, String)> {
        let mut all = vec!["check", "-q", "--format", "json"];
        all.extend(args);
        let ran = self.abide(&all);
        let lines = ran.stdout.lines().filter_map(|it| serde_json::from_str(it).ok());
        let lines: Vec<serde_json::Value> = lines.collect();
        let word =
            |it: &serde_json::Value, key: &str| it[key].as_str().unwrap_or_default().to_owned();
        let errors = lines.iter().filter(|it| it["severity"] == "error");
        let name = |it: &serde_json::Value| strip_versions(&word(it, "element"));
        errors.map(|it| (word(it, "rule"), name(it))).collect()
    }
}

/// A name in which versions of packages are all the same.
fn strip_versions(name: &str) -> String {
    let is_version = |it: &str| {
        it.strip_prefix('v').is_some_and(|it| it.starts_with(|it: char| it.is_ascii_digit()))
    };
    let parts = name.split(['.', '/']).map(|it| if is_version(it) { "vN" } else { it });
    parts.collect::<Vec<_>>().join(".")
}
