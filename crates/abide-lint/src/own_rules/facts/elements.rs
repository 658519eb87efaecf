//! The facts of each kind of element: name, type, sentence and value in one place.

use std::collections::BTreeSet;

use abide_schema::{
    Cardinality, Element, Enum, EnumValue, Field, File, Message, MessageKind, Method, Oneof,
    Openness, Package, PackageVersion, Presence, RangeDecl, ReservedNameDecl, Service, Stability,
    Type, format_api_name,
};
use abide_syntax::ImportKind;
use abide_validate::cel::CelType as T;
use abide_validate::cel::{CelValue, HostMember, HostType};

use super::comments::{detached, leading, trailing};
use super::options::{is_deprecated, options_type, read_options};
use super::usage::{FactTree, find_value_field};
use super::value::FactSubject;

/// Declares a type of elements with its facts, and the function that reads them.
macro_rules! facts {
    ($type:ident $noun:literal, $read:ident($it:ident: $view:ident, $tree:ident) {
        $($name:literal: $ty:expr, $summary:literal => $value:expr;)*
    }) => {
        pub(crate) static $type: HostType = HostType {
            name: $noun,
            members: &[$(HostMember { name: $name, ty: || $ty, summary: $summary },)*],
        };

        pub(super) fn $read<'t>(
            $it: $view<'t>,
            $tree: &'t FactTree<'t>,
            name: &str,
        ) -> Option<CelValue<'t>> {
            Some(match name {
                $($name => $value,)*
                _ => return None,
            })
        }
    };
}

/// Declares the same, with the facts that all elements inside of files have.
macro_rules! element_facts {
    ($type:ident $noun:literal, $read:ident($it:ident: $view:ident, $tree:ident) {
        $($name:literal: $ty:expr, $summary:literal => $value:expr;)*
    }) => {
        facts! { $type $noun, $read($it: $view, $tree) {
            $($name: $ty, $summary => $value;)*
            "file": T::Host(&FILE), "Its file." =>
                FactSubject::File($it.file()).into_value($tree);
            "package": T::Host(&PACKAGE), "Its package." =>
                FactSubject::Package($it.package()).into_value($tree);
            "options": options_type(), "Its options." =>
                read_options($tree.tree, $it.options());
            "comment": T::String, "The comment above it." =>
                leading($it.file(), $it.decl().node);
            "trailing_comment": T::String, "The comment behind it." =>
                trailing($it.file(), $it.decl().node);
            "detached_comments": T::list(T::String),
                "The comments above it that a blank line sets apart." =>
                detached($it.file(), $it.decl().node);
        } }
    };
}

facts! { FILE "file", read_file(it: File, tree) {
    "name": T::String, "The last part of its path, such as `user.proto`." =>
        text(it.path().rsplit_once('/').map_or(it.path(), |(_, name)| name));
    "path": T::String, "The path that imports use." => text(it.path());
    "folder": T::String, "The folder of its path; empty at the root." => text(it.folder());
    "package": T::Host(&PACKAGE), "Its package." => FactSubject::Package(it.package()).into_value(tree);
    "syntax": T::String, "`proto2`, `proto3` or `editions`." => text(syntax(it));
    "edition": T::String, "The edition, such as `2023`; `proto2` or `proto3` before editions." =>
        text(it.decl().edition.word());
    "imports": T::list(T::String), "The paths that it imports, in their order." => paths(it, |_| true);
    "public_imports": T::list(T::String), "Those that it imports publicly." =>
        paths(it, |kind| kind == ImportKind::Public);
    "weak_imports": T::list(T::String), "Those that it imports weakly." =>
        paths(it, |kind| kind == ImportKind::Weak);
    "unused_imports": T::list(T::String), "Those that nothing in it needs." =>
        CelValue::List(it.imports().filter(|it| !it.used && it.file.is_some()).map(|it| text(&it.decl.path)).collect());
    "imported_by": T::list(T::String), "The paths of the files that import it." =>
        CelValue::List(tree.users().importers(it.id).iter().map(|id| text(tree.tree.file(*id).path())).collect());
    "messages": T::list(T::Host(&MESSAGE)), "Its messages of the top level." =>
        messages(it.messages(), tree);
    "all_messages": T::list(T::Host(&MESSAGE)), "Its messages, nested ones too." =>
        messages(it.all_messages(), tree);
    "enums": T::list(T::Host(&ENUM)), "Its enums of the top level." => enums(it.enums(), tree);
    "all_enums": T::list(T::Host(&ENUM)), "Its enums, nested ones too." => enums(it.all_enums(), tree);
    "extensions": T::list(T::Host(&FIELD)), "Its extensions of the top level." =>
        fields(it.extensions(), tree);
    "services": T::list(T::Host(&SERVICE)), "Its services." =>
        CelValue::List(it.services().map(|it| FactSubject::Service(it).into_value(tree)).collect());
    "options": options_type(), "Its options." => read_options(tree.tree, it.options());
    "deprecated": T::Bool, "True if it is deprecated." => deprecated(tree, it.options());
    "comment": T::String, "The comment above `syntax` or `edition`." => file_comment(it);
    "package_comment": T::String, "The comment above `package`." =>
        it.decl().package.map_or(text(""), |package| leading(it, package.node));
    "detached_comments": T::list(T::String), "The comments above `syntax` that a blank line sets apart, such as a licence." =>
        it.decl().syntax.map_or(CelValue::List([].into()), |syntax| detached(it, syntax.node));
} }

