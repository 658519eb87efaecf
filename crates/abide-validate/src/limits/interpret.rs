//! Facets interpreted as limits, in the sense of the library that reads them.

use std::collections::BTreeSet;

use abide_schema::{Cardinality, Field, Presence, Type};

use super::datum::{Datum, DatumKind, ValueType, element, key};
use super::field_limits::{DialectLimits, FieldLimits, ListLimits, ValueLimits, ValueSet};
use crate::annotations::{Facet, Literal};
use crate::sets::{
    Dialect, LengthRange, NumberKind, NumberSet, PatternExpression, StringFormat, StringSet,
    escape_bytes, find_header_format, find_regular_format, find_size_format, from_re2,
};

impl<'t> FieldLimits<'t> {
    /// The rules from the facets that a field has, or would have.
    pub fn new(field: Field<'t>, facets: &[Facet]) -> FieldLimits<'t> {
        let parts = Dialect::ALL.into_iter().filter_map(|dialect| {
            let own: Vec<&Facet> = facets.iter().filter(|it| it.dialect == dialect).collect();
            (!own.is_empty()).then(|| DialectLimits::new(field, dialect, &own))
        });
        FieldLimits { field, parts: parts.collect() }
    }

    /// The same but for what expressions ask, which are evaluated by themselves.
    pub fn without_expressions(field: Field<'t>, facets: &[Facet]) -> FieldLimits<'t> {
        let parts = Dialect::ALL.into_iter().filter_map(|dialect| {
            let own = || facets.iter().filter(|it| it.dialect == dialect);
            let others: Vec<&Facet> = own().filter(|it| !it.is_expression(field.tree)).collect();
            own().next().map(|_| DialectLimits::new(field, dialect, &others))
        });
        FieldLimits { field, parts: parts.collect() }
    }
}

impl DialectLimits {
    /// No rules.
    pub fn free(field: Field<'_>, dialect: Dialect) -> DialectLimits {
        DialectLimits::new(field, dialect, &[])
    }

    fn new(field: Field<'_>, dialect: Dialect, facets: &[&Facet]) -> DialectLimits {
        let at = |prefix: &str| -> Vec<&Facet> {
            facets.iter().copied().filter(|facet| facet.prefix() == prefix).collect()
        };
        let own = at("");
        let flag = |key: &str| own.iter().any(|facet| facet.key() == key && facet.flag());
        let named = |names: &[&str]| has_facet_named(&own, names);
        // protoc-gen-validate only checks a member of a oneof if it is set.
        let required = flag("required") && !(dialect == Dialect::Pgv && field.oneof().is_some());
        let cardinality = field.cardinality();
        let mut part = DialectLimits {
            dialect,
            required,
            skip: named(&["IGNORE_ALWAYS"]) || flag("skipped"),
            empty_passes: false,
            items: ListLimits { count: LengthRange::default(), unique: false },
            opaque: BTreeSet::new(),
            values: ValueLimits::new(element(field), dialect, &own),
            keys: None,
            default: None,
        };
        match cardinality {
            Cardinality::Singular => {
                let message = matches!(field.ty(), Type::Message(_));
                // A field with presence is only empty if it is absent.
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
                part.values = ValueLimits::new(element(field), dialect, &inner);
                part.values.skip |= part.skip;
                part.keys = key(field).map(|key| ValueLimits::new(key, dialect, &at("keys.")));
                for facet in &own {
                    let count = facet.literals.last().and_then(read_unsigned);
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
                            part.opaque.extend(read_texts(facet));
                        }
                    }
                }
            }
        }
        part
    }
}

/// Returns true if a facet `ignore` has one of the names.
fn has_facet_named(facets: &[&Facet], names: &[&str]) -> bool {
    facets.iter().filter(|facet| facet.key() == "ignore").any(|facet| {
        matches!(facet.literals.last(), Some(Literal::Name(name)) if names.contains(&name.as_str()))
    })
}

fn read_unsigned(literal: &Literal) -> Option<u64> {
    match literal {
        Literal::Int(value) => (*value).try_into().ok(),
        _ => None,
    }
}

fn read_texts(facet: &Facet) -> Vec<String> {
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

/// The value of an absent field.
fn default(field: Field<'_>, single: ValueType) -> Datum {
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
        (_, DatumKind::Number(kind)) if kind.is_float() => match text.parse::<f64>() {
            Ok(value) => kind.float(value).map_or(Datum::Nan, Datum::Number),
            Err(_) => Datum::Number(0),
        },
        (_, DatumKind::Number(_)) => Datum::Number(match &*text {
            "true" => 1,
            text => text.parse().unwrap_or(0),
        }),
        (_, DatumKind::Bytes) => Datum::Bytes(unescape(&text)),
        _ => Datum::Bytes(text.into_owned().into_bytes()),
    }
}

