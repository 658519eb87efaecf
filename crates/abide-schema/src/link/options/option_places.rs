//! The places of options that were read from a descriptor: its source info names each by the path
//! of its field numbers.

use abide_syntax::Span;
use rustc_hash::FxHashMap;

use super::{FileOptions, OptionSlot};
use crate::decl::{DescriptorLocations, FileDecl, FileOrigin, Node};
use crate::dynamic::{Message, Value};
use crate::protobuf::descriptor_number::{
    enumeration, field, file, message, method, oneof, range, service, value,
};
use crate::tree::{Cardinality, Tree};

/// Sets the places of all options of a judged file. Of what others import, nothing is reported.
pub(super) fn set(tree: &Tree, decl: &FileDecl, found: &mut FileOptions) {
    let FileOrigin::Descriptor(locations) = &decl.origin else { return };
    if decl.imported || locations.serialized_span().is_none() {
        return;
    }
    if let Some(options) = &mut found.file {
        OptionPlacer { tree, locations, path: vec![file::OPTIONS] }
            .set_place(options, Span::default());
    }
    for (slot, options) in &mut found.elements {
        let Some(options) = options else { continue };
        let (node, number) = match *slot {
            OptionSlot::Message(at) => (decl.messages[at as usize].node, message::OPTIONS),
            OptionSlot::Field(at) => (decl.fields[at as usize].node, field::OPTIONS),
            OptionSlot::Oneof(at) => (decl.oneofs[at as usize].node, oneof::OPTIONS),
            OptionSlot::Enum(at) => (decl.enums[at as usize].node, enumeration::OPTIONS),
            OptionSlot::EnumValue(at) => (decl.values[at as usize].node, value::OPTIONS),
            OptionSlot::Service(at) => (decl.services[at as usize].node, service::OPTIONS),
            OptionSlot::Method(at) => (decl.methods[at as usize].node, method::OPTIONS),
            OptionSlot::Range(at) => (decl.ranges[at as usize].node, range::OPTIONS),
        };
        // The fields of a map entry repeat what the map field has.
        if node != Node::NONE {
            let mut path = locations.path(node);
            path.push(number);
            OptionPlacer { tree, locations, path }.set_place(options, Span::default());
        }
    }
}

struct OptionPlacer<'a> {
    tree: &'a Tree,
    locations: &'a DescriptorLocations,
    /// The path of the message that is placed.
    path: Vec<u32>,
}

impl OptionPlacer<'_> {
    /// Sets the places of what a message holds, which stands in `around` where it has no location of
    /// its own. Returns the first.
    fn set_place(&mut self, message: &mut Message, around: Span) -> Span {
        let mut counts = FxHashMap::default();
        let mut first = Span::default();
        for entry in &mut message.entries {
            let field = self.tree.field(entry.field);
            let depth = self.path.len();
            self.path.push(field.number() as u32);
            if field.cardinality() != Cardinality::Singular {
                let count: &mut u32 = counts.entry(entry.field).or_default();
                self.path.push(*count);
                *count += 1;
            }
            let mut span = self.locations.find_location(&self.path).unwrap_or(around);
            if let Value::Message(inner) = &mut entry.value {
                let inside = self.set_place(inner, span);
                span = if span == Span::default() { inside } else { span };
            }
            self.path.truncate(depth);
            (entry.key, entry.span) = (span, span);
            first = if first == Span::default() { span } else { first };
        }
        first
    }
}
