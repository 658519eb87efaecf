//! Symbolic links that lead out of a tree: what they lead to is neither read nor written.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::run::{Ran, abide, put, repository};

const SECRET: &str = "root:x:0:0:the-secret\n";

const USER: &str = "syntax = \"proto3\";\n\npackage acme.user.v1;\n\n\
    import \"abide/annotations/v1/status.proto\";\n\n\
    option (abide.annotations.v1.file_policy).package_version_status = PACKAGE_VERSION_STATUS_ACTIVE;\n\n\
    message User {\n  // Use `id`.\n  string name = 1 [deprecated = true];\n  string id = 2;\n}\n";

/// A tree that `upgrade` makes a candidate of, and beside it a folder with a secret.
fn tree() -> TempDir {
    let folder = TempDir::new().unwrap();
    let api = repository().join("api").display().to_string();
    let config = format!("import-paths = [{api:?}]\nrules.conversion-missing = \"off\"\n");
    put(
        folder.path(),
        &[
            ("tree/abide.toml", &config),
            ("tree/acme/user/v1/user.proto", USER),
            ("elsewhere/secret", SECRET),
            ("elsewhere/far.proto", "syntax = \"proto3\";\npackage acme.far.v1;\nmessage Far {}\n"),
        ],
    );
    folder
}

/// Fails if a part of the secret is shown.
fn silent(ran: Ran) -> Ran {
    let shown = ran.text() + &ran.stderr;
    assert!(!shown.contains("the-secret") && !shown.contains("root:"), "{shown}");
    ran
}

#[test]
fn what_a_link_out_of_the_tree_leads_to_is_not_read() {
    let folder = tree();
    let (top, secret) = (folder.path().join("tree"), folder.path().join("elsewhere/secret"));
    symlink(&secret, top.join("x.proto")).unwrap();
    for format in ["human", "json", "sarif", "junit", "github", "gitlab", "html", "markdown"] {
        let ran = silent(abide(&top, &["check", "--format", format]));
        assert_eq!(ran.status, 2);
        let leads = format!("it is a link to `{}`", secret.canonicalize().unwrap().display());
        assert!(ran.stderr.contains("cannot read `x.proto`") && ran.stderr.contains(&leads));
        assert!(ran.stderr.contains("--follow-links"), "{}", ran.stderr);
        assert!(format != "json" || ran.text().contains("\"files\":1"), "the rest is judged");
    }
    for args in [
        &["lint"][..],
        &["lint", "x.proto"],
        &["check", "x.proto"],
        &["breaking", "--against", "."],
        &["hash"],
        &["graph"],
        &["build", "-o", "-"],
        &["upgrade", "--diff"],
        &["release", "--diff"],
        &["bump"],
        &["deprecations"],
        &["owners"],
        &["calendar"],
    ] {
        let ran = silent(abide(&top, args));
        assert_eq!(ran.status, 2, "{args:?}: {}", ran.stderr);
    }
    // Alone, too, without a configuration around it.
    let other = folder.path().join("other");
    fs::create_dir(&other).unwrap();
    symlink(&secret, other.join("x.proto")).unwrap();
    let ran = silent(abide(&other, &["lint", "x.proto"]));
    assert!(ran.status == 2 && ran.stderr.contains("it is a link to"), "{}", ran.stderr);
}

#[test]
fn no_other_file_of_the_tree_leads_out_either() {
    for name in ["abide.toml", "abide.lock", "abide.accepted", "CODEOWNERS", "features.txt"] {
        let folder = tree();
        let top = folder.path().join("tree");
        let _ = fs::remove_file(top.join(name));
        symlink(folder.path().join("elsewhere/secret"), top.join(name)).unwrap();
        let ran = silent(abide(&top, &["check"]));
        let reads = name != "CODEOWNERS";
        assert!(!reads || ran.stderr.contains("it is a link to"), "{name}: {}", ran.stderr);
        let ran = silent(abide(&top, &["owners"]));
        assert_eq!(ran.status == 2, ["abide.toml", "CODEOWNERS"].contains(&name), "{name}");
    }
    // An import path in the tree is as hostile as the tree; one elsewhere is the user's.
    let folder = tree();
    let top = folder.path().join("tree");
    fs::create_dir(top.join("vendor")).unwrap();
    symlink(folder.path().join("elsewhere/secret"), top.join("vendor/x.proto")).unwrap();
    put(
        &top,
        &[("acme/a/v1/a.proto", "syntax = \"proto3\";\npackage acme.a.v1;\nimport \"x.proto\";\n")],
    );
    let ran = silent(abide(&top, &["check", "-I", "vendor"]));
    assert!(ran.status == 2 && ran.stderr.contains("it is a link to"), "{}", ran.stderr);
}

