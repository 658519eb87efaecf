//! Reads validation annotations as flat lists of facets.
//!
//! `validate.rules` (protoc-gen-validate) and `buf.validate.field` (protovalidate)
//! have nearly the same rules, so a facet is a path such as `items.max_len` with
//! its literals. Names are looked up in the tree's own definition of the
//! annotation.

use abide_schema::value::{self, Codec, Entry, Value};
use abide_schema::{Element, Field, Part, Place, Tree};

use super::cel_text::normalize_cel;
use super::facet::{Facet, Literal};
use super::message_limits::MessageLimits;
use crate::sets::{Dialect, SECOND};

/// The facets of a field, including what its message implies: protovalidate
/// accepts unset members of a message's `oneof`.
pub fn read_facets(field: Field<'_>) -> Vec<Facet> {
    let mut facets = read_field_facets(field);
    let message = field.parent().filter(|_| !field.is_extension());
    let ignored = facets.iter().any(|it| it.dialect == Dialect::Buf && it.path == "ignore");
    let buf = facets.iter().find(|it| it.dialect == Dialect::Buf).map(|it| it.place);
    if let (Some(message), false, Some(place)) = (message, ignored, buf) {
        let limits = MessageLimits::read(message);
        let name = field.name();
        if limits.exclusive.iter().any(|exclusive| exclusive.fields.iter().any(|it| it == name)) {
            facets.push(Facet {
                dialect: Dialect::Buf,
                path: "ignore".to_owned(),
                literals: vec![Literal::Name("IGNORE_IF_ZERO_VALUE".to_owned())],
                place,
            });
        }
    }
    facets
}

/// The facets of the annotations of a field.
pub(crate) fn read_field_facets(field: Field<'_>) -> Vec<Facet> {
    let mut facets = Vec::new();
    let Some(options) = field.options() else { return facets };
    for dialect in Dialect::ALL {
        let Some(entry) = options.find_extension(field.tree, dialect.name()) else { continue };
        let Some(limits) = entry.value.as_message() else { continue };
        let fallback = find_place(Element::Field(field), entry);
        let mut reader = FacetReader { tree: field.tree, dialect, fallback, facets: &mut facets };
        reader.read_limits(limits, "", false);
        if !facets.iter().any(|facet| facet.dialect == dialect) {
            // An annotation without a rule still counts as one. With protovalidate it
            // changes nothing.
            let path = "(none)".to_owned();
            facets.push(Facet { dialect, path, literals: Vec::new(), place: fallback });
        }
    }
    for facet in &mut facets {
        if facet.key() == "defined_only" && facet.flag() {
            facet.literals.extend(read_declared(field, facet.prefix()));
        }
    }
    facets
}

/// The places of the rule with this key in the annotations of a field.
pub fn find_facet_places(field: Field<'_>, key: &str) -> Vec<Place> {
    read_field_facets(field).iter().filter(|it| it.key() == key).map(|it| it.place).collect()
}

/// The numbers declared by the enum that a rule is about.
fn read_declared<'t>(field: Field<'t>, prefix: &str) -> impl Iterator<Item = Literal> + use<'t> {
    let entry = field.message_type().filter(|_| field.is_map());
    let holder = match prefix {
        "keys." => None,
        "values." => entry.and_then(|entry| entry.field_numbered(2)),
        _ => Some(field),
    };
    let mut numbers: Vec<i32> = holder
        .and_then(|field| field.enum_type())
        .into_iter()
        .flat_map(|it| it.values().map(|value| value.number()))
        .collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.into_iter().map(|number| Literal::Int(number.into()))
}

/// The place of an entry of the options of an element.
pub(crate) fn find_place(element: Element<'_>, entry: &Entry) -> Place {
    let fallback = element.place(Part::Name);
    if entry.span.is_empty() && entry.key.is_empty() {
        fallback
    } else {
        Place { span: entry.key.to(entry.span), ..fallback }
    }
}

struct FacetReader<'t, 'f> {
    tree: &'t Tree,
    dialect: Dialect,
    fallback: Place,
    facets: &'f mut Vec<Facet>,
}

