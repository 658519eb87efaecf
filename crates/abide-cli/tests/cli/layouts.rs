//! `abide init` in repositories of many shapes: every import resolves that can, and `abide check`
//! right after it reports nothing about the layout.

use std::fmt::Write;

use tempfile::TempDir;

use crate::run::{abide, put};

/// A repository, and what `abide init` makes of it.
struct Shape {
    name: &'static str,
    /// Each file with its package and its imports.
    files: &'static [(&'static str, &'static str, &'static [&'static str])],
    roots: &'static [&'static str],
    import_paths: &'static [&'static str],
    folder_prefixes: &'static [&'static str],
    path_prefixes: &'static [&'static str],
    /// What `check` reports about the layout: what no choice avoids.
    reports: &'static [&'static str],
}

const PLAIN: Shape = Shape {
    name: "",
    files: &[],
    roots: &["."],
    import_paths: &[],
    folder_prefixes: &[],
    path_prefixes: &[],
    reports: &[],
};

/// The rules that a wrong choice of roots and import paths can break.
const OF_LAYOUT: &[&str] =
    &["import-not-found", "package-path-mismatch", "package-spread", "name-duplicated"];

const SHAPES: &[Shape] = &[
    Shape {
        name: "packages at the top",
        files: &[("acme/user/v1/user.proto", "acme.user.v1", &[])],
        ..PLAIN
    },
    Shape {
        name: "one folder of protos",
        files: &[
            ("proto/acme/user/v1/user.proto", "acme.user.v1", &["acme/type/v1/type.proto"]),
            ("proto/acme/type/v1/type.proto", "acme.type.v1", &[]),
        ],
        roots: &["proto"],
        ..PLAIN
    },
    Shape {
        name: "several roots",
        files: &[
            ("billing/proto/acme/bill/v1/bill.proto", "acme.bill.v1", &["acme/user/v1/user.proto"]),
            ("users/proto/acme/user/v1/user.proto", "acme.user.v1", &[]),
            ("users/proto/acme/user/v1/name.proto", "acme.user.v1", &[]),
        ],
        roots: &["billing/proto", "users/proto"],
        ..PLAIN
    },
    Shape {
        name: "imports from the top, packages from a folder",
        files: &[
            ("proto/acme/v1/a.proto", "acme.v1", &[]),
            ("proto/acme/v1/b.proto", "acme.v1", &["proto/acme/v1/a.proto"]),
        ],
        folder_prefixes: &["proto"],
        ..PLAIN
    },
    Shape {
        name: "imports from the top of several folders",
        files: &[
            ("api/foo/v1/a.proto", "foo.v1", &["lib/proto/bar/v1/b.proto"]),
            ("lib/proto/bar/v1/b.proto", "bar.v1", &[]),
            ("lib/proto/bar/v1/c.proto", "bar.v1", &["lib/proto/bar/v1/b.proto"]),
        ],
        folder_prefixes: &["api", "lib/proto"],
        ..PLAIN
    },
    Shape {
        name: "Bazel, with what others wrote imported from the top",
        files: &[
            ("svc/a/a.proto", "svc.a", &["third_party/x/y.proto", "svc/b/b.proto"]),
            ("svc/b/b.proto", "svc.b", &[]),
            ("third_party/x/y.proto", "x", &["x/z.proto"]),
            ("third_party/x/z.proto", "x", &[]),
        ],
        import_paths: &[".", "third_party"],
        ..PLAIN
    },
    Shape {
        name: "both ways of importing, of different files",
        files: &[
            ("proto/acme/v1/a.proto", "acme.v1", &["acme/v1/b.proto"]),
            ("proto/acme/v1/b.proto", "acme.v1", &[]),
            ("proto/acme/w/v1/c.proto", "acme.w.v1", &["proto/acme/w/v1/d.proto"]),
            ("proto/acme/w/v1/d.proto", "acme.w.v1", &[]),
        ],
        roots: &["proto"],
        import_paths: &["."],
        ..PLAIN
    },
    Shape {
        name: "a vendored package that does not spell its folder",
        files: &[
            ("proto/a/v1/a.proto", "a.v1", &["protoc-gen-openapiv2/options/annotations.proto"]),
            (
                "third_party/grpc-gateway/protoc-gen-openapiv2/options/annotations.proto",
                "grpc.gateway.protoc_gen_openapiv2.options",
                &[],
            ),
        ],
        roots: &["proto"],
        import_paths: &["third_party/grpc-gateway"],
        ..PLAIN
    },
    Shape {
        name: "several vendored folders",
        files: &[
            ("proto/a/v1/a.proto", "a.v1", &["google/api/http.proto", "validate/validate.proto"]),
            ("third_party/googleapis/google/api/http.proto", "google.api", &[]),
            ("third_party/googleapis/google/type/date.proto", "google.type", &[]),
            ("third_party/pgv/validate/validate.proto", "validate", &[]),
        ],
        roots: &["proto"],
        import_paths: &["third_party/googleapis", "third_party/pgv"],
        ..PLAIN
    },
    Shape {
        name: "vendored Go modules",
        files: &[
            ("api/v1/api.proto", "api.v1", &["github.com/gogo/protobuf/gogoproto/gogo.proto"]),
            ("vendor/github.com/gogo/protobuf/gogoproto/gogo.proto", "gogoproto", &[]),
        ],
        import_paths: &["vendor"],
        ..PLAIN
    },
    Shape {
        name: "a vendored folder below the root",
        files: &[
            ("proto/a/v1/a.proto", "a.v1", &["google/api/http.proto"]),
            ("proto/third_party/google/api/http.proto", "google.api", &[]),
        ],
        roots: &["proto"],
        import_paths: &["proto/third_party"],
        ..PLAIN
    },
    Shape {
        name: "a vendored folder that nobody imports",
        files: &[("user/v1/u.proto", "user.v1", &[]), ("vendor/x/any.proto", "a.b", &[])],
        import_paths: &["vendor"],
        ..PLAIN
    },
    Shape {
        name: "a package that is called like a vendored folder",
        files: &[
            ("proto/acme/external/v1/a.proto", "acme.external.v1", &["acme/a/v1/a.proto"]),
            ("proto/acme/a/v1/a.proto", "acme.a.v1", &[]),
        ],
        roots: &["proto"],
        ..PLAIN
    },
    Shape {
        name: "only what others wrote",
        files: &[("third_party/x/v1/x.proto", "x.v1", &[])],
        roots: &["third_party"],
        ..PLAIN
    },
    Shape {
        name: "a root inside of another one",
        files: &[
            ("proto/acme/a/v1/a.proto", "acme.a.v1", &[]),
            ("proto/tests/acme/t/v1/a.proto", "acme.t.v1", &[]),
            ("proto/tests/acme/t/v1/b.proto", "acme.t.v1", &["acme/t/v1/a.proto"]),
        ],
        roots: &["proto", "proto/tests"],
        ..PLAIN
    },
    Shape {
        name: "a root inside of the top, without imports",
        files: &[
            ("acme/a/v1/a.proto", "acme.a.v1", &[]),
            ("tests/acme/t/v1/a.proto", "acme.t.v1", &[]),
        ],
        roots: &[".", "tests"],
        ..PLAIN
    },
    Shape {
        name: "Go: protos beside the code",
        files: &[
            ("internal/user/user.proto", "user", &["internal/bill/bill.proto"]),
            ("internal/bill/bill.proto", "bill", &[]),
        ],
        folder_prefixes: &["internal"],
        ..PLAIN
    },
    Shape {
        name: "Go: pkg and cmd",
        files: &[
            ("pkg/api/v1/a.proto", "api.v1", &[]),
            ("cmd/tool/v1/t.proto", "tool.v1", &["api/v1/a.proto"]),
        ],
        roots: &["cmd", "pkg"],
        ..PLAIN
    },
    Shape {
        name: "folders whose names have dots",
        files: &[
            ("k8s.io/api/v1/a.proto", "k8s.io.api.v1", &["k8s.io/api/v1/b.proto"]),
            ("k8s.io/api/v1/b.proto", "k8s.io.api.v1", &[]),
        ],
        ..PLAIN
    },
    Shape {
        name: "a submodule",
        files: &[
            ("proto/a/v1/a.proto", "a.v1", &["dep/v1/d.proto"]),
            ("libs/dep/proto/dep/v1/d.proto", "dep.v1", &[]),
            ("libs/dep/.git", "", &[]),
        ],
        roots: &["proto"],
        import_paths: &["libs/dep/proto"],
        ..PLAIN
    },
    Shape {
        name: "another repository inside",
        files: &[
            ("a/v1/a.proto", "a.v1", &[]),
            ("checkout/dep/v1/d.proto", "dep.v1", &[]),
            ("checkout/.git/HEAD", "", &[]),
        ],
        import_paths: &["checkout"],
        ..PLAIN
    },
    Shape {
        name: "no packages, imports from a folder",
        files: &[
            ("proto/app/user.proto", "", &["common/bare.proto"]),
            ("proto/common/bare.proto", "", &[]),
        ],
        roots: &["proto"],
        ..PLAIN
    },
    Shape {
        name: "no packages, imports of neighbours",
        files: &[
            ("src/a/user.proto", "", &["name.proto"]),
            ("src/a/name.proto", "", &[]),
            ("src/b/bill.proto", "", &["name.proto"]),
            ("src/b/name.proto", "", &[]),
        ],
        roots: &["src/a", "src/b"],
        ..PLAIN
    },
    Shape { name: "one file", files: &[("user.proto", "", &[])], ..PLAIN },
    Shape {
        name: "one file, deep inside, without a package",
        files: &[("src/main/proto/user.proto", "", &[])],
        ..PLAIN
    },
    Shape {
        name: "Maven",
        files: &[
            ("core/src/main/proto/com/acme/core/v1/c.proto", "com.acme.core.v1", &[]),
            (
                "web/src/main/proto/com/acme/web/v1/w.proto",
                "com.acme.web.v1",
                &["com/acme/core/v1/c.proto"],
            ),
        ],
        roots: &["core/src/main/proto", "web/src/main/proto"],
        ..PLAIN
    },
    Shape {
        name: "an import that is not there",
        files: &[("proto/a/v1/a.proto", "a.v1", &["google/api/http.proto"])],
        roots: &["proto"],
        reports: &["import-not-found"],
        ..PLAIN
    },
    Shape {
        name: "well-known types",
        files: &[("proto/a/v1/a.proto", "a.v1", &["google/protobuf/any.proto"])],
        roots: &["proto"],
        ..PLAIN
    },
    Shape {
        name: "a file whose package says something else",
        files: &[
            ("proto/a/v1/a.proto", "a.v1", &[]),
            ("proto/flat.proto", "a.v1", &["a/v1/a.proto"]),
        ],
        roots: &["proto"],
        reports: &["package-path-mismatch", "package-spread"],
        ..PLAIN
    },
    Shape {
        name: "a file outside of every root",
        files: &[("proto/a/v1/a.proto", "a.v1", &[]), ("tools/x.proto", "tools.v1", &[])],
        roots: &["proto"],
        ..PLAIN
    },
    Shape {
        name: "a folder whose name has a space and brackets",
        files: &[
            ("my [api]/a/v1/a.proto", "a.v1", &["b/v1/b.proto"]),
            ("my [api]/b/v1/b.proto", "b.v1", &[]),
        ],
        roots: &["my [api]"],
        ..PLAIN
    },
    Shape {
        name: "versions in folders, packages without them",
        files: &[
            ("api/v1/user.proto", "acme.api.v1", &["api/v1/name.proto"]),
            ("api/v1/name.proto", "acme.api.v1", &[]),
        ],
        path_prefixes: &["acme"],
        ..PLAIN
    },
    Shape {
        name: "packages with a prefix that folders leave out",
        files: &[
            ("proto/user/v1/user.proto", "com.acme.user.v1", &["bill/v1/bill.proto"]),
            ("proto/bill/v1/bill.proto", "com.acme.bill.v1", &[]),
        ],
        roots: &["proto"],
        path_prefixes: &["com.acme"],
        ..PLAIN
    },
    Shape {
        name: "one import of many that counts from elsewhere",
        files: &[
            ("bulk/p/acme/bulk/v1/a.proto", "acme.bulk.v1", &["gen/p/acme/col/v1/t.proto"]),
            ("gen/p/acme/col/v1/t.proto", "acme.col.v1", &[]),
            ("gen/p/acme/other/v1/o.proto", "acme.other.v1", &["acme/col/v1/t.proto"]),
        ],
        roots: &["bulk/p", "gen/p"],
        reports: &["import-not-found"],
        ..PLAIN
    },
    Shape {
        name: "what others publish, in a folder of any name",
        files: &[
            ("proto/user.proto", "user.v1", &["gogoproto/gogo.proto"]),
            ("include/gogoproto/gogo.proto", "gogoproto", &[]),
            ("include/google/api/http.proto", "google.api", &[]),
        ],
        import_paths: &["include"],
        reports: &["package-path-mismatch"],
        ..PLAIN
    },
    Shape {
        name: "what others publish, below the root",
        files: &[
            ("acme/user/v1/user.proto", "acme.user.v1", &["google/api/http.proto"]),
            ("include/google/api/http.proto", "google.api", &[]),
        ],
        import_paths: &["include"],
        ..PLAIN
    },
    Shape {
        name: "vendored folders that nobody imports are one",
        files: &[
            ("api/a/v1/a.proto", "a.v1", &[]),
            ("vendor/one/x/v1/x.proto", "x.v1", &[]),
            ("vendor/two/y/v1/y.proto", "y.v1", &[]),
        ],
        roots: &["api"],
        import_paths: &["vendor"],
        ..PLAIN
    },
];

