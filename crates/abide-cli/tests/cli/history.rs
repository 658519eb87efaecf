//! `abide history`: each row agrees with what the other commands report for that commit, although
//! the walk reads only a small part of the tree.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::run::{abide, at_each_step, ending_signals, put};
use world::World;

mod lives;
pub(crate) mod world;

pub(crate) fn git(folder: &Path, arguments: &[&str]) -> String {
    git_with(folder, arguments, b"")
}

fn git_with(folder: &Path, arguments: &[&str], input: &[u8]) -> String {
    use std::io::Write;
    let mut child = Command::new("git")
        .args(["-c", "user.name=A", "-c", "user.email=a@example.com"])
        .args(["-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false"])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("git is installed");
    child.stdin.take().unwrap().write_all(input).unwrap();
    let ran = child.wait_with_output().unwrap();
    assert!(ran.status.success(), "git {arguments:?}");
    String::from_utf8(ran.stdout).unwrap().trim().to_owned()
}

/// Lets the files of a checkout be older than git's index, as they are soon in any repository: an
/// index that is as young as a file says nothing about that file.
pub(crate) fn age(folder: &Path) {
    let then = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
    for path in git(folder, &["ls-files"]).lines() {
        let file = std::fs::File::options().append(true).open(folder.join(path)).unwrap();
        file.set_modified(then).unwrap();
    }
    git(folder, &["update-index", "--refresh", "-q"]);
}

/// A commit of a repository that is made at once.
pub(crate) struct Snapshot {
    branch: &'static str,
    /// The second parent, by its place among the commits.
    merges: Option<usize>,
    /// The first parent, where it is not the commit before on the branch.
    from: Option<usize>,
    subject: String,
    pub(crate) files: BTreeMap<String, String>,
}

impl Snapshot {
    pub(crate) fn on_main(subject: &str, files: &[(&str, &str)]) -> Snapshot {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        let subject = subject.to_owned();
        Snapshot { branch: "main", merges: None, from: None, subject, files: files.collect() }
    }
}

/// Makes a repository of commits, a day apart from each other.
pub(crate) fn repository(folder: &Path, commits: &[Snapshot]) {
    git(folder, &["init", "--quiet"]);
    let mut stream = String::new();
    for (number, commit) in commits.iter().enumerate() {
        let seconds = 1_700_000_000 + number * 86_400;
        writeln!(stream, "commit refs/heads/{}\nmark :{}", commit.branch, number + 1).unwrap();
        writeln!(stream, "committer A <a@example.com> {seconds} +0000").unwrap();
        writeln!(stream, "data {}\n{}", commit.subject.len(), commit.subject).unwrap();
        if let Some(from) = commit.from {
            writeln!(stream, "from :{}", from + 1).unwrap();
        }
        if let Some(merged) = commit.merges {
            writeln!(stream, "merge :{}", merged + 1).unwrap();
        }
        stream.push_str("deleteall\n");
        for (path, text) in &commit.files {
            writeln!(stream, "M 100644 inline {path}\ndata {}\n{text}", text.len()).unwrap();
        }
    }
    git_with(folder, &["fast-import", "--quiet"], stream.as_bytes());
    git(folder, &["symbolic-ref", "HEAD", "refs/heads/main"]);
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_else(|| panic!("`{key}` in {value}"))
}

/// The rows of a walk, by commit and package.
type Rows = BTreeMap<String, BTreeMap<String, Value>>;

fn history(folder: &Path, arguments: &[&str]) -> Rows {
    let arguments = [&["history", "--format", "json"], arguments].concat();
    let ran = abide(folder, &arguments);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let mut rows = Rows::new();
    for row in ran.json() {
        if row["kind"] == "package" {
            let of_commit = rows.entry(text(&row, "commit").to_owned()).or_default();
            let before = of_commit.insert(text(&row, "package").to_owned(), row);
            assert!(before.is_none(), "one row for each package");
        }
    }
    rows
}

/// The hashes of every package at a revision, as `abide hash` says them.
fn hashes(folder: &Path, commit: &str) -> BTreeMap<String, (String, String)> {
    let ran = abide(folder, &["hash", &format!("git:{commit}"), "--format", "json"]);
    assert!(ran.status < 2, "{}", ran.stderr);
    let rows = ran.json().into_iter().filter(|row| row["kind"] == "package");
    let hashes = |row: &Value| (text(row, "own").to_owned(), text(row, "closure").to_owned());
    rows.map(|row| (text(&row, "name").to_owned(), hashes(&row))).collect()
}

/// What `abide breaking` says of two revisions: the changes of each package, and the packages that
/// do not link; lastly whether imports go in a circle.
fn changes(
    folder: &Path,
    commit: &str,
    parent: &str,
) -> (BTreeMap<String, BTreeSet<String>>, BTreeSet<String>, bool) {
    let day = &git(folder, &["show", "--no-patch", "--format=%cI", commit])[..10];
    let (new, old) = (format!("git:{commit}"), format!("git:{parent}"));
    let arguments = ["breaking", &new, "--against", &old, "--changes", "--as-of", day];
    let ran = abide(folder, &[&arguments[..], &["--format", "json"]].concat());
    assert!(ran.status < 2, "{}", ran.stderr);
    let (mut changes, mut unlinked, mut circle) = (BTreeMap::new(), BTreeSet::new(), false);
    for finding in ran.json().into_iter().filter(|row| row["kind"] == "finding") {
        let package = finding["package"].as_str().unwrap_or_default().to_owned();
        if let Some(bump) = finding["bump"].as_str() {
            // A break that nobody promised not to make, or that is allowed, is no new major.
            let refused = !package.ends_with("alpha") && text(&finding, "severity") == "error";
            let bump = if bump == "major" && !refused { "minor" } else { bump };
            let backward =
                |it: &Value| it.as_array().is_some_and(|it| it.contains(&"backward".into()));
            let told = format!(
                "{} {} {} {} {}: {}",
                text(&finding, "severity"),
                text(&finding, "rule"),
                text(&finding, "element"),
                bump,
                backward(&finding["directions"]),
                text(&finding, "message"),
            );
            changes.entry(package).or_insert_with(BTreeSet::new).insert(told);
        } else if text(&finding, "severity") == "error" {
            circle |= text(&finding, "rule") == "import-cycle";
            unlinked.insert(package);
        }
    }
    (changes, unlinked, circle)
}

