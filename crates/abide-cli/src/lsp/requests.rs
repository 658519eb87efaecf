//! Answers the requests of an editor.

use abide_editor::{Fold, Occurrence, OutlineItem};
use abide_schema::FileKey;
use lsp_server::ErrorCode;
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability, CompletionOptions,
    DiagnosticOptions, DiagnosticServerCapabilities, DocumentHighlight, DocumentHighlightKind,
    DocumentLink, DocumentLinkOptions, DocumentSymbol, ExecuteCommandOptions, FoldingRange,
    FoldingRangeKind, HoverProviderCapability, InitializeResult, OneOf, Position,
    PrepareRenameResponse, ReferenceParams, RenameOptions, RenameParams, SaveOptions,
    ServerCapabilities, ServerInfo, SymbolInformation, SymbolKind, TextDocumentIdentifier,
    TextDocumentPositionParams, TextDocumentSyncCapability, TextDocumentSyncKind,
    TextDocumentSyncOptions, TextDocumentSyncSaveOptions, TypeDefinitionProviderCapability,
    WorkspaceFoldersServerCapabilities, WorkspaceServerCapabilities, WorkspaceSymbolParams,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::assistance::MAKE_CANDIDATE;
use super::edits::difference;
use super::encoding::Lines;
use super::home::{Home, Tree};
use super::session::Session;

/// The answer to a request.
pub(super) enum Answer {
    Value(Value),
    Failed(ErrorCode, String),
}

impl Answer {
    pub(super) fn of(value: impl Serialize) -> Answer {
        Answer::Value(serde_json::to_value(value).unwrap_or_default())
    }

    pub(super) fn refused(why: impl Into<String>) -> Answer {
        Answer::Failed(ErrorCode::RequestFailed, why.into())
    }
}

/// The most symbols of a tree that are listed.
const SYMBOLS: usize = 256;

/// Lists the abilities of the server for the client.
pub(super) fn capabilities(session: &Session) -> InitializeResult {
    let sync = TextDocumentSyncOptions {
        open_close: Some(true),
        change: Some(TextDocumentSyncKind::INCREMENTAL),
        save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions {
            include_text: Some(false),
        })),
        ..TextDocumentSyncOptions::default()
    };
    let diagnostics = DiagnosticOptions {
        identifier: Some("abide".to_owned()),
        inter_file_dependencies: true,
        workspace_diagnostics: false,
        ..DiagnosticOptions::default()
    };
    let capabilities = ServerCapabilities {
        position_encoding: Some(session.encoding.kind()),
        text_document_sync: Some(TextDocumentSyncCapability::Options(sync)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(
                ["\"", "/", ".", "(", "[", "=", " "].map(str::to_owned).into(),
            ),
            ..CompletionOptions::default()
        }),
        definition_provider: Some(OneOf::Left(true)),
        type_definition_provider: Some(TypeDefinitionProviderCapability::Simple(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        workspace_symbol_provider: Some(OneOf::Left(true)),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX, CodeActionKind::REFACTOR]),
            ..CodeActionOptions::default()
        })),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: vec![MAKE_CANDIDATE.to_owned()],
            ..ExecuteCommandOptions::default()
        }),
        document_formatting_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: Default::default(),
        })),
        document_link_provider: Some(DocumentLinkOptions {
            resolve_provider: Some(false),
            work_done_progress_options: Default::default(),
        }),
        folding_range_provider: Some(true.into()),
        diagnostic_provider: session
            .client
            .pulls
            .then_some(DiagnosticServerCapabilities::Options(diagnostics)),
        workspace: Some(WorkspaceServerCapabilities {
            workspace_folders: Some(WorkspaceFoldersServerCapabilities {
                supported: Some(true),
                change_notifications: Some(OneOf::Left(true)),
            }),
            file_operations: None,
        }),
        ..ServerCapabilities::default()
    };
    let version = Some(env!("CARGO_PKG_VERSION").to_owned());
    let server_info = Some(ServerInfo { name: "abide".to_owned(), version });
    InitializeResult { capabilities, server_info }
}

/// The document that a request is about, by its URI.
pub(super) fn uri_in(params: &Value) -> Option<&str> {
    params.get("textDocument")?.get("uri")?.as_str()
}

