//! The checks of one file: what they look at, and how they report.

use abide_syntax::Span;

use crate::decl::{FileDecl, MessageKind, Node, Part, TypeDecl};
use crate::dynamic::{self as value, Entry};
use crate::ids::{FieldId, MessageId};
use crate::problem::{Place, Problem, ProblemKind};
use crate::tree::{Element, File, LinkedFile, Tree};

/// An extension of a message by its number.
pub(super) struct NumberedExtension {
    pub(super) extendee: MessageId,
    pub(super) number: i32,
    pub(super) field: FieldId,
}

/// The result of the checks of one file.
pub(super) struct FileProblems {
    pub(super) problems: Vec<Problem>,
    pub(super) extensions: Vec<NumberedExtension>,
}

/// The checks of one file.
pub(super) struct FileCheck<'a> {
    pub(super) tree: &'a Tree,
    pub(super) file: File<'a>,
    pub(super) decl: &'a FileDecl,
    pub(super) linked: &'a LinkedFile,
    pub(super) seen: &'a mut SeenHashes,
    pub(super) extensions: Vec<NumberedExtension>,
    pub(super) problems: Vec<Problem>,
    /// The message whose next free number was asked for last, and the help that says it.
    pub(super) next_free: Option<(MessageId, Option<String>)>,
}

impl<'a> FileCheck<'a> {
    /// Adds a problem of an element; labels and help can be set on it.
    pub(super) fn report(
        &mut self,
        kind: ProblemKind,
        element: Element<'a>,
        span: Span,
        message: impl Into<String>,
    ) -> &mut Problem {
        self.push(kind, span, message.into(), element.full_name())
    }

    /// Adds a problem of the file itself.
    pub(super) fn report_file(
        &mut self,
        kind: ProblemKind,
        span: Span,
        message: impl Into<String>,
    ) -> &mut Problem {
        self.push(kind, span, message.into(), self.decl.path.to_string())
    }

    pub(super) fn push(
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

    /// Returns true if an option that protobuf declares is set to `true`.
    pub(super) fn is_set(&self, options: Option<&value::Message>, name: &str) -> bool {
        options.and_then(|options| options.get_bool(self.tree, name)) == Some(true)
    }

    /// Returns the place where an option is set; the name of its element if it was not read from
    /// source.
    pub(super) fn entry_span(&self, element: Element<'a>, entry: &Entry) -> Span {
        if entry.key.is_empty() { self.name_span(element) } else { entry.key.to(entry.span) }
    }

    /// The features that an option message sets, by name, with their values.
    pub(super) fn iter_set_features(
        &self,
        options: Option<&'a value::Message>,
    ) -> impl Iterator<Item = (&'a str, i64, &'a Entry)> + use<'a> {
        let tree = self.tree;
        let features = options.and_then(|options| options.get_message(tree, "features"));
        features.into_iter().flat_map(|features| &features.entries).filter_map(move |entry| {
            let field = tree.field(entry.field);
            let value = entry.value.as_i64().filter(|_| !field.is_extension())?;
            Some((field.name(), value, entry))
        })
    }

    pub(super) fn place(&self, span: Span) -> Place {
        Place { file: self.file.id, span }
    }

    pub(super) fn span(&self, node: Node, part: Part) -> Span {
        self.decl.span(node, part)
    }

    /// The place of the name of an element; for a synthesised one, the place
    /// of the field it was made for.
    pub(super) fn name_span(&self, element: Element<'a>) -> Span {
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

/// A set of hashes of names, to find out whether any name occurs twice without
/// sorting them.
pub(super) struct SeenHashes {
    /// The round in which a hash was seen, and the hash.
    slots: Vec<(u32, u32)>,
    round: u32,
    /// The number of hashes in this round.
    count: u32,
}

impl SeenHashes {
    const BITS: u32 = 11;

    pub(super) fn new() -> SeenHashes {
        SeenHashes { slots: vec![(0, 0); 1 << SeenHashes::BITS], round: 0, count: 0 }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.count = 0;
        self.round = match self.round.checked_add(1) {
            Some(round) => round,
            None => {
                self.slots.fill((0, 0));
                1
            }
        };
    }

    /// Returns true if this hash may have been seen before. Always true once the table
    /// is full.
    pub(super) fn insert(&mut self, hash: u64) -> bool {
        // The upper bits of a multiplicative hash are the better ones.
        let mut at = (hash >> (64 - SeenHashes::BITS)) as usize;
        let hash = (hash >> 16) as u32;
        self.count += 1;
        if self.count > 1 << (SeenHashes::BITS - 1) {
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
            at = (at + 1) % (1 << SeenHashes::BITS);
        }
    }
}

/// A hash of a name for [`Seen`] that ignores underscores and case, so it is
/// equal for names with the same JSON name or the same PascalCase form.
pub(super) fn hash_loosely(name: &[u8]) -> u64 {
    let letters = name.iter().filter(|&&byte| byte != b'_');
    let sum = letters.fold(0_u64, |hash, &byte| {
        (hash.rotate_left(5) ^ u64::from(byte | 0x20)).wrapping_mul(0x517c_c1b7_2722_0a95)
    });
    sum.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
