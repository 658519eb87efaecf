//! The demands of annotations on the values of a field, as sets of accepted values.

use std::collections::BTreeSet;

use abide_schema::{Field, MessageId, Presence, Tree, Type};

use super::datum::{Datum, DatumKind, ValueType, domain, element};
use crate::sets::{
    Acceptance, Dialect, LengthRange, NumberSet, SearchResult, StringSet, TextSearch, within,
};

/// A set of values of one type.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueSet {
    /// All of them.
    All,
    /// The second set is relative to the present, in nanoseconds; it is everything
    /// unless the type is a timestamp.
    Numbers(NumberSet, NumberSet),
    /// A set of strings, of bytes or of type URLs.
    Strings(Box<StringSet>),
}

/// The rules of one library for one value.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueLimits {
    /// The library that has the rules.
    pub dialect: Dialect,
    /// The type of the value.
    pub single: ValueType,
    /// Nothing is checked, nested messages included.
    pub skip: bool,
    /// Zero is accepted whatever the other rules are.
    pub zero_passes: bool,
    /// The values that the rules accept.
    pub set: ValueSet,
    /// Rules that do not define a set: the value is rejected unless all are satisfied.
    pub opaque: BTreeSet<String>,
}

impl ValueLimits {
    /// The message type whose own rules also apply to the values.
    pub fn nested(&self) -> Option<MessageId> {
        match (self.single.shape, self.single.ty) {
            (DatumKind::Message, Type::Message(id)) if !self.skip => Some(id),
            _ => None,
        }
    }

    /// Returns true if it is known that no value satisfies the rules, whatever the time is.
    pub fn accepts_nothing(&self, tree: &Tree) -> bool {
        if self.skip || self.zero_passes {
            return false;
        }
        match (&self.set, self.single.shape) {
            (ValueSet::Numbers(set, _), DatumKind::Number(kind)) => {
                set.intersect(&domain(tree, self.single, kind)).is_empty()
            }
            (ValueSet::Strings(set), shape) => match &set.among {
                Some(among) => {
                    among.iter().all(|text| matches!(set.evaluate(text), Acceptance::Rejected(_)))
                }
                None => {
                    let utf8 = shape != DatumKind::Bytes;
                    within(set, TextSearch::default(), utf8, false).0.find_shortest()
                        == SearchResult::Nothing
                }
            },
            _ => false,
        }
    }

    /// Returns true if no time is before and after the present as the rules ask. The present itself
    /// is nobody's intention.
    pub fn is_never(&self) -> bool {
        let ValueSet::Numbers(_, now) = &self.set else { return false };
        now.subtract(&NumberSet::points([0])).is_empty()
    }

    /// Decides whether a value satisfies the rules. Those of a nested message are checked
    /// elsewhere.
    pub fn evaluate(&self, datum: &Datum) -> Acceptance {
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
pub struct ListLimits {
    /// The number of items.
    pub count: LengthRange,
    /// Items are different from each other.
    pub unique: bool,
}

/// The rules of one library for a field.
#[derive(Clone, Debug, PartialEq)]
pub struct DialectLimits {
    /// The library that has the rules.
    pub dialect: Dialect,
    /// The field must be set.
    pub required: bool,
    /// Nothing is checked.
    pub skip: bool,
    /// An empty list or map is accepted whatever the other rules are.
    pub empty_passes: bool,
    /// The rules for the list or map as a whole.
    pub items: ListLimits,
    /// Rules of a list or map that do not define a set.
    pub opaque: BTreeSet<String>,
    /// The value of a singular field, the items of a list, the values of a
    /// map.
    pub values: ValueLimits,
    /// The keys of a map.
    pub keys: Option<ValueLimits>,
    /// The default by which an absent field is checked: protoc-gen-validate checks
    /// the value, not presence, unless the field is in a oneof.
    pub default: Option<Datum>,
}

/// The rules of both libraries for a field.
#[derive(Clone, Debug)]
pub struct FieldLimits<'t> {
    /// The field.
    pub field: Field<'t>,
    /// The rules of each library that has any.
    pub parts: Vec<DialectLimits>,
}

impl FieldLimits<'_> {
    /// Returns true if the absence of the field differs from its zero value.
    pub fn is_explicit(&self) -> bool {
        self.field.presence() != Presence::Implicit
    }

    /// The type of its value, item or map value.
    pub fn single(&self) -> ValueType {
        element(self.field)
    }
}
