//! Interprets options: turns what statements and brackets set into values of
//! the options messages, custom options included, with the place of every key.
//! Source: `DescriptorBuilder::OptionInterpreter` of protobuf.

mod entry_index;
mod option_places;

use std::borrow::Cow;
use std::sync::Arc;

use abide_syntax::{Ast, NamePart, OptionId, Span, ValueId, join_dotted_name};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::decl::{FieldDecl, FileDecl, MessageKind, Parent, RawOptions};
use crate::dynamic::{Entry, MAX_NESTING, Message, Value};
use crate::ids::{
    ElementId, EnumId, EnumValueId, FieldId, FileId, MessageId, MethodId, OneofId, ServiceId,
};
use crate::link::resolve::NameResolver;
use crate::link::symbol::{NotFound, Symbol, SymbolQuery};
use crate::link::{MissingImports, ReusedFiles};
use crate::problem::{Place, Problem, ProblemKind, find_nearest, suggest_word};
use crate::protobuf::DESCRIPTOR_PROTO;
use crate::tree::view;
use crate::tree::{Cardinality, KnownAnnotations, LinkedFile, OptionsLink, Tree, Type, indices};
use crate::value::aggregate::{
    AggregateReader, Finder, MAX_FAULTS, ValueError, find_message_set_item, is_extension_of,
};
use crate::value::codec::Codec;

use self::entry_index::EntryIndex;

/// The kind of element that an options message belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OptionTarget {
    File,
    ExtensionRange,
    Message,
    Field,
    Oneof,
    Enum,
    EnumValue,
    Service,
    Method,
}

impl OptionTarget {
    /// In the order of their numbers in `FieldOptions.OptionTargetType`, which
    /// start at 1.
    const ALL: [(OptionTarget, &'static str, &'static str); 9] = [
        (OptionTarget::File, "FileOptions", "a file"),
        (OptionTarget::ExtensionRange, "ExtensionRangeOptions", "an extension range"),
        (OptionTarget::Message, "MessageOptions", "a message"),
        (OptionTarget::Field, "FieldOptions", "a field"),
        (OptionTarget::Oneof, "OneofOptions", "a oneof"),
        (OptionTarget::Enum, "EnumOptions", "an enum"),
        (OptionTarget::EnumValue, "EnumValueOptions", "an enum value"),
        (OptionTarget::Service, "ServiceOptions", "a service"),
        (OptionTarget::Method, "MethodOptions", "a method"),
    ];

    fn number(self) -> i32 {
        self as i32 + 1
    }

    fn noun(self) -> &'static str {
        OptionTarget::ALL[self as usize].2
    }
}

/// The options messages of one `descriptor.proto`, by target.
type OptionTypes = [Option<MessageId>; 9];

/// Interprets the options of every file and puts them into the tree, whose
/// names, types and features are already resolved.
pub(crate) fn apply_options(tree: &mut Tree, names: &NameResolver<'_>, kept: &ReusedFiles) {
    tree.known = KnownAnnotations::find(tree);
    let types = collect_option_types(tree);
    let shared: &Tree = tree;
    let found: Vec<FileOptions> = (0..shared.files.len() as u32)
        .into_par_iter()
        .map(|index| {
            let file = FileId(index);
            if kept.get(index as usize).is_some() {
                return FileOptions::default();
            }
            match find_types(shared, &types, file) {
                Some(types) => resolve_file_options(shared, names, file, types, None),
                None => FileOptions::default(),
            }
        })
        .collect();
    let keep = |(file, found): (&mut Arc<LinkedFile>, FileOptions)| {
        // What is kept is shared, and has its options.
        let Some(file) = Arc::get_mut(file) else { return Vec::new() };
        file.options = found.file;
        for (at, options) in found.elements {
            match at {
                OptionSlot::Message(at) => file.messages[at as usize].options = options,
                OptionSlot::Field(at) => file.fields[at as usize].options = options,
                OptionSlot::Oneof(at) => file.oneofs[at as usize] = options,
                OptionSlot::Enum(at) => file.enums[at as usize].options = options,
                OptionSlot::EnumValue(at) => file.values[at as usize] = options,
                OptionSlot::Service(at) => file.services[at as usize] = options,
                OptionSlot::Method(at) => file.methods[at as usize].options = options,
                OptionSlot::Range(at) => file.ranges[at as usize] = options,
            }
        }
        for import in &mut file.imports {
            import.used |= import.file.is_some_and(|target| found.used.contains(&target));
        }
        for (import, uses) in file.imports.iter_mut().zip(found.unknown_uses) {
            import.unknown_uses += uses;
        }
        found.problems
    };
    let problems = tree.files.par_iter_mut().zip(found).flat_map_iter(keep);
    tree.problems.par_extend(problems);
    let misplaced = find_misplaced(tree, kept);
    tree.problems.extend(misplaced);
}

