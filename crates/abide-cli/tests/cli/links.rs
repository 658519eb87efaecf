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

/// What only a file of the tree names: the folder of `abide.toml` that a link leads out of.
const CONFIGURED: [(&str, &str); 6] = [
    ("roots = [\"proto\", \"third\"]\n", "the root `third` is not read"),
    ("roots = [\"proto\", \"third/a\"]\n", "the root `third/a` is not read"),
    ("roots = [\"proto\"]\nimport-paths = [\"third\"]\n", "the import path `third` is not read"),
    (
        "roots = [\"proto\"]\nimport-paths = [\"third/a\"]\n",
        "the import path `third/a` is not read",
    ),
    ("roots = [\"proto\"]\nagainst = \"third\"\n", "cannot read `third`, which `against` names"),
    (
        "roots = [\"proto\"]\n[api.far]\nsource = \"third\"\n[[instances]]\nfiles = [\"x.yaml\"]\n",
        "cannot read `third`, which `[api.far] source` names",
    ),
];

#[test]
fn a_folder_that_the_tree_turns_into_a_link_is_not_read() {
    for in_repository in [false, true] {
        for (config, said) in CONFIGURED {
            let folder = TempDir::new().unwrap();
            let top = folder.path().join("tree");
            let user = "syntax = \"proto3\";\npackage acme.user.v1;\nimport \".netrc\";\nimport \
                        \"x.proto\";\nmessage User {}\n";
            put(
                folder.path(),
                &[
                    ("tree/abide.toml", config),
                    ("tree/x.yaml", "{}\n"),
                    ("tree/proto/acme/user/v1/user.proto", user),
                    ("home/.netrc", SECRET),
                    ("home/a/.netrc", SECRET),
                    ("home/x.proto", SECRET),
                    ("home/a/x.proto", SECRET),
                ],
            );
            symlink("../home", top.join("third")).unwrap();
            if in_repository {
                crate::history::git(&top, &["init", "--quiet"]);
                crate::history::git(&top, &["add", "."]);
                crate::history::git(&top, &["commit", "--quiet", "-m", "first"]);
            }
            let ran = silent(abide(&top, &["check"]));
            assert_eq!(ran.status, 2, "{config}{}{}", ran.text(), ran.stderr);
            assert!(ran.stderr.contains(said), "{config}{}", ran.stderr);
            assert!(ran.stderr.contains("`--follow-links "), "{config}{}", ran.stderr);
            // Who names the folder is shown what is there.
            let home = folder.path().join("home").display().to_string();
            let ran = abide(&top, &["check", "--follow-links", &home]);
            assert!(!ran.stderr.contains(said), "{config}{}", ran.stderr);
            if in_repository && config.contains("import-paths") {
                let ran = silent(abide(&top, &["check", "git:HEAD"]));
                assert_eq!(ran.status, 2, "{config}{}", ran.stderr);
                // The link is only in the revision.
                fs::remove_file(top.join("third")).unwrap();
                put(&top, &[("third/x.proto", ""), ("third/a/x.proto", "")]);
                for args in [&["check", "git:HEAD"][..], &["check", "--against", "git:HEAD"]] {
                    let ran = abide(&top, args);
                    let said = "is not read: it links to a place outside the repository";
                    assert!(ran.status == 2 && ran.stderr.contains(said), "{}", ran.stderr);
                }
                let ran = abide(&top, &["check", "--against", "git:HEAD", "-I", "third"]);
                assert!(ran.status < 2, "{}", ran.stderr);
            }
        }
    }
}

