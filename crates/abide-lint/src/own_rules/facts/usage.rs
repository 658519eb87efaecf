//! Who uses types and files, found for a whole tree at once.

use std::sync::OnceLock;

use abide_schema::{EnumId, Field, FieldId, FileId, MessageId, MethodId, Tree, Type};
use rustc_hash::FxHashMap;

/// A tree with what is computed once for all facts about it.
#[derive(Debug)]
pub(crate) struct FactTree<'t> {
    pub(super) tree: &'t Tree,
    users: OnceLock<Users>,
}

/// The users of types and files, in the order of files and of declarations.
#[derive(Debug, Default)]
pub(super) struct Users {
    fields_of_messages: FxHashMap<MessageId, Vec<FieldId>>,
    fields_of_enums: FxHashMap<EnumId, Vec<FieldId>>,
    methods: FxHashMap<MessageId, Vec<MethodId>>,
    importers: FxHashMap<FileId, Vec<FileId>>,
}

impl<'t> FactTree<'t> {
    pub(crate) fn new(tree: &'t Tree) -> FactTree<'t> {
        FactTree { tree, users: OnceLock::new() }
    }

    pub(super) fn users(&self) -> &Users {
        self.users.get_or_init(|| Users::find(self.tree))
    }
}

impl Users {
    fn find(tree: &Tree) -> Users {
        let mut users = Users::default();
        for file in tree.files() {
            for imported in file.imports().filter_map(|it| it.file) {
                users.importers.entry(imported.id).or_default().push(file.id);
            }
            for field in file.all_fields() {
                users.add_field(field);
            }
            for method in file.services().flat_map(|it| it.methods()) {
                let (input, output) = (method.input(), method.output());
                let output = output.filter(|it| Some(*it) != input);
                for message in input.into_iter().chain(output) {
                    users.methods.entry(message.id).or_default().push(method.id);
                }
            }
        }
        users
    }

    /// A map uses the type of its values; its entry is nobody's word.
    fn add_field(&mut self, field: Field<'_>) {
        if field.parent().is_some_and(|it| it.is_map_entry()) {
            return;
        }
        match find_value_field(field).ty() {
            Type::Message(id) => self.fields_of_messages.entry(id).or_default().push(field.id),
            Type::Enum(id) => self.fields_of_enums.entry(id).or_default().push(field.id),
            Type::Scalar(_) | Type::Unresolved => {}
        }
    }

    pub(super) fn fields_of_message(&self, id: MessageId) -> &[FieldId] {
        self.fields_of_messages.get(&id).map_or(&[], Vec::as_slice)
    }

    pub(super) fn fields_of_enum(&self, id: EnumId) -> &[FieldId] {
        self.fields_of_enums.get(&id).map_or(&[], Vec::as_slice)
    }

    pub(super) fn methods(&self, id: MessageId) -> &[MethodId] {
        self.methods.get(&id).map_or(&[], Vec::as_slice)
    }

    pub(super) fn importers(&self, id: FileId) -> &[FileId] {
        self.importers.get(&id).map_or(&[], Vec::as_slice)
    }
}

/// The field whose type counts: for a map that of its values.
pub(super) fn find_value_field(field: Field<'_>) -> Field<'_> {
    let entry = field.message_type().filter(|_| field.is_map());
    entry.and_then(|it| it.field_numbered(2)).unwrap_or(field)
}
