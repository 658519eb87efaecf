//! What annotations ask of the values of a field, as sets of accepted values.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use abide_schema::{Field, MessageId, Presence, Tree, Type};

use super::acceptance::Acceptance;
use super::datum::{Datum, DatumKind, ValueType, domain, element};
use super::formats::StringFormat;
use super::number_set::NumberSet;
use super::pattern::{Length, Pattern, SearchResult, TextSearch, literals};
use super::read::Dialect;

/// An expression that must match, or must not.
#[derive(Clone, Debug)]
pub(super) struct Expression {
    /// In the syntax of the crate `regex`; `None` if the pattern has no counterpart
    /// there.
    expression: Option<String>,
    /// The text of the annotation.
    said: String,
    pub(super) wanted: bool,
    pattern: OnceCell<Option<Rc<Pattern>>>,
}

impl PartialEq for Expression {
    fn eq(&self, other: &Expression) -> bool {
        let same = match (&self.expression, &other.expression) {
            (Some(a), Some(b)) => a == b,
            (None, None) => self.said == other.said,
            _ => false,
        };
        same && self.wanted == other.wanted
    }
}

impl Expression {
    pub(super) fn new(
        said: impl Into<String>,
        expression: Option<String>,
        wanted: bool,
    ) -> Expression {
        Expression { expression, said: said.into(), wanted, pattern: OnceCell::new() }
    }

    pub(super) fn pattern(&self) -> Option<Rc<Pattern>> {
        let compile = || Pattern::new(self.expression.as_deref()?);
        self.pattern.get_or_init(compile).clone()
    }

