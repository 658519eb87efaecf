//! The types that fields, extensions and methods name.

use std::sync::{Arc, OnceLock};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::decl::{FileDecl, MessageKind, Name, Parent, Part, Scalar, TypeDecl};
use crate::ids::{FileId, MessageId, PackageId};
use crate::link::MissingImports;
use crate::link::resolve::NameResolver;
use crate::link::symbol::{Scope, Symbol, SymbolQuery};
use crate::problem::{Place, Problem, ProblemKind, choose_article, find_nearest, suggest_word};
use crate::tree::{
    EnumLink, Features, FieldLink, ImportLink, LinkedFile, MessageLink, MethodLink, Type,
};

/// A file with its names and features resolved, and what is wrong with them.
pub(super) fn link_file(
    names: &NameResolver<'_>,
    index: usize,
    package: PackageId,
    imports: &[Option<FileId>],
) -> (LinkedFile, Vec<Problem>) {
    let decl = &names.files[index];
    let mut references = ReferenceLinker {
        names,
        file: FileId(index as u32),
        decl,
        found: FxHashMap::default(),
        methods: decl.methods.iter().map(|it| (it.service, decl.strings.bytes(it.name))).collect(),
        used: vec![],
        absent: MissingImports::of(decl, imports.iter().copied(), names.unreadable),
        problems: collect_local_problems(FileId(index as u32), decl),
    };
    let fields = (0..decl.fields.len() as u32).map(|at| references.link_field(at)).collect();
    let methods = (0..decl.methods.len() as u32).map(|at| references.link_method(at)).collect();
    let mut used = references.used;
    used.sort_unstable();
    used.dedup();
    let imports = imports
        .iter()
        .enumerate()
        .map(|(index, &file)| ImportLink {
            file,
            used: file.is_some_and(|file| {
                used.binary_search(&file).is_ok()
                    || names.unreadable.get(file.0 as usize) == Some(&true)
            }),
            unknown_uses: references.absent.use_count(index),
        })
        .collect();
    let mut file = LinkedFile {
        decl: Arc::clone(decl),
        is_reduced: false,
        package,
        imports,
        features: Features::from_edition(decl.edition),
        options: None,
        messages: vec![MessageLink::default(); decl.messages.len()],
        fields,
        oneofs: vec![None; decl.oneofs.len()],
        enums: vec![EnumLink::default(); decl.enums.len()],
        values: vec![None; decl.values.len()],
        services: vec![None; decl.services.len()],
        methods,
        ranges: vec![None; decl.ranges.len()],
        long_lists: OnceLock::new(),
        declarations: OnceLock::new(),
    };
    super::features::resolve(&mut file);
    (file, references.problems)
}

/// The problems found in one file alone, as problems of the tree.
fn collect_local_problems(file: FileId, decl: &FileDecl) -> Vec<Problem> {
    let place = |span| Place { file, span };
    let labels = |labels: &[(abide_syntax::Span, String)]| {
        labels.iter().map(|(span, text)| (place(*span), text.clone())).collect()
    };
    decl.problems
        .iter()
        .map(|problem| Problem {
            kind: problem.kind,
            place: place(problem.span),
            message: problem.message.clone(),
            element: Some(decl.path.to_string()),
            labels: labels(&problem.labels),
            help: problem.help.clone(),
        })
        .collect()
}

