//! Reads validation annotations as flat lists of facets.
//!
//! `validate.rules` (protoc-gen-validate) and `buf.validate.field` (protovalidate)
//! have nearly the same rules, so a facet is a path such as `items.max_len` with
//! its literals. Names are looked up in the tree's own definition of the
//! annotation.

use abide_schema::value::{self, Codec, Entry, Value};
use abide_schema::{Element, Field, Message, Part, Place, Tree};

use super::number_set::SECOND;

/// A validation library. The two differ in some details.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Dialect {
    /// protoc-gen-validate.
    Pgv,
    /// protovalidate.
    Buf,
}

impl Dialect {
    pub(super) const ALL: [Dialect; 2] = [Dialect::Pgv, Dialect::Buf];

    /// The option with its rules for a field.
    pub(super) fn name(self) -> &'static str {
        match self {
            Dialect::Pgv => "validate.rules",
            Dialect::Buf => "buf.validate.field",
        }
    }
}

/// One rule of an annotation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Facet {
    pub(super) dialect: Dialect,
    /// Its key, after `items.`, `keys.` or `values.` if it is about those.
    pub(super) path: String,
    pub(super) literals: Vec<Literal>,
    pub(super) place: Place,
}

/// A value in a rule.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(String),
    Bytes(Vec<u8>),
    /// A duration or a timestamp.
    Nanos(i128),
    /// A name of an enum.
    Name(String),
    /// A value that does not define a set, as text.
    Opaque(String),
}

impl Facet {
    /// The part before its key: `items.` and so on, or nothing.
    pub(super) fn prefix(&self) -> &str {
        let end = self.path.find('.').map_or(0, |dot| dot + 1);
        // The name of an extension has dots of its own.
        if self.path.starts_with('(') { "" } else { &self.path[..end] }
    }

    pub(super) fn key(&self) -> &str {
        &self.path[self.prefix().len()..]
    }

    /// Whether an expression states it: its own, or that of a rule that the tree declares.
    pub(super) fn is_expression(&self, tree: &Tree) -> bool {
        let declared = || {
            let name = self.key().strip_prefix('(')?.strip_suffix(')')?;
            let field = tree.extensions_named(name).next()?;
            field.options()?.extension(tree, "buf.validate.predefined")
        };
        self.dialect == Dialect::Buf && (self.key() == "cel" || declared().is_some())
    }

    /// Whether another facet is the same rule, wherever it is.
    pub(super) fn says_what(&self, other: &Facet) -> bool {
        (self.dialect, &self.path, &self.literals) == (other.dialect, &other.path, &other.literals)
    }

    pub(super) fn flag(&self) -> bool {
        matches!(self.literals.last(), Some(Literal::Bool(true)))
    }

    /// The name of its group: rules that only have a meaning together share one.
    pub(super) fn group(&self) -> String {
        let key = match self.key() {
            "lt" | "lte" | "gt" | "gte" => "range",
            "lt_now" | "gt_now" | "within" => "now",
            "len" | "min_len" | "max_len" => "len",
            "len_bytes" | "min_bytes" | "max_bytes" => "bytes",
            "well_known_regex" | "strict" => "header",
            "ignore" | "ignore_empty" => "ignore",
            key => key,
        };
        format!("{}{key}", self.prefix())
    }

    /// The rule as a person would write it.
    pub(super) fn written(&self) -> String {
        format!("{}: {}", self.path, self.text())
    }

    /// Its literals as a person would write them.
    pub(super) fn text(&self) -> String {
        if let ("defined_only", true) = (self.key(), self.literals.len() > 1) {
            return match self.literals.len() - 1 {
                1 => "of 1 value".to_owned(),
                count => format!("of {count} values"),
            };
        }
        let texts: Vec<String> = self.literals.iter().map(literal_text).collect();
        match (texts.as_slice(), self.key()) {
            ([one], key) if !matches!(key, "in" | "not_in") => one.clone(),
            (_, "cel") => texts.join(" && "),
            _ => format!("[{}]", texts.join(", ")),
        }
    }
}

fn literal_text(literal: &Literal) -> String {
    match literal {
        Literal::Bool(value) => value.to_string(),
        Literal::Int(value) => value.to_string(),
        Literal::Float(value) => value.to_string(),
        Literal::Text(text) => format!("{text:?}"),
        Literal::Bytes(bytes) => format!("\"{}\"", bytes.escape_ascii()),
        Literal::Nanos(nanos) => {
            let (sign, size) = (if *nanos < 0 { "-" } else { "" }, nanos.abs());
            let part = format!("{:09}", size % SECOND);
            match part.trim_end_matches('0') {
                "" => format!("{sign}{}s", size / SECOND),
                part => format!("{sign}{}.{part}s", size / SECOND),
            }
        }
        Literal::Name(name) => name.clone(),
        Literal::Opaque(text) => text.clone(),
    }
}

