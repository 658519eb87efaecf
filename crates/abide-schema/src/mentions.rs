//! Every name that is written in a file, and what it means.

use abide_syntax::{DeclKind, Lexer, Span, TokenKind, ValueKind};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::decl::{MessageKind, Node, Part, TypeDecl};
use crate::dynamic::{self as value, Entry, Value};
use crate::ids::{ElementId, FileId};
use crate::link::resolve_option_names;
use crate::tree::{
    Element, Field, File, MentionRow, MentionTable, Message, Method, NameMeaning, Tree, Type,
};

/// The element, file or package that a name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MentionTarget<'t> {
    /// An element: a type, a field, a value …
    Element(Element<'t>),
    /// The file that an import names.
    File(File<'t>),
    /// A package, or the beginning of the name of one.
    Package(&'t str),
}

/// A name in a file: one component of a dotted one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mention<'t> {
    /// Its place.
    pub span: Span,
    /// The dotted name that it is a component of.
    pub whole: Span,
    /// The element, file or package that it means.
    pub means: MentionTarget<'t>,
    /// True if this is where it is declared.
    pub declares: bool,
}

impl Mention<'_> {
    /// Returns true if it stands before the last component of its dotted name.
    pub fn is_qualifier(&self) -> bool {
        self.span.end != self.whole.end
    }
}

impl<'t> File<'t> {
    /// Every name in its source, in the order of places: none for a file that was read from a
    /// descriptor.
    pub fn mentions(self) -> impl ExactSizeIterator<Item = Mention<'t>> {
        let rows = &self.tree.mentions().files[self.id.0 as usize];
        rows.iter().map(move |row| self.resolve_mention(row))
    }

    fn resolve_mention(self, row: &MentionRow) -> Mention<'t> {
        let MentionRow { span, whole, declares, .. } = *row;
        let means = match row.means {
            NameMeaning::Element(id) => MentionTarget::Element(self.tree.element(id)),
            NameMeaning::File(id) => MentionTarget::File(self.tree.file(id)),
            NameMeaning::Package { of, length } => {
                let name = self.tree.file(of).package().name();
                MentionTarget::Package(name.get(..length as usize).unwrap_or(name))
            }
        };
        Mention { span, whole, means, declares }
    }
}

impl<'t> Element<'t> {
    /// Every place of the tree that names it, its declaration included, in the order of files and
    /// places.
    pub fn mentions(self) -> impl Iterator<Item = (File<'t>, Mention<'t>)> {
        let tree = self.file().tree;
        let table = tree.mentions();
        let found = table.by_element.get(&self.id()).into_iter().flatten();
        found.map(move |&(id, at)| {
            let file = tree.file(id);
            (file, file.resolve_mention(&table.files[id.0 as usize][at as usize]))
        })
    }

    /// Collects the new text at every place that names it, once it is called `name`. A group is one
    /// with its type: its field has the name of the type in lower case.
    pub fn collect_renames(self, name: &str) -> Vec<(File<'t>, Span, String)> {
        let (ty, field) = match self {
            Element::Message(it) => (self, it.group_field()),
            Element::Field(it) if it.is_group() => {
                (it.message_type().map_or(self, Element::Message), Some(it))
            }
            _ => (self, None),
        };
        let own = ty.mentions().map(|(file, it)| {
            let next = match ty {
                Element::Message(_) => {
                    find_field_named_by_type(file, it.span).map_or(name, Field::name)
                }
                _ => name,
            };
            (file, it.span, next.to_owned())
        });
        let mut found: Vec<_> = own.collect();
        if let Some(field) = field {
            let mentions = Element::Field(field).mentions();
            let is_lower = |(file, it): &(File<'_>, Mention<'_>)| {
                let text = file.decl().source_text().unwrap_or_default();
                it.span.str(text) == field.name()
            };
            let lower = mentions.filter(is_lower);
            found.extend(lower.map(|(file, it)| (file, it.span, name.to_ascii_lowercase())));
            found.sort_by_key(|(file, span, _)| (file.id, span.start));
        }
        found
    }
}

/// The field that a key names by the name of its type, although it is no group: in editions a field
/// that is written in the way of groups may be named so.
fn find_field_named_by_type(file: File<'_>, span: Span) -> Option<Field<'_>> {
    file.mentions().filter(|it| it.span == span).find_map(|it| match it.means {
        MentionTarget::Element(Element::Field(field)) if !field.is_group() => Some(field),
        _ => None,
    })
}

impl<'t> Message<'t> {
    /// Returns true if it is the type of a group, which is declared with its field.
    pub fn is_group(self) -> bool {
        self.decl().kind == MessageKind::Group
    }

    /// The field that is declared with it, if it is a group.
    fn group_field(self) -> Option<Field<'t>> {
        let is_it = |it: &Field<'t>| it.decl().ty == TypeDecl::Group(self.id.index);
        self.file().all_fields().find(is_it).filter(|_| self.is_group())
    }
}