#[test]
fn links_that_the_user_names_are_followed() {
    let folder = tree();
    let top = folder.path().join("tree");
    symlink("acme/user/v1/user.proto", top.join("near.proto")).unwrap();
    symlink("../elsewhere/far.proto", top.join("far.proto")).unwrap();
    let rules = |ran: &Ran| ran.json().last().unwrap()["files"].as_u64();
    let ran = abide(&top, &["lint", "--format", "json"]);
    assert_eq!((ran.status, rules(&ran)), (2, Some(2)), "{}", ran.stderr);
    let allowed = ["lint", "--format", "json", "--follow-links", "../elsewhere"];
    assert_eq!(rules(&abide(&top, &allowed)), Some(3));
    // An import path is the user's, and so is where its links lead, as in the stores of Nix.
    symlink("elsewhere", folder.path().join("imports")).unwrap();
    fs::create_dir(folder.path().join("store")).unwrap();
    symlink("../imports/far.proto", folder.path().join("store/store.proto")).unwrap();
    fs::remove_file(top.join("far.proto")).unwrap();
    put(
        &top,
        &[(
            "acme/b/v1/b.proto",
            "syntax = \"proto3\";\npackage acme.b.v1;\n\
        import \"store.proto\";\nmessage B {\n  acme.far.v1.Far far = 1;\n}\n",
        )],
    );
    let found = |args: &[&str]| {
        let ran = abide(&top, &[&["lint", "--format", "json"], args].concat());
        !ran.rules().iter().any(|rule| rule == "import-not-found")
    };
    assert!(!found(&[]) && found(&["-I", "../store"]));
    // The tree, too, may be named through a link.
    symlink("tree", folder.path().join("alias")).unwrap();
    assert_eq!(abide(folder.path(), &["lint", "alias", "-I", "store"]).status, 1);
    // In a repository, links lead as far as those of a revision: to anything but git's own files.
    fs::rename(folder.path().join("elsewhere/far.proto"), top.join("acme/b/v1/far.proto")).unwrap();
    let git = Command::new("git").args(["init", "-q"]).current_dir(folder.path()).status();
    assert!(git.unwrap().success());
    symlink("../elsewhere/secret", top.join("in.proto")).unwrap();
    symlink("../.git/config", top.join("git.proto")).unwrap();
    let ran = abide(&top, &["lint"]);
    assert!(ran.text().contains("the-secret") && !ran.text().contains("[core]"), "{}", ran.text());
    assert!(ran.stderr.contains("cannot read `git.proto`: it is a link to"), "{}", ran.stderr);
}

/// All files below a folder, with what they hold.
fn all(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_symlink() {
            continue;
        }
        match path.is_dir() {
            true => files.extend(all(&path)),
            false => files.push((path.display().to_string(), fs::read(&path).unwrap())),
        }
    }
    files.sort();
    files
}