fn text(number: usize, package: &str, imports: &[&str]) -> String {
    let mut text = String::from("syntax = \"proto2\";\n");
    if !package.is_empty() {
        let _ = writeln!(text, "package {package};");
    }
    for import in imports {
        let _ = writeln!(text, "import \"{import}\";");
    }
    let _ = writeln!(text, "message M{number} {{}}");
    text
}

/// A list of `abide.toml`; empty if it has no such key.
fn listed(config: &str, key: &str) -> Vec<String> {
    let values = config.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
    values.flat_map(|it| serde_json::from_str::<Vec<String>>(it).unwrap()).collect()
}

#[test]
fn check_after_init_reports_nothing_that_init_caused() {
    assert!(SHAPES.len() >= 25, "{}", SHAPES.len());
    let mut differences = String::new();
    for shape in SHAPES {
        let folder = TempDir::new().unwrap();
        for (number, (path, package, imports)) in shape.files.iter().enumerate() {
            put(folder.path(), &[(path, &text(number, package, imports))]);
        }
        let ran = abide(folder.path(), &["init", "--strict"]);
        assert_eq!(ran.status, 0, "{}: {}", shape.name, ran.stderr);
        let config = std::fs::read_to_string(folder.path().join("abide.toml")).unwrap();
        let checked = abide(folder.path(), &["check", "-q", "--format", "json"]);
        assert_ne!(checked.status, 2, "{}: {}", shape.name, checked.stderr);
        let mut rules = checked.rules();
        rules.retain(|rule| OF_LAYOUT.contains(&rule.as_str()));
        rules.sort();
        rules.dedup();
        for (what, found, wanted) in [
            ("roots", listed(&config, "roots"), shape.roots),
            ("import paths", listed(&config, "import-paths"), shape.import_paths),
            ("prefixes", listed(&config, "folder-prefix"), shape.folder_prefixes),
            ("beginnings", listed(&config, "path-prefix"), shape.path_prefixes),
            ("findings", rules, shape.reports),
        ] {
            if found != wanted {
                let _ = writeln!(differences, "{}: {what} {found:?}, not {wanted:?}", shape.name);
            }
        }
    }
    assert!(differences.is_empty(), "{differences}");
}