/// Resolves the names in the options of each file, in the order of files: interprets them again.
pub(crate) fn resolve_names(tree: &Tree, names: &NameResolver<'_>) -> Vec<Vec<(Span, ElementId)>> {
    let types = collect_option_types(tree);
    let of_file = |index| {
        let file = FileId(index);
        let types = find_types(tree, &types, file)?;
        resolve_file_options(tree, names, file, types, Some(Vec::new())).meanings
    };
    let files = (0..tree.files.len() as u32).into_par_iter();
    files.map(|index| of_file(index).unwrap_or_default()).collect()
}

/// The options messages of the root of a file, else of any.
fn find_types<'a>(
    tree: &Tree,
    types: &'a [(u32, OptionTypes)],
    file: FileId,
) -> Option<&'a OptionTypes> {
    let root = tree.linked(file).decl.root;
    let own = types.iter().find(|(known, _)| *known == root).or(types.first());
    own.map(|(_, types)| types)
}

fn collect_option_types(tree: &Tree) -> Vec<(u32, OptionTypes)> {
    tree.files()
        .filter(|file| file.path() == DESCRIPTOR_PROTO)
        .map(|file| {
            let message = |name: &str| {
                file.messages().find(|message| message.name() == name).map(|message| message.id)
            };
            (file.decl().root, OptionTarget::ALL.map(|(_, name, _)| message(name)))
        })
        .collect()
}

/// The slot of a linked file that keeps the options of an element.
#[derive(Clone, Copy, Debug)]
enum OptionSlot {
    Message(u32),
    Field(u32),
    Oneof(u32),
    Enum(u32),
    EnumValue(u32),
    Service(u32),
    Method(u32),
    Range(u32),
}

#[derive(Default)]
struct FileOptions {
    file: OptionsLink,
    elements: Vec<(OptionSlot, OptionsLink)>,
    used: FxHashSet<FileId>,
    /// By the index of the import.
    unknown_uses: Vec<u32>,
    problems: Vec<Problem>,
    /// The element that each name means, where that was asked for.
    meanings: Option<Vec<(Span, ElementId)>>,
}

