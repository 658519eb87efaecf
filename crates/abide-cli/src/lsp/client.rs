//! The abilities of an editor.

use lsp_types::{InitializeParams, ResourceOperationKind};
use serde_json::Value;

/// The abilities of the client, as far as they matter.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ClientAbilities {
    /// Asks for diagnostics, so that none are sent.
    pub(super) pulls: bool,
    pub(super) document_changes: bool,
    pub(super) creates_files: bool,
    pub(super) snippets: bool,
    pub(super) nested_symbols: bool,
    pub(super) watches: bool,
    pub(super) shows_progress: bool,
}

impl ClientAbilities {
    /// Reads what an editor says about itself, `given` as it came.
    pub(super) fn read(params: &InitializeParams, given: &Value) -> ClientAbilities {
        // The types of the protocol call this one `diagnostic`.
        let refreshes = given.pointer("/capabilities/workspace/diagnostics/refreshSupport");
        let refreshes = refreshes.and_then(Value::as_bool) == Some(true);
        let given = &params.capabilities;
        let text = given.text_document.as_ref();
        let workspace = given.workspace.as_ref();
        let edit = workspace.and_then(|it| it.workspace_edit.as_ref());
        let completion = text.and_then(|it| it.completion.as_ref());
        let symbols = text.and_then(|it| it.document_symbol.as_ref());
        let watching = workspace.and_then(|it| it.did_change_watched_files);
        let resources = edit.and_then(|it| it.resource_operations.as_deref()).unwrap_or_default();
        ClientAbilities {
            // Findings change without an edit: when a commit is made, or a check of all ends.
            pulls: text.is_some_and(|it| it.diagnostic.is_some()) && refreshes,
            document_changes: edit.and_then(|it| it.document_changes) == Some(true),
            creates_files: resources.contains(&ResourceOperationKind::Create),
            snippets: completion
                .and_then(|it| it.completion_item.as_ref())
                .and_then(|it| it.snippet_support)
                == Some(true),
            nested_symbols: symbols.and_then(|it| it.hierarchical_document_symbol_support)
                == Some(true),
            watches: watching.and_then(|it| it.dynamic_registration) == Some(true),
            shows_progress: given.window.as_ref().and_then(|it| it.work_done_progress)
                == Some(true),
        }
    }
}
