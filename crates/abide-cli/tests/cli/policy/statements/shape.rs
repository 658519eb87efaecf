//! What a tree looks like at any time.

use super::world::{BASE, HTTP, PEOPLE, USER, World, file, listeners};
use crate::run::{abide, repository};

const NONE: [&str; 0] = [];
/// The older half of a diamond is also not the latest version of its API.
const ANY_MAJOR: &str = "[rules]\ndependency-not-latest = \"off\"\n";

/// A tree of packages whose messages use one another: the package, and the types it uses.
fn using(packages: &[(&str, &[&str])]) -> Vec<(String, String)> {
    let path = |package: &str| format!("{}/all.proto", package.replace('.', "/"));
    let one = |&(package, used): &(&str, &[&str])| {
        let imports = used.iter().map(|it| format!("import \"{}\";\n", path(it)));
        let fields = used.iter().zip(1..).map(|(it, at)| format!("  {it}.All a{at} = {at};\n"));
        let message = format!("\nmessage All {{\n{}}}\n", fields.collect::<String>());
        (path(package), file(package, &(imports.collect::<String>() + &message)))
    };
    packages.iter().map(one).collect()
}

/// The errors about such a tree, which every preset agrees about.
fn errors(packages: &[(&str, &[&str])], more: &str) -> Vec<String> {
    let files = using(packages);
    let files: Vec<(&str, String)> =
        files.iter().map(|(path, text)| (path.as_str(), text.clone())).collect();
    let said = std::cell::RefCell::new(Vec::new());
    World::each_with(more, &files, |world| said.borrow_mut().push(world.errors(&[])));
    let said = said.into_inner();
    assert!(said.windows(2).all(|it| it[0] == it[1]), "{said:?}");
    said.into_iter().next().unwrap()
}

#[test]
fn a_grpc_only_api_is_judged_like_any_other() {
    let report = "message Report {}\n\nservice Reporting {\n  rpc Stream(stream Report) returns \
                  (stream Report);\n}\n";
    let files = [("envoy/service/load/v3/lrs.proto", file("envoy.service.load.v3", report))];
    World::each(&files, |world| {
        assert_eq!(world.errors(&[]), NONE);
        world.tag("r1", &[]);
        world.edit(files[0].0, "(stream Report) returns", "(Report) returns");
        assert_eq!(world.errors(&["--against", "git:r1"]), ["method-streaming-changed"]);
    });
}

#[test]
fn no_service_needs_a_rest_route() {
    World::each(
        &[(
            USER,
            file("envoy.user.v3", "message A {}\n\nservice S {\n  rpc R(A) returns (A);\n}\n"),
        )],
        |world| {
            for severity in ["error", "warning"] {
                assert_eq!(world.rules(severity, &[]), NONE, "{world}");
            }
        },
    );
}

#[test]
fn an_admin_api_is_judged_like_any_other() {
    let state = file("envoy.admin.v3", "message Server {\n  string state = 1;\n}\n");
    World::each(&[("envoy/admin/v3/server.proto", state)], |world| {
        world.tag("r1", &[]);
        world.edit("envoy/admin/v3/server.proto", "string state", "string status");
        assert_eq!(world.errors(&["--against", "git:r1"]), ["field-renamed"], "{world}");
    });
}

#[test]
fn a_package_outside_of_its_folder_is_reported() {
    let files = [("envoy/people/v3/user.proto", file("envoy.user.v3", "message A {}\n"))];
    World::each(&files, |world| assert_eq!(world.errors(&[]), ["package-path-mismatch"]));
}

#[test]
fn a_cycle_of_packages_is_reported() {
    let files = [
        (
            "envoy/a/v3/a.proto",
            file(
                "envoy.a.v3",
                "import \"envoy/b/v3/b.proto\";\n\nmessage A {\n  envoy.b.v3.B b = 1;\n}\n",
            ),
        ),
        ("envoy/b/v3/b.proto", file("envoy.b.v3", "message B {}\n")),
        (
            "envoy/b/v3/c.proto",
            file(
                "envoy.b.v3",
                "import \"envoy/a/v3/a.proto\";\n\nmessage C {\n  envoy.a.v3.A a = 1;\n}\n",
            ),
        ),
    ];
    World::each(&files, |world| {
        assert_eq!(world.errors(&[]), ["package-cycle"], "{world}");
        let text = world.run(&["check"]).text();
        assert!(text.contains("envoy.a.v3") && text.contains("envoy.b.v3"), "the circle: {text}");
    });
}

