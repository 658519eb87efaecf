//! What protoc checks of files beyond their grammar and their names.
//!
//! Two parts: [`syntax`] looks at one file and knows its edition; the rest
//! looks at the linked tree. The source of each check is protobuf's parser.cc
//! and descriptor.cc, in what they refuse and in what they warn about.

mod editions;
mod enums;
mod extensions;
mod fields;
mod imports;
mod json;
mod lifetimes;
mod names;
mod numbers;
mod style;
pub(crate) mod syntax;

use abide_syntax::Span;
use rayon::prelude::*;

use crate::decl::{FileDecl, MessageKind, Node, Part, TypeDecl};
use crate::ids::{FieldId, FileId, MessageId};
use crate::link::Linker;
use crate::problem::{Place, Problem, ProblemKind};
use crate::tree::{Element, File, LinkedFile, Message, Tree};
use crate::value::{self, Entry};

/// Checks every file of a tree whose names, features and options are resolved.
/// The problems come in the order of files.
pub(crate) fn validate(tree: &Tree, linker: &Linker<'_>) -> Vec<Problem> {
    let mut broken = vec![false; tree.files.len()];
    for problem in tree.problems.iter().filter(|problem| problem.kind.is_error()) {
        broken[problem.place.file.0 as usize] = true;
    }
    let checked: Vec<Checked> = (0..tree.files.len())
        .into_par_iter()
        .map_init(Seen::new, |seen, index| {
            let id = FileId(index as u32);
            let linked = tree.linked(id);
            let check = Check {
                tree,
                file: tree.file(id),
                decl: &linked.decl,
                linked,
                seen,
                extensions: Vec::new(),
                problems: Vec::new(),
            };
            check.run(broken[index])
        })
        .collect();
    let mut problems = names::across_files(tree, linker);
    let mut extensions = Vec::new();
    for file in checked {
        problems.extend(file.problems);
        extensions.extend(file.extensions);
    }
    extensions::numbers(tree, extensions, &mut problems);
    problems
}

/// An extension of a message by its number.
struct Extension {
    extendee: MessageId,
    number: i32,
    field: FieldId,
}

/// What the checks of one file found.
struct Checked {
    problems: Vec<Problem>,
    extensions: Vec<Extension>,
}

/// The checks of one file.
struct Check<'a> {
    tree: &'a Tree,
    file: File<'a>,
    decl: &'a FileDecl,
    linked: &'a LinkedFile,
    seen: &'a mut Seen,
    extensions: Vec<Extension>,
    problems: Vec<Problem>,
}

impl<'a> Check<'a> {
    fn run(mut self, broken: bool) -> Checked {
        self.editions();
        self.imports();
        self.package();
        let mut limited = lifetimes::Limited::default();
        if let Some(options) = self.file.options() {
            self.lifetimes(None, options, &mut limited);
        }
        // What belongs together is looked at together: it is in the cache.
        for message in self.file.all_messages() {
            self.message(message, &mut limited);
        }
        for field in self.file.extensions() {
            self.field(field, &mut limited);
        }
        for item in self.file.all_enums() {
            self.enumeration(item);
            self.options_of(Element::Enum(item), &mut limited);
            for value in item.values() {
                self.options_of(Element::EnumValue(value), &mut limited);
            }
        }
        for service in self.file.services() {
            self.method_names(service);
            self.methods(service);
            self.options_of(Element::Service(service), &mut limited);
            for method in service.methods() {
                self.options_of(Element::Method(method), &mut limited);
            }
        }
        self.style();
        let is_error = |problem: &Problem| problem.kind.is_error();
        if !broken && !self.problems.iter().any(is_error) {
            self.unused_imports();
        }
        Checked { problems: self.problems, extensions: self.extensions }
    }

    fn message(&mut self, message: Message<'a>, limited: &mut lifetimes::Limited) {
        if message.decl().kind == MessageKind::MapEntry {
            // Made by the rules; only its types can be wrong.
            message.fields().for_each(|field| self.field(field, limited));
            return;
        }
        let alike = self.json_names(message);
        let decl = message.decl();
        let others = [decl.extensions, decl.oneofs, decl.messages, decl.enums];
        if alike || others.iter().any(|slice| slice.start < slice.end) {
            self.message_names(message);
        }
        self.message_numbers(message);
        self.message_set(message);
        let element = Element::Message(message);
        self.options_of(element, limited);
        let ranges = &self.linked.ranges[message.decl().extension_ranges.range()];
        for options in ranges.iter().flatten() {
            self.lifetimes(Some(element), options, limited);
        }
        for oneof in message.oneofs() {
            self.options_of(Element::Oneof(oneof), limited);
        }
        for field in message.fields().chain(message.extensions()) {
            self.field(field, limited);
        }
    }