/// The changes that a row gives as its reasons, in the same words.
fn reasons(row: &Value) -> BTreeSet<String> {
    let reasons = row["reasons"].as_array().into_iter().flatten();
    let changes = reasons.filter(|it| it["bump"].is_string() && it["rule"] != "catch-up");
    changes
        .map(|it| {
            format!(
                "{} {} {} {} {}: {}",
                text(it, "severity"),
                text(it, "rule"),
                text(it, "element"),
                text(it, "bump"),
                it["breaks"] == true,
                text(it, "message"),
            )
        })
        .collect()
}

/// The version that follows by the rules, for the packages of the generated world.
fn risen(package: &str, before: Option<&str>, bump: &str) -> String {
    let alpha = package.ends_with("alpha");
    let Some(before) = before else {
        return if alpha { "2.0.0-alpha.1".to_owned() } else { "1.0.0".to_owned() };
    };
    if bump == "none" {
        return before.to_owned();
    }
    let (head, last) = before.rsplit_once('.').unwrap();
    if alpha {
        return format!("{head}.{}", last.parse::<u32>().unwrap() + 1);
    }
    let (major, minor) = head.split_once('.').unwrap();
    format!("{major}.{}.0", minor.parse::<u32>().unwrap() + 1)
}

/// Compares every row of a walk with what the whole trees give.
fn compare_with_whole_trees(folder: &Path) -> BTreeMap<String, usize> {
    let rows = history(folder, &[]);
    let commits = git(folder, &["rev-list", "--first-parent", "--reverse", "HEAD"]);
    let commits: Vec<&str> = commits.lines().collect();
    let mut versions: BTreeMap<String, String> = BTreeMap::new();
    // The version and the closure hash of what is not there any more.
    let mut gone: BTreeMap<String, (String, Option<String>)> = BTreeMap::new();
    let mut before: BTreeMap<String, (String, String)> = BTreeMap::new();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let none = BTreeMap::new();
    for (number, commit) in commits.iter().enumerate() {
        let after = hashes(folder, commit);
        let (changes, unlinked, circle) = match number {
            // Nothing was before: there is no tree to compare with.
            0 => Default::default(),
            _ => changes(folder, commit, commits[number - 1]),
        };
        let told = rows.get(*commit).unwrap_or(&none);
        let concerned = before.keys().chain(after.keys()).chain(changes.keys()).chain(told.keys());
        // The vendored package is imported, and so in no row.
        let own = concerned.filter(|it| !it.starts_with("vendor")).cloned();
        for package in own.collect::<BTreeSet<String>>() {
            let at = format!("`{package}` at commit {number}, {commit}");
            let (old, new) = (before.get(&package), after.get(&package));
            let changed = old.map(|it| &it.1) != new.map(|it| &it.1);
            let found = changes.get(&package).cloned().unwrap_or_default();
            let Some(row) = told.get(&package) else {
                assert!(!changed && old == new, "no row for {at}, whose hash changed");
                assert!(found.is_empty(), "no row for {at}, which has {found:?}");
                continue;
            };
            let hash = |key: &str| row[key].as_str();
            assert_eq!(hash("own_old"), old.map(|it| &*it.0), "{at}");
            assert_eq!(hash("closure_old"), old.map(|it| &*it.1), "{at}");
            assert_eq!(hash("own"), new.map(|it| &*it.0), "{at}");
            assert_eq!(hash("closure"), new.map(|it| &*it.1), "{at}");
            if number > 0 {
                assert_eq!(reasons(row), found, "{at}");
            }
            let has = |what: &str| found.iter().any(|it| it.contains(what));
            let in_circle = || {
                let reasons = row["reasons"].as_array().into_iter().flatten();
                let mut errors = reasons.filter(|it| it["bump"].is_null()).peekable();
                errors.peek().is_some() && errors.all(|it| it["rule"] == "import-cycle")
            };
            let verdict = match () {
                // The others tell of a circle once, in the package of one of its files.
                () if circle && in_circle() => "unlinked",
                () if number == 0 => text(row, "verdict"),
                () if unlinked.contains(&package) => "unlinked",
                () if has(" major ") => "refused",
                () if has(" true: ") => "breaking",
                () if changed => "compatible",
                () => "none",
            };
            assert_eq!(text(row, "verdict"), verdict, "{at}: {row}");
            *seen.entry(verdict.to_owned()).or_default() += 1;
            let back = gone.get(&package).filter(|_| old.is_none());
            let required = match (old, new) {
                (Some(_), _) if has(" major ") => "major",
                (Some(_), Some(_)) if has(" minor ") => "minor",
                (Some(_), Some(_)) if has(" patch ") => "patch",
                (Some(_), Some(_)) if changed => "minor",
                _ if back.is_some_and(|it| it.1.as_ref() != new.map(|it| &it.1)) => "minor",
                _ => "none",
            };
            if number > 0 {
                assert_eq!(text(row, "required"), required, "{at}: {row}");
            }
            let from = versions.remove(&package);
            *seen.entry("back".to_owned()).or_default() += usize::from(back.is_some());
            assert_eq!(row["from"].as_str(), from.as_deref(), "{at}");
            let last = from.as_ref().or(back.map(|it| &it.0)).cloned();
            let to = new.map(|_| risen(&package, last.as_deref(), required));
            assert_eq!(row["to"].as_str(), to.as_deref(), "{at}");
            if let (Some(from), None) = (from, &to) {
                gone.insert(package.clone(), (from, old.map(|it| it.1.clone())));
            }
            versions.extend(to.map(|to| (package, to)));
        }
        before = after;
    }
    seen
}

