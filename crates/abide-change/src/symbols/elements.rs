//! Facts about elements that several models of generators need.

pub(super) use abide_schema::to_camel_case as camel;
use abide_schema::{Edition, Element, Field, File, Message, Openness, Tree, TypeDecl, value};
use abide_syntax::ImportKind;

/// Returns true if C++ leaves descriptors and reflection out.
pub(super) fn is_lite(file: File<'_>) -> bool {
    let optimized =
        file.options().and_then(|options| options.get_enum_name(file.tree, "optimize_for"));
    optimized == Some("LITE_RUNTIME")
}

/// The message in whose scope the names of an element are.
pub(super) fn find_enclosing_message(element: Element<'_>) -> Option<Message<'_>> {
    match element {
        Element::Message(it) => it.parent(),
        Element::Field(it) => it.parent(),
        Element::Oneof(it) => Some(it.message()),
        Element::Enum(it) => it.parent(),
        Element::EnumValue(it) => it.parent().parent(),
        Element::Service(_) | Element::Method(_) => None,
    }
}

/// The files that a file passes on to its importers, without itself, in the order
/// of the imports.
pub(super) fn list_public_imports(file: File<'_>) -> Vec<File<'_>> {
    let mut found = Vec::new();
    let mut open = vec![file];
    while let Some(file) = open.pop() {
        for import in file.imports().filter(|import| import.decl.kind == ImportKind::Public) {
            if let Some(imported) = import.file
                && !found.contains(&imported)
            {
                found.push(imported);
                open.push(imported);
            }
        }
    }
    found
}

/// The path of a file without the extension that generators replace.
pub(super) fn stem(path: &str) -> &str {
    path.strip_suffix(".protodevel").or(path.strip_suffix(".proto")).unwrap_or(path)
}

/// `Outer.Inner`, for languages with nested classes.
pub(super) fn join_nested_name(parent: Option<Message<'_>>, name: &str) -> String {
    let mut names = vec![name];
    let mut scope = parent;
    while let Some(message) = scope {
        names.push(message.name());
        scope = message.parent();
    }
    names.reverse();
    names.join(".")
}

/// The value of a language feature, such as one of `features.(pb.cpp)`, that an
/// element or an enclosing one sets: the name of an enum value, `true` or `false`.
pub(super) fn find_language_feature<'t>(
    element: Element<'t>,
    extension: &str,
    name: &str,
) -> Option<&'t str> {
    let tree = element.file().tree;
    let mut scope = Some(element);
    while let Some(element) = scope {
        if let Some(found) = read_feature(tree, element.options(), (extension, name)) {
            return Some(found);
        }
        scope = element.parent();
    }
    read_feature(tree, element.file().options(), (extension, name))
}

/// The value that options set for a feature of an extension of `FeatureSet`.
fn read_feature<'t>(
    tree: &'t Tree,
    options: Option<&'t value::Message>,
    (extension, name): (&str, &str),
) -> Option<&'t str> {
    let features = options?.get_message(tree, "features")?;
    let language = features.find_extension(tree, extension)?.value.as_message()?;
    match language.get_bool(tree, name) {
        Some(set) => Some(if set { "true" } else { "false" }),
        None => language.get_enum_name(tree, name),
    }
}

/// Returns true if the runtimes keep numbers of an enum field that the enum does not
/// declare. The feature `legacy_closed_enum` of a language, which proto2 sets,
/// closes the enum.
pub(super) fn is_open(field: Field<'_>, extension: &str) -> bool {
    let open = field.enum_type().is_some_and(|it| it.features().openness == Openness::Open);
    let legacy = match find_language_feature(Element::Field(field), extension, "legacy_closed_enum")
    {
        Some(set) => set == "true",
        None => field.file().decl().edition == Edition::Proto2,
    };
    open && !legacy
}

/// Returns true if a field looks like a group of proto2: delimited, with the name of its
/// type in lower case, and declared beside it. Source: `IsGroupLike` of protobuf's
/// descriptor.cc.
pub(super) fn is_group_like(field: Field<'_>) -> bool {
    let Some(ty) = field.message_type() else { return false };
    is_delimited(field)
        && field.name() == ty.name().to_ascii_lowercase()
        && ty.file() == field.file()
        && ty.parent() == field.parent()
}

/// Returns true if it is a group on the wire.
pub(super) fn is_delimited(field: Field<'_>) -> bool {
    matches!(field.decl().ty, TypeDecl::Group(_) | TypeDecl::GroupNamed(_))
        || field.features().delimited
}

/// The place of a field among the fields of its message.
pub(super) fn find_place(field: Field<'_>, message: Message<'_>) -> usize {
    let first = message.fields().next().map_or(0, |it| it.id.index);
    field.id.index.wrapping_sub(first) as usize
}