#[test]
fn a_package_without_a_version_is_reported() {
    for (package, wanted) in [
        ("envoy.user.v2", &[][..]),
        ("envoy.user.v2alpha", &[]),
        ("envoy.user", &["package-version-missing"]),
        ("envoy.user.V3", &["package-version-malformed"]),
    ] {
        assert_eq!(errors(&[(package, &[])], ""), wanted, "{package}");
    }
    let outside = "[packages]\nunversioned = [\"envoy.user\"]\n";
    assert_eq!(errors(&[("envoy.user", &[])], outside), NONE);
}

#[test]
fn comments_that_say_experimental_are_read() {
    let text = "// [#not-implemented-hide:]\nmessage A {\n  // [#not-implemented-warn:]\n  string \
                a = 1;\n}\n\n// [#proto-status: draft]\nmessage B {}\n\n// [#proto-status: \
                experimental]\nservice C {}\n";
    let more = "[rules]\nexperimental-in-stable = \"error\"\n";
    World::each_with(more, &[(USER, file("envoy.user.v3", text))], |world| {
        assert_eq!(world.errors(&[]), ["experimental-in-stable"; 4], "{world}");
    });
}

#[test]
fn an_experimental_element_in_a_stable_package_is_reported() {
    let text = |package| file(package, "// [#proto-status: experimental]\nmessage A {}\n");
    let more = "[rules]\nexperimental-in-stable = \"error\"\n";
    let files = [(USER, text("envoy.user.v3"))];
    World::each_with(more, &files, |world| {
        assert_eq!(world.errors(&[]), ["experimental-in-stable"], "{world}");
    });
    let files = [("envoy/user/v3alpha/user.proto", text("envoy.user.v3alpha"))];
    World::each_with(more, &files, |world| assert_eq!(world.errors(&[]), NONE, "{world}"));
    // Without a word in `abide.toml`, the policy of the document warns.
    World::each(&[(USER, text("envoy.user.v3"))], |world| {
        let is_on = world.preset == "standard";
        let wanted = if is_on { &["experimental-in-stable"][..] } else { &[] };
        assert_eq!(world.rules("warning", &[]), wanted, "{world}");
    });
}

#[test]
fn style_rules_can_be_switched_one_by_one() {
    let text = "message user {\n  string Name = 1;\n}\n";
    let files = [(USER, file("envoy.user.v3", text))];
    World::each(&files, |world| assert_eq!(world.errors(&[]), NONE, "{world}: off by default"));
    let group = "[rules]\nstyle = \"error\"\n";
    let both = ["field-name-case", "type-name-case"];
    World::each_with(group, &files, |world| assert_eq!(world.errors(&[]), both, "{world}"));
    let less = "[rules]\nstyle = \"error\"\ntype-name-case = \"off\"\n";
    World::each_with(less, &files, |world| assert_eq!(world.errors(&[]), both[..1], "{world}"));
}

#[test]
fn a_shared_package_that_depends_on_its_users_is_reported() {
    let packages: [(&str, &[&str]); 2] = [("udpa.a.v3", &["envoy.b.v3"]), ("envoy.b.v3", &[])];
    let files = using(&packages);
    let files: Vec<(&str, String)> =
        files.iter().map(|(path, text)| (path.as_str(), text.clone())).collect();
    World::each(&files, |world| {
        // Only who has such roots has such a rule; anyone can write it down.
        let is_on = world.preset == "envoy";
        let wanted = if is_on { &["dependency-not-allowed"][..] } else { &[] };
        assert_eq!(world.errors(&[]), wanted, "{world}");
    });
    let deny = "[dependencies]\ndeny = [\"udpa.* -> envoy.*\"]\n";
    assert_eq!(errors(&packages, deny), ["dependency-not-allowed"]);
    assert_eq!(errors(&[("envoy.a.v3", &["udpa.b.v3"]), ("udpa.b.v3", &[])], deny), NONE);
}

