//! Imports that come from others: found on the disk, brought by git, and listed.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::history::git;
use crate::run::{Ran, abide, put};

const HTTP: &str =
    "syntax = \"proto3\";\npackage google.api;\nmessage Http {\n  string get = 1;\n}\n";
const USER: &str = "syntax = \"proto3\";\npackage acme.user.v1;\nimport \"google/api/http.proto\";\n\
                    message User {\n  google.api.Http http = 1;\n}\n";
const MONEY: &str =
    "syntax = \"proto3\";\npackage acme.money.v1;\nmessage Money {\n  int64 units = 1;\n}\n";
const ORDER: &str = "syntax = \"proto3\";\npackage acme.order.v1;\nimport \"acme/money/v1/money.proto\";\n\
                     message Order {\n  acme.money.v1.Money total = 1;\n}\n";

/// Runs `abide` with caches of other tools in a folder, and with nothing of this machine.
fn abide_at(folder: &Path, home: &Path, args: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_abide"));
    for name in
        ["BUF_CACHE_DIR", "XDG_CACHE_HOME", "GOMODCACHE", "GOPATH", "CARGO_HOME", "VIRTUAL_ENV"]
    {
        command.env_remove(name);
    }
    let output = command.args(args).current_dir(folder).env("HOME", home).output();
    let output = output.expect("the binary starts");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!stderr.contains("panicked"), "{stderr}");
    Ran { status: output.status.code().expect("it ends"), stdout: output.stdout, stderr }
}

fn commit(folder: &Path, subject: &str) {
    git(folder, &["add", "--all"]);
    git(folder, &["commit", "--quiet", "-m", subject]);
}

/// A repository of others with `acme/money/v1/money.proto` in its folder `proto`.
fn upstream() -> TempDir {
    let folder = TempDir::new().unwrap();
    git(folder.path(), &["init", "--quiet"]);
    put(
        folder.path(),
        &[
            ("proto/acme/money/v1/money.proto", MONEY),
            ("proto/README.md", "not a proto"),
            ("LICENSE", "terms"),
        ],
    );
    commit(folder.path(), "first");
    folder
}

/// A tree that imports from a repository.
fn tree_on(upstream: &Path) -> TempDir {
    let folder = TempDir::new().unwrap();
    let config = format!(
        "# Kept.\npreset = \"standard\"\n\n[[dependency]]\nname = \"money\"\ngit = \"file://{}\"\n\
         subdir = \"proto\"\n",
        upstream.display()
    );
    put(folder.path(), &[("abide.toml", &config), ("acme/order/v1/order.proto", ORDER)]);
    folder
}

