//! Answers the requests of an editor.

use abide_editor::{FoldableRange, NameOccurrence, OutlineItem};
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
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::answer::{MAKE_CANDIDATE, RequestAnswer};
use super::edits::compute_line_edits;
use super::encoding::LineOffsets;
use super::project_root::{EditedTree, TreeRoot};
use super::session::ServerSession;

/// The most symbols of a tree that are listed.
const SYMBOLS: usize = 256;

/// Lists the abilities of the server for the client.
pub(super) fn list_capabilities(session: &ServerSession) -> InitializeResult {
    let diagnostics = DiagnosticOptions {
        identifier: Some("abide".to_owned()),
        inter_file_dependencies: true,
        workspace_diagnostics: false,
        ..DiagnosticOptions::default()
    };
    let capabilities = ServerCapabilities {
        position_encoding: Some(session.encoding.kind()),
        text_document_sync: Some(TextDocumentSyncCapability::Options(list_sync_options())),
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

/// The changes of documents that the server wants to know.
fn list_sync_options() -> TextDocumentSyncOptions {
    TextDocumentSyncOptions {
        open_close: Some(true),
        change: Some(TextDocumentSyncKind::INCREMENTAL),
        save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions {
            include_text: Some(false),
        })),
        ..TextDocumentSyncOptions::default()
    }
}

/// The document that a request is about, by its URI.
pub(super) fn get_document_uri(params: &Value) -> Option<&str> {
    params.get("textDocument")?.get("uri")?.as_str()
}

/// Returns true if the answer depends on more than the text of a document.
pub(super) fn is_about_tree(method: &str) -> bool {
    method != "textDocument/formatting"
}

/// Answers a request.
pub(super) fn dispatch(session: &mut ServerSession, method: &str, params: Value) -> RequestAnswer {
    match method {
        "textDocument/hover" => parse_and_answer(params, |it| session.show_hover(it)),
        "textDocument/completion" => parse_and_answer(params, |it| session.complete(it)),
        "textDocument/codeAction" => parse_and_answer(params, |it| session.find_code_actions(it)),
        "textDocument/definition" => parse_and_answer(params, |it| session.find_definition(it)),
        "textDocument/typeDefinition" => {
            parse_and_answer(params, |it| session.find_type_definition(it))
        }
        "textDocument/references" => parse_and_answer(params, |it| session.find_references(it)),
        "textDocument/documentHighlight" => {
            parse_and_answer(params, |it| session.find_highlights(it))
        }
        "textDocument/documentSymbol" => {
            parse_and_answer(params, |it| session.list_document_symbols(it))
        }
        "workspace/symbol" => parse_and_answer(params, |it| session.search_workspace_symbols(&it)),
        "textDocument/foldingRange" => {
            parse_and_answer(params, |it| session.list_folding_ranges(it))
        }
        "textDocument/documentLink" => parse_and_answer(params, |it| session.list_links(it)),
        "textDocument/formatting" => parse_and_answer(params, |it| session.format_document(it)),
        "workspace/executeCommand" => parse_and_answer(params, |it| session.execute_command(it)),
        "textDocument/prepareRename" => parse_and_answer(params, |it| session.check_rename(it)),
        "textDocument/rename" => parse_and_answer(params, |it| session.rename_element(it)),
        "textDocument/diagnostic" => parse_and_answer(params, |it: DocumentParams| {
            let items = session.collect_diagnostics(&it.text_document.uri);
            RequestAnswer::of(json!({ "kind": "full", "items": items }))
        }),
        method => {
            let why = format!("`{method}` is not supported");
            RequestAnswer::Failed(ErrorCode::MethodNotFound, why)
        }
    }
}

fn parse_and_answer<T: DeserializeOwned>(
    params: Value,
    work: impl FnOnce(T) -> RequestAnswer,
) -> RequestAnswer {
    match serde_json::from_value(params) {
        Ok(params) => work(params),
        Err(why) => RequestAnswer::Failed(ErrorCode::InvalidParams, why.to_string()),
    }
}

/// The parameters of requests about a whole document.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DocumentParams {
    text_document: TextDocumentIdentifier,
}

/// A place in a document, found in its tree.
pub(super) struct PositionInTree {
    pub(super) home: TreeRoot,
    pub(super) key: FileKey,
    pub(super) offset: u32,
}

impl ServerSession {
    /// The place that a request names, if its document is in a tree.
    pub(super) fn find_position(
        &self,
        id: &TextDocumentIdentifier,
        position: Position,
    ) -> Option<PositionInTree> {
        let document = self.document(&id.uri)?;
        let offset = LineOffsets::new(document.text.as_bytes(), self.encoding).offset(position);
        Some(PositionInTree { home: document.home.clone(), key: document.key.clone()?, offset })
    }

