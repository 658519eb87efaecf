//! Sources as a user names them: folders, revisions, archives and descriptor sets.
//!
//! Repositories are made by the `git` program, which must be installed.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // Tests set up a world; helpers are tests too.

use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use abide_schema::SourceFile;
use abide_source::{Contents, DescriptorFormat, MAX_FILE, ReadProblem, Source, SourceOptions};
use tempfile::TempDir;

struct Tree {
    files: Vec<SourceFile>,
    problems: Vec<ReadProblem>,
    notes: Vec<String>,
}

impl Tree {
    fn names(&self) -> Vec<(u32, &str)> {
        self.files.iter().map(|file| (file.root, &*file.path)).collect()
    }

    fn displays(&self) -> Vec<&str> {
        self.files.iter().map(|file| &*file.display).collect()
    }

    fn text(&self, path: &str) -> &str {
        let file = self.files.iter().find(|file| &*file.path == path).unwrap();
        std::str::from_utf8(&file.text).unwrap()
    }

    fn problem(&self, path: &str) -> &str {
        &self.problems.iter().find(|problem| problem.path == path).unwrap().reason
    }
}

fn strings(values: &[&str]) -> Vec<String> {
    values.iter().map(|value| (*value).to_owned()).collect()
}

fn try_read(spec: Option<&str>, options: &SourceOptions) -> Result<Tree, String> {
    let contents = Source::open(spec, options).and_then(|source| source.read());
    match contents.map_err(|error| error.to_string())? {
        Contents::Files { files, problems, notes } => Ok(Tree { files, problems, notes }),
        Contents::DescriptorSet { .. } => panic!("a descriptor set"),
    }
}

fn read(spec: Option<&str>, base: &Path) -> Tree {
    try_read(spec, &SourceOptions::new(base)).unwrap()
}

fn error(spec: &str, base: &Path) -> String {
    let error = Source::open(Some(spec), &SourceOptions::new(base))
        .and_then(|source| source.read())
        .map(|_| ())
        .unwrap_err()
        .to_string();
    assert!(!error.contains('\n') && error.starts_with(|c: char| !c.is_uppercase()), "{error}");
    error
}