#[test]
fn every_row_is_what_the_whole_trees_give() {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for seed in seeds() {
        let folder = tempfile::tempdir().unwrap();
        let mut world = World::new(seed);
        let mut commits = vec![Snapshot::on_main("begin", &[])];
        commits[0].files = world.files();
        let (mut main, mut side): (usize, Option<(usize, World)>) = (0, None);
        for number in 1..40 {
            // Now and then a side line is worked on and merged.
            let at = commits.len();
            let (branch, from, merges, files) = match side.take() {
                Some((tip, mut other)) if number % 3 == 1 => {
                    other.edit();
                    let files = other.files();
                    side = Some((at, other));
                    ("side", (commits[tip].branch == "main").then_some(tip), None, files)
                }
                Some((tip, other)) if number % 3 == 2 && tip != main => {
                    world.merge(&other);
                    ("main", None, Some(tip), world.files())
                }
                kept => {
                    side = kept;
                    if side.is_none() && number % 7 == 0 {
                        side = Some((main, world.clone()));
                    }
                    world.edit();
                    ("main", None, None, world.files())
                }
            };
            if branch == "main" {
                main = at;
            }
            let subject = format!("commit {number}");
            commits.push(Snapshot { branch, from, merges, subject, files });
        }
        repository(folder.path(), &commits);
        put(folder.path(), &[("abide.toml", world::CONFIG)]);
        for (verdict, count) in compare_with_whole_trees(folder.path()) {
            *seen.entry(verdict).or_default() += count;
        }
    }
    for verdict in ["none", "compatible", "breaking", "refused", "unlinked", "back"] {
        assert!(seen.contains_key(verdict), "no commit is {verdict}: {seen:?}");
    }
}

/// A folder that gets another name, in the tree and in `abide.toml`, changes nothing else.
#[test]
fn a_root_with_another_name_is_the_same_root() {
    const MOVED: usize = 6;
    // The name of the root until then, and from then on.
    const NAMES: [[&str; 2]; 3] = [["proto", "proto"], ["proto", "api"], ["", "proto"]];
    let mut rows_compared = 0;
    for seed in seeds() {
        let mut world = World::new(seed);
        let mut lines = NAMES.map(|_| Vec::new());
        for number in 0..2 * MOVED {
            let files = world.files();
            for (commits, names) in lines.iter_mut().zip(NAMES) {
                let root = names[usize::from(number >= MOVED)];
                let name = |(path, text): (&String, &String)| {
                    let path = match path.strip_prefix("proto/") {
                        Some(rest) if root.is_empty() => rest.to_owned(),
                        Some(rest) => format!("{root}/{rest}"),
                        None => path.clone(),
                    };
                    (path, text.clone())
                };
                let mut commit = Snapshot::on_main(&format!("commit {number}"), &[]);
                commit.files = files.iter().map(name).collect();
                let config = world::CONFIG.replace("\"proto\"", &format!("\"{root}\""));
                commit.files.insert("abide.toml".to_owned(), config.replace("[\"\"]", "[]"));
                commits.push(commit);
            }
            world.edit();
        }
        let [stayed, renamed, deeper] = lines.map(|commits| {
            let folder = tempfile::tempdir().unwrap();
            repository(folder.path(), &commits);
            git(folder.path(), &["checkout", "--quiet", "main"]);
            let ids = git(folder.path(), &["rev-list", "--reverse", "main"]);
            let ids: Vec<&str> = ids.lines().collect();
            let mut rows = history(folder.path(), &[]);
            let rows: Vec<_> = ids.iter().map(|id| rows.remove(*id).unwrap_or_default()).collect();
            let told = format!("{rows:?}").replace("api/", "proto/");
            let told = ids.iter().fold(told, |told, id| told.replace(id, "COMMIT"));
            let pairs: Vec<_> =
                ids.windows(2).map(|pair| changes(folder.path(), pair[1], pair[0])).collect();
            let hashes: Vec<_> = ids.iter().map(|id| hashes(folder.path(), id)).collect();
            rows_compared += rows.iter().map(BTreeMap::len).sum::<usize>();
            (told, pairs, hashes)
        });
        assert_eq!(stayed, renamed, "seed {seed}");
        assert_eq!(stayed, deeper, "seed {seed}");
    }
    assert!(rows_compared > 0);
}

/// One run tries a few worlds; `ABIDE_HISTORY_SEEDS=FIRST..END` tries others.
fn seeds() -> std::ops::Range<u64> {
    let wanted = std::env::var("ABIDE_HISTORY_SEEDS").ok();
    let parse = |text: String| {
        let (first, end) = text.split_once("..")?;
        Some(first.parse().ok()?..end.parse().ok()?)
    };
    wanted.and_then(parse).unwrap_or(1..4)
}

