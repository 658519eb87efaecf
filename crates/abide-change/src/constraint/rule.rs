//! Facets as sets of accepted values.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use abide_schema::value::{self, Value};
use abide_schema::{Cardinality, Field, MessageId, Presence, Scalar, Tree, Type};

use super::formats::{self, Format};
use super::numbers::{Kind, Numbers, SECOND};
use super::pattern::{Length, Pattern, escaped, from_re2, literals};
use super::read::{Dialect, Facet, Literal, nanos};
use super::verdict::Verdict;

/// What the values of a type are to a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Number(Kind),
    Text,
    Bytes,
    /// A `google.protobuf.Any`: its type URL.
    Any,
    Message,
    /// A name that resolved to nothing.
    Unresolved,
}

/// The type of one value: of a singular field, an item, a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Single {
    pub(super) shape: Shape,
    pub(super) ty: Type,
    /// Whether it is a message of wrappers.proto; the shape is what it wraps.
    pub(super) wrapper: bool,
}

/// A value without its type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Datum {
    Number(i128),
    Nan,
    /// A string, bytes or a type URL.
    Bytes(Vec<u8>),
    Message(value::Message),
}

impl Single {
    pub(super) fn of(field: Field<'_>) -> Single {
        let ty = field.ty();
        let bare = |shape| Single { shape, ty, wrapper: false };
        let message = match ty {
            Type::Scalar(Scalar::String) => return bare(Shape::Text),
            Type::Scalar(Scalar::Bytes) => return bare(Shape::Bytes),
            Type::Scalar(scalar) => return bare(Shape::Number(Kind::Scalar(scalar))),
            Type::Enum(_) => return bare(Shape::Number(Kind::Enum)),
            Type::Unresolved => return bare(Shape::Unresolved),
            Type::Message(id) => field.tree.message(id),
        };
        let name = message.full_name();
        let Some(known) = name.strip_prefix("google.protobuf.") else {
            return bare(Shape::Message);
        };
        match known {
            "Any" => bare(Shape::Any),
            "Duration" => bare(Shape::Number(Kind::Duration)),
            "Timestamp" => bare(Shape::Number(Kind::Timestamp)),
            _ if known.ends_with("Value") && message.fields().len() == 1 => {
                match message.field_named("value") {
                    Some(inner) if !matches!(inner.ty(), Type::Message(_)) => {
                        let inner = Single::of(inner);
                        Single { shape: inner.shape, ty, wrapper: true }
                    }
                    _ => bare(Shape::Message),
                }
            }
            _ => bare(Shape::Message),
        }
    }

    /// What a value is to a rule.
    pub(super) fn datum(self, tree: &Tree, value: &Value) -> Datum {
        if let (true, Value::Message(message)) = (self.wrapper, value) {
            let inner = message.get(tree, "value").map(|entry| &entry.value);
            return inner.map_or_else(|| self.zero(), |value| self.bare(tree, value));
        }
        self.bare(tree, value)
    }

    fn bare(self, tree: &Tree, value: &Value) -> Datum {
        match (self.shape, value) {
            (Shape::Any, Value::Message(message)) => {
                Datum::Bytes(message.str(tree, "type_url").unwrap_or_default().into())
            }
            (Shape::Number(Kind::Duration | Kind::Timestamp), Value::Message(message)) => {
                Datum::Number(nanos(tree, message))
            }
            (Shape::Number(kind), Value::F64(_) | Value::F32(_)) => {
                let number = value.as_f64().and_then(|value| kind.float(value));
                number.map_or(Datum::Nan, Datum::Number)
            }
            (_, Value::U64(value)) => Datum::Number((*value).into()),
            (_, Value::Bool(value)) => Datum::Number((*value).into()),
            (_, Value::Message(message)) => Datum::Message((**message).clone()),
            (_, value) => match value.as_bytes() {
                Some(bytes) => Datum::Bytes(bytes.to_vec()),
                None => Datum::Number(value.as_i64().unwrap_or_default().into()),
            },
        }
    }

    /// What an unset value is to a rule; an unset message is empty.
    pub(super) fn zero(self) -> Datum {
        match (self.shape, self.ty) {
            (Shape::Number(_), _) => Datum::Number(0),
            (Shape::Message, Type::Message(id)) => Datum::Message(value::Message::new(id)),
            _ => Datum::Bytes(Vec::new()),
        }
    }