    /// Adds a problem of an element; labels and help can be set on it.
    fn report(
        &mut self,
        kind: ProblemKind,
        element: Element<'a>,
        span: Span,
        message: impl Into<String>,
    ) -> &mut Problem {
        self.push(kind, span, message.into(), element.full_name())
    }

    /// Adds a problem of the file itself.
    fn report_file(
        &mut self,
        kind: ProblemKind,
        span: Span,
        message: impl Into<String>,
    ) -> &mut Problem {
        self.push(kind, span, message.into(), self.decl.path.to_string())
    }

    fn push(
        &mut self,
        kind: ProblemKind,
        span: Span,
        message: String,
        element: String,
    ) -> &mut Problem {
        self.problems.push(Problem {
            kind,
            place: Place { file: self.file.id, span },
            message,
            element: Some(element),
            labels: Vec::new(),
            help: None,
        });
        self.problems.last_mut().expect("a problem was just pushed")
    }

    /// Whether an option that protobuf declares is set to `true`.
    fn flag(&self, options: Option<&value::Message>, name: &str) -> bool {
        options.and_then(|options| options.bool(self.tree, name)) == Some(true)
    }

    /// Where an option stands; the name of its element where it was not read
    /// from source.
    fn entry_span(&self, element: Element<'a>, entry: &Entry) -> Span {
        if entry.key.is_empty() { self.name_span(element) } else { entry.key.to(entry.span) }
    }

    /// The features that an option message sets, by name, with their values.
    fn features_set(
        &self,
        options: Option<&'a value::Message>,
    ) -> impl Iterator<Item = (&'a str, i64, &'a Entry)> + use<'a> {
        let tree = self.tree;
        let features = options.and_then(|options| options.message(tree, "features"));
        features.into_iter().flat_map(|features| &features.entries).filter_map(move |entry| {
            let field = tree.field(entry.field);
            let value = entry.value.as_i64().filter(|_| !field.is_extension())?;
            Some((field.name(), value, entry))
        })
    }

    fn place(&self, span: Span) -> Place {
        Place { file: self.file.id, span }
    }

    fn span(&self, node: Node, part: Part) -> Span {
        self.decl.span(node, part)
    }

    /// Where the name of an element stands; what is synthesised stands where
    /// the field does that it was made for.
    fn name_span(&self, element: Element<'a>) -> Span {
        let decl = self.decl;
        let made_for = match element {
            Element::Message(message) if message.decl().kind == MessageKind::MapEntry => {
                let own = TypeDecl::Map(message.id.index);
                decl.fields.iter().find(|field| field.ty == own)
            }
            Element::Oneof(oneof) if oneof.is_synthetic() => {
                decl.fields.iter().find(|field| field.oneof == Some(oneof.id.index))
            }
            _ => None,
        };
        let node = made_for.map_or(element.node(), |field| field.node);
        self.span(node, Part::Name)
    }
}

/// Tells names apart by their hashes: whether any comes twice is then known
/// without sorting them.
struct Seen {
    /// In which round a hash was seen, and the hash.
    slots: Vec<(u32, u32)>,
    round: u32,
    /// How many hashes this round has.
    count: u32,
}

impl Seen {
    const BITS: u32 = 11;

    fn new() -> Seen {
        Seen { slots: vec![(0, 0); 1 << Seen::BITS], round: 0, count: 0 }
    }

    /// Forgets everything.
    fn clear(&mut self) {
        self.count = 0;
        self.round = match self.round.checked_add(1) {
            Some(round) => round,
            None => {
                self.slots.fill((0, 0));
                1
            }
        };
    }

    /// Whether this hash may have been seen before. With too many for the
    /// table it is always so.
    fn insert(&mut self, hash: u64) -> bool {
        // The upper bits of a multiplicative hash are the better ones.
        let mut at = (hash >> (64 - Seen::BITS)) as usize;
        let hash = (hash >> 16) as u32;
        self.count += 1;
        if self.count > 1 << (Seen::BITS - 1) {
            return true;
        }
        loop {
            let slot = &mut self.slots[at];
            if slot.0 != self.round {
                *slot = (self.round, hash);
                return false;
            }
            if slot.1 == hash {
                return true;
            }
            at = (at + 1) % (1 << Seen::BITS);
        }
    }
}

/// A hash of a name for [`Seen`] that passes over underscores and case, and so
/// is the same for names that have one JSON name or one PascalCase.
fn loose_hash(name: &[u8]) -> u64 {
    let letters = name.iter().filter(|&&byte| byte != b'_');
    let sum = letters.fold(0_u64, |hash, &byte| {
        (hash.rotate_left(5) ^ u64::from(byte | 0x20)).wrapping_mul(0x517c_c1b7_2722_0a95)
    });
    sum.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
