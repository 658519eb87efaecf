//! A revision as the baseline of the files on disk: what did not change is neither read nor linked
//! again, and the report is the one that the whole baseline gives.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::history::world::{CONFIG, World};
use crate::history::{ID, NAME, Snapshot, USER, age, git, repository, user};
use crate::run::{abide, put};

const FORMATS: [&str; 8] =
    ["human", "json", "sarif", "junit", "github", "gitlab", "markdown", "html"];

/// Checks out `HEAD`, so that git's index has the times of all files.
fn check_out(folder: &Path) {
    git(folder, &["reset", "--quiet", "--hard"]);
    age(folder);
}

/// A folder with the files of a revision.
fn exported(folder: &Path, revision: &str) -> tempfile::TempDir {
    let to = tempfile::tempdir().unwrap();
    let archive = to.path().join("tree.tar");
    git(folder, &["archive", "--output", archive.to_str().unwrap(), revision]);
    let unpacked = std::process::Command::new("tar")
        .args(["-xf", "tree.tar"])
        .current_dir(to.path())
        .status()
        .expect("tar is installed");
    assert!(unpacked.success());
    to
}

#[test]
fn a_revision_and_a_folder_of_its_files_give_one_report() {
    let mut broke = 0;
    for seed in 11..14 {
        let folder = tempfile::tempdir().unwrap();
        let mut world = World::new(seed);
        let mut commits = Vec::new();
        for number in 0..12 {
            let mut commit = Snapshot::on_main(&format!("commit {number}"), &[]);
            commit.files = world.files();
            commits.push(commit);
            world.edit();
        }
        repository(folder.path(), &commits);
        check_out(folder.path());
        put(folder.path(), &[("abide.toml", CONFIG)]);
        for back in 1..12 {
            let revision = format!("HEAD~{back}");
            let whole = exported(folder.path(), &revision);
            let whole = whole.path().to_str().unwrap();
            let format = FORMATS[back % FORMATS.len()];
            for command in ["check", "breaking"] {
                let run = |against: &str| {
                    let args = [command, "-q", "--against", against, "--format", format];
                    let ran = abide(folder.path(), &args);
                    (ran.status, ran.text())
                };
                let sparse = run(&format!("git:{revision}"));
                broke += usize::from(sparse.0 == 1);
                assert_eq!(sparse, run(whole), "seed {seed}, {command} since {revision}");
            }
        }
    }
    assert!(broke > 10, "{broke} comparisons found errors");
}

