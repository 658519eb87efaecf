//! Which types the elements of packages refer to.

use abide_schema::{Element, Field, File, Method, Package, Tree, Type};

/// The message or enum that a type is.
pub(crate) fn element(tree: &Tree, ty: Type) -> Option<Element<'_>> {
    match ty {
        Type::Message(id) => Some(Element::Message(tree.message(id))),
        Type::Enum(id) => Some(Element::Enum(tree.enumeration(id))),
        Type::Scalar(_) | Type::Unresolved => None,
    }
}

/// Returns true if a type is declared in a tree.
pub(crate) fn is_declared(ty: Type) -> bool {
    matches!(ty, Type::Message(_) | Type::Enum(_))
}

/// The types of a package and those that its services and extensions refer to, each with the name
/// of the element, sorted by name.
pub(crate) fn from_elements(package: Package<'_>) -> Vec<(String, Type)> {
    let mut found = Vec::new();
    for file in package.files() {
        let messages = file.all_messages().filter(|it| !it.is_map_entry());
        found.extend(messages.map(|it| (it.full_name(), Type::Message(it.id))));
        found.extend(file.all_enums().map(|it| (it.full_name(), Type::Enum(it.id))));
        found.extend(of_file(file).map(|(from, to)| (from.full_name(), to)));
    }
    let tree = package.files().next().map(|it| it.tree);
    found.sort_by_cached_key(|(from, to)| {
        (from.clone(), tree.and_then(|tree| element(tree, *to)).map(|it| it.full_name()))
    });
    found
}

/// The extensions at the top of a file and its services, with each type that they refer to.
pub(crate) fn of_file<'t>(file: File<'t>) -> impl Iterator<Item = (Element<'t>, Type)> {
    let extensions = file.extensions().flat_map(|it| {
        let types = of_extension(it).filter(|ty| is_declared(*ty));
        types.map(move |ty| (Element::Field(it), ty))
    });
    let services = file.services().flat_map(|service| {
        let both = |it: Method<'t>| [it.input(), it.output()].map(|it| it.map(|it| it.id));
        let types = service.methods().flat_map(both).flatten();
        types.map(move |ty| (Element::Service(service), Type::Message(ty)))
    });
    extensions.chain(services)
}

/// The type of a field; of a map that of its values.
pub(crate) fn of_field(field: Field<'_>) -> Type {
    let value = field.message_type().filter(|_| field.is_map());
    value.and_then(|entry| entry.field_numbered(2)).map_or(field.ty(), |value| value.ty())
}

/// The types that an extension refers to.
pub(crate) fn of_extension(extension: Field<'_>) -> impl Iterator<Item = Type> {
    let extendee = extension.extendee().map(|it| Type::Message(it.id));
    extendee.into_iter().chain([extension.ty()])
}