#[test]
fn what_stays_open_is_said() {
    for (files, said) in [
        (
            &[("proto/a/v1/a.proto", text(0, "a.v1", &["x/a.proto", "x/b.proto"]))][..],
            "2 imports are not in this folder: `x/a.proto`, `x/b.proto`; add the folders",
        ),
        (
            &[
                ("one/q/v1/x.proto", text(0, "q.v1", &[])),
                ("two/q/v1/x.proto", text(1, "q.v1", &[])),
            ],
            "`one/q/v1/x.proto` and `two/q/v1/x.proto` have the same import path",
        ),
        (
            &[
                ("proto/a/v1/a.proto", text(0, "a.v1", &[])),
                ("tools/x.proto", text(1, "tools.v1", &[])),
            ],
            "1 file outside of `roots` is not checked: `tools/x.proto`; nothing says",
        ),
        (
            &[
                ("api/a.proto", text(0, "a", &["shop/api/b.proto", "api/b.proto"])),
                ("api/b.proto", text(1, "b", &[])),
            ],
            "imports such as `shop/api/b.proto` count from above this folder: clone it as `shop`, and add \
             `..` to `import-paths`",
        ),
        (
            &[
                ("svc/a/v1/a.proto", text(0, "a.v1", &[])),
                ("svc/buf.yaml", "version: v2\n".to_owned()),
            ],
            "`svc/buf.yaml` was not read: to take over the settings, remove abide.toml and run `abide \
             init --from svc/buf.yaml`",
        ),
        (
            &[
                ("one/a/v1/a.proto", text(0, "a.v1", &[])),
                ("one/abide.toml", String::new()),
                ("two/abide.toml", String::new()),
            ],
            "`one/abide.toml` and 1 more are not read here: `abide check one` judges by it",
        ),
        (
            &[
                ("a/v1/a.proto", text(0, "a.v1", &[])),
                (".gitmodules", "[submodule \"idl\"]\n\tpath = idl\n\turl = ../idl\n".to_owned()),
            ],
            "the submodule `idl` is not checked out: run `git submodule update --init`",
        ),
        (&[], "there is no .proto file here yet"),
    ] {
        let folder = TempDir::new().unwrap();
        files.iter().for_each(|(path, text)| put(folder.path(), &[(path, text)]));
        let ran = abide(folder.path(), &["init"]);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        assert!(ran.stderr.contains(said), "{said}: {}", ran.stderr);
        let silent = TempDir::new().unwrap();
        files.iter().for_each(|(path, text)| put(silent.path(), &[(path, text)]));
        assert_eq!(abide(silent.path(), &["init", "-q"]).stderr, "");
    }
}