/// A repository with one user of two fields, checked out, and its blob cut off in the middle: who
/// reads it fails.
fn with_damaged_blob(folder: &Path) -> String {
    // Words that compress badly make the blob long enough to be cut.
    let words: Vec<String> = (0..400_u64)
        .map(|it| format!("// {:016x}\n", it.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
        .collect();
    let text = user(&[ID, NAME].concat()) + &words.concat();
    put(folder, &[(USER, &text), ("abide.toml", "roots = [\"proto\"]\n")]);
    git(folder, &["init", "--quiet"]);
    git(folder, &["add", "."]);
    git(folder, &["commit", "--quiet", "-m", "begin"]);
    check_out(folder);
    let id = git(folder, &["rev-parse", &format!("HEAD:{USER}")]);
    let object = folder.join(format!(".git/objects/{}/{}", &id[..2], &id[2..]));
    let bytes = fs::read(&object).unwrap();
    fs::remove_file(&object).unwrap();
    fs::write(&object, &bytes[..bytes.len() / 2]).unwrap();
    id
}

#[test]
fn what_the_index_knows_to_be_unchanged_is_not_read_from_the_repository() {
    let folder = tempfile::tempdir().unwrap();
    let id = with_damaged_blob(folder.path());
    for command in ["check", "breaking"] {
        let ran = abide(folder.path(), &[command, "--against", "git:HEAD"]);
        assert_eq!((ran.status, &*ran.stderr), (0, ""), "{}", ran.text());
    }
    // With another time, the file may be another.
    let file = fs::File::options().append(true).open(folder.path().join(USER)).unwrap();
    file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(1)).unwrap();
    let ran = abide(folder.path(), &["breaking", "--against", "git:HEAD"]);
    assert_eq!(ran.status, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains(&format!("the blob `{id}` is missing or damaged")));
    assert!(ran.stderr.contains(&format!("cannot read `{USER}`")), "{}", ran.stderr);
}

#[test]
fn an_index_that_cannot_be_trusted_is_not() {
    for distrust in
        [["config", "filter.mirror.clean", "rev"].as_slice(), &["rm", "--quiet", "--cached", USER]]
    {
        let folder = tempfile::tempdir().unwrap();
        with_damaged_blob(folder.path());
        git(folder.path(), distrust);
        let ran = abide(folder.path(), &["breaking", "--against", "git:HEAD"]);
        assert_eq!(ran.status, 2, "{distrust:?}: {}", ran.stderr);
    }
    let folder = tempfile::tempdir().unwrap();
    with_damaged_blob(folder.path());
    fs::remove_file(folder.path().join(".git/index")).unwrap();
    assert_eq!(abide(folder.path(), &["breaking", "--against", "git:HEAD"]).status, 2);
}

/// An edit right after a commit, of the same size: the size and perhaps the time are those of the
/// index.
#[test]
fn an_edit_right_after_a_commit_is_seen() {
    for _ in 0..8 {
        let folder = tempfile::tempdir().unwrap();
        let before = user(&[ID, NAME].concat());
        put(folder.path(), &[(USER, &before), ("abide.toml", "roots = [\"proto\"]\n")]);
        git(folder.path(), &["init", "--quiet"]);
        git(folder.path(), &["add", "."]);
        git(folder.path(), &["commit", "--quiet", "-m", "begin"]);
        fs::write(folder.path().join(USER), before.replace("string name", "uint32 name")).unwrap();
        let ran = abide(folder.path(), &["breaking", "--against", "git:HEAD", "--format", "json"]);
        assert_eq!((ran.status, ran.rules()), (1, vec!["field-type-changed".to_owned()]));
    }
}

/// What git turns into other bytes on the way to the disk is compared by its bytes, as ever.
#[test]
fn line_ends_that_git_converts_are_no_change() {
    let folder = tempfile::tempdir().unwrap();
    let text = user(&[ID, NAME].concat());
    put(folder.path(), &[(USER, &text), ("abide.toml", "roots = [\"proto\"]\n")]);
    put(folder.path(), &[(".gitattributes", "*.proto text eol=crlf\n")]);
    git(folder.path(), &["init", "--quiet"]);
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "--quiet", "-m", "begin"]);
    fs::remove_file(folder.path().join(USER)).unwrap();
    check_out(folder.path());
    assert!(fs::read_to_string(folder.path().join(USER)).unwrap().contains("\r\n"));
    let ran = abide(folder.path(), &["breaking", "--against", "git:HEAD", "--changes"]);
    assert_eq!((ran.status, &*ran.stderr), (0, ""), "{}", ran.text());
}

#[test]
fn two_revisions_are_compared_by_their_blobs() {
    let folder = tempfile::tempdir().unwrap();
    let other = "syntax = \"proto3\";\npackage acme.log.v1;\nmessage Entry {}\n";
    let files =
        |fields: &str| [(USER, user(fields)), ("proto/acme/log/v1/log.proto", other.into())];
    let commit = |subject: &str, fields: &str| {
        let files = files(fields);
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, &**text)).collect();
        Snapshot::on_main(subject, &files)
    };
    repository(folder.path(), &[commit("two", &[ID, NAME].concat()), commit("one", ID)]);
    put(folder.path(), &[("abide.toml", "roots = [\"proto\"]\n")]);
    let args = ["breaking", "git:HEAD", "--against", "git:HEAD~", "--format", "json"];
    let ran = abide(folder.path(), &args);
    assert_eq!((ran.status, ran.rules()), (1, vec!["field-removed".to_owned()]), "{}", ran.stderr);
}