#[test]
fn a_linked_folder_inside_the_repository_is_read_and_one_that_is_written_out_is_too() {
    let folder = TempDir::new().unwrap();
    let top = folder.path().join("tree");
    let user = "syntax = \"proto3\";\npackage acme.user.v1;\nimport \"acme/far/v1/far.proto\";\n\
                message User { acme.far.v1.Far far = 1; }\n";
    let far = "syntax = \"proto3\";\npackage acme.far.v1;\nmessage Far {}\n";
    put(
        folder.path(),
        &[
            ("tree/proto/acme/user/v1/user.proto", user),
            ("tree/deep/far/acme/far/v1/far.proto", far),
            ("other/acme/far/v1/far.proto", far),
        ],
    );
    symlink("deep/far", top.join("third")).unwrap();
    for path in ["third", "../other"] {
        put(
            &top,
            &[("abide.toml", &format!("roots = [\"proto\"]\nimport-paths = [\"{path}\"]\n"))],
        );
        let ran = abide(&top, &["lint"]);
        assert_eq!(ran.status, 0, "{path}: {}{}", ran.text(), ran.stderr);
    }
}

#[test]
fn what_git_keeps_for_itself_is_no_text_of_a_tree() {
    let folder = TempDir::new().unwrap();
    let top = folder.path();
    let user = "syntax = \"proto3\";\npackage acme.user.v1;\nimport \".git/config\";\nimport \
                \".GIT/config\";\n";
    put(
        top,
        &[
            ("tree/proto/acme/user/v1/user.proto", user),
            ("tree/.git/config", SECRET),
            ("other/.git/config", SECRET),
        ],
    );
    let tree = top.join("tree");
    for config in ["", "import-paths = [\".\"]\n", "import-paths = [\"../other\"]\n"] {
        put(&tree, &[("abide.toml", &format!("roots = [\"proto\"]\n{config}"))]);
        for args in [&["check"][..], &["check", "-I", "../other"], &["check", "-I", "."]] {
            let ran = silent(abide(&tree, args));
            let is_told = ran.text().contains("import-not-found") || ran.status == 2;
            assert!(is_told, "{config} {args:?}: {}{}", ran.text(), ran.stderr);
        }
    }
    for config in ["roots = [\".git\"]\n", "roots = [\"proto\"]\nimport-paths = [\".git\"]\n"] {
        put(&tree, &[("abide.toml", config)]);
        let ran = silent(abide(&tree, &["check"]));
        assert!(ran.status == 2 && ran.stderr.contains("git keeps for itself"), "{}", ran.stderr);
    }
}

/// Every file beside the protos that a tree may hold, and that Abide reads.
const BESIDE: [&str; 7] = [
    "abide.toml",
    "abide.lock",
    "abide.accepted",
    "features.txt",
    ".gitignore",
    ".ignore",
    "CODEOWNERS",
];

#[test]
fn no_file_beside_the_protos_holds_up_a_run() {
    for name in BESIDE {
        for kind in ["device", "pipe", "huge"] {
            let folder = tree();
            let top = folder.path().join("tree");
            fs::create_dir(top.join(".git")).unwrap();
            let at = top.join(name);
            let _ = fs::remove_file(&at);
            match kind {
                "device" => symlink("/dev/zero", &at).unwrap(),
                "pipe" => {
                    let made = Command::new("mkfifo").arg(&at).status().unwrap();
                    assert!(made.success());
                }
                _ => fs::File::create(&at).unwrap().set_len(1 << 30).unwrap(),
            }
            let command = if name == "CODEOWNERS" { "owners" } else { "check" };
            let ran = abide(&top, &[command]);
            assert_eq!(ran.status, 2, "{name} {kind}: {}{}", ran.text(), ran.stderr);
            let said = match kind {
                "device" => "it is a link to `/dev/zero`",
                "pipe" => "it is not a regular file",
                _ => "it is larger than 16 MiB",
            };
            assert!(ran.stderr.contains(said), "{name} {kind}: {}", ran.stderr);
        }
    }
}

