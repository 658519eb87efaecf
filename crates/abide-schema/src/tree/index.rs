//! Elements by name or number, without walking long lists again and again.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use crate::dynamic as value;
use crate::ids::{EnumValueId, FieldId, FileId};
use crate::tree::Tree;
use crate::tree::element::Element;
use crate::tree::features::Presence;
use crate::tree::tables::{
    ExtensionDeclaration, ExtensionDeclarations, FieldTable, LargeTypeIndex, ValueTable,
};
use crate::tree::view::{Enum, EnumValue, Field, File, Message};

/// Lists up to this length are searched linearly.
const SHORT: usize = 48;

impl Tree {
    /// The message with this full name, without a leading dot.
    pub fn message_named(&self, full_name: &str) -> Option<Message<'_>> {
        let messages = self.full_names.messages.get_or_init(|| {
            let messages = self.files().flat_map(File::all_messages);
            index(messages.map(|message| (message.full_name(), message.id)))
        });
        messages.get(full_name).map(|&id| self.message(id))
    }

    /// The enum with this full name, without a leading dot.
    pub fn enum_named(&self, full_name: &str) -> Option<Enum<'_>> {
        let enums = self.full_names.enums.get_or_init(|| {
            let enums = self.files().flat_map(File::all_enums);
            index(enums.map(|item| (item.full_name(), item.id)))
        });
        enums.get(full_name).map(|&id| self.enumeration(id))
    }

    /// The extensions with this full name, without a leading dot: at most one
    /// of each root.
    pub fn extensions_named(&self, full_name: &str) -> impl Iterator<Item = Field<'_>> {
        let extensions = self.full_names.extensions.get_or_init(|| {
            let mut index: FxHashMap<String, Vec<FieldId>> = FxHashMap::default();
            for field in self.files().flat_map(File::all_fields) {
                if field.is_extension() {
                    index.entry(field.full_name()).or_default().push(field.id);
                }
            }
            index
        });
        extensions.get(full_name).into_iter().flatten().map(|&id| self.field(id))
    }

    /// The element with this full name, without a leading dot. An enum value has
    /// two: by the rules of the language it is a sibling of its enum, and people
    /// write it as a member.
    pub fn element_named(&self, full_name: &str) -> Option<Element<'_>> {
        let (scope, name) = full_name.rsplit_once('.').unwrap_or(("", full_name));
        let extension = || self.extensions_named(full_name).next().map(Element::Field);
        self.find_container(full_name).or_else(extension).or_else(|| {
            let holder = self.find_container(scope);
            let around =
                holder.map_or_else(|| self.collect_package_members(scope), Element::members);
            let named = around.iter().copied().find(|it| it.name() == name);
            named.or_else(|| {
                around.into_iter().find_map(|it| match it {
                    Element::Enum(it) => it.value_named(name).map(Element::EnumValue),
                    _ => None,
                })
            })
        })
    }

    /// The message, enum or service with this full name.
    fn find_container(&self, full_name: &str) -> Option<Element<'_>> {
        let message = self.message_named(full_name).map(Element::Message);
        message.or_else(|| self.enum_named(full_name).map(Element::Enum)).or_else(|| {
            let (package, name) = full_name.rsplit_once('.').unwrap_or(("", full_name));
            let is_it = |it: &Element<'_>| matches!(it, Element::Service(_)) && it.name() == name;
            self.collect_package_members(package).into_iter().find(is_it)
        })
    }

    fn collect_package_members(&self, name: &str) -> Vec<Element<'_>> {
        let files = self.package_named(name).into_iter().flat_map(|it| it.files());
        files.flat_map(File::members).collect()
    }
}

impl<'t> File<'t> {
    /// The elements that no other element encloses.
    pub fn members(self) -> impl Iterator<Item = Element<'t>> {
        let types = self.messages().map(Element::Message).chain(self.enums().map(Element::Enum));
        let services = self.services().map(Element::Service);
        types.chain(self.extensions().map(Element::Field)).chain(services)
    }
}

impl<'t> Element<'t> {
    /// The elements that it encloses directly.
    pub fn members(self) -> Vec<Element<'t>> {
        match self {
            Element::Message(it) => {
                let own = it.fields().map(Element::Field).chain(it.oneofs().map(Element::Oneof));
                let types = it.messages().filter(|it| !it.is_map_entry()).map(Element::Message);
                let types = types.chain(it.enums().map(Element::Enum));
                own.chain(types).chain(it.extensions().map(Element::Field)).collect()
            }
            Element::Enum(it) => it.values().map(Element::EnumValue).collect(),
            Element::Service(it) => it.methods().map(Element::Method).collect(),
            Element::Field(_) | Element::Oneof(_) | Element::EnumValue(_) | Element::Method(_) => {
                Vec::new()
            }
        }
    }

    /// The elements that are declared beside it, itself included: in the same
    /// element, or else at the top of its package.
    pub fn collect_siblings(self) -> Vec<Element<'t>> {
        match self.parent() {
            Some(parent) => parent.members(),
            None => self.package().files().flat_map(File::members).collect(),
        }
    }

    /// The element that `replaced_by` names, by the simple name of a sibling or
    /// by its full name.
    pub fn replacement(self) -> Option<Element<'t>> {
        let (name, _) = self.replaced_by()?;
        self.find_other(name)
    }

    /// The element that a name means beside this one: the simple name of a sibling, or a full name.
    pub fn find_other(self, name: &str) -> Option<Element<'t>> {
        let sibling = self.collect_siblings().into_iter().find(|it| it.name() == name);
        let full_name = name.strip_prefix('.').unwrap_or(name);
        sibling.or_else(|| self.file().tree.element_named(full_name))
    }
}

