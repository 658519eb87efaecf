//! Places in texts of any origin.

use abide_schema::{FileId, Place};
use abide_syntax::Span;

/// The text that a location lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// A file of the tree.
    Tree(FileId),
    /// A file of the old tree.
    Old(FileId),
    /// `abide.toml`.
    Config,
    /// `abide.accepted`.
    Accepted,
    /// A list of features, by its number in the run.
    Features(u32),
    /// A file that holds an instance of a message, by its number in the run.
    Instance(u32),
}

/// A place in a text: which text, and the bytes there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    /// The text.
    pub origin: Origin,
    /// The bytes.
    pub span: Span,
}

impl Location {
    /// A place in a file of the tree.
    pub const fn tree(place: Place) -> Location {
        Location { origin: Origin::Tree(place.file), span: place.span }
    }

    /// A place in a file of the old tree.
    pub const fn old(place: Place) -> Location {
        Location { origin: Origin::Old(place.file), span: place.span }
    }

    /// These bytes of `abide.toml`.
    pub const fn config(span: Span) -> Location {
        Location { origin: Origin::Config, span }
    }

    /// These bytes of `abide.accepted`.
    pub const fn accepted(span: Span) -> Location {
        Location { origin: Origin::Accepted, span }
    }

    /// These bytes of the list of features with this number.
    pub const fn features(index: u32, span: Span) -> Location {
        Location { origin: Origin::Features(index), span }
    }

    /// These bytes of the file of instances with this number.
    pub const fn instance(index: u32, span: Span) -> Location {
        Location { origin: Origin::Instance(index), span }
    }

    /// Counts files of instances that come before its own.
    pub(crate) fn renumber(&mut self, before: u32) {
        if let Origin::Instance(number) = &mut self.origin {
            *number += before;
        }
    }

    /// Counts files of old trees that come before its own.
    pub(crate) fn renumber_old(&mut self, before: u32) {
        if let Origin::Old(FileId(number)) = &mut self.origin {
            *number += before;
        }
    }

    /// The place in the tree, if it has one.
    pub const fn place(&self) -> Option<Place> {
        match self.origin {
            Origin::Tree(file) => Some(Place { file, span: self.span }),
            Origin::Old(_)
            | Origin::Config
            | Origin::Accepted
            | Origin::Features(_)
            | Origin::Instance(_) => None,
        }
    }

    /// The place in the old tree, where it is one.
    pub const fn old_place(&self) -> Option<Place> {
        match self.origin {
            Origin::Old(file) => Some(Place { file, span: self.span }),
            Origin::Tree(_)
            | Origin::Config
            | Origin::Accepted
            | Origin::Features(_)
            | Origin::Instance(_) => None,
        }
    }
}

impl From<Place> for Location {
    /// A place in a file of the tree.
    fn from(place: Place) -> Location {
        Location::tree(place)
    }
}