facts! { PACKAGE "package", read_package(it: Package, tree) {
    "name": T::String, "Its name; empty for files without a package." => text(it.name());
    "version": T::String, "Its version as it is written, such as `v1beta1`; empty without one." =>
        text(it.version().map_or("", |it| &it.text));
    "major": T::Int, "Its major version; 0 without one." =>
        CelValue::Int(it.version().map_or(0, |it| it.major.into()));
    "stability": T::String, "`stable`, `beta`, `alpha`, or empty without a version." =>
        text(it.version().map_or("", stability));
    "api": T::String, "Its name without the version." =>
        CelValue::text(format_api_name(it.name()).unwrap_or_else(|| it.name().to_owned()));
    "files": T::list(T::Host(&FILE)), "Its files." =>
        CelValue::List(it.files().map(|it| FactSubject::File(it).into_value(tree)).collect());
    "imports": T::list(T::String), "The packages that its files import, without itself." =>
        package_imports(it);
    "imported_by": T::list(T::String), "The packages whose files import one of it." =>
        package_importers(it, tree);
} }

element_facts! { MESSAGE "message", read_message(it: Message, tree) {
    "name": T::String, "Its name." => text(it.name());
    "full_name": T::String, "Its name with its package." => CelValue::text(it.full_name());
    "fields": T::list(T::Host(&FIELD)), "Its fields, in their order." => fields(it.fields(), tree);
    "oneofs": T::list(T::Host(&ONEOF)), "Its oneofs." => oneofs(it, tree);
    "messages": T::list(T::Host(&MESSAGE)), "The messages declared in it." => messages(it.messages(), tree);
    "enums": T::list(T::Host(&ENUM)), "The enums declared in it." => enums(it.enums(), tree);
    "extensions": T::list(T::Host(&FIELD)), "The extensions declared in it." => fields(it.extensions(), tree);
    "parent": T::Host(&MESSAGE), "The message it is declared in, or null." => message(it.parent(), tree);
    "reserved_names": T::list(T::String), "The names that it reserves." =>
        reserved_names(it.file(), it.reserved_names());
    "reserved_numbers": T::list(T::String), "The numbers that it reserves, as `5` or `5 to 7`." =>
        ranges(it.reserved_ranges(), 1);
    "extension_numbers": T::list(T::String), "The numbers that it leaves to extensions." =>
        ranges(it.extension_ranges(), 1);
    "is_group": T::Bool, "True if it is the type of a group." =>
        CelValue::Bool(it.decl().kind == MessageKind::Group);
    "used_by_fields": T::list(T::Host(&FIELD)), "The fields of this type, anywhere in the tree." =>
        field_ids(tree.users().fields_of_message(it.id), tree);
    "used_by_methods": T::list(T::Host(&METHOD)), "The methods that take or return it." =>
        CelValue::List(methods_of(it, tree).map(|it| FactSubject::Method(it).into_value(tree)).collect());
    "used_by_packages": T::list(T::String), "The packages of those fields and methods." => {
        let fields = tree.users().fields_of_message(it.id).iter().map(|id| tree.tree.field(*id).package());
        names(fields.chain(methods_of(it, tree).map(|it| it.package())))
    };
    "is_request": T::Bool, "True if a method takes it." =>
        CelValue::Bool(methods_of(it, tree).any(|method| method.input() == Some(it)));
    "is_response": T::Bool, "True if a method returns it." =>
        CelValue::Bool(methods_of(it, tree).any(|method| method.output() == Some(it)));
    "deprecated": T::Bool, "True if it is deprecated." => deprecated(tree, it.options());
} }

