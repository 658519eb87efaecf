//! Writes options as facts: one for each leaf.

use abide_schema::value::{Entry, Message, Value, default_of};
use abide_schema::{Cardinality, Field, File, RawOptions, Tree};
use abide_syntax::{Lexer, Span, TokenKind};
use rustc_hash::FxHashSet;

use crate::facts::{Facts, push, push_bytes, push_full_name, push_number, push_value};
use crate::languages;

/// The prefixes of the names of the extensions below, to rule out most others.
const VOCABULARIES: [&str; 3] = ["udpa.annotations.", "xds.annotations.", "abide.annotations."];

/// Extensions that describe how an element is released, not what it is.
const RELEASE: &[&str] = &[
    "udpa.annotations.file_status",
    "udpa.annotations.versioning",
    "udpa.annotations.file_migrate",
    "udpa.annotations.message_migrate",
    "udpa.annotations.field_migrate",
    "udpa.annotations.enum_migrate",
    "udpa.annotations.enum_value_migrate",
    "xds.annotations.v3.file_status",
    "xds.annotations.v3.message_status",
    "xds.annotations.v3.field_status",
    "xds.annotations.v3.versioning",
    "xds.annotations.v3.file_migrate",
    "xds.annotations.v3.message_migrate",
    "xds.annotations.v3.field_migrate",
    "xds.annotations.v3.enum_migrate",
    "xds.annotations.v3.enum_value_migrate",
];

const FILE_POLICY: &[&str] = &[
    "package_version_status",
    "work_in_progress",
    "introduced",
    "version",
    "hash",
    "move_to_package",
    "frozen",
    "by_hand",
];

const ELEMENT_POLICY: &[&str] =
    &["work_in_progress", "migration", "previous_type", "next_major_only", "lossy"];

/// Our own annotations, and the fields in them that describe how an element is
/// released.
const POLICIES: &[(&str, &[&str])] = &[
    ("abide.annotations.v1.file_policy", FILE_POLICY),
    ("abide.annotations.v1.message_policy", ELEMENT_POLICY),
    ("abide.annotations.v1.field_policy", ELEMENT_POLICY),
    ("abide.annotations.v1.oneof_policy", ELEMENT_POLICY),
    ("abide.annotations.v1.enum_policy", ELEMENT_POLICY),
    ("abide.annotations.v1.enum_value_policy", ELEMENT_POLICY),
    ("abide.annotations.v1.service_policy", ELEMENT_POLICY),
    ("abide.annotations.v1.method_policy", ELEMENT_POLICY),
];

/// The resolved fields of `google.protobuf.FeatureSet`.
const CORE_FEATURES: std::ops::RangeInclusive<i32> = 1..=8;

/// The fields of a message that are left out.
#[derive(Clone, Copy)]
enum OmittedFields {
    /// No field.
    Nothing,
    /// Defaults, resolved fields and fields about releases: for the options of an
    /// element.
    Defaults,
    /// The resolved features.
    CoreFeatures,
    /// The resolved features of a language.
    Language(&'static str),
    /// The fields with these names.
    Fields(&'static [&'static str]),
}

impl OmittedFields {
    /// Returns true if a message without facts inside has a fact itself.
    fn has_empty_fact(self) -> bool {
        matches!(self, OmittedFields::Nothing)
    }
}

/// Writes the facts of the options of an element but some. `facts.path` is the text before
/// them.
pub(crate) fn write(facts: &mut Facts, tree: &Tree, options: &Message, omitted: &[Option<&str>]) {
    OptionWriter { facts, tree, omitted }.write_message(options, OmittedFields::Defaults, false);
}

/// Writes the options in source text that were not understood.
pub(crate) fn write_strange(
    facts: &mut Facts,
    file: File<'_>,
    raw: RawOptions,
    options: Option<&Message>,
) {
    let decl = file.decl();
    let (RawOptions::Syntax(slice), Some(ast)) = (raw, decl.ast()) else { return };
    // An option that was left out was understood, and no descriptor set has any other.
    if file.is_reduced() {
        return;
    }
    let text: &[u8] = decl.strings.text();
    for &id in &decl.option_ids[slice.range()] {
        let option = &ast.options[id as usize];
        let Some(last) = ast.name_parts(option).last() else { continue };
        if options.is_some_and(|options| has_key(options, last.span)) {
            continue;
        }
        facts.push_path().push("? ");
        facts.write(|out| push_tokens(out, text, option.name, ""));
        facts.push(" = ");
        facts.write(|out| push_tokens(out, text, ast.values[option.value as usize].span, " "));
        facts.end();
    }
}