    pub(super) fn said(&self) -> &str {
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
pub(super) struct StringSet {
    pub(super) chars: Length,
    pub(super) bytes: Length,
    /// The whole set, if `const` or `in` lists it.
    pub(super) among: Option<BTreeSet<Vec<u8>>>,
    pub(super) without: BTreeSet<Vec<u8>>,
    pub(super) expressions: Vec<Expression>,
    pub(super) formats: Vec<(Dialect, StringFormat)>,
}

impl StringSet {
    pub(super) fn evaluate(&self, bytes: &[u8]) -> Acceptance {
        let text = std::str::from_utf8(bytes);
        let chars = text.map_or(bytes.len(), |text| text.chars().count()) as u64;
        let length = |length: Length, count: u64| {
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
    pub(super) fn list_expression(texts: &BTreeSet<Vec<u8>>, wanted: bool) -> Expression {
        let expression = literals(texts.iter().map(Vec::as_slice));
        Expression::new("a list", Some(expression), wanted)
    }
}

/// Narrows a description to a set; false if formats or patterns are left out.
pub(super) fn within(
    strings: &StringSet,
    mut wanted: TextSearch,
    utf8: bool,
    without_empty: bool,
) -> (TextSearch, bool) {
    let mut exact = strings.formats.is_empty();
    let least = Length { least: u64::from(without_empty), most: None };
    wanted.utf8 = utf8;
    wanted.chars = wanted.chars.intersection(strings.chars);
    wanted.bytes = wanted.bytes.intersection(strings.bytes).intersection(least);
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

/// A set of values of one type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ValueSet {
    /// All of them.
    All,
    /// The second set is relative to the present, in nanoseconds; it is everything
    /// unless the type is a timestamp.
    Numbers(NumberSet, NumberSet),
    Strings(Box<StringSet>),
}

/// The rules of one library for one value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ValueLimits {
    pub(super) dialect: Dialect,
    pub(super) single: ValueType,
    /// Nothing is checked, nested messages included.
    pub(super) skip: bool,
    /// Zero is accepted whatever the other rules are.
    pub(super) zero_passes: bool,
    pub(super) set: ValueSet,
    /// Rules that do not define a set: the value is rejected unless all are satisfied.
    pub(super) opaque: BTreeSet<String>,
}

impl ValueLimits {
    /// The message type whose own rules also apply to the values.
    pub(super) fn nested(&self) -> Option<MessageId> {
        match (self.single.shape, self.single.ty) {
            (DatumKind::Message, Type::Message(id)) if !self.skip => Some(id),
            _ => None,
        }
    }

    /// Whether it is known that no value satisfies the rules, whatever the time is.
    pub(super) fn accepts_nothing(&self, tree: &Tree) -> bool {
        if self.skip || self.zero_passes {
            return false;
        }
        match (&self.set, self.single.shape) {
            (ValueSet::Numbers(set, _), DatumKind::Number(kind)) => {
                set.intersection(&domain(tree, self.single, kind)).is_empty()
            }
            (ValueSet::Strings(set), shape) => match &set.among {
                Some(among) => {
                    among.iter().all(|text| matches!(set.evaluate(text), Acceptance::Rejected(_)))
                }
                None => {
                    let utf8 = shape != DatumKind::Bytes;
                    within(set, TextSearch::default(), utf8, false).0.shortest()
                        == SearchResult::Nothing
                }
            },
            _ => false,
        }
    }

    /// Whether no time is before and after the present as the rules ask. The present itself is
    /// nobody's intention.
    pub(super) fn is_never(&self) -> bool {
        let ValueSet::Numbers(_, now) = &self.set else { return false };
        now.minus(&NumberSet::points([0])).is_empty()
    }

    /// Whether a value satisfies the rules. Those of a nested message are checked
    /// elsewhere.
    pub(super) fn evaluate(&self, datum: &Datum) -> Acceptance {
        if self.skip || self.zero_passes && *datum == self.single.zero() {
            return Acceptance::Accepted;
        }
        let known = match (&self.set, datum) {
            (ValueSet::All, _) => Acceptance::Accepted,
            (ValueSet::Numbers(set, now), datum) => {
                let inside = match datum {
                    Datum::Number(number) => set.contains(*number),
                    _ => set.has_nan(),
                };
                let present = now.contains(i128::MIN / 2) && now.contains(i128::MAX / 2);
                Acceptance::when(inside).because(|| "its value is out of bounds".to_owned()).and(
                    || {
                        if present {
                            Acceptance::Accepted
                        } else {
                            Acceptance::Unknown("what the time is".to_owned())
                        }
                    },
                )
            }
            (ValueSet::Strings(strings), Datum::Bytes(bytes)) => strings.evaluate(bytes),
            (ValueSet::Strings(_), _) => Acceptance::Unknown("a value of another type".to_owned()),
        };
        known.and(|| match self.opaque.first() {
            Some(facet) => Acceptance::Unknown(format!("`{facet}`")),
            None => Acceptance::Accepted,
        })
    }
}

/// The rules for a list of values.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ListLimits {
    pub(super) count: Length,
    pub(super) unique: bool,
}

/// The rules of one library for a field.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DialectLimits {
    pub(super) dialect: Dialect,
    pub(super) required: bool,
    /// Nothing is checked.
    pub(super) skip: bool,
    /// An empty list or map is accepted whatever the other rules are.
    pub(super) empty_passes: bool,
    pub(super) items: ListLimits,
    /// Rules of a list or map that do not define a set.
    pub(super) opaque: BTreeSet<String>,
    /// The value of a singular field, the items of a list, the values of a
    /// map.
    pub(super) values: ValueLimits,
    /// The keys of a map.
    pub(super) keys: Option<ValueLimits>,
    /// The default by which an absent field is checked: protoc-gen-validate checks
    /// the value, not presence, unless the field is in a oneof.
    pub(super) default: Option<Datum>,
}

/// The rules of both libraries for a field.
#[derive(Clone, Debug)]
pub(super) struct FieldLimits<'t> {
    pub(super) field: Field<'t>,
    pub(super) parts: Vec<DialectLimits>,
}

impl FieldLimits<'_> {
    pub(super) fn is_explicit(&self) -> bool {
        self.field.presence() != Presence::Implicit
    }

    /// The type of its value, item or map value.
    pub(super) fn single(&self) -> ValueType {
        element(self.field)
    }
}
