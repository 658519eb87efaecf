//! Every command with `--format json`, on real trees: each line is what `api/abide/report` says, to
//! two readers that refuse every name they do not know, and has only words that are documented.

use std::path::Path;
use std::sync::Arc;

use abide_schema::value::{Codec, UndeclaredPolicy};
use abide_schema::{File, FileDecl, Tree};
use prost_reflect::{DescriptorPool, DynamicMessage};
use serde_json::Value;
use tempfile::TempDir;

use crate::breaking::commit;
use crate::run::{Ran, abide, put, repository};

/// By key: the words that it may have.
const WORDS: &[(&str, &[&str])] = &[
    ("severity", &["error", "warning", "note", "off"]),
    ("effective_severity", &["error", "warning", "note", "off"]),
    ("bump", &["major", "minor", "patch", "none"]),
    ("required_bump", &["major", "minor", "patch", "none"]),
    ("direction", &["backward", "forward"]),
    ("directions", &["backward", "forward"]),
    ("stability", &["alpha", "beta", "stable"]),
    ("surface", SURFACES),
    ("surfaces", SURFACES),
];

const SURFACES: &[&str] = &[
    "wire",
    "json",
    "text",
    "rpc",
    "rest",
    "type-url",
    "validation",
    "source-cpp",
    "source-go",
    "source-java",
    "source-python",
    "source-csharp",
    "source-objc",
    "source-php",
    "source-ruby",
    "source-swift",
    "source-gapic",
];

/// The protos of the reports, for both readers.
struct Reports {
    tree: Tree,
    pool: DescriptorPool,
}

impl Reports {
    fn new() -> Reports {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("api.binpb");
        let out = path.to_str().unwrap();
        assert_eq!(abide(&repository(), &["build", "api", "-o", out]).status, 0);
        let set = std::fs::read(&path).unwrap();
        let decls = FileDecl::from_descriptor_set(&set.as_slice().into());
        let decls = decls.expect("it was just written").into_iter().map(Arc::new);
        let tree = Tree::link(decls.collect());
        let pool = DescriptorPool::decode(&set[..]).expect("it is a descriptor set");
        Reports { tree, pool }
    }

    /// Reads an object as a message, with both readers.
    fn read(&self, name: &str, line: &Value) {
        let text = line.to_string();
        let mut messages = self.tree.files().flat_map(File::messages);
        let ty = messages.find(|it| it.full_name() == name);
        let ty = ty.unwrap_or_else(|| panic!("there is no `{name}`")).id;
        let reading =
            Codec::new(&self.tree).read_json(ty, text.as_bytes(), UndeclaredPolicy::Refuse);
        assert!(reading.errors.is_empty(), "{name}: {:?}: {text}", reading.errors);
        let ty = self.pool.get_message_by_name(name).expect("both have the same protos");
        let mut deserializer = serde_json::Deserializer::from_str(&text);
        let other = DynamicMessage::deserialize(ty, &mut deserializer);
        other.unwrap_or_else(|error| panic!("{name}: {error}: {text}"));
        words(line);
    }

    /// Reads all that a command printed. Returns how many objects there are.
    fn read_all(&self, args: &[&str], ran: &Ran) -> usize {
        assert!(ran.status < 2, "{args:?}: {}", ran.stderr);
        // A graph is one object, of many lines.
        let lines = match serde_json::from_slice(&ran.stdout) {
            Ok(object) => vec![object],
            Err(_) => ran.json(),
        };
        for line in &lines {
            self.read(&format!("abide.report.v1.{}", message(args[0], line)), line);
        }
        lines.len()
    }
}

/// Every word that an object has, at any depth, is documented.
fn words(value: &Value) {
    for (key, value) in value.as_object().into_iter().flatten() {
        let values = value.as_array().map_or_else(|| vec![value], |it| it.iter().collect());
        let known = WORDS.iter().find(|(it, _)| it == key);
        for value in values {
            if let (Some((_, known)), Some(word)) = (known, value.as_str()) {
                assert!(known.contains(&word), "`{key}` is `{word}`");
            }
            words(value);
        }
    }
}