    /// The value of the type that a datum is of.
    pub(super) fn value(self, tree: &Tree, datum: &Datum) -> Option<Value> {
        match self.ty {
            Type::Message(id) if self.shape != Shape::Message => {
                let mut message = value::Message::new(id);
                let ty = tree.message(id);
                let mut set = |name: &str, value: Value| {
                    let field = ty.field_named(name)?;
                    message.entries.push(value::Entry::new(field.id, value));
                    Some(())
                };
                match (self.shape, datum) {
                    (Shape::Any, Datum::Bytes(url)) => {
                        set("type_url", Value::String(std::str::from_utf8(url).ok()?.into()))?;
                    }
                    (Shape::Number(Kind::Duration | Kind::Timestamp), Datum::Number(nanos)) => {
                        // The nanoseconds of a timestamp are never negative.
                        let (seconds, rest) = if self.shape == Shape::Number(Kind::Timestamp) {
                            (nanos.div_euclid(SECOND), nanos.rem_euclid(SECOND))
                        } else {
                            (nanos / SECOND, nanos % SECOND)
                        };
                        set("seconds", Value::I64(seconds.try_into().ok()?))?;
                        set("nanos", Value::I32(rest.try_into().ok()?))?;
                    }
                    _ => {
                        let inner = Single::of(ty.field_named("value")?);
                        set("value", inner.value(tree, datum)?)?;
                    }
                }
                Some(Value::Message(Box::new(message)))
            }
            Type::Message(_) => match datum {
                Datum::Message(message) => Some(Value::Message(Box::new(message.clone()))),
                _ => None,
            },
            Type::Enum(_) => match datum {
                Datum::Number(number) => Some(Value::Enum((*number).try_into().ok()?)),
                _ => None,
            },
            Type::Scalar(scalar) => scalar_value(scalar, datum),
            Type::Unresolved => None,
        }
    }
}

fn scalar_value(scalar: Scalar, datum: &Datum) -> Option<Value> {
    let kind = Kind::Scalar(scalar);
    Some(match (scalar, datum) {
        (Scalar::Double, Datum::Nan) => Value::F64(f64::NAN),
        (Scalar::Float, Datum::Nan) => Value::F32(f32::NAN),
        (Scalar::String, Datum::Bytes(bytes)) => {
            Value::String(std::str::from_utf8(bytes).ok()?.into())
        }
        (Scalar::Bytes, Datum::Bytes(bytes)) => Value::Bytes(bytes.as_slice().into()),
        (_, &Datum::Number(number)) => match scalar {
            Scalar::Double => Value::F64(kind.to_float(number)),
            Scalar::Float => Value::F32(kind.to_float(number) as f32),
            Scalar::Int32 | Scalar::Sint32 | Scalar::Sfixed32 => {
                Value::I32(number.try_into().ok()?)
            }
            Scalar::Int64 | Scalar::Sint64 | Scalar::Sfixed64 => {
                Value::I64(number.try_into().ok()?)
            }
            Scalar::Uint32 | Scalar::Fixed32 => Value::U32(number.try_into().ok()?),
            Scalar::Uint64 | Scalar::Fixed64 => Value::U64(number.try_into().ok()?),
            Scalar::Bool => Value::Bool(number != 0),
            Scalar::String | Scalar::Bytes => return None,
        },
        _ => return None,
    })
}

/// An expression that must match, or must not.
#[derive(Clone, Debug)]
pub(super) struct Language {
    /// In the syntax of the crate `regex`; `None` where the pattern has no
    /// counterpart there.
    expression: Option<String>,
    /// What the annotation says.
    said: String,
    pub(super) wanted: bool,
    pattern: OnceCell<Option<Rc<Pattern>>>,
}

impl PartialEq for Language {
    fn eq(&self, other: &Language) -> bool {
        let same = match (&self.expression, &other.expression) {
            (Some(a), Some(b)) => a == b,
            (None, None) => self.said == other.said,
            _ => false,
        };
        same && self.wanted == other.wanted
    }
}

impl Language {
    pub(super) fn new(
        said: impl Into<String>,
        expression: Option<String>,
        wanted: bool,
    ) -> Language {
        Language { expression, said: said.into(), wanted, pattern: OnceCell::new() }
    }

    pub(super) fn pattern(&self) -> Option<Rc<Pattern>> {
        let compile = || Pattern::new(self.expression.as_deref()?);
        self.pattern.get_or_init(compile).clone()
    }