impl<'t> Message<'t> {
    /// The field with this name.
    pub fn field_named(self, name: &str) -> Option<Field<'t>> {
        match self.table() {
            None => self.fields().find(|field| field.is_named(name)),
            Some(table) => self.get_field(table.names.get(name)),
        }
    }

    /// The field with this number.
    pub fn field_numbered(self, number: i32) -> Option<Field<'t>> {
        let fields = self.decl().fields;
        // Most messages number their fields in order.
        let guess = fields.start.wrapping_add(number as u32).wrapping_sub(1);
        if fields.range().contains(&(guess as usize)) {
            let field = self.tree.field(FieldId { file: self.id.file, index: guess });
            if field.number() == number {
                return Some(field);
            }
        }
        match self.table() {
            None => self.fields().find(|field| field.number() == number),
            Some(table) => self.get_field(table.numbers.get(&number)),
        }
    }

    /// The field or the extension with this number.
    pub(crate) fn any_field_numbered(self, number: i32) -> Option<Field<'t>> {
        self.field_numbered(number).or_else(|| {
            let id = self.tree.known.extension_numbered(self.id, number)?;
            Some(self.tree.field(id))
        })
    }

    /// The field that a key of JSON means; a JSON name counts before a name.
    pub fn find_field_by_json_name(self, key: &str) -> Option<Field<'t>> {
        match self.table() {
            None => {
                let named = || self.fields().find(|field| field.name() == key);
                self.fields().find(|field| field.has_json_name(key)).or_else(named)
            }
            Some(table) => self.get_field(table.json_names.get(key)),
        }
    }

    /// Returns true if one of its reserved names is this one.
    pub fn reserves_name(self, name: &str) -> bool {
        match self.table() {
            None => {
                let decl = self.file().decl();
                self.reserved_names().iter().any(|reserved| decl.str(reserved.name) == name)
            }
            Some(table) => table.reserved_names.contains(name),
        }
    }

    /// Its fields without which a reader refuses a value, in the order of
    /// declaration.
    pub fn required_fields(self) -> impl Iterator<Item = Field<'t>> {
        let listed = self.table().map(|it| it.required.as_slice());
        let walked = listed.is_none().then(|| self.fields().filter(|it| is_required(*it)));
        walked.into_iter().flatten().chain(self.iter_fields(listed))
    }

    /// The members of one of its oneofs, in the order of declaration.
    pub(crate) fn members(self, oneof: u32) -> impl Iterator<Item = Field<'t>> {
        let members = |it: &'t FieldTable| it.members.get(&oneof).map_or(&[][..], Vec::as_slice);
        let listed = self.table().map(members);
        let is_member = move |it: &Field<'t>| it.decl().oneof == Some(oneof);
        let walked = listed.is_none().then(|| self.fields().filter(is_member));
        walked.into_iter().flatten().chain(self.iter_fields(listed))
    }

    fn iter_fields(self, listed: Option<&'t [u32]>) -> impl Iterator<Item = Field<'t>> {
        let field = move |&index| self.tree.field(FieldId { file: self.id.file, index });
        listed.unwrap_or_default().iter().map(field)
    }

    fn table(self) -> Option<&'t FieldTable> {
        let is_long = self.fields().len() > SHORT || self.reserved_names().len() > SHORT;
        if is_long { self.file().long_lists().messages.get(&self.id.index) } else { None }
    }

    fn get_field(self, index: Option<&u32>) -> Option<Field<'t>> {
        index.map(|&index| self.tree.field(FieldId { file: self.id.file, index }))
    }
}

impl<'t> Enum<'t> {
    /// The value with this name.
    pub fn value_named(self, name: &str) -> Option<EnumValue<'t>> {
        match self.table() {
            None => self.values().find(|value| value.is_named(name)),
            Some(table) => self.get_value(table.names.get(name)),
        }
    }

    /// The value that JSON writes like this: one with this name, else one with this text of its own.
    /// The order is that of protobuf's own readers.
    pub fn value_in_json(self, text: &str) -> Option<EnumValue<'t>> {
        let named = self.value_named(text);
        named.or_else(|| self.values().find(|it| it.json_text() == Some(text)))
    }

    /// The first value with this number.
    pub fn value_numbered(self, number: i32) -> Option<EnumValue<'t>> {
        match self.table() {
            None => self.values().find(|value| value.number() == number),
            Some(table) => self.get_value(table.numbers.get(&number)),
        }
    }

    /// Every value with this number, in the order of declaration.
    pub fn values_numbered(self, number: i32) -> impl Iterator<Item = EnumValue<'t>> {
        let table = self.table();
        let has_number = move |it: &EnumValue<'t>| it.number() == number;
        let walked = table.is_none().then(|| self.values().filter(has_number));
        let first = table.and_then(|it| it.numbers.get(&number)).into_iter();
        let others = table.and_then(|it| it.aliases.get(&number)).into_iter().flatten();
        let listed = first.chain(others).filter_map(move |it| self.get_value(Some(it)));
        walked.into_iter().flatten().chain(listed)
    }

    fn table(self) -> Option<&'t ValueTable> {
        let is_long = self.values().len() > SHORT;
        if is_long { self.file().long_lists().enums.get(&self.id.index) } else { None }
    }

    fn get_value(self, index: Option<&u32>) -> Option<EnumValue<'t>> {
        let tree = self.tree;
        index.map(|&index| EnumValue { tree, id: EnumValueId { file: self.id.file, index } })
    }
}