pub(crate) const USER: &str = "proto/acme/user/v1/user.proto";
const LAB: &str = "proto/acme/lab/v1alpha/lab.proto";

pub(crate) fn user(fields: &str) -> String {
    format!("syntax = \"proto3\";\npackage acme.user.v1;\nmessage User {{\n{fields}}}\n")
}

pub(crate) const ID: &str = "  string id = 1;\n";
pub(crate) const NAME: &str = "  string name = 2;\n";

/// Four commits: two packages, a field more, another less, a folder that goes.
fn small(folder: &Path) -> Vec<String> {
    let lab = "syntax = \"proto3\";\npackage acme.lab.v1alpha;\nmessage Test {}\n";
    let both = [ID, NAME].concat();
    repository(
        folder,
        &[
            Snapshot::on_main("begin", &[(USER, &user(ID)), (LAB, lab)]),
            Snapshot::on_main("a name\u{1b}[31m", &[(USER, &user(&both)), (LAB, lab)]),
            Snapshot::on_main("no name", &[(USER, &user(ID)), (LAB, lab)]),
            Snapshot::on_main("no lab", &[(USER, &user(ID)), ("README", "Users.\n")]),
        ],
    );
    let commits = git(folder, &["rev-list", "--reverse", "HEAD"]);
    commits.lines().map(str::to_owned).collect()
}

/// What a row says, shortly.
fn told(rows: &Rows, commit: &str, package: &str) -> String {
    let row = &rows[commit][package];
    let version = |key: &str| row[key].as_str().unwrap_or("-").to_owned();
    format!("{} {} → {}", text(row, "verdict"), version("from"), version("to"))
}

#[test]
fn a_history_is_told_as_a_table_and_as_lines() {
    let folder = tempfile::tempdir().unwrap();
    let commits = small(folder.path());
    let rows = history(folder.path(), &["--path", "proto"]);
    assert_eq!(told(&rows, &commits[0], "acme.user.v1"), "compatible - → 1.0.0");
    assert_eq!(told(&rows, &commits[1], "acme.user.v1"), "compatible 1.0.0 → 1.1.0");
    assert_eq!(told(&rows, &commits[2], "acme.user.v1"), "refused 1.1.0 → 1.2.0");
    assert_eq!(told(&rows, &commits[3], "acme.lab.v1alpha"), "breaking 1.0.0-alpha.1 → -");
    assert!(!rows[&commits[3]].contains_key("acme.user.v1"), "nothing touched it");

    let ran = abide(folder.path(), &["history", "--path", "proto"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let expected = format!(
        "{} 2023-11-17 no lab\n  acme.lab.v1alpha  breaking    1.0.0-alpha.1 → gone\n",
        &commits[3][..10]
    );
    assert!(ran.text().starts_with(&expected), "{}", ran.text());
    assert!(
        ran.text().contains("  acme.user.v1      refused     1.1.0 → 1.2.0\n"),
        "{}",
        ran.text()
    );
    assert!(ran.text().contains("      field-removed: "), "{}", ran.text());
    assert!(!ran.text().contains('\u{1b}'), "a subject has no power over the terminal");
    let last = "4 of 4 commits affected 2 packages: 1 refused, 1 breaking, 3 compatible\n";
    assert!(ran.text().ends_with(last), "{}", ran.text());
    let colored = abide(folder.path(), &["history", "--path", "proto", "--color", "always"]);
    assert!(colored.text().contains("\u{1b}[31;1mrefused"), "{}", colored.text());

    let lines = abide(folder.path(), &["history", "--path", "proto", "--format", "json"]).json();
    let summary = lines.last().unwrap();
    assert_eq!((summary["kind"].as_str(), summary["walked"].as_u64()), (Some("summary"), Some(4)));
    let page = folder.path().join("out/page.html");
    let ran = abide(
        folder.path(),
        &["history", "--path", "proto", "--format", "html", "--output", page.to_str().unwrap()],
    );
    assert_eq!((ran.status, ran.stdout.len()), (0, 0), "{}", ran.stderr);
    assert!(std::fs::read_to_string(page).unwrap().ends_with("</html>\n"));
}

#[test]
fn a_walk_may_begin_later_and_see_a_part_or_a_folder_that_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let commits = small(folder.path());
    let rows = history(folder.path(), &["--path", "proto", "--since", "HEAD~2"]);
    assert_eq!(rows.keys().collect::<BTreeSet<_>>(), commits[2..].iter().collect());
    assert_eq!(told(&rows, &commits[2], "acme.user.v1"), "refused 1.0.0 → 1.1.0");
    let rows = history(folder.path(), &["--path", "proto", "--since", "HEAD"]);
    assert!(rows.is_empty(), "{rows:?}");
    // Imports count from the folder, which nothing here has.
    let rows = history(folder.path(), &["--path", "proto/acme/lab"]);
    assert_eq!(rows.keys().collect::<BTreeSet<_>>(), [&commits[0], &commits[3]].into());

    put(folder.path(), &[("abide.toml", "roots = [\"proto\"]\n")]);
    let rows = history(folder.path(), &["--path", "proto/acme/lab"]);
    assert_eq!(rows.keys().collect::<BTreeSet<_>>(), [&commits[0], &commits[3]].into());
    assert!(!rows[&commits[0]].contains_key("acme.user.v1"), "{rows:?}");
    assert_eq!(told(&rows, &commits[3], "acme.lab.v1alpha"), "breaking 1.0.0-alpha.1 → -");
}

#[test]
fn a_recorded_version_is_shown_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let status = crate::run::status_proto();
    let status = ("abide/annotations/v1/status.proto", &*status);
    let marked = |version: &str, fields: &str| {
        format!(
            "syntax = \"proto3\";\npackage acme.user.v1;\n\
             import \"abide/annotations/v1/status.proto\";\n\
             option (abide.annotations.v1.file_policy) = {{version: \"{version}\"}};\n\
             message User {{\n{fields}}}\n"
        )
    };
    let path = "acme/user/v1/user.proto";
    let both = [ID, NAME].concat();
    repository(
        folder.path(),
        &[
            Snapshot::on_main("begin", &[(path, &marked("1.4.0", ID)), status]),
            Snapshot::on_main("bumped", &[(path, &marked("1.5.0", &both)), status]),
            Snapshot::on_main("forgotten", &[(path, &marked("1.5.0", ID)), status]),
            Snapshot::on_main("not said", &[(path, &user(ID)), status]),
            Snapshot::on_main("counted on", &[(path, &user(&both)), status]),
        ],
    );
    let commits = git(folder.path(), &["rev-list", "--reverse", "HEAD"]);
    let rows = history(folder.path(), &[]);
    let expected = [
        "compatible - → 1.4.0",
        "compatible 1.4.0 → 1.5.0",
        "refused 1.5.0 → 1.5.0",
        "none 1.5.0 → 1.5.0",
        "compatible 1.5.0 → 1.6.0",
    ];
    for (commit, expected) in commits.lines().zip(expected) {
        assert_eq!(told(&rows, commit, "acme.user.v1"), expected);
        let recorded = rows[commit]["acme.user.v1"]["recorded"] == true;
        assert_eq!(
            recorded,
            !matches!(expected.split(' ').next_back(), Some("1.6.0"))
                && !expected.starts_with("none")
        );
    }
}