    pub(super) fn said(&self) -> &str {
        &self.said
    }

    fn judge(&self, text: &[u8]) -> Verdict {
        match self.pattern() {
            Some(pattern) => Verdict::when(pattern.is_match(text) == self.wanted)
                .because(|| format!("it violates `{}`", self.said)),
            None => Verdict::Unknown(format!("whether `{}` matches", self.said)),
        }
    }
}

/// A set of strings, of bytes or of type URLs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Strings {
    pub(super) chars: Length,
    pub(super) bytes: Length,
    /// All of it, where `const` or `in` lists it.
    pub(super) among: Option<BTreeSet<Vec<u8>>>,
    pub(super) without: BTreeSet<Vec<u8>>,
    pub(super) languages: Vec<Language>,
    pub(super) formats: Vec<(Dialect, Format)>,
}

impl Strings {
    pub(super) fn judge(&self, bytes: &[u8]) -> Verdict {
        let text = std::str::from_utf8(bytes);
        let chars = text.map_or(bytes.len(), |text| text.chars().count()) as u64;
        let length = |length: Length, count: u64| {
            Verdict::when(length.contains(count))
                .because(|| "its length is out of bounds".to_owned())
        };
        let mut verdict =
            length(self.chars, chars).and(|| length(self.bytes, bytes.len() as u64)).and(|| {
                let listed = self.among.as_ref().is_none_or(|set| set.contains(bytes));
                Verdict::when(listed && !self.without.contains(bytes))
                    .because(|| "it is not among the values that it takes".to_owned())
            });
        for language in &self.languages {
            verdict = verdict.and(|| language.judge(bytes));
        }
        for (dialect, format) in &self.formats {
            verdict = verdict.and(|| match text {
                Ok(text) => {
                    format.judge(*dialect, text).because(|| "it has another format".to_owned())
                }
                Err(_) => Verdict::when(false).because(|| "it has another format".to_owned()),
            });
        }
        verdict
    }

    /// Its own lists as languages, for a search among the words of others.
    pub(super) fn list_language(texts: &BTreeSet<Vec<u8>>, wanted: bool) -> Language {
        let expression = literals(texts.iter().map(Vec::as_slice));
        Language::new("a list", Some(expression), wanted)
    }
}

/// A set of values of one type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Set {
    /// All of them.
    All,
    /// The second set is relative to the present, in nanoseconds; it is all of
    /// them for other types than timestamps.
    Numbers(Numbers, Numbers),
    Strings(Box<Strings>),
}

/// What one value must be like, as one library says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Values {
    pub(super) dialect: Dialect,
    pub(super) single: Single,
    /// Nothing is checked, nested messages included.
    pub(super) skip: bool,
    /// Zero passes whatever the rest says.
    pub(super) zero_passes: bool,
    pub(super) set: Set,
    /// Rules that make no set: all of them hold, or the value is rejected.
    pub(super) opaque: BTreeSet<String>,
}

/// What a list of values must be like.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Items {
    pub(super) count: Length,
    pub(super) unique: bool,
}

/// What one library says of a field.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part {
    pub(super) dialect: Dialect,
    pub(super) required: bool,
    /// Nothing is checked.
    pub(super) skip: bool,
    /// An empty list or map passes whatever the rest says.
    pub(super) empty_passes: bool,
    pub(super) items: Items,
    /// Rules of a list or map that make no set.
    pub(super) opaque: BTreeSet<String>,
    /// The value of a singular field, the items of a list, the values of a
    /// map.
    pub(super) values: Values,
    /// The keys of a map.
    pub(super) keys: Option<Values>,
    /// Whether an absent field is judged by its default: protoc-gen-validate
    /// asks for the value, not for presence, unless the field is in a oneof.
    pub(super) default: Option<Datum>,
}

/// What both libraries say of a field.
#[derive(Clone, Debug)]
pub(super) struct FieldRule<'t> {
    pub(super) field: Field<'t>,
    pub(super) parts: Vec<Part>,
}

