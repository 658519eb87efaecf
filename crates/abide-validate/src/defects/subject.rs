//! The subject of an annotation: a field, or the items, keys or values in it.

use abide_schema::value::{self, Entry, Value};
use abide_schema::{Cardinality, Element, Field, Message, Part, Place, Tree};

use super::ConstraintDefect;
use crate::annotations;
use crate::sets::Dialect;

/// Rules of one library with what they are about.
#[derive(Clone, Copy)]
pub(super) struct AnnotationSubject<'t> {
    /// The annotated field.
    pub(super) field: Field<'t>,
    pub(super) dialect: Dialect,
    /// The field whose type the values have: of a map entry for keys and values.
    pub(super) typed: Field<'t>,
    /// `items`, `keys` or `values`; none for the field itself.
    pub(super) part: Option<&'static str>,
    pub(super) rules: &'t value::Message,
}

/// The rules for one type of values: `string`, `repeated` and so on.
#[derive(Clone, Copy)]
pub(super) struct TypedRules<'t> {
    pub(super) name: &'t str,
    pub(super) entry: &'t Entry,
    pub(super) rules: &'t value::Message,
}

/// The rules of a field, and those inside of them.
pub(super) fn list_subjects(field: Field<'_>) -> Vec<AnnotationSubject<'_>> {
    let mut subjects = Vec::new();
    let Some(options) = field.options() else { return subjects };
    for dialect in Dialect::ALL {
        let entry = options.find_extension(field.tree, dialect.name());
        let Some(rules) = entry.and_then(|entry| entry.value.as_message()) else { continue };
        let whole = AnnotationSubject { field, dialect, typed: field, part: None, rules };
        subjects.push(whole);
        let Some(typed) = whole.typed_rules() else { continue };
        let entry = field.message_type().filter(|_| field.is_map());
        let of_entry = |number| entry.and_then(|it| it.field_numbered(number));
        let parts = [
            ("items", Cardinality::Repeated, Some(field)),
            ("keys", Cardinality::Map, of_entry(1)),
            ("values", Cardinality::Map, of_entry(2)),
        ];
        for (part, cardinality, of) in parts {
            let rules = typed.rules.get_message(field.tree, part);
            if let (Some(rules), Some(of)) = (rules, of)
                && field.cardinality() == cardinality
            {
                subjects.push(AnnotationSubject {
                    field,
                    dialect,
                    typed: of,
                    part: Some(part),
                    rules,
                });
            }
        }
    }
    subjects
}

impl<'t> AnnotationSubject<'t> {
    pub(super) fn tree(&self) -> &'t Tree {
        self.field.tree
    }

    pub(super) fn get(&self, name: &str) -> Option<&'t Entry> {
        self.rules.get(self.field.tree, name)
    }

    /// The rules of the oneof that is named after types of values.
    pub(super) fn typed_rules(&self) -> Option<TypedRules<'t>> {
        let tree = self.field.tree;
        self.rules.entries.iter().find_map(|entry| {
            let field = tree.field(entry.field);
            let rules = entry.value.as_message()?;
            let typed = field.oneof().is_some_and(|it| it.name() == "type");
            typed.then_some(TypedRules { name: field.name(), entry, rules })
        })
    }

    /// Returns true if the whole of a list or map is meant, not a value in it.
    pub(super) fn is_collection(&self) -> bool {
        self.part.is_none() && self.field.cardinality() != Cardinality::Singular
    }

    /// The name of `ignore`, if it is set.
    pub(super) fn ignore(&self) -> Option<(&'t Entry, &'t str)> {
        let entry = self.get("ignore")?;
        Some((entry, self.rules.get_enum_name(self.field.tree, "ignore")?))
    }

    pub(super) fn is_true(&self, name: &str) -> bool {
        self.rules.get_bool(self.field.tree, name) == Some(true)
    }

    /// The subject as a person names it.
    pub(super) fn noun(&self) -> String {
        let name = self.field.relative_name();
        match self.part {
            Some("items") => format!("each item of field `{name}`"),
            Some("keys") => format!("each key of field `{name}`"),
            Some(_) => format!("each value of field `{name}`"),
            None => format!("field `{name}`"),
        }
    }

    pub(super) fn place(&self, entry: &Entry) -> Place {
        annotations::find_place(Element::Field(self.field), entry)
    }

    /// A defect at an entry of the rules; buf knows only protovalidate.
    pub(super) fn build_defect(&self, entry: &Entry, message: String) -> ConstraintDefect {
        let known_to_buf = self.dialect == Dialect::Buf;
        ConstraintDefect { place: self.place(entry), message, why: None, known_to_buf }
    }
}

/// The annotation of protovalidate at a message.
pub(super) struct MessageAnnotation<'t> {
    pub(super) message: Message<'t>,
    pub(super) rules: &'t value::Message,
}

impl<'t> MessageAnnotation<'t> {
    pub(super) fn of(message: Message<'t>) -> Option<MessageAnnotation<'t>> {
        let entry = message.options()?.find_extension(message.tree, "buf.validate.message")?;
        Some(MessageAnnotation { message, rules: entry.value.as_message()? })
    }

    /// The messages in a repeated field of the annotation.
    pub(super) fn all(&self, name: &str) -> Vec<(&'t Entry, &'t value::Message)> {
        let tree = self.message.tree;
        let entries = self.rules.entries.iter().filter(|it| tree.field(it.field).name() == name);
        entries.filter_map(|entry| Some((entry, entry.value.as_message()?))).collect()
    }

    pub(super) fn build_defect(&self, entry: &Entry, message: String) -> ConstraintDefect {
        let place = annotations::find_place(Element::Message(self.message), entry);
        ConstraintDefect { place, message, why: None, known_to_buf: true }
    }

    /// A defect at one of several values behind a key.
    pub(super) fn defect_of_item(&self, entry: &Entry, message: String) -> ConstraintDefect {
        let mut defect = self.build_defect(entry, message);
        if !entry.span.is_empty() {
            defect.place.span = entry.span;
        }
        defect
    }

    pub(super) fn noun(&self) -> String {
        format!("message `{}`", self.message.relative_name())
    }
}

/// The seconds and nanoseconds of a duration or timestamp.
pub(super) fn read_seconds_and_nanos(tree: &Tree, value: &Value) -> Option<(i64, i64)> {
    let message = value.as_message()?;
    let seconds = message.get_i64(tree, "seconds").unwrap_or_default();
    Some((seconds, message.get_i64(tree, "nanos").unwrap_or_default()))
}

impl ConstraintDefect {
    pub(super) fn because(mut self, why: impl Into<String>) -> ConstraintDefect {
        self.why = Some(why.into());
        self
    }
}

/// The place of the name of an element, for what has no entry of its own.
pub(super) fn name_place(field: Field<'_>) -> Place {
    field.place(Part::Name)
}