/// The references of one file.
struct ReferenceLinker<'a> {
    names: &'a NameResolver<'a>,
    file: FileId,
    decl: &'a FileDecl,
    /// Names that were found, by the scope that could hold their first component.
    found: FxHashMap<(Parent, SymbolQuery, &'a str), Symbol>,
    /// The names of the methods of each service.
    methods: FxHashSet<(u32, &'a [u8])>,
    used: Vec<FileId>,
    absent: MissingImports<'a>,
    problems: Vec<Problem>,
}

impl ReferenceLinker<'_> {
    fn link_field(&mut self, index: u32) -> FieldLink {
        let decl = self.decl;
        let field = &decl.fields[index as usize];
        let file = self.file;
        let place = |part| Place { file, span: decl.span(field.node, part) };
        let is_map_key = matches!(field.parent, Parent::Message(message)
            if self.decl.messages[message as usize].kind == MessageKind::MapEntry)
            && field.number == 1;
        // The entry has no source text, so its types point into the field.
        let type_place = place(if is_map_key { Part::Whole } else { Part::Type });
        let ty = match field.ty {
            TypeDecl::Scalar(scalar) => Type::Scalar(scalar),
            TypeDecl::Group(index) | TypeDecl::Map(index) => {
                Type::Message(MessageId { file: self.file, index })
            }
            TypeDecl::Named(name) | TypeDecl::GroupNamed(name) => {
                match self.resolve(field.parent, name, type_place, SymbolQuery::Type) {
                    Some(Symbol::Message(id)) => Type::Message(id),
                    Some(Symbol::Enum(id)) => Type::Enum(id),
                    _ => Type::Unresolved,
                }
            }
        };
        let extendee = field.extendee().and_then(|name| {
            let extendee_place = place(Part::Extendee);
            if let Some(noun) = self.find_hiding_member(field.parent, decl.str(name)) {
                let name = decl.str(name);
                let message =
                    format!("`{name}` is a {noun} of the enclosing message, not a message");
                let help = self.full_name_of(field.parent, name);
                self.report(ProblemKind::NameMisused, extendee_place, message, help);
                return None;
            }
            match self.resolve(field.parent, name, extendee_place, SymbolQuery::Any) {
                Some(Symbol::Message(id)) => Some(id),
                Some(Symbol::Enum(_)) => {
                    let message =
                        format!("`{}` is an enum and cannot be extended", self.decl.str(name));
                    self.report(ProblemKind::NameMisused, extendee_place, message, None);
                    None
                }
                _ => None,
            }
        });
        FieldLink {
            ty,
            extendee,
            features: crate::tree::Features::from_edition(self.decl.edition),
            options: None,
        }
    }

    /// Returns the full name to write for a type that a member with the same name hides.
    fn full_name_of(&self, parent: Parent, name: &str) -> Option<String> {
        let symbol = self.names.resolve(self.file, parent, name, SymbolQuery::Type).ok()?;
        let full_name = self.names.full_name(symbol);
        Some(format!("write the full name with a leading dot: `.{full_name}`"))
    }

    /// The field or oneof of an enclosing message that protoc finds before any
    /// type, for a simple name of an extended type.
    fn find_hiding_member(&self, mut parent: Parent, name: &str) -> Option<&'static str> {
        let (decl, file) = (self.decl, self.file);
        while let Parent::Message(index) = parent {
            let message = &decl.messages[index as usize];
            let scope = Scope::Message(MessageId { file, index });
            if self.names.symbols.find_all(scope, name).next().is_some() {
                return None;
            }
            if decl.fields[message.fields.range()].iter().any(|it| decl.str(it.name) == name) {
                return Some("field");
            }
            if decl.oneofs[message.oneofs.range()].iter().any(|it| decl.str(it.name) == name) {
                return Some("oneof");
            }
            parent = message.parent;
        }
        None
    }

    fn link_method(&mut self, index: u32) -> MethodLink {
        let method = &self.decl.methods[index as usize];
        let mut message = |name, part| {
            let place = Place { file: self.file, span: self.decl.span(method.node, part) };
            let text = self.decl.str(name);
            // protoc looks for the name in the service first, which has only
            // methods.
            if self.methods.contains(&(method.service, text.as_bytes())) {
                let message = format!("`{text}` is a method of the same service, not a message");
                let help = self.full_name_of(Parent::File, text);
                self.report(ProblemKind::MethodInvalid, place, message, help);
                return None;
            }
            match self.resolve(Parent::File, name, place, SymbolQuery::Any) {
                Some(Symbol::Message(id)) => Some(id),
                Some(Symbol::Enum(_)) => {
                    let text = format!("`{}` is an enum, not a message", self.decl.str(name));
                    self.report(ProblemKind::MethodInvalid, place, text, None);
                    None
                }
                _ => None,
            }
        };
        let input = message(method.input, Part::Input);
        let output = message(method.output, Part::Output);
        MethodLink { input, output, options: None }
    }

    /// `wanted` is [`Wanted::Any`] where protoc does not skip symbols that are
    /// not types: an inner one then hides an outer type.
    fn resolve(
        &mut self,
        parent: Parent,
        name: Name,
        place: Place,
        wanted: SymbolQuery,
    ) -> Option<Symbol> {
        let text = self.decl.str(name);
        let first = text.split('.').next().unwrap_or(text);
        let key = (self.names.find_nearest_scope(self.file, parent, first), wanted, text);
        if let Some(&symbol) = self.found.get(&key) {
            return Some(symbol);
        }
        match self.names.resolve(self.file, parent, text, wanted) {
            Ok(symbol @ (Symbol::Message(_) | Symbol::Enum(_))) => {
                self.used.extend(symbol.file());
                self.found.insert(key, symbol);
                Some(symbol)
            }
            Ok(symbol) => {
                let message = format!(
                    "`{text}` is {} {}, not a type",
                    choose_article(symbol.noun()),
                    symbol.noun()
                );
                self.report(ProblemKind::NameMisused, place, message, None);
                None
            }
            Err(reason) if self.absent.may_declare(text, &reason) => None,
            Err(reason) => {
                let fits = |it| match it {
                    Symbol::Message(_) => true,
                    Symbol::Enum(_) => wanted == SymbolQuery::Type,
                    _ => false,
                };
                let (message, mut help) =
                    self.names.describe_not_found(self.file, parent, text, &reason, &fits);
                // Only where any type may stand, a scalar one may.
                if wanted == SymbolQuery::Type && text.bytes().all(|it| it.is_ascii_lowercase()) {
                    let scalar = find_nearest(text, Scalar::iter_keywords());
                    help = scalar.map(suggest_word).or(help);
                }
                self.report(ProblemKind::NameNotFound, place, message, help);
                None
            }
        }
    }

    fn report(&mut self, kind: ProblemKind, place: Place, message: String, help: Option<String>) {
        let element = Some(self.decl.path.to_string());
        self.problems.push(Problem { kind, place, message, element, labels: Vec::new(), help });
    }
}