impl<'t> FieldRule<'t> {
    /// Of the facets that a field has, or would have.
    pub(super) fn new(field: Field<'t>, facets: &[Facet]) -> FieldRule<'t> {
        let parts = Dialect::ALL.into_iter().filter_map(|dialect| {
            let own: Vec<&Facet> = facets.iter().filter(|it| it.dialect == dialect).collect();
            (!own.is_empty()).then(|| Part::new(field, dialect, &own))
        });
        FieldRule { field, parts: parts.collect() }
    }

    pub(super) fn is_explicit(&self) -> bool {
        self.field.presence() != Presence::Implicit
    }

    /// The type of its value, item or map value.
    pub(super) fn single(&self) -> Single {
        element(self.field)
    }
}

/// The type of the value, item or map value of a field.
pub(super) fn element(field: Field<'_>) -> Single {
    let entry = field.message_type().filter(|_| field.is_map());
    Single::of(entry.and_then(|entry| entry.field_numbered(2)).unwrap_or(field))
}

/// The type of the keys of a map field.
pub(super) fn key(field: Field<'_>) -> Option<Single> {
    let entry = field.message_type().filter(|_| field.is_map())?;
    entry.field_numbered(1).map(Single::of)
}

impl Part {
    /// Without any rule.
    pub(super) fn free(field: Field<'_>, dialect: Dialect) -> Part {
        Part::new(field, dialect, &[])
    }

    fn new(field: Field<'_>, dialect: Dialect, facets: &[&Facet]) -> Part {
        let at = |prefix: &str| -> Vec<&Facet> {
            facets.iter().copied().filter(|facet| facet.prefix() == prefix).collect()
        };
        let own = at("");
        let flag = |key: &str| own.iter().any(|facet| facet.key() == key && facet.flag());
        let named = |names: &[&str]| named(&own, names);
        // protoc-gen-validate looks at a member of a oneof only where it is set.
        let required = flag("required") && !(dialect == Dialect::Pgv && field.oneof().is_some());
        let cardinality = field.cardinality();
        let mut part = Part {
            dialect,
            required,
            skip: named(&["IGNORE_ALWAYS"]) || flag("skipped"),
            empty_passes: false,
            items: Items { count: Length::default(), unique: false },
            opaque: BTreeSet::new(),
            values: Values::new(element(field), dialect, &own),
            keys: None,
            default: None,
        };
        match cardinality {
            Cardinality::Singular => {
                let message = matches!(field.ty(), Type::Message(_));
                // What tracks presence is empty where it is absent only.
                let unset = !named(&["IGNORE_IF_DEFAULT_VALUE"]);
                if dialect == Dialect::Buf && unset && field.presence() != Presence::Implicit {
                    part.values.zero_passes = false;
                }
                if dialect == Dialect::Pgv && !message && field.oneof().is_none() {
                    part.default = Some(default(field, part.values.single));
                }
            }
            Cardinality::Repeated | Cardinality::Map => {
                part.empty_passes = flag("ignore_empty")
                    || named(&[
                        "IGNORE_IF_ZERO_VALUE",
                        "IGNORE_IF_DEFAULT_VALUE",
                        "IGNORE_IF_UNPOPULATED",
                    ]);
                let prefix = if cardinality == Cardinality::Map { "values." } else { "items." };
                let inner = at(prefix);
                part.values = Values::new(element(field), dialect, &inner);
                part.values.skip |= part.skip;
                part.keys = key(field).map(|key| Values::new(key, dialect, &at("keys.")));
                for facet in &own {
                    let count = facet.literals.last().and_then(unsigned);
                    match (facet.key(), count) {
                        ("min_items" | "min_pairs", Some(count)) => part.items.count.least = count,
                        ("max_items" | "max_pairs", Some(count)) => {
                            part.items.count.most = Some(count);
                        }
                        ("unique", _) => part.items.unique = facet.flag(),
                        // On the wire every pair has a value: there are no
                        // sparse maps.
                        (
                            "no_sparse" | "required" | "ignore_empty" | "ignore" | "skipped"
                            | "skip",
                            _,
                        )
                        | ("(none)", _) => {}
                        _ => {
                            part.opaque.extend(texts(facet));
                        }
                    }
                }
            }
        }
        part
    }
}

/// Whether a facet `ignore` has one of the names.
fn named(facets: &[&Facet], names: &[&str]) -> bool {
    facets.iter().filter(|facet| facet.key() == "ignore").any(|facet| {
        matches!(facet.literals.last(), Some(Literal::Name(name)) if names.contains(&name.as_str()))
    })
}

fn unsigned(literal: &Literal) -> Option<u64> {
    match literal {
        Literal::Int(value) => (*value).try_into().ok(),
        _ => None,
    }
}

fn texts(facet: &Facet) -> Vec<String> {
    let each = facet.literals.iter().map(|literal| {
        let one = Facet { literals: vec![literal.clone()], ..facet.clone() };
        format!("{} {}", facet.key(), one.text())
    });
    if facet.key() == "cel" {
        each.collect()
    } else {
        vec![format!("{} {}", facet.key(), facet.text())]
    }
}

/// What an absent field holds.
fn default(field: Field<'_>, single: Single) -> Datum {
    let first = |ty: Type| match ty {
        Type::Enum(id) => {
            let number = field.tree.enumeration(id).values().next().map_or(0, |it| it.number());
            Datum::Number(number.into())
        }
        _ => single.zero(),
    };
    let Some(text) = field.decl().default() else { return first(field.ty()) };
    let text = String::from_utf8_lossy(text);
    match (field.ty(), single.shape) {
        (Type::Enum(id), _) => {
            let value = field.tree.enumeration(id).values().find(|it| it.name() == text);
            value.map_or(first(field.ty()), |it| Datum::Number(it.number().into()))
        }
        (_, Shape::Number(kind)) if kind.is_float() => match text.parse::<f64>() {
            Ok(value) => kind.float(value).map_or(Datum::Nan, Datum::Number),
            Err(_) => Datum::Number(0),
        },
        (_, Shape::Number(_)) => Datum::Number(match &*text {
            "true" => 1,
            text => text.parse().unwrap_or(0),
        }),
        (_, Shape::Bytes) => Datum::Bytes(unescaped(&text)),
        _ => Datum::Bytes(text.into_owned().into_bytes()),
    }
}

/// Bytes in the notation of `default_value`. Source: `absl::CEscape`.
fn unescaped(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut bytes = text.bytes().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        match bytes.next() {
            Some(b'n') => out.push(b'\n'),
            Some(b'r') => out.push(b'\r'),
            Some(b't') => out.push(b'\t'),
            Some(digit @ b'0'..=b'7') => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    let Some(digit) = bytes.next_if(|it| (b'0'..=b'7').contains(it)) else { break };
                    value = value * 8 + u32::from(digit - b'0');
                }
                out.push(value as u8);
            }
            Some(other) => out.push(other),
            None => {}
        }
    }
    out
}

