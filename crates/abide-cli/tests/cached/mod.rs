//! A repository that changes at random, in which every run is compared with one that keeps nothing.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use fastrand::Rng;

/// The reports that a run may print.
const FORMATS: [&str; 8] =
    ["human", "json", "sarif", "junit", "github", "gitlab", "markdown", "html"];

/// Bodies of files, some of them of equal length, some with findings, some that do not link or parse.
const BODIES: [&str; 9] = [
    "message A { string name = 1; }\n",
    "message A { string mane = 1; }\n",
    "message a_b { string name = 1; }\n",
    "message A { string Name = 1; base.v1.Base base = 2; }\n",
    "enum Kind { ON = 0; OFF = 1; }\nmessage A { Kind kind = 1 [deprecated = true]; }\n",
    "// abide: allow field-name-case -- as others have it\nmessage A { string Name = 1; }\n",
    "message A { Gone gone = 1; }\n",
    "message A { string name = }\n",
    "message A {}\r\nmessage B {}\r\n",
];

/// Files of the tree, each with its package.
const FILES: [(&str, &str); 6] = [
    ("proto/shop/v1/item.proto", "shop.v1"),
    ("proto/shop/v1/order.proto", "shop.v1"),
    ("proto/shop/v2alpha/item.proto", "shop.v2alpha"),
    ("proto/mail/v1/mail.proto", "mail.v1"),
    ("proto/mail/v1/Moved.proto", "mail.v1"),
    ("proto/log/log.proto", "log"),
];

/// Configurations of the tree.
const CONFIGS: [&str; 3] = [
    "roots = [\"proto\"]\nimport-paths = [\"third_party\"]\n",
    "roots = [\"proto\"]\nimport-paths = [\"third_party\"]\n[rules]\nfield-name-case = \"off\"\n",
    "roots = [\"proto\"]\nimport-paths = [\"third_party\"]\n[[waiver]]\nrule = \"field-name-case\"\n\
     element = \"shop.v1.A.Name\"\nreason = \"old clients\"\n",
];

/// The imported file, in two states.
const IMPORTED: &str = "third_party/base/v1/base.proto";
const BASES: [&str; 2] = ["message Base {}\n", "message Base { string id = 1; }\n"];

/// A repository that changes.
pub(crate) struct Changing<'a> {
    abide: &'a Path,
    folder: &'a Path,
    random: Rng,
    /// How many runs found a report that was kept.
    pub(crate) recalled: usize,
}