element_facts! { FIELD "field", read_field(it: Field, tree) {
    "name": T::String, "Its name." => text(it.name());
    "full_name": T::String, "Its name with its message." => CelValue::text(it.full_name());
    "number": T::Int, "Its number." => CelValue::Int(it.number().into());
    "type": T::String, "The type of a value: a scalar such as `int32`, `message`, `group` or `enum`. Of a map, that of its values." =>
        type_word(find_value_field(it));
    "type_name": T::String, "The full name of its message or enum; of a scalar the scalar." =>
        type_name(find_value_field(it));
    "key_type": T::String, "Of a map, the type of its keys; else empty." => key_type(it);
    "message_type": T::Host(&MESSAGE), "The message that is its type, or null." =>
        message(find_value_field(it).message_type(), tree);
    "enum_type": T::Host(&ENUM), "The enum that is its type, or null." =>
        find_value_field(it).enum_type().map_or(CelValue::Null, |it| FactSubject::Enum(it).into_value(tree));
    "cardinality": T::String, "`singular`, `repeated` or `map`." => text(cardinality(it));
    "presence": T::String, "`explicit`, `implicit` or `required`." => text(presence(it));
    "label": T::String, "The label as it is written: `optional`, `required`, `repeated` or empty." => text(label(it));
    "json_name": T::String, "Its name in JSON." => CelValue::text(it.json_name());
    "default_value": T::String, "Its default as a text; empty if none is written." => default_value(it);
    "oneof": T::Host(&ONEOF), "The oneof that it is written in, or null." =>
        it.real_oneof().map_or(CelValue::Null, |it| FactSubject::Oneof(it).into_value(tree));
    "parent": T::Host(&MESSAGE), "The message it is declared in, or null at the top level of a file." =>
        message(it.parent(), tree);
    "is_extension": T::Bool, "True if it is an extension." => CelValue::Bool(it.is_extension());
    "extendee": T::String, "The full name of the message that an extension extends; else empty." =>
        CelValue::text(it.extendee().map(Message::full_name).unwrap_or_default());
    "deprecated": T::Bool, "True if it is deprecated." => deprecated(tree, it.options());
} }

element_facts! { ONEOF "oneof", read_oneof(it: Oneof, tree) {
    "name": T::String, "Its name." => text(it.name());
    "full_name": T::String, "Its name with its message." => CelValue::text(it.full_name());
    "fields": T::list(T::Host(&FIELD)), "Its members." => fields(it.fields(), tree);
    "parent": T::Host(&MESSAGE), "Its message." => message(Some(it.message()), tree);
} }

element_facts! { ENUM "enum", read_enum(it: Enum, tree) {
    "name": T::String, "Its name." => text(it.name());
    "full_name": T::String, "Its name with its package." => CelValue::text(it.full_name());
    "values": T::list(T::Host(&ENUM_VALUE)), "Its values, in their order." =>
        CelValue::List(it.values().map(|it| FactSubject::EnumValue(it).into_value(tree)).collect());
    "openness": T::String, "`open` or `closed`." =>
        text(if it.features().openness == Openness::Closed { "closed" } else { "open" });
    "parent": T::Host(&MESSAGE), "The message it is declared in, or null." => message(it.parent(), tree);
    "reserved_names": T::list(T::String), "The names that it reserves." =>
        reserved_names(it.file(), it.reserved_names());
    "reserved_numbers": T::list(T::String), "The numbers that it reserves, as `5` or `5 to 7`." =>
        ranges(it.reserved_ranges(), 0);
    "used_by_fields": T::list(T::Host(&FIELD)), "The fields of this type, anywhere in the tree." =>
        field_ids(tree.users().fields_of_enum(it.id), tree);
    "used_by_packages": T::list(T::String), "The packages of those fields." =>
        names(tree.users().fields_of_enum(it.id).iter().map(|id| tree.tree.field(*id).package()));
    "deprecated": T::Bool, "True if it is deprecated." => deprecated(tree, it.options());
} }

