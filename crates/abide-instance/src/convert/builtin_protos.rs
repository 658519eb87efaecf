//! The messages that translations are declared in: those of `api/abide/mapping/v1`
//! and `api/abide/migration/v1`, read from files.

use std::sync::{Arc, OnceLock};

use abide_schema::value::{Message, ReadError};
use abide_schema::{FileDecl, SourceFile, Tree};
use abide_syntax::Span;

use crate::{Dialect, Instance, Notation, ReadOptions};

const FILES: &[(&str, &str)] = &[
    (
        "abide/mapping/v1/mapping.proto",
        include_str!("../../../../api/abide/mapping/v1/mapping.proto"),
    ),
    (
        "abide/migration/v1/migration.proto",
        include_str!("../../../../api/abide/migration/v1/migration.proto"),
    ),
    (
        "abide/annotations/v1/status.proto",
        include_str!("../../../../api/abide/annotations/v1/status.proto"),
    ),
];

/// The tree of our own messages.
pub(super) fn get_builtin_protos() -> &'static Tree {
    static TREE: OnceLock<Tree> = OnceLock::new();
    TREE.get_or_init(|| {
        let parse = |(path, text): &(&str, &str)| {
            let path: Arc<str> = (*path).into();
            let (display, text) = (Arc::clone(&path), text.as_bytes().into());
            Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported: false, text }))
        };
        Tree::link(FILES.iter().map(parse).collect())
    })
}

/// An error in a file with declarations: the reason and the span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclarationError {
    /// The span in the file.
    pub span: Span,
    /// One lower-case phrase.
    pub message: String,
}

impl From<ReadError> for DeclarationError {
    fn from(error: ReadError) -> DeclarationError {
        let help = error.help.map_or_else(String::new, |help| format!("; {help}"));
        DeclarationError { span: error.span, message: error.message + &help }
    }
}

/// The values of one of our own messages that a file holds.
pub(super) fn read_builtin_values(
    name: &str,
    text: &[u8],
    notation: Notation,
) -> Result<Vec<Message>, DeclarationError> {
    let tree = get_builtin_protos();
    let ty = tree.message_named(name).map(|it| it.id);
    let options = ReadOptions { notation, ty, dialect: Some(Dialect::Protobuf) };
    let instance = Instance::read(tree, text, options);
    if let Some(error) = instance.errors.into_iter().next() {
        return Err(error.into());
    }
    let mut values = Vec::new();
    for reading in instance.documents.into_iter().filter_map(|it| it.reading) {
        if let Some(error) = reading.errors.into_iter().next() {
            return Err(error.into());
        }
        if let Some(unknown) = reading.undeclared.first() {
            let message = format!("no field or value of `{name}` has the name `{}`", unknown.name);
            return Err(DeclarationError { span: unknown.key, message });
        }
        values.push(reading.message);
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::get_builtin_protos;

    #[test]
    fn our_own_messages_link() {
        assert_eq!(get_builtin_protos().problems().first().map(|it| it.message.clone()), None);
    }
}
