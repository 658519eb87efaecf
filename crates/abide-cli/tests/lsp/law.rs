//! What an editor shows is what a check prints.

use std::path::Path;
use std::process::Command;

use fastrand::Rng;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::{Client, position};
use crate::run::{abide, put};

/// A tree with a baseline in git: two versions of an API, and types that others use.
const FILES: &[(&str, &str)] = &[
    ("abide.toml", "against = \"git:HEAD\"\n"),
    (
        "acme/type/v1/money.proto",
        "syntax = \"proto3\";\npackage acme.type.v1;\n// 😀 字\nmessage Money {\n  string currency = 1;\n  int64 units = 2;\n}\nenum Kind {\n  KIND_UNSPECIFIED = 0;\n  KIND_CASH = 1;\n}\n",
    ),
    (
        "acme/shop/v1/shop.proto",
        "syntax = \"proto3\";\npackage acme.shop.v1;\nimport \"acme/type/v1/money.proto\";\nmessage Order {\n  string id = 1; // 😀\n  acme.type.v1.Money price = 2;\n  acme.type.v1.Kind kind = 3;\n  oneof where {\n    string street = 4;\n    string box = 5;\n  }\n}\nmessage GetOrderRequest {\n  string id = 1;\n}\nservice Shop {\n  rpc GetOrder(GetOrderRequest) returns (Order);\n}\n",
    ),
    (
        "acme/shop/v2alpha/shop.proto",
        "syntax = \"proto3\";\npackage acme.shop.v2alpha;\nimport \"acme/type/v1/money.proto\";\nmessage Order {\n  string id = 1;\n  acme.type.v1.Money price = 2;\n}\n",
    ),
];

pub(crate) fn commit(folder: &Path) {
    let git = |args: &[&str]| {
        let done = Command::new("git").arg("-C").arg(folder).args(args).output().unwrap();
        assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
    };
    git(&["init", "-q", "-b", "main"]);
    git(&["add", "-A"]);
    let who = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
    git(&[&who[..], &["commit", "-q", "-m", "one"]].concat());
}

/// The findings that a check prints for a file, each with its range in UTF-16, sorted.
fn printed(folder: &Path, name: &str, text: &str) -> Vec<String> {
    let report = abide(folder, &["check", "--format", "json", "--quiet"]);
    let all = abide(folder, &["check", "--format", "json"]);
    assert_eq!(report.status, all.status);
    let findings = all.json().into_iter().filter(|it| it["kind"] == "finding");
    let here = findings.filter(|it| it["path"] == name && it.get("start").is_some());
    let mut found: Vec<String> = here
        .map(|it| {
            let place = |it: &Value| {
                let (line, column) = (it["line"].as_u64().unwrap(), it["column"].as_u64().unwrap());
                let start: usize =
                    text.split_inclusive('\n').take(line as usize - 1).map(str::len).sum();
                let letters = text[start..].chars().take(column as usize - 1);
                let at = start + letters.map(char::len_utf8).sum::<usize>();
                position(text, at)
            };
            // What is gone may have been where there is no text any more.
            if it["old"]["start"] == it["start"] && it["rule"] == "package-removed" {
                return format!("{} {}", it["rule"], it["message"]);
            }
            row(&place(&it["start"]), &place(&it["end"]), &it["rule"], &it["message"])
        })
        .collect();
    found.sort();
    found
}

fn shown(found: &[Value]) -> Vec<String> {
    let row = |it: &Value| {
        let message = it["message"].as_str().unwrap().lines().next().unwrap();
        if it["code"] == "package-removed" {
            return format!("{} {}", it["code"], json!(message));
        }
        row(&it["range"]["start"], &it["range"]["end"], &it["code"], &json!(message))
    };
    let mut found: Vec<String> = found.iter().map(row).collect();
    found.sort();
    found
}

fn row(start: &Value, end: &Value, rule: &Value, message: &Value) -> String {
    let place = |it: &Value| format!("{}:{}", it["line"], it["character"]);
    format!("{}-{} {rule} {message}", place(start), place(end))
}

