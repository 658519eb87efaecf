//! Servers as sources, and `abide drift`. What `abide-remote` does is tested beside it: here a script
//! in its place gives the sets that servers would.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::breaking::{commit, git};
use crate::run::{Ran, abide, put, put_program};

const SERVER: &str = "grpc://localhost:50051";

const USER: &str = "syntax = \"proto3\";\npackage acme.user.v1;\n\
                    message User {\n  string id = 1;\n  string name = 2;\n}\n\
                    message GetUserRequest {\n  string id = 1;\n}\n\
                    service Users {\n  rpc GetUser(GetUserRequest) returns (User);\n}\n";

/// A file of a package of others.
const HEALTH: &str = "syntax = \"proto3\";\npackage far.health.v1;\nmessage Ping {}\n\
                      service Health {\n  rpc Check(Ping) returns (Ping);\n}\n";

/// A folder with a tree, a `bin` for `abide-remote`, and the trees that servers run.
struct World {
    folder: TempDir,
}

impl World {
    fn new(files: &[(&str, &str)]) -> World {
        let world = World { folder: TempDir::new().unwrap() };
        fs::create_dir(world.path("tree")).unwrap();
        put(&world.path("tree"), files);
        world.install("echo \"$@\" >> asked\ncat api.binpb\n");
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Puts a script in the place of `abide-remote`.
    fn install(&self, script: &str) {
        put_program(self.folder.path(), "bin/abide-remote", &format!("#!/bin/sh\n{script}"));
    }

    /// Makes a server run these files.
    fn run(&self, files: &[(&str, &str)]) {
        let _ = fs::remove_dir_all(self.path("running"));
        fs::create_dir(self.path("running")).unwrap();
        put(&self.path("running"), files);
        let built = abide(self.folder.path(), &["build", "running", "-o", "api.binpb"]);
        assert_eq!((built.status, &*built.stderr), (0, ""));
    }

    /// Runs `abide` with the script on the PATH.
    fn abide(&self, args: &[&str]) -> Ran {
        self.abide_of(env!("CARGO_BIN_EXE_abide").as_ref(), args)
    }

    fn abide_of(&self, program: &Path, args: &[&str]) -> Ran {
        let path = std::env::var("PATH").unwrap_or_default();
        let ran = Command::new(program)
            .args(args)
            .current_dir(self.folder.path())
            .env("PATH", format!("{}:{path}", self.path("bin").display()))
            .env_remove("ABIDE_REMOTE_TIMEOUT")
            .output()
            .expect("it starts");
        let stderr = String::from_utf8_lossy(&ran.stderr).into_owned();
        Ran { status: ran.status.code().expect("it ends by itself"), stdout: ran.stdout, stderr }
    }

    /// Runs `abide drift`. Returns who is behind for each element, and the summary.
    fn drift(&self, args: &[&str]) -> (i32, Vec<(String, String)>, serde_json::Value) {
        let ran = self.abide(&[&["drift"], args, &["--format", "json"]].concat());
        let mut lines = ran.json();
        let summary = lines.pop().unwrap_or_else(|| panic!("no report: {}", ran.stderr));
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let found = lines.iter().map(|it| (text(&it["element"]), text(&it["behind"])));
        (ran.status, found.collect(), summary)
    }
}

fn own() -> [(&'static str, &'static str); 1] {
    [("acme/user/v1/user.proto", USER)]
}

fn changed(from: &str, to: &str) -> String {
    assert_eq!(USER.matches(from).count(), 1, "{from}");
    USER.replace(from, to)
}

#[test]
fn a_server_is_a_source_of_every_command() {
    let world = World::new(&own());
    world.run(&own());
    for args in [
        &["lint", SERVER, "--select", "language"][..],
        &["build", SERVER, "-o", "again.binpb"],
        &["hash", SERVER],
        &["graph", SERVER],
        &["breaking", "tree", "--against", SERVER],
        &["breaking", SERVER, "--against", "tree"],
        &["breaking", SERVER, "--against", "grpcs://example.com:443"],
        &["check", "tree", "--against", SERVER, "--select", "compatibility"],
        &["bump", "tree", "--against", SERVER],
        &["drift", SERVER, "tree"],
        &["drift", "GRPCS://Example.com:443", SERVER],
    ] {
        let ran = world.abide(args);
        assert_eq!(ran.status, 0, "{args:?}: {}{}", ran.text(), ran.stderr);
    }
    let [set, again] = ["api.binpb", "again.binpb"].map(|it| fs::read(world.path(it)).unwrap());
    assert_eq!(again, set);
    let asked = fs::read_to_string(world.path("asked")).unwrap();
    assert_eq!(asked.lines().next(), Some("reflect -- grpc://localhost:50051"));
    assert!(asked.contains("reflect -- GRPCS://Example.com:443\n"));
}

#[test]
fn a_server_that_cannot_be_read_is_one_error() {
    let world = World::new(&own());
    let refused = "cannot connect to localhost:50051: Connection refused; is the server running?";
    let failing = format!("echo 'note: first' >&2\necho 'error: {refused}' >&2\nexit 2\n");
    for (script, says) in [
        (&*failing, refused),
        ("exit 3\n", "`abide-remote` failed: it ended with exit status: 3"),
        ("", "`abide-remote` wrote no descriptor set"),
        ("echo junk\n", "is not a FileDescriptorSet"),
    ] {
        world.install(script);
        for args in [
            &["drift", SERVER, "tree"][..],
            &["lint", SERVER],
            &["breaking", "tree", "--against", SERVER],
        ] {
            let ran = world.abide(args);
            assert_eq!((ran.status, &*ran.text()), (2, ""), "{args:?}");
            assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
            assert!(
                ran.stderr.starts_with("error: ") && ran.stderr.contains(says),
                "{}",
                ran.stderr
            );
            assert!(ran.stderr.contains(SERVER), "{}", ran.stderr);
        }
    }
}

#[test]
fn what_a_server_lacks_is_a_note() {
    let world = World::new(&own());
    world.run(&own());
    world.install("echo 'note: localhost:50051 has no descriptors of `a.B`' >&2\ncat api.binpb\n");
    let ran = world.abide(&["drift", SERVER, "tree"]);
    assert_eq!(ran.status, 0);
    assert!(ran.stderr.contains("note: localhost:50051 has no descriptors of `a.B`"));
}

#[test]
fn without_the_program_the_error_says_how_to_get_it() {
    let world = World::new(&own());
    fs::remove_file(world.path("bin/abide-remote")).unwrap();
    // Beside the one that was built may be the program that this test must not find.
    let program = world.path("abide");
    let built = env!("CARGO_BIN_EXE_abide");
    if fs::hard_link(built, &program).is_err() {
        let mut copy = Command::new("cp");
        assert!(copy.arg(built).arg(&program).status().unwrap().success());
    }
    let ran = world.abide_of(&program, &["drift", SERVER, "tree"]);
    assert_eq!(ran.status, 2);
    let says = "`cargo install --path crates/abide-remote`";
    assert!(ran.stderr.contains(says) && ran.stderr.lines().count() == 1, "{}", ran.stderr);
    // The one beside it counts, too.
    world.run(&own());
    put_program(world.folder.path(), "abide-remote", "#!/bin/sh\ncat api.binpb\n");
    assert_eq!(world.abide_of(&program, &["drift", SERVER, "tree"]).status, 0);
}

#[test]
fn each_difference_says_who_is_behind() {
    let added = changed("  string name = 2;\n", "  string name = 2;\n  string mail = 3;\n");
    let method = changed("(User);\n", "(User);\n  rpc Again(GetUserRequest) returns (User);\n");
    let typed = changed("string name = 2", "bytes name = 2");
    let gone = changed("  string name = 2;\n", "");
    let reserved = changed("  string name = 2;\n", "  reserved 2;\n  reserved \"name\";\n");
    let field = "acme.user.v1.User.name";
    for (running, tree, status, element, behind) in [
        (USER, &*added, 0, "acme.user.v1.User.mail", "target"),
        (&*added, USER, 1, "acme.user.v1.User.mail", "tree"),
        (USER, &*method, 0, "acme.user.v1.Users.Again", "target"),
        (&*method, USER, 1, "acme.user.v1.Users.Again", "tree"),
        (USER, &*typed, 1, field, "target"),
        (USER, &*gone, 1, field, "tree"),
        // Who reserves a field has had it.
        (USER, &*reserved, 1, field, "target"),
    ] {
        let world = World::new(&[("acme/user/v1/user.proto", tree)]);
        world.run(&[("acme/user/v1/user.proto", running)]);
        let (ended, found, _) = world.drift(&[SERVER, "tree"]);
        assert_eq!(ended, status, "{element} {behind}: {found:?}");
        assert!(found.contains(&(element.to_owned(), behind.to_owned())), "{found:?}");
        assert!(found.iter().all(|it| it.1 == behind), "{found:?}");
        // A saved set is the same.
        assert_eq!(world.drift(&["api.binpb", "tree"]).1, found);
    }
}

#[test]
fn the_history_of_the_tree_says_who_is_behind() {
    let gone = changed("  string name = 2;\n", "");
    let world = World::new(&own());
    let top = world.path("tree");
    git(&top, &["init", "-q", "-b", "main"]);
    commit(&top);
    put(&top, &[("acme/user/v1/user.proto", &gone)]);
    commit(&top);
    world.run(&own());
    let field = "acme.user.v1.User.name".to_owned();
    // In the working tree, at a revision, and before the change is committed.
    let asked = |source: &str| world.drift(&[SERVER, source]);
    assert_eq!(asked("tree").1, [(field.clone(), "target".to_owned())]);
    // A server that has what the tree never had is ahead of it.
    let newer = changed("  string name = 2;\n", "  string name = 2;\n  string mail = 3;\n");
    world.run(&[("acme/user/v1/user.proto", &newer)]);
    let (status, found, _) = asked("tree");
    let mail = ("acme.user.v1.User.mail".to_owned(), "tree".to_owned());
    assert_eq!((status, found.contains(&mail)), (1, true), "{found:?}");
    assert!(found.contains(&(field, "target".to_owned())), "{found:?}");
}

#[test]
fn what_only_one_side_knows_is_named_and_no_break() {
    let far =
        [("acme/far/v1/far.proto", "syntax = \"proto3\";\npackage acme.far.v1;\nmessage Far {}\n")];
    let unused = "syntax = \"proto3\";\npackage acme.user.v1;\nmessage Unused {}\n";
    let unused = [("acme/user/v1/unused.proto", unused)];
    let world = World::new(&[&own()[..], &far, &unused].concat());
    world.run(&[own()[0], ("far/health/v1/health.proto", HEALTH)]);
    let (status, found, summary) = world.drift(&[SERVER, "tree"]);
    assert_eq!((status, &*found), (0, &[][..]), "{summary}");
    assert_eq!(summary["unknown_services"], serde_json::json!(["far.health.v1.Health"]));
    assert_eq!(summary["hidden_packages"], serde_json::json!(["acme.far.v1"]));
    let ran = world.abide(&["drift", SERVER, "tree"]);
    for name in ["`far.health.v1.Health`", "`acme.far.v1`"] {
        assert!(ran.stderr.contains(name), "{name}: {}", ran.stderr);
    }
    assert!(!ran.stderr.contains("no longer checked"), "{}", ran.stderr);
    // The same for every command that compares with a server, from both sides.
    for args in [["tree", "--against", SERVER], [SERVER, "--against", "tree"]] {
        let ran = world.abide(&[&["breaking"], &args[..]].concat());
        assert_eq!((ran.status, ran.text().contains("removed")), (0, false), "{}", ran.text());
    }
    // A folder is a whole tree: what it lacks is gone.
    let ran = world.abide(&["breaking", "tree", "--against", "running"]);
    assert_eq!(ran.status, 1, "{}", ran.text());
}

#[test]
fn services_that_the_tree_never_had_are_no_break_but_removed_ones_are() {
    let two = format!("{USER}service Admin {{\n  rpc Drop(User) returns (User);\n}}\n");
    let beside = "syntax = \"proto3\";\npackage acme.user.v1;\nmessage Job {}\n\
                  service Jobs {\n  rpc Run(Job) returns (Job);\n}\n";
    let world = World::new(&own());
    world.run(&[("acme/user/v1/user.proto", &two), ("acme/user/v1/jobs.proto", beside)]);
    let (status, found, summary) = world.drift(&[SERVER, "tree"]);
    assert_eq!((status, &*found), (0, &[][..]), "{summary}");
    let names = serde_json::json!(["acme.user.v1.Admin", "acme.user.v1.Jobs"]);
    assert_eq!(summary["unknown_services"], names);
    // A tree that had them takes them away from clients.
    let top = world.path("tree");
    git(&top, &["init", "-q", "-b", "main"]);
    put(&top, &[("acme/user/v1/user.proto", &two), ("acme/user/v1/jobs.proto", beside)]);
    commit(&top);
    fs::remove_file(top.join("acme/user/v1/jobs.proto")).unwrap();
    put(&top, &own());
    commit(&top);
    let (status, found, summary) = world.drift(&[SERVER, "tree"]);
    assert_eq!(status, 1, "{summary}");
    for name in ["acme.user.v1.Admin", "acme/user/v1/jobs.proto"] {
        assert!(found.contains(&(name.to_owned(), "target".to_owned())), "{name}: {found:?}");
    }
}

#[test]
fn every_format_says_who_is_behind() {
    let gone = changed("  string name = 2;\n", "");
    let world = World::new(&[("acme/user/v1/user.proto", &gone)]);
    world.run(&own());
    for (format, says) in [
        ("human", "behind: the tree: what runs is newer"),
        ("json", "\"behind\":\"tree\""),
        ("sarif", "\"behind\": \"tree\""),
        ("markdown", "behind: the tree: what runs is newer"),
    ] {
        let ran = world.abide(&["drift", SERVER, "tree", "--format", format]);
        let text = ran.text();
        let flat = text.replace("\": \"", "\":\"");
        assert!(flat.contains(&says.replace("\": \"", "\":\"")), "{format}: {text}");
        assert_eq!(ran.status, 1);
    }
}
