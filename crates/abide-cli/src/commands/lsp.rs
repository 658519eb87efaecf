//! `abide lsp`.

use super::outcome::CommandOutcome;
use crate::args::{Global, LspArgs};
use crate::lsp;

pub(super) fn lsp(global: &Global, args: &LspArgs) -> CommandOutcome {
    CommandOutcome::nothing(!lsp::serve(global, args.against.as_deref()))
}