/// Returns true if the answer depends on more than the text of a document.
pub(super) fn needs_tree(method: &str) -> bool {
    method != "textDocument/formatting"
}

/// Answers a request.
pub(super) fn answer(session: &mut Session, method: &str, params: Value) -> Answer {
    match method {
        "textDocument/hover" => asked(params, |it| session.hover(it)),
        "textDocument/completion" => asked(params, |it| session.completion(it)),
        "textDocument/codeAction" => asked(params, |it| session.code_actions(it)),
        "textDocument/definition" => asked(params, |it| session.definition(it)),
        "textDocument/typeDefinition" => asked(params, |it| session.type_definition(it)),
        "textDocument/references" => asked(params, |it| session.references(it)),
        "textDocument/documentHighlight" => asked(params, |it| session.highlights(it)),
        "textDocument/documentSymbol" => asked(params, |it| session.document_symbols(it)),
        "workspace/symbol" => asked(params, |it| session.workspace_symbols(&it)),
        "textDocument/foldingRange" => asked(params, |it| session.folding_ranges(it)),
        "textDocument/documentLink" => asked(params, |it| session.links(it)),
        "textDocument/formatting" => asked(params, |it| session.formatting(it)),
        "workspace/executeCommand" => asked(params, |it| session.execute(it)),
        "textDocument/prepareRename" => asked(params, |it| session.prepare_rename(it)),
        "textDocument/rename" => asked(params, |it| session.rename(it)),
        "textDocument/diagnostic" => asked(params, |it: About| {
            let items = session.diagnostics(&it.text_document.uri);
            Answer::of(json!({ "kind": "full", "items": items }))
        }),
        method => {
            let why = format!("`{method}` is not supported");
            Answer::Failed(ErrorCode::MethodNotFound, why)
        }
    }
}

fn asked<T: DeserializeOwned>(params: Value, work: impl FnOnce(T) -> Answer) -> Answer {
    match serde_json::from_value(params) {
        Ok(params) => work(params),
        Err(why) => Answer::Failed(ErrorCode::InvalidParams, why.to_string()),
    }
}

/// The parameters of requests about a whole document.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct About {
    text_document: TextDocumentIdentifier,
}

/// A place in a document, found in its tree.
pub(super) struct At {
    pub(super) home: Home,
    pub(super) key: FileKey,
    pub(super) offset: u32,
}

impl Session {
    /// The place that a request names, if its document is in a tree.
    pub(super) fn at(&self, id: &TextDocumentIdentifier, position: Position) -> Option<At> {
        let document = self.document(&id.uri)?;
        let offset = Lines::of(document.text.as_bytes(), self.encoding).offset(position);
        Some(At { home: document.home.clone(), key: document.key.clone()?, offset })
    }

    fn place(&self, params: &TextDocumentPositionParams) -> Option<At> {
        self.at(&params.text_document, params.position)
    }

    pub(super) fn tree(&mut self, home: &Home) -> Option<&mut Tree> {
        self.work(home)?.tree.as_mut()
    }

    fn definition(&mut self, params: TextDocumentPositionParams) -> Answer {
        let Some(at) = self.place(&params) else { return Answer::Value(Value::Null) };
        let found =
            self.tree(&at.home).map(|tree| tree.project.analysis().definition(&at.key, at.offset));
        let found = found.unwrap_or_default();
        let mut places: Vec<_> =
            found.iter().filter_map(|it| self.location(&at.home, it)).collect();
        match places.len() {
            // A package is declared in many places.
            2.. => Answer::of(places),
            _ => Answer::of(places.pop()),
        }
    }

    fn type_definition(&mut self, params: TextDocumentPositionParams) -> Answer {
        let found = self.place(&params).and_then(|at| {
            let analysis = self.tree(&at.home)?.project.analysis();
            let found = analysis.type_definition(&at.key, at.offset)?;
            self.location(&at.home, &found)
        });
        Answer::of(found)
    }