fn resolve_file_options(
    tree: &Tree,
    names: &NameResolver<'_>,
    file: FileId,
    types: &OptionTypes,
    meanings: Option<Vec<(Span, ElementId)>>,
) -> FileOptions {
    let decl = &*tree.linked(file).decl;
    let no_syntax = Ast::default();
    let links = &tree.linked(file).imports;
    let absent = MissingImports::of(decl, links.iter().map(|it| it.file), names.unreadable);
    let reader = AggregateReader {
        tree,
        ast: decl.ast().unwrap_or(&no_syntax),
        text: decl.strings.text(),
        finder: OptionNames { tree, names, file, used: FxHashSet::default(), absent, meanings },
        ignore_undeclared: false,
        as_written: false,
        faults: Vec::new(),
        max_faults: MAX_FAULTS,
        undeclared: Vec::new(),
    };
    let found = FileOptions::default();
    let cache = FxHashMap::default();
    let entries = EntryIndex::default();
    let mut interpreter = OptionResolver { reader, decl, file, types, cache, entries, found };
    interpreter.found.file = interpreter.resolve_element_options(
        decl.options,
        OptionTarget::File,
        Parent::File,
        &|| decl.path.to_string(),
    );
    let view = tree.file(file);
    for (at, message) in (0..).zip(&decl.messages) {
        if message.kind == MessageKind::MapEntry {
            continue;
        }
        let name = || tree.message(MessageId { file, index: at }).full_name();
        interpreter.set_options(
            OptionSlot::Message(at),
            message.options,
            OptionTarget::Message,
            message.parent,
            &name,
        );
        for at in indices(message.extension_ranges) {
            let options = decl.ranges[at as usize].options;
            let slot = OptionSlot::Range(at);
            interpreter.set_options(
                slot,
                options,
                OptionTarget::ExtensionRange,
                message.parent,
                &name,
            );
        }
    }
    for (at, field) in (0..).zip(&decl.fields) {
        let name = || tree.field(FieldId { file, index: at }).full_name();
        let reported = interpreter.found.problems.len();
        let counted = is_part_of_map(decl, field).then(|| interpreter.reader.finder.absent.clone());
        interpreter.set_options(
            OptionSlot::Field(at),
            field.options,
            OptionTarget::Field,
            field.parent,
            &name,
        );
        // The key and the value of a map repeat its options, already checked.
        if let Some(counted) = counted {
            interpreter.found.problems.truncate(reported);
            interpreter.reader.finder.absent = counted;
        }
    }
    for (at, oneof) in (0..).zip(&decl.oneofs) {
        let parent = Parent::Message(oneof.message);
        let name = || {
            let message = tree.message(MessageId { file, index: oneof.message });
            format!("{}.{}", message.full_name(), decl.str(oneof.name))
        };
        interpreter.set_options(
            OptionSlot::Oneof(at),
            oneof.options,
            OptionTarget::Oneof,
            parent,
            &name,
        );
    }
    for (at, item) in (0..).zip(view.all_enums()) {
        let item_decl = item.decl();
        let parent = item_decl.parent;
        interpreter.set_options(
            OptionSlot::Enum(at),
            item_decl.options,
            OptionTarget::Enum,
            parent,
            &|| item.full_name(),
        );
        for value in item.values() {
            let slot = OptionSlot::EnumValue(value.id.index);
            let name = || value.full_name();
            interpreter.set_options(
                slot,
                value.decl().options,
                OptionTarget::EnumValue,
                parent,
                &name,
            );
        }
    }
    for service in view.services() {
        let slot = OptionSlot::Service(service.id.index);
        let name = || service.full_name();
        interpreter.set_options(
            slot,
            service.decl().options,
            OptionTarget::Service,
            Parent::File,
            &name,
        );
        for method in service.methods() {
            let slot = OptionSlot::Method(method.id.index);
            let name = || method.full_name();
            interpreter.set_options(
                slot,
                method.decl().options,
                OptionTarget::Method,
                Parent::File,
                &name,
            );
        }
    }
    let mut found = interpreter.found;
    let OptionNames { used, absent, meanings, .. } = interpreter.reader.finder;
    found.used = used;
    found.meanings = meanings;
    found.unknown_uses = (0..links.len()).map(|index| absent.use_count(index)).collect();
    option_places::set(tree, decl, &mut found);
    found
}

/// Returns true if a field is the key or the value of a map.
fn is_part_of_map(decl: &FileDecl, field: &FieldDecl) -> bool {
    match field.parent {
        Parent::Message(index) => decl.messages[index as usize].kind == MessageKind::MapEntry,
        Parent::File => false,
    }
}

struct OptionResolver<'t> {
    reader: AggregateReader<'t, OptionNames<'t>>,
    decl: &'t FileDecl,
    file: FileId,
    types: &'t OptionTypes,
    /// Resolved names of extensions, by scope and the text of the name.
    cache: FxHashMap<(u32, &'t [u8]), FieldId>,
    entries: EntryIndex,
    found: FileOptions,
}

/// Looks up names as one file sees them.
struct OptionNames<'t> {
    tree: &'t Tree,
    names: &'t NameResolver<'t>,
    file: FileId,
    used: FxHashSet<FileId>,
    absent: MissingImports<'t>,
    meanings: Option<Vec<(Span, ElementId)>>,
}

