//! Compares the texts of two files, comments and white space left out.

use std::sync::Arc;

use abide_schema::File;
use abide_syntax::{Lexer, TokenKind};

/// Returns true if two files were read from the same text, comments and white space
/// left out.
pub(super) fn has_equal_text(old: File<'_>, new: File<'_>) -> bool {
    if Arc::ptr_eq(old.shared_decl(), new.shared_decl()) {
        return true;
    }
    match (old.decl().source_text(), new.decl().source_text()) {
        (Some(old), Some(new)) => old == new || has_equal_tokens(old, new),
        _ => false,
    }
}

/// Returns true if two texts have the same tokens. What is parsed from them has the
/// same shape then; only its places differ.
pub(super) fn has_equal_tokens(old: &[u8], new: &[u8]) -> bool {
    // Mostly it is the comment at the head of a file that differs.
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(was, is)| was == is).count();
    let (mut before, mut after) = (Lexer::new(old, 0), Lexer::new(new, 0));
    loop {
        let (was, is) = (before.next_token(), after.next_token());
        if was.kind != is.kind || was.span.of(old) != is.span.of(new) {
            return false;
        }
        let left = old.len() - was.span.end as usize;
        if was.kind == TokenKind::End || left <= tail && left == new.len() - is.span.end as usize {
            return true;
        }
    }
}