/// One edit of a text: letters that go, and what comes.
fn edit(random: &mut Rng, text: &str) -> (usize, usize, String) {
    const PIECES: &[&str] = &[
        "",
        "",
        " ",
        "\n",
        ";",
        "}",
        "string name = 9;\n",
        "// 字😀\n",
        "message Extra {}\n",
        "message More { string name = 1; }\n",
        "// one more line\n",
        "import \"acme/type/v1/money.proto\";\n",
        "import \"gone.proto\";\n",
        "Money",
        "  reserved 1;\n",
        "repeated ",
        "\r\n",
        "KIND_CARD = 2;\n",
        "\t",
        "1",
        "_",
    ];
    let bounds: Vec<usize> = text.char_indices().map(|it| it.0).chain([text.len()]).collect();
    let at = random.usize(..bounds.len());
    // Whole words and lines go more often than letters.
    let end = match random.u8(..4) {
        0 => at,
        1 => (at + 1).min(bounds.len() - 1),
        2 => (at + random.usize(..12)).min(bounds.len() - 1),
        _ => {
            let rest = &text[bounds[at]..];
            let line = rest.find('\n').map_or(rest.len(), |it| it + 1);
            bounds.iter().position(|it| *it == bounds[at] + line).unwrap()
        }
    };
    (bounds[at], bounds[end], (*random.choice(PIECES).unwrap()).to_owned())
}

/// An edit after which the text mostly parses: of others there is little to show.
fn likely_edit(random: &mut Rng, text: &str) -> (usize, usize, String) {
    for _ in 0..30 {
        let (start, end, piece) = edit(random, text);
        let mut edited = text.to_owned();
        edited.replace_range(start..end, &piece);
        if abide_syntax::parse(edited.as_bytes()).1.is_empty() {
            return (start, end, piece);
        }
        if random.u8(..10) == 0 {
            break;
        }
    }
    edit(random, text)
}

#[test]
fn after_any_edits_an_editor_shows_what_a_check_prints() {
    let mut random = Rng::with_seed(7);
    let mut seen = std::collections::BTreeSet::new();
    for round in 0..9 {
        let folder = TempDir::new().unwrap();
        put(folder.path(), FILES);
        commit(folder.path());
        let mut client = Client::start(folder.path(), &[]);
        let mut texts: Vec<(&str, String)> =
            FILES[1..].iter().map(|(name, text)| (*name, (*text).to_owned())).collect();
        for (name, text) in &texts {
            client.open(name, text);
        }
        let mut version = 1;
        for _ in 0..4 {
            version += 1;
            let (name, text) = random.choice(&mut texts).unwrap();
            let mut changes = Vec::new();
            for _ in 0..random.usize(1..3) {
                let (start, end, piece) = likely_edit(&mut random, text);
                let range = json!({ "start": position(text, start), "end": position(text, end) });
                changes.push(json!({ "range": range, "text": piece }));
                text.replace_range(start..end, &piece);
            }
            client.edit(name, version, json!(changes));
            std::fs::write(folder.path().join(&name), &*text).unwrap();
            for (name, text) in &texts {
                let wanted = printed(folder.path(), name, text);
                let what = format!("round {round}, {name}:\n{text}");
                client.wait_until(name, &what, shown, &wanted);
                seen.extend(wanted.iter().filter_map(|it| it.split(' ').nth(1).map(str::to_owned)));
            }
        }
        assert_eq!(client.stop(), Some(0));
    }
    // The edits are of many kinds.
    assert!(seen.len() > 6, "{seen:?}");
    assert!(seen.iter().any(|it| it.contains("removed")), "{seen:?}");
}

#[test]
fn a_hundred_edits_without_a_pause_end_as_a_fresh_check() {
    let folder = TempDir::new().unwrap();
    put(folder.path(), FILES);
    commit(folder.path());
    let (name, mut text) = (FILES[2].0, FILES[2].1.to_owned());
    let mut client = Client::start(folder.path(), &[]);
    client.open(name, &text);
    let mut random = Rng::with_seed(11);
    for version in 2..102 {
        let (start, end, piece) = edit(&mut random, &text);
        let range = json!({ "start": position(&text, start), "end": position(&text, end) });
        text.replace_range(start..end, &piece);
        client.edit(name, version, json!([{ "range": range, "text": piece }]));
    }
    std::fs::write(folder.path().join(name), &text).unwrap();
    let wanted = printed(folder.path(), name, &text);
    assert!(!wanted.is_empty());
    client.wait_until(name, &text, shown, &wanted);
    assert_eq!(client.stop(), Some(0));
}