impl Values {
    fn new(single: Single, dialect: Dialect, facets: &[&Facet]) -> Values {
        let flag = |key: &str| facets.iter().any(|facet| facet.key() == key && facet.flag());
        let zero = ["IGNORE_IF_ZERO_VALUE", "IGNORE_IF_DEFAULT_VALUE", "IGNORE_IF_UNPOPULATED"];
        // The zero value of a message is its absence.
        let scalar = single.shape != Shape::Message
            && (single.wrapper || !matches!(single.ty, Type::Message(_)));
        let mut values = Values {
            dialect,
            single,
            skip: flag("skip") || flag("skipped") || named(facets, &["IGNORE_ALWAYS"]),
            zero_passes: scalar && (flag("ignore_empty") || named(facets, &zero)),
            set: Set::All,
            opaque: BTreeSet::new(),
        };
        let rules: Vec<&Facet> = facets
            .iter()
            .copied()
            .filter(|facet| {
                !matches!(
                    facet.key(),
                    "required" | "ignore" | "ignore_empty" | "skip" | "skipped" | "(none)"
                )
            })
            .collect();
        match single.shape {
            _ if rules.is_empty() => {}
            Shape::Number(kind) => values.set = values.numbers(kind, &rules),
            Shape::Text | Shape::Bytes | Shape::Any => values.set = values.strings(&rules),
            Shape::Message | Shape::Unresolved => {
                for facet in rules {
                    values.opaque.extend(texts(facet));
                }
            }
        }
        values
    }

    /// The message type whose own rules hold for the values as well.
    pub(super) fn nested(&self) -> Option<MessageId> {
        match (self.single.shape, self.single.ty) {
            (Shape::Message, Type::Message(id)) if !self.skip => Some(id),
            _ => None,
        }
    }