impl FacetReader<'_, '_> {
    /// Reads the rules of a value, which `prefix` names; `opaque` if they do not
    /// define a set of values that can be compared.
    fn read_limits(&mut self, limits: &value::Message, prefix: &str, opaque: bool) {
        for entry in &limits.entries {
            let field = self.tree.field(entry.field);
            let name = field.name();
            if field.is_extension() {
                let text = self.read_opaque(&entry.value);
                self.push(entry, format!("{prefix}({})", field.full_name()), text);
                continue;
            }
            let literal = match &entry.value {
                Value::Message(inner) => {
                    let ty = self.tree.message(inner.ty).full_name();
                    match (name, ty.as_str()) {
                        ("example", _) => continue,
                        ("cel", _) => {
                            let expression =
                                inner.get_str(self.tree, "expression").unwrap_or_default();
                            Literal::Opaque(normalize_cel(expression))
                        }
                        ("items" | "keys" | "values", _) if prefix.is_empty() => {
                            self.read_limits(inner, &format!("{name}."), opaque);
                            continue;
                        }
                        (_, "google.protobuf.Duration" | "google.protobuf.Timestamp") => {
                            Literal::Nanos(read_nanos(self.tree, inner))
                        }
                        (_, ty) if ty.ends_with("Rules") => {
                            self.read_limits(inner, prefix, opaque || name == "field_mask");
                            continue;
                        }
                        _ => self.read_opaque(&entry.value),
                    }
                }
                _ if name == "example" => continue,
                value if opaque => self.read_opaque(value),
                Value::String(text) if name == "cel_expression" => {
                    Literal::Opaque(normalize_cel(text))
                }
                Value::Bool(value) => Literal::Bool(*value),
                Value::F32(value) => Literal::Float((*value).into()),
                Value::F64(value) => Literal::Float(*value),
                Value::String(text) => Literal::Text(text.to_string()),
                Value::Bytes(bytes) => Literal::Bytes(bytes.to_vec()),
                Value::Enum(number) => {
                    let item = field.enum_type();
                    let named = item.and_then(|it| it.values().find(|it| it.number() == *number));
                    Literal::Name(named.map_or(number.to_string(), |it| it.name().to_owned()))
                }
                Value::U64(value) => Literal::Int((*value).into()),
                value => Literal::Int(value.as_i64().unwrap_or_default().into()),
            };
            let name = if name == "cel_expression" { "cel" } else { name };
            self.push(entry, format!("{prefix}{name}"), literal);
        }
        if !limits.unknown.is_empty() {
            let text = Literal::Opaque(limits.unknown.escape_ascii().to_string());
            let path = format!("{prefix}(unknown)");
            let (dialect, place) = (self.dialect, self.fallback);
            self.facets.push(Facet { dialect, path, literals: vec![text], place });
        }
    }

    fn read_opaque(&self, value: &Value) -> Literal {
        Literal::Opaque(match value {
            Value::Message(message) => Codec::new(self.tree).to_text(message),
            value => format!("{value:?}"),
        })
    }

    fn push(&mut self, entry: &Entry, path: String, literal: Literal) {
        let place = if entry.span.is_empty() && entry.key.is_empty() {
            self.fallback
        } else {
            Place { span: entry.key.to(entry.span), ..self.fallback }
        };
        let same = |facet: &&mut Facet| facet.dialect == self.dialect && facet.path == path;
        match self.facets.iter_mut().find(same) {
            Some(facet) => facet.literals.push(literal),
            None => {
                let dialect = self.dialect;
                self.facets.push(Facet { dialect, path, literals: vec![literal], place });
            }
        }
    }
}

/// The nanoseconds of a duration or timestamp.
pub(crate) fn read_nanos(tree: &Tree, message: &value::Message) -> i128 {
    let seconds = message.get_i64(tree, "seconds").unwrap_or_default();
    let nanos = message.get_i64(tree, "nanos").unwrap_or_default();
    i128::from(seconds) * SECOND + i128::from(nanos)
}
