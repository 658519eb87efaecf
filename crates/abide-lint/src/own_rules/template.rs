//! Messages of rules: text with expressions in braces.

use abide_schema::Tree;
use abide_validate::cel::{CelError, CelType, CelValue, Library, Program, show_value};

/// The most characters of a message.
const MAX_LENGTH: usize = 1_000;

/// A text with expressions in it.
#[derive(Debug)]
pub(super) struct Template {
    parts: Vec<TemplatePart>,
}

#[derive(Debug)]
enum TemplatePart {
    Text(String),
    Value(Program),
}

impl Template {
    /// Reads a template. `{{` and `}}` are braces of the text.
    pub(super) fn parse(
        tree: &Tree,
        text: &str,
        variables: &[(&str, CelType)],
    ) -> Result<Template, CelError> {
        let mut parts = Vec::new();
        let (mut plain, mut at) = (String::new(), 0);
        while let Some(letter) = text.get(at..).and_then(|it| it.chars().next()) {
            let rest = text.get(at..).unwrap_or_default();
            if rest.starts_with("{{") || rest.starts_with("}}") {
                plain.push(letter);
                at += 2;
            } else if letter == '{' {
                let end = find_end(rest).ok_or_else(|| {
                    let message = "this `{` is not closed: write `{{` for a brace in the text";
                    CelError::new(at..at + 1, message)
                })?;
                let expression = rest.get(1..end).unwrap_or_default();
                let program = Program::compile_rule(tree, expression, variables)
                    .map_err(|error| move_error(error, at + 1))?;
                parts.push(TemplatePart::Text(std::mem::take(&mut plain)));
                parts.push(TemplatePart::Value(program));
                at += end + 1;
            } else if letter == '}' {
                let message = "this `}` opens nowhere: write `}}` for a brace in the text";
                return Err(CelError::new(at..at + 1, message));
            } else {
                plain.push(letter);
                at += letter.len_utf8();
            }
        }
        parts.push(TemplatePart::Text(plain));
        Ok(Template { parts })
    }

    /// Returns the text with its values, on one line, and how many steps that took.
    pub(super) fn render<'v>(
        &self,
        tree: &Tree,
        library: &dyn Library,
        variables: &[(&str, CelValue<'v>)],
    ) -> (Result<String, String>, usize) {
        let (mut out, mut steps) = (String::new(), 0);
        for part in &self.parts {
            match part {
                TemplatePart::Text(text) => out.push_str(text),
                TemplatePart::Value(program) => {
                    let (value, taken) = program.run_counted(tree, library, variables);
                    steps += taken;
                    match value.and_then(|it| show_value(&it)) {
                        Ok(text) => out.push_str(&text),
                        Err(error) => return (Err(error), steps),
                    }
                }
            }
        }
        let line = out.chars().map(|it| if it.is_control() { ' ' } else { it });
        (Ok(line.take(MAX_LENGTH).collect()), steps)
    }
}

/// Moves the place of an error in an expression to that in the text around it.
fn move_error(mut error: CelError, by: usize) -> CelError {
    error.span = error.span.start + by..error.span.end + by;
    error
}

/// The index of the `}` that closes a `{` at the start; strings in between may hold braces.
fn find_end(text: &str) -> Option<usize> {
    let (mut depth, mut quote, mut is_escaped) = (0, None, false);
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(_), _) if is_escaped => is_escaped = false,
            (Some(_), '\\') => is_escaped = true,
            (Some(open), _) if open == letter => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(letter),
            (None, '{') => depth += 1,
            (None, '}') if depth == 1 => return Some(at),
            (None, '}') => depth -= 1,
            (None, _) => {}
        }
    }
    None
}
