//! Explains errors by what plain words of YAML mean: the same word is a text to one reader and a
//! boolean to another.

use abide_schema::value::{ReadError, ReadErrorKind};
use abide_schema::{Scalar, Tree, Type};

use super::notation::Dialect;

/// Says what to write where a plain word is no value of the type of its field.
pub(crate) fn add_yaml_hints(tree: &Tree, text: &str, dialect: Dialect, errors: &mut [ReadError]) {
    let is_wrong = |it: &&mut ReadError| it.kind == ReadErrorKind::WrongType && it.help.is_none();
    for error in errors.iter_mut().filter(is_wrong) {
        let Some(Type::Scalar(scalar)) = error.field.map(|field| tree.field(field).ty()) else {
            continue;
        };
        let Some(word) = text.get(error.span.range()).filter(|it| is_plain_word(it)) else {
            continue;
        };
        error.help = match scalar {
            Scalar::String | Scalar::Bytes => Some(format!("{}; quote it: `\"{word}\"`", {
                let reader = match dialect {
                    Dialect::Envoy => "YAML 1.1, which Envoy reads,",
                    Dialect::Protobuf => "YAML",
                };
                let meaning =
                    if parse_yaml_1_1_bool(word).is_some() { "boolean" } else { "number" };
                format!("{reader} takes the word `{word}` for a {meaning}")
            })),
            Scalar::Bool => parse_yaml_1_1_bool(word).map(|value| {
                format!("only YAML 1.1 takes the word `{word}` for a boolean; write `{value}`")
            }),
            _ => None,
        };
    }
}

fn is_plain_word(word: &str) -> bool {
    let is_part = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'+' | b'-' | b'.');
    !word.is_empty() && word.len() < 40 && word.bytes().all(is_part)
}

/// Reads a word as a boolean of YAML 1.1.
fn parse_yaml_1_1_bool(word: &str) -> Option<bool> {
    match &*word.to_ascii_lowercase() {
        "y" | "yes" | "true" | "on" => Some(true),
        "n" | "no" | "false" | "off" => Some(false),
        _ => None,
    }
}