impl Finder for OptionNames<'_> {
    fn find_extension(&mut self, message: MessageId, name: &str, at: Span) -> Option<FieldId> {
        // The search starts outside the message, as for the name of the
        // message itself.
        let view = self.tree.message(message);
        let scope = (message.file, view.decl().parent);
        let (id, named) =
            match self.names.resolve_as(self.file, scope, name, SymbolQuery::Any).ok()? {
                Symbol::Extension(id) => (id, ElementId::Field(id)),
                Symbol::Message(id) => {
                    (find_message_set_item(view, self.tree.message(id))?, ElementId::Message(id))
                }
                _ => return None,
            };
        self.mark_used(id.file);
        self.record_meaning(at, named);
        Some(id)
    }

    fn find_message(&mut self, full_name: &str, at: Span) -> Option<MessageId> {
        let name = format!(".{full_name}");
        match self.names.resolve(self.file, Parent::File, &name, SymbolQuery::Any).ok()? {
            Symbol::Message(id) => {
                self.record_meaning(at, ElementId::Message(id));
                Some(id)
            }
            _ => None,
        }
    }

    fn record_meaning(&mut self, at: Span, element: ElementId) {
        if let Some(meanings) = &mut self.meanings {
            meanings.push((at, element));
        }
    }

    fn mark_used(&mut self, file: FileId) {
        self.used.insert(file);
    }

    fn suggest_import(&self, message: MessageId, name: &str) -> Option<String> {
        let is_type = name.starts_with('.');
        let fits = |it| match it {
            Symbol::Message(_) => is_type,
            Symbol::Extension(id) => {
                !is_type && is_extension_of(self.tree.field(id), self.tree.message(message))
            }
            _ => false,
        };
        let (file, parent) = match is_type {
            true => (self.file, Parent::File),
            false => (message.file, self.tree.message(message).decl().parent),
        };
        let scope = if file == self.file { parent } else { Parent::File };
        let (_, help) =
            self.names.describe_not_found(self.file, scope, name, &NotFound::Nowhere, &fits);
        // A type URL has no dot before the name.
        help.map(|it| if is_type { it.replacen("`.", "`", 1) } else { it })
    }

    fn may_be_declared(&mut self, name: &str) -> bool {
        self.absent.may_declare(name, &NotFound::Nowhere)
    }
}

impl<'t> OptionResolver<'t> {
    fn set_options(
        &mut self,
        slot: OptionSlot,
        raw: RawOptions,
        target: OptionTarget,
        parent: Parent,
        element: &dyn Fn() -> String,
    ) {
        if raw != RawOptions::None {
            let options = self.resolve_element_options(raw, target, parent, element);
            self.found.elements.push((slot, options));
        }
    }

    /// Interprets the options of one element. Names are looked up in its
    /// parent.
    fn resolve_element_options(
        &mut self,
        raw: RawOptions,
        target: OptionTarget,
        parent: Parent,
        element: &dyn Fn() -> String,
    ) -> OptionsLink {
        // A descriptor.proto without the message has no such options.
        let ty = self.types[target as usize]?;
        match raw {
            RawOptions::None => None,
            RawOptions::Syntax(slice) if slice.range().is_empty() => None,
            RawOptions::Syntax(slice) => {
                let ids = &self.decl.option_ids[slice.range()];
                let mut options = Box::new(Message::new(ty));
                options.entries.reserve_exact(ids.len());
                self.entries.clear();
                // For protoc, looking up the options message counts as a use.
                self.reader.finder.mark_used(ty.file);
                for &id in ids {
                    self.resolve_option(&mut options, id, parent);
                }
                // Required fields of aggregates were already checked.
                let nodes = &self.reader.ast.options;
                if self.reader.faults.is_empty()
                    && ids.iter().any(|&id| nodes[id as usize].parts.range().len() > 1)
                {
                    for entry in &options.entries {
                        if let Value::Message(message) = &entry.value {
                            self.reader.check_required(message, entry.key);
                        }
                    }
                }
                self.report(element);
                (!options.entries.is_empty()).then_some(options)
            }
            RawOptions::Wire(span) => {
                let bytes = span.of(self.decl.strings.text());
                match Codec::new(self.reader.tree).decode(ty, bytes) {
                    Ok(options) => {
                        let options = options.normalize(self.reader.tree);
                        self.reader.finder.mark_used(ty.file);
                        self.mark_extensions_used(&options);
                        Some(Box::new(options))
                    }
                    Err(error) => {
                        self.found.problems.push(Problem {
                            kind: ProblemKind::DescriptorInvalid,
                            place: Place { file: self.file, span },
                            message: format!("the options are malformed: {error}"),
                            element: Some(element()),
                            labels: Vec::new(),
                            help: None,
                        });
                        None
                    }
                }
            }
        }
    }