#[test]
fn a_lock_that_cannot_be_read_is_told_and_passed_by() {
    let folder = tempfile::tempdir().unwrap();
    let path = "acme/user/v1/user.proto";
    let hash = format!("abide1:sha256:{}", "0".repeat(64));
    let lock =
        |version: &str| format!("abide-lock 1\n\npackage acme.user.v1 {version} {hash} {hash}\n");
    let both = [ID, NAME].concat();
    let (first, cut) = (lock("1.4.0"), lock("1.5.0")[..40].to_owned());
    let merged = format!("<<<<<<< a\n{}=======\n{first}>>>>>>> b\n", lock("1.7.0"));
    let commit = |subject: &str, fields: &str, lock: &str| {
        Snapshot::on_main(subject, &[(path, &user(fields)), ("abide.lock", lock)])
    };
    repository(
        folder.path(),
        &[
            commit("begin", ID, &first),
            commit("cut off", &both, &cut),
            commit("newer", ID, "abide-lock 2\n"),
            commit("in conflict", &both, &merged),
        ],
    );
    let commits = git(folder.path(), &["rev-list", "--reverse", "HEAD"]);
    let commits: Vec<&str> = commits.lines().collect();
    let rows = history(folder.path(), &[]);
    let expected = [
        "compatible - → 1.4.0",
        "compatible 1.4.0 → 1.5.0",
        "refused 1.5.0 → 1.6.0",
        "compatible 1.6.0 → 1.7.0",
    ];
    for (commit, expected) in commits.iter().zip(expected) {
        assert_eq!(told(&rows, commit, "acme.user.v1"), expected);
    }
    let ran = abide(folder.path(), &["history"]);
    let note = format!("2 commits, starting with {}, have an abide.lock that", &commits[1][..10]);
    assert!(ran.stderr.contains(&note), "{}", ran.stderr);
}

#[test]
fn what_cannot_be_walked_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |folder: &Path, arguments: &[&str], words: &[&str]| {
        let ran = abide(folder, &[&["history"], arguments].concat());
        assert_eq!((ran.status, ran.stdout.len()), (2, 0), "{}", ran.stderr);
        for word in words {
            assert!(ran.stderr.contains(word), "no `{word}` in {}", ran.stderr);
        }
    };
    refused(folder.path(), &[], &["is not inside a git repository"]);
    let origin = folder.path().join("origin");
    std::fs::create_dir(&origin).unwrap();
    git(&origin, &["init", "--quiet"]);
    refused(&origin, &[], &["has no commit yet"]);
    let commits = small(&origin);
    refused(&origin, &["--path", "nowhere"], &["no commit", "`nowhere`", "--path DIR"]);
    refused(&origin, &["--since", "v9"], &["unknown revision `v9`"]);

    // The history is rewritten: what was the tip is no ancestor any more.
    let tree = git(&origin, &["rev-parse", "HEAD^{tree}"]);
    let other = git(&origin, &["commit-tree", &tree, "-p", "HEAD~2", "-m", "again"]);
    git(&origin, &["update-ref", "refs/heads/main", &other]);
    let base = &commits[1][..10];
    refused(
        &origin,
        &["--since", &commits[3]],
        &["not an ancestor of `HEAD`", "rewritten", &format!("`--since {base}`")],
    );

    let url = format!("file://{}", origin.display());
    let clone = |name: &str, depth: &str| {
        git(folder.path(), &["clone", "--quiet", "--depth", depth, &url, name]);
        folder.path().join(name)
    };
    refused(&clone("one", "1"), &["--path", "proto"], &["shallow", "git fetch --unshallow"]);
    let two = clone("two", "2");
    let ran = abide(&two, &["history", "--path", "proto", "--format", "json"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("shallow") && ran.stderr.contains("--unshallow"), "{}", ran.stderr);
    let commit = &ran.json()[0];
    assert_eq!(
        text(commit, "commit"),
        other,
        "the commit below is what the first is compared with"
    );
    refused(&two, &["--since", &commits[0]], &["unknown revision"]);
}

