//! `abide lsp`.

use super::outcome::Outcome;
use crate::args::{Global, LspArgs};
use crate::lsp;

pub(super) fn lsp(global: &Global, args: &LspArgs) -> Outcome {
    Outcome::nothing(!lsp::serve(global, args.against.as_deref()))
}
