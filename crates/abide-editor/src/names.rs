//! Every name that is written in a file, and what it means.

use abide_schema::value::{Message as OptionsMessage, Value};
use abide_schema::{Element, Field, File, Node, Part, Type, TypeDecl};
use abide_syntax::Span;

/// What a name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning<'t> {
    /// An element: a type, a field, a value …
    Element(Element<'t>),
    /// The file that an import names.
    File(File<'t>),
}

/// A name in a file.
#[derive(Clone, Copy, Debug)]
pub struct Name<'t> {
    /// Where it stands, all components of a dotted name included.
    pub span: Span,
    /// What it means.
    pub means: Meaning<'t>,
    /// Whether this is where it is declared.
    pub declares: bool,
}

/// Every name in a file, in the order of places.
pub(crate) fn names(file: File<'_>) -> Vec<Name<'_>> {
    let mut found = Names { file, names: Vec::new() };
    for import in file.imports() {
        if let Some(target) = import.file {
            found.add(file.place_of(import.decl.node, Part::Name).span, Meaning::File(target));
        }
    }
    found.options(file.options());
    for element in file.elements() {
        found.element(element);
    }
    let mut names = found.names;
    names.sort_by_key(|it| (it.span.start, it.span.end, !it.declares));
    // An `extend` block names its type once, for all of its fields.
    names.dedup_by(|a, b| a.span == b.span && a.means == b.means);
    names
}

/// The name at an offset, which may be right behind it.
pub(crate) fn name_at(file: File<'_>, offset: u32) -> Option<Name<'_>> {
    let covers = |it: &Name<'_>| it.span.start <= offset && offset <= it.span.end;
    let mut covering: Vec<Name<'_>> = names(file).into_iter().filter(covers).collect();
    // The innermost; of two that touch, the one that begins here.
    covering.sort_by_key(|it| (it.span.end == offset, it.span.end - it.span.start));
    covering.first().copied()
}

/// The last component of a dotted name: what changes when the element is renamed.
pub(crate) fn last_component(text: &[u8], span: Span) -> Span {
    let bytes = span.of(text);
    let is_word = |it: &u8| it.is_ascii_alphanumeric() || *it == b'_';
    let end = bytes.iter().rposition(is_word).map_or(0, |at| at + 1);
    let start = bytes.get(..end).unwrap_or_default().iter().rposition(|it| !is_word(it));
    let start = start.map_or(0, |at| at + 1);
    Span::new(span.start + start as u32, span.start + end as u32)
}

struct Names<'t> {
    file: File<'t>,
    names: Vec<Name<'t>>,
}

impl<'t> Names<'t> {
    fn add(&mut self, span: Span, means: Meaning<'t>) {
        if !span.is_empty() {
            self.names.push(Name { span, means, declares: false });
        }
    }

    fn element(&mut self, element: Element<'t>) {
        if element.node() == Node::NONE {
            return;
        }
        let span = element.place(Part::Name).span;
        // The name of a group is that of its type.
        let is_group =
            matches!(element, Element::Field(it) if matches!(it.decl().ty, TypeDecl::Group(_)));
        if !span.is_empty() && !is_group {
            self.names.push(Name { span, means: Meaning::Element(element), declares: true });
        }
        match element {
            Element::Field(field) => self.types_of(field),
            Element::Method(method) => {
                for (part, ty) in [(Part::Input, method.input()), (Part::Output, method.output())] {
                    if let Some(ty) = ty {
                        self.add(method.place(part).span, Meaning::Element(Element::Message(ty)));
                    }
                }
            }
            Element::Message(message) => {
                for options in message.extension_range_options() {
                    self.options(options);
                }
            }
            Element::Oneof(_) | Element::Enum(_) | Element::EnumValue(_) | Element::Service(_) => {}
        }
        self.options(element.options());
    }

    fn types_of(&mut self, field: Field<'t>) {
        let tree = field.tree;
        let value = match field.decl().ty {
            TypeDecl::Map(_) => field.message_type().and_then(|it| it.fields().nth(1)),
            _ => Some(field),
        };
        let means = match value.map(Field::ty) {
            Some(Type::Message(id)) => Some(Element::Message(tree.message(id))),
            Some(Type::Enum(id)) => Some(Element::Enum(tree.enumeration(id))),
            _ => None,
        };
        let is_named = |it: Field<'_>| matches!(it.decl().ty, TypeDecl::Named(_));
        if let Some(means) = means.filter(|_| value.is_some_and(is_named)) {
            self.add(field.place(Part::Type).span, Meaning::Element(means));
        }
        if let Some(extendee) = field.extendee() {
            let means = Meaning::Element(Element::Message(extendee));
            self.add(field.place(Part::Extendee).span, means);
        }
    }

    fn options(&mut self, options: Option<&'t OptionsMessage>) {
        let tree = self.file.tree;
        let mut open: Vec<&'t OptionsMessage> = options.into_iter().collect();
        while let Some(message) = open.pop() {
            open.extend(message.content.as_deref());
            for entry in &message.entries {
                let field = tree.field(entry.field);
                self.add(entry.key, Meaning::Element(Element::Field(field)));
                match &entry.value {
                    Value::Message(inner) => open.push(inner),
                    Value::Enum(number) => {
                        let mut values = field.enum_type().into_iter().flat_map(|it| it.values());
                        if let Some(value) = values.find(|it| {
                            it.number() == *number
                                && it.name().as_bytes() == entry.span.of(self.text())
                        }) {
                            self.add(entry.span, Meaning::Element(Element::EnumValue(value)));
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    fn text(&self) -> &'t [u8] {
        self.file.decl().source_text().unwrap_or_default()
    }
}