#[cfg(unix)]
#[test]
#[cfg_attr(not(debug_assertions), ignore = "only a debug build stops")]
fn a_walk_that_is_interrupted_leaves_what_was_there() {
    use std::os::unix::process::ExitStatusExt;
    let folder = tempfile::tempdir().unwrap();
    let commits: Vec<Snapshot> = (1..9)
        .map(|number| {
            let fields: String = (1..=number).fold(String::new(), |mut text, it| {
                let _ = writeln!(text, "  string f{it} = {it};");
                text
            });
            Snapshot::on_main(&format!("field {number}"), &[(USER, &user(&fields))])
        })
        .collect();
    repository(folder.path(), &commits);
    let report = folder.path().join("history.html");
    let args = ["history", "--path", "proto", "--format", "html", "--output", "history.html"];
    for signal in ending_signals() {
        std::fs::write(&report, "before").unwrap();
        at_each_step(folder.path(), &args, |mut run| {
            run.signal(signal);
            // A shell tells of it as 128 and its number.
            assert_eq!(run.wait().signal(), Some(signal.as_raw()));
            assert_eq!(std::fs::read_to_string(&report).unwrap(), "before");
            let names = std::fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().file_name());
            let mut left: Vec<String> = names.map(|it| it.into_string().unwrap()).collect();
            left.sort();
            assert_eq!(left, [".git", "history.html"], "nothing is left behind");
        });
        // The last one was not stopped.
        assert!(std::fs::read_to_string(&report).unwrap().contains("field 8"));
    }
}

#[test]
fn a_history_may_begin_on_a_line_that_was_merged() {
    let folder = tempfile::tempdir().unwrap();
    let both = [ID, NAME].concat();
    let mut commits = vec![
        Snapshot::on_main("begin", &[(USER, &user(ID))]),
        Snapshot::on_main("on the side", &[(USER, &user(&both))]),
        Snapshot::on_main("on the line", &[(USER, &user(ID)), ("README", "Users.\n")]),
        Snapshot::on_main("merged", &[(USER, &user(&both)), ("README", "Users.\n")]),
    ];
    (commits[1].branch, commits[1].from) = ("side", Some(0));
    commits[3].merges = Some(1);
    repository(folder.path(), &commits);
    let ran = abide(
        folder.path(),
        &["history", "--path", "proto", "--since", "side", "--format", "json"],
    );
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("`side` is on a branch"), "{}", ran.stderr);
    let subjects: Vec<Value> =
        ran.json().into_iter().filter(|row| row["kind"] == "commit").collect();
    let subjects: Vec<&str> = subjects.iter().map(|row| text(row, "subject")).collect();
    assert_eq!(subjects, ["merged"], "the merge is judged as one change");
}

/// What the rows of a package say, commit by commit, with how far it had to rise.
fn told_with_required(rows: &Rows, commits: &str, package: &str) -> Vec<String> {
    let all = commits.lines().filter(|it| rows.get(*it).is_some_and(|it| it.contains_key(package)));
    all.map(|commit| {
        let required = text(&rows[commit][package], "required").to_owned();
        format!("{}, {required}", told(rows, commit, package))
    })
    .collect()
}

#[test]
fn a_package_that_comes_back_goes_on_from_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let both = [ID, NAME].concat();
    let lab = |fields: &str| {
        format!("syntax = \"proto3\";\npackage acme.lab.v1alpha;\nmessage Test {{\n{fields}}}\n")
    };
    let gone = |subject: &str| Snapshot::on_main(subject, &[("README", subject)]);
    let there = |subject: &str, fields: &str| {
        Snapshot::on_main(subject, &[(USER, &user(fields)), (LAB, &lab(fields))])
    };
    repository(
        folder.path(),
        &[
            there("begin", ID),
            there("a name", &both),
            gone("gone"),
            there("back with less", ID),
            gone("gone again"),
            there("back as it was", ID),
            there("a name again", &both),
        ],
    );
    let commits = git(folder.path(), &["rev-list", "--reverse", "HEAD"]);
    let rows = history(folder.path(), &["--path", "proto"]);
    assert_eq!(
        told_with_required(&rows, &commits, "acme.user.v1"),
        [
            "compatible - → 1.0.0, none",
            "compatible 1.0.0 → 1.1.0, minor",
            "refused 1.1.0 → -, major",
            "compatible - → 1.2.0, minor",
            "refused 1.2.0 → -, major",
            "compatible - → 1.2.0, none",
            "compatible 1.2.0 → 1.3.0, minor",
        ]
    );
    assert_eq!(
        told_with_required(&rows, &commits, "acme.lab.v1alpha"),
        [
            "compatible - → 1.0.0-alpha.1, none",
            "compatible 1.0.0-alpha.1 → 1.0.0-alpha.2, minor",
            "breaking 1.0.0-alpha.2 → -, none",
            "compatible - → 1.0.0-alpha.3, minor",
            "breaking 1.0.0-alpha.3 → -, none",
            "compatible - → 1.0.0-alpha.3, none",
            "compatible 1.0.0-alpha.3 → 1.0.0-alpha.4, minor",
        ]
    );
}

