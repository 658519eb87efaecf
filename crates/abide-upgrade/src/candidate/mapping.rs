//! The mapping between two versions as data: a `VersionMapping` of
//! `api/abide/mapping/v1`.

use std::sync::Arc;

use abide_schema::value::{Codec, EncodeError, Entry, Message, Value};
use abide_schema::{Element, File, FileDecl, SourceFile, Tree};

use super::conversion::{ValueConversion, find_lossy_reason};
use crate::plan::{
    FileRoles, PackageSelection, ReleaseStage, UpgradeInputs, UpgradeOptions, UpgradePlan,
    UpgradeRefusal, UpgradeSettings, find_oneof_after, is_declared, is_deprecated,
};

const SCHEMA: &[(&str, &str)] = &[
    (
        "abide/mapping/v1/mapping.proto",
        include_str!("../../../../api/abide/mapping/v1/mapping.proto"),
    ),
    (
        "abide/annotations/v1/status.proto",
        include_str!("../../../../api/abide/annotations/v1/status.proto"),
    ),
];

/// The change of every type and member of the upgraded packages.
#[derive(Debug)]
pub struct UpgradeMapping {
    schema: Tree,
    value: Message,
}

impl UpgradeMapping {
    /// The message on the wire.
    pub fn to_binary(&self) -> Vec<u8> {
        Codec::new(&self.schema).encode(&self.value)
    }

    /// The message in JSON, with the names that its file declares, as in every report.
    pub fn to_json(&self) -> Result<String, EncodeError> {
        Codec::new(&self.schema).to_json_with_declared_names(&self.value)
    }
}

/// The mapping of what [`upgrade`](crate::upgrade) makes.
pub fn build_mapping(
    tree: &Tree,
    settings: UpgradeSettings<'_>,
    options: &UpgradeOptions<'_>,
) -> Result<UpgradeMapping, UpgradeRefusal> {
    let standings = FileRoles::from_tree(tree, settings.policy);
    let basis = UpgradeInputs { tree, settings, roles: &standings, graph: None };
    let mut plan =
        UpgradePlan::build(basis, PackageSelection::Requested(options), ReleaseStage::Candidate)?;
    if options.packages.is_empty() {
        plan.assume_release();
    }
    let sources = || tree.files().filter(|it| plan.is_source(it.id) || plan.is_replaced(*it));
    let parse = |(path, text): &(&str, &str)| {
        let path: Arc<str> = (*path).into();
        let (display, text) = (Arc::clone(&path), text.as_bytes().into());
        Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported: false, text }))
    };
    let schema = Tree::link(SCHEMA.iter().map(parse).collect());
    let builder = MappingBuilder { schema: &schema };
    let mut entries = Vec::new();
    for file in sources() {
        entries.extend(builder.map_file(&plan, file));
    }
    for file in sources() {
        for element in collect_types(file) {
            entries.extend(builder.map_type(&plan, element));
        }
    }
    for file in sources() {
        let is_told = |it: &Element<'_>| {
            let is_dropped = plan.is_replaced(file)
                && plan.is_removed(*it)
                && it.parent().is_none_or(|it| !plan.is_removed_with_parent(it));
            is_declared(*it) && (is_deprecated(*it) || is_dropped)
        };
        for element in file.elements().filter(is_told) {
            entries.extend(builder.map_deprecation(&plan, element));
        }
    }
    let value = builder.build_message("VersionMapping", entries);
    Ok(UpgradeMapping { value, schema })
}

/// The types that are declared in a file.
fn collect_types<'t>(file: File<'t>) -> impl Iterator<Item = Element<'t>> {
    let messages = file.all_messages().map(Element::Message);
    let all = messages.chain(file.all_enums().map(Element::Enum));
    all.chain(file.services().map(Element::Service)).filter(|it| is_declared(*it))
}

struct MappingBuilder<'s> {
    schema: &'s Tree,
}

