//! Our own protos: the tool reports nothing about them, and they describe what it prints.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // Tests set up a world; helpers are tests too.

#[allow(dead_code)] // The other test program uses the rest.
#[path = "cli/run.rs"]
mod run;

use std::sync::Arc;

use abide_schema::value::Codec;
use abide_schema::{FileDecl, Message, SourceFile, Tree};
use run::{abide, put, repository};

#[test]
fn the_tool_is_silent_about_our_own_protos() {
    let ran = abide(&repository(), &["check", "api", "--format", "json"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{}", ran.text());
    let lines = ran.json();
    assert_eq!(lines.len(), 1, "{}", ran.text());
    assert_eq!(lines[0]["files"], 22, "{}", ran.text());
}

/// A rule with an example that does not parse, and one that it does not fulfil.
const OWN_RULE: &str = r#"
[[rule]]
id = "acme-x"
on = "message"
when = 'this.name == "A"'
message = "m"
[[rule.example]]
proto = "message A {"
[[rule.example]]
proto = "message A {} message B {}"
reports = ["B"]
"#;

/// Reads a file of `api` and what it imports from there.
fn read(paths: &[&str]) -> Tree {
    let files = paths.iter().map(|path| {
        let text = std::fs::read(repository().join("api").join(path)).unwrap();
        Arc::new(FileDecl::parse(SourceFile {
            path: (*path).into(),
            display: (*path).into(),
            root: 0,
            imported: false,
            text: text.into(),
        }))
    });
    Tree::link(files.collect())
}

fn message<'t>(tree: &'t Tree, name: &str) -> Message<'t> {
    let mut messages = tree.files().flat_map(|file| file.messages());
    messages.find(|message| message.full_name() == name).expect("the report declares it")
}

/// Every key of an object, at any depth, is a field of the message that describes it.
fn covers(message: Message<'_>, value: &serde_json::Value) {
    let object = value.as_object().expect("a message is printed as an object");
    for (key, value) in object {
        let field = message.field_named(key);
        let field = field.unwrap_or_else(|| panic!("{} has no `{key}`", message.full_name()));
        assert!(!value.is_null(), "`{key}` is null");
        assert_eq!(
            value.is_array(),
            field.cardinality() == abide_schema::Cardinality::Repeated,
            "{}",
            field.full_name()
        );
        let one = match value.as_array() {
            Some(list) if list.is_empty() => continue,
            Some(list) => &list[0],
            None => value,
        };
        match field.message_type() {
            Some(inner) => covers(inner, one),
            None => {
                assert!(one.is_string() || one.is_i64() || one.is_boolean(), "`{key}` is {one}")
            }
        }
    }
}

