//! Files that hold instances, as they are named and found.

use abide_instance::{Notation, mask_secrets};
use abide_source::NamedFile;
use abide_syntax::Span;

use crate::error::Error;
use crate::render::TextFile;
use crate::terminal::eprint_line;

/// Reads the files with these names, and those in folders with these names, in the order of their
/// names. Prints a note for each link that is not read.
pub(super) fn read_named_files(
    names: &[String],
    notation: Option<Notation>,
) -> Result<Vec<NamedFile>, Error> {
    let mut notes = Vec::new();
    let files = abide_source::read_named_files(names, notation, &mut notes);
    print_notes(&notes);
    Ok(files?)
}

/// Prints notes about files that were not read.
pub(super) fn print_notes(notes: &[String]) {
    for note in notes {
        eprint_line(&format!("note: {note}"));
    }
}

/// Returns the error for a file that cannot be read.
pub(super) fn unreadable(name: &str, error: std::io::Error) -> Error {
    Error::File { what: format!("cannot read `{name}`"), error }
}

/// Returns the text of a file that reports show. Bytes that are no text are not shown, and neither are
/// secrets.
pub(super) fn text_for_report(file: &NamedFile, secrets: &[Span]) -> TextFile {
    let text = match file.notation {
        Notation::Binary => String::new(),
        Notation::Yaml | Notation::Json | Notation::Text => {
            let mut bytes = file.bytes.clone();
            mask_secrets(&mut bytes, secrets);
            String::from_utf8_lossy(&bytes).into_owned()
        }
    };
    TextFile { name: file.name.clone(), text }
}