/// Returns true if two facts are about the same option of an element: their paths begin
/// with the same step. Options that are not understood are never joined.
pub(crate) fn is_one_option(a: &[u8], b: &[u8]) -> bool {
    let step = first_step(a);
    step != b"?" && step == first_step(b)
}

/// The first step of the path of a fact of an option, without its index.
fn first_step(fact: &[u8]) -> &[u8] {
    let end = match fact.first() {
        Some(b'(') => memchr::memchr(b')', fact),
        _ => memchr::memchr3(b'.', b'[', b' ', fact),
    };
    &fact[..end.unwrap_or(fact.len())]
}

/// Returns true if the option with this last part of its name was understood.
fn has_key(message: &Message, key: Span) -> bool {
    let inside = |entry: &Entry| entry.value.as_message().is_some_and(|it| has_key(it, key));
    message.entries.iter().any(|entry| entry.key == key || inside(entry))
}

fn push_tokens(out: &mut Vec<u8>, text: &[u8], span: Span, separator: &str) {
    let mut lexer = Lexer::new(&text[..span.end as usize], span.start);
    let start = out.len();
    loop {
        let token = lexer.next_token();
        if token.kind == TokenKind::End || token.span.is_empty() {
            break;
        }
        if out.len() > start {
            push(out, separator);
        }
        push(out, &String::from_utf8_lossy(token.span.of(text)).replace('\n', " "));
    }
}

struct OptionWriter<'a> {
    facts: &'a mut Facts,
    tree: &'a Tree,
    /// Options that say what holds without them.
    omitted: &'a [Option<&'a str>],
}