/// Bytes in the notation of `default_value`. Source: `absl::CEscape`.
fn unescape(text: &str) -> Vec<u8> {
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

impl ValueLimits {
    fn new(single: ValueType, dialect: Dialect, facets: &[&Facet]) -> ValueLimits {
        let flag = |key: &str| facets.iter().any(|facet| facet.key() == key && facet.flag());
        let zero = ["IGNORE_IF_ZERO_VALUE", "IGNORE_IF_DEFAULT_VALUE", "IGNORE_IF_UNPOPULATED"];
        // The zero value of a message is its absence.
        let scalar = single.shape != DatumKind::Message
            && (single.wrapper || !matches!(single.ty, Type::Message(_)));
        let mut values = ValueLimits {
            dialect,
            single,
            skip: flag("skip") || flag("skipped") || has_facet_named(facets, &["IGNORE_ALWAYS"]),
            zero_passes: scalar && (flag("ignore_empty") || has_facet_named(facets, &zero)),
            set: ValueSet::All,
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
            DatumKind::Number(kind) => values.set = values.read_numbers(kind, &rules),
            DatumKind::Text | DatumKind::Bytes | DatumKind::Any => {
                values.set = values.read_strings(&rules)
            }
            DatumKind::Message | DatumKind::Unresolved => {
                for facet in rules {
                    values.opaque.extend(read_texts(facet));
                }
            }
        }
        values
    }

    fn read_numbers(&mut self, kind: NumberKind, facets: &[&Facet]) -> ValueSet {
        let domain = kind.domain();
        let number = |literal: &Literal| match *literal {
            Literal::Int(value) if !kind.is_float() => Some(value),
            Literal::Float(value) if kind.is_float() => kind.float(value),
            Literal::Nanos(value)
                if matches!(kind, NumberKind::Duration | NumberKind::Timestamp) =>
            {
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
        // Of two bounds on one side, protoc-gen-validate uses the exclusive one;
        // protovalidate does not allow two.
        let above = last("gt").map(|it| (it, it + 1)).or(last("gte").map(|it| (it, it)));
        let below = last("lt").map(|it| (it, it - 1)).or(last("lte").map(|it| (it, it)));
        // No comparison is true for NaN. protoc-gen-validate looks for a violated
        // bound and so accepts it; protovalidate checks for it.
        let nan = self.dialect == Dialect::Pgv;
        let up = above.map(|(_, from)| NumberSet::of([(from, max)], nan));
        let down = below.map(|(_, to)| NumberSet::of([(min, to)], nan));
        let range = match (up, down) {
            (Some(up), Some(down)) => {
                let (low, high) = (above.map(|it| it.0), below.map(|it| it.0));
                let inside = high > low || high == low && self.dialect == Dialect::Buf;
                Some(if inside { up.intersect(&down) } else { up.union(&down) })
            }
            (up, down) => up.or(down),
        };
        if let Some(range) = range {
            set = set.intersect(&range);
        }
        let mut now = NumberSet::of([(min, max)], true);
        // protovalidate includes the limits, protoc-gen-validate does not.
        let open = i128::from(self.dialect == Dialect::Pgv);
        let within = last("within").filter(|_| kind == NumberKind::Timestamp);
        for facet in facets {
            let listed = || NumberSet::points(facet.literals.iter().filter_map(number));
            match facet.key() {
                "lt" | "lte" | "gt" | "gte"
                    if facet.literals.iter().all(|it| number(it).is_some()) => {}
                "const" => {
                    let last = facet.literals.last().and_then(number);
                    set = set.intersect(&NumberSet::points(last));
                }
                "in" => set = set.intersect(&listed()),
                "not_in" => set = set.subtract(&listed()),
                "defined_only" => {
                    if facet.flag_of_enum() {
                        let numbers =
                            facet.literals.iter().filter(|it| matches!(it, Literal::Int(_)));
                        set = set.intersect(&NumberSet::points(numbers.filter_map(number)));
                    }
                }
                "finite" => {
                    if facet.flag() {
                        let infinite = [f64::INFINITY, f64::NEG_INFINITY];
                        let mut cut =
                            NumberSet::points(infinite.iter().filter_map(|it| kind.float(*it)));
                        cut = cut.union(&NumberSet::of([], true));
                        set = set.subtract(&cut);
                    }
                }
                "lt_now" if facet.flag() => {
                    now = now.intersect(&NumberSet::of([(min, -open)], false))
                }
                "gt_now" if facet.flag() => {
                    now = now.intersect(&NumberSet::of([(open, max)], false))
                }
                "lt_now" | "gt_now" => {}
                "within" if within.is_some() => {
                    let reach = within.unwrap_or_default();
                    now = now.intersect(&NumberSet::of([(open - reach, reach - open)], true));
                }
                _ => self.opaque.extend(read_texts(facet)),
            }
        }
        ValueSet::Numbers(set, now)
    }

    fn read_strings(&mut self, facets: &[&Facet]) -> ValueSet {
        let bytes = |literal: &Literal| match literal {
            Literal::Text(text) => Some(text.as_bytes().to_vec()),
            Literal::Bytes(bytes) => Some(bytes.clone()),
            _ => None,
        };
        let mut strings = StringSet::default();
        let narrow = |strings: &mut StringSet, set: BTreeSet<Vec<u8>>| {
            strings.among = Some(match strings.among.take() {
                Some(among) => among.intersection(&set).cloned().collect(),
                None => set,
            });
        };
        let text = self.single.shape == DatumKind::Text;
        let strict = !facets.iter().any(|facet| facet.key() == "strict" && !facet.flag());
        for facet in facets {
            let key = facet.key();
            let listed = || facet.literals.iter().filter_map(bytes).collect::<BTreeSet<_>>();
            let last = facet.literals.last();
            let affix = |before: &str, after: &str| {
                let literal = escape_bytes(&last.and_then(bytes).unwrap_or_default());
                Some(format!("{before}{literal}{after}"))
            };
            let said = || format!("{key} {}", facet.text());
            match (key, last.and_then(read_unsigned)) {
                (
                    "len" | "min_len" | "max_len" | "len_bytes" | "min_bytes" | "max_bytes",
                    Some(count),
                ) => {
                    let bound = LengthRange {
                        least: if key.starts_with("max") { 0 } else { count },
                        most: (!key.starts_with("min")).then_some(count),
                    };
                    let chars = text && !key.ends_with("bytes");
                    let length = if chars { &mut strings.chars } else { &mut strings.bytes };
                    *length = length.intersect(bound);
                }
                ("const", _) => narrow(&mut strings, last.and_then(bytes).into_iter().collect()),
                ("in", _) => narrow(&mut strings, listed()),
                ("not_in", _) => strings.without.extend(listed()),
                ("prefix", _) => {
                    strings.expressions.push(PatternExpression::new(
                        said(),
                        affix(r"\A", ""),
                        true,
                    ));
                }
                ("suffix", _) => {
                    strings.expressions.push(PatternExpression::new(
                        said(),
                        affix("", r"\z"),
                        true,
                    ));
                }
                ("contains", _) => {
                    strings.expressions.push(PatternExpression::new(said(), affix("", ""), true));
                }
                ("not_contains", _) => {
                    strings.expressions.push(PatternExpression::new(said(), affix("", ""), false));
                }
                ("pattern", _) => {
                    let pattern = match last {
                        Some(Literal::Text(pattern)) => pattern.as_str(),
                        _ => "",
                    };
                    // protovalidate converts the bytes to text first.
                    if !text && self.dialect == Dialect::Buf {
                        let utf8 = Some(r"(?s)\A.*\z".to_owned());
                        strings.expressions.push(PatternExpression::new("UTF-8", utf8, true));
                    }
                    strings.expressions.push(PatternExpression::new(
                        said(),
                        from_re2(pattern),
                        true,
                    ));
                }
                ("well_known_regex", _) => {
                    let name = match last {
                        Some(Literal::Name(name)) => name.as_str(),
                        _ => "",
                    };
                    if let Some(expression) = find_header_format(self.dialect, name, strict) {
                        let expression = Some(expression.to_owned());
                        strings.expressions.push(PatternExpression::new(said(), expression, true));
                    }
                }
                ("strict", _) => {}
                _ if last == Some(&Literal::Bool(false)) => {}
                _ => {
                    let regular = if text {
                        find_regular_format(self.dialect, key)
                    } else {
                        find_size_format(key)
                    };
                    let format = StringFormat::named(self.dialect, key).filter(|_| text);
                    match (regular, format) {
                        (Some(expression), _) => {
                            let expression = Some(expression.to_owned());
                            strings.expressions.push(PatternExpression::new(key, expression, true));
                        }
                        (None, Some(format)) => strings.formats.push((self.dialect, format)),
                        (None, None) => self.opaque.extend(read_texts(facet)),
                    }
                }
            }
        }
        ValueSet::Strings(Box::new(strings))
    }
}

impl Facet {
    /// Returns true if `defined_only` is true; the declared numbers are its further literals.
    fn flag_of_enum(&self) -> bool {
        self.literals.contains(&Literal::Bool(true))
    }
}