impl Field<'_> {
    /// Returns true if it is a group, which is declared with its type.
    pub fn is_group(self) -> bool {
        matches!(self.decl().ty, TypeDecl::Group(_))
    }
}

impl Tree {
    fn mentions(&self) -> &MentionTable {
        self.mentions.get_or_init(|| {
            let in_options = resolve_option_names(self);
            let files = self.files().collect::<Vec<_>>().into_par_iter().zip(in_options);
            let files: Vec<Vec<MentionRow>> =
                files.map(|(file, in_options)| collect_rows(file, in_options)).collect();
            let mut by_element: FxHashMap<ElementId, Vec<(FileId, u32)>> = FxHashMap::default();
            for (id, rows) in (0..).map(FileId).zip(&files) {
                for (at, row) in (0..).zip(rows) {
                    if let NameMeaning::Element(element) = row.means {
                        by_element.entry(element).or_default().push((id, at));
                    }
                }
            }
            MentionTable { files, by_element }
        })
    }
}

/// The names in the source of a file. Those in its options are known.
fn collect_rows(file: File<'_>, in_options: Vec<(Span, ElementId)>) -> Vec<MentionRow> {
    let Some(text) = file.decl().source_text() else { return Vec::new() };
    let mut found = MentionCollector { file, text, rows: Vec::new() };
    for import in file.imports() {
        let span = file.place_of(import.decl.node, Part::Name).span;
        if let Some(target) = import.file {
            found.add(span, span, NameMeaning::File(target.id), false);
        }
    }
    if let Some(package) = file.decl().package {
        let span = file.place_of(package.node, Part::Name).span;
        found.add_package(&split_components(text, span), span, file, true);
    }
    for (span, element) in in_options {
        found.add_dotted(span, file.tree.element(element));
    }
    for element in file.elements() {
        found.add_element(element);
    }
    let mut rows = found.rows;
    rows.sort_by_key(|it| (it.span.start, it.span.end, !it.declares, it.means));
    // An `extend` block names its type once, for all of its fields.
    rows.dedup();
    rows
}

/// The components of a dotted name. Those of the host of a type URL are none.
fn split_components(text: &[u8], whole: Span) -> Vec<Span> {
    let mut lexer = Lexer::new(text, whole.start);
    let mut found = Vec::new();
    loop {
        let token = lexer.next_token();
        match token.kind {
            _ if token.span.start >= whole.end => return found,
            TokenKind::End => return found,
            TokenKind::Ident => found.push(token.span),
            TokenKind::Symbol(b'/') => found.clear(),
            _ => {}
        }
    }
}

struct MentionCollector<'t> {
    file: File<'t>,
    text: &'t [u8],
    rows: Vec<MentionRow>,
}

impl<'t> MentionCollector<'t> {
    fn add(&mut self, span: Span, whole: Span, means: NameMeaning, declares: bool) {
        if !span.is_empty() {
            self.rows.push(MentionRow { span, whole, means, declares });
        }
    }

    /// A dotted name of an element: what stands before its own name means what encloses it.
    fn add_dotted(&mut self, whole: Span, element: Element<'t>) {
        let components = split_components(self.text, whole);
        let mut rest = &components[..];
        let mut next = Some(element);
        while let (Some(element), Some((last, before))) = (next, rest.split_last()) {
            self.add(*last, whole, NameMeaning::Element(element.id()), false);
            (next, rest) = (element.parent(), before);
        }
        self.add_package(rest, whole, element.file(), false);
    }

    /// The last components of the name of a package.
    fn add_package(&mut self, components: &[Span], whole: Span, of: File<'t>, declares: bool) {
        let mut name = of.package().name();
        for span in components.iter().rev() {
            let length = name.len() as u32;
            self.add(*span, whole, NameMeaning::Package { of: of.id, length }, declares);
            name = name.rsplit_once('.').map_or("", |(before, _)| before);
        }
    }

    fn add_element(&mut self, element: Element<'t>) {
        // The entry of a map stands nowhere: its fields have the place of the map.
        let is_entry = |it: Element<'_>| matches!(it, Element::Message(it) if it.is_map_entry());
        if element.node() == Node::NONE || element.parent().is_some_and(is_entry) {
            return;
        }
        // The name of a group is that of its type.
        if !matches!(element, Element::Field(it) if it.is_group()) {
            let span = element.place(Part::Name).span;
            self.add(span, span, NameMeaning::Element(element.id()), true);
        }
        match element {
            Element::Field(field) => self.add_field(field),
            Element::Method(method) => {
                self.add_http(method);
                for (part, ty) in [(Part::Input, method.input()), (Part::Output, method.output())] {
                    if let Some(ty) = ty {
                        self.add_dotted(method.place(part).span, Element::Message(ty));
                    }
                }
            }
            Element::Message(message) => {
                for options in message.extension_range_options().flatten() {
                    self.add_declarations(options);
                }
            }
            Element::Oneof(_) | Element::Enum(_) | Element::EnumValue(_) | Element::Service(_) => {}
        }
    }