/// The facets of the annotations of a field.
pub(super) fn of_field(field: Field<'_>) -> Vec<Facet> {
    let mut facets = Vec::new();
    let Some(options) = field.options() else { return facets };
    for dialect in Dialect::ALL {
        let Some(entry) = options.extension(field.tree, dialect.name()) else { continue };
        let Some(limits) = entry.value.as_message() else { continue };
        let fallback = place(Element::Field(field), entry);
        let mut reader = FacetReader { tree: field.tree, dialect, fallback, facets: &mut facets };
        reader.limits(limits, "", false);
        if !facets.iter().any(|facet| facet.dialect == dialect) {
            // An annotation without a rule still counts as one. With protovalidate it
            // changes nothing.
            let path = "(none)".to_owned();
            facets.push(Facet { dialect, path, literals: Vec::new(), place: fallback });
        }
    }
    for facet in &mut facets {
        if facet.key() == "defined_only" && facet.flag() {
            facet.literals.extend(declared(field, facet.prefix()));
        }
    }
    facets
}

/// The places of the rule with this key in the annotations of a field.
pub fn places_of_facet(field: Field<'_>, key: &str) -> Vec<Place> {
    of_field(field).iter().filter(|it| it.key() == key).map(|it| it.place).collect()
}

/// The numbers declared by the enum that a rule is about.
fn declared<'t>(field: Field<'t>, prefix: &str) -> impl Iterator<Item = Literal> + use<'t> {
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
pub(super) fn place(element: Element<'_>, entry: &Entry) -> Place {
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
    fn limits(&mut self, limits: &value::Message, prefix: &str, opaque: bool) {
        for entry in &limits.entries {
            let field = self.tree.field(entry.field);
            let name = field.name();
            if field.is_extension() {
                let text = self.opaque(&entry.value);
                self.push(entry, format!("{prefix}({})", field.full_name()), text);
                continue;
            }
            let literal = match &entry.value {
                Value::Message(inner) => {
                    let ty = self.tree.message(inner.ty).full_name();
                    match (name, ty.as_str()) {
                        ("example", _) => continue,
                        ("cel", _) => {
                            let expression = inner.str(self.tree, "expression").unwrap_or_default();
                            Literal::Opaque(normalized_cel(expression))
                        }
                        ("items" | "keys" | "values", _) if prefix.is_empty() => {
                            self.limits(inner, &format!("{name}."), opaque);
                            continue;
                        }
                        (_, "google.protobuf.Duration" | "google.protobuf.Timestamp") => {
                            Literal::Nanos(nanos(self.tree, inner))
                        }
                        (_, ty) if ty.ends_with("Rules") => {
                            self.limits(inner, prefix, opaque || name == "field_mask");
                            continue;
                        }
                        _ => self.opaque(&entry.value),
                    }
                }
                _ if name == "example" => continue,
                value if opaque => self.opaque(value),
                Value::String(text) if name == "cel_expression" => {
                    Literal::Opaque(normalized_cel(text))
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

    fn opaque(&self, value: &Value) -> Literal {
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
pub(super) fn nanos(tree: &Tree, message: &value::Message) -> i128 {
    let part = |name| i128::from(message.i64(tree, name).unwrap_or_default());
    part("seconds") * SECOND + part("nanos")
}

/// A CEL expression without comments, and with white space only where two words
/// would join. Source: the lexis of the CEL specification.
pub(super) fn normalized_cel(text: &str) -> String {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii();
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut space = false;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let end = if byte.is_ascii_whitespace() || byte == 0x0b {
            space = true;
            at += 1;
            continue;
        } else if bytes[at..].starts_with(b"//") {
            space = true;
            at += bytes[at..].iter().position(|&it| it == b'\n').unwrap_or(bytes.len() - at);
            continue;
        } else if matches!(byte, b'"' | b'\'') {
            let start = bytes[..at].iter().rposition(|&it| !word(it)).map_or(0, |it| it + 1);
            let mark = &bytes[start..at];
            let raw = mark.len() <= 2 && mark.iter().any(|it| matches!(it, b'r' | b'R'));
            end_of_string(bytes, at, raw)
        } else {
            at + 1
        };
        let together = |last: u8| word(last) && (word(byte) || matches!(byte, b'"' | b'\''));
        // No grammar rule gives `- -1` and `--1` different meanings, but two
        // operators are kept apart anyway.
        let operators = |last: u8| last == byte && matches!(byte, b'-' | b'!' | b'/' | b'&' | b'|');
        if space && out.last().is_some_and(|&last| together(last) || operators(last)) {
            out.push(b' ');
        }
        space = false;
        out.extend_from_slice(&bytes[at..end]);
        at = end;
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn end_of_string(bytes: &[u8], start: usize, raw: bool) -> usize {
    let quote = bytes[start];
    let long = bytes[start..].starts_with(&[quote; 3]);
    let width = if long { 3 } else { 1 };
    let mut at = start + width;
    while at < bytes.len() {
        if bytes[at] == b'\\' && !raw {
            at += 2;
        } else if bytes[at..].starts_with(&[quote; 3][..width]) {
            return at + width;
        } else {
            at += 1;
        }
    }
    bytes.len()
}

/// The annotation that a oneof must be set, with its place.
pub(super) fn oneof_required(oneof: abide_schema::Oneof<'_>) -> Option<(Dialect, Place)> {
    let options = oneof.options()?;
    let tree = oneof.message().tree;
    let element = Element::Oneof(oneof);
    let pgv = options.extension(tree, "validate.required");
    if let Some(entry) = pgv.filter(|entry| entry.value == Value::Bool(true)) {
        return Some((Dialect::Pgv, place(element, entry)));
    }
    let limits = options.extension(tree, "buf.validate.oneof")?;
    let required = limits.value.as_message()?.get(tree, "required")?;
    (required.value == Value::Bool(true)).then(|| (Dialect::Buf, place(element, required)))
}

/// A rule that at most one of some fields may be set.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Exclusive {
    pub(super) fields: Vec<String>,
    /// Whether exactly one must be set.
    pub(super) required: bool,
    pub(super) place: Place,
}

/// The annotations of a message.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct MessageLimits {
    /// Where the check is turned off, for each library.
    pub(super) disabled: Vec<(Dialect, &'static str, Place)>,
    pub(super) exclusive: Vec<Exclusive>,
    /// Expressions.
    pub(super) expressions: Vec<(String, Place)>,
    /// Other rules that no set of values states.
    pub(super) opaque: Vec<(String, Place)>,
}

impl MessageLimits {
    pub(super) fn of(message: Message<'_>) -> MessageLimits {
        let mut limits = MessageLimits::default();
        let Some(options) = message.options() else { return limits };
        let tree = message.tree;
        let element = Element::Message(message);
        for (name, key) in [("validate.disabled", "disabled"), ("validate.ignored", "ignored")] {
            let entry = options.extension(tree, name);
            if let Some(entry) = entry.filter(|entry| entry.value == Value::Bool(true)) {
                limits.disabled.push((Dialect::Pgv, key, place(element, entry)));
            }
        }
        let entry = options.extension(tree, "buf.validate.message");
        let Some(inner) = entry.and_then(|entry| entry.value.as_message()) else { return limits };
        for entry in &inner.entries {
            let field = tree.field(entry.field);
            let place = place(element, entry);
            match (field.name(), &entry.value) {
                ("disabled", Value::Bool(true)) => {
                    limits.disabled.push((Dialect::Buf, "disabled", place));
                }
                ("disabled", Value::Bool(false)) => {}
                ("cel_expression", Value::String(text)) => {
                    limits.expressions.push((normalized_cel(text), place));
                }
                ("cel", Value::Message(cel)) => {
                    let text = cel.str(tree, "expression").unwrap_or_default();
                    limits.expressions.push((normalized_cel(text), place));
                }
                ("oneof", Value::Message(oneof)) => {
                    let mut fields: Vec<String> = oneof
                        .get_all(tree, "fields")
                        .filter_map(|entry| entry.value.as_str().map(str::to_owned))
                        .collect();
                    fields.sort_unstable();
                    fields.dedup();
                    let required = oneof.bool(tree, "required").unwrap_or_default();
                    limits.exclusive.push(Exclusive { fields, required, place });
                }
                (name, value) => limits.opaque.push((format!("{name} = {value:?}"), place)),
            }
        }
        if !inner.unknown.is_empty() {
            let text = inner.unknown.escape_ascii().to_string();
            limits.opaque.push((text, element.place(Part::Name)));
        }
        limits
    }

    /// The rules that no set of values states.
    pub(super) fn stated(&self) -> impl Iterator<Item = &(String, Place)> {
        self.expressions.iter().chain(&self.opaque)
    }

    pub(super) fn is_disabled(&self, dialect: Dialect) -> bool {
        self.disabled.iter().any(|(found, ..)| *found == dialect)
    }
}

#[cfg(test)]
mod tests {
    use super::normalized_cel;

    #[test]
    fn formatting_of_cel_does_not_count() {
        let same = [
            ("this.a>0", " this . a\n > 0 // more than none"),
            ("a in b", "a  in\tb"),
            ("x==\"a  b\"", "x == \"a  b\""),
            ("x==r'\\'&&y", "x == r'\\' && y"),
            ("'''a ' // b'''+c", "'''a ' // b''' + c"),
        ];
        for (tight, loose) in same {
            assert_eq!(normalized_cel(loose), tight);
            assert_eq!(normalized_cel(tight), tight);
        }
        for (a, b) in [("'a b'", "'ab'"), ("a in b", "ain b"), ("'\\' '", "'\\''"), ("- -a", "--a")]
        {
            assert_ne!(normalized_cel(a), normalized_cel(b));
        }
    }
}
