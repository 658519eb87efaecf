//! What an editor shows while someone types.

use serde_json::json;
use tempfile::TempDir;

use crate::client::{Client, capabilities, uri};
use crate::law::commit;
use crate::run::put;

const USER: &str = "\
syntax = \"proto3\";
package acme.user.v1;
message User {
  string name = 1;
}
";

#[test]
fn errors_of_syntax_links_and_lint_are_shown_on_unsaved_text() {
    let folder = TempDir::new().unwrap();
    put(folder.path(), &[("acme/user/v1/user.proto", USER)]);
    let name = "acme/user/v1/user.proto";
    let mut client = Client::start(folder.path(), &[]);
    client.open(name, USER);
    assert_eq!(client.diagnostics(name, 1), [""; 0]);

    client.replace(name, 2, &USER.replace("name = 1", "name = "));
    assert_eq!(client.diagnostics(name, 2), ["3:16-3:17 syntax-error"]);
    client.replace(name, 3, &USER.replace("string name", "Nobody name"));
    assert_eq!(client.diagnostics(name, 3), ["3:2-3:8 name-not-found"]);
    let import = "package acme.user.v1;\nimport \"google/protobuf/any.proto\";";
    client.replace(name, 4, &USER.replace("package acme.user.v1;", import));
    let found = client.wait_for(name, |version, _| version == Some(4));
    assert_eq!(found[0]["code"], "import-unused");
    assert_eq!(found[0]["tags"], json!([1]));
    // The edit of a few letters, as an editor sends it: the import is typed away.
    let line = |line: u32| json!({ "line": line, "character": 0 });
    let range = json!({ "start": line(2), "end": line(3) });
    client.edit(name, 5, json!([{ "range": range, "text": "" }]));
    assert_eq!(client.diagnostics(name, 5), [""; 0]);
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn breaking_changes_are_shown_with_the_old_place() {
    let folder = TempDir::new().unwrap();
    let name = "acme/user/v1/user.proto";
    put(folder.path(), &[("abide.toml", "against = \"git:HEAD\"\n"), (name, USER)]);
    commit(folder.path());
    let mut client = Client::start(folder.path(), &[]);
    let text = USER.replace("string name = 1", "int32 name = 1");
    client.open(name, &text);
    let found = client.wait_for(name, |version, found| version == Some(1) && !found.is_empty());
    let found = found.iter().find(|it| it["code"] == "field-type-changed").expect("it is shown");
    assert_eq!(found["severity"], 1);
    assert!(found["message"].as_str().unwrap().contains("breaks: wire"), "{found:#}");
    let old = &found["relatedInformation"][0];
    assert_eq!(old["location"]["uri"], client.uri(name));
    assert_eq!(old["location"]["range"]["start"]["line"], 3);
    assert!(old["message"].as_str().unwrap().starts_with("before: string"), "{old}");
    // Once it is committed, it is no change any more.
    put(folder.path(), &[(name, &text)]);
    commit(folder.path());
    client.notify("textDocument/didSave", json!({ "textDocument": { "uri": client.uri(name) } }));
    client.wait_for(name, |_, found| found.is_empty());
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn changes_outside_of_the_editor_count() {
    let folder = TempDir::new().unwrap();
    let (a, b) = ("acme/a/v1/a.proto", "acme/b/v1/b.proto");
    let text = "syntax = \"proto3\";\npackage acme.b.v1;\nimport \"acme/a/v1/a.proto\";\nmessage B { acme.a.v1.A a = 1; }\n";
    put(folder.path(), &[("abide.toml", ""), (b, text)]);
    let mut client = Client::start(folder.path(), &[]);
    client.open(b, text);
    client.wait_for(b, |_, found| found.iter().any(|it| it["code"] == "import-not-found"));
    let changed = |client: &mut Client, name: &str, kind: u32| {
        let uri = client.uri(name);
        let changes = json!({ "changes": [{ "uri": uri, "type": kind }] });
        client.notify("workspace/didChangeWatchedFiles", changes);
    };
    put(folder.path(), &[(a, "syntax = \"proto3\";\npackage acme.a.v1;\nmessage A {}\n")]);
    changed(&mut client, a, 1);
    client.wait_for(b, |_, found| found.is_empty());
    put(folder.path(), &[(a, "syntax = \"proto3\";\npackage acme.a.v1;\nmessage Other {}\n")]);
    changed(&mut client, a, 2);
    client.wait_for(b, |_, found| found.iter().any(|it| it["code"] == "name-not-found"));
    // The text of the editor counts, not that on disk; when it is closed, the disk again.
    let mended = "syntax = \"proto3\";\npackage acme.a.v1;\nmessage A {}\n";
    client.open(a, mended);
    client.wait_for(b, |_, found| found.is_empty());
    client.notify("textDocument/didClose", json!({ "textDocument": { "uri": client.uri(a) } }));
    client.wait_for(b, |_, found| !found.is_empty());
    put(folder.path(), &[("abide.toml", "[rules]\nimport-unused = \n")]);
    changed(&mut client, "abide.toml", 2);
    client.wait_for("abide.toml", |_, found| !found.is_empty());
    put(folder.path(), &[("abide.toml", "[rules]\nfield-name-case = \"off\"\n")]);
    changed(&mut client, "abide.toml", 2);
    client.wait_for("abide.toml", |_, found| found.is_empty());
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn ranges_count_utf_16_in_texts_with_any_line_ends() {
    let folder = TempDir::new().unwrap();
    let name = "acme/v1/a.proto";
    let text = "syntax = \"proto3\";\r\npackage acme.v1;\r\nmessage A {\r\n\t/* 😀字é */ Gone a = 1;\r\n}\r\n";
    put(folder.path(), &[(name, text)]);
    let mut client = Client::start(folder.path(), &[]);
    client.open(name, text);
    assert_eq!(client.diagnostics(name, 1), ["3:12-3:16 name-not-found"]);
    // An edit between characters of two units.
    let at = |character: u32| json!({ "line": 3, "character": character });
    let range = json!({ "start": at(4), "end": at(6) });
    client.edit(name, 2, json!([{ "range": range, "text": "x" }]));
    assert_eq!(client.diagnostics(name, 2), ["3:11-3:15 name-not-found"]);
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn a_file_without_a_tree_works_and_so_do_several_trees() {
    let folder = TempDir::new().unwrap();
    let broken = "syntax = \"proto3\";\npackage acme.v1;\nmessage A { Gone a = 1; }\n";
    put(
        folder.path(),
        &[
            ("one/abide.toml", ""),
            ("one/acme/v1/a.proto", broken),
            ("two/acme/v1/a.proto", broken),
            ("alone.proto", broken),
        ],
    );
    let mut client = Client::silent(folder.path(), &[]);
    let folders: Vec<_> = ["one", "two"]
        .iter()
        .map(|it| json!({ "uri": uri(&folder.path().join(it)), "name": it }))
        .collect();
    let params = json!({
        "processId": null, "rootUri": null, "workspaceFolders": folders, "capabilities": capabilities(),
    });
    client.request("initialize", params);
    client.notify("initialized", json!({}));
    for name in ["one/acme/v1/a.proto", "two/acme/v1/a.proto", "alone.proto", "new.proto"] {
        client.open(name, broken);
        let found = client.wait_for(name, |version, _| version == Some(1));
        assert!(found.iter().any(|it| it["code"] == "name-not-found"), "{name}: {found:#?}");
    }
    // A text that was never saved.
    let document = json!({
        "uri": "untitled:Untitled-1", "languageId": "proto", "version": 1, "text": broken,
    });
    client.notify("textDocument/didOpen", json!({ "textDocument": document }));
    while !client.shown.contains_key("untitled:Untitled-1") {
        client.next_message().expect("it is shown");
    }
    assert_eq!(client.stop(), Some(0));
}

/// What lies outside of all folders is not judged by the abide.toml of the folder that the server
/// was started in, saved or not.
#[test]
fn a_file_outside_of_the_folders_has_its_own_settings() {
    let folder = TempDir::new().unwrap();
    let text = "syntax = \"proto3\";\npackage acme.v1;\nmessage A {}\n";
    let settings = "[rules]\ncomment-missing = \"error\"\n";
    put(
        folder.path(),
        &[
            ("tree/abide.toml", settings),
            ("tree/acme/v1/a.proto", text),
            ("beside/saved.proto", text),
        ],
    );
    let mut client = Client::start(&folder.path().join("tree"), &[]);
    for (name, comments) in
        [("acme/v1/a.proto", 1), ("../beside/saved.proto", 0), ("../beside/fresh.proto", 0)]
    {
        client.open(name, text);
        let found = client.wait_for(name, |version, _| version == Some(1));
        let found = found.iter().filter(|it| it["code"] == "comment-missing").count();
        assert_eq!(found, comments, "{name}");
    }
    // It is no proto: nothing is said about it.
    client.open("abide.toml", settings);
    client.open("acme/v1/b.proto", text);
    client.wait_for("acme/v1/b.proto", |version, _| version == Some(1));
    let shown = client.told.iter().filter(|it| it["method"] == "window/showMessage").count();
    assert_eq!(shown, 0, "{:#?}", client.told);
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn a_text_that_does_not_parse_shows_its_syntax_errors_alone() {
    let folder = TempDir::new().unwrap();
    let (name, other) = ("acme/user/v1/user.proto", "acme/shop/v1/shop.proto");
    let order = "syntax = \"proto3\";\npackage acme.shop.v1;\nimport \"acme/user/v1/user.proto\";\nmessage Order {\n  acme.user.v1.User user = 1;\n}\n";
    put(folder.path(), &[("abide.toml", "against = \"git:HEAD\"\n"), (name, USER), (other, order)]);
    commit(folder.path());
    let mut client = Client::start(folder.path(), &[]);
    client.open(name, USER);
    client.open(other, order);
    let (mut version, mut unparsed) = (1, 0);
    let mut look = |client: &mut Client, text: &str| {
        version += 1;
        client.replace(name, version, text);
        let codes = |found: Vec<serde_json::Value>| -> Vec<String> {
            found.iter().map(|it| it["code"].as_str().unwrap_or_default().to_owned()).collect()
        };
        let found = codes(client.wait_for(name, |at, _| at == Some(version)));
        if abide_syntax::parse(text.as_bytes()).1.is_empty() {
            return;
        }
        unparsed += 1;
        assert!(
            !found.is_empty() && found.iter().all(|it| it == "syntax-error"),
            "{text}: {found:?}"
        );
        let document = json!({ "uri": client.uri(name) });
        let end = json!({ "line": text.lines().count(), "character": 0 });
        let params = json!({
            "textDocument": document,
            "range": { "start": { "line": 0, "character": 0 }, "end": end },
            "context": { "diagnostics": [], "only": ["quickfix"] },
        });
        assert_eq!(client.request("textDocument/codeAction", params), json!([]), "{text}");
        // What others use of it is what it declared when it last parsed.
        let about = json!({ "textDocument": { "uri": client.uri(other) } });
        let found = client.request("textDocument/diagnostic", about);
        assert_eq!(found["items"], json!([]), "{text}");
    };
    // A message is typed above, a field is typed at the end, and a line is deleted letter by letter.
    for (before, typed) in [
        ("message User", "message Extra {\n  repeated string notes = 2; /* why */\n}\n"),
        ("}\n", "  map<string, User> friends = 2 [deprecated = true];\n"),
    ] {
        let at = USER.find(before).unwrap();
        for end in 1..=typed.len() {
            look(&mut client, &format!("{}{}{}", &USER[..at], &typed[..end], &USER[at..]));
        }
    }
    let line = "  string name = 1;\n";
    let at = USER.find(line).unwrap() + line.len();
    for gone in 1..line.len() - 1 {
        look(&mut client, &format!("{}{}", &USER[..at - 1 - gone], &USER[at - 1..]));
    }
    assert!(unparsed > 60, "{unparsed}");
    assert_eq!(client.stop(), Some(0));
}
