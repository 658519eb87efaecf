//! The evidence that a file depends on another.

use abide_syntax::Span;

use super::level::DependencyLevel;
use crate::decl::{MessageKind, Parent, Part};
use crate::dynamic::{self as value, Value};
use crate::ids::{EnumId, EnumValueId, FieldId, MessageId, MethodId, OneofId, ServiceId};
use crate::problem::Place;
use crate::tree::{
    Element, Enum, EnumValue, Field, File, Import, Message, Method, Oneof, Service, Tree, Type,
};

/// One piece of evidence that a file depends on another.
#[derive(Clone, Copy, Debug)]
pub enum DependencyEvidence<'t> {
    /// An `import` statement.
    Import {
        /// The file that imports.
        file: File<'t>,
        /// The statement.
        import: Import<'t>,
        /// The file that is imported.
        target: File<'t>,
    },
    /// The name of a type.
    Type {
        /// The field, extension or method that uses it.
        user: Element<'t>,
        /// The part of the user that holds the name.
        part: Part,
        /// The message or enum.
        target: Element<'t>,
    },
    /// A custom option that is set.
    Option {
        /// The file that sets it.
        file: File<'t>,
        /// The element it is set on; `None` for the file itself.
        owner: Option<Element<'t>>,
        /// The place of its key.
        key: Span,
        /// The extension that declares it.
        target: Field<'t>,
    },
}

impl<'t> DependencyEvidence<'t> {
    /// Its level.
    pub fn level(&self) -> DependencyLevel {
        match self {
            DependencyEvidence::Import { .. } => DependencyLevel::Import,
            DependencyEvidence::Type { .. } => DependencyLevel::Type,
            DependencyEvidence::Option { .. } => DependencyLevel::Option,
        }
    }

    /// The file that depends.
    pub fn file(&self) -> File<'t> {
        match self {
            DependencyEvidence::Import { file, .. } | DependencyEvidence::Option { file, .. } => {
                *file
            }
            DependencyEvidence::Type { user, .. } => user.file(),
        }
    }

    /// The file that it depends on.
    pub fn target_file(&self) -> File<'t> {
        match self {
            DependencyEvidence::Import { target, .. } => *target,
            DependencyEvidence::Type { target, .. } => target.file(),
            DependencyEvidence::Option { target, .. } => target.file(),
        }
    }

    /// Returns its place: the path of the import, the name of the type, the key
    /// of the option.
    pub fn place(&self) -> Place {
        match self {
            DependencyEvidence::Import { file, import, .. } => {
                file.place_of(import.decl.node, Part::Name)
            }
            DependencyEvidence::Type { user, part, .. } => user.place(*part),
            DependencyEvidence::Option { file, owner, key, .. } if key.is_empty() => match owner {
                Some(element) => element.place(Part::Name),
                None => file.package_place(),
            },
            DependencyEvidence::Option { file, key, .. } => Place { file: file.id, span: *key },
        }
    }

    /// The full name of the element that depends, or the path of the file.
    pub fn user(&self) -> String {
        match self {
            DependencyEvidence::Type { user, .. } => user.full_name(),
            DependencyEvidence::Option { owner: Some(owner), .. } => owner.full_name(),
            DependencyEvidence::Import { file, .. } | DependencyEvidence::Option { file, .. } => {
                file.full_name()
            }
        }
    }

    /// The full name of what it depends on, or the path of the imported file.
    pub fn target(&self) -> String {
        match self {
            DependencyEvidence::Import { target, .. } => target.full_name(),
            DependencyEvidence::Type { target, .. } => target.full_name(),
            DependencyEvidence::Option { target, .. } => target.full_name(),
        }
    }
}

/// Shows every dependency of a file on another, in the order of declaration
/// within each level.
pub(super) fn visit_uses<'t>(file: File<'t>, visit: &mut impl FnMut(DependencyEvidence<'t>)) {
    let mut visit = |used: DependencyEvidence<'t>| {
        if used.target_file().id != file.id {
            visit(used);
        }
    };
    for import in file.imports() {
        if let Some(target) = import.file {
            visit(DependencyEvidence::Import { file, import, target });
        }
    }
    visit_types(file, &mut visit);
    visit_options(file, &mut visit);
}

