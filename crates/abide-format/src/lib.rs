//! One layout for `.proto` files: the same tokens and the same comments, with the white space that
//! everybody agrees on.
//!
//! [`format()`] needs one text and nothing else: no name is linked. What it returns means the same,
//! holds every comment of the text, and formats to itself. The layout is the one of `buf format`,
//! as seen from outside: what both print for real trees is compared, and the places where they
//! differ are counted with their reasons.

mod bodies;
mod comments;
mod file;
mod option_names;
mod printer;
mod statements;
mod values;

use abide_syntax::{SyntaxError, parse};

use self::printer::Printer;

/// The text in its layout.
///
/// Line ends stay what the first of them is, `\n` or `\r\n`; a byte order mark goes.
///
/// # Errors
///
/// A text that cannot be parsed has no layout: the errors, in the order of the text.
pub fn format(text: &[u8]) -> Result<Vec<u8>, Vec<SyntaxError>> {
    let (ast, errors) = parse(text);
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut printer = Printer::new(text, &ast);
    printer.write_file();
    Ok(printer.finish())
}