#[test]
fn the_report_is_what_its_proto_says() {
    let tree = read(&["abide/annotations/v1/status.proto", "abide/report/v1/report.proto"]);
    assert!(tree.problems().is_empty(), "{:?}", tree.problems());
    let args = ["check", "testdata/cli/shapes", "--format", "json"];
    let mut lines = abide(&repository(), &args).json();
    let changes = ["breaking", "testdata/cli/changes/new", "--against", "testdata/cli/changes/old"];
    let rest = ["--changes", "-I", "testdata/imports", "--format", "json"];
    lines.extend(abide(&repository(), &[changes.as_slice(), &rest].concat()).json());
    let releases = tempfile::TempDir::new().unwrap();
    let config = "[api.a]\nsource = \"api\"\n[api.b]\nsource = \"api\"\n";
    let files = [("api/b.proto", "syntax = \"proto3\";\nmessage B {}\n"), ("abide.toml", config)];
    put(releases.path(), &files);
    put(releases.path(), &[("b.yaml", "# proto-message: B\na: 1\n")]);
    let args =
        ["config", "check", "b.yaml", "--release", "a", "--release", "b", "--format", "json"];
    lines.extend(abide(releases.path(), &args).json());
    let user = "syntax = \"proto3\";\npackage acme.user.v1;\nimport \"acme/a/v1/a.proto\";\n\
                message U {\n  acme.a.v1.A a = 1;\n}\n";
    let used = "syntax = \"proto3\";\npackage acme.a.v1;\nmessage A {}\n";
    let gone = used.replace("{}", "{\n  string gone = 1;\n}");
    let [old, new] = [gone.as_str(), used].map(|used| {
        let folder = tempfile::TempDir::new().unwrap();
        put(folder.path(), &[("acme/user/v1/user.proto", user), ("acme/a/v1/a.proto", used)]);
        folder
    });
    let old = old.path().display().to_string();
    lines.extend(abide(new.path(), &["breaking", "--against", &old, "--format", "json"]).json());
    let again = format!("{old}/.");
    let both = ["breaking", "--against", &old, "--against", &again, "--format", "json"];
    lines.extend(abide(new.path(), &both).json());
    lines.extend(abide(new.path(), &["drift", &old, "--format", "json"]).json());
    let uses = "{\"element\": \"acme.a.v1.A.gone\", \"client\": \"shop\", \"count\": 3}\n";
    let config = "[usage]\nfiles = [\"uses.jsonl\"]\n";
    put(new.path(), &[("uses.jsonl", uses), ("abide.toml", config)]);
    lines.extend(abide(new.path(), &["breaking", "--against", &old, "--format", "json"]).json());
    let waived = "syntax = \"proto3\";\npackage acme.c.v1;\n\
                  // abide:allow(import-unused): kept for old readers\n\
                  import \"google/protobuf/any.proto\";\n";
    put(new.path(), &[("acme/c/v1/c.proto", waived)]);
    lines.extend(abide(new.path(), &["lint", "--waived", "--format", "json"]).json());
    let mut seen = std::collections::BTreeSet::new();
    for line in &lines {
        let kind = line["kind"].as_str().expect("every line has a kind");
        seen.insert(kind.to_owned());
        let name = match kind {
            "finding" | "waived" => "abide.report.v1.Finding",
            "summary" => "abide.report.v1.Summary",
            kind => panic!("`{kind}` has no message"),
        };
        covers(message(&tree, name), line);
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["finding", "summary", "waived"]);
    let printed = |key: &str| lines.iter().any(|line| line.get(key).is_some());
    for field in message(&tree, "abide.report.v1.Finding").fields() {
        assert!(printed(field.name()), "nothing prints `{}`", field.name());
    }
}

