//! Who uses what: files of uses, and uses that are found in source code.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::run::{abide, put};

const OLD: &str = "syntax = \"proto3\";\npackage acme.user.v1;\nmessage User {\n  string name = 1;\n  \
                   string mail = 2;\n  string nick = 3 [deprecated = true];\n}\n";

const NEW: &str = "syntax = \"proto3\";\npackage acme.user.v1;\nmessage User {\n  reserved 2;\n  \
                   reserved \"mail\";\n  string name = 1;\n  string nick = 3 [deprecated = true];\n}\n";

const USES: &str = r#"{"element":"acme.user.v1.User.mail","client":"billing","release":"2.1","last":"2026-03-01","count":12}
{"element":"acme.user.v1.User.nick","client":"checkout"}

{"element":"acme.user.v1.User","client":"audit","last":"2026-01-01","count":1}
"#;

const CONFIG: &str = "roots = [\"new\"]\nagainst = \"old\"\n[usage]\nfiles = [\"uses/*.jsonl\"]\n";

/// A tree from which a field was removed that clients use.
fn removal(config: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    put(
        folder.path(),
        &[
            ("old/acme/user/v1/user.proto", OLD),
            ("new/acme/user/v1/user.proto", NEW),
            ("uses/all.jsonl", USES),
            ("abide.toml", config),
        ],
    );
    folder
}

#[test]
fn findings_name_the_clients_of_an_element_in_every_format() {
    let folder = removal(CONFIG);
    let run = |format: &str| {
        abide(folder.path(), &["breaking", "--format", format, "--as-of", "2026-04-01"]).text()
    };
    let said =
        "used by: audit (last on 2026-01-01, once), billing (2.1, last on 2026-03-01, 12 times)";
    for format in ["human", "github", "gitlab", "markdown", "comment", "sarif", "junit"] {
        assert!(run(format).contains(said), "{format}: {}", run(format));
    }
    let page = run("html");
    assert!(
        page.contains("<dt>used by</dt><dd>audit (last on 2026-01-01, once), billing"),
        "{page}"
    );
    let users = json!([
        { "client": "audit", "last": "2026-01-01", "count": 1 },
        { "client": "billing", "releases": ["2.1"], "last": "2026-03-01", "count": 12 },
    ]);
    let json = abide(folder.path(), &["breaking", "--format", "json"]).json();
    let removed: Vec<&Value> = json.iter().filter(|it| it["rule"] == "field-removed").collect();
    assert_eq!(removed.len(), 1);
    assert_eq!(removed[0]["users"], users);
    let sarif: Value = serde_json::from_str(&run("sarif")).unwrap();
    assert_eq!(sarif["runs"][0]["results"][0]["properties"]["users"], users);
}