    fn references(&mut self, params: ReferenceParams) -> Answer {
        let Some(at) = self.place(&params.text_document_position) else {
            return Answer::Value(Value::Null);
        };
        let found = self.tree(&at.home).map(|it| it.project.references(&at.key, at.offset));
        let with_declaration = params.context.include_declaration;
        let wanted = found.into_iter().flatten().filter(|it| with_declaration || !it.declares);
        let locations = wanted.filter_map(|it| self.location(&at.home, &it));
        Answer::of(locations.collect::<Vec<_>>())
    }

    fn highlights(&mut self, params: TextDocumentPositionParams) -> Answer {
        let encoding = self.encoding;
        let found = self.place(&params).and_then(|at| {
            let tree = self.tree(&at.home)?;
            let found = tree.project.analysis().highlights(&at.key, at.offset);
            let lines = Lines::of(tree.project.file(&at.key)?.source_text()?, encoding);
            Some(
                found
                    .iter()
                    .map(|it: &Occurrence| DocumentHighlight {
                        range: lines.range(it.span),
                        kind: Some(match it.declares {
                            true => DocumentHighlightKind::WRITE,
                            false => DocumentHighlightKind::READ,
                        }),
                    })
                    .collect::<Vec<_>>(),
            )
        });
        Answer::of(found)
    }

    fn document_symbols(&mut self, params: About) -> Answer {
        let encoding = self.encoding;
        let is_nested = self.client.nested_symbols;
        let uri = params.text_document.uri.clone();
        let found = self.at(&params.text_document, Position::default()).and_then(|at| {
            let tree = self.tree(&at.home)?;
            let items = tree.project.outline(&at.key);
            let lines = Lines::of(tree.project.file(&at.key)?.source_text()?, encoding);
            Some(match is_nested {
                true => Answer::of(items.iter().map(|it| symbol(it, &lines)).collect::<Vec<_>>()),
                false => {
                    let mut flat = Vec::new();
                    flatten(&items, "", &mut |item, container| {
                        #[allow(deprecated, reason = "the struct has no other constructor")]
                        flat.push(SymbolInformation {
                            name: item.name.clone(),
                            kind: symbol_kind(item.noun),
                            tags: None,
                            deprecated: None,
                            location: lsp_types::Location::new(
                                uri.clone(),
                                lines.range(item.name_span),
                            ),
                            container_name: (!container.is_empty()).then(|| container.to_owned()),
                        });
                    });
                    Answer::of(flat)
                }
            })
        });
        found.unwrap_or(Answer::Value(Value::Null))
    }

    fn workspace_symbols(&mut self, params: &WorkspaceSymbolParams) -> Answer {
        let homes: Vec<Home> = self.homes().cloned().collect();
        let mut found = Vec::new();
        for home in homes {
            let Some(tree) = self.tree(&home) else { continue };
            let symbols = tree.project.symbols(&params.query, SYMBOLS);
            for it in symbols {
                let at = Occurrence { file: it.file, span: it.span, declares: true };
                let Some(location) = self.location(&home, &at) else { continue };
                #[allow(deprecated, reason = "the struct has no other constructor")]
                found.push(SymbolInformation {
                    name: it.name,
                    kind: symbol_kind(it.noun),
                    tags: None,
                    deprecated: None,
                    location,
                    container_name: Some(it.container),
                });
            }
        }
        Answer::of(found)
    }

    fn folding_ranges(&mut self, params: About) -> Answer {
        let encoding = self.encoding;
        let found = self.at(&params.text_document, Position::default()).and_then(|at| {
            let tree = self.tree(&at.home)?;
            let folds = tree.project.folds(&at.key);
            let lines = Lines::of(tree.project.file(&at.key)?.source_text()?, encoding);
            Some(folds.iter().map(|it| folding_range(it, &lines)).collect::<Vec<_>>())
        });
        Answer::of(found)
    }

    fn links(&mut self, params: About) -> Answer {
        let encoding = self.encoding;
        let found = self.at(&params.text_document, Position::default()).and_then(|at| {
            let tree = self.tree(&at.home)?;
            let links = tree.project.analysis().links(&at.key);
            let tree = self.tree(&at.home)?;
            let lines = Lines::of(tree.project.file(&at.key)?.source_text()?, encoding);
            let placed: Vec<_> = links
                .into_iter()
                .filter_map(|it| {
                    let path = tree.path(tree.project.file(&it.file)?);
                    Some((lines.range(it.span), path))
                })
                .collect();
            Some(
                placed
                    .into_iter()
                    .filter_map(|(range, path): (_, std::path::PathBuf)| {
                        Some(DocumentLink {
                            range,
                            target: Some(self.uri(&path)?),
                            tooltip: None,
                            data: None,
                        })
                    })
                    .collect::<Vec<_>>(),
            )
        });
        Answer::of(found)
    }