/// As in a tree of a stranger whose instances are judged.
#[test]
fn no_ignore_file_holds_up_a_run_that_looks_for_instances() {
    let folder = tree();
    let top = folder.path().join("tree");
    put(
        &top,
        &[
            ("abide.toml", "[[instances]]\nfiles = [\"i/*.yaml\"]\ntype = \"acme.user.v1.User\"\n"),
            ("i/x.yaml", "id: a\n"),
        ],
    );
    symlink("/dev/zero", top.join("i/.gitignore")).unwrap();
    let named = ["config", "check", "i", "--type", "acme.user.v1.User"];
    for args in [&["config", "check"][..], &named] {
        let ran = abide(&top, args);
        let said = "it is a link to `/dev/zero`";
        assert!(ran.status == 2 && ran.stderr.contains(said), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn the_configuration_of_a_repository_is_in_it() {
    let folder = TempDir::new().unwrap();
    let user = "syntax = \"proto3\";\npackage acme.user.v1;\nmessage User { bytes mail = 2; }\n";
    put(
        folder.path(),
        &[
            ("abide.toml", "no configuration"),
            ("tree/proto/acme/user/v1/user.proto", user),
            ("tree/.git/HEAD", ""),
        ],
    );
    let ran = abide(&folder.path().join("tree/proto"), &["lint"]);
    assert_eq!(ran.status, 0, "{}{}", ran.text(), ran.stderr);
    // Without a repository, it may be in any folder above.
    fs::remove_dir_all(folder.path().join("tree/.git")).unwrap();
    let ran = abide(&folder.path().join("tree/proto"), &["lint"]);
    assert!(ran.status == 2 && ran.stderr.contains("abide.toml"), "{}", ran.stderr);
}

#[test]
fn an_archive_is_judged_by_the_configuration_inside() {
    let folder = TempDir::new().unwrap();
    let user = |ty: &str| {
        let text = "syntax = \"proto3\";\npackage acme.user.v1;\nmessage User { TYPE mail = 2; }\n";
        text.replace("TYPE", ty)
    };
    let off = "[rules]\ncompatibility = \"off\"\n";
    put(
        folder.path(),
        &[
            ("old/abide.toml", "roots = [\"proto\"]\n"),
            ("old/proto/acme/user/v1/user.proto", &user("string")),
            ("new/abide.toml", "roots = [\"proto\"]\n"),
            ("new/proto/acme/user/v1/user.proto", &user("bytes")),
            ("tmp/abide.toml", off),
        ],
    );
    let tmp = folder.path().join("tmp");
    let pack = |side: &str, config: &str| {
        put(folder.path(), &[(&format!("{side}/abide.toml"), config)]);
        let mut tar = Command::new("tar");
        tar.args(["-cf", &format!("tmp/{side}.tar"), "-C", side, "."]).current_dir(folder.path());
        assert!(tar.status().unwrap().success());
    };
    pack("old", "roots = [\"proto\"]\n");
    pack("new", "roots = [\"proto\"]\n");
    let args = ["check", "new.tar", "--against", "old.tar", "--format", "json"];
    // Neither beside the archive nor in the current folder.
    assert_eq!(abide(&tmp, &args).rules(), ["field-type-changed"]);
    let ran = abide(folder.path(), &["check", "tmp/new.tar", "--against", "tmp/old.tar"]);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    // What is inside counts, and so does what the user names.
    pack("new", &format!("roots = [\"proto\"]\n{off}"));
    assert_eq!(abide(&tmp, &args).status, 0);
    pack("new", "roots = [\"proto\"]\n");
    let named = [&args[..], &["--config", "abide.toml"]].concat();
    assert!(!abide(&tmp, &named).rules().contains(&"field-type-changed".to_owned()));
    // It leads nowhere on disk.
    pack("new", "roots = [\"proto\"]\nimport-paths = [\"../old\"]\n");
    let ran = abide(&tmp, &args);
    assert!(ran.status == 2 && ran.stderr.contains("outside of the archive"), "{}", ran.stderr);
    // A set is judged by the project of the current folder, and not by what is beside it.
    for side in ["old", "new"] {
        let proto = format!("{side}/proto");
        let ran = abide(folder.path(), &["build", &proto, "-o", &format!("tmp/{side}.binpb")]);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
    }
    let ran = abide(folder.path(), &["check", "tmp/new.binpb", "--against", "tmp/old.binpb"]);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
}