/// Who may push a tag need not be who may merge: git would take the tag.
#[test]
fn a_name_that_a_tag_and_a_branch_have_is_refused() {
    let (server, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let user = |ty: &str| {
        let text =
            "syntax = \"proto3\";\npackage acme.user.v1;\nmessage User {\n  TYPE mail = 1;\n}\n";
        text.replace("TYPE", ty)
    };
    let path = "acme/user/v1/user.proto";
    git(server.path(), &["init", "--quiet", "--initial-branch=main"]);
    put(server.path(), &[(path, &user("string"))]);
    git(server.path(), &["add", "."]);
    git(server.path(), &["commit", "--quiet", "-m", "first"]);
    git(folder.path(), &["clone", "--quiet", server.path().to_str().unwrap(), "clone"]);
    let top = folder.path().join("clone");
    let first = git(&top, &["rev-parse", "HEAD"]).trim().to_owned();
    git(&top, &["checkout", "--quiet", "-b", "pr"]);
    put(&top, &[(path, &user("bytes"))]);
    git(&top, &["commit", "--quiet", "-am", "break"]);
    let short = &first[..8];
    let refused = |command: &[&str], name: &str, meant: &[&str]| {
        let ran = abide(&top, command);
        let said = format!("the revision `{name}` is ambiguous: write ");
        assert!(ran.status == 2 && ran.stderr.contains(&said), "{command:?}: {}", ran.stderr);
        for meant in meant {
            assert!(ran.stderr.contains(&format!("`{meant}`")), "{command:?}: {}", ran.stderr);
        }
    };
    for name in ["origin/main", "main", short] {
        git(&top, &["tag", name]);
    }
    let remote = ["refs/tags/origin/main", "refs/remotes/origin/main"];
    let local = ["refs/tags/main", "refs/heads/main"];
    for spec in ["git:origin/main", "git:origin/main...", "git:origin/main~0", "git:origin/main^0"]
    {
        refused(&["check", "--against", spec], "origin/main", &remote);
    }
    for command in [
        &["check", "--against", "git:main"][..],
        &["check", "--against", "git:main@{0}"],
        &["check", "git:main"],
        &["lint", "git:main:acme"],
        &["breaking", "--against", "git:main"],
        &["breaking", "--against", "git:HEAD", "--bump-against", "git:main"],
        &["bump", "--against", "git:main"],
        &["hash", "git:main"],
        &["build", "git:main", "-o", "x.binpb"],
        &["history", "--since", "main"],
        &["owners", "--against", "git:main"],
        &["check", "--against", "git:main", "--changed"],
    ] {
        refused(command, "main", &local);
    }
    let id = format!("refs/tags/{short}");
    refused(&["check", "--against", &format!("git:{short}")], short, &[&id, &first]);
    // In full, each of them is understood.
    let found = |spec: &str| abide(&top, &["check", "--against", spec, "--format", "json"]).rules();
    for name in
        ["refs/remotes/origin/main", "refs/heads/main", &first, "refs/remotes/origin/main..."]
    {
        assert_eq!(found(&format!("git:{name}")), ["field-type-changed"], "{name}");
    }
    // Nobody can put a name before `HEAD`, or give a full name to something else.
    git(&top, &["tag", "HEAD", "HEAD~1"]);
    assert!(found("git:HEAD").is_empty());
    git(&top, &["update-ref", "refs/tags/refs/heads/gone", "HEAD"]);
    let ran = abide(&top, &["check", "--against", "git:refs/heads/gone"]);
    assert!(ran.status == 2 && ran.stderr.contains("unknown revision"), "{}", ran.stderr);
}

/// Runners check out one commit, and have no branches but those of `origin`.
#[test]
fn a_branch_of_the_remote_is_found_in_a_detached_checkout() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path();
    let path = "acme/user/v1/user.proto";
    let user = |ty: &str| {
        format!(
            "syntax = \"proto3\";\npackage acme.user.v1;\nmessage User {{\n  {ty} id = 1;\n}}\n"
        )
    };
    git(top, &["init", "--quiet", "--initial-branch=main"]);
    put(top, &[("abide.toml", "against = \"git:main...\"\n"), (path, &user("string"))]);
    git(top, &["add", "."]);
    git(top, &["commit", "--quiet", "-m", "first"]);
    git(top, &["update-ref", "refs/remotes/origin/main", "HEAD"]);
    git(top, &["checkout", "--quiet", "--detach"]);
    git(top, &["branch", "--quiet", "-D", "main"]);
    put(top, &[(path, &user("bytes"))]);
    git(top, &["commit", "--quiet", "-am", "break"]);
    let ran = abide(top, &["check", "--format", "json"]);
    assert_eq!(
        (ran.status, ran.rules()),
        (1, vec!["field-type-changed".to_owned()]),
        "{}",
        ran.stderr
    );
    for spec in ["git:main", "git:main~0", "git:main^{commit}"] {
        let ran = abide(top, &["check", "--against", spec, "--format", "json"]);
        assert_eq!(ran.rules(), ["field-type-changed"], "{spec}: {}", ran.stderr);
    }
    let ran = abide(top, &["check", "--against", "git:mian"]);
    assert!(ran.status == 2 && ran.stderr.contains("unknown revision `mian`"), "{}", ran.stderr);
}