/// The message of a line.
fn message(command: &str, line: &Value) -> &'static str {
    match (line["kind"].as_str().unwrap_or_default(), command) {
        ("", "graph") => "PackageGraph",
        ("finding", _) => "Finding",
        ("message" | "field" | "enum-value", "config") => "UsableDeprecation",
        ("count", _) => "RuleCount",
        ("file" | "message" | "package", "hash") => "HashEntry",
        ("package", "bump") => "PackagePlan",
        ("package", "history") => "HistoryPackage",
        ("commit", _) => "HistoryCommit",
        ("release", _) => "HistoryRelease",
        ("release-break", _) => "HistoryReleaseBreak",
        ("summary", "history") if line["releases"].is_number() => "HistoryReleaseSummary",
        ("use", _) => "CodeUse",
        ("", "usage") => "ElementUse",
        ("summary", "usage") => "CodeUseSummary",
        ("element", _) => "HistoryElement",
        ("rule", _) => "RuleEntry",
        ("example", _) => "RuleExample",
        ("value", "rules") => "ConfigValue",
        ("calendar", _) => "CalendarStatus",
        ("simulation", _) => "Simulation",
        ("fleet", _) => "FleetMajors",
        ("bound", _) => "PolicyBound",
        ("life", _) => "Life",
        ("deprecation", _) => "Deprecation",
        ("owners", _) => "PackageOwners",
        ("dependency", _) => "Dependency",
        ("import", _) => "Import",
        ("summary", "deps") => "DependencySummary",
        ("key", _) => "RuntimeKey",
        ("problem", "runtime") => "RuntimeProblem",
        ("summary", "runtime") => "RuntimeSummary",
        ("change", "config") => "InstanceChange",
        ("translation", _) => "Translation",
        ("summary", "bump") => "PlanSummary",
        ("summary", "history") => "HistorySummary",
        ("summary", "deprecations") => "DeprecationSummary",
        ("summary", "owners") => "OwnerSummary",
        ("summary", "config") if line["changes"].is_number() => "InstanceDiffSummary",
        ("summary", _) => "Summary",
        (kind, _) => panic!("`{kind}` of `{command}` has no message"),
    }
}

/// Copies what is below a folder.
pub(crate) fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let there = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy(&path, &there),
            false => {
                std::fs::create_dir_all(to).unwrap();
                std::fs::copy(&path, there).unwrap();
            }
        }
    }
}

#[test]
fn every_line_of_every_command_is_what_its_proto_says() {
    let reports = Reports::new();
    let trees = [
        ("testdata/trees/acme", None),
        ("testdata/cli/shapes", None),
        ("testdata/cli/changes/new", Some("testdata/cli/changes/old")),
        ("api", Some("testdata/cli/changes/old")),
    ];
    let top = repository();
    for (tree, old) in trees {
        let imports = ["-I", "testdata/imports", "--format", "json", "--as-of", "2026-01-15"];
        let mut runs = vec![
            vec!["check", tree],
            vec!["check", tree, "--statistics"],
            vec!["lint", tree],
            vec!["hash", tree],
            vec!["hash", tree, "--fields"],
            vec!["graph", tree],
            vec!["deprecations", tree],
            vec!["calendar", tree],
            vec!["owners", tree],
        ];
        if let Some(old) = old {
            runs.push(vec!["check", tree, "--against", old, "--changes"]);
            runs.push(vec!["breaking", tree, "--against", old, "--changes"]);
            runs.push(vec!["bump", tree, "--against", old]);
        }
        for mut args in runs {
            args.extend(imports);
            let ran = abide(&top, &args);
            // What does not link has no record, and no versions are counted for it.
            let may_be_empty = ran.status == 1;
            assert!(reports.read_all(&args, &ran) > 0 || may_be_empty, "{args:?}");
        }
    }
    let config = ["config", "deprecations", "--api", "testdata/trees/acme", "--format", "json"];
    assert!(reports.read_all(&config, &abide(&top, &config)) > 0);
    let simulate = ["calendar", "simulate", "--preset", "envoy", "--from", "2026-01-01"];
    for args in [&simulate[..], &["rules", "--preset", "google"]] {
        let args = [args, &["--format", "json"]].concat();
        assert!(reports.read_all(&args, &abide(&top, &args)) > 3, "{args:?}");
    }
}

#[test]
fn runtimes_and_differences_of_instances_are_what_their_protos_say() {
    let reports = Reports::new();
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let text = "node: {cluster: c}\nlayered_runtime:\n  layers:\n  - {name: a, static_layer: {b: true, \
                n: 1, f: 2.5, t: x, q: 'true', s: {numerator: 1, denominator: MILLION}, l: []}}\n  \
                - {name: d, disk_layer: {symlink_root: ./no}}\n  - {name: a, admin_layer: {}}\n";
    put(folder, &[("a.yaml", text), ("b/numerator", "1")]);
    put(folder, &[("b.yaml", &text.replace("./no", "./b"))]);
    let proto = "syntax = \"proto3\"; package acme.v1; message M { string a = 1; map<string, int32> m = 2; }";
    put(folder, &[("api/acme/v1/m.proto", proto)]);
    put(folder, &[("old.txtpb", "a: 'x' m { key: 'k' value: 1 }"), ("new.txtpb", "a: 'y'")]);
    for file in ["a.yaml", "b.yaml"] {
        let args = ["runtime", "show", file, "--format", "json", "--service-node", "me"];
        assert!(reports.read_all(&args, &abide(folder, &args)) > 8, "{args:?}");
    }
    let diff = ["config", "diff", "old.txtpb", "new.txtpb", "--api", "api", "--type", "acme.v1.M"];
    let args = [&diff[..], &["--format", "json"]].concat();
    assert_eq!(reports.read_all(&args, &abide(folder, &args)), 3);
}