    /// Formats a whole document, also where a part is asked for: the layout of a part depends on
    /// what is around it.
    fn formatting(&mut self, params: About) -> Answer {
        let Some(document) = self.document(&params.text_document.uri) else {
            return Answer::Value(Value::Null);
        };
        match abide_format::format(document.text.as_bytes()) {
            Ok(text) => {
                let text = String::from_utf8_lossy(&text);
                Answer::of(difference(&document.text, &text, self.encoding))
            }
            Err(errors) => {
                let first = errors.first().map(|it| it.message.to_string()).unwrap_or_default();
                Answer::refused(format!("a file with syntax errors is not formatted: {first}"))
            }
        }
    }

    fn prepare_rename(&mut self, params: TextDocumentPositionParams) -> Answer {
        let encoding = self.encoding;
        let Some(at) = self.place(&params) else { return Answer::Value(Value::Null) };
        let Some(tree) = self.tree(&at.home) else { return Answer::Value(Value::Null) };
        match tree.project.renamable(&at.key, at.offset) {
            Err(refusal) => Answer::refused(refusal.0),
            Ok(found) => {
                let text = tree.project.file(&at.key).and_then(|it| it.source_text());
                let range = Lines::of(text.unwrap_or_default(), encoding).range(found.span);
                Answer::of(PrepareRenameResponse::RangeWithPlaceholder {
                    range,
                    placeholder: found.name,
                })
            }
        }
    }

    fn rename(&mut self, params: RenameParams) -> Answer {
        let Some(at) = self.place(&params.text_document_position) else {
            return Answer::Value(Value::Null);
        };
        let Some(tree) = self.tree(&at.home) else { return Answer::Value(Value::Null) };
        match tree.project.rename(&at.key, at.offset, &params.new_name) {
            Err(refusal) => Answer::refused(refusal.0),
            Ok(edits) => Answer::of(self.workspace_edit(&at.home, &edits, &[])),
        }
    }
}

fn symbol(item: &OutlineItem, lines: &Lines<'_>) -> DocumentSymbol {
    #[allow(deprecated, reason = "the struct has no other constructor")]
    DocumentSymbol {
        name: item.name.clone(),
        detail: (!item.detail.is_empty()).then(|| item.detail.clone()),
        kind: symbol_kind(item.noun),
        tags: None,
        deprecated: None,
        range: lines.range(item.span),
        selection_range: lines.range(item.name_span),
        children: Some(item.children.iter().map(|it| symbol(it, lines)).collect()),
    }
}

fn folding_range(it: &Fold, lines: &Lines<'_>) -> FoldingRange {
    let range = lines.range(it.span);
    let kind = match (it.is_comment, it.is_imports) {
        (true, _) => Some(FoldingRangeKind::Comment),
        (_, true) => Some(FoldingRangeKind::Imports),
        _ => None,
    };
    // The line of a closing brace stays in sight.
    let end = range.end.line - u32::from(kind.is_none() && range.end.line > range.start.line);
    FoldingRange { start_line: range.start.line, end_line: end, kind, ..FoldingRange::default() }
}

fn flatten<'i>(
    items: &'i [OutlineItem],
    container: &str,
    add: &mut impl FnMut(&'i OutlineItem, &str),
) {
    for item in items {
        add(item, container);
        flatten(&item.children, &item.name, add);
    }
}

pub(super) fn symbol_kind(noun: &str) -> SymbolKind {
    match noun {
        "package" => SymbolKind::PACKAGE,
        "enum" => SymbolKind::ENUM,
        "enum value" => SymbolKind::ENUM_MEMBER,
        "service" => SymbolKind::INTERFACE,
        "method" => SymbolKind::METHOD,
        "field" => SymbolKind::FIELD,
        "message" => SymbolKind::STRUCT,
        _ => SymbolKind::NAMESPACE,
    }
}