fn put(folder: &Path, name: &str, text: impl AsRef<[u8]>) {
    let file = folder.join(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

fn tree(files: &[&str]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for file in files {
        put(folder.path(), file, format!("// {file}\n"));
    }
    folder
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"])
        .args(["-c", "protocol.file.allow=always", "-c", "commit.gpgsign=false"])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .env_remove("GIT_DIR")
        .output()
        .expect("these tests need the `git` program: install it");
    assert!(
        output.status.success(),
        "git {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn commit(folder: &Path, message: &str) -> String {
    git(folder, &["add", "--all", "--force"]);
    git(folder, &["commit", "--quiet", "--allow-empty", "-m", message]);
    git(folder, &["rev-parse", "HEAD"])
}

/// A repository whose one commit holds the files.
fn repository(files: &[&str]) -> TempDir {
    let folder = tree(files);
    git(folder.path(), &["init", "--quiet"]);
    commit(folder.path(), "first");
    folder
}

#[test]
fn a_folder_is_found_as_ripgrep_finds_it() {
    let folder = tree(&[
        "b/z.proto",
        "b/a.proto",
        "a.proto",
        "a.txt",
        ".hidden.proto",
        ".hidden/x.proto",
        "node_modules/x.proto",
        "b/node_modules/x.proto",
        "ignored/x.proto",
        "b/skip.proto",
        "b/keep.proto",
    ]);
    put(folder.path(), ".gitignore", "/ignored/\nskip.proto\n");
    put(folder.path(), "b/.ignore", "keep.proto\n");
    fs::create_dir(folder.path().join("folder.proto")).unwrap();
    put(folder.path(), "folder.proto/inner.proto", "");
    let read = read(None, folder.path());
    assert_eq!(
        read.names(),
        [(0, "a.proto"), (0, "b/a.proto"), (0, "b/z.proto"), (0, "folder.proto/inner.proto")]
    );
    assert_eq!(read.text("b/a.proto"), "// b/a.proto\n");
    assert!(read.problems.is_empty() && read.notes.is_empty());
    assert!(read.files.iter().all(|file| !file.imported));
}

/// Patterns that agree, disagree, and are broken.
fn ignore_file(random: &mut fastrand::Rng) -> String {
    let patterns = [
        "a",
        "/a",
        "a/",
        "!a",
        "!a/",
        "*.proto",
        "!*.proto",
        "/b/*",
        "!/b/x.proto",
        "**/x.proto",
        "a/**",
        "!a/b",
        "x.*",
        "y.proto",
        ".c",
        "!.c",
        "!.z.proto",
        "# a",
        "\\!a",
        "[a",
        "a/b/",
        "",
    ];
    let count = random.usize(1..4);
    (0..count).map(|_| format!("{}\n", patterns[random.usize(0..patterns.len())])).collect()
}

/// A folder with files, ignore files and perhaps a repository, and folders in it.
fn wild(random: &mut fastrand::Rng, folder: &Path, depth: usize) {
    for name in ["x.proto", "y.proto", ".z.proto"] {
        put(folder, name, "");
    }
    for name in [".ignore", ".gitignore"] {
        if random.u8(..) < 80 {
            put(folder, name, ignore_file(random));
        }
    }
    match random.u8(..) {
        0..30 => put(folder, ".git/info/exclude", ignore_file(random)),
        30..50 => {
            put(folder, "elsewhere/worktrees/this/commondir", "../..\n");
            put(folder, "elsewhere/info/exclude", ignore_file(random));
            let own = folder.join("elsewhere/worktrees/this");
            put(folder, ".git", format!("gitdir: {}\n", own.display()));
        }
        _ => {}
    }
    for name in ["a", "b", ".c", "node_modules"] {
        if depth < 3 && random.u8(..) < 170 {
            wild(random, &folder.join(name), depth + 1);
        }
    }
}

/// The walk is ours, what it finds is what the walk of the library finds.
#[test]
fn any_ignore_files_are_obeyed_as_ripgrep_obeys_them() {
    let mut random = fastrand::Rng::with_seed(12);
    let (mut found, mut all) = (0, 0);
    for _ in 0..100 {
        let above = tree(&[]);
        wild(&mut random, above.path(), 0);
        // The library asks no `.gitignore` where it sees no repository.
        fs::create_dir_all(above.path().join(".git/info")).ok();
        let folder = above.path().join("a");
        fs::create_dir_all(&folder).unwrap();
        put(&folder, "always.proto", "");
        let walk = |builder: &mut ignore::WalkBuilder| {
            let entries = builder.filter_entry(|it| it.file_name() != "node_modules").build();
            let paths = entries.map(|entry| entry.unwrap().into_path());
            let files =
                paths.filter(|it| it.is_file() && it.extension().is_some_and(|it| it == "proto"));
            let name = |it: PathBuf| it.strip_prefix(&folder).unwrap().to_str().unwrap().to_owned();
            let mut files: Vec<String> = files.map(name).collect();
            files.sort();
            files
        };
        let expected = walk(&mut ignore::WalkBuilder::new(&folder));
        if expected.is_empty() {
            continue;
        }
        assert_eq!(read(None, &folder).displays(), expected);
        found += expected.len();
        all += walk(ignore::WalkBuilder::new(&folder).standard_filters(false)).len();
    }
    // Most runs ignore something and leave something.
    assert!(found > 200 && all > found * 2, "{found} of {all}");
}

#[test]
fn a_tracked_file_is_never_ignored() {
    let folder = tree(&[
        "a.proto",
        "gen/tracked.proto",
        "gen/deep/tracked.proto",
        "gen/gone.proto",
        "gen/.hidden.proto",
        "gen/node_modules/x.proto",
        "x_tracked.proto",
        "third_party/x_lib.proto",
        "staged/x.proto",
        "quiet/x.proto",
    ]);
    let top = folder.path();
    put(top, ".gitignore", "/gen/\nx_*.proto\n/staged/\n/nested/\n");
    put(top, ".ignore", "/quiet/\n");
    symlink("../a.proto", top.join("gen/link.proto")).unwrap();
    symlink("deep", top.join("gen/linked.proto")).unwrap();
    let name = std::ffi::OsStr::from_bytes(b"gen/b\xff.proto");
    fs::write(top.join(name), "").unwrap();
    git(top, &["init", "--quiet"]);
    commit(top, "first");
    fs::remove_file(top.join("gen/gone.proto")).unwrap();
    put(top, "gen/untracked.proto", "");
    put(top, "x_untracked.proto", "");
    put(top, "gen/deep/x_untracked.proto", "");
    put(top, "nested/gen/x.proto", "");
    put(top, "nested/.gitignore", "/gen/\n");
    git(&top.join("nested"), &["init", "--quiet"]);
    commit(&top.join("nested"), "its own");
    let tracked = [
        "a.proto",
        "gen/deep/tracked.proto",
        "gen/link.proto",
        "gen/tracked.proto",
        "quiet/x.proto",
        "staged/x.proto",
        "third_party/x_lib.proto",
        "x_tracked.proto",
    ];
    let found = read(None, top);
    assert_eq!(found.displays(), tracked);
    assert_eq!(found.text("gen/link.proto"), "// a.proto\n");
    assert_eq!(found.problems.len(), 1, "{:?}", found.problems);
    assert!(found.problem("gen/b\u{fffd}.proto").contains("UTF-8"));
    assert_eq!(found.notes.len(), 1, "{:?}", found.notes);
    let committed = read(Some("git:HEAD"), top);
    let there = |name: &&str| *name != "gen/gone.proto";
    assert_eq!(committed.displays().into_iter().filter(there).collect::<Vec<_>>(), tracked);
    assert_eq!(committed.notes, found.notes);

    // Who names an ignored folder means it, as with ripgrep; and a folder for imports.
    assert_eq!(
        read(None, &top.join("gen")).displays(),
        ["deep/tracked.proto", "link.proto", "tracked.proto", "untracked.proto"]
    );
    let roots = strings(&["gen/deep", "gen"]);
    let imports = strings(&["third_party"]);
    let options = SourceOptions { roots: &roots, ..SourceOptions::new(top) };
    assert_eq!(
        try_read(None, &options).unwrap().names(),
        [(0, "tracked.proto"), (1, "link.proto"), (1, "tracked.proto"), (1, "untracked.proto")]
    );
    let options = SourceOptions { import_paths: &imports, ..SourceOptions::new(top) };
    let found = try_read(None, &options).unwrap();
    assert!(!found.displays().contains(&"third_party/x_lib.proto"), "{:?}", found.displays());

    // A repository in an ignored folder is another one, with an index of its own.
    assert_eq!(read(None, &top.join("nested")).displays(), ["gen/x.proto"]);

    // What the index does not know is ignored again.
    git(top, &["rm", "-r", "--cached", "--quiet", "staged"]);
    assert!(!read(None, top).displays().contains(&"staged/x.proto"));

    // A worktree has an index of its own.
    let places = TempDir::new().unwrap();
    let worktree = places.path().join("worktree");
    git(top, &["worktree", "add", "--quiet", worktree.to_str().unwrap()]);
    assert!(read(None, &worktree).displays().contains(&"gen/gone.proto"));
    assert!(read(None, &worktree).displays().contains(&"staged/x.proto"));

    // Links that stand where folders were tracked are not followed, as git does not.
    fs::rename(worktree.join("gen"), places.path().join("gen")).unwrap();
    symlink(places.path().join("gen"), worktree.join("gen")).unwrap();
    assert!(read(None, &worktree).displays().iter().all(|it| !it.starts_with("gen/")));

    // Without an index that can be read, the rest is read.
    fs::write(top.join(".git/index"), "DIRC").unwrap();
    let found = read(None, top);
    assert_eq!(found.displays(), ["a.proto"]);
    assert!(found.notes[0].contains("index"), "{:?}", found.notes);
    fs::remove_file(top.join(".git/index")).unwrap();
    let found = read(None, top);
    assert_eq!((found.displays(), found.notes.len()), (vec!["a.proto"], 0));
}

#[test]
fn links_to_files_count_and_links_to_folders_do_not() {
    let folder = tree(&["a/real.proto"]);
    let outside = tree(&["far.proto"]);
    let at = |name: &str| folder.path().join(name);
    symlink("a/real.proto", at("near.proto")).unwrap();
    symlink(outside.path().join("far.proto"), at("far.proto")).unwrap();
    symlink(".", at("loop")).unwrap();
    symlink("..", at("a/up")).unwrap();
    symlink("self.proto", at("self.proto")).unwrap();
    symlink("gone.proto", at("dangling.proto")).unwrap();
    symlink("gone", at("dangling")).unwrap();
    let tree = read(None, folder.path());
    assert_eq!(tree.displays(), ["a/real.proto", "near.proto"]);
    assert_eq!(tree.text("near.proto"), "// a/real.proto\n");
    assert_eq!(tree.problem("dangling.proto"), "it does not exist");
    assert!(tree.problem("far.proto").starts_with("it is a link to"));
    assert_eq!(tree.problems.len(), 3, "{:?}", tree.problems);
    assert!(!tree.problem("self.proto").is_empty());
    assert_eq!(tree.notes.len(), 2, "{:?}", tree.notes);
    assert!(tree.notes[0].contains("`a/up`") && tree.notes[1].contains("`loop`"));
    // The tree itself may be named through a link.
    symlink(folder.path(), outside.path().join("tree")).unwrap();
    assert_eq!(read(Some("tree"), outside.path()).displays(), tree.displays());
}

#[test]
fn special_files_and_hostile_names_are_problems() {
    let folder = tree(&["a.proto", "new\nline.proto"]);
    let fifo = folder.path().join("pipe.proto");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    symlink("/dev/zero", folder.path().join("zero.proto")).unwrap();
    symlink("pipe.proto", folder.path().join("linked.proto")).unwrap();
    let raw = std::ffi::OsStr::from_bytes(b"raw\xff.proto");
    fs::write(folder.path().join(raw), "").unwrap();
    let huge = fs::File::create(folder.path().join("huge.proto")).unwrap();
    huge.set_len(MAX_FILE + 1).unwrap();
    let tree = read(None, folder.path());
    assert_eq!(tree.displays(), ["a.proto", "new\nline.proto"]);
    for special in ["pipe.proto", "zero.proto", "linked.proto"] {
        assert_eq!(tree.problem(special), "it is not a regular file");
    }
    assert!(tree.problem("raw\u{fffd}.proto").contains("UTF-8"));
    assert!(tree.problem("huge.proto").contains("4 GiB"));
    assert!(error("pipe.proto", folder.path()).contains("standard input"));
    assert!(error("/dev/zero", folder.path()).contains("standard input"));
    let newline = error("no\nsuch.proto", folder.path());
    assert_eq!(newline, "cannot read `no\\nsuch.proto`: it does not exist");
    // Nor does an import hang or read a folder.
    fs::create_dir(folder.path().join("folder.proto")).unwrap();
    let paths = strings(&["."]);
    let options = SourceOptions { import_paths: &paths, ..SourceOptions::new(folder.path()) };
    let source = Source::open(None, &options).unwrap();
    for name in ["pipe.proto", "zero.proto", "folder.proto", "nul\0.proto", "a.proto/b.proto"] {
        assert!(source.find_import(name).unwrap().is_none(), "{name:?}");
    }
    assert!(source.find_import("huge.proto").is_err());
}

#[test]
fn what_permissions_hide_is_a_problem_and_the_rest_is_read() {
    const CHILD: &str = "ABIDE_TEST_UNREADABLE";
    if let Some(folder) = std::env::var_os(CHILD) {
        let tree = read(None, Path::new(&folder));
        assert_eq!(tree.displays(), ["a.proto"]);
        assert_eq!(tree.problem("file.proto"), "permission denied: make it readable");
        assert_eq!(tree.problem("folder"), "permission denied: make it readable");
        return;
    }
    let folder = tree(&["a.proto", "file.proto", "folder/b.proto"]);
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    for hidden in ["file.proto", "folder"] {
        fs::set_permissions(folder.path().join(hidden), fs::Permissions::from_mode(0o000)).unwrap();
    }
    // Nothing is hidden from root, so this test runs itself as somebody else.
    let program = folder.path().join("program");
    // By another process: what this one writes is open in the children of other tests as well, and
    // nobody can start what is being written.
    let mut install = Command::new("install");
    install.args(["-m", "755"]).arg(std::env::current_exe().unwrap()).arg(&program);
    assert!(install.status().unwrap().success());
    let mut child = Command::new(&program);
    child.args(["--exact", "what_permissions_hide_is_a_problem_and_the_rest_is_read"]);
    child.env(CHILD, folder.path()).current_dir(folder.path());
    if fs::File::open(folder.path().join("file.proto")).is_ok() {
        child.uid(65534).gid(65534);
    }
    let output = child.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    fs::set_permissions(folder.path().join("folder"), fs::Permissions::from_mode(0o755)).unwrap();
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
fn a_file_belongs_to_the_most_specific_root() {
    let folder = tree(&[
        "api/a.proto",
        "api/v1/b.proto",
        "api/.gen/c.proto",
        "api/vendor/google/d.proto",
        "api/vendor/own/e.proto",
        "other.proto",
        "apix/f.proto",
    ]);
    let roots = strings(&["api", "./api/v1/", "api/.gen", "api/vendor/own"]);
    let import_paths = strings(&["api/vendor"]);
    let options = SourceOptions {
        roots: &roots,
        import_paths: &import_paths,
        ..SourceOptions::new(folder.path())
    };
    let expected = [(0, "a.proto"), (1, "b.proto"), (2, "c.proto"), (3, "e.proto")];
    let displays = ["api/a.proto", "api/v1/b.proto", "api/.gen/c.proto", "api/vendor/own/e.proto"];
    let tree = try_read(None, &options).unwrap();
    assert_eq!((&tree.names()[..], &tree.displays()[..]), (&expected[..], &displays[..]));

    // The same from a revision and from an archive of the same tree.
    git(folder.path(), &["init", "--quiet"]);
    commit(folder.path(), "first");
    git(folder.path(), &["archive", "--output=tree.tar.gz", "HEAD"]);
    for spec in ["git:HEAD", "tree.tar.gz"] {
        let other = try_read(Some(spec), &options).unwrap();
        assert_eq!((other.names(), other.displays()), (tree.names(), tree.displays()), "{spec}");
        let source = Source::open(Some(spec), &options).unwrap();
        let import = source.find_import("google/d.proto").unwrap().unwrap();
        assert_eq!(&*import.text, b"// api/vendor/google/d.proto\n");
        assert_eq!((&*import.display, import.root), ("api/vendor/google/d.proto", 4));
        assert!(import.imported);
    }
    for outside in ["..", "/tmp", "api/../../x"] {
        let roots = strings(&[outside]);
        let options = SourceOptions { roots: &roots, ..SourceOptions::new(folder.path()) };
        let error = try_read(None, &options).err().unwrap();
        assert!(error.contains("inside the tree"), "{error}");
    }
    for spec in [None, Some("git:HEAD"), Some("tree.tar.gz")] {
        let roots = strings(&["api", "gone"]);
        let options = SourceOptions { roots: &roots, ..SourceOptions::new(folder.path()) };
        let tree = try_read(spec, &options).unwrap();
        match spec {
            // A revision from before the root counts as one without its files.
            Some("git:HEAD") => assert!(tree.notes.iter().any(|it| it.contains("`gone`"))),
            _ => assert!(tree.problem("gone").contains("does not exist")),
        }
    }
}

#[test]
fn imports_are_searched_in_order_and_never_judged() {
    let folder =
        tree(&["src/a.proto", "one/x.proto", "two/x.proto", "two/y.proto", "src/in/z.proto"]);
    let import_paths = strings(&["one", "two/", "src/in", "src"]);
    let base = SourceOptions::new(folder.path());
    let options = SourceOptions { import_paths: &import_paths, ..base };
    assert_eq!(try_read(Some("src"), &options).unwrap().displays(), ["a.proto"]);
    let source = Source::open(Some("src"), &options).unwrap();
    let display = |path: &str| Some(source.find_import(path).unwrap()?.display.to_string());
    assert_eq!(display("x.proto").as_deref(), Some("one/x.proto"));
    assert_eq!(display("y.proto").as_deref(), Some("two/y.proto"));
    assert_eq!(display("z.proto").as_deref(), Some("src/in/z.proto"));
    for absent in ["w.proto", "", "../one/x.proto", "./x.proto", "a//b.proto", "/etc/passwd"] {
        assert_eq!(display(absent), None, "{absent}");
    }
    // A file alone: its neighbours are imports, and its own folder comes first.
    let alone = tree(&["p/a.proto", "p/b.proto"]);
    let options = SourceOptions { import_paths: &import_paths, ..SourceOptions::new(alone.path()) };
    assert_eq!(try_read(Some("p/a.proto"), &options).unwrap().names(), [(0, "p/a.proto")]);
    let source = Source::open(Some("p/a.proto"), &options).unwrap();
    assert!(source.find_import("p/b.proto").unwrap().unwrap().imported);
    let elsewhere = folder.path().join("one/x.proto");
    assert_eq!(try_read(elsewhere.to_str(), &options).unwrap().names(), [(0, "x.proto")]);
    let roots = strings(&["p"]);
    let options = SourceOptions { roots: &roots, ..SourceOptions::new(alone.path()) };
    assert_eq!(try_read(Some("p/a.proto"), &options).unwrap().names(), [(0, "a.proto")]);
}

#[test]
fn what_is_no_source_says_so() {
    let folder = tree(&["README.md", "only/.hidden/a.proto"]);
    assert!(error(".", folder.path()).contains("no `.proto` file in `.`"));
    assert!(error("only", folder.path()).contains("no `.proto` file in `only`"));
    fs::write(folder.path().join("empty.zip"), zip(&[])).unwrap();
    assert!(error("empty.zip", folder.path()).contains("no `.proto` file in `empty.zip`"));
    assert!(error("empty.zip:in", folder.path()).contains("no `.proto` file in `empty.zip:in`"));
    assert!(error("gone", folder.path()).contains("`gone`: it does not exist"));
    assert!(error("README.md", folder.path()).contains("unknown kind of file"));
    assert!(error("", folder.path()).contains("empty"));
    assert!(error("git:HEAD", folder.path()).contains("is not inside a git repository"));
}

#[test]
fn a_revision_is_read_as_it_was() {
    let folder = repository(&[
        "proto/a.proto",
        "proto/b/c.proto",
        "proto/.h/x.proto",
        "proto/node_modules/x.proto",
        "proto/ignored.proto",
        "top.proto",
    ]);
    put(folder.path(), ".gitignore", "ignored.proto\n");
    put(folder.path(), "proto/a.proto", "second");
    let second = commit(folder.path(), "second");
    git(folder.path(), &["tag", "-a", "v1", "-m", "v1"]);
    git(folder.path(), &["branch", "side/branch"]);
    put(folder.path(), "proto/a.proto", "third");
    commit(folder.path(), "third");
    put(folder.path(), "proto/a.proto", "not committed");
    let base = folder.path().join("proto");
    for revision in
        ["HEAD~1", "v1", "side/branch", "v1^{commit}", "HEAD@{1}", &second, &second[..8]]
    {
        let tree = read(Some(&format!("git:{revision}")), &base);
        // A tracked file is never ignored.
        assert_eq!(tree.names(), [(0, "a.proto"), (0, "b/c.proto"), (0, "ignored.proto")]);
        assert_eq!(tree.text("a.proto"), "second", "{revision}");
    }
    assert_eq!(read(Some("git:HEAD~2"), &base).text("a.proto"), "// proto/a.proto\n");
    assert_eq!(read(Some("git:HEAD:proto/b"), &base).names(), [(0, "c.proto")]);
    assert_eq!(read(Some("git:HEAD:"), &base).displays().len(), 4);
    assert_eq!(read(Some("git:HEAD"), folder.path()).displays().len(), 4);
    assert!(error("git:HEAD:gone", &base).contains("no folder `gone`"));
    assert!(error("git:HEAD:..", &base).contains("outside the repository"));
    assert!(error("git:HEAD:proto/a.proto", &base).contains("no folder"));
    // Packed, with deltas, the same comes out.
    let files = || -> Vec<_> {
        let files = read(Some("git:HEAD"), &base).files.into_iter();
        files.map(|file| (file.display, file.text)).collect()
    };
    let loose = files();
    git(folder.path(), &["gc", "--quiet"]);
    assert_eq!(files(), loose);
}

#[test]
fn an_unknown_revision_says_what_to_fetch() {
    let upstream = repository(&["a.proto"]);
    commit(upstream.path(), "second");
    let folder = TempDir::new().unwrap();
    let url = format!("file://{}", upstream.path().display());
    git(folder.path(), &["clone", "--quiet", "--depth=1", &url, "clone"]);
    let clone = folder.path().join("clone");
    let full = "0123456789012345678901234567890123456789";
    for (revision, advice) in [
        ("feature", "`git fetch origin feature:feature`, or for a tag"),
        ("feature", "for a tag `git fetch origin tag feature`"),
        ("refs/heads/feature", "run `git fetch origin feature:feature`"),
        ("feature~2", "`git fetch origin feature:feature`"),
        ("origin/rel/1", "`git fetch origin rel/1:refs/remotes/origin/rel/1`"),
        ("v1.2.3", "`git fetch origin tag v1.2.3`"),
        (full, "`git fetch origin 0123456789012345678901234567890123456789`"),
        ("0123abcd", "`git fetch --unshallow origin`"),
        ("HEAD~1", "the history is shallow, run `git fetch --unshallow`"),
        ("HEAD..main", "range"),
        ("", "write one after `git:`"),
        ("...", "write one after `git:`"),
    ] {
        let error = error(&format!("git:{revision}"), &clone);
        assert!(error.starts_with("unknown revision") && error.contains(advice), "{error}");
    }
    let alone = repository(&["a.proto"]);
    assert!(error("git:x", alone.path()).contains("`git branch --all`"));
    assert!(error("git:HEAD~9", alone.path()).contains("does not reach that far back"));
    let unborn = TempDir::new().unwrap();
    git(unborn.path(), &["init", "--quiet"]);
    assert!(error("git:HEAD", unborn.path()).contains("no commit yet"));
}

#[test]
fn three_dots_take_the_merge_base() {
    let folder = repository(&["a.proto"]);
    let base = folder.path();
    git(base, &["checkout", "--quiet", "-b", "topic"]);
    put(base, "a.proto", "topic");
    commit(base, "topic");
    git(base, &["checkout", "--quiet", "main"]);
    put(base, "a.proto", "main");
    commit(base, "main");
    git(base, &["branch", "ahead"]);
    git(base, &["checkout", "--quiet", "topic"]);
    for spec in ["git:main...", "git:main...:"] {
        let tree = read(Some(spec), base);
        assert_eq!(tree.text("a.proto"), "// a.proto\n");
        assert!(tree.notes.is_empty());
    }
    assert_eq!(read(Some("git:main"), base).text("a.proto"), "main");
    let tree = read(Some("git:topic..."), base);
    assert!(
        tree.notes[0].contains("`HEAD` itself: there is nothing to compare"),
        "{:?}",
        tree.notes
    );
    let with =
        |merge_with| SourceOptions { merge_with: Some(merge_with), ..SourceOptions::new(base) };
    let tree = try_read(Some("git:ahead..."), &with("git:main:sub")).unwrap();
    assert_eq!(tree.text("a.proto"), "main");
    assert!(tree.notes[0].ends_with("is `main` itself: there is nothing to compare"));

    git(base, &["checkout", "--quiet", "--orphan", "alien"]);
    commit(base, "alien");
    assert!(error("git:main...", base).contains("unrelated"));
    assert!(error("git:main^{tree}...", base).contains("not a commit"));

    let clones = TempDir::new().unwrap();
    git(base, &["checkout", "--quiet", "topic"]);
    let url = format!("file://{}", base.display());
    git(clones.path(), &["clone", "--quiet", "--depth=1", "--no-single-branch", &url, "clone"]);
    let error = error("git:origin/main...", &clones.path().join("clone"));
    assert!(error.contains("run `git fetch --unshallow`"), "{error}");
}

#[test]
fn links_and_submodules_of_a_revision() {
    let inner = repository(&["inner.proto"]);
    let folder = repository(&["p/real.proto", "shared/s.proto", "p/d/e.proto"]);
    let at = |name: &str| folder.path().join("p").join(name);
    symlink("real.proto", at("near.proto")).unwrap();
    symlink("../shared/s.proto", at("up.proto")).unwrap();
    symlink("d/../linked/s.proto", at("through.proto")).unwrap();
    symlink("../shared", at("linked")).unwrap();
    symlink("/etc/passwd", at("absolute.proto")).unwrap();
    symlink("../../../x.proto", at("outside.proto")).unwrap();
    symlink("gone.proto", at("dangling.proto")).unwrap();
    symlink("two.proto", at("one.proto")).unwrap();
    symlink("one.proto", at("two.proto")).unwrap();
    symlink("shared", folder.path().join("alias")).unwrap();
    let url = format!("file://{}", inner.path().display());
    git(folder.path(), &["submodule", "--quiet", "add", &url, "p/sub"]);
    commit(folder.path(), "links");
    let tree = read(Some("git:HEAD:p"), folder.path());
    assert_eq!(
        tree.displays(),
        ["d/e.proto", "near.proto", "real.proto", "sub/inner.proto", "through.proto", "up.proto"]
    );
    assert_eq!(tree.text("near.proto"), "// p/real.proto\n");
    assert_eq!(tree.text("up.proto"), tree.text("through.proto"));
    for outside in ["absolute.proto", "outside.proto"] {
        assert!(tree.problem(outside).contains("outside the repository"));
    }
    assert!(tree.problem("dangling.proto").contains("leads to no file"));
    assert!(tree.problem("one.proto").contains("links to itself"));
    assert_eq!(tree.problems.len(), 5);
    assert!(tree.notes[0].contains("linked folder `linked`"), "{:?}", tree.notes);
    assert_eq!(tree.notes.len(), 1, "{:?}", tree.notes);
    assert_eq!(read(Some("git:HEAD:alias"), folder.path()).displays(), ["s.proto"]);
}

#[test]
fn hostile_names_of_a_revision() {
    let folder = repository(&["a.proto", "new\nline.proto"]);
    let raw = std::ffi::OsStr::from_bytes(b"raw\xff.proto");
    fs::write(folder.path().join(raw), "").unwrap();
    commit(folder.path(), "raw");
    let tree = read(Some("git:HEAD"), folder.path());
    assert_eq!(tree.displays(), ["a.proto", "new\nline.proto"]);
    assert!(tree.problem("raw\u{fffd}.proto").contains("UTF-8"));
}

#[test]
fn an_import_path_in_the_repository_is_read_at_the_revision() {
    let folder = repository(&["p/a.proto", "vendor/v.proto"]);
    put(folder.path(), "vendor/v.proto", "changed");
    put(folder.path(), "untracked/u.proto", "untracked");
    let outside = tree(&["o.proto"]);
    let paths = strings(&["../vendor", "../untracked", outside.path().to_str().unwrap()]);
    let base = folder.path().join("p");
    let options = SourceOptions { import_paths: &paths, ..SourceOptions::new(&base) };
    let source = Source::open(Some("git:HEAD"), &options).unwrap();
    let import = source.find_import("v.proto").unwrap().unwrap();
    assert_eq!(
        (&*import.text, &*import.display),
        (&b"// vendor/v.proto\n"[..], "../vendor/v.proto")
    );
    assert!(import.imported);
    assert_eq!(&*source.find_import("u.proto").unwrap().unwrap().text, b"untracked");
    assert_eq!(source.find_import("o.proto").unwrap().unwrap().root, 3);
    let source = Source::open(None, &options).unwrap();
    assert_eq!(&*source.find_import("v.proto").unwrap().unwrap().text, b"changed");
}

#[test]
fn bare_repositories_worktrees_and_alternates() {
    let folder = repository(&["p/a.proto"]);
    let places = TempDir::new().unwrap();
    let url = folder.path().to_str().unwrap();
    git(places.path(), &["clone", "--quiet", "--bare", url, "bare"]);
    git(places.path(), &["clone", "--quiet", "--shared", url, "shared"]);
    let worktree = places.path().join("worktree");
    git(folder.path(), &["worktree", "add", "--quiet", "-b", "w", worktree.to_str().unwrap()]);
    for place in ["bare", "shared", "worktree"] {
        let place = places.path().join(place);
        assert_eq!(read(Some("git:HEAD"), &place).displays(), ["p/a.proto"]);
        assert_eq!(read(Some("git:HEAD:p"), &place).displays(), ["a.proto"]);
    }
    assert_eq!(read(Some("git:HEAD"), &worktree.join("p")).displays(), ["a.proto"]);
}

#[test]
fn the_repository_that_the_environment_names_is_used() {
    const CHILD: &str = "ABIDE_TEST_BASE";
    if let Some(base) = std::env::var_os(CHILD) {
        let base = Path::new(&base);
        assert_eq!(read(Some("git:HEAD:p"), base).displays(), ["a.proto"]);
        let error = error("git:HEAD", base);
        assert!(error.contains("`git:REV:SUBDIR`"), "{error}");
        return;
    }
    let folder = repository(&["p/a.proto"]);
    let elsewhere = tree(&["x.proto"]);
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_repository_that_the_environment_names_is_used"])
        .env(CHILD, elsewhere.path())
        .env("GIT_DIR", folder.path().join(".git"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
fn missing_objects_are_told() {
    let folder = repository(&["a.proto", "b.proto"]);
    let id = git(folder.path(), &["rev-parse", "HEAD:a.proto"]);
    let object = folder.path().join(format!(".git/objects/{}/{}", &id[..2], &id[2..]));
    fs::remove_file(object).unwrap();
    let tree = read(Some("git:HEAD"), folder.path());
    assert_eq!(tree.displays(), ["b.proto"]);
    assert!(tree.problem("a.proto").contains("`git fsck`"));
}

#[test]
fn descriptor_sets_keep_their_format() {
    let folder = TempDir::new().unwrap();
    let open = |name: &str| {
        let source = Source::open(Some(name), &SourceOptions::new(folder.path())).unwrap();
        match source.read().unwrap() {
            Contents::DescriptorSet { bytes, format, .. } => (bytes, format),
            Contents::Files { .. } => panic!("files"),
        }
    };
    for (name, format) in [
        ("x.binpb", DescriptorFormat::Binary),
        ("x.pb", DescriptorFormat::Binary),
        ("x.json", DescriptorFormat::Json),
        ("x.txtpb", DescriptorFormat::Text),
    ] {
        put(folder.path(), name, "bytes");
        put(folder.path(), &format!("{name}.gz"), gzip(b"bytes"));
        put(
            folder.path(),
            &format!("{name}.zst"),
            zstd::stream::encode_all(&b"bytes"[..], 1).unwrap(),
        );
        for suffix in ["", ".gz", ".zst"] {
            assert_eq!(open(&format!("{name}{suffix}")), (b"bytes".to_vec(), format));
        }
    }
    let whole = gzip(&[b'x'; 1000]);
    put(folder.path(), "cut.binpb.gz", &whole[..whole.len() - 5]);
    put(folder.path(), "empty.json", "");
    put(folder.path(), "not.pb.gz", "longer than a header");
    assert!(error("cut.binpb.gz", folder.path()).contains("ends too early"));
    assert!(error("empty.json", folder.path()).contains("empty"));
    assert!(error("not.pb.gz", folder.path()).contains("damaged, or not of the kind"));
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

enum Entry<'e> {
    File(&'e [u8], &'e [u8]),
    Symlink(&'e str, &'e str),
    Hardlink(&'e str, &'e str),
    Fifo(&'e str),
}

fn tar(entries: &[Entry]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for entry in entries {
        let (name, text, kind, target) = match entry {
            Entry::File(name, text) => (*name, *text, tar::EntryType::Regular, ""),
            Entry::Symlink(name, to) => (name.as_bytes(), &b""[..], tar::EntryType::Symlink, *to),
            Entry::Hardlink(name, to) => (name.as_bytes(), &b""[..], tar::EntryType::Link, *to),
            Entry::Fifo(name) => (name.as_bytes(), &b""[..], tar::EntryType::Fifo, ""),
        };
        let mut header = tar::Header::new_ustar();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name);
        header.as_mut_bytes()[157..157 + target.len()].copy_from_slice(target.as_bytes());
        header.set_entry_type(kind);
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        archive.append(&header, text).unwrap();
    }
    archive.into_inner().unwrap()
}

fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in entries {
        archive.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(text).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

#[test]
fn archives_are_trees() {
    let folder = TempDir::new().unwrap();
    let files = [
        ("./top-1.0/a.proto", &b"a"[..]),
        ("top-1.0//b/c.proto", b"c"),
        ("top-1.0/b.txt", b"no"),
        ("top-1.0/.h/x.proto", b"no"),
        ("top-1.0/node_modules/x.proto", b"no"),
    ];
    let plain = tar(&files.map(|(name, text)| Entry::File(name.as_bytes(), text)));
    put(folder.path(), "t.tar", &plain);
    put(folder.path(), "t.tar.gz", gzip(&plain));
    put(folder.path(), "t.tgz", gzip(&plain));
    put(folder.path(), "t.tar.zst", zstd::stream::encode_all(&plain[..], 1).unwrap());
    put(folder.path(), "t.zip", zip(&files));
    for name in ["t.tar", "t.tar.gz", "t.tgz", "t.tar.zst", "t.zip"] {
        let tree = read(Some(name), folder.path());
        assert_eq!(tree.names(), [(0, "top-1.0/a.proto"), (0, "top-1.0/b/c.proto")], "{name}");
        let tree = read(Some(&format!("{name}:top-1.0/")), folder.path());
        assert_eq!(tree.names(), [(0, "a.proto"), (0, "b/c.proto")], "{name}");
        assert_eq!((tree.text("a.proto"), tree.text("b/c.proto")), ("a", "c"));
        assert!(error(&format!("{name}:gone"), folder.path()).contains("no `.proto` file"));
        assert!(error(&format!("{name}:.."), folder.path()).contains("outside the archive"));
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 5);
}

#[test]
fn hostile_archives_are_refused() {
    let folder = TempDir::new().unwrap();
    let hostile = |bytes: Vec<u8>, name: &str, wanted: &str| {
        put(folder.path(), name, bytes);
        let error = error(name, folder.path());
        assert!(error.contains(name) && error.contains(wanted), "{error}");
    };
    for name in
        ["../a.proto", "a/../../b.proto", "/etc/a.proto", "C:/a.proto", "a\\b.proto", "../x"]
    {
        hostile(tar(&[Entry::File(name.as_bytes(), b"")]), "t.tar", "outside the archive");
        hostile(zip(&[(name, b"")]), "t.zip", "outside the archive");
    }
    for target in ["../x.proto", "/etc/passwd", "..\\x"] {
        hostile(tar(&[Entry::Symlink("a.proto", target)]), "t.tar", "outside the archive");
        hostile(tar(&[Entry::Symlink("folder", target)]), "t.tar", "outside the archive");
        hostile(tar(&[Entry::Hardlink("d/a.proto", target)]), "t.tar", "outside the archive");
        let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        archive.add_symlink("a", target, zip::write::SimpleFileOptions::default()).unwrap();
        hostile(archive.finish().unwrap().into_inner(), "t.zip", "outside the archive");
    }
    let twice = [Entry::File(b"a.proto", b"1"), Entry::File(b"./a.proto", b"2")];
    hostile(tar(&twice), "t.tar", "twice");
    hostile(zip(&[("a.proto", b"1"), ("./a.proto", b"2")]), "t.zip", "twice");
    let whole = zip(&[("a.proto", b"1"), ("b.proto", b"2")]);
    let renamed = replace(&whole, b"b.proto", b"a.proto");
    hostile(renamed, "t.zip", "same name");

    let many = gzip(&tar(&[Entry::File(b"a.proto", &[b'x'; 100_000])]));
    hostile(many[..many.len() / 2].to_vec(), "t.tar.gz", "ends too early");
    hostile(many[..many.len() - 4].to_vec(), "t.tar.gz", "ends too early");
    hostile(whole[..whole.len() / 2].to_vec(), "t.zip", "damaged");
    hostile(b"longer than a header".to_vec(), "t.tar.gz", "damaged");
    hostile(Vec::new(), "t.tar", "empty");

    let bomb = vec![b' '; (64 << 20) + 1];
    hostile(gzip(&tar(&[Entry::File(b"a.txt", &bomb)])), "t.tar.gz", "decompression bomb");
    hostile(zip(&[("a.proto", &bomb)]), "t.zip", "decompression bomb");
}

fn replace(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for at in 0..bytes.len() - from.len() {
        if bytes[at..].starts_with(from) {
            bytes[at..at + to.len()].copy_from_slice(to);
        }
    }
    bytes
}

#[test]
fn entries_of_archives_that_are_no_files() {
    let folder = TempDir::new().unwrap();
    let archive = tar(&[
        Entry::File(b"d/a.proto", b"a"),
        Entry::Symlink("d/sym.proto", "../d/a.proto"),
        Entry::Hardlink("hard.proto", "d/sym.proto"),
        Entry::Symlink("gone.proto", "x.proto"),
        Entry::Symlink("one.proto", "two.proto"),
        Entry::Symlink("two.proto", "one.proto"),
        Entry::Fifo("pipe.proto"),
        Entry::File(b"raw\xff.proto", b""),
        Entry::File(b"new\nline.proto", b""),
    ]);
    put(folder.path(), "t.tar", archive);
    let tree = read(Some("t.tar"), folder.path());
    assert_eq!(tree.displays(), ["d/a.proto", "d/sym.proto", "hard.proto", "new\nline.proto"]);
    assert_eq!((tree.text("d/sym.proto"), tree.text("hard.proto")), ("a", "a"));
    assert!(tree.problem("gone.proto").contains("leads to no"));
    assert!(tree.problem("one.proto").contains("leads to no"));
    assert_eq!(tree.problem("pipe.proto"), "it is not a regular file");
    assert!(tree.problem("raw\u{fffd}.proto").contains("UTF-8"));
}

/// Damages some bytes: others, none, twice, or from elsewhere.
fn damage(bytes: &[u8], rng: &mut fastrand::Rng) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..rng.usize(1..4) {
        let at = rng.usize(..bytes.len().max(1)).min(bytes.len().saturating_sub(1));
        let end = (at + rng.usize(1..40)).min(bytes.len());
        let part = bytes[at..end].to_vec();
        match rng.u8(..5) {
            0 => bytes[at..end].iter_mut().for_each(|it| *it ^= rng.u8(..)),
            1 => bytes[at..end].fill([0, b'/', b'7', 0xff][rng.usize(..4)]),
            2 => bytes.truncate(at),
            3 => drop(bytes.splice(end..end, part)),
            _ => drop(bytes.splice(at..end, [])),
        }
    }
    bytes
}

/// Makes the checksums of the headers of a tar right again.
fn restore_checksums(tar: &mut [u8]) {
    for block in tar.chunks_exact_mut(512).filter(|it| it[257..262] == *b"ustar") {
        block[148..156].fill(b' ');
        let sum: u32 = block.iter().map(|it| u32::from(*it)).sum();
        block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    }
}

/// Whatever happens to an archive: it is refused in one line, or it is a tree with names inside of it
/// that is no larger than its limits allow.
#[test]
fn a_damaged_archive_is_refused_or_a_tree() {
    let mut rng = fastrand::Rng::with_seed(29);
    let folder = TempDir::new().unwrap();
    let text = "message Shop {}\n".repeat(60);
    let files = [("shop/a.proto", text.as_bytes()), ("shop/b/c.proto", b"// c\n")];
    let whole = tar(&[
        Entry::File(files[0].0.as_bytes(), files[0].1),
        Entry::Symlink("shop/d.proto", "b/c.proto"),
        Entry::Hardlink("shop/e.proto", "shop/a.proto"),
        Entry::File(files[1].0.as_bytes(), files[1].1),
    ]);
    let packed = zip(&files);
    let (mut trees, mut refused) = (0, 0);
    for _ in 0..1000 {
        let mut plain = damage(&whole, &mut rng);
        if rng.bool() {
            restore_checksums(&mut plain);
        }
        let (name, bytes) = match rng.u8(..5) {
            0 => ("t.tar", plain),
            1 => ("t.tar.gz", gzip(&plain)),
            2 => ("t.tar.gz", damage(&gzip(&whole), &mut rng)),
            3 => ("t.tar.zst", damage(&zstd::stream::encode_all(&plain[..], 1).unwrap(), &mut rng)),
            _ => ("t.zip", damage(&packed, &mut rng)),
        };
        put(folder.path(), name, &bytes);
        match try_read(Some(name), &SourceOptions::new(folder.path())) {
            Ok(tree) => {
                let is_inside = |name: &str| {
                    !name.is_empty() && name.split('/').all(|it| !matches!(it, "" | "." | ".."))
                };
                assert!(tree.names().iter().all(|it| is_inside(it.1)), "{:?}", tree.names());
                assert!(tree.files.iter().all(|it| (it.text.len() as u64) <= MAX_FILE));
                trees += 1;
            }
            Err(why) => {
                assert!(!why.contains(|it: char| it.is_control()), "{why:?}");
                refused += 1;
            }
        }
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
    assert!(trees > 50 && refused > 50, "{trees} trees, {refused} refused");
}