#[test]
fn a_package_that_comes_back_rises_above_every_version_it_had() {
    let folder = tempfile::tempdir().unwrap();
    let hash = format!("abide1:sha256:{}", "0".repeat(64));
    let lock =
        |version: &str| format!("abide-lock 1\n\npackage acme.user.v1 {version} {hash} {hash}\n");
    let path = "acme/user/v1/user.proto";
    let both = [ID, NAME].concat();
    repository(
        folder.path(),
        &[
            Snapshot::on_main("begin", &[(path, &user(ID)), ("abide.lock", &lock("1.7.0"))]),
            Snapshot::on_main("fallen", &[(path, &user(ID)), ("abide.lock", &lock("1.2.0"))]),
            Snapshot::on_main("gone", &[]),
            Snapshot::on_main("back with more", &[(path, &user(&both))]),
        ],
    );
    let commits = git(folder.path(), &["rev-list", "--reverse", "HEAD"]);
    let rows = history(folder.path(), &[]);
    assert_eq!(
        told_with_required(&rows, &commits, "acme.user.v1"),
        [
            "compatible - → 1.7.0, none",
            "none 1.7.0 → 1.2.0, none",
            "refused 1.2.0 → -, major",
            "compatible - → 1.8.0, minor",
        ]
    );
}

#[test]
fn a_break_that_leaves_the_hash_as_it_was_lets_the_version_rise() {
    let folder = tempfile::tempdir().unwrap();
    let lab = "syntax = \"proto3\";\npackage acme.lab.v1alpha;\nmessage Test {}\n";
    let renamed = [USER, LAB].map(|path| path.replace(".proto", "_renamed.proto"));
    repository(
        folder.path(),
        &[
            Snapshot::on_main("begin", &[(USER, &user(ID)), (LAB, lab)]),
            Snapshot::on_main("called otherwise", &[(&renamed[0], &user(ID)), (&renamed[1], lab)]),
        ],
    );
    let commits = git(folder.path(), &["rev-list", "--reverse", "HEAD"]);
    let rows = history(folder.path(), &["--path", "proto"]);
    let last = |package| told_with_required(&rows, &commits, package).pop();
    assert_eq!(last("acme.user.v1").as_deref(), Some("refused 1.0.0 → 1.1.0, major"));
    assert_eq!(
        last("acme.lab.v1alpha").as_deref(),
        Some("breaking 1.0.0-alpha.1 → 1.0.0-alpha.2, minor")
    );
    let tip = commits.lines().last().unwrap();
    let row = &rows[tip]["acme.user.v1"];
    assert_eq!(row["closure_old"], row["closure"], "the meaning is the same");
}

#[test]
fn a_walk_that_begins_later_says_which_versions_are_counted_from_there() {
    let folder = tempfile::tempdir().unwrap();
    let commits = small(folder.path());
    let notes = |arguments: &[&str]| {
        let ran = abide(folder.path(), &[&["history", "--path", "proto"], arguments].concat());
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        ran.stderr
    };
    let begins = |commit: &str| format!("the history starts after {}, which", &commit[..10]);
    let told = notes(&["--since", "HEAD~2"]);
    let whose =
        "no version of 2 packages, starting with `acme.lab.v1alpha`; their versions are counted";
    assert!(told.contains(&begins(&commits[1])) && told.contains(whose), "{told}");
    let told = notes(&["--since", "HEAD~1"]);
    let whose = "records no version of `acme.lab.v1alpha`; its versions are counted from there";
    assert!(told.contains(&begins(&commits[2])) && told.contains(whose), "{told}");
    for complete in [&[][..], &["--since", "HEAD"], &["--since", "HEAD~2", "--quiet"]] {
        let told = notes(complete);
        assert!(!told.contains("counted"), "{complete:?}: {told}");
    }

    // What the first commit records, or the one behind it, is no matter of counting.
    let hash = format!("abide1:sha256:{}", "0".repeat(64));
    let lock = format!("abide-lock 1\n\npackage acme.user.v1 1.4.0 {hash} {hash}\n");
    put(folder.path(), &[("proto/abide.lock", &lock)]);
    git(folder.path(), &["reset", "--quiet", "--hard"]);
    git(folder.path(), &["add", "proto/abide.lock"]);
    git(folder.path(), &["commit", "--quiet", "--message", "recorded"]);
    put(folder.path(), &[(USER, &user(&[ID, NAME].concat()))]);
    git(folder.path(), &["commit", "--quiet", "--all", "--message", "a name again"]);
    let told = notes(&["--since", "HEAD~1"]);
    assert!(!told.contains("counted"), "{told}");
    let told = notes(&["--since", "HEAD~2"]);
    assert!(
        told.contains("no version of `acme.user.v1`"),
        "its version before was counted: {told}"
    );
}

#[test]
fn a_version_that_a_package_cannot_have_is_no_record() {
    let folder = tempfile::tempdir().unwrap();
    let status = crate::run::status_proto();
    let status = ("abide/annotations/v1/status.proto", &*status);
    let marked = |version: &str| {
        format!(
            "syntax = \"proto3\";\npackage acme.user.v1;\n\
             import \"abide/annotations/v1/status.proto\";\n\
             option (abide.annotations.v1.file_policy) = {{version: \"{version}\"}};\n\
             message User {{\n{ID}}}\n"
        )
    };
    let path = "acme/user/v1/user.proto";
    repository(
        folder.path(),
        &[
            Snapshot::on_main("begin", &[(path, &marked("7.7.7")), status]),
            Snapshot::on_main("an alpha", &[(path, &marked("1.0.0-alpha.1")), status]),
            Snapshot::on_main("recorded", &[(path, &marked("1.4.0")), status]),
        ],
    );
    let commits = git(folder.path(), &["rev-list", "--reverse", "HEAD"]);
    let rows = history(folder.path(), &[]);
    let rows = commits.lines().map(|commit| &rows[commit]["acme.user.v1"]);
    let versions: Vec<_> = rows.map(|it| (it["to"].as_str(), it["recorded"] == true)).collect();
    assert_eq!(versions, [(Some("1.0.0"), false), (Some("1.0.0"), false), (Some("1.4.0"), true)]);
}