    fn resolve_position(&self, params: &TextDocumentPositionParams) -> Option<PositionInTree> {
        self.find_position(&params.text_document, params.position)
    }

    pub(super) fn tree(&mut self, home: &TreeRoot) -> Option<&mut EditedTree> {
        self.work(home)?.tree.as_mut()
    }

    fn find_definition(&mut self, params: TextDocumentPositionParams) -> RequestAnswer {
        let Some(at) = self.resolve_position(&params) else {
            return RequestAnswer::Value(Value::Null);
        };
        let found = self
            .tree(&at.home)
            .map(|tree| tree.project.analyze().find_definition(&at.key, at.offset));
        let found = found.unwrap_or_default();
        let mut places: Vec<_> = found.iter().filter_map(|it| self.locate(&at.home, it)).collect();
        match places.len() {
            // A package is declared in many places.
            2.. => RequestAnswer::of(places),
            _ => RequestAnswer::of(places.pop()),
        }
    }

    fn find_type_definition(&mut self, params: TextDocumentPositionParams) -> RequestAnswer {
        let found = self.resolve_position(&params).and_then(|at| {
            let analysis = self.tree(&at.home)?.project.analyze();
            let found = analysis.find_type_definition(&at.key, at.offset)?;
            self.locate(&at.home, &found)
        });
        RequestAnswer::of(found)
    }

    fn find_references(&mut self, params: ReferenceParams) -> RequestAnswer {
        let Some(at) = self.resolve_position(&params.text_document_position) else {
            return RequestAnswer::Value(Value::Null);
        };
        let found = self.tree(&at.home).map(|it| it.project.find_references(&at.key, at.offset));
        let with_declaration = params.context.include_declaration;
        let wanted = found.into_iter().flatten().filter(|it| with_declaration || !it.declares);
        let locations = wanted.filter_map(|it| self.locate(&at.home, &it));
        RequestAnswer::of(locations.collect::<Vec<_>>())
    }

    fn find_highlights(&mut self, params: TextDocumentPositionParams) -> RequestAnswer {
        let encoding = self.encoding;
        let found = self.resolve_position(&params).and_then(|at| {
            let tree = self.tree(&at.home)?;
            let found = tree.project.analyze().find_highlights(&at.key, at.offset);
            let lines = LineOffsets::new(tree.project.file(&at.key)?.source_text()?, encoding);
            Some(
                found
                    .iter()
                    .map(|it: &NameOccurrence| DocumentHighlight {
                        range: lines.range(it.span),
                        kind: Some(match it.declares {
                            true => DocumentHighlightKind::WRITE,
                            false => DocumentHighlightKind::READ,
                        }),
                    })
                    .collect::<Vec<_>>(),
            )
        });
        RequestAnswer::of(found)
    }

    fn list_document_symbols(&mut self, params: DocumentParams) -> RequestAnswer {
        let encoding = self.encoding;
        let is_nested = self.client.nested_symbols;
        let uri = params.text_document.uri.clone();
        let found = self.find_position(&params.text_document, Position::default()).and_then(|at| {
            let tree = self.tree(&at.home)?;
            let items = tree.project.collect_outline(&at.key);
            let lines = LineOffsets::new(tree.project.file(&at.key)?.source_text()?, encoding);
            Some(match is_nested {
                true => RequestAnswer::of(
                    items.iter().map(|it| build_symbol(it, &lines)).collect::<Vec<_>>(),
                ),
                false => {
                    let mut flat = Vec::new();
                    visit_items(&items, "", &mut |item, container| {
                        #[allow(deprecated, reason = "the struct has no other constructor")]
                        flat.push(SymbolInformation {
                            name: item.name.clone(),
                            kind: convert_symbol_kind(item.noun),
                            tags: None,
                            deprecated: None,
                            location: lsp_types::Location::new(
                                uri.clone(),
                                lines.range(item.name_span),
                            ),
                            container_name: (!container.is_empty()).then(|| container.to_owned()),
                        });
                    });
                    RequestAnswer::of(flat)
                }
            })
        });
        found.unwrap_or(RequestAnswer::Value(Value::Null))
    }

    fn search_workspace_symbols(&mut self, params: &WorkspaceSymbolParams) -> RequestAnswer {
        let homes: Vec<TreeRoot> = self.roots().cloned().collect();
        let mut found = Vec::new();
        for home in homes {
            let Some(tree) = self.tree(&home) else { continue };
            let symbols = tree.project.search_symbols(&params.query, SYMBOLS);
            for it in symbols {
                let at = NameOccurrence { file: it.file, span: it.span, declares: true };
                let Some(location) = self.locate(&home, &at) else { continue };
                #[allow(deprecated, reason = "the struct has no other constructor")]
                found.push(SymbolInformation {
                    name: it.name,
                    kind: convert_symbol_kind(it.noun),
                    tags: None,
                    deprecated: None,
                    location,
                    container_name: Some(it.container),
                });
            }
        }
        RequestAnswer::of(found)
    }