impl OptionWriter<'_> {
    /// Writes the content of a message; returns whether there was any.
    fn write_message(&mut self, message: &Message, without: OmittedFields, in_group: bool) -> bool {
        let mut any = false;
        // How many elements each repeated field has so far.
        let mut lists: Vec<(abide_schema::FieldId, i64)> = Vec::new();
        let mut has_map = false;
        for entry in &message.entries {
            let field = self.tree.field(entry.field);
            let cardinality = field.cardinality();
            if cardinality == Cardinality::Map {
                has_map = true;
                continue;
            }
            let mut index = None;
            if cardinality == Cardinality::Repeated {
                let at = lists.iter().position(|(id, _)| *id == entry.field).unwrap_or_else(|| {
                    lists.push((entry.field, 0));
                    lists.len() - 1
                });
                index = Some(lists[at].1);
                lists[at].1 += 1;
            }
            if !in_group && field.is_source_only() {
                continue;
            }
            let length = self.push_step(field);
            if let Some(inside) = self.check_entry(field, entry, without, length) {
                if let Some(index) = index {
                    self.facts.path.push(b'[');
                    push_number(&mut self.facts.path, index);
                    self.facts.path.push(b']');
                }
                any |= self.write_value(field, &entry.value, inside, in_group);
            }
            self.facts.path.truncate(length);
        }
        if has_map {
            any |= self.write_maps(message, in_group);
        }
        if !message.unknown.is_empty() {
            self.facts
                .push_path()
                .push("? = ")
                .write(|out| push_bytes(out, &message.unknown))
                .end();
            any = true;
        }
        any
    }

    /// Adds the name of a field to the path; returns its length before.
    fn push_step(&mut self, field: Field<'_>) -> usize {
        let path = &mut self.facts.path;
        let length = path.len();
        if field.is_extension() {
            path.push(b'(');
            push_full_name(path, field.file(), field.parent(), field.name());
            path.push(b')');
        } else {
            push(path, field.name());
        }
        length
    }

    /// Returns the fields to leave out inside the entry; `None` if the entry itself does not count.
    /// Its name is in the path from `start` on.
    fn check_entry(
        &self,
        field: Field<'_>,
        entry: &Entry,
        without: OmittedFields,
        start: usize,
    ) -> Option<OmittedFields> {
        let singular = field.cardinality() == Cardinality::Singular;
        let implicit = || field.presence() == abide_schema::Presence::Implicit;
        if singular && entry.value.is_zero() && implicit() {
            return None;
        }
        match without {
            OmittedFields::Nothing => Some(OmittedFields::Nothing),
            OmittedFields::Fields(names) => (field.is_extension()
                || !names.contains(&field.name()))
            .then_some(OmittedFields::Nothing),
            OmittedFields::Language(language) => (field.is_extension()
                || !languages::is_resolved(language, field.name()))
            .then_some(OmittedFields::Nothing),
            OmittedFields::CoreFeatures if field.is_extension() => {
                let language = languages::find_language(self.extension_name(start));
                Some(language.map_or(OmittedFields::Nothing, OmittedFields::Language))
            }
            OmittedFields::CoreFeatures => {
                (!CORE_FEATURES.contains(&field.number())).then_some(OmittedFields::Nothing)
            }
            OmittedFields::Defaults if field.is_extension() => {
                let name = self.extension_name(start);
                if !VOCABULARIES.iter().any(|it| name.starts_with(it)) {
                    return Some(OmittedFields::Nothing);
                }
                if RELEASE.contains(&name) {
                    return None;
                }
                let policy = POLICIES.iter().find(|(policy, _)| *policy == name);
                Some(
                    policy
                        .map_or(OmittedFields::Nothing, |(_, names)| OmittedFields::Fields(names)),
                )
            }
            OmittedFields::Defaults => match field.name() {
                "features" => Some(OmittedFields::CoreFeatures),
                "uninterpreted_option" | "packed" | "map_entry" => None,
                // `CORD`, which is a feature, and `STRING_PIECE`, which nothing reads.
                "ctype" if matches!(entry.value, Value::Enum(1 | 2)) => None,
                name if self.omitted.contains(&Some(name)) => None,
                _ if singular && default_of(field).as_ref() == Some(&entry.value) => None,
                _ => Some(OmittedFields::Nothing),
            },
        }
    }

    /// The name of the extension that the path ends with.
    fn extension_name(&self, start: usize) -> &str {
        let step = std::str::from_utf8(self.facts.path.get(start..).unwrap_or_default());
        step.unwrap_or_default().trim_start_matches('(').trim_end_matches(')')
    }

    /// Writes a value at the path.
    fn write_value(
        &mut self,
        field: Field<'_>,
        value: &Value,
        inside: OmittedFields,
        in_group: bool,
    ) -> bool {
        let Value::Message(message) = value else {
            self.facts.push_path().push(" = ").write(|out| push_value(out, value)).end();
            return true;
        };
        let length = self.facts.path.len();
        self.facts.path.push(b'.');
        let any = self.write_message(message, inside, in_group || field.features().delimited);
        self.facts.path.truncate(length);
        if !any && inside.has_empty_fact() {
            self.facts.push_path().push(" = {}").end();
            return true;
        }
        any
    }

    /// Writes the maps of a message: the last of the entries with the same key.
    fn write_maps(&mut self, message: &Message, in_group: bool) -> bool {
        let mut seen = FxHashSet::default();
        let mut any = false;
        for entry in message.entries.iter().rev() {
            let field = self.tree.field(entry.field);
            let (Some(pair), Cardinality::Map) = (entry.value.as_message(), field.cardinality())
            else {
                continue;
            };
            if !in_group && field.is_source_only() {
                continue;
            }
            let ty = self.tree.message(pair.ty);
            let (Some(key), Some(value)) = (ty.field_numbered(1), ty.field_numbered(2)) else {
                continue;
            };
            let part = |field: Field<'_>| {
                let set = pair.entries_of(field.id).next_back().map(|entry| entry.value.clone());
                set.or_else(|| Value::new_zero(self.tree, field.ty()))
            };
            let (Some(key), Some(held)) = (part(key), part(value)) else { continue };
            let length = self.push_step(field);
            self.facts.path.push(b'[');
            push_value(&mut self.facts.path, &key);
            self.facts.path.push(b']');
            if seen.insert(self.facts.path[length..].to_owned()) {
                any |= self.write_value(value, &held, OmittedFields::Nothing, in_group);
            }
            self.facts.path.truncate(length);
        }
        any
    }
}