element_facts! { ENUM_VALUE "enum-value", read_enum_value(it: EnumValue, tree) {
    "name": T::String, "Its name." => text(it.name());
    "full_name": T::String, "Its name with the scope of its enum." => CelValue::text(it.full_name());
    "number": T::Int, "Its number." => CelValue::Int(it.number().into());
    "parent": T::Host(&ENUM), "Its enum." => FactSubject::Enum(it.parent()).into_value(tree);
    "deprecated": T::Bool, "True if it is deprecated." => deprecated(tree, it.options());
} }

element_facts! { SERVICE "service", read_service(it: Service, tree) {
    "name": T::String, "Its name." => text(it.name());
    "full_name": T::String, "Its name with its package." => CelValue::text(it.full_name());
    "methods": T::list(T::Host(&METHOD)), "Its methods, in their order." =>
        CelValue::List(it.methods().map(|it| FactSubject::Method(it).into_value(tree)).collect());
    "deprecated": T::Bool, "True if it is deprecated." => deprecated(tree, it.options());
} }

element_facts! { METHOD "method", read_method(it: Method, tree) {
    "name": T::String, "Its name." => text(it.name());
    "full_name": T::String, "Its name with its service." => CelValue::text(it.full_name());
    "input": T::Host(&MESSAGE), "The message that it takes; null if it is not known." => message(it.input(), tree);
    "output": T::Host(&MESSAGE), "The message that it returns; null if it is not known." => message(it.output(), tree);
    "client_streaming": T::Bool, "True if it takes a stream." => CelValue::Bool(it.decl().client_streaming);
    "server_streaming": T::Bool, "True if it returns a stream." => CelValue::Bool(it.decl().server_streaming);
    "parent": T::Host(&SERVICE), "Its service." => FactSubject::Service(it.service()).into_value(tree);
    "deprecated": T::Bool, "True if it is deprecated." => deprecated(tree, it.options());
} }

fn text<'v>(text: &str) -> CelValue<'v> {
    CelValue::text(text)
}

fn deprecated<'t>(
    tree: &FactTree<'_>,
    options: Option<&abide_schema::value::Message>,
) -> CelValue<'t> {
    CelValue::Bool(is_deprecated(tree.tree, options))
}

fn message<'t>(message: Option<Message<'t>>, tree: &'t FactTree<'t>) -> CelValue<'t> {
    message.map_or(CelValue::Null, |it| FactSubject::Message(it).into_value(tree))
}

/// Entries of maps are left out: nobody wrote them.
fn messages<'t>(
    messages: impl Iterator<Item = Message<'t>>,
    tree: &'t FactTree<'t>,
) -> CelValue<'t> {
    let written = messages.filter(|it| !it.is_map_entry());
    CelValue::List(written.map(|it| FactSubject::Message(it).into_value(tree)).collect())
}

fn enums<'t>(enums: impl Iterator<Item = Enum<'t>>, tree: &'t FactTree<'t>) -> CelValue<'t> {
    CelValue::List(enums.map(|it| FactSubject::Enum(it).into_value(tree)).collect())
}

fn fields<'t>(fields: impl Iterator<Item = Field<'t>>, tree: &'t FactTree<'t>) -> CelValue<'t> {
    CelValue::List(fields.map(|it| FactSubject::Field(it).into_value(tree)).collect())
}

fn field_ids<'t>(ids: &[abide_schema::FieldId], tree: &'t FactTree<'t>) -> CelValue<'t> {
    fields(ids.iter().map(|id| tree.tree.field(*id)), tree)
}

fn oneofs<'t>(message: Message<'t>, tree: &'t FactTree<'t>) -> CelValue<'t> {
    let written = message.oneofs().filter(|it| !it.is_synthetic());
    CelValue::List(written.map(|it| FactSubject::Oneof(it).into_value(tree)).collect())
}

fn methods_of<'t>(
    message: Message<'t>,
    tree: &'t FactTree<'t>,
) -> impl Iterator<Item = Method<'t>> {
    let ids = tree.users().methods(message.id).iter();
    ids.map(|id| Method { tree: tree.tree, id: *id })
}

/// The names of packages, sorted, each once.
fn names<'t>(packages: impl Iterator<Item = Package<'t>>) -> CelValue<'t> {
    let names: BTreeSet<&str> = packages.map(|it| it.name()).collect();
    CelValue::List(names.into_iter().map(text).collect())
}

fn package_imports<'t>(package: Package<'t>) -> CelValue<'t> {
    let imports = package.files().flat_map(|it| it.imports()).filter_map(|it| it.file);
    names(imports.map(|it| it.package()).filter(|it| it.id != package.id))
}

