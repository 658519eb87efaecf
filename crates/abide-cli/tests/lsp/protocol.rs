//! The protocol: its order, its errors, and its ends.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::{Client, capabilities};
use crate::run::put;

const TEXT: &str = "syntax = \"proto3\";\npackage acme.v1;\nmessage A {}\n";

fn world() -> TempDir {
    let folder = TempDir::new().unwrap();
    put(folder.path(), &[("acme/v1/a.proto", TEXT)]);
    folder
}

#[test]
fn what_is_no_message_is_skipped() {
    let folder = world();
    let mut client = Client::start(folder.path(), &[]);
    client.write(b"Content-Length: 9\r\n\r\n{\"method\"");
    client.write(b"hello\r\n\r\n");
    client.write(b"Content-Length: 99999999999999999999\r\n\r\n");
    client.notify("textDocument/didOpen", json!({ "textDocument": 7 }));
    client.notify("no/such/notice", json!([1]));
    let wrong = client.begin("textDocument/hover", json!({ "position": "here" }));
    assert_eq!(client.answer(wrong).unwrap_err()["code"], -32602);
    let unknown = client.begin("textDocument/moniker", json!({}));
    assert_eq!(client.answer(unknown).unwrap_err()["code"], -32601);
    // A range that the text does not have, and a file that is not open.
    client.open("acme/v1/a.proto", TEXT);
    let far = json!({ "line": 900, "character": 900 });
    let range = json!({ "start": far, "end": { "line": 0, "character": 4000 } });
    client.edit("acme/v1/a.proto", 2, json!([{ "range": range, "text": "// end\n" }]));
    client.edit("acme/v1/other.proto", 2, json!([{ "range": range, "text": "x" }]));
    client.diagnostics("acme/v1/a.proto", 2);
    let about = json!({ "textDocument": { "uri": client.uri("acme/v1/other.proto") } });
    assert_eq!(client.request("textDocument/documentSymbol", about), Value::Null);
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn requests_have_their_order() {
    let folder = world();
    let mut client = Client::silent(folder.path(), &[]);
    let early = client.begin("textDocument/hover", json!({}));
    assert_eq!(client.answer(early).unwrap_err()["code"], -32002);
    client.initialize(capabilities());
    client.request("shutdown", Value::Null);
    let late = client.begin("textDocument/hover", json!({}));
    assert_eq!(client.answer(late).unwrap_err()["code"], -32600);
    client.notify("exit", Value::Null);
    assert_eq!(client.hang_up(), Some(0));
}

#[test]
fn a_cancelled_request_is_answered_once() {
    let folder = world();
    let mut client = Client::start(folder.path(), &[]);
    // While the tree is read, or before the request is looked at; or it is too late.
    client.open("acme/v1/a.proto", TEXT);
    let place = client.place("acme/v1/a.proto", TEXT, "A {");
    let ids: Vec<i64> =
        (0..20).map(|_| client.begin("textDocument/references", place.clone())).collect();
    for id in &ids {
        client.notify("$/cancelRequest", json!({ "id": id }));
    }
    client.notify("$/cancelRequest", json!({ "id": 9999 }));
    // In whatever order the answers come.
    let mut open: BTreeSet<i64> = ids.into_iter().collect();
    let mut cancelled = 0;
    while !open.is_empty() {
        let message = client.next_message().expect("the server answers");
        let id = message["id"].as_i64().filter(|_| message.get("method").is_none());
        if id.is_some_and(|id| open.remove(&id))
            && let Some(error) = message.get("error")
        {
            assert_eq!(error["code"], -32800);
            cancelled += 1;
        }
    }
    assert!(cancelled > 0);
    assert_eq!(client.stop(), Some(0));
}

#[test]
fn the_server_ends_with_its_client() {
    let folder = world();
    // `exit` without `shutdown`, and the end of the input, at any time.
    let mut client = Client::start(folder.path(), &[]);
    client.notify("exit", Value::Null);
    assert_eq!(client.hang_up(), Some(1));
    assert_eq!(Client::silent(folder.path(), &[]).hang_up(), Some(1));
    let mut client = Client::start(folder.path(), &[]);
    client.open("acme/v1/a.proto", TEXT);
    assert_eq!(client.hang_up(), Some(1));
}

#[cfg(unix)]
#[test]
fn the_server_ends_when_the_process_that_started_it_has_ended() {
    let folder = world();
    let mut client = Client::silent(folder.path(), &[]);
    // It waits for what nobody says.
    let mut editor = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    let params = json!({ "processId": editor.id(), "capabilities": capabilities() });
    client.request("initialize", params);
    assert!(client.child.try_wait().unwrap().is_none());
    editor.kill().unwrap();
    editor.wait().unwrap();
    // Its input stays open.
    let status = client.ended();
    assert_eq!(status, Some(1));
}
