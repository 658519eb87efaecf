//! Hover, completion and code actions.

use abide_editor::{ActionKind, CompletionKind, EditorAction, EditorCompletion};
use lsp_server::ErrorCode;
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionParams, Command, CompletionItem, CompletionItemKind,
    CompletionItemLabelDetails, CompletionList, CompletionParams, CompletionTextEdit,
    ExecuteCommandParams, Hover, HoverContents, InsertTextFormat, MarkupContent, MarkupKind, Range,
    TextDocumentPositionParams, TextEdit as ClientEdit,
};
use serde_json::{Value, json};

use super::answer::{MAKE_CANDIDATE, RequestAnswer};
use super::diagnostics::collect_diagnostics;
use super::edits::convert_edits;
use super::encoding::LineOffsets;
use super::project_root::TreeRoot;
use super::session::ServerSession;

impl ServerSession {
    pub(super) fn show_hover(&mut self, params: TextDocumentPositionParams) -> RequestAnswer {
        let encoding = self.encoding;
        let found = self.find_position(&params.text_document, params.position).and_then(|at| {
            let tree = self.tree(&at.home)?;
            let (value, span) = tree.project.hover(&at.key, at.offset)?;
            let lines = LineOffsets::new(tree.project.file(&at.key)?.source_text()?, encoding);
            let contents = MarkupContent { kind: MarkupKind::Markdown, value };
            Some(Hover {
                contents: HoverContents::Markup(contents),
                range: Some(lines.range(span)),
            })
        });
        RequestAnswer::of(found)
    }

    pub(super) fn complete(&mut self, params: CompletionParams) -> RequestAnswer {
        let (encoding, takes_snippets) = (self.encoding, self.client.snippets);
        let at = &params.text_document_position;
        let found = self.find_position(&at.text_document, at.position).and_then(|at| {
            let tree = self.tree(&at.home)?;
            let (found, is_incomplete) = tree.project.complete_at(&at.key, at.offset);
            let text = tree.project.file(&at.key)?.source_text()?;
            let lines = LineOffsets::new(text, encoding);
            let wanted =
                found.into_iter().filter(|it| takes_snippets || it.kind != CompletionKind::Snippet);
            let items = wanted.enumerate().map(|(rank, it)| {
                let import = it.import.as_ref();
                let import =
                    import.map(|it| convert_edits(text, std::slice::from_ref(it), encoding));
                build_completion_item(&it, rank, lines.range(it.span), import)
            });
            Some(CompletionList { is_incomplete, items: items.collect() })
        });
        RequestAnswer::of(found)
    }

    pub(super) fn find_code_actions(&mut self, params: CodeActionParams) -> RequestAnswer {
        let encoding = self.encoding;
        let Some(at) = self.find_position(&params.text_document, params.range.start) else {
            return RequestAnswer::Value(Value::Null);
        };
        let Some(tree) = self.tree(&at.home) else { return RequestAnswer::Value(Value::Null) };
        let Some(text) = tree.project.file(&at.key).and_then(|it| it.source_text()) else {
            return RequestAnswer::Value(Value::Null);
        };
        let span = LineOffsets::new(text, encoding).span(params.range);
        let found = tree.project.collect_actions(&at.key, span);
        let package = tree.project.find_package(&at.key, span);
        let shown = tree.project.last_analysis();
        let shown =
            shown.map(|it| collect_diagnostics(tree, it, &at.key, encoding)).unwrap_or_default();
        let mut actions: Vec<CodeAction> = Vec::new();
        for EditorAction { title, kind, finding, edits } in found {
            let diagnostic = shown.get(finding).cloned();
            let edit = self.build_workspace_edit(&at.home, &edits, &[]);
            actions.push(CodeAction {
                title,
                kind: Some(CodeActionKind::QUICKFIX),
                diagnostics: diagnostic.map(|it| vec![it]),
                edit,
                is_preferred: (kind == ActionKind::Fix).then_some(true),
                ..CodeAction::default()
            });
        }
        if let Some(package) = package.filter(|_| self.client.creates_files) {
            let title = format!("Make the candidate of the next major version of `{package}`");
            let arguments = vec![json!(params.text_document.uri), json!(package)];
            actions.push(CodeAction {
                title: title.clone(),
                kind: Some(CodeActionKind::REFACTOR),
                command: Some(Command::new(title, MAKE_CANDIDATE.to_owned(), Some(arguments))),
                ..CodeAction::default()
            });
        }
        if let Some(only) = params.context.only {
            actions.retain(|it: &CodeAction| {
                let kind = it.kind.as_ref().map_or("", |it| it.as_str());
                only.iter().any(|wanted| kind.starts_with(wanted.as_str()))
            });
        }
        RequestAnswer::of(actions)
    }

