//! Edits of files as an editor makes them.

use abide_editor::{FileEdits, NameOccurrence, TextEdit};
use abide_syntax::Span;
use lsp_types::{
    CreateFile, CreateFileOptions, DocumentChangeOperation, DocumentChanges, Location, OneOf,
    OptionalVersionedTextDocumentIdentifier, Position, Range, ResourceOp, TextDocumentEdit,
    TextEdit as ClientEdit, Uri, WorkspaceEdit,
};

use super::encoding::{LineOffsets, PositionEncoding};
use super::project_root::TreeRoot;
use super::session::ServerSession;

/// Edits of one text.
pub(super) fn convert_edits(
    text: &[u8],
    edits: &[TextEdit],
    encoding: PositionEncoding,
) -> Vec<ClientEdit> {
    let lines = LineOffsets::new(text, encoding);
    edits.iter().map(|it| ClientEdit::new(lines.range(it.span), it.text.clone())).collect()
}

/// The edit that turns a text into another one: of the lines that differ.
pub(super) fn compute_line_edits(
    old: &str,
    new: &str,
    encoding: PositionEncoding,
) -> Vec<ClientEdit> {
    if old == new {
        return Vec::new();
    }
    let lines = LineOffsets::new(old.as_bytes(), encoding);
    let (mut edits, mut at, mut from) = (Vec::new(), 0, 0);
    let changes = similar::TextDiff::from_lines(old, new);
    for change in changes.ops() {
        let olds: String = change.old_range().filter_map(|it| changes.old_slice(it)).collect();
        let news: String = change.new_range().filter_map(|it| changes.new_slice(it)).collect();
        from += olds.len();
        if olds != news {
            edits.push(ClientEdit::new(lines.range(Span::new(at as u32, from as u32)), news));
        }
        at = from;
    }
    edits
}

impl ServerSession {
    /// A place in a file of a tree.
    pub(super) fn locate(&mut self, home: &TreeRoot, at: &NameOccurrence) -> Option<Location> {
        let encoding = self.encoding;
        let tree = self.work(home)?.tree.as_ref()?;
        let decl = tree.project.file(&at.file)?;
        let range = LineOffsets::new(decl.source_text()?, encoding).range(at.span);
        let path = tree.path(decl);
        Some(Location::new(self.uri(&path)?, range))
    }

    /// Edits of files of a tree, and files to create, as one change.
    pub(super) fn build_workspace_edit(
        &mut self,
        home: &TreeRoot,
        edits: &[FileEdits],
        created: &[(String, String)],
    ) -> Option<WorkspaceEdit> {
        let mut texts: Vec<(Uri, Option<i32>, Vec<ClientEdit>)> = Vec::new();
        for FileEdits { file, edits } in edits {
            let encoding = self.encoding;
            let tree = self.work(home)?.tree.as_ref()?;
            let decl = tree.project.file(file)?;
            let changes = convert_edits(decl.source_text()?, edits, encoding);
            let path = tree.path(decl);
            let uri = self.uri(&path)?;
            let version = self.document(&uri).map(|it| it.version);
            texts.push((uri, version, changes));
        }
        if !self.client.document_changes {
            #[allow(clippy::mutable_key_type, reason = "nobody changes a URI in there")]
            let changes = texts.into_iter().map(|(uri, _, edits)| (uri, edits)).collect();
            return created
                .is_empty()
                .then(|| WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() });
        }
        let mut operations = Vec::new();
        for (display, text) in created {
            let tree = self.work(home)?.tree.as_ref()?;
            let path = tree.path_of(display);
            let uri = self.uri(&path)?;
            let options = CreateFileOptions { overwrite: Some(true), ignore_if_exists: None };
            let create =
                CreateFile { uri: uri.clone(), options: Some(options), annotation_id: None };
            operations.push(DocumentChangeOperation::Op(ResourceOp::Create(create)));
            let start = Range::new(Position::new(0, 0), Position::new(0, 0));
            texts.push((uri, None, vec![ClientEdit::new(start, text.clone())]));
        }
        operations.extend(texts.into_iter().map(|(uri, version, edits)| {
            DocumentChangeOperation::Edit(TextDocumentEdit {
                text_document: OptionalVersionedTextDocumentIdentifier { uri, version },
                edits: edits.into_iter().map(OneOf::Left).collect(),
            })
        }));
        Some(WorkspaceEdit {
            document_changes: Some(DocumentChanges::Operations(operations)),
            ..WorkspaceEdit::default()
        })
    }
}