#[test]
fn a_route_with_another_major_than_its_package_is_reported() {
    let routes = ["/v2/discovery:listeners", "/v1/listeners"];
    let files = [
        (HTTP.0, HTTP.1.to_owned()),
        ("envoy/lds/v3/lds.proto", listeners("envoy.lds.v3", routes)),
    ];
    let more = "[rules]\nhttp-route-major-mismatch = \"error\"\n";
    World::each_with(more, &files, |world| {
        assert_eq!(world.errors(&[]), ["http-route-major-mismatch"; 2], "{world}");
    });
}

#[test]
fn a_stable_package_that_reaches_an_unstable_one_is_reported() {
    let pair: [(&str, &[&str]); 2] =
        [("envoy.api.v3", &["envoy.data.tap.v2alpha"]), ("envoy.data.tap.v2alpha", &[])];
    assert_eq!(errors(&pair, ""), ["stable-depends-on-unstable"]);
    let turned: [(&str, &[&str]); 2] =
        [("envoy.data.tap.v2alpha", &["envoy.api.v3"]), ("envoy.api.v3", &[])];
    assert_eq!(errors(&turned, ""), NONE);
}

#[test]
fn a_major_that_depends_on_the_previous_one_is_reported() {
    let pair: [(&str, &[&str]); 2] = [("envoy.api.v3", &["envoy.api.v2"]), ("envoy.api.v2", &[])];
    assert_eq!(errors(&pair, ""), ["older-major-of-itself"]);
}

#[test]
fn a_dependency_on_an_older_stable_version_is_reported() {
    let more = "[rules]\ndependency-not-latest = \"error\"\n";
    let old: [(&str, &[&str]); 3] =
        [("envoy.a.v3", &["envoy.b.v2"]), ("envoy.b.v2", &[]), ("envoy.b.v3", &[])];
    assert_eq!(errors(&old, more), ["dependency-not-latest"]);
    // An alpha is not the latest that a stable package could take.
    let alpha: [(&str, &[&str]); 3] =
        [("envoy.a.v3", &["envoy.b.v3"]), ("envoy.b.v3", &[]), ("envoy.b.v4alpha", &[])];
    assert_eq!(errors(&alpha, more), NONE);
}

#[test]
fn two_reachable_versions_of_one_api_are_reported() {
    let deep: [(&str, &[&str]); 5] = [
        ("envoy.top.v3", &["envoy.left.v3", "envoy.right.v3"]),
        ("envoy.left.v3", &["envoy.middle.v3"]),
        ("envoy.middle.v3", &["envoy.foo.v1"]),
        ("envoy.right.v3", &["envoy.foo.v2"]),
        ("envoy.foo.v1", &[]),
    ];
    let mut deep = deep.to_vec();
    deep.push(("envoy.foo.v2", &[]));
    assert_eq!(errors(&deep, ANY_MAJOR), ["one-definition"], "also through others");
}

#[test]
fn a_diamond_of_two_versions_is_reported() {
    let diamond: [(&str, &[&str]); 5] = [
        ("envoy.top.v1", &["envoy.bar.v2", "envoy.baz.v2"]),
        ("envoy.bar.v2", &["envoy.foo.v1"]),
        ("envoy.baz.v2", &["envoy.foo.v18"]),
        ("envoy.foo.v1", &[]),
        ("envoy.foo.v18", &[]),
    ];
    assert_eq!(errors(&diamond, ANY_MAJOR), ["one-definition"]);
    let files = using(&diamond);
    let files: Vec<(&str, String)> =
        files.iter().map(|(path, text)| (path.as_str(), text.clone())).collect();
    World::each(&files, |world| {
        let text = world.run(&["check"]).text();
        for path in [
            "to `envoy.foo.v1`: `envoy.top.v1.All.a1`",
            "to `envoy.foo.v18`: `envoy.top.v1.All.a2`",
        ] {
            assert!(text.contains(path), "{world}: both ways are shown: {text}");
        }
    });
}

#[test]
fn dependencies_against_the_configured_layers_are_reported() {
    let pair: [(&str, &[&str]); 2] = [("envoy.a.v3", &["envoy.b.v3"]), ("envoy.b.v3", &[])];
    let deny = "[dependencies]\ndeny = [\"envoy.* -> envoy.b.*\"]\n";
    assert_eq!(errors(&pair, deny), ["dependency-not-allowed"]);
    let allow = format!("{deny}allow = [\"envoy.a.* -> envoy.b.*\"]\n");
    assert_eq!(errors(&pair, &allow), NONE);
}