/// A file that ends like an import of another repository, and declares nothing of what is used.
#[test]
fn a_file_that_only_ends_like_an_import_is_another_one() {
    let folder = TempDir::new().unwrap();
    let rpc = |name: &str, more: &str| {
        format!(
            "syntax = \"proto3\";\npackage rpc;\nimport \"options.proto\";\nimport \"user.proto\";\n\
             {more}message {name} {{\n  option (rpcgen.options).topics = true;\n  acme.User user = 1;\n"
        )
    };
    let with_option = "  string id = 2 [(logger.name) = \"id\"];\n}\n";
    put(
        folder.path(),
        &[
            ("p/rpc/a.proto", &(rpc("A", "") + "}\n")),
            ("p/rpc/b.proto", &(rpc("B", "import \"logger/options.proto\";\n") + with_option)),
            ("p/user.proto", "syntax = \"proto3\";\npackage acme;\nmessage User {}\n"),
            (
                "p/logger/options.proto",
                "syntax = \"proto3\";\npackage logger;\nimport \"google/protobuf/descriptor.proto\";\n\
                 extend google.protobuf.FieldOptions {\n  string name = 50001;\n}\n",
            ),
        ],
    );
    let ran = abide(folder.path(), &["init"]);
    assert!(
        ran.stderr.contains("1 import is not in this folder: `options.proto`"),
        "{}",
        ran.stderr
    );
    let config = std::fs::read_to_string(folder.path().join("abide.toml")).unwrap();
    assert_eq!(listed(&config, "roots"), ["p"], "{config}");
    assert!(listed(&config, "import-paths").is_empty(), "{config}");
    let checked = abide(folder.path(), &["check", "--format", "json"]);
    let of_names = |rule: &String| rule.starts_with("name-");
    assert!(!checked.rules().iter().any(of_names), "{}", checked.text());
}

