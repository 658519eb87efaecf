//! Fixes: edits of the checked texts that mend a finding. `--fix` applies them, and editors offer
//! them.

pub(crate) mod comments;
pub(crate) mod deprecation;
pub(crate) mod edition;
pub(crate) mod imports;
pub(crate) mod options;
pub(crate) mod rename;
pub(crate) mod reservations;
pub(crate) mod source_text;

use abide_schema::{File, Place};
use abide_upgrade::Edit;

use super::location::Location;

/// When `--fix` applies a fix. Whatever it applies, the result has no new finding and breaks
/// nothing that the policy forbids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Applied {
    /// Always: it keeps the meaning, or says what was meant.
    Always,
    /// If the policy lets the package change this way, as it does in an alpha.
    IfCompatible,
    /// Never: a person decides.
    Never,
}

impl Applied {
    /// Its word in reports.
    pub const fn word(self) -> &'static str {
        match self {
            Applied::Always => "always",
            Applied::IfCompatible => "if-compatible",
            Applied::Never => "never",
        }
    }
}

/// A change of texts that mends a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What it does: a lower-case phrase that begins with a verb.
    pub title: String,
    /// When `--fix` applies it.
    pub applied: Applied,
    /// The edits; none of them overlap.
    pub edits: Vec<FixEdit>,
}

/// A part of a text, and what stands there afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixEdit {
    /// The bytes that go, in the text as it was read; none for an insertion.
    pub location: Location,
    /// What comes in their place.
    pub text: String,
}

impl Fix {
    /// A fix that edits one file.
    pub(crate) fn of_file(
        file: File<'_>,
        title: impl Into<String>,
        edits: impl IntoIterator<Item = Edit>,
    ) -> Fix {
        let in_file = |edit: Edit| {
            let location = Location::tree(Place { file: file.id, span: edit.span });
            FixEdit { location, text: edit.text }
        };
        let edits = edits.into_iter().map(in_file).collect();
        Fix { title: title.into(), applied: Applied::Always, edits }
    }

    /// The same fix, applied at other times.
    pub(crate) fn applied(self, applied: Applied) -> Fix {
        Fix { applied, ..self }
    }
}
