//! Sets of strings, of bytes and of type URLs.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::acceptance::Acceptance;
use super::dialect::Dialect;
use super::formats::StringFormat;
use super::pattern::{LengthRange, Pattern, TextSearch, join_literals};

/// An expression that must match, or must not.
#[derive(Clone, Debug)]
pub(crate) struct PatternExpression {
    /// In the syntax of the crate `regex`; `None` if the pattern has no counterpart
    /// there.
    expression: Option<String>,
    /// The text of the annotation.
    said: String,
    pub(crate) wanted: bool,
    pattern: OnceCell<Option<Arc<Pattern>>>,
}

impl PartialEq for PatternExpression {
    fn eq(&self, other: &PatternExpression) -> bool {
        let same = match (&self.expression, &other.expression) {
            (Some(a), Some(b)) => a == b,
            (None, None) => self.said == other.said,
            _ => false,
        };
        same && self.wanted == other.wanted
    }
}

impl PatternExpression {
    pub(crate) fn new(
        said: impl Into<String>,
        expression: Option<String>,
        wanted: bool,
    ) -> PatternExpression {
        PatternExpression { expression, said: said.into(), wanted, pattern: OnceCell::new() }
    }

    pub(crate) fn pattern(&self) -> Option<Arc<Pattern>> {
        let compile = || Pattern::new(self.expression.as_deref()?);
        self.pattern.get_or_init(compile).clone()
    }

    pub(crate) fn said(&self) -> &str {
        &self.said
    }

    fn evaluate(&self, text: &[u8]) -> Acceptance {
        match self.pattern() {
            Some(pattern) => Acceptance::when(pattern.is_match(text) == self.wanted)
                .because(|| format!("it violates `{}`", self.said)),
            None => Acceptance::Unknown(format!("whether `{}` matches", self.said)),
        }
    }
}

/// A set of strings, of bytes or of type URLs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StringSet {
    pub(crate) chars: LengthRange,
    pub(crate) bytes: LengthRange,
    /// The whole set, if `const` or `in` lists it.
    pub(crate) among: Option<BTreeSet<Vec<u8>>>,
    pub(crate) without: BTreeSet<Vec<u8>>,
    pub(crate) expressions: Vec<PatternExpression>,
    pub(crate) formats: Vec<(Dialect, StringFormat)>,
}

impl StringSet {
    /// Checks a text, or bytes.
    pub(crate) fn evaluate(&self, bytes: &[u8]) -> Acceptance {
        let text = std::str::from_utf8(bytes);
        let chars = text.map_or(bytes.len(), |text| text.chars().count()) as u64;
        let length = |length: LengthRange, count: u64| {
            Acceptance::when(length.contains(count))
                .because(|| "its length is out of bounds".to_owned())
        };
        let mut acceptance =
            length(self.chars, chars).and(|| length(self.bytes, bytes.len() as u64)).and(|| {
                let listed = self.among.as_ref().is_none_or(|set| set.contains(bytes));
                Acceptance::when(listed && !self.without.contains(bytes))
                    .because(|| "it is not one of the allowed values".to_owned())
            });
        for expression in &self.expressions {
            acceptance = acceptance.and(|| expression.evaluate(bytes));
        }
        for (dialect, format) in &self.formats {
            acceptance = acceptance.and(|| match text {
                Ok(text) => {
                    format.evaluate(*dialect, text).because(|| "it has another format".to_owned())
                }
                Err(_) => Acceptance::when(false).because(|| "it has another format".to_owned()),
            });
        }
        acceptance
    }

    /// A list as a language, to search among the texts of others.
    pub(crate) fn list_expression(texts: &BTreeSet<Vec<u8>>, wanted: bool) -> PatternExpression {
        let expression = join_literals(texts.iter().map(Vec::as_slice));
        PatternExpression::new("a list", Some(expression), wanted)
    }
}

/// Narrows a description to a set; false if formats or patterns are left out.
pub(crate) fn within(
    strings: &StringSet,
    mut wanted: TextSearch,
    utf8: bool,
    without_empty: bool,
) -> (TextSearch, bool) {
    let mut exact = strings.formats.is_empty();
    let least = LengthRange { least: u64::from(without_empty), most: None };
    wanted.utf8 = utf8;
    wanted.chars = wanted.chars.intersect(strings.chars);
    wanted.bytes = wanted.bytes.intersect(strings.bytes).intersect(least);
    let lists = [
        strings.among.as_ref().map(|among| StringSet::list_expression(among, true)),
        (!strings.without.is_empty()).then(|| StringSet::list_expression(&strings.without, false)),
    ];
    for (dialect, format) in &strings.formats {
        if let Some(outline) = format.outline(*dialect).and_then(Pattern::new) {
            wanted.patterns.push((outline, true));
        }
    }
    for expression in strings.expressions.iter().chain(lists.iter().flatten()) {
        match expression.pattern() {
            Some(pattern) => wanted.patterns.push((pattern, expression.wanted)),
            None => exact = false,
        }
    }
    (wanted, exact)
}