/// Of an old file that cannot be read, whatever changed in it would pass.
#[test]
fn an_old_file_that_cannot_be_read_ends_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path();
    let user = "syntax = \"proto3\";\npackage acme.user.v1;\nmessage User {}\n";
    git(top, &["init", "--quiet"]);
    put(top, &[("acme/k/v1/k.proto", "syntax = \"proto3\";\npackage acme.k.v1;\nmessage K {}\n")]);
    fs::create_dir_all(top.join("acme/user/v1")).unwrap();
    let path = top.join("acme/user/v1/user.proto");
    std::os::unix::fs::symlink("nowhere", &path).unwrap();
    git(top, &["add", "."]);
    git(top, &["commit", "--quiet", "-m", "first"]);
    fs::remove_file(&path).unwrap();
    put(top, &[("acme/user/v1/user.proto", user)]);
    for args in [&["check"][..], &["breaking"], &["check", "--changed"]] {
        let ran = abide(top, &[args, &["--against", "git:HEAD"]].concat());
        let said =
            "in the baseline, cannot read `acme/user/v1/user.proto`: its link leads to no file";
        assert!(ran.status == 2 && ran.stderr.contains(said), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn a_package_that_moves_to_an_import_path_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path();
    let money =
        "syntax = \"proto3\";\npackage acme.money.v1;\nmessage Money {\n  int64 amount = 1;\n}\n";
    let user = "syntax = \"proto3\";\npackage acme.user.v1;\nimport \"acme/money/v1/money.proto\";\n\
                message User {\n  acme.money.v1.Money total = 1;\n}\n";
    git(top, &["init", "--quiet"]);
    put(
        top,
        &[
            ("abide.toml", "roots = [\"proto\"]\nimport-paths = [\"shared\"]\n"),
            ("proto/acme/user/v1/user.proto", user),
            ("proto/acme/money/v1/money.proto", money),
        ],
    );
    git(top, &["add", "."]);
    git(top, &["commit", "--quiet", "-m", "first"]);
    fs::create_dir_all(top.join("shared/acme")).unwrap();
    git(top, &["mv", "proto/acme/money", "shared/acme/money"]);
    let gone =
        "the package `acme.money.v1` is no longer checked, because its files are only imported";
    let ran = abide(top, &["check", "--against", "git:HEAD"]);
    assert!(ran.status == 0 && ran.stderr.contains(gone), "{}", ran.stderr);
    git(top, &["commit", "--quiet", "-m", "moved"]);
    // The lock remembers it when the old tree does not.
    put(top, &[("shared/acme/money/v1/money.proto", &money.replace("int64", "string"))]);
    let ran = abide(top, &["check", "--against", "git:HEAD"]);
    assert!(!ran.stderr.contains(gone), "{}", ran.stderr);
    let changed = "the imported file `shared/acme/money/v1/money.proto` changed: what breaks in it is \
                   reported where checked files use it";
    assert!(ran.stderr.contains(changed), "{}", ran.stderr);
    for arguments in [&["--against", "git:HEAD"][..], &["--changed", "--against", "git:HEAD"]] {
        let arguments = [&["check", "--format", "json"], arguments].concat();
        let ran = abide(top, &arguments);
        assert_eq!((ran.status, ran.rules()), (1, vec!["imported-type-changed".to_owned()]));
        assert_eq!(ran.json().pop().unwrap()["required_bump"], "minor", "as `abide bump` has it");
    }
    git(top, &["mv", "shared/acme/money", "proto/acme/money"]);
    assert_eq!(abide(top, &["bump", "--write"]).status, 0);
    git(top, &["mv", "proto/acme/money", "shared/acme/money"]);
    let ran = abide(top, &["check"]);
    let said = format!("{gone}, and abide.lock still records it");
    assert!(ran.stderr.contains(&said), "{}", ran.stderr);
    // Of a part, everything else is only imported.
    let ran = abide(top, &["check", "proto/acme/user"]);
    assert!(!ran.stderr.contains("no longer checked"), "{}", ran.stderr);
}
