//! Whom a change breaks in generated code.

use abide_schema::Element;

use crate::change::{Change, Diff};
use crate::surface::{Effects, Surface};

/// A symbol of generated code that is lost or means something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostSymbol {
    /// The language.
    pub surface: Surface,
    /// The symbol as a user writes it, and what became of it.
    pub symbol: String,
}

/// The languages whose generators are modelled.
const LANGUAGES: &[Surface] =
    &[Surface::SourceCpp, Surface::SourceGo, Surface::SourceJava, Surface::SourcePython];

/// What code that was written against the old stubs of an element loses.
pub(crate) fn lost<'t>(_: &Diff<'t>, change: Change<Element<'t>>) -> (Effects, Vec<LostSymbol>) {
    match change {
        Change::Removed(_) => (Effects::backward(LANGUAGES), Vec::new()),
        Change::Added(_) | Change::Both { .. } => (Effects::NONE, Vec::new()),
    }
}