#[test]
fn imports_that_count_from_above_the_checkout_are_found() {
    let home = TempDir::new().unwrap();
    let shop = home.path().join("org/shop");
    put(
        &shop,
        &[
            ("api/a/v1/a.proto", &text(0, "a.v1", &["org/shop/api/b/v1/b.proto"])),
            ("api/b/v1/b.proto", &text(1, "b.v1", &[])),
        ],
    );
    assert_eq!(abide(&shop, &["init"]).status, 0);
    let config = std::fs::read_to_string(shop.join("abide.toml")).unwrap();
    assert!(config.contains("import-prefix = \"org/shop\""), "{config}");
    let checked = abide(&shop, &["check", "-q", "--format", "json"]);
    assert_eq!((checked.status, checked.rules().len()), (0, 0), "{}", checked.text());
}

#[test]
fn a_candidate_leaves_out_of_its_path_what_its_source_does() {
    let folder = TempDir::new().unwrap();
    let annotations = crate::run::repository().join("api").display().to_string();
    let user = "syntax = \"proto3\";\npackage com.acme.user.v1;\n\
                import \"abide/annotations/v1/status.proto\";\n\
                option (abide.annotations.v1.file_policy).package_version_status = \
                PACKAGE_VERSION_STATUS_ACTIVE;\nmessage User {\n  // Use `name`.\n  \
                string nick = 1 [deprecated = true];\n  string name = 2;\n}\n";
    for prefix in ["", "path-prefix = [\"com\", \"com.acme\"]\n"] {
        let config = format!(
            "import-paths = [{annotations:?}]\n[rules]\nconversion-missing = \"off\"\n[packages]\n{prefix}"
        );
        put(folder.path(), &[("abide.toml", &config), ("user/v1/user.proto", user)]);
        let out = folder.path().join(if prefix.is_empty() { "plain" } else { "prefixed" });
        let ran = abide(folder.path(), &["upgrade", "--out", out.to_str().unwrap()]);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        assert!(out.join("user/v2alpha/user.proto").is_file(), "{}", ran.text());
    }
    let wrong = "[packages]\npath-prefix = [\"com/acme\"]\n";
    put(folder.path(), &[("abide.toml", wrong)]);
    let ran = abide(folder.path(), &["lint"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("write it as `com.acme`"), "{}", ran.stderr);
}

#[cfg(unix)]
#[test]
fn a_folder_that_is_only_linked_is_found() {
    let home = TempDir::new().unwrap();
    put(home.path(), &[("shared/acme/user/v1/user.proto", &text(0, "acme.user.v1", &[]))]);
    std::fs::create_dir(home.path().join("app")).unwrap();
    std::os::unix::fs::symlink("../shared", home.path().join("app/proto")).unwrap();
    std::fs::create_dir(home.path().join(".git")).unwrap();
    let app = home.path().join("app");
    assert_eq!(abide(&app, &["init"]).status, 0);
    let config = std::fs::read_to_string(app.join("abide.toml")).unwrap();
    assert!(config.contains("roots = [\"proto\"]"), "{config}");
    let checked = abide(&app, &["check", "-q"]);
    assert_eq!((checked.status, checked.stderr.as_str()), (0, ""), "{}", checked.text());
}