impl<'a> Changing<'a> {
    /// A repository in an empty folder.
    pub(crate) fn new(abide: &'a Path, folder: &'a Path, seed: u64) -> Changing<'a> {
        let changing = Changing { abide, folder, random: Rng::with_seed(seed), recalled: 0 };
        changing.git(&["init", "--quiet", "--initial-branch=main"]);
        changing.write("abide.toml", CONFIGS[0].as_bytes());
        changing.write(IMPORTED, describe("base.v1", "", BASES[0]).as_bytes());
        for (path, package) in FILES {
            changing.write(path, describe(package, "", BODIES[0]).as_bytes());
        }
        changing.git(&["add", "--all"]);
        changing.git(&["commit", "--quiet", "-m", "begin"]);
        changing.git(&["branch", "other"]);
        changing
    }

    /// Changes something, and compares two runs with one that keeps nothing. Returns the difference.
    pub(crate) fn step(&mut self) -> Option<String> {
        let change = self.change();
        let format = FORMATS[self.random.usize(..FORMATS.len())];
        let command = ["check", "lint"][self.random.usize(..2)];
        let args = [command, "--format", format, "--as-of", "2026-02-01"];
        let more = [&["--verbose"][..], &["--waived"], &[]][self.random.usize(..3)];
        let args: Vec<&str> = [&args[..], more].concat();
        let before = self.count_kept();
        let cold = self.run(&args, "off");
        for run in ["first", "second"] {
            let cached = self.run(&args, "always");
            if show(&cached) != show(&cold) {
                return Some(format!(
                    "after {change}, the {run} run of {args:?} differs\n--- cold\n{}\n--- cached\n{}",
                    show(&cold),
                    show(&cached)
                ));
            }
            self.recalled += usize::from(run == "second" && self.count_kept() == before.max(1));
        }
        None
    }

    fn run(&self, args: &[&str], switch: &str) -> Output {
        let mut command = Command::new(self.abide);
        command.args(args).current_dir(self.folder).env("ABIDE_CACHE", switch);
        command.output().expect("the binary starts")
    }

    /// Changes something, and says what.
    fn change(&mut self) -> &'static str {
        match self.random.u8(..14) {
            0..=2 => self.edit(),
            3 => self.edit_in_place(),
            4 => self.touch(),
            5 => self.rename(),
            6 => self.commit(),
            7 => self.check_out(),
            8 => self.restore(),
            9 => self.damage(),
            10 => self.exchange(),
            11 => self.configure(),
            12 => self.import_another(),
            _ => "nothing",
        }
    }

    fn pick_file(&mut self) -> (PathBuf, &'static str) {
        let (path, package) = FILES[self.random.usize(..FILES.len())];
        (self.folder.join(path), package)
    }

    fn edit(&mut self) -> &'static str {
        let (path, package) = self.pick_file();
        let import = ["", "import \"base/v1/base.proto\";\n", "import \"gone.proto\";\n"];
        let import = import[self.random.usize(..import.len())];
        let text = describe(package, import, BODIES[self.random.usize(..BODIES.len())]);
        put(&path, text.as_bytes());
        "an edit"
    }

    /// Writes a text of the same size, and gives the file its old time.
    fn edit_in_place(&mut self) -> &'static str {
        let (path, _) = self.pick_file();
        let Ok(text) = fs::read_to_string(&path) else { return "nothing" };
        let time = fs::metadata(&path).and_then(|it| it.modified()).expect("files have times");
        let other = match text.contains("name") {
            true => text.replace("name", "mane"),
            false => text.replace("mane", "name"),
        };
        put(&path, other.as_bytes());
        let file = File::options().write(true).open(&path).expect("it is ours");
        file.set_modified(time).expect("it is ours");
        "an edit of the same size and time"
    }

    fn touch(&mut self) -> &'static str {
        let (path, _) = self.pick_file();
        let Ok(text) = fs::read(&path) else { return "nothing" };
        put(&path, &text);
        "a touch"
    }

    fn rename(&mut self) -> &'static str {
        let ((from, _), (to, _)) = (self.pick_file(), self.pick_file());
        // One of them may be gone, and both may be one.
        let _ = fs::rename(from, to);
        "a rename"
    }

    fn commit(&mut self) -> &'static str {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", "commit"]);
        "a commit"
    }

    fn check_out(&mut self) -> &'static str {
        let branch = ["main", "other"][self.random.usize(..2)];
        self.git(&["checkout", "--quiet", "--force", branch]);
        "a checkout"
    }

    fn restore(&mut self) -> &'static str {
        self.git(&["checkout", "--quiet", "--force", "HEAD", "--", "."]);
        "all files as committed"
    }

    fn list_kept(&self) -> Vec<PathBuf> {
        let listing = fs::read_dir(self.folder.join(".git/abide/reports"));
        let paths = listing.into_iter().flatten().map(|it| it.expect("it is ours").path());
        let mut paths: Vec<PathBuf> = paths.collect();
        paths.sort();
        paths
    }

    fn count_kept(&self) -> usize {
        self.list_kept().len()
    }

    /// Damages every report that is kept.
    fn damage(&mut self) -> &'static str {
        for path in self.list_kept() {
            let mut bytes = fs::read(&path).expect("it is ours");
            let at = self.random.usize(..bytes.len().max(1));
            match self.random.u8(..4) {
                0 => bytes.truncate(at),
                1 => bytes.push(0),
                2 => bytes.clear(),
                _ => bytes.iter_mut().skip(at).take(1).for_each(|it| *it ^= 1),
            }
            put(&path, &bytes);
        }
        "damage"
    }

    /// Puts reports in the places of others.
    fn exchange(&mut self) -> &'static str {
        let kept = self.list_kept();
        let texts: Vec<Vec<u8>> = kept.iter().map(|it| fs::read(it).expect("it is ours")).collect();
        for (path, text) in kept.iter().zip(texts.iter().rev()) {
            put(path, text);
        }
        "an exchange of reports"
    }

    fn configure(&mut self) -> &'static str {
        let config = CONFIGS[self.random.usize(..CONFIGS.len())];
        self.write("abide.toml", config.as_bytes());
        match self.random.u8(..3) {
            0 => drop(self.run(&["check", "--accept", "--as-of", "2026-02-01"], "off")),
            1 => drop(fs::remove_file(self.folder.join("abide.accepted"))),
            _ => {}
        }
        "other settings"
    }

    fn import_another(&mut self) -> &'static str {
        if self.random.bool() {
            let base = describe("base.v1", "", BASES[self.random.usize(..BASES.len())]);
            self.write(IMPORTED, base.as_bytes());
        } else {
            // It may be gone already.
            let _ = fs::remove_file(self.folder.join(IMPORTED));
        }
        "another file on the import path"
    }

    fn write(&self, path: &str, bytes: &[u8]) {
        put(&self.folder.join(path), bytes);
    }

    fn git(&self, args: &[&str]) {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@example.com"]).args(args);
        let ran = command.current_dir(self.folder).output().expect("git is there");
        assert!(ran.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&ran.stderr));
    }
}

/// A file of a package.
fn describe(package: &str, import: &str, body: &str) -> String {
    format!("syntax = \"proto3\";\npackage {package};\n{import}{body}")
}

fn put(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().expect("it is below a folder")).expect("the folder is ours");
    fs::write(path, bytes).expect("the file is ours");
}

/// All that a run said but how long it took.
fn show(ran: &Output) -> String {
    let [stdout, stderr] = [&ran.stdout, &ran.stderr].map(|it| String::from_utf8_lossy(it));
    let stderr = stderr.lines().filter(|it| !it.contains(" took ")).collect::<Vec<_>>().join("\n");
    format!("{:?}\n{stdout}\n{stderr}", ran.status.code())
}
