//! A facet: one rule of an annotation, with its key and its values.

use abide_schema::{Place, Tree};

use crate::sets::{Dialect, SECOND};

/// One rule of an annotation.
#[derive(Clone, Debug, PartialEq)]
pub struct Facet {
    /// The library whose annotation it is in.
    pub dialect: Dialect,
    /// Its key, after `items.`, `keys.` or `values.` if it is about those.
    pub path: String,
    /// Its values: several if the key repeats.
    pub literals: Vec<Literal>,
    /// The place of the first value.
    pub place: Place,
}

/// A value in a rule.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// A value of type `bool`.
    Bool(bool),
    /// An integer of any type.
    Int(i128),
    /// A `float` or `double`.
    Float(f64),
    /// A string.
    Text(String),
    /// A value of type `bytes`.
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
    pub fn prefix(&self) -> &str {
        let end = self.path.find('.').map_or(0, |dot| dot + 1);
        // The name of an extension has dots of its own.
        if self.path.starts_with('(') { "" } else { &self.path[..end] }
    }

    /// The path without its prefix.
    pub fn key(&self) -> &str {
        &self.path[self.prefix().len()..]
    }

    /// Returns true if an expression states it: its own, or that of a rule that the tree declares.
    pub fn is_expression(&self, tree: &Tree) -> bool {
        let declared = || {
            let name = self.key().strip_prefix('(')?.strip_suffix(')')?;
            let field = tree.extensions_named(name).next()?;
            field.options()?.find_extension(tree, "buf.validate.predefined")
        };
        self.dialect == Dialect::Buf && (self.key() == "cel" || declared().is_some())
    }

    /// Returns true if another facet is the same rule, wherever it is.
    pub fn says_what(&self, other: &Facet) -> bool {
        (self.dialect, &self.path, &self.literals) == (other.dialect, &other.path, &other.literals)
    }

    /// Returns true if the rule is switched on: its last value is `true`.
    pub fn flag(&self) -> bool {
        matches!(self.literals.last(), Some(Literal::Bool(true)))
    }

    /// The name of its group: rules that only have a meaning together share one.
    pub fn group(&self) -> String {
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
    pub fn written(&self) -> String {
        format!("{}: {}", self.path, self.text())
    }

    /// Its literals as a person would write them.
    pub fn text(&self) -> String {
        if let ("defined_only", true) = (self.key(), self.literals.len() > 1) {
            return match self.literals.len() - 1 {
                1 => "of 1 value".to_owned(),
                count => format!("of {count} values"),
            };
        }
        let texts: Vec<String> = self.literals.iter().map(format_literal).collect();
        match (texts.as_slice(), self.key()) {
            ([one], key) if !matches!(key, "in" | "not_in") => one.clone(),
            (_, "cel") => texts.join(" && "),
            _ => format!("[{}]", texts.join(", ")),
        }
    }
}

fn format_literal(literal: &Literal) -> String {
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
