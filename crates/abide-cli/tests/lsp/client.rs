//! An editor, as far as the protocol shows one: it talks to the built binary over pipes.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};

use crate::run::waiting::{LONG, unless_it_hangs};

/// A client with a server of its own.
pub(crate) struct Client {
    pub(crate) child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    folder: PathBuf,
    next: i64,
    /// The last diagnostics of each file, with their version.
    pub(crate) shown: BTreeMap<String, (Option<i64>, Vec<Value>)>,
    /// What the server said otherwise.
    pub(crate) told: Vec<Value>,
}

/// What an ordinary client can do.
pub(crate) fn capabilities() -> Value {
    json!({
        "general": { "positionEncodings": ["utf-16"] },
        "window": { "workDoneProgress": true },
        "workspace": {
            "workspaceEdit": { "documentChanges": true, "resourceOperations": ["create"] },
            "didChangeWatchedFiles": { "dynamicRegistration": true },
        },
        "textDocument": {
            "completion": { "completionItem": { "snippetSupport": true } },
            "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
            "publishDiagnostics": { "versionSupport": true, "relatedInformation": true },
        },
    })
}

impl Client {
    /// Starts a server for a folder, with these arguments behind `lsp`.
    pub(crate) fn start(folder: &Path, args: &[&str]) -> Client {
        let mut client = Client::silent(folder, args);
        client.initialize(capabilities());
        client
    }

