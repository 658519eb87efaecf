//! What a model of a generator says, and what several of them ask of elements.

use abide_schema::{Edition, Element, Field, File, Message, Openness, TypeDecl};
use abide_syntax::ImportKind;

use super::emitter::{Emitter, Unit};
use crate::languages::LanguageTable;

/// The model of what one language's generators emit.
pub(super) trait Generator: Sync {
    /// Returns what is data about the language.
    fn table(&self) -> &'static LanguageTable;

    /// The unit of a file's top level, unless an element sets another one.
    fn file_unit(&self, file: File<'_>) -> Unit;

    /// The unit of an element's names.
    fn unit(&self, element: Element<'_>) -> Unit {
        self.file_unit(element.file())
    }

    /// The name of a message in its unit, with the messages that enclose it.
    fn type_path(&self, message: Message<'_>) -> String {
        nested(message.parent(), message.name())
    }

    /// Returns true if a file in the place of the old unit that imports the new one
    /// publicly passes its names on: C++ includes it, Go emits aliases, Python
    /// imports `*`; Java knows no such thing.
    fn passes_on(&self, old: &Unit, new: &Unit) -> bool;

    /// Returns true if users import packages, to which any file may belong, not files.
    fn imports_packages(&self) -> bool {
        false
    }

    /// Returns true if code that uses an element is compiled against the name of its type.
    fn is_typed(&self) -> bool {
        true
    }

    /// Returns true if flags of the command line name what users import, which may be
    /// the same before and after.
    fn is_unnamed(&self, _: File<'_>) -> bool {
        false
    }

    /// Emits the symbols of a file as a whole.
    fn emit_file(&self, emit: &mut Emitter<'_>, file: File<'_>);

    /// Emits the symbols of an element itself, not of its children.
    fn emit_element(&self, emit: &mut Emitter<'_>, element: Element<'_>, flags: FileFlags);
}

/// What the options of a file decide for every element in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileFlags {
    /// True if services have the classes of protoc itself.
    pub(super) generic_services: bool,
    /// True if messages and enums have descriptors and reflection.
    pub(super) reflection: bool,
}

impl FileFlags {
    pub(super) fn of(generator: &dyn Generator, file: File<'_>) -> FileFlags {
        let option = |name: &str| {
            file.options().and_then(|options| options.get_bool(file.tree, name)).unwrap_or(false)
        };
        FileFlags {
            generic_services: generator.table().generic_services.is_some_and(option),
            reflection: !is_lite(file),
        }
    }
}

/// Returns true if C++ leaves descriptors and reflection out.
pub(super) fn is_lite(file: File<'_>) -> bool {
    let optimized =
        file.options().and_then(|options| options.get_enum_name(file.tree, "optimize_for"));
    optimized == Some("LITE_RUNTIME")
}

/// The message in whose scope the names of an element are.
pub(super) fn enclosing(element: Element<'_>) -> Option<Message<'_>> {
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
pub(super) fn public_imports(file: File<'_>) -> Vec<File<'_>> {
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
pub(super) fn nested(parent: Option<Message<'_>>, name: &str) -> String {
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
pub(super) fn language_feature<'t>(
    element: Element<'t>,
    extension: &str,
    name: &str,
) -> Option<&'t str> {
    let tree = element.file().tree;
    let of = |options: Option<&'t abide_schema::value::Message>| {
        let features = options?.get_message(tree, "features")?;
        let language = features.find_extension(tree, extension)?.value.as_message()?;
        match language.get_bool(tree, name) {
            Some(set) => Some(if set { "true" } else { "false" }),
            None => language.get_enum_name(tree, name),
        }
    };
    let mut scope = Some(element);
    while let Some(element) = scope {
        if let Some(found) = of(element.options()) {
            return Some(found);
        }
        scope = element.parent();
    }
    of(element.file().options())
}

/// Returns true if the runtimes keep numbers of an enum field that the enum does not
/// declare. The feature `legacy_closed_enum` of a language, which proto2 sets,
/// closes the enum.
pub(super) fn is_open(field: Field<'_>, extension: &str) -> bool {
    let open = field.enum_type().is_some_and(|it| it.features().openness == Openness::Open);
    let legacy = match language_feature(Element::Field(field), extension, "legacy_closed_enum") {
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

/// `foo_bar` in camel case: letters after underscores and digits become upper case,
/// the first letter too on request, and underscores are removed. Source:
/// `UnderscoresToCamelCase` of the C++ and Java generators.
pub(super) fn camel(name: &str, raise_first: bool) -> String {
    let mut camel = String::with_capacity(name.len());
    let mut raise = raise_first;
    for (index, character) in name.chars().enumerate() {
        match character {
            'a'..='z' => {
                camel.push(if raise { character.to_ascii_uppercase() } else { character });
                raise = false;
            }
            'A'..='Z' => {
                let lower = index == 0 && !raise;
                camel.push(if lower { character.to_ascii_lowercase() } else { character });
                raise = false;
            }
            '0'..='9' => {
                camel.push(character);
                raise = true;
            }
            _ => raise = true,
        }
    }
    camel
}