#[test]
fn a_repository_is_brought_checked_restored_and_updated() {
    let upstream = upstream();
    let tree = tree_on(upstream.path());
    let top = tree.path();
    let ran = abide(top, &["check"]);
    assert!(ran.status == 1 && ran.stderr.contains("`abide deps vendor`"), "{}", ran.stderr);
    assert_eq!(abide(top, &["deps", "check"]).status, 1);

    let ran = abide(top, &["deps", "vendor"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.text().contains("1 proto in .abide/deps/money"), "{}", ran.text());
    let brought = top.join(".abide/deps/money");
    assert_eq!(std::fs::read_to_string(brought.join("LICENSE")).unwrap(), "terms");
    assert!(!brought.join("README.md").exists());
    let commit_id = git(upstream.path(), &["rev-parse", "HEAD"]).trim().to_owned();
    let lock = std::fs::read_to_string(top.join("abide.lock")).unwrap();
    assert!(lock.contains(&format!("dependency money {commit_id} sha256:")), "{lock}");
    assert_eq!(abide(top, &["check"]).status, 0);
    let ran = abide(top, &["deps", "check"]);
    assert_eq!((ran.status, ran.text().as_str()), (0, ""));

    let listed = abide(top, &["deps", "list", "--format", "json"]).json();
    assert_eq!(listed[0]["version"], commit_id.as_str());
    let import = listed.iter().find(|it| it["path"] == "acme/money/v1/money.proto").unwrap();
    assert_eq!(import["dependency"], "money");
    assert_eq!(import["file"], ".abide/deps/money/acme/money/v1/money.proto");

    // What somebody edits is noticed and restored.
    put(&brought, &[("acme/money/v1/money.proto", &MONEY.replace("units", "cents"))]);
    let ran = abide(top, &["deps", "check"]);
    assert!(ran.status == 1 && ran.text().contains("was edited after it was brought"));
    assert_eq!(abide(top, &["deps", "vendor"]).status, 0);
    assert_eq!(abide(top, &["deps", "check"]).status, 0);

    // A newer commit comes with `update` alone.
    put(upstream.path(), &[("proto/acme/money/v1/more.proto", "syntax = \"proto3\";\n")]);
    commit(upstream.path(), "second");
    let ran = abide(top, &["deps", "vendor"]);
    assert_eq!(ran.text(), "every dependency is here\n");
    assert!(!brought.join("acme/money/v1/more.proto").exists());
    let ran = abide(top, &["deps", "update", "money"]);
    assert!(ran.text().contains(" -> "), "{}{}", ran.text(), ran.stderr);
    assert!(brought.join("acme/money/v1/more.proto").exists());
    assert!(abide(top, &["deps", "update"]).text().contains("money is up to date"));

    // Without its table a dependency goes.
    put(top, &[("abide.toml", "preset = \"standard\"\n")]);
    let ran = abide(top, &["deps", "check"]);
    assert!(ran.text().contains("not in abide.toml"), "{}", ran.text());
    assert_eq!(abide(top, &["deps", "vendor"]).status, 0);
    assert!(!top.join(".abide").exists());
    assert!(!std::fs::read_to_string(top.join("abide.lock")).unwrap().contains("dependency"));
}

#[test]
fn dependencies_are_kept_in_a_folder_of_choice() {
    let upstream = upstream();
    let tree = tree_on(upstream.path());
    let ran = abide(tree.path(), &["deps", "vendor", "--into", "third_party"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(tree.path().join("third_party/money/acme/money/v1/money.proto").is_file());
    let config = std::fs::read_to_string(tree.path().join("abide.toml")).unwrap();
    assert!(
        config.starts_with("# Kept.\npreset = \"standard\"\ndependency-folder = \"third_party\"\n")
    );
    let ran = abide(tree.path(), &["check", "--format", "json"]);
    assert_eq!(ran.json().last().unwrap()["files"], 1, "what others wrote is not judged");
    assert_eq!(abide(tree.path(), &["deps", "vendor", "--into", "../up"]).status, 2);
}

#[test]
fn what_cannot_be_brought_leaves_what_was_there() {
    let upstream = upstream();
    let tree = tree_on(upstream.path());
    assert_eq!(abide(tree.path(), &["deps", "vendor"]).status, 0);
    let lock = std::fs::read(tree.path().join("abide.lock")).unwrap();
    let config = std::fs::read_to_string(tree.path().join("abide.toml")).unwrap();
    for (wrong, said) in [
        (config.replace("subdir = \"proto\"", "subdir = \"protos\""), ""),
        (config.replace("subdir", "rev = \"v9\"\nsubdir"), "has no revision `v9`"),
        (config.replace("file://", "file:///nowhere"), "cannot bring the dependency `money`"),
    ] {
        put(tree.path(), &[("abide.toml", &wrong)]);
        let ran = abide(tree.path(), &["deps", "update"]);
        if !said.is_empty() {
            assert!(ran.status == 2 && ran.stderr.contains(said), "{said}: {}", ran.stderr);
        }
        assert!(tree.path().join(".abide/deps/money/acme/money/v1/money.proto").is_file());
        assert_eq!(std::fs::read(tree.path().join("abide.lock")).unwrap(), lock);
    }
}

#[test]
fn a_change_of_a_dependency_is_reported_where_it_is_used() {
    let upstream = upstream();
    let tree = tree_on(upstream.path());
    let top = tree.path();
    git(top, &["init", "--quiet"]);
    assert_eq!(abide(top, &["deps", "vendor"]).status, 0);
    commit(top, "with money");
    put(
        upstream.path(),
        &[("proto/acme/money/v1/money.proto", &MONEY.replace("int64 units", "string units"))],
    );
    commit(upstream.path(), "broken");
    assert_eq!(abide(top, &["deps", "update"]).status, 0);
    let ran = abide(top, &["check", "--against", "git:HEAD", "--format", "json"]);
    assert!(ran.rules().contains(&"imported-type-changed".to_owned()), "{}", ran.text());
    let finding = &ran.json()[0];
    assert_eq!((ran.status, &finding["path"]), (1, &"acme/order/v1/order.proto".into()));
}

#[test]
fn an_error_in_a_dependency_table_has_a_place_and_a_remedy() {
    for (table, said) in [
        ("name = \"a\"", "a dependency needs `git` or `from`"),
        ("name = \"a\"\ngit = \"x\"\nfrom = \"go:x\"", "has `git` or `from`, not both"),
        ("name = \"../a\"\ngit = \"x\"", "is not the name of a dependency"),
        ("name = \"a\"\ngit = \"--upload-pack=x\"", "is not the URL of a repository"),
        ("name = \"a\"\ngit = \"x\"\nsubdir = \"../b\"", "leads out of its folder"),
        ("name = \"a\"\nfrom = \"pyton:b\"", "did you mean `python`?"),
        ("name = \"a\"\nfrom = \"go:../b\"", "does not name a package"),
        ("name = \"a\"\ngit = \"x\"\nref = \"b\"", "unknown key `ref`"),
        ("name = \"a\"\ngit = \"x\"\nrev = \"-x\"", "is not a revision"),
    ] {
        let folder = TempDir::new().unwrap();
        put(folder.path(), &[("abide.toml", &format!("[[dependency]]\n{table}\n"))]);
        let ran = abide(folder.path(), &["check"]);
        assert!(ran.status == 2 && ran.stderr.contains(said), "{table}: {}", ran.stderr);
        assert!(ran.stderr.contains("abide.toml:"), "{}", ran.stderr);
    }
}

/// A place of a package on disk, and what a tree has to want it.
struct Layout {
    name: &'static str,
    /// The files of other tools in the tree.
    tree: &'static [(&'static str, &'static str)],
    /// The files of the home of the user.
    home: Vec<(String, String)>,
    /// What `from` is.
    from: &'static str,
    version: &'static str,
}

fn layouts() -> Vec<Layout> {
    const COMMIT: &str = "28151c0d0a1641bf938a7672c500e01d";
    const LOCK: &str = "version: v1\ndeps:\n  - remote: buf.build\n    owner: googleapis\n    \
                        repository: googleapis\n    commit: 28151c0d0a1641bf938a7672c500e01d\n";
    const LOCK_2: &str = "version: v2\ndeps:\n  - name: buf.build/googleapis/googleapis\n    commit: \
                          28151c0d0a1641bf938a7672c500e01d\n    digest: b5:00\n";
    let file = |path: &str| vec![(path.to_owned(), HTTP.to_owned())];
    let buf = |name, tree, path: &str| Layout {
        name,
        tree,
        home: file(&format!(".cache/buf/{path}/google/api/http.proto")),
        from: "buf.build/googleapis/googleapis",
        version: COMMIT,
    };
    let module = "buf.build/googleapis/googleapis";
    vec![
        buf("buf 3", &[("buf.lock", LOCK_2)], &format!("v3/modules/b5/{module}/{COMMIT}/files")),
        buf("buf 1", &[("buf.lock", LOCK)], &format!("v1/module/data/{module}/{COMMIT}")),
        Layout {
            name: "buf 2",
            tree: &[("buf.lock", LOCK)],
            home: vec![
                (format!(".cache/buf/v2/module/{module}/commits/{COMMIT}"), "shake256:aa11".into()),
                (
                    format!(".cache/buf/v2/module/{module}/blobs/aa/11"),
                    "shake256:bb22  google/api/http.proto\nshake256:cc33  README.md\n".into(),
                ),
                (format!(".cache/buf/v2/module/{module}/blobs/bb/22"), HTTP.into()),
            ],
            from: module,
            version: COMMIT,
        },
        Layout {
            name: "go cache",
            tree: &[("go.mod", "module acme\n\nrequire example.com/Apis v1.2.0\n")],
            home: file("go/pkg/mod/example.com/!apis@v1.2.0/third_party/google/api/http.proto"),
            from: "go:example.com/Apis",
            version: "v1.2.0",
        },
        Layout {
            name: "go vendor",
            tree: &[
                ("go.mod", "module acme\n\nrequire (\n\texample.com/apis v1.3.0 // indirect\n)\n"),
                ("vendor/example.com/apis/proto/google/api/http.proto", HTTP),
            ],
            home: Vec::new(),
            from: "",
            version: "",
        },
        Layout {
            name: "cargo",
            tree: &[(
                "Cargo.lock",
                "[[package]]\nname = \"apis\"\nversion = \"0.7.1\"\nsource = \"registry+x\"\n",
            )],
            home: file(".cargo/registry/src/index-1/apis-0.7.1/protos/google/api/http.proto"),
            from: "cargo:apis",
            version: "0.7.1",
        },
        Layout {
            name: "python",
            tree: &[
                (".venv/pyvenv.cfg", "home = /usr/bin\n"),
                (".venv/lib/python3.12/site-packages/google/api/http.proto", HTTP),
                (
                    ".venv/lib/python3.12/site-packages/googleapis_common_protos-1.63.0.dist-info/RECORD",
                    "google/api/http.proto,sha256=x,1\ngoogle/api/http_pb2.py,,\n../../escape.proto,,\n",
                ),
            ],
            home: Vec::new(),
            from: "python:googleapis-common-protos",
            version: "1.63.0",
        },
        Layout {
            name: "npm",
            tree: &[
                ("node_modules/@acme/apis/package.json", "{\"version\":\"4.2.0\"}"),
                ("node_modules/@acme/apis/build/protos/google/api/http.proto", HTTP),
            ],
            home: Vec::new(),
            from: "npm:@acme/apis",
            version: "4.2.0",
        },
    ]
}

#[test]
fn what_other_tools_brought_is_found_written_down_and_linked() {
    for Layout { name, tree, home, from, version } in layouts() {
        let (top, at_home) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        put(top.path(), &[("proto/acme/user/v1/user.proto", USER)]);
        put(top.path(), tree);
        for (path, text) in &home {
            put(at_home.path(), &[(path, text)]);
        }
        let ran = abide_at(top.path(), at_home.path(), &["init"]);
        assert_eq!(ran.status, 0, "{name}: {}", ran.stderr);
        let config = std::fs::read_to_string(top.path().join("abide.toml")).unwrap();
        assert!(!config.contains(at_home.path().to_str().unwrap()), "{name}: {config}");
        let ran = abide_at(top.path(), at_home.path(), &["check", "--select", "import-not-found"]);
        assert_eq!(ran.status, 0, "{name}: {config}\n{}{}", ran.text(), ran.stderr);
        if from.is_empty() {
            continue;
        }
        assert!(config.contains(&format!("from = \"{from}\"")), "{name}: {config}");
        let ran = abide_at(top.path(), at_home.path(), &["deps", "list", "--format", "json"]);
        let listed = ran.json();
        assert_eq!((&listed[0]["from"], &listed[0]["version"]), (&from.into(), &version.into()));
        let import = listed.iter().find(|it| it["path"] == "google/api/http.proto").unwrap();
        assert_eq!(import["from"], from, "{name}");
        // Without its table nothing is read.
        let bare = config.split("\n[[dependency]]").next().unwrap();
        put(top.path(), &[("abide.toml", bare)]);
        let ran = abide_at(top.path(), at_home.path(), &["check", "--select", "import-not-found"]);
        assert_eq!(ran.status, 1, "{name}: {}", ran.text());
    }
}

#[test]
fn repositories_of_bazel_are_found() {
    let (top, base) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    put(
        base.path(),
        &[
            ("DO_NOT_BUILD_HERE", ""),
            ("execroot/_main/bazel-out/x", ""),
            ("external/googleapis+/google/api/http.proto", HTTP),
        ],
    );
    let module = "bazel_dep(name = \"googleapis\", version = \"0.0.0-2024\")\n";
    put(top.path(), &[("acme/user/v1/user.proto", USER), ("MODULE.bazel", module)]);
    let out = base.path().join("execroot/_main/bazel-out");
    std::os::unix::fs::symlink(out, top.path().join("bazel-out")).unwrap();
    let ran = abide_at(top.path(), base.path(), &["init"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let ran = abide_at(top.path(), base.path(), &["check"]);
    assert_eq!(ran.status, 0, "{}{}", ran.text(), ran.stderr);
    let listed = abide_at(top.path(), base.path(), &["deps", "list", "--format", "json"]).json();
    assert_eq!(listed[0]["from"], "bazel:googleapis");
    assert_eq!(listed[0]["version"], "0.0.0-2024");
}

#[test]
fn go_imports_count_from_the_name_of_their_module() {
    let (top, home) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let user = USER.replace("google/api/", "example.com/apis/google/api/");
    put(
        top.path(),
        &[
            ("proto/acme/user/v1/user.proto", &user),
            ("go.mod", "module acme\nrequire example.com/apis v0.1.0\n"),
        ],
    );
    put(home.path(), &[("go/pkg/mod/example.com/apis@v0.1.0/google/api/http.proto", HTTP)]);
    assert_eq!(abide_at(top.path(), home.path(), &["init"]).status, 0);
    let config = std::fs::read_to_string(top.path().join("abide.toml")).unwrap();
    assert!(config.contains("import-prefix = \"example.com/apis\""), "{config}");
    let ran = abide_at(top.path(), home.path(), &["check"]);
    assert_eq!(ran.status, 0, "{}{}", ran.text(), ran.stderr);
}

#[test]
fn the_modules_of_a_buf_yaml_become_dependencies() {
    let (top, home) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    put(
        top.path(),
        &[
            ("proto/acme/user/v1/user.proto", USER),
            (
                "buf.yaml",
                "version: v2\nmodules:\n  - path: proto\ndeps:\n  - buf.build/googleapis/googleapis\n  \
                 - buf.build/acme/private\n",
            ),
        ],
    );
    let ran = abide_at(top.path(), home.path(), &["init", "--from", "buf.yaml"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let config = std::fs::read_to_string(top.path().join("abide.toml")).unwrap();
    assert!(config.contains("name = \"googleapis\"\nfrom = \"buf.build/googleapis/googleapis\""));
    assert!(config.contains("from = \"buf.build/acme/private\""), "{config}");
    assert!(ran.stderr.contains("`googleapis`; `abide deps vendor` brings"), "{}", ran.stderr);
}

/// Who names a fork in `buf.yaml` has its files: the repository that it forked would be a second copy.
#[test]
fn an_import_of_a_fork_that_a_buf_yaml_names_needs_nothing_else() {
    let home = TempDir::new().unwrap();
    let user = "syntax = \"proto3\";\npackage acme.user.v1;\nimport \"gogoproto/gogo.proto\";\n\
                message User {\n  string id = 1 [(gogoproto.customname) = \"ID\"];\n}\n";
    let buf =
        |module| format!("version: v2\nmodules:\n  - path: proto\ndeps:\n  - buf.build/{module}\n");
    for (module, has_other) in [("cosmos/gogo-proto", false), ("cosmos/ics23", true)] {
        let top = TempDir::new().unwrap();
        put(top.path(), &[("proto/acme/user/v1/user.proto", user), ("buf.yaml", &buf(module))]);
        let ran = abide_at(top.path(), home.path(), &["init", "--from", "buf.yaml"]);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        let config = std::fs::read_to_string(top.path().join("abide.toml")).unwrap();
        assert!(config.contains(&format!("from = \"buf.build/{module}\"")), "{config}");
        let other = config.contains("git = \"https://github.com/gogo/protobuf\"");
        assert_eq!(other, has_other, "{config}");
    }
}

#[test]
fn imports_that_count_from_above_the_checkout_are_found() {
    let top = TempDir::new().unwrap();
    let core = "syntax = \"proto2\";\npackage k8s.io.api.core.v1;\nmessage Pod {\n}\n";
    let apps = "syntax = \"proto2\";\npackage k8s.io.api.apps.v1;\nimport \
                \"k8s.io/api/core/v1/generated.proto\";\nmessage Set {\n  optional \
                k8s.io.api.core.v1.Pod pod = 1;\n}\n";
    put(top.path(), &[("core/v1/generated.proto", core), ("apps/v1/generated.proto", apps)]);
    git(top.path(), &["init", "--quiet"]);
    let ran = abide(top.path(), &["init"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let config = std::fs::read_to_string(top.path().join("abide.toml")).unwrap();
    assert!(config.contains("import-prefix = \"k8s.io/api\""), "{config}");
    commit(top.path(), "first");
    let ran = abide(top.path(), &["check", "--against", "git:HEAD", "--format", "json"]);
    assert_eq!(ran.status, 0, "{}{}", ran.text(), ran.stderr);
    put(top.path(), &[("core/v1/generated.proto", &core.replace("Pod", "Pods"))]);
    let ran = abide(top.path(), &["check", "--against", "git:HEAD", "--format", "json"]);
    let finding = ran.json().into_iter().find(|it| it["rule"] == "message-removed");
    let finding = finding.unwrap_or_else(|| panic!("{}", ran.text()));
    assert_eq!(finding["path"], "core/v1/generated.proto");
}

#[test]
fn a_link_in_the_place_of_a_dependency_is_refused() {
    let upstream = upstream();
    let tree = tree_on(upstream.path());
    git(tree.path(), &["init", "--quiet"]);
    std::fs::create_dir_all(tree.path().join(".abide/deps")).unwrap();
    let elsewhere: PathBuf = upstream.path().join("proto");
    std::os::unix::fs::symlink(elsewhere, tree.path().join(".abide/deps/money")).unwrap();
    let ran = abide(tree.path(), &["check"]);
    assert!(ran.status == 2 && ran.stderr.contains("leads out of the tree"), "{}", ran.stderr);
}