fn visit_types<'t>(file: File<'t>, visit: &mut impl FnMut(DependencyEvidence<'t>)) {
    let (tree, id) = (file.tree, file.id);
    let linked = tree.linked(id);
    for ((decl, link), index) in linked.decl.fields.iter().zip(&linked.fields).zip(0..) {
        let user = Element::Field(tree.field(FieldId { file: id, index }));
        if let Some(extendee) = link.extendee {
            let target = Element::Message(tree.message(extendee));
            visit(DependencyEvidence::Type { user, part: Part::Extendee, target });
        }
        let is_entry =
            |message: u32| linked.decl.messages[message as usize].kind == MessageKind::MapEntry;
        let ty = match link.ty {
            Type::Scalar(_) | Type::Unresolved => continue,
            // A map stands for its entry: its type is that of the values.
            Type::Message(entry) if entry.file == id && is_entry(entry.index) => {
                tree.message(entry).field_numbered(2).map_or(Type::Unresolved, Field::ty)
            }
            _ if matches!(decl.parent, Parent::Message(message) if is_entry(message)) => continue,
            ty => ty,
        };
        let target = match ty {
            Type::Message(id) => Element::Message(tree.message(id)),
            Type::Enum(id) => Element::Enum(tree.enumeration(id)),
            Type::Scalar(_) | Type::Unresolved => continue,
        };
        visit(DependencyEvidence::Type { user, part: Part::Type, target });
    }
    for method in file.services().flat_map(Service::methods) {
        let user = Element::Method(method);
        for (message, part) in [(method.input(), Part::Input), (method.output(), Part::Output)] {
            if let Some(message) = message {
                visit(DependencyEvidence::Type { user, part, target: Element::Message(message) });
            }
        }
    }
}

fn visit_options<'t>(file: File<'t>, visit: &mut impl FnMut(DependencyEvidence<'t>)) {
    let (tree, id) = (file.tree, file.id);
    let linked = tree.linked(id);
    let mut look = |owner: Option<Element<'t>>, options: &'t Option<Box<value::Message>>| {
        if let Some(options) = options {
            visit_extensions(tree, options, &mut |entry, target| {
                visit(DependencyEvidence::Option { file, owner, key: entry.key, target });
            });
        }
    };
    look(None, &linked.options);
    for (link, index) in linked.messages.iter().zip(0..) {
        let message = Message { tree, id: MessageId { file: id, index } };
        look(Some(Element::Message(message)), &link.options);
        for range in linked.ranges.get(message.decl().extension_ranges.range()).unwrap_or_default()
        {
            look(Some(Element::Message(message)), range);
        }
    }
    for (field, link) in file.all_fields().zip(&linked.fields) {
        look(Some(Element::Field(field)), &link.options);
    }
    for (options, index) in linked.oneofs.iter().zip(0..) {
        look(Some(Element::Oneof(Oneof { tree, id: OneofId { file: id, index } })), options);
    }
    for (link, index) in linked.enums.iter().zip(0..) {
        let owner = Element::Enum(Enum { tree, id: EnumId { file: id, index } });
        look(Some(owner), &link.options);
    }
    for (options, index) in linked.values.iter().zip(0..) {
        let owner = Element::EnumValue(EnumValue { tree, id: EnumValueId { file: id, index } });
        look(Some(owner), options);
    }
    for (options, index) in linked.services.iter().zip(0..) {
        let owner = Element::Service(Service { tree, id: ServiceId { file: id, index } });
        look(Some(owner), options);
    }
    for (link, index) in linked.methods.iter().zip(0..) {
        let owner = Element::Method(Method { tree, id: MethodId { file: id, index } });
        look(Some(owner), &link.options);
    }
}

/// The entries of a value that set an extension, those inside others included.
/// The depth of a value is bounded by the nesting that its reader allows.
fn visit_extensions<'t>(
    tree: &'t Tree,
    message: &value::Message,
    visit: &mut impl FnMut(&value::Entry, Field<'t>),
) {
    for entry in &message.entries {
        let field = tree.field(entry.field);
        if field.is_extension() {
            visit(entry, field);
        }
        if let Value::Message(inner) = &entry.value {
            visit_extensions(tree, inner, visit);
        }
    }
}