    /// Records the files of the extensions that a serialised value sets.
    fn mark_extensions_used(&mut self, message: &Message) {
        for entry in &message.entries {
            if self.reader.tree.field(entry.field).is_extension() {
                self.reader.finder.mark_used(entry.field.file);
            }
            if let Value::Message(inner) = &entry.value {
                self.mark_extensions_used(inner);
            }
        }
    }

    fn report(&mut self, element: &dyn Fn() -> String) {
        let place = |span| Place { file: self.file, span };
        let problems = self.reader.faults.drain(..).map(|fault| Problem {
            kind: fault.kind,
            place: place(fault.span),
            message: fault.message,
            element: Some(element()),
            labels: fault.label.into_iter().map(|(span, text)| (place(span), text)).collect(),
            help: fault.help,
        });
        self.found.problems.extend(problems);
    }

    fn fail<T>(&mut self, fault: ValueError) -> Option<T> {
        self.reader.faults.push(fault);
        None
    }

    /// Interprets one option into the options message.
    fn resolve_option(
        &mut self,
        options: &mut Message,
        id: OptionId,
        parent: Parent,
    ) -> Option<()> {
        let (tree, ast, text) = (self.reader.tree, self.reader.ast, self.reader.text);
        let option = &ast.options[id as usize];
        let parts = ast.name_parts(option);
        let (first, last) = (parts.first()?, parts.len() - 1);
        if parts.len() > MAX_NESTING as usize {
            let text = format!("the name has more than {MAX_NESTING} parts");
            return self.fail(ValueError::new(option.name, text));
        }
        let is_features = !first.extension && first.name.of(text) == b"features";
        if first.name.of(text) == b"uninterpreted_option" {
            let text = "`uninterpreted_option` is internal to protoc and cannot be set";
            return self.fail(ValueError::new(first.span, text));
        }
        if is_features && !self.decl.edition.is_edition() {
            let mut fault = ValueError::new(option.name, "features can only be set in editions");
            fault.kind = ProblemKind::FeatureInvalid;
            return self.fail(fault.with_help("start the file with `edition = \"2023\";`"));
        }
        let mut message = options;
        let mut path = Vec::new();
        for (depth, part) in parts.iter().enumerate() {
            let view = tree.message(message.ty);
            let field = if part.extension {
                self.resolve_option_extension(view, part.name, parent)?
            } else {
                self.resolve_option_field(view, part, depth == 0)?
            };
            self.reader.finder.record_meaning(part.name, ElementId::Field(field.id));
            if is_features && field.id.file == self.file {
                let mut fault = ValueError::new(
                    part.span,
                    "a feature cannot be set in the file that declares it",
                );
                fault.kind = ProblemKind::FeatureInvalid;
                return self.fail(fault);
            }
            let repeated = field.cardinality() != Cardinality::Singular;
            if depth == last {
                return self.set((message, &path), field, part.span, option.value);
            }
            let Type::Message(ty) = field.ty() else {
                // An unresolved type is reported at the field.
                if field.ty() == Type::Unresolved {
                    return None;
                }
                let text = format!("`{}` is not a message and has no fields", field.name());
                return self.fail(ValueError::new(part.span, text));
            };
            if repeated {
                let text = format!("`{}` is repeated; its fields cannot be set", field.name());
                let fault = ValueError::new(part.span, text);
                return self.fail(fault.with_help("set a whole element with `{ … }`"));
            }
            let known = self.entries.find(message, &path, field.id);
            let at = known.unwrap_or_else(|| {
                message.entries.push(Entry {
                    field: field.id,
                    value: Value::Message(Box::new(Message::new(ty))),
                    key: part.span,
                    span: ast.values[option.value as usize].span,
                });
                message.entries.len() - 1
            });
            let Value::Message(inner) = &mut message.entries[at].value else { return None };
            message = &mut **inner;
            path.push(field.id);
        }
        None
    }

    fn set(
        &mut self,
        (message, path): (&mut Message, &[FieldId]),
        field: view::Field<'t>,
        key: Span,
        value: ValueId,
    ) -> Option<()> {
        if field.cardinality() == Cardinality::Singular
            && let Some(earlier) = self.entries.find(message, path, field.id)
            && let Some(earlier) = message.entries.get(earlier)
        {
            let mut fault =
                ValueError::new(key, format!("the option `{}` is set twice", field.name()));
            fault.label = Some((earlier.key, "set first here".to_owned()));
            return self.fail(fault);
        }
        let span = self.reader.ast.values[value as usize].span;
        let value = self.reader.read_statement(field, value)?;
        // Most messages hold one field.
        if message.entries.is_empty() {
            message.entries.reserve_exact(1);
        }
        message.entries.push(Entry { field: field.id, value, key, span });
        Some(())
    }