    fn numbers(&mut self, kind: Kind, facets: &[&Facet]) -> Set {
        let domain = kind.domain();
        let number = |literal: &Literal| match *literal {
            Literal::Int(value) if !kind.is_float() => Some(value),
            Literal::Float(value) if kind.is_float() => kind.float(value),
            Literal::Nanos(value) if matches!(kind, Kind::Duration | Kind::Timestamp) => {
                Some(value)
            }
            Literal::Bool(value) => Some(value.into()),
            _ => None,
        };
        let last = |key: &str| {
            let facet = facets.iter().find(|facet| facet.key() == key)?;
            facet.literals.last().and_then(number)
        };
        let (min, max) = (i128::MIN / 2, i128::MAX / 2);
        let mut set = domain.clone();
        // Of two bounds on one side protoc-gen-validate takes the exclusive
        // one; protovalidate has no two.
        let above = last("gt").map(|it| (it, it + 1)).or(last("gte").map(|it| (it, it)));
        let below = last("lt").map(|it| (it, it - 1)).or(last("lte").map(|it| (it, it)));
        // No comparison holds for NaN, so protoc-gen-validate, which looks for
        // a bound that is violated, lets it pass; protovalidate asks for it.
        let nan = self.dialect == Dialect::Pgv;
        let up = above.map(|(_, from)| Numbers::of([(from, max)], nan));
        let down = below.map(|(_, to)| Numbers::of([(min, to)], nan));
        let range = match (up, down) {
            (Some(up), Some(down)) => {
                let (low, high) = (above.map(|it| it.0), below.map(|it| it.0));
                let inside = high > low || high == low && self.dialect == Dialect::Buf;
                Some(if inside { up.intersection(&down) } else { up.union(&down) })
            }
            (up, down) => up.or(down),
        };
        if let Some(range) = range {
            set = set.intersection(&range);
        }
        let mut now = Numbers::of([(min, max)], true);
        // protovalidate counts the limits in, protoc-gen-validate does not.
        let open = i128::from(self.dialect == Dialect::Pgv);
        let within = last("within").filter(|_| kind == Kind::Timestamp);
        for facet in facets {
            let listed = || Numbers::points(facet.literals.iter().filter_map(number));
            match facet.key() {
                "lt" | "lte" | "gt" | "gte"
                    if facet.literals.iter().all(|it| number(it).is_some()) => {}
                "const" => {
                    let last = facet.literals.last().and_then(number);
                    set = set.intersection(&Numbers::points(last));
                }
                "in" => set = set.intersection(&listed()),
                "not_in" => set = set.minus(&listed()),
                "defined_only" => {
                    if facet.flag_of_enum() {
                        let numbers =
                            facet.literals.iter().filter(|it| matches!(it, Literal::Int(_)));
                        set = set.intersection(&Numbers::points(numbers.filter_map(number)));
                    }
                }
                "finite" => {
                    if facet.flag() {
                        let infinite = [f64::INFINITY, f64::NEG_INFINITY];
                        let mut cut =
                            Numbers::points(infinite.iter().filter_map(|it| kind.float(*it)));
                        cut = cut.union(&Numbers::of([], true));
                        set = set.minus(&cut);
                    }
                }
                "lt_now" if facet.flag() => {
                    now = now.intersection(&Numbers::of([(min, -open)], true))
                }
                "gt_now" if facet.flag() => {
                    now = now.intersection(&Numbers::of([(open, max)], true))
                }
                "lt_now" | "gt_now" => {}
                "within" if within.is_some() => {
                    let reach = within.unwrap_or_default();
                    now = now.intersection(&Numbers::of([(open - reach, reach - open)], true));
                }
                _ => self.opaque.extend(texts(facet)),
            }
        }
        Set::Numbers(set, now)
    }