#[test]
fn a_dependency_chain_over_the_limit_is_reported() {
    let chain: [(&str, &[&str]); 3] =
        [("envoy.a.v3", &["envoy.b.v3"]), ("envoy.b.v3", &["envoy.c.v3"]), ("envoy.c.v3", &[])];
    let most = |depth: u32| {
        format!("[dependencies]\nmax-depth = {depth}\n\n[rules]\ndependency-too-deep = \"error\"\n")
    };
    // Each of them uses the package of the annotations.
    assert_eq!(errors(&chain, &most(3)), ["dependency-too-deep"]);
    assert_eq!(errors(&chain, &most(4)), NONE);
}

#[test]
fn the_hook_stops_a_stable_package_that_reaches_an_alpha() {
    World::released(|world| {
        world.put(
            "envoy/base/v4alpha/base.proto",
            &file("envoy.base.v4alpha", "message Id {\n  string text = 1;\n}\n"),
        );
        world.edit(
            USER,
            "message User",
            "import \"envoy/base/v4alpha/base.proto\";\n\nmessage User",
        );
        world.edit(USER, "Id id = 5;", "Id id = 5;\n  envoy.base.v4alpha.Id next = 6;");
        let errors = world.errors(&["--against", "git:r1"]);
        assert!(errors.contains(&"stable-depends-on-unstable".to_owned()), "{world}: {errors:?}");
    });
}

#[test]
fn the_hook_stops_a_package_without_a_valid_version() {
    World::released(|world| {
        world.put("envoy/next/3/next.proto", &file("envoy.next.version3", "message A {}\n"));
        let errors = world.errors(&["--against", "git:r1"]);
        assert!(errors.contains(&"package-version-missing".to_owned()), "{world}: {errors:?}");
    });
}

#[test]
fn imported_files_are_exempt_from_the_policy() {
    let custom =
        "syntax = \"proto3\";\npackage acme.filter;\nmessage Filter {\n  string Name = 1;\n}\n";
    let user = PEOPLE.replace("enum Kind", "import \"acme/filter.proto\";\n\nenum Kind");
    let user = user.replace("Id id = 5;", "Id id = 5;\n  acme.filter.Filter filter = 6;");
    let files = [
        (USER, file("envoy.user.v3", &user)),
        (BASE, file("envoy.base.v3", "message Id {}\n")),
        ("dep/acme/filter.proto", custom.to_owned()),
    ];
    World::each(&files, |world| {
        let roots = "roots = [\".\"]\n";
        let config = world.read("abide.toml");
        world.put(
            "abide.toml",
            &config.replacen("import-paths", &format!("{roots}import-paths"), 1),
        );
        assert_eq!(world.errors(&[]), NONE, "{world}");
        // In the tree itself the same file is an extension like any other.
        world.put("acme/filter.proto", custom);
        assert!(!world.errors(&[]).is_empty(), "{world}");
    });
}

#[test]
fn no_annotation_depends_on_the_client() {
    // The options that protos can carry: none of them names who reads a value.
    let set = repository().join("api");
    let ran = abide(&set, &["build", "-o", "-", "."]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let text = String::from_utf8_lossy(&ran.stdout).to_lowercase();
    assert!(text.contains("deprecated_at"), "the options are there");
    for path in ["status.proto", "lifecycle.proto"] {
        let path = set.join("abide/annotations/v1").join(path);
        let words = std::fs::read_to_string(path).unwrap().to_lowercase();
        for word in ["client", "data_plane", "user_agent", "proxy"] {
            assert!(!words.contains(word), "{word}");
        }
    }
}

#[test]
fn reports_mappings_and_options_are_described_by_protos() {
    // What a report or an option looks like is described by the protos below `api`, and nowhere else.
    let mut folders = vec![repository()];
    let mut protos = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && !name.starts_with('.') && name != "target" {
                folders.push(path);
                continue;
            }
            for schema in [".schema.json", ".jsonschema", ".xsd", ".avsc", "openapi.yaml"] {
                assert!(!name.ends_with(schema), "{}", path.display());
            }
            protos += usize::from(name.ends_with(".proto"));
        }
    }
    assert!(protos > 0);
}
