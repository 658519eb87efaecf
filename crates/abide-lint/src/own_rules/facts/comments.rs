//! Comments as readers see them.

use abide_schema::{AttachedComments, Comment, File, Node};
use abide_validate::cel::CelValue;

/// What lines of comments begin with that are for tools.
const FOR_TOOLS: &[&str] = &["abide:", "buf:lint:ignore", "protolint:", "(-- api-linter:"];

/// The text of the comment directly before a declaration; empty if there is none.
pub(super) fn leading<'v>(file: File<'_>, node: Node) -> CelValue<'v> {
    read(file.decl().comments(node).leading.as_ref())
}

/// The text of the comment behind a declaration.
pub(super) fn trailing<'v>(file: File<'_>, node: Node) -> CelValue<'v> {
    read(file.decl().comments(node).trailing.as_ref())
}

/// The comments before a declaration that a blank line sets apart.
pub(super) fn detached<'v>(file: File<'_>, node: Node) -> CelValue<'v> {
    let AttachedComments { detached, .. } = file.decl().comments(node);
    CelValue::List(detached.iter().map(|it| read(Some(it))).collect())
}

fn read<'v>(comment: Option<&Comment>) -> CelValue<'v> {
    let text = comment.map_or("", |it| &it.text);
    let is_for_readers = |line: &&str| !FOR_TOOLS.iter().any(|it| line.starts_with(it));
    let lines: Vec<&str> = text.lines().map(str::trim).filter(is_for_readers).collect();
    CelValue::text(lines.join("\n").trim())
}