#[test]
fn a_repository_of_another_format_is_called_so() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |name: &str, arguments: &[&str], word: &str| {
        let ran = abide(&folder.path().join(name), arguments);
        assert_eq!((ran.status, ran.stdout.len()), (2, 0), "{}", ran.stderr);
        assert!(ran.stderr.contains(word), "no `{word}` in {}", ran.stderr);
        for untrue in ["no git repository", "no commit yet", "spelling"] {
            assert!(!ran.stderr.contains(untrue), "`{untrue}` is not true: {}", ran.stderr);
        }
    };
    git(folder.path(), &["init", "--quiet", "--object-format=sha256", "long"]);
    refused("long", &["history"], "the object format `sha256`, which is not supported");
    refused("long", &["check", "git:HEAD"], "object format `sha256`, which is not supported");

    // What `git init --ref-format=reftable` makes, for a git that does not know it yet.
    git(folder.path(), &["init", "--quiet", "table"]);
    let table = folder.path().join("table");
    put(&table, &[(USER, &user(ID))]);
    git(&table, &["add", "."]);
    git(&table, &["commit", "--quiet", "--message", "begin"]);
    let commit = format!("git:{}:proto", git(&table, &["rev-parse", "HEAD"]));
    git(&table, &["config", "core.repositoryFormatVersion", "1"]);
    git(&table, &["config", "extensions.refStorage", "reftable"]);
    std::fs::write(table.join(".git/HEAD"), "ref: refs/heads/.invalid\n").unwrap();
    std::fs::remove_dir_all(table.join(".git/refs")).unwrap();
    put(&table, &[(".git/refs/heads", "this repository uses the reftable format\n")]);
    let way_out = "`git refs migrate --ref-format=files`";
    refused("table", &["history"], way_out);
    refused("table", &["check", "git:main"], way_out);
    refused("table", &["check", "--against", "git:main..."], way_out);
    let ran = abide(&table, &["check", &commit]);
    assert_eq!(ran.status, 0, "a commit is found without references: {}", ran.stderr);

    std::fs::write(table.join(".git/config"), "[core\n").unwrap();
    refused("table", &["history"], "its git repository cannot be opened: ");
}

#[test]
fn a_commit_without_a_date_is_walked_past() {
    let folder = tempfile::tempdir().unwrap();
    let both = [ID, NAME].concat();
    let fields = |count: u32| {
        (1..=count).fold(String::new(), |all, it| format!("{all}  string f{it} = {it};\n"))
    };
    repository(folder.path(), &[Snapshot::on_main("begin", &[(USER, &user(&fields(1)))])]);
    let well = "C <c@example.com> 1700086400 +0000";
    let persons = [
        (well, "n <a>"),
        (well, "n <a@example.com> 99999999999999999999 +0000"),
        (well, "nobody"),
        (well, "nobody 1700000000 +0000"),
        ("nobody", well),
        ("nobody", ""),
    ];
    for (number, (author, committer)) in persons.iter().enumerate() {
        put(folder.path(), &[(USER, &user(&fields(number as u32 + 2)))]);
        git(folder.path(), &["add", "."]);
        let (tree, parent) =
            (git(folder.path(), &["write-tree"]), git(folder.path(), &["rev-parse", "HEAD"]));
        let commit = format!(
            "tree {tree}\nparent {parent}\nauthor {author}\ncommitter {committer}\n\nedit {number}\n"
        );
        let make = ["hash-object", "-t", "commit", "-w", "--literally", "--stdin"];
        let commit = git_with(folder.path(), &make, commit.as_bytes());
        git(folder.path(), &["update-ref", "refs/heads/main", &commit]);
    }
    put(folder.path(), &[(USER, &user(&both))]);
    git(folder.path(), &["commit", "--quiet", "--all", "--message", "end"]);

    let commits = git(folder.path(), &["rev-list", "--reverse", "HEAD"]);
    let commits: Vec<&str> = commits.lines().collect();
    let ran = abide(folder.path(), &["history", "--path", "proto", "--format", "json"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let rows: Vec<Value> = ran.json().into_iter().filter(|it| it["kind"] == "commit").collect();
    let days: Vec<&str> = rows.iter().map(|it| &text(it, "date")[..10]).collect();
    assert_eq!(rows.iter().map(|it| text(it, "commit")).collect::<Vec<_>>(), commits);
    assert_eq!(days[..5], ["2023-11-14"; 5], "that of the commit before");
    assert_eq!(days[5..7], ["2023-11-15"; 2]);
    assert_eq!(text(&rows[6], "subject"), "edit 5");
    let note = format!("5 commits have no readable date, starting with {}", &commits[1][..10]);
    assert!(ran.stderr.contains(&note), "{}", ran.stderr);

    let ran = abide(folder.path(), &["history", "--path", "proto", "--since", "HEAD~3"]);
    assert!(
        !ran.text().contains("1970"),
        "what it begins behind tells none, either: {}",
        ran.text()
    );
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let note = format!("{} has no readable date", &commits[6][..10]);
    assert!(ran.stderr.contains(&note), "{}", ran.stderr);
}