    fn resolve_option_field(
        &mut self,
        message: view::Message<'t>,
        part: &NamePart,
        outermost: bool,
    ) -> Option<view::Field<'t>> {
        let name = self.reader.text.str(part.name);
        if let Some(field) = message.field_named(name) {
            return Some(field);
        }
        let text = match outermost {
            true => format!("there is no option `{name}` here"),
            false => format!("`{}` has no field `{name}`", message.full_name()),
        };
        let mut fault = ValueError::new(part.span, text);
        fault.kind = ProblemKind::NameNotFound;
        fault.help =
            find_nearest(name, message.fields().map(view::Field::name)).map(suggest_word).or_else(
                || outermost.then(|| format!("write a custom option in parentheses: `({name})`")),
            );
        self.fail(fault)
    }

    fn resolve_option_extension(
        &mut self,
        message: view::Message<'t>,
        span: Span,
        parent: Parent,
    ) -> Option<view::Field<'t>> {
        // Usually no message declares the first component, so one answer holds
        // for the whole file.
        let name = span.of(self.reader.text);
        let length = name.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
        let first = self.reader.text.str(Span::new(span.start, span.start + length as u32));
        let scope = match self.reader.finder.names.find_nearest_scope(self.file, parent, first) {
            Parent::File => u32::MAX,
            Parent::Message(index) => index,
        };
        let key = (scope, name);
        let id = match self.cache.get(&key) {
            Some(&id) => id,
            None => {
                let id = self.resolve(span, parent, message)?;
                self.cache.insert(key, id);
                self.reader.finder.mark_used(id.file);
                id
            }
        };
        let field = self.reader.tree.field(id);
        if is_extension_of(field, message) {
            return Some(field);
        }
        let extendee = field.extendee().map(view::Message::full_name)?;
        let text = format!(
            "`{}` extends `{extendee}` and cannot be set in `{}`",
            field.name(),
            message.full_name()
        );
        self.fail(ValueError::new(span, text))
    }

    fn resolve(
        &mut self,
        span: Span,
        parent: Parent,
        message: view::Message<'t>,
    ) -> Option<FieldId> {
        let text = self.reader.text;
        let name = join_dotted_name(text, span).map_or(Cow::Borrowed(text.str(span)), Cow::Owned);
        let names = self.reader.finder.names;
        let (text, help) = match names.resolve(self.file, parent, &name, SymbolQuery::Any) {
            Ok(Symbol::Extension(id)) => return Some(id),
            Ok(symbol) => {
                let noun = symbol.noun();
                let article = crate::problem::choose_article(noun);
                (format!("`{name}` is {article} {noun}, not an option"), None)
            }
            Err(reason) if self.reader.finder.absent.may_declare(&name, &reason) => return None,
            Err(reason) => {
                let tree = self.reader.tree;
                let fits = |it| matches!(it, Symbol::Extension(id) if is_extension_of(tree.field(id), message));
                names.describe_not_found(self.file, parent, &name, &reason, &fits)
            }
        };
        let mut fault = ValueError::new(span, text);
        fault.kind = ProblemKind::NameNotFound;
        fault.help = help;
        self.fail(fault)
    }
}

