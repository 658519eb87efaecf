//! Compares the texts of two files, comments and white space left out.

use std::sync::Arc;

use abide_schema::{File, FileDecl};
use abide_syntax::{Lexer, TokenKind};

use crate::memo::Memo;

/// The pairs of texts that were compared. Several old trees share most of their files, so one tree
/// is compared with the same text again and again.
#[derive(Debug, Default)]
pub struct ComparedTexts(Memo<[usize; 2], ComparedPair>);

/// Two files that were compared. They are known by their addresses, so they are kept as long as
/// these are.
#[derive(Debug)]
struct ComparedPair {
    are_equal: bool,
    _files: [Arc<FileDecl>; 2],
}

impl ComparedTexts {
    /// Returns true if two files were read from the same text, comments and white space left out.
    pub fn have_equal_tokens(&self, old: File<'_>, new: File<'_>) -> bool {
        if Arc::ptr_eq(old.shared_decl(), new.shared_decl()) {
            return true;
        }
        let files = [old, new].map(|it| Arc::clone(it.shared_decl()));
        let key = files.each_ref().map(|it| Arc::as_ptr(it) as usize);
        let compare = || ComparedPair { are_equal: has_equal_text(old, new), _files: files };
        self.0.get_or_compute(key, compare).are_equal
    }
}

/// Returns true if two files were read from the same text, comments and white space
/// left out.
fn has_equal_text(old: File<'_>, new: File<'_>) -> bool {
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