impl<'t> File<'t> {
    fn long_lists(self) -> &'t LargeTypeIndex {
        self.tree.linked(self.id).long_lists.get_or_init(|| {
            let messages = self.all_messages().filter(|message| {
                message.fields().len() > SHORT || message.reserved_names().len() > SHORT
            });
            let enums = self.all_enums().filter(|item| item.values().len() > SHORT);
            Box::new(LargeTypeIndex {
                messages: messages.map(|it| (it.id.index, index_fields(it))).collect(),
                enums: enums.map(|it| (it.id.index, index_values(it))).collect(),
            })
        })
    }
}

impl Tree {
    /// The declarations of an extension range, by its index in its file.
    pub(crate) fn declarations(
        &self,
        file: FileId,
        range: usize,
    ) -> Option<&ExtensionDeclarations> {
        let linked = self.linked(file);
        let of_file = linked.declarations.get_or_init(|| {
            let ranges = linked.ranges.iter().enumerate();
            ranges
                .filter_map(|(at, it)| Some((at, collect_declarations(self, it.as_deref()?))))
                .collect()
        });
        of_file.get(&range)
    }
}

fn collect_declarations(tree: &Tree, options: &value::Message) -> ExtensionDeclarations {
    let entries = options.get_all(tree, "declaration");
    let all: Vec<ExtensionDeclaration> = entries
        .filter_map(|entry| entry.value.as_message())
        .map(|declaration| ExtensionDeclaration {
            number: declaration.get_i64(tree, "number").unwrap_or_default(),
            full_name: declaration.get_str(tree, "full_name").map(str::to_owned),
            ty: declaration.get_str(tree, "type").map(str::to_owned),
            reserved: declaration.get_bool(tree, "reserved").unwrap_or_default(),
            repeated: declaration.get_bool(tree, "repeated").unwrap_or_default(),
        })
        .collect();
    let numbers = index(all.iter().enumerate().map(|(at, it)| (it.number, at)));
    ExtensionDeclarations { all, numbers }
}

fn index_fields(message: Message<'_>) -> FieldTable {
    let decl = message.file().decl();
    let names = || message.fields().map(|it| (it.name().into(), it.id.index));
    let json = message.fields().map(|it| (it.json_name().into(), it.id.index));
    let oneof = |it: Field<'_>| Some((it.decl().oneof?, it.id.index));
    FieldTable {
        names: index(names()),
        numbers: index(message.fields().map(|it| (it.number(), it.id.index))),
        json_names: index(json.chain(names())),
        reserved_names: message
            .reserved_names()
            .iter()
            .map(|it| decl.str(it.name).into())
            .collect(),
        required: message.fields().filter(|it| is_required(*it)).map(|it| it.id.index).collect(),
        members: group_pairs(message.fields().filter_map(oneof)),
    }
}

fn is_required(field: Field<'_>) -> bool {
    // The resolved feature is at hand, and few fields have it.
    field.features().presence == Presence::LegacyRequired
        && field.presence() == Presence::LegacyRequired
}

fn index_values(item: Enum<'_>) -> ValueTable {
    let numbers = || item.values().map(|it| (it.number(), it.id.index));
    let firsts = index(numbers());
    let others = numbers().filter(|(number, index)| firsts.get(number) != Some(index));
    ValueTable {
        aliases: group_pairs(others),
        names: index(item.values().map(|it| (it.name().into(), it.id.index))),
        numbers: firsts,
    }
}

/// Indexes pairs. The first pair with a key wins, as in a linear search.
fn index<K: Eq + Hash, V>(pairs: impl Iterator<Item = (K, V)>) -> FxHashMap<K, V> {
    let mut index = FxHashMap::default();
    for (key, value) in pairs {
        index.entry(key).or_insert(value);
    }
    index
}

/// Groups pairs by key, in the order of the pairs.
fn group_pairs<K: Eq + Hash, V>(pairs: impl Iterator<Item = (K, V)>) -> FxHashMap<K, Vec<V>> {
    let mut groups: FxHashMap<K, Vec<V>> = FxHashMap::default();
    for (key, value) in pairs {
        groups.entry(key).or_default().push(value);
    }
    groups
}