#[test]
fn a_malformed_line_is_an_error_at_its_line() {
    let folder = removal(CONFIG);
    for (text, says) in [
        ("\n{\"element\": \"a\"}\n", "`uses/bad.jsonl`, line 2: `client` is missing"),
        ("nothing\n", "`uses/bad.jsonl`, line 1: expected an object"),
        ("{\"element\":\"a\",\"client\":\"b\",\"last\":\"soon\"}", "line 1: `soon` is not a day"),
    ] {
        put(folder.path(), &[("uses/bad.jsonl", text)]);
        for command in ["breaking", "check", "deprecations"] {
            let ran = abide(folder.path(), &[command]);
            assert_eq!(ran.status, 2, "{}", ran.text());
            assert!(ran.stderr.contains(says), "{}", ran.stderr);
        }
    }
    put(folder.path(), &[("abide.toml", &CONFIG.replace("uses/*", "other/*"))]);
    let ran = abide(folder.path(), &["breaking"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("matches no file: other/*.jsonl"), "{}", ran.stderr);
    put(folder.path(), &[("abide.toml", &CONFIG.replace("files", "file"))]);
    let ran = abide(folder.path(), &["breaking"]);
    assert!(ran.stderr.contains("did you mean `files`"), "{}", ran.stderr);
}

#[test]
fn what_nobody_uses_any_more_may_go() {
    let unused = "[deprecation]\nremoval = \"unused\"\nunused-days = 30\n";
    let folder = removal(&format!("{CONFIG}{unused}"));
    let folder = folder.path();
    let run = |day: &str| {
        let ran = abide(folder, &["breaking", "-q", "--as-of", day]);
        // Lines end where the width does.
        let words: Vec<String> = ran.text().split_whitespace().map(str::to_owned).collect();
        (ran.status, words.join(" "))
    };
    let refused = run("2026-03-30");
    let says = "`billing` used it on 2026-03-01, so it may go from 2026-03-31 on";
    assert!(refused.0 == 1 && refused.1.contains(says), "{}", refused.1);
    assert_eq!(run("2026-03-31").0, 0, "{}", run("2026-03-31").1);

    // Without a day it may be used today.
    let more = r#"{"element":"acme.user.v1.User.mail","client":"late"}"#;
    put(folder, &[("uses/more.jsonl", more)]);
    let refused = run("2030-01-01");
    assert!(refused.1.contains("`late` uses it"), "{}", refused.1);
    // Nobody knows who uses it without files.
    put(folder, &[("abide.toml", &format!("roots = [\"new\"]\nagainst = \"old\"\n{unused}"))]);
    let refused = run("2030-01-01");
    assert!(refused.0 == 1 && refused.1.contains("no file says who uses it"), "{}", refused.1);
}

#[test]
fn deprecations_list_who_still_uses_them() {
    let folder = removal(CONFIG);
    let run = |format: &str| abide(folder.path(), &["deprecations", "--format", format]);
    let said = "used by audit (last on 2026-01-01, once), checkout";
    assert!(run("human").text().contains(said), "{}", run("human").text());
    assert!(run("markdown").text().contains("| used by |"), "{}", run("markdown").text());
    let entry = &run("json").json()[0];
    assert_eq!(entry["users"][1], json!({ "client": "checkout" }), "{entry}");
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/uses")
}

/// The elements that the comments of a file say its lines use.
fn read_marks(text: &str) -> BTreeMap<u64, BTreeSet<String>> {
    let marks = (1..).zip(text.lines()).filter_map(|(line, text)| {
        let (_, names) = text.split_once("uses:")?;
        let names = names.split(',').map(|it| it.trim().to_owned()).filter(|it| !it.is_empty());
        let names: BTreeSet<String> = names.collect();
        (!names.is_empty()).then_some((line, names))
    });
    marks.collect()
}

#[test]
fn code_in_each_language_uses_what_its_comments_say() {
    for name in ["client.go", "Client.java", "client.py", "client.cc"] {
        let args = ["usage", name, "--tree", ".", "--format", "json"];
        let ran = abide(&fixtures(), &args);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        let mut found: BTreeMap<u64, BTreeSet<String>> = BTreeMap::new();
        for row in ran.json().iter().filter(|it| it["kind"] == "use") {
            let element = row["element"].as_str().unwrap().strip_prefix("acme.user.v1.").unwrap();
            found.entry(row["line"].as_u64().unwrap()).or_default().insert(element.to_owned());
        }
        let text = std::fs::read_to_string(fixtures().join(name)).unwrap();
        let expected = read_marks(&text);
        assert!(!expected.is_empty());
        let differ = |it: &&u64| found.get(it) != expected.get(it);
        let lines: BTreeSet<&u64> = found.keys().chain(expected.keys()).filter(differ).collect();
        let told: Vec<String> = lines
            .iter()
            .map(|it| format!("{it}: {:?} instead of {:?}", found.get(it), expected.get(it)))
            .collect();
        assert!(told.is_empty(), "{name}:\n{}", told.join("\n"));
    }
}

#[test]
fn uses_in_code_are_written_as_a_file_of_uses() {
    let folder = removal(CONFIG);
    let folder = folder.path();
    let code = "from acme.user.v1 import user_pb2\n\nprint(user_pb2.User(mail='x').mail)\n";
    put(folder, &[("code/a.py", code), ("code/b_pb2.py", code), ("code/c.txt", code)]);
    let args = ["usage", "code", "--tree", "old", "--format", "jsonl", "--last", "2026-02-02"];
    let ran = abide(folder, &[&args[..], &["--client", "shop", "--release", "3"]].concat());
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let line = |element: &str, count: u64| json!({ "element": element, "client": "shop", "release": "3", "last": "2026-02-02", "count": count });
    let expected = [line("acme.user.v1.User", 1), line("acme.user.v1.User.mail", 1)];
    assert_eq!(ran.json(), expected);
    put(folder, &[("uses/all.jsonl", &ran.text())]);
    let report = abide(folder, &["breaking"]).text();
    assert!(report.contains("used by: shop (3, last on 2026-02-02, once)"), "{report}");

    for (args, says) in [
        (&["usage", "none.go", "--tree", "old"][..], "cannot read `none.go`"),
        (&["usage", "code/c.txt", "--tree", "old"], "not a file in Go, Java, Python or C++"),
        (&["usage", "code", "--tree", "none"], "none"),
    ] {
        let ran = abide(folder, args);
        assert_eq!(ran.status, 2, "{}", ran.text());
        assert!(ran.stderr.contains(says), "{}", ran.stderr);
    }
}