    fn list_folding_ranges(&mut self, params: DocumentParams) -> RequestAnswer {
        let encoding = self.encoding;
        let found = self.find_position(&params.text_document, Position::default()).and_then(|at| {
            let tree = self.tree(&at.home)?;
            let folds = tree.project.collect_folds(&at.key);
            let lines = LineOffsets::new(tree.project.file(&at.key)?.source_text()?, encoding);
            Some(folds.iter().map(|it| build_folding_range(it, &lines)).collect::<Vec<_>>())
        });
        RequestAnswer::of(found)
    }

    fn list_links(&mut self, params: DocumentParams) -> RequestAnswer {
        let encoding = self.encoding;
        let found = self.find_position(&params.text_document, Position::default()).and_then(|at| {
            let tree = self.tree(&at.home)?;
            let links = tree.project.analyze().collect_links(&at.key);
            let tree = self.tree(&at.home)?;
            let lines = LineOffsets::new(tree.project.file(&at.key)?.source_text()?, encoding);
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
        RequestAnswer::of(found)
    }

    /// Formats a whole document, also where a part is asked for: the layout of a part depends on
    /// what is around it.
    fn format_document(&mut self, params: DocumentParams) -> RequestAnswer {
        let Some(document) = self.document(&params.text_document.uri) else {
            return RequestAnswer::Value(Value::Null);
        };
        match abide_format::format(document.text.as_bytes()) {
            Ok(text) => {
                let text = String::from_utf8_lossy(&text);
                RequestAnswer::of(compute_line_edits(&document.text, &text, self.encoding))
            }
            Err(errors) => {
                let first = errors.first().map(|it| it.message.to_string()).unwrap_or_default();
                RequestAnswer::refused(format!(
                    "a file with syntax errors is not formatted: {first}"
                ))
            }
        }
    }

    fn check_rename(&mut self, params: TextDocumentPositionParams) -> RequestAnswer {
        let encoding = self.encoding;
        let Some(at) = self.resolve_position(&params) else {
            return RequestAnswer::Value(Value::Null);
        };
        let Some(tree) = self.tree(&at.home) else { return RequestAnswer::Value(Value::Null) };
        match tree.project.find_rename_target(&at.key, at.offset) {
            Err(refusal) => RequestAnswer::refused(refusal.0),
            Ok(found) => {
                let text = tree.project.file(&at.key).and_then(|it| it.source_text());
                let range = LineOffsets::new(text.unwrap_or_default(), encoding).range(found.span);
                RequestAnswer::of(PrepareRenameResponse::RangeWithPlaceholder {
                    range,
                    placeholder: found.name,
                })
            }
        }
    }

    fn rename_element(&mut self, params: RenameParams) -> RequestAnswer {
        let Some(at) = self.resolve_position(&params.text_document_position) else {
            return RequestAnswer::Value(Value::Null);
        };
        let Some(tree) = self.tree(&at.home) else { return RequestAnswer::Value(Value::Null) };
        match tree.project.rename(&at.key, at.offset, &params.new_name) {
            Err(refusal) => RequestAnswer::refused(refusal.0),
            Ok(edits) => RequestAnswer::of(self.build_workspace_edit(&at.home, &edits, &[])),
        }
    }
}

fn build_symbol(item: &OutlineItem, lines: &LineOffsets<'_>) -> DocumentSymbol {
    #[allow(deprecated, reason = "the struct has no other constructor")]
    DocumentSymbol {
        name: item.name.clone(),
        detail: (!item.detail.is_empty()).then(|| item.detail.clone()),
        kind: convert_symbol_kind(item.noun),
        tags: None,
        deprecated: None,
        range: lines.range(item.span),
        selection_range: lines.range(item.name_span),
        children: Some(item.children.iter().map(|it| build_symbol(it, lines)).collect()),
    }
}

fn build_folding_range(it: &FoldableRange, lines: &LineOffsets<'_>) -> FoldingRange {
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

fn visit_items<'i>(
    items: &'i [OutlineItem],
    container: &str,
    add: &mut impl FnMut(&'i OutlineItem, &str),
) {
    for item in items {
        add(item, container);
        visit_items(&item.children, &item.name, add);
    }
}

pub(super) fn convert_symbol_kind(noun: &str) -> SymbolKind {
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