#[test]
fn nothing_is_written_through_a_link_that_leads_out() {
    let candidate = "acme/user/v2alpha/user.proto";
    // A folder on the way, the file itself, and a file that does not exist yet.
    for (link, target) in [
        ("acme/user/v2alpha", "elsewhere"),
        (candidate, "elsewhere/secret"),
        (candidate, "elsewhere/new.proto"),
        ("acme/user", "elsewhere"),
    ] {
        for write in [true, false] {
            let folder = tree();
            let top = folder.path().join("tree");
            let out = if write { top.clone() } else { folder.path().join("out") };
            let at = out.join(link);
            if write && link == "acme/user" {
                continue;
            }
            fs::create_dir_all(at.parent().unwrap()).unwrap();
            symlink(folder.path().join(target), &at).unwrap();
            let before = all(folder.path());
            let args: &[&str] = if write { &["--write"] } else { &["--out", "../out"] };
            for overwrite in [&[][..], &["--overwrite"]] {
                let ran = silent(abide(&top, &[&["upgrade"], args, overwrite].concat()));
                assert_eq!(ran.status, 2, "{link}: {}", ran.stderr);
                // A link that is a file of the tree is met when the tree is read.
                let is_read = write && link == candidate;
                let told = if is_read { "cannot read" } else { "is a link to" };
                assert!(ran.stderr.contains(told), "{}", ran.stderr);
                assert!(ran.stderr.contains(&format!("`{link}`")) || is_read, "{}", ran.stderr);
            }
            assert_eq!(all(folder.path()), before, "{link}");
        }
    }
    for (name, args) in [
        ("abide.lock", &["bump", "--write"][..]),
        ("abide.lock", &["upgrade", "--write"]),
        ("abide.lock", &["release", "--write"]),
        ("abide.accepted", &["check", "--accept"]),
        ("DEPRECATED.md", &["deprecations", "--write", "--overwrite"]),
    ] {
        let folder = tree();
        let top = folder.path().join("tree");
        symlink(folder.path().join("elsewhere/new"), top.join(name)).unwrap();
        let before = all(folder.path());
        let ran = silent(abide(&top, args));
        assert_eq!(ran.status, 2, "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("is a link to"), "{args:?}: {}", ran.stderr);
        assert_eq!(all(folder.path()), before, "{args:?}");
    }
    // A link that stays inside is written through.
    let folder = tree();
    let top = folder.path().join("tree");
    fs::create_dir_all(top.join("made")).unwrap();
    symlink("../../made", top.join("acme/user/v2alpha")).unwrap();
    let ran = abide(&top, &["upgrade", "--write"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(top.join("made/user.proto").is_file() && top.join("acme/user/v2alpha").is_symlink());
}

/// A linked folder is no part of the tree; the folder that its import paths count from can be.
#[test]
fn a_linked_folder_is_told_with_the_folder_that_its_import_paths_count_from() {
    let folder = TempDir::new().unwrap();
    let top = folder.path();
    fs::create_dir(top.join(".git")).unwrap();
    let ext = "syntax = \"proto3\";\npackage acme.ext.v1;\nmessage Ext { string name = 1; }\n";
    let user = "syntax = \"proto3\";\npackage acme.user.v1;\nimport \"acme/ext/v1/ext.proto\";\n\
                message User { acme.ext.v1.Ext e = 1; }\n";
    put(
        top,
        &[
            ("proto/acme/user/v1/user.proto", user),
            ("third/sub/acme/ext/v1/ext.proto", ext),
            ("out/made.txt", ""),
            ("flat/x.proto", "syntax = \"proto3\";\npackage other.v1;\n"),
        ],
    );
    symlink("../../third/sub/acme/ext", top.join("proto/acme/ext")).unwrap();
    symlink("../out", top.join("proto/out")).unwrap();
    let note = |config: &str| {
        put(top, &[("abide.toml", config)]);
        let ran = abide(top, &["lint"]);
        (ran.status, ran.stderr)
    };
    let (status, said) = note("roots = [\"proto\"]\n");
    let advice = "note: the linked folder `proto/acme/ext` was not entered: list `third/sub`, which its \
                  import paths count from, in `roots` to check it, or in `import-paths`\n";
    assert_eq!((status, said.as_str()), (1, advice));
    // Either helps, and ends the note. Of a folder without protos nothing is said.
    for config in [
        "roots = [\"proto\", \"third/sub\"]\n",
        "roots = [\"proto\"]\nimport-paths = [\"third/sub\"]\n",
    ] {
        assert_eq!(note(config), (0, String::new()), "{config}");
    }
    symlink("../flat", top.join("proto/other")).unwrap();
    let (_, said) = note("roots = [\"proto\"]\nimport-paths = [\"third/sub\"]\n");
    assert!(said.contains("list the folder that its import paths count from in `roots`"), "{said}");
    // What is outside of the folder of the configuration can be a root by its link.
    put(top, &[("app/a/v1/a.proto", "syntax = \"proto3\";\npackage a.v1;\n")]);
    symlink("../third/sub", top.join("app/linked")).unwrap();
    let app = top.join("app");
    let note = |config: &str| {
        put(&app, &[("abide.toml", config)]);
        let ran = abide(&app, &["lint"]);
        (ran.status, ran.stderr)
    };
    let (_, said) = note("");
    assert!(
        said.contains("the linked folder `linked` was not entered: list `linked`, which"),
        "{said}"
    );
    assert_eq!(note("roots = [\".\", \"linked\"]\n"), (0, String::new()));
}