    /// Starts a server and says nothing yet.
    pub(crate) fn silent(folder: &Path, args: &[&str]) -> Client {
        let mut child = Command::new(env!("CARGO_BIN_EXE_abide"))
            .arg("lsp")
            .args(args)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the binary starts");
        let (sender, messages) = channel();
        let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
        std::thread::spawn(move || {
            while let Some(message) = read(&mut output) {
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let input = child.stdin.take();
        let folder = folder.to_owned();
        let (shown, told) = (BTreeMap::new(), Vec::new());
        Client { child, input, messages, folder, next: 0, shown, told }
    }

    pub(crate) fn initialize(&mut self, capabilities: Value) -> Value {
        let folder = json!({ "uri": uri(&self.folder), "name": "test" });
        let params = json!({
            "processId": std::process::id(),
            "rootUri": uri(&self.folder),
            "workspaceFolders": [folder],
            "capabilities": capabilities,
        });
        let answer = self.request("initialize", params);
        self.notify("initialized", json!({}));
        answer
    }

    /// Writes bytes, whatever they are.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("it is open");
        input.write_all(bytes).expect("the server reads");
        input.flush().expect("the server reads");
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        self.write(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request and returns its id.
    pub(crate) fn begin(&mut self, method: &str, params: Value) -> i64 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// The answer to a request: its result, or the error.
    pub(crate) fn answer(&mut self, id: i64) -> Result<Value, Value> {
        loop {
            let message = self.next_message().expect("the server answers");
            if message["id"] == id && message.get("method").is_none() {
                return match message.get("error") {
                    Some(error) => Err(error.clone()),
                    None => Ok(message["result"].clone()),
                };
            }
        }
    }

    /// The result of a request.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.answer(id).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Takes one message and notes what it shows; `None` at the end of the output, or when the server
    /// has no more to say.
    pub(crate) fn next_message(&mut self) -> Option<Value> {
        let message = self.messages.recv_timeout(LONG).ok()?;
        if message["method"] == "textDocument/publishDiagnostics" {
            let params = &message["params"];
            let found = params["diagnostics"].as_array().expect("they are a list").clone();
            let name = params["uri"].as_str().expect("it has a URI").to_owned();
            self.shown.insert(name, (params["version"].as_i64(), found));
        } else if let (Some(_), Some(id)) = (message.get("method"), message.get("id")) {
            self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": null }));
            self.told.push(message.clone());
        } else if message.get("method").is_some() {
            self.told.push(message.clone());
        }
        Some(message)
    }

    /// Waits until the diagnostics of a file are as they should be.
    pub(crate) fn wait_for(
        &mut self,
        name: &str,
        is_it: impl Fn(Option<i64>, &[Value]) -> bool,
    ) -> Vec<Value> {
        let uri = self.uri(name);
        loop {
            if let Some((version, found)) = self.shown.get(&uri)
                && is_it(*version, found)
            {
                return found.clone();
            }
            let is_over = self.next_message().is_none();
            assert!(!is_over, "{name} shows {:#?}", self.shown.get(&uri));
        }
    }

    /// Waits until the diagnostics of a file look as they should; fails with both and `what`.
    pub(crate) fn wait_until(
        &mut self,
        name: &str,
        what: &str,
        look: impl Fn(&[Value]) -> Vec<String>,
        wanted: &[String],
    ) {
        let uri = self.uri(name);
        loop {
            let now = self.shown.get(&uri).map(|(_, found)| look(found));
            if now.as_deref() == Some(wanted) {
                return;
            }
            let is_over = self.next_message().is_none();
            assert!(!is_over, "{what}\nshown: {now:#?}\nprinted: {wanted:#?}");
        }
    }

    /// The diagnostics of a version of a file, as `line:column-line:column rule`, from 0.
    pub(crate) fn diagnostics(&mut self, name: &str, version: i64) -> Vec<String> {
        let found = self.wait_for(name, |at, _| at == Some(version));
        found.iter().map(brief).collect()
    }

    pub(crate) fn uri(&self, name: &str) -> String {
        uri(&self.folder.join(name))
    }

    pub(crate) fn open(&mut self, name: &str, text: &str) {
        let uri = self.uri(name);
        let document = json!({ "uri": uri, "languageId": "proto", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Replaces the whole text.
    pub(crate) fn replace(&mut self, name: &str, version: i64, text: &str) {
        self.edit(name, version, json!([{ "text": text }]));
    }

    pub(crate) fn edit(&mut self, name: &str, version: i64, changes: Value) {
        let document = json!({ "uri": self.uri(name), "version": version });
        let params = json!({ "textDocument": document, "contentChanges": changes });
        self.notify("textDocument/didChange", params);
    }

    /// The parameters of a request about a place: the letter at which `mark` begins in the text.
    pub(crate) fn place(&self, name: &str, text: &str, mark: &str) -> Value {
        let at = text.find(mark).unwrap_or_else(|| panic!("`{mark}` is not in {name}"));
        json!({ "textDocument": { "uri": self.uri(name) }, "position": position(text, at) })
    }

    /// Ends the server as an editor does; returns its exit status.
    pub(crate) fn stop(mut self) -> Option<i32> {
        self.request("shutdown", Value::Null);
        self.notify("exit", Value::Null);
        self.wait()
    }

    /// Closes the input and returns the exit status.
    pub(crate) fn hang_up(mut self) -> Option<i32> {
        self.input = None;
        self.wait()
    }

    /// Waits for the end of the server, whose input stays open.
    pub(crate) fn ended(mut self) -> Option<i32> {
        self.wait()
    }

    fn wait(&mut self) -> Option<i32> {
        unless_it_hangs(&mut self.child, |it| it.wait().expect("the child is ours")).code()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // A test that fails leaves no server.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A diagnostic as `line:column-line:column rule`, from 0.
pub(crate) fn brief(it: &Value) -> String {
    let place = |it: &Value| format!("{}:{}", it["line"], it["character"]);
    let range = &it["range"];
    let code = it["code"].as_str().unwrap_or_default();
    format!("{}-{} {code}", place(&range["start"]), place(&range["end"]))
}

/// The line and UTF-16 column of a byte.
pub(crate) fn position(text: &str, at: usize) -> Value {
    let before = &text[..at];
    let line = before.matches('\n').count();
    let column = before.rsplit('\n').next().unwrap_or_default().encode_utf16().count();
    json!({ "line": line, "character": column })
}

pub(crate) fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

fn read(output: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("Content-Length: ") {
            length = value.parse().expect("it is a number");
        }
    }
    let mut text = vec![0; length];
    output.read_exact(&mut text).ok()?;
    Some(serde_json::from_slice(&text).expect("the server writes JSON"))
}