#[test]
fn uses_and_several_old_trees_are_what_their_protos_say() {
    let reports = Reports::new();
    let uses = repository().join("testdata/uses");
    for format in ["json", "jsonl"] {
        let args = ["usage", "client.go", "client.py", "--tree", ".", "--format", format];
        assert!(reports.read_all(&args, &abide(&uses, &args)) > 10, "{format}");
    }
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let file = |fields: &str| {
        format!("syntax = \"proto3\";\npackage acme.mine.v1;\nmessage User {{ {fields} }}\n")
    };
    let path = "acme/mine/v1/user.proto";
    for (tag, fields) in [
        ("v1", "string a = 1; string b = 2 [deprecated = true];"),
        ("v2", "string b = 2 [deprecated = true];"),
    ] {
        put(folder, &[(path, &file(fields))]);
        commit(folder);
        crate::history::git(folder, &["tag", tag]);
    }
    put(folder, &[(path, &file("int32 a = 1; string b = 2 [deprecated = true];"))]);
    let used = "{\"element\":\"acme.mine.v1.User\",\"client\":\"c\",\"last\":\"2026-01-01\",\"count\":2}\n";
    put(folder, &[("u.jsonl", used), ("abide.toml", "[usage]\nfiles = [\"u.jsonl\"]\n")]);
    for args in [
        &["breaking", "--against", "git:every(v*)"][..],
        &["deprecations"],
        &["history", "--every", "v*"],
    ] {
        let args = [args, &["--format", "json"]].concat();
        let ran = abide(folder, &args);
        assert!(reports.read_all(&args, &ran) > 1, "{args:?}");
        assert!(args[0] == "history" || ran.text().contains("\"users\""), "{}", ran.text());
    }
}

#[test]
fn a_translation_is_what_its_proto_says() {
    let reports = Reports::new();
    let folder = TempDir::new().unwrap();
    let old =
        "syntax = \"proto3\";\npackage a.v1;\nmessage M { string one = 1; string two = 2; }\n";
    let new = "syntax = \"proto3\";\npackage a.v2;\nmessage M { string uno = 1; }\n";
    let text = "# proto-message: a.v1.M\none: x\ntwo: y   # lost\n";
    let files = [("api/a/v1/a.proto", old), ("api/a/v2/a.proto", new), ("m.yaml", text)];
    put(folder.path(), &files);
    let args = ["config", "upgrade", "m.yaml", "--api", "api", "--check", "--format", "json"];
    let args = [&args[..], &["--allow-loss"]].concat();
    let ran = abide(folder.path(), &args);
    let line = ran.json().into_iter().next().unwrap();
    assert_eq!(line["changes"][0]["new"], "a.v2.M.uno");
    assert_eq!(line["notes"][0]["start"]["line"], 3);
    assert_eq!(line["changed"], true);
    assert_eq!(reports.read_all(&args, &ran), 3, "{}", ran.text());
}

#[test]
fn a_history_and_a_mapping_are_what_their_protos_say() {
    let reports = Reports::new();
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    copy(&repository().join("testdata/trees/acme"), folder);
    commit(folder);
    let user = "syntax = \"proto3\";\npackage acme.mine.v1;\nmessage User {\n  // Use `b`.\n  \
                string a = 1 [deprecated = true];\n  string b = 2;\n}\n";
    put(folder, &[("acme/mine/v1/user.proto", user)]);
    commit(folder);
    for args in [&["history"][..], &["history", "--fields"]] {
        let args = [args, &["--format", "json"]].concat();
        assert!(reports.read_all(&args, &abide(folder, &args)) > 3, "{args:?}");
    }
    let mine = TempDir::new().unwrap();
    put(mine.path(), &[("acme/mine/v1/user.proto", user)]);
    let ran = abide(mine.path(), &["upgrade", "--mapping", "m.json"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let mapping = std::fs::read_to_string(mine.path().join("m.json")).unwrap();
    let mapping: Value = serde_json::from_str(&mapping).unwrap();
    assert_eq!(mapping["files"][0]["new_package"], "acme.mine.v2alpha");
    reports.read("abide.mapping.v1.VersionMapping", &mapping);
}