impl MappingBuilder<'_> {
    fn build_message(&self, name: &str, entries: Vec<Entry>) -> Message {
        let mut all = self.schema.files().flat_map(File::messages);
        let ty = all.find(|it| it.name() == name).expect("the mapping is made of its own messages");
        Message { entries, ..Message::new(ty.id) }
    }

    /// A field of one of its messages; `None` if its value is the default.
    fn build_entry(&self, message: &str, field: &str, value: Value) -> Option<Entry> {
        let is_default = match &value {
            Value::String(text) => text.is_empty(),
            Value::I32(number) | Value::Enum(number) => *number == 0,
            Value::Bool(flag) => !flag,
            _ => false,
        };
        let mut all = self.schema.files().flat_map(File::messages);
        let ty = all.find(|it| it.name() == message)?;
        let field = ty.field_named(field).filter(|_| !is_default)?;
        Some(Entry::new(field.id, value))
    }

    fn build_text_entry(
        &self,
        message: &str,
        field: &str,
        text: impl Into<Box<str>>,
    ) -> Option<Entry> {
        self.build_entry(message, field, Value::String(text.into()))
    }

    fn build_message_entry(
        &self,
        message: &str,
        field: &str,
        ty: &str,
        entries: Vec<Entry>,
    ) -> Option<Entry> {
        self.build_entry(message, field, Value::Message(Box::new(self.build_message(ty, entries))))
    }

    fn map_file(&self, plan: &UpgradePlan<'_>, file: File<'_>) -> Option<Entry> {
        let next = plan.next(file.id)?;
        let text = |field: &str, text: &str| self.build_text_entry("FileMapping", field, text);
        let entries = [
            text("old_path", file.path()),
            text("new_path", &next.path),
            text("old_package", file.package().name()),
            text("new_package", &next.package),
        ];
        let entries = entries.into_iter().flatten().collect();
        self.build_message_entry("VersionMapping", "files", "FileMapping", entries)
    }

    fn map_type<'t>(&self, plan: &UpgradePlan<'t>, element: Element<'t>) -> Option<Entry> {
        let (kind, members): (i32, Vec<Element<'t>>) = match element {
            Element::Message(it) => (1, it.fields().map(Element::Field).collect()),
            Element::Enum(it) => (2, it.values().map(Element::EnumValue).collect()),
            Element::Service(it) => (3, it.methods().map(Element::Method).collect()),
            _ => return None,
        };
        let gone = plan.is_removed_with_parent(element);
        let new = plan.find_next_name(element).filter(|_| !gone).unwrap_or_default();
        let mut entries: Vec<Entry> = [
            self.build_text_entry("TypeMapping", "old_name", element.full_name()),
            self.build_text_entry("TypeMapping", "new_name", new),
            self.build_entry("TypeMapping", "kind", Value::Enum(kind)),
        ]
        .into_iter()
        .flatten()
        .collect();
        entries.extend(members.into_iter().filter_map(|it| self.map_member(plan, it)));
        self.build_message_entry("VersionMapping", "types", "TypeMapping", entries)
    }

    fn map_member<'t>(&self, plan: &UpgradePlan<'t>, element: Element<'t>) -> Option<Entry> {
        let number = match element {
            Element::Field(field) => field.number(),
            Element::EnumValue(value) => value.number(),
            _ => 0,
        };
        let gone = plan.is_removed_with_parent(element);
        let new = if gone { "" } else { plan.resolve_simple_name(element) };
        let oneof = match element {
            Element::Field(field) if !gone => find_oneof_after(field).unwrap_or_default(),
            _ => "",
        };
        let entries = [
            self.build_entry("MemberMapping", "number", Value::I32(number)),
            self.build_text_entry("MemberMapping", "old_name", element.name()),
            self.build_text_entry("MemberMapping", "new_name", new),
            self.build_text_entry("MemberMapping", "promoted_to", oneof),
        ];
        let entries = entries.into_iter().flatten().collect();
        self.build_message_entry("TypeMapping", "members", "MemberMapping", entries)
    }

    fn map_deprecation<'t>(&self, plan: &UpgradePlan<'t>, element: Element<'t>) -> Option<Entry> {
        let within = |of: fn(&UpgradePlan<'t>, Element<'t>) -> String| match element.parent() {
            Some(parent) => format!("{}.{}", of(plan, parent), element.name()),
            None => of(plan, element),
        };
        let old = within(|_, element| element.full_name());
        let new = within(|plan, element| plan.resolve_full_name(element));
        let ValueConversion { replacement, translatable, reason } =
            ValueConversion::decide(plan, element);
        let lossy =
            find_lossy_reason(plan.policy, element).filter(|_| !translatable).unwrap_or_default();
        let entries = [
            self.build_text_entry("Deprecation", "old_name", old),
            self.build_text_entry("Deprecation", "new_name", new),
            self.build_text_entry("Deprecation", "replacement", replacement),
            self.build_entry("Deprecation", "translatable", Value::Bool(translatable)),
            self.build_text_entry("Deprecation", "reason", reason),
            self.build_text_entry("Deprecation", "lossy", lossy),
        ];
        let entries = entries.into_iter().flatten().collect();
        self.build_message_entry("VersionMapping", "deprecations", "Deprecation", entries)
    }
}
