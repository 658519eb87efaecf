//! The one walk over an instance: everything in it that the API has an opinion on.

use abide_schema::value::{Entry, Message, Value};
use abide_schema::{Cardinality, EnumValue, Field, Tree, Type};
use abide_syntax::Span;

/// Something that an instance holds.
#[derive(Clone, Copy, Debug)]
pub struct WalkItem<'t, 'm> {
    /// The value.
    pub met: Item<'t, 'm>,
    /// The span; an implicit value has that of its message.
    pub span: Span,
    /// True if it is inside of a `google.protobuf.Any`.
    pub in_any: bool,
}

/// A value that a walk visits.
#[derive(Clone, Copy, Debug)]
pub enum Item<'t, 'm> {
    /// A message, before what it holds.
    Message(&'m Message),
    /// A message whose type the instance itself names, before it is met as a message.
    Named(NamedType<'m>),
    /// A field that is set, in its message: once, also where it is repeated.
    Field(Field<'t>, &'m Message),
    /// A value of an enum that is written.
    EnumValue(Field<'t>, EnumValue<'t>),
    /// The value that an enum field has because nothing is written.
    ImplicitEnumValue(Field<'t>, EnumValue<'t>),
}

/// Walks over a value and all that it holds, in the order of its text: shallow
/// before deep. The places of what is implicit are `span` or that of the message
/// around it.
pub fn walk<'t, 'm>(
    tree: &'t Tree,
    message: &'m Message,
    span: Span,
    visit: &mut dyn FnMut(WalkItem<'t, 'm>),
) {
    let mut walk = InstanceWalk { tree, visit };
    walk.visit(Item::Named(NamedType { message, place: span, span }), span, false);
    walk.visit_message(message, span, false);
}

struct InstanceWalk<'t, 'v, 'm> {
    tree: &'t Tree,
    visit: &'v mut dyn FnMut(WalkItem<'t, 'm>),
}

impl<'t, 'm> InstanceWalk<'t, '_, 'm> {
    fn visit(&mut self, met: Item<'t, 'm>, span: Span, in_any: bool) {
        (self.visit)(WalkItem { met, span, in_any });
    }

    fn visit_message(&mut self, message: &'m Message, span: Span, in_any: bool) {
        self.visit(Item::Message(message), span, in_any);
        if let Some(content) = &message.content {
            let url = message.find_by_number(self.tree, 1).map(|entry| entry.span);
            let place = url.filter(|it| !it.is_empty()).unwrap_or(span);
            self.visit(Item::Named(NamedType { message: content, place, span }), span, true);
            self.visit_message(content, span, true);
            return;
        }
        let view = self.tree.message(message.ty);
        let mut before: Option<&Entry> = None;
        for entry in &message.entries {
            let field = self.tree.field(entry.field);
            let is_next = before.is_some_and(|it| it.field == entry.field);
            if !is_next {
                self.visit(Item::Field(field, message), entry.key, in_any);
            }
            before = Some(entry);
            self.visit_value(field, &entry.value, entry.span, in_any);
        }
        let set = |field: Field<'_>| message.entries.iter().any(|it| it.field == field.id);
        for field in view.fields() {
            if let Type::Enum(item) = field.ty()
                && field.cardinality() == Cardinality::Singular
                && field.oneof().is_none()
                && !set(field)
                && let Some(value) = find_implicit(self.tree, field, item)
            {
                self.visit(Item::ImplicitEnumValue(field, value), span, in_any);
            }
        }
    }

    fn visit_value(&mut self, field: Field<'t>, value: &'m Value, span: Span, in_any: bool) {
        match value {
            Value::Message(message) => self.visit_message(message, span, in_any),
            Value::Enum(number) => {
                let Some(item) = field.enum_type() else { return };
                if let Some(value) = item.value_numbered(*number) {
                    self.visit(Item::EnumValue(field, value), span, in_any);
                }
            }
            _ => {}
        }
    }
}

/// The value of an enum field that is not set.
fn find_implicit<'t>(
    tree: &'t Tree,
    field: Field<'t>,
    item: abide_schema::EnumId,
) -> Option<EnumValue<'t>> {
    match abide_schema::value::default_of(field)? {
        Value::Enum(number) => tree.enumeration(item).value_numbered(number),
        _ => None,
    }
}

/// A message whose type the instance itself names: the document, and what an Any holds.
#[derive(Clone, Copy, Debug)]
pub struct NamedType<'m> {
    /// The message.
    pub message: &'m Message,
    /// The span of the name of its type, or else its own.
    pub place: Span,
    /// The span.
    pub span: Span,
}

/// The messages of a document whose types the instance names, the outer ones first.
pub fn find_named_types<'m>(tree: &Tree, message: &'m Message, span: Span) -> Vec<NamedType<'m>> {
    let mut found = Vec::new();
    walk(tree, message, span, &mut |visit| {
        if let Item::Named(named) = visit.met {
            found.push(named);
        }
    });
    found
}
