//! The state of the server: open documents, and the trees that they belong to.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use abide_schema::FileKey;
use crossbeam_channel::{Receiver, Sender, unbounded};
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId};
use lsp_types::{
    Diagnostic, DidChangeTextDocumentParams, DidChangeWatchedFilesParams,
    DidChangeWorkspaceFoldersParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    FileChangeType, InitializeParams, PublishDiagnosticsParams, Uri,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::answer::{RequestAnswer, build_error, find_cancelled};
use super::client::ClientAbilities;
use super::diagnostics::collect_diagnostics;
use super::documents::OpenDocument;
use super::encoding::PositionEncoding;
use super::project_root::TreeRoot;
use super::requests;
use super::tree_work::{BackgroundResult, TreeWork};
use super::uri::{format_uri, parse_path};
use crate::args::Global;

/// The state of the server.
pub(super) struct ServerSession {
    pub(super) global: Global,
    pub(super) against: Option<String>,
    pub(super) encoding: PositionEncoding,
    pub(super) client: ClientAbilities,
    workspace: Vec<PathBuf>,
    pub(super) documents: BTreeMap<String, OpenDocument>,
    pub(super) works: BTreeMap<TreeRoot, TreeWork>,
    /// Requests that wait for a tree, each with the version of its document.
    waiting: Vec<(Request, Option<i32>)>,
    published: BTreeMap<String, (i32, Vec<Diagnostic>)>,
    outgoing: Sender<Message>,
    pub(super) events: (Sender<BackgroundResult>, Receiver<BackgroundResult>),
    asked: i32,
    /// The number of restarts after an error of Abide itself.
    pub(super) starts: u32,
}

impl ServerSession {
    pub(super) fn new(
        global: Global,
        against: Option<&str>,
        client: ClientAbilities,
        params: InitializeParams,
        outgoing: Sender<Message>,
    ) -> ServerSession {
        let folders = params.workspace_folders.iter().flatten().map(|it| &it.uri);
        #[allow(deprecated, reason = "clients that are older than workspace folders")]
        let root = params.root_uri.iter();
        let mut workspace: Vec<PathBuf> = folders.filter_map(parse_path).collect();
        if workspace.is_empty() {
            workspace.extend(root.filter_map(parse_path));
        }
        let option = params.initialization_options.as_ref().and_then(|it| it.get("against"));
        let against = against.or(option.and_then(Value::as_str));
        let general = params.capabilities.general.as_ref();
        ServerSession {
            against: against.map(str::to_owned),
            encoding: PositionEncoding::choose(general),
            client,
            global,
            workspace,
            documents: BTreeMap::new(),
            works: BTreeMap::new(),
            waiting: Vec::new(),
            published: BTreeMap::new(),
            outgoing,
            events: unbounded(),
            asked: 0,
            starts: 0,
        }
    }

    pub(super) fn events(&self) -> &Receiver<BackgroundResult> {
        &self.events.1
    }

    pub(super) fn send(&self, message: Message) {
        // An editor that is gone needs no answer.
        let _ = self.outgoing.send(message);
    }

    pub(super) fn notify(&self, method: &str, params: Value) {
        self.send(Message::Notification(Notification { method: method.to_owned(), params }));
    }

    pub(super) fn send_request(&mut self, method: &str, params: Value) {
        self.asked += 1;
        let id = RequestId::from(format!("abide-{}", self.asked));
        self.send(Message::Request(Request { id, method: method.to_owned(), params }));
    }

    /// The document that a request is about.
    pub(super) fn document(&self, uri: &Uri) -> Option<&OpenDocument> {
        self.documents.get(uri.as_str())
    }

    pub(super) fn work(&mut self, home: &TreeRoot) -> Option<&mut TreeWork> {
        self.works.get_mut(home)
    }

    pub(super) fn roots(&self) -> impl Iterator<Item = &TreeRoot> {
        self.works.keys()
    }

    /// Returns the URI of a file: as an open document has it, else from its path.
    pub(super) fn uri(&self, path: &Path) -> Option<Uri> {
        let open = self.documents.values().find(|it| it.path == path);
        open.map(|it| it.uri.clone()).or_else(|| format_uri(path))
    }

    /// Takes a message that needs no answer.
    pub(super) fn handle_notification(&mut self, notice: Notification) {
        if let Some(id) = find_cancelled(&Message::Notification(notice.clone())) {
            if let Some(at) = self.waiting.iter().position(|(it, _)| it.id == id) {
                self.waiting.remove(at);
                self.send(build_error(id, ErrorCode::RequestCanceled, "cancelled"));
            }
            return;
        }
        let Notification { method, params } = notice;
        match method.as_str() {
            "initialized" => self.register_watchers(),
            "textDocument/didOpen" => self.with(params, ServerSession::open_document),
            "textDocument/didChange" => self.with(params, ServerSession::change_document),
            "textDocument/didClose" => self.with(params, ServerSession::close_document),
            "textDocument/didSave" => self.reread_changed(),
            "workspace/didChangeWatchedFiles" => {
                self.with(params, ServerSession::handle_file_changes)
            }
            "workspace/didChangeWorkspaceFolders" => {
                self.with(params, ServerSession::handle_folder_changes)
            }
            // Notices that nothing follows from.
            _ => {}
        }
    }

    fn with<T: DeserializeOwned>(
        &mut self,
        params: Value,
        work: impl FnOnce(&mut ServerSession, T),
    ) {
        match serde_json::from_value(params) {
            Ok(params) => work(self, params),
            Err(why) => {
                let message = format!("a message was skipped: {why}");
                self.notify("window/logMessage", json!({ "type": 2, "message": message }));
            }
        }
    }

    /// Asks the client to say which files change that it does not have open.
    fn register_watchers(&mut self) {
        if !self.client.watches {
            return;
        }
        let globs = [
            "**/*.proto",
            "**/abide.toml",
            "**/abide.lock",
            "**/abide.accepted",
            "**/features.txt",
        ];
        let watchers: Vec<Value> = globs.iter().map(|it| json!({ "globPattern": it })).collect();
        let registration = json!({
            "id": "abide-files",
            "method": "workspace/didChangeWatchedFiles",
            "registerOptions": { "watchers": watchers },
        });
        self.send_request("client/registerCapability", json!({ "registrations": [registration] }));
    }

    fn open_document(&mut self, params: DidOpenTextDocumentParams) {
        let given = params.text_document;
        // A text that was never saved has no path; its name stands for one.
        let path = parse_path(&given.uri).unwrap_or_else(|| PathBuf::from(given.uri.as_str()));
        let home = TreeRoot::of(&path, &self.workspace, self.global.config.as_deref());
        let name = given.uri.as_str().to_owned();
        let document = OpenDocument {
            uri: given.uri,
            path,
            version: given.version,
            text: given.text,
            home: home.clone(),
            key: None,
        };
        self.documents.insert(name.clone(), document);
        self.add_to_tree(&name);
    }

    /// Puts a document into its tree, or has that read.
    pub(super) fn add_to_tree(&mut self, name: &str) {
        let Some(document) = self.documents.get_mut(name) else { return };
        let work = self.works.entry(document.home.clone()).or_default();
        let Some(tree) = &mut work.tree else {
            let home = document.home.clone();
            if !work.is_reading {
                self.read(&home);
            }
            return;
        };
        match tree.find_key(&document.path) {
            Some(key) => {
                tree.set_text(&key, &document.path, document.text.as_bytes());
                document.key = Some(key);
                work.mark_changed();
                self.mark_open();
            }
            // The tree does not have such a file: it is one by itself.
            None if matches!(document.home, TreeRoot::Folder(_)) => {
                document.home = TreeRoot::Alone(document.path.clone());
                self.add_to_tree(name);
            }
            None => {}
        }
    }

    /// Says to the trees which of their files are open.
    fn mark_open(&mut self) {
        let mut open: BTreeMap<&TreeRoot, BTreeSet<FileKey>> = BTreeMap::new();
        for document in self.documents.values() {
            open.entry(&document.home).or_default().extend(document.key.clone());
        }
        for (home, work) in &mut self.works {
            if let Some(tree) = &mut work.tree {
                tree.project.open(open.remove(home).unwrap_or_default());
            }
        }
    }

    fn change_document(&mut self, params: DidChangeTextDocumentParams) {
        let encoding = self.encoding;
        let name = params.text_document.uri.as_str();
        let Some(document) = self.documents.get_mut(name) else { return };
        document.apply_changes(params.content_changes, encoding);
        document.version = params.text_document.version;
        let Some(key) = &document.key else { return };
        let Some(work) = self.works.get_mut(&document.home) else { return };
        if let Some(tree) = &mut work.tree {
            tree.set_text(key, &document.path, document.text.as_bytes());
            work.mark_changed();
        }
    }

    fn close_document(&mut self, params: DidCloseTextDocumentParams) {
        let Some(document) = self.documents.remove(params.text_document.uri.as_str()) else {
            return;
        };
        if let Some(work) = self.works.get_mut(&document.home)
            && let (Some(tree), Some(key)) = (&mut work.tree, &document.key)
        {
            let is_reset = tree.reset_text(key, &document.path);
            work.mark_changed();
            if !is_reset {
                self.read(&document.home);
            }
        }
        self.published.remove(document.uri.as_str());
        if !self.client.pulls {
            self.send_diagnostics(document.uri, Vec::new(), None);
        }
        self.mark_open();
        self.drop_unused_trees();
    }

    /// Frees the trees that no document belongs to, so that memory does not grow with every file
    /// that is looked at.
    fn drop_unused_trees(&mut self) {
        let used: BTreeSet<TreeRoot> = self.documents.values().map(|it| it.home.clone()).collect();
        self.works.retain(|home, work| {
            let is_of_workspace = match home {
                TreeRoot::Folder(path) => self.workspace.iter().any(|it| path.starts_with(it)),
                TreeRoot::Alone(_) => false,
            };
            used.contains(home) || is_of_workspace || work.is_reading || work.is_checking
        });
    }

    fn handle_file_changes(&mut self, params: DidChangeWatchedFilesParams) {
        for event in params.changes {
            let Some(path) = parse_path(&event.uri) else { continue };
            let is_open = self.documents.values().any(|it| it.path == path);
            let is_proto = path.extension().is_some_and(|it| it == "proto");
            let homes: Vec<TreeRoot> = self
                .works
                .keys()
                .filter(|it| path.starts_with(it.path()) || !is_proto)
                .cloned()
                .collect();
            for home in homes {
                let Some(work) = self.works.get_mut(&home) else { continue };
                // It may have been read before it changed.
                work.is_outdated |= work.is_reading;
                let known = work.tree.as_ref().and_then(|tree| {
                    tree.find_key(&path).filter(|key| tree.project.file(key).is_some())
                });
                if is_open && is_proto {
                    continue;
                }
                let is_reset = match (&mut work.tree, known) {
                    (Some(tree), Some(key)) if event.typ == FileChangeType::CHANGED => {
                        tree.reset_text(&key, &path)
                    }
                    // Which files a tree has depends on more than the file itself.
                    _ => false,
                };
                if is_reset {
                    work.mark_changed();
                } else {
                    self.read(&home);
                }
            }
        }
    }

    fn handle_folder_changes(&mut self, params: DidChangeWorkspaceFoldersParams) {
        let removed: Vec<PathBuf> =
            params.event.removed.iter().filter_map(|it| parse_path(&it.uri)).collect();
        self.workspace.retain(|it| !removed.contains(it));
        self.workspace.extend(params.event.added.iter().filter_map(|it| parse_path(&it.uri)));
        let names: Vec<String> = self.documents.keys().cloned().collect();
        for name in names {
            if let Some(document) = self.documents.get_mut(&name) {
                let config = self.global.config.as_deref();
                document.home = TreeRoot::of(&document.path, &self.workspace, config);
                document.key = None;
            }
            self.add_to_tree(&name);
        }
        self.drop_unused_trees();
    }

    /// The diagnostics of a document.
    pub(super) fn collect_diagnostics(&mut self, uri: &Uri) -> Vec<Diagnostic> {
        let Some(document) = self.documents.get(uri.as_str()) else { return Vec::new() };
        let (Some(key), home) = (document.key.clone(), document.home.clone()) else {
            return Vec::new();
        };
        let encoding = self.encoding;
        let Some(work) = self.works.get_mut(&home) else { return Vec::new() };
        let Some(tree) = &mut work.tree else { return Vec::new() };
        tree.project.analyze();
        let analysis = work.whole.as_deref().or(tree.project.last_analysis());
        analysis.map_or_else(Vec::new, |it| collect_diagnostics(tree, it, &key, encoding))
    }

    /// Shows the findings in all open documents of a tree, unless the client asks for them.
    pub(super) fn show(&mut self, home: &TreeRoot) {
        if self.client.pulls {
            return;
        }
        let documents = self.documents.values().filter(|it| it.home == *home && it.key.is_some());
        let documents: Vec<(Uri, i32)> = documents.map(|it| (it.uri.clone(), it.version)).collect();
        for (uri, version) in documents {
            let found = self.collect_diagnostics(&uri);
            let shown = (version, found);
            if self.published.get(uri.as_str()) != Some(&shown) {
                self.published.insert(uri.as_str().to_owned(), shown.clone());
                self.send_diagnostics(uri, shown.1, Some(version));
            }
        }
    }

    pub(super) fn send_diagnostics(
        &self,
        uri: Uri,
        diagnostics: Vec<Diagnostic>,
        version: Option<i32>,
    ) {
        let params = PublishDiagnosticsParams { uri, diagnostics, version };
        let params = serde_json::to_value(params).unwrap_or_default();
        self.notify("textDocument/publishDiagnostics", params);
    }

    /// Has a client ask again that asks for diagnostics.
    pub(super) fn request_refresh(&mut self) {
        if self.client.pulls {
            self.send_request("workspace/diagnostic/refresh", Value::Null);
        }
    }

    /// Returns true unless a tree is still to be read for the first time.
    fn is_read(&self, home: &TreeRoot) -> bool {
        self.works.get(home).is_none_or(|work| work.tree.is_some() || !work.is_reading)
    }

    /// Answers a request, or keeps it until its tree is read.
    pub(super) fn handle_request(&mut self, request: Request) {
        let document =
            requests::get_document_uri(&request.params).and_then(|it| self.documents.get(it));
        let version = document.map(|it| it.version);
        let waits = requests::is_about_tree(&request.method)
            && match document {
                Some(document) => !self.is_read(&document.home),
                None => !self.works.keys().all(|home| self.is_read(home)),
            };
        if waits {
            self.waiting.push((request, version));
            return;
        }
        let Request { id, method, params } = request;
        let answer = match requests::dispatch(self, &method, params) {
            RequestAnswer::Value(value) => {
                Message::Response(lsp_server::Response::new_ok(id, value))
            }
            RequestAnswer::Failed(code, why) => build_error(id, code, &why),
        };
        self.send(answer);
    }

    /// Answers what waited for a tree. What was asked about a text that changed meanwhile has no
    /// meaning any more.
    pub(super) fn run_waiting_requests(&mut self) {
        for (request, version) in std::mem::take(&mut self.waiting) {
            let document =
                requests::get_document_uri(&request.params).and_then(|it| self.documents.get(it));
            if document.map(|it| it.version) == version {
                self.handle_request(request);
            } else {
                let why = "the text changed";
                self.send(build_error(request.id, ErrorCode::ContentModified, why));
            }
        }
    }
}
