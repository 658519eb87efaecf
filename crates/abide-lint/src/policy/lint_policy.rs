//! `[lint]`: what rules about names and comments ask for.

use abide_schema::{Edition, File};

use super::severities::is_at;

/// What rules about one tree ask for where teams differ.
#[derive(Clone, Debug)]
pub struct LintPolicy {
    /// What the names of zero values end with.
    pub zero_value_suffix: String,
    /// What the names of services end with.
    pub service_suffix: String,
    /// True if one message may be the request and the response of a method.
    pub allow_same_request_response: bool,
    /// True if any method may take `google.protobuf.Empty`.
    pub allow_empty_requests: bool,
    /// True if any method may return `google.protobuf.Empty`.
    pub allow_empty_responses: bool,
    /// True if comments such as `// buf:lint:ignore ENUM_PASCAL_CASE` count.
    pub buf_comments: bool,
    /// True if comments such as `// protolint:disable ORDER` count.
    pub protolint_comments: bool,
    /// True if comments such as `// (-- api-linter: core::0140=disabled --)` count.
    pub api_linter_comments: bool,
    /// The `syntax` or `edition` that every file declares.
    pub syntax: Edition,
    /// What differs in parts of the tree; the last part that holds a file counts.
    pub(crate) parts: Vec<LintPart>,
}

/// What rules ask for in a part of the tree.
#[derive(Clone, Debug)]
pub(crate) struct LintPart {
    /// Files and folders, relative to the folder of `abide.toml`.
    pub(crate) files: Vec<String>,
    pub(crate) policy: LintPolicy,
}

impl LintPolicy {
    /// Returns what rules ask for in a file.
    pub(crate) fn of(&self, file: File<'_>) -> &LintPolicy {
        let path = &*file.decl().display;
        let part = self.parts.iter().rev().find(|it| it.files.iter().any(|at| is_at(path, at)));
        part.map_or(self, |it| &it.policy)
    }
}

impl Default for LintPolicy {
    fn default() -> Self {
        LintPolicy {
            zero_value_suffix: "_UNSPECIFIED".to_owned(),
            service_suffix: "Service".to_owned(),
            allow_same_request_response: false,
            allow_empty_requests: false,
            allow_empty_responses: false,
            buf_comments: true,
            protolint_comments: true,
            api_linter_comments: true,
            syntax: Edition::Proto3,
            parts: Vec::new(),
        }
    }
}