/// The mapping in binary is the one in JSON, and says of each deprecated element what takes its
/// place.
#[test]
fn the_mapping_is_what_its_proto_says() {
    let folder = tempfile::TempDir::new().unwrap();
    let api = repository().join("api").display().to_string();
    let config = format!("import-paths = [{api:?}]\n");
    let user = "\
syntax = \"proto3\";
package acme.user.v1;
import \"abide/annotations/v1/lifecycle.proto\";
message User {
  string mail = 1 [
    deprecated = true,
    (abide.annotations.v1.field_policy).replaced_by = \"email\"
  ];
  string email = 2 [(abide.annotations.v1.field_policy).migration.rename = \"address\"];
  int32 age = 3 [deprecated = true];
  string a = 4 [(abide.annotations.v1.field_policy).migration.promote_to_oneof = \"ab\"];
}
message Gone {
  option deprecated = true;
}
";
    run::put(folder.path(), &[("abide.toml", &config), ("acme/user/v1/user.proto", user)]);
    let args = ["upgrade", "--mapping", "m.json", "--mapping", "m.binpb"];
    let ran = abide(folder.path(), &args);
    assert_eq!((ran.status, ran.text().as_str()), (0, ""), "{}", ran.stderr);

    let json = std::fs::read_to_string(folder.path().join("m.json")).unwrap();
    let binary = std::fs::read(folder.path().join("m.binpb")).unwrap();
    let tree = read(&["abide/annotations/v1/status.proto", "abide/mapping/v1/mapping.proto"]);
    assert!(tree.problems().is_empty(), "{:?}", tree.problems());
    let ty = message(&tree, "abide.mapping.v1.VersionMapping").id;
    let read = Codec::new(&tree).decode(ty, &binary).unwrap();
    assert_eq!(Codec::new(&tree).to_json_with_declared_names(&read).unwrap() + "\n", json);

    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["files"][0]["new_path"], "acme/user/v2alpha/user.proto");
    let names = |value: &serde_json::Value| {
        let name = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
        (name("old_name"), name("new_name"))
    };
    let types: Vec<_> = json["types"].as_array().unwrap().iter().map(names).collect();
    let pair = |old: &str, new: &str| (old.to_owned(), new.to_owned());
    let user = pair("acme.user.v1.User", "acme.user.v2alpha.User");
    assert_eq!(types, [user, pair("acme.user.v1.Gone", "")]);
    let members: Vec<_> =
        json["types"][0]["members"].as_array().unwrap().iter().map(names).collect();
    assert_eq!(
        members,
        [pair("mail", ""), pair("email", "address"), pair("age", ""), pair("a", "a")]
    );
    assert_eq!(json["types"][0]["members"][3]["promoted_to"], "ab");
    let deprecations = json["deprecations"].as_array().unwrap();
    let told: Vec<_> = deprecations
        .iter()
        .map(|it| {
            let replacement = it["replacement"].as_str().unwrap_or_default();
            let translatable = it["translatable"].as_bool().unwrap_or_default();
            (it["old_name"].as_str().unwrap_or_default(), replacement, translatable)
        })
        .collect();
    assert_eq!(
        told,
        [
            ("acme.user.v1.User.mail", "acme.user.v2alpha.User.address", true),
            ("acme.user.v1.User.age", "", false),
            ("acme.user.v1.Gone", "", false),
        ]
    );
}

#[test]
fn the_plan_of_versions_is_what_its_proto_says() {
    let status = "abide/annotations/v1/status.proto";
    let tree = read(&[status, "abide/report/v1/plan.proto"]);
    assert!(tree.problems().is_empty(), "{:?}", tree.problems());
    let folder = tempfile::TempDir::new().unwrap();
    let user = "syntax = \"proto3\";\npackage acme.user.v1;\nmessage User { int32 a = 1; }\n";
    let shop = "syntax = \"proto3\";\npackage acme.shop.v1;\nimport \"old/user.proto\";\n\
                message Shop { acme.user.v1.User owner = 1; }\n";
    put(folder.path(), &[("old/user.proto", user), ("old/shop.proto", shop)]);
    let bump = |args: &[&str]| {
        let ran = abide(folder.path(), &[&["bump", "--format", "json"], args].concat());
        ran.json()
    };
    put(folder.path(), &[("abide.toml", "roots = [\".\"]\n")]);
    let mut lines = bump(&["--write"]);
    assert_eq!(abide(folder.path(), &["build", "-o", "old.binpb"]).status, 0);
    put(folder.path(), &[("old/user.proto", &user.replace("a = 1;", "a = 1; int32 b = 2;"))]);
    lines.extend(bump(&["--against", "old.binpb"]));
    put(folder.path(), &[("old/user.proto", &user.replace("int32 a = 1;", ""))]);
    lines.extend(bump(&["--against", "old.binpb"]));
    let names = [("package", "PackagePlan"), ("summary", "PlanSummary")];
    for line in &lines {
        let name = names.iter().find(|(kind, _)| line["kind"] == *kind).expect("a known kind").1;
        covers(message(&tree, &format!("abide.report.v1.{name}")), line);
    }
    for (kind, name) in names {
        let printed =
            |key: &str| lines.iter().any(|it| it["kind"] == kind && it.get(key).is_some());
        for field in message(&tree, &format!("abide.report.v1.{name}")).fields() {
            assert!(printed(field.name()), "nothing prints `{}`", field.full_name());
        }
    }
}

#[test]
fn the_history_is_what_its_proto_says() {
    let status = "abide/annotations/v1/status.proto";
    let tree = read(&[status, "abide/report/v1/history.proto"]);
    assert!(tree.problems().is_empty(), "{:?}", tree.problems());
    let folder = tempfile::TempDir::new().unwrap();
    let git = |args: &[&str]| {
        let identity = ["-c", "user.name=A", "-c", "user.email=a@example.com"];
        let mut git = std::process::Command::new("git");
        let ran = git.args(identity).args(args).current_dir(folder.path()).status();
        assert!(ran.expect("git is installed").success(), "git {args:?}");
    };
    git(&["init", "--quiet"]);
    let lifecycle = "abide/annotations/v1/lifecycle.proto";
    let [declared, policies] = [status, lifecycle]
        .map(|path| std::fs::read_to_string(repository().join("api").join(path)).unwrap());
    let user = |fields: &str| {
        format!(
            "syntax = \"proto3\";\npackage acme.user.v1;\nimport \"{status}\";\n\
             import \"abide/annotations/v1/lifecycle.proto\";\n\
             option (abide.annotations.v1.file_policy) = {{version: \"1.2.0\"}};\n\
             message User {{ {fields} }}\n"
        )
    };
    let disallowed = "string a = 1 [deprecated = true, \
                      (abide.annotations.v1.field_policy).disallowed_by_default = true];";
    for fields in ["int32 a = 1;", "string a = 1;", disallowed, ""] {
        put(
            folder.path(),
            &[
                (status, &declared),
                (lifecycle, &policies),
                ("acme/user/v1/user.proto", &user(fields)),
            ],
        );
        git(&["add", "--all"]);
        git(&["commit", "--quiet", "-m", "a step"]);
    }
    let mut lines = abide(folder.path(), &["history", "--format", "json"]).json();
    lines.extend(abide(folder.path(), &["history", "--fields", "--format", "json"]).json());
    let names = [
        ("commit", "Commit"),
        ("package", "Package"),
        ("summary", "Summary"),
        ("element", "Element"),
    ];
    for line in &lines {
        let name = names.iter().find(|(kind, _)| line["kind"] == *kind).expect("a known kind").1;
        covers(message(&tree, &format!("abide.report.v1.History{name}")), line);
    }
    let reasons = lines.iter().flat_map(|it| it["reasons"].as_array().into_iter().flatten());
    let reasons: Vec<&serde_json::Value> = reasons.collect();
    for (kind, name) in names.into_iter().chain([("", "Reason")]) {
        let of_kind = lines.iter().filter(|it| it["kind"] == kind);
        let all: Vec<&serde_json::Value> =
            if kind.is_empty() { reasons.clone() } else { of_kind.collect() };
        for field in message(&tree, &format!("abide.report.v1.History{name}")).fields() {
            let printed = all.iter().any(|it| it.get(field.name()).is_some());
            assert!(printed, "nothing prints `{}`", field.full_name());
        }
    }
}

/// What the calendar, its simulation, the list of deprecations and the owners print, and that they
/// print every field that is declared for them.
#[test]
fn the_lists_and_calculators_are_what_their_protos_say() {
    let status = "abide/annotations/v1/status.proto";
    let of = |name: &str| format!("abide/report/v1/{name}.proto");
    let reports = ["calendar", "deprecations", "owners", "report", "simulation"].map(of);
    let mut paths = vec![status];
    paths.extend(reports.iter().map(String::as_str));
    let tree = read(&paths);
    assert!(tree.problems().is_empty(), "{:?}", tree.problems());
    let folder = tempfile::TempDir::new().unwrap();
    let api = repository().join("api").display().to_string();
    let config = format!(
        "preset = \"envoy\"\nroots = [\"proto\"]\nimport-paths = [{api:?}]\n\
         [calendar]\nstable-since = {{ \"acme.user.v2\" = 2026-06-30 }}\n\
         [deprecation]\nremoval = \"never\"\n\
         freeze = {{ from = 2031-01-01, until = 2031-12-31 }}\n\
         [usage]\nfiles = [\"uses.jsonl\"]\n"
    );
    let uses = "{\"element\": \"acme.user.v1.User.a\", \"client\": \"shop\", \"count\": 3}\n";
    let policy = "(abide.annotations.v1.field_policy)";
    let user = |package: &str| {
        format!(
            "syntax = \"proto3\";\npackage {package};\n\
             import \"abide/annotations/v1/lifecycle.proto\";\n\
             message User {{\n  string a = 1 [deprecated = true, {policy} = \
             {{deprecated_at: \"2026-01-15\", replaced_by: \"b\"}}];\n  string b = 2;\n  \
             // Use `b`.\n  string c = 3 [deprecated = true];\n}}\n"
        )
    };
    let free = "proto/acme/user/v3alpha/user.proto";
    put(
        folder.path(),
        &[
            ("abide.toml", &config),
            ("proto/acme/user/v1/user.proto", &user("acme.user.v1")),
            ("proto/acme/user/v2/user.proto", &user("acme.user.v2")),
            (free, &user("acme.user.v3alpha")),
            ("CODEOWNERS", "v1 @acme/api\n"),
            ("uses.jsonl", uses),
        ],
    );
    assert_eq!(abide(folder.path(), &["build", "-o", "old.binpb"]).status, 0);
    let removed = "proto/acme/user/v1/user.proto";
    let mut lines = Vec::new();
    let mut run = |args: &[&str], name: &str| {
        let ran = abide(folder.path(), &[args, &["--format", "json"]].concat());
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{args:?}");
        lines.extend(ran.json().into_iter().map(|line| (name.to_owned(), line)));
    };
    run(&["calendar", "--as-of", "2026-04-01"], "");
    run(&["calendar", "--as-of", "2031-04-01"], "");
    run(&["deprecations", "--as-of", "2026-04-01"], "Deprecation");
    let life = ["--element", "acme.user.v1.User.a", "--major-every", "3", "--notice", "12"];
    run(&[&["calendar", "simulate", "--from", "2026-01-01"], &life[..]].concat(), "");
    std::fs::remove_file(folder.path().join(removed)).unwrap();
    std::fs::write(folder.path().join(free), user("acme.user.v3alpha") + "enum E { E_A = 0; }\n")
        .unwrap();
    run(&["owners", "--against", "old.binpb"], "Owner");
    let mut printed = std::collections::BTreeSet::new();
    for (of, line) in &lines {
        let kind = line["kind"].as_str().expect("every line has a kind");
        let name = match kind {
            "calendar" => "CalendarStatus".to_owned(),
            "deprecation" => "Deprecation".to_owned(),
            "simulation" => "Simulation".to_owned(),
            "fleet" => "FleetMajors".to_owned(),
            "bound" => "PolicyBound".to_owned(),
            "life" => "Life".to_owned(),
            "owners" => "PackageOwners".to_owned(),
            "summary" => format!("{of}Summary"),
            kind => panic!("`{kind}` has no message"),
        };
        let message = message(&tree, &format!("abide.report.v1.{name}"));
        covers(message, line);
        keys(message, line, &mut printed);
    }
    let declared = reports.iter().filter(|path| !path.ends_with("/report.proto"));
    let declared = declared.flat_map(|path| tree.files().filter(move |it| it.path() == path));
    for message in declared.flat_map(|file| file.messages()) {
        for field in message.fields() {
            assert!(printed.contains(&field.full_name()), "nothing prints `{}`", field.full_name());
        }
    }
}

#[test]
fn hashes_graphs_and_rules_are_what_their_protos_say() {
    let of = |name: &str| format!("abide/report/v1/{name}.proto");
    let reports = ["graph", "hash", "report", "rules"].map(of);
    let mut paths = vec!["abide/annotations/v1/status.proto"];
    paths.extend(reports.iter().map(String::as_str));
    let tree = read(&paths);
    assert!(tree.problems().is_empty(), "{:?}", tree.problems());
    let folder = tempfile::TempDir::new().unwrap();
    let config = "[[override]]\npackages = [\"acme.a.**\"]\nrules = { import-unused = \"error\" }\n\
                  [rules]\nimport-unused = \"note\"\n\
                  [breaking]\nlightest = \"options\"\n";
    let user = "syntax = \"proto3\";\npackage acme.user.v1;\nimport \"acme/a/v1alpha/a.proto\";\n\
                message U {\n  acme.a.v1alpha.A a = 1 [(acme.a.v1alpha.mark) = true];\n}\n";
    let a = "syntax = \"proto3\";\npackage acme.a.v1alpha;\n\
             import \"google/protobuf/descriptor.proto\";\nmessage A {}\n\
             extend google.protobuf.FieldOptions {\n  bool mark = 50001;\n}\n";
    put(
        folder.path(),
        &[("abide.toml", config), ("acme/user/v1/user.proto", user), ("acme/a/v1alpha/a.proto", a)],
    );
    let mut printed = std::collections::BTreeSet::new();
    let mut seen = |name: &str, value: &serde_json::Value| {
        let message = message(&tree, &format!("abide.report.v1.{name}"));
        covers(message, value);
        keys(message, value, &mut printed);
    };
    let graph = abide(folder.path(), &["graph", "--format", "json"]);
    assert_eq!((graph.status, graph.stderr.as_str()), (0, ""));
    seen("PackageGraph", &serde_json::from_str(&graph.text()).expect("it is one object"));
    for args in [&["hash"][..], &["rules"], &["check", ".", "--statistics"]] {
        let ran = abide(folder.path(), &[args, &["--format", "json"]].concat());
        assert!(ran.status < 2 && ran.stderr.is_empty(), "{args:?}: {}", ran.stderr);
        for line in ran.json() {
            let name = match line["kind"].as_str().expect("every line has a kind") {
                "file" | "message" | "package" => "HashEntry",
                "rule" => "RuleEntry",
                "value" => "ConfigValue",
                "count" => "RuleCount",
                "summary" => "Summary",
                kind => panic!("`{kind}` has no message"),
            };
            seen(name, &line);
        }
    }
    let own = tempfile::TempDir::new().unwrap();
    put(own.path(), &[("abide.toml", OWN_RULE)]);
    let ran = abide(own.path(), &["rules", "test", "--format", "json"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (1, ""));
    for line in ran.json() {
        let is_example = line["kind"] == "example";
        seen(if is_example { "RuleExample" } else { "RuleExampleSummary" }, &line);
    }
    let declared = reports.iter().filter(|path| !path.ends_with("/report.proto"));
    let declared = declared.flat_map(|path| tree.files().filter(move |it| it.path() == path));
    for field in declared.flat_map(|file| file.messages()).flat_map(|it| it.fields()) {
        assert!(printed.contains(&field.full_name()), "nothing prints `{}`", field.full_name());
    }
}

/// The full names of the fields that an object has, at any depth.
fn keys(
    message: Message<'_>,
    value: &serde_json::Value,
    to: &mut std::collections::BTreeSet<String>,
) {
    for (key, value) in value.as_object().into_iter().flatten() {
        let field = message.field_named(key).expect("the message covers the object");
        to.insert(field.full_name());
        let values = value.as_array().map_or_else(|| vec![value], |list| list.iter().collect());
        for value in values {
            field.message_type().into_iter().for_each(|inner| keys(inner, value, to));
        }
    }
}