/// The options that stand where they may not: not among the `targets` of their
/// field. Source: `ValidateOptionTargetConstraints` of protoc.
fn find_misplaced(tree: &Tree, kept: &ReusedFiles) -> Vec<Problem> {
    let targets = |options: &Message| -> Vec<i64> {
        options.get_all(tree, "targets").filter_map(|entry| entry.value.as_i64()).collect()
    };
    let files = || (0..tree.files.len() as u32).into_par_iter().map(FileId);
    let limited: FxHashMap<FieldId, Vec<i64>> = files()
        .flat_map_iter(|file| {
            let fields = (0..).zip(&tree.linked(file).fields);
            fields.filter_map(move |(index, link)| {
                Some((FieldId { file, index }, targets(link.options.as_deref()?)))
            })
        })
        .filter(|(_, targets)| !targets.is_empty())
        .collect::<Vec<_>>()
        .into_iter()
        .collect();
    if limited.is_empty() {
        return Vec::new();
    }
    let check_file = |file: FileId| {
        let linked = tree.linked(file);
        let mut problems = Vec::new();
        for (target, index, options) in set_options(linked) {
            let decl = &linked.decl;
            if target == OptionTarget::Field && is_part_of_map(decl, &decl.fields[index as usize]) {
                continue;
            }
            let mut pending = vec![options];
            while let Some(message) = pending.pop() {
                for entry in &message.entries {
                    pending.extend(entry.value.as_message());
                    let Some(targets) = limited.get(&entry.field) else { continue };
                    if targets.contains(&target.number().into()) {
                        continue;
                    }
                    let name = tree.field(entry.field).name();
                    problems.push(Problem {
                        kind: ProblemKind::OptionInvalid,
                        place: Place { file, span: entry.key },
                        message: format!("`{name}` cannot be set on {}", target.noun()),
                        element: Some(format_full_name(tree, file, target, index)),
                        labels: Vec::new(),
                        help: Some(format!("it can only be set on {}", format_targets(targets))),
                    });
                }
            }
        }
        problems
    };
    let is_new = |file: &FileId| kept.get(file.0 as usize).is_none();
    files().filter(is_new).flat_map_iter(check_file).collect()
}

/// The elements of a file that have options: what each is, its index in the file, and its options.
fn set_options(file: &LinkedFile) -> impl Iterator<Item = (OptionTarget, u32, &Message)> {
    fn of<L>(
        target: OptionTarget,
        links: &[L],
        options: fn(&L) -> &OptionsLink,
    ) -> impl Iterator<Item = (OptionTarget, u32, &Message)> {
        let links = (0..).zip(links);
        links.filter_map(move |(index, link)| Some((target, index, options(link).as_deref()?)))
    }
    of(OptionTarget::File, std::slice::from_ref(&file.options), |it| it)
        .chain(of(OptionTarget::Message, &file.messages, |it| &it.options))
        .chain(of(OptionTarget::ExtensionRange, &file.ranges, |it| it))
        .chain(of(OptionTarget::Field, &file.fields, |it| &it.options))
        .chain(of(OptionTarget::Oneof, &file.oneofs, |it| it))
        .chain(of(OptionTarget::Enum, &file.enums, |it| &it.options))
        .chain(of(OptionTarget::EnumValue, &file.values, |it| it))
        .chain(of(OptionTarget::Service, &file.services, |it| it))
        .chain(of(OptionTarget::Method, &file.methods, |it| &it.options))
}

/// The full name of such an element; that of the message for one of its extension ranges.
fn format_full_name(tree: &Tree, file: FileId, target: OptionTarget, index: u32) -> String {
    match target {
        OptionTarget::File => tree.file(file).full_name(),
        OptionTarget::ExtensionRange => {
            let holds = |it: &view::Message<'_>| {
                it.decl().extension_ranges.range().contains(&(index as usize))
            };
            let message = tree.file(file).all_messages().find(holds);
            message.map(view::Message::full_name).unwrap_or_default()
        }
        OptionTarget::Message => tree.message(MessageId { file, index }).full_name(),
        OptionTarget::Field => tree.field(FieldId { file, index }).full_name(),
        OptionTarget::Oneof => view::Oneof { tree, id: OneofId { file, index } }.full_name(),
        OptionTarget::Enum => tree.enumeration(EnumId { file, index }).full_name(),
        OptionTarget::EnumValue => {
            view::EnumValue { tree, id: EnumValueId { file, index } }.full_name()
        }
        OptionTarget::Service => view::Service { tree, id: ServiceId { file, index } }.full_name(),
        OptionTarget::Method => view::Method { tree, id: MethodId { file, index } }.full_name(),
    }
}

fn format_targets(targets: &[i64]) -> String {
    let nouns: Vec<&str> = OptionTarget::ALL
        .iter()
        .filter(|(target, ..)| targets.contains(&target.number().into()))
        .map(|(.., noun)| *noun)
        .collect();
    match nouns.as_slice() {
        [] => "nothing".to_owned(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
