//! Names that a file declares and mentions: they decide if it can mean another file.

use std::collections::BTreeSet;

use abide_schema::{Element, File};
use abide_syntax::ImportKind;

/// Returns true if other files can name an element.
fn is_named_by_others(element: &Element<'_>) -> bool {
    match element {
        Element::Message(_) | Element::Enum(_) | Element::Service(_) => true,
        Element::Field(field) => field.is_extension(),
        _ => false,
    }
}

/// The names in a file.
pub(super) struct Mentions {
    package: String,
    /// The full names that it declares.
    declared: BTreeSet<String>,
    /// The dotted words of its text, each with all that it begins with.
    words: BTreeSet<String>,
    /// True if it passes on the names of other files.
    passes_on: bool,
}

impl Mentions {
    pub(super) fn of(file: File<'_>) -> Mentions {
        let mut words = BTreeSet::new();
        let text = String::from_utf8_lossy(file.decl().strings.text());
        for word in text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.')) {
            let word = word.trim_matches('.');
            let ends = word.match_indices('.').map(|(at, _)| at).chain([word.len()]);
            words.extend(ends.filter_map(|end| word.get(..end)).map(str::to_owned));
        }
        Mentions {
            package: file.package().name().to_owned(),
            declared: file.elements().filter(is_named_by_others).map(Element::full_name).collect(),
            words,
            passes_on: file.decl().imports.iter().any(|it| it.kind == ImportKind::Public),
        }
    }

    /// Returns true if a text mentions a name of another file in a way that can mean it.
    pub(super) fn can_mean(&self, other: &Mentions) -> bool {
        other.passes_on || other.declared.iter().any(|name| self.has_mention(name))
    }

    /// Returns true if a name is mentioned, whole or without what its package has in common with
    /// it.
    fn has_mention(&self, name: &str) -> bool {
        let starts = name.match_indices('.').map(|(at, _)| at + 1);
        [0].into_iter()
            .chain(starts)
            .filter(|start| self.is_in_package(&name[..*start]))
            .any(|start| self.words.contains(&name[start..]))
    }

    /// Returns true if this beginning of a name, with its dot, is one of the package, too.
    fn is_in_package(&self, start: &str) -> bool {
        let Some(start) = start.strip_suffix('.') else { return true };
        let rest = self.package.strip_prefix(start);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }
}