fn package_importers<'t>(package: Package<'t>, tree: &'t FactTree<'t>) -> CelValue<'t> {
    let users = tree.users();
    let importers = package.files().flat_map(|it| users.importers(it.id).iter());
    let packages = importers.map(|id| tree.tree.file(*id).package());
    names(packages.filter(|it| it.id != package.id))
}

fn paths<'v>(file: File<'_>, fits: impl Fn(ImportKind) -> bool) -> CelValue<'v> {
    let imports = file.decl().imports.iter().filter(|it| fits(it.kind));
    CelValue::List(imports.map(|it| text(&it.path)).collect())
}

fn syntax(file: File<'_>) -> &'static str {
    match file.decl().edition.word() {
        "proto2" => "proto2",
        "proto3" => "proto3",
        _ => "editions",
    }
}

fn file_comment<'v>(file: File<'_>) -> CelValue<'v> {
    file.decl().syntax.map_or(text(""), |syntax| leading(file, syntax.node))
}

fn stability(version: &PackageVersion) -> &'static str {
    match version.stability {
        Stability::Alpha => "alpha",
        Stability::Beta => "beta",
        Stability::Stable => "stable",
    }
}

fn reserved_names<'v>(file: File<'_>, names: &[ReservedNameDecl]) -> CelValue<'v> {
    CelValue::List(names.iter().map(|it| text(file.decl().str(it.name))).collect())
}

/// `beyond` is how far the end of a range lies behind its last number.
fn ranges<'v>(ranges: &[RangeDecl], beyond: i32) -> CelValue<'v> {
    let shown = ranges.iter().map(|it| match it.end.saturating_sub(beyond) {
        end if end == it.start => it.start.to_string(),
        end => format!("{} to {end}", it.start),
    });
    CelValue::List(shown.map(CelValue::text).collect())
}

fn type_word<'v>(field: Field<'_>) -> CelValue<'v> {
    text(match field.ty() {
        Type::Scalar(scalar) => scalar.keyword(),
        Type::Message(_) => match field.message_type().map(|it| it.decl().kind) {
            Some(MessageKind::Group) => "group",
            _ => "message",
        },
        Type::Enum(_) => "enum",
        Type::Unresolved => "",
    })
}

fn type_name<'v>(field: Field<'_>) -> CelValue<'v> {
    CelValue::text(match field.ty() {
        Type::Scalar(scalar) => scalar.keyword().to_owned(),
        Type::Message(_) => field.message_type().map(Message::full_name).unwrap_or_default(),
        Type::Enum(_) => field.enum_type().map(Enum::full_name).unwrap_or_default(),
        Type::Unresolved => String::new(),
    })
}

fn key_type<'v>(field: Field<'_>) -> CelValue<'v> {
    let entry = field.message_type().filter(|_| field.is_map());
    entry.and_then(|it| it.field_numbered(1)).map_or(text(""), type_word)
}

fn cardinality(field: Field<'_>) -> &'static str {
    match field.cardinality() {
        Cardinality::Singular => "singular",
        Cardinality::Repeated => "repeated",
        Cardinality::Map => "map",
    }
}

fn presence(field: Field<'_>) -> &'static str {
    match field.presence() {
        Presence::Explicit => "explicit",
        Presence::Implicit => "implicit",
        Presence::LegacyRequired => "required",
    }
}

fn label(field: Field<'_>) -> &'static str {
    use abide_syntax::FieldLabel::{Optional, Repeated, Required};
    match field.decl().label {
        // A map has no label of its own.
        Some(Repeated) if field.is_map() => "",
        Some(Repeated) => "repeated",
        Some(Required) => "required",
        Some(Optional) => "optional",
        None => "",
    }
}

fn default_value<'v>(field: Field<'_>) -> CelValue<'v> {
    let written = field.decl().extras.as_ref().and_then(|it| it.default.as_deref());
    CelValue::text(String::from_utf8_lossy(written.unwrap_or_default()))
}

/// Returns true if rules see an element: entries of maps and oneofs of `optional` fields are
/// written by nobody.
pub(crate) fn is_written(element: Element<'_>) -> bool {
    match element {
        Element::Message(it) => !it.is_map_entry(),
        Element::Field(it) => !it.parent().is_some_and(|it| it.is_map_entry()),
        Element::Oneof(it) => !it.is_synthetic(),
        _ => true,
    }
}