    fn add_field(&mut self, field: Field<'t>) {
        let tree = field.tree;
        let value = match field.decl().ty {
            TypeDecl::Map(_) => field.message_type().and_then(|it| it.fields().nth(1)),
            _ => Some(field),
        };
        let is_named = |it: &Field<'_>| matches!(it.decl().ty, TypeDecl::Named(_));
        let named = match value.filter(is_named).map(Field::ty) {
            Some(Type::Message(id)) => Some(Element::Message(tree.message(id))),
            Some(Type::Enum(id)) => Some(Element::Enum(tree.enumeration(id))),
            _ => None,
        };
        if let Some(named) = named {
            self.add_dotted(field.place(Part::Type).span, named);
        }
        if let Some(extendee) = field.extendee() {
            self.add_dotted(field.place(Part::Extendee).span, Element::Message(extendee));
        }
        self.default(field);
    }

    /// The fields that the paths and bodies of `google.api.http` name, and `method_signature`.
    fn add_http(&mut self, method: Method<'t>) {
        let tree = method.tree;
        for entry in method.options().iter().flat_map(|it| &it.entries) {
            let option = tree.field(entry.field);
            if !option.is_extension() {
                continue;
            }
            match (&*option.full_name(), &entry.value) {
                ("google.api.http", Value::Message(rule)) => self.add_http_rule(method, rule),
                ("google.api.method_signature", Value::String(text)) => {
                    let mut at = 0;
                    for path in text.split(',') {
                        let start = at + (path.len() - path.trim_start().len());
                        self.add_field_path(entry, start, path.trim(), method.input());
                        at += path.len() + 1;
                    }
                }
                _ => {}
            }
        }
    }

    fn add_http_rule(&mut self, method: Method<'t>, rule: &'t value::Message) {
        let tree = method.tree;
        for entry in &rule.entries {
            match (tree.field(entry.field).name(), &entry.value) {
                ("additional_bindings" | "custom", Value::Message(inner)) => {
                    self.add_http_rule(method, inner);
                }
                ("body", Value::String(path)) => {
                    self.add_field_path(entry, 0, path, method.input())
                }
                ("response_body", Value::String(path)) => {
                    self.add_field_path(entry, 0, path, method.output());
                }
                ("get" | "put" | "post" | "delete" | "patch" | "path", Value::String(text)) => {
                    for (at, _) in text.match_indices('{') {
                        let rest = text.get(at + 1..).unwrap_or_default();
                        let path = rest.split(['}', '=']).next().unwrap_or_default();
                        self.add_field_path(entry, at + 1, path, method.input());
                    }
                }
                _ => {}
            }
        }
    }

    /// The fields along a path in the string of an entry, which begins so far behind the quote.
    fn add_field_path(&mut self, entry: &Entry, start: usize, path: &str, of: Option<Message<'t>>) {
        let literal = entry.span.str(self.text);
        let is_plain = entry.value.as_str() == literal.get(1..literal.len().max(2) - 1);
        let mut message = of.filter(|_| is_plain);
        let mut at = entry.span.start + 1 + start as u32;
        for component in path.split('.') {
            let Some(field) = message.and_then(|it| it.field_named(component)) else { return };
            let span = Span::new(at, at + component.len() as u32);
            self.add(span, span, NameMeaning::Element(ElementId::Field(field.id)), false);
            message = field.message_type();
            at = span.end + 1;
        }
    }

    /// The names in the declarations of extensions: strings, with a dot before the name.
    fn add_declarations(&mut self, options: &'t value::Message) {
        let tree = self.file.tree;
        for declaration in options.get_all(tree, "declaration") {
            let Value::Message(declaration) = &declaration.value else { continue };
            for key in ["full_name", "type"] {
                let entries = declaration.get_all(tree, key);
                for Entry { value, span, .. } in entries {
                    let Some(name) = value.as_str().and_then(|it| it.strip_prefix('.')) else {
                        continue;
                    };
                    let inside = Span::new(span.start + 2, span.end.saturating_sub(1));
                    let is_plain = inside.str(self.text) == name;
                    if let Some(element) = tree.element_named(name).filter(|_| is_plain) {
                        self.add_dotted(inside, element);
                    }
                }
            }
        }
    }

    /// The enum value that is the default of a field.
    fn default(&mut self, field: Field<'t>) -> Option<()> {
        let (item, ast) = (field.enum_type()?, self.file.decl().ast()?);
        let DeclKind::Field(node) = ast.decls.get(field.decl().node.0 as usize)?.kind else {
            return None;
        };
        for option in &ast.options[node.options.range()] {
            let value = ast.values[option.value as usize].kind;
            if option.name.of(self.text) == b"default"
                && let ValueKind::Ident { negative: false, word } = value
                && let Some(value) = item.value_named(word.str(self.text))
            {
                let means = NameMeaning::Element(ElementId::EnumValue(value.id));
                self.add(word, word, means, false);
            }
        }
        Some(())
    }
}