    fn strings(&mut self, facets: &[&Facet]) -> Set {
        let bytes = |literal: &Literal| match literal {
            Literal::Text(text) => Some(text.as_bytes().to_vec()),
            Literal::Bytes(bytes) => Some(bytes.clone()),
            _ => None,
        };
        let mut strings = Strings::default();
        let narrow = |strings: &mut Strings, set: BTreeSet<Vec<u8>>| {
            strings.among = Some(match strings.among.take() {
                Some(among) => among.intersection(&set).cloned().collect(),
                None => set,
            });
        };
        let text = self.single.shape == Shape::Text;
        let strict = !facets.iter().any(|facet| facet.key() == "strict" && !facet.flag());
        for facet in facets {
            let key = facet.key();
            let listed = || facet.literals.iter().filter_map(bytes).collect::<BTreeSet<_>>();
            let last = facet.literals.last();
            let affix = |before: &str, after: &str| {
                let literal = escaped(&last.and_then(bytes).unwrap_or_default());
                Some(format!("{before}{literal}{after}"))
            };
            let said = || format!("{key} {}", facet.text());
            match (key, last.and_then(unsigned)) {
                (
                    "len" | "min_len" | "max_len" | "len_bytes" | "min_bytes" | "max_bytes",
                    Some(count),
                ) => {
                    let bound = Length {
                        least: if key.starts_with("max") { 0 } else { count },
                        most: (!key.starts_with("min")).then_some(count),
                    };
                    let chars = text && !key.ends_with("bytes");
                    let length = if chars { &mut strings.chars } else { &mut strings.bytes };
                    *length = length.intersection(bound);
                }
                ("const", _) => narrow(&mut strings, last.and_then(bytes).into_iter().collect()),
                ("in", _) => narrow(&mut strings, listed()),
                ("not_in", _) => strings.without.extend(listed()),
                ("prefix", _) => {
                    strings.languages.push(Language::new(said(), affix(r"\A", ""), true));
                }
                ("suffix", _) => {
                    strings.languages.push(Language::new(said(), affix("", r"\z"), true));
                }
                ("contains", _) => {
                    strings.languages.push(Language::new(said(), affix("", ""), true));
                }
                ("not_contains", _) => {
                    strings.languages.push(Language::new(said(), affix("", ""), false));
                }
                ("pattern", _) => {
                    let pattern = match last {
                        Some(Literal::Text(pattern)) => pattern.as_str(),
                        _ => "",
                    };
                    // protovalidate makes a text of the bytes first.
                    if !text && self.dialect == Dialect::Buf {
                        let utf8 = Some(r"(?s)\A.*\z".to_owned());
                        strings.languages.push(Language::new("UTF-8", utf8, true));
                    }
                    strings.languages.push(Language::new(said(), from_re2(pattern), true));
                }
                ("well_known_regex", _) => {
                    let name = match last {
                        Some(Literal::Name(name)) => name.as_str(),
                        _ => "",
                    };
                    if let Some(expression) = formats::header(self.dialect, name, strict) {
                        let expression = Some(expression.to_owned());
                        strings.languages.push(Language::new(said(), expression, true));
                    }
                }
                ("strict", _) => {}
                _ if last == Some(&Literal::Bool(false)) => {}
                _ => {
                    let regular = if text {
                        formats::regular(self.dialect, key)
                    } else {
                        formats::sizes(key)
                    };
                    let format = Format::named(self.dialect, key).filter(|_| text);
                    match (regular, format) {
                        (Some(expression), _) => {
                            let expression = Some(expression.to_owned());
                            strings.languages.push(Language::new(key, expression, true));
                        }
                        (None, Some(format)) => strings.formats.push((self.dialect, format)),
                        (None, None) => self.opaque.extend(texts(facet)),
                    }
                }
            }
        }
        Set::Strings(Box::new(strings))
    }

    /// Whether a value satisfies the rules; those of a nested message are
    /// judged elsewhere.
    pub(super) fn judge(&self, datum: &Datum) -> Verdict {
        if self.skip || self.zero_passes && *datum == self.single.zero() {
            return Verdict::Accepted;
        }
        let known = match (&self.set, datum) {
            (Set::All, _) => Verdict::Accepted,
            (Set::Numbers(set, now), datum) => {
                let inside = match datum {
                    Datum::Number(number) => set.contains(*number),
                    _ => set.has_nan(),
                };
                let present = now.contains(i128::MIN / 2) && now.contains(i128::MAX / 2);
                Verdict::when(inside).because(|| "its value is out of bounds".to_owned()).and(
                    || {
                        if present {
                            Verdict::Accepted
                        } else {
                            Verdict::Unknown("what the time is".to_owned())
                        }
                    },
                )
            }
            (Set::Strings(strings), Datum::Bytes(bytes)) => strings.judge(bytes),
            (Set::Strings(_), _) => Verdict::Unknown("a value of another type".to_owned()),
        };
        known.and(|| match self.opaque.first() {
            Some(rule) => Verdict::Unknown(format!("`{rule}`")),
            None => Verdict::Accepted,
        })
    }
}

impl Facet {
    /// Whether `defined_only` is true; the declared numbers stand behind it.
    fn flag_of_enum(&self) -> bool {
        self.literals.contains(&Literal::Bool(true))
    }
}