    /// Does what an action asks for that is too much to do before it is chosen.
    pub(super) fn execute_command(&mut self, params: ExecuteCommandParams) -> RequestAnswer {
        let arguments = (params.arguments.first(), params.arguments.get(1));
        let ((Some(uri), Some(package)), MAKE_CANDIDATE) = (arguments, params.command.as_str())
        else {
            let why = format!("`{}` is not a command of abide", params.command);
            return RequestAnswer::Failed(ErrorCode::InvalidParams, why);
        };
        let (Ok(uri), Some(package)) = (serde_json::from_value(uri.clone()), package.as_str())
        else {
            let why = "a document and a package are expected".to_owned();
            return RequestAnswer::Failed(ErrorCode::InvalidParams, why);
        };
        let Some(home) = self.document(&uri).map(|it| it.home.clone()) else {
            return RequestAnswer::refused("the document is not open");
        };
        let made = self.tree(&home).map(|it| it.project.build_candidate(package));
        match made {
            None => RequestAnswer::refused("the tree is not read yet"),
            Some(Err(why)) => RequestAnswer::refused(why),
            Some(Ok(files)) => {
                self.create_files(&home, &files, package);
                RequestAnswer::Value(Value::Null)
            }
        }
    }

    /// Has the client create files.
    fn create_files(&mut self, home: &TreeRoot, files: &[(String, String)], package: &str) {
        if let Some(edit) = self.build_workspace_edit(home, &[], files) {
            let label = format!("Make the candidate of {package}");
            self.send_request("workspace/applyEdit", json!({ "label": label, "edit": edit }));
        }
    }
}

fn build_completion_item(
    it: &EditorCompletion,
    rank: usize,
    range: Range,
    import: Option<Vec<ClientEdit>>,
) -> CompletionItem {
    let kind = match it.kind {
        CompletionKind::Message => CompletionItemKind::STRUCT,
        CompletionKind::Enum => CompletionItemKind::ENUM,
        CompletionKind::EnumValue => CompletionItemKind::ENUM_MEMBER,
        CompletionKind::Scalar | CompletionKind::Keyword => CompletionItemKind::KEYWORD,
        CompletionKind::Snippet => CompletionItemKind::SNIPPET,
        CompletionKind::File => CompletionItemKind::FILE,
        CompletionKind::Number | CompletionKind::Value => CompletionItemKind::VALUE,
        CompletionKind::Option => CompletionItemKind::PROPERTY,
    };
    let description = (!it.detail.is_empty()).then(|| it.detail.clone());
    CompletionItem {
        label: it.label.clone(),
        kind: Some(kind),
        label_details: Some(CompletionItemLabelDetails { detail: None, description }),
        // Lists keep this order.
        sort_text: Some(format!("{rank:04}")),
        filter_text: Some(it.text.clone()).filter(|_| it.kind != CompletionKind::Snippet),
        insert_text_format: (it.kind == CompletionKind::Snippet)
            .then_some(InsertTextFormat::SNIPPET),
        text_edit: Some(CompletionTextEdit::Edit(ClientEdit::new(range, it.text.clone()))),
        additional_text_edits: import,
        ..CompletionItem::default()
    }
}
