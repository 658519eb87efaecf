//! Finds where source code in Go, Java, Python and C++ uses what is generated from a tree.
//!
//! It reads texts and runs nothing. [`CodeNames`] knows the symbols that the models of the
//! generators list, and how code names them: by imports, namespaces, variables and members.

mod index;
mod scan;
mod scope;
mod tokens;

use std::collections::BTreeSet;

use abide_schema::Tree;

use self::index::NameIndex;
use self::scan::{CodeScan, KnownNames};
use self::scope::Scope;
use self::tokens::{Token, split_tokens};
use crate::symbols::Language;

/// A place in a source file that uses an element.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CodeUse {
    /// The line; the first is 1.
    pub line: u32,
    /// The full name of the element.
    pub element: String,
    /// The name that stands there.
    pub symbol: String,
}

/// The generated names of a tree in one language.
pub struct CodeNames<'t>(NameIndex<'t>);

impl<'t> CodeNames<'t> {
    /// Lists the names of the judged elements of a tree.
    pub fn of(tree: &'t Tree, language: Language) -> CodeNames<'t> {
        CodeNames(NameIndex::of(tree, language))
    }

    /// Finds the uses in source files, in the order of the files. What one file says about the
    /// types of functions and members counts in the others.
    pub fn find_uses(&self, codes: &[&str]) -> Vec<BTreeSet<CodeUse>> {
        let index = &self.0;
        let files: Vec<(Vec<Token<'_>>, Scope)> = codes
            .iter()
            .map(|code| {
                let tokens = split_tokens(index.language, code);
                let scope = Scope::of(index, &tokens);
                (tokens, scope)
            })
            .collect();
        let (mut known, nothing) = (KnownNames::default(), KnownNames::default());
        for (tokens, scope) in &files {
            CodeScan::new(index, tokens, scope, &nothing).note_names(&mut known);
        }
        let scan = |(tokens, scope): &(Vec<Token<'_>>, Scope)| {
            CodeScan::new(index, tokens, scope, &known).find_uses()
        };
        files.iter().map(scan).collect()
    }
}
