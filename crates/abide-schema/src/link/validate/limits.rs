//! The sizes that edition 2026 limits.
//!
//! Source: `DescriptorBuilder::ValidateProtoLimits` and the feature `enforce_proto_limits`.

use crate::decl::{MessageKind, Part};
use crate::problem::ProblemKind;
use crate::tree::{Element, Enum, File, Message, Oneof};

use super::check::FileCheck;

// The numbers of `kLimit2026...` in descriptor.h of protobuf.
const FIELDS_OF_MESSAGE: usize = 1500;
const ONEOFS_OF_MESSAGE: usize = 1000;
const FIELDS_OF_ONEOF: usize = 1200;
const VALUES_OF_ENUM: usize = 1700;

impl<'t> File<'t> {
    /// The messages, oneofs and enums that are larger than edition 2026 allows. A oneof is left out
    /// if its message is one of them.
    pub fn elements_over_limits(self) -> impl Iterator<Item = Element<'t>> {
        let messages = self.all_messages().filter(|it| !it.is_map_entry());
        let of_messages = messages.flat_map(|message| {
            let written = message.oneofs().filter(|it| !it.is_synthetic());
            let oneofs: Vec<Oneof<'t>> = written.collect();
            let is_over =
                message.fields().len() > FIELDS_OF_MESSAGE || oneofs.len() > ONEOFS_OF_MESSAGE;
            let over = oneofs.into_iter();
            let over = over.filter(move |it| !is_over && it.fields().count() > FIELDS_OF_ONEOF);
            is_over.then_some(Element::Message(message)).into_iter().chain(over.map(Element::Oneof))
        });
        let enums = self.all_enums().filter(|it| it.values().len() > VALUES_OF_ENUM);
        of_messages.chain(enums.map(Element::Enum))
    }
}

impl<'a> FileCheck<'a> {
    pub(super) fn check_message_limits(&mut self, message: Message<'a>) {
        if message.decl().kind == MessageKind::MapEntry {
            return;
        }
        let oneofs = message.oneofs().filter(|it| !it.is_synthetic()).count();
        if message.features().limits_enforced {
            let element = Element::Message(message);
            let (count, limit) = (message.fields().len(), FIELDS_OF_MESSAGE);
            self.check_size(ProblemKind::FieldInvalid, element, count, limit, "fields");
            let (count, limit) = (oneofs, ONEOFS_OF_MESSAGE);
            self.check_size(ProblemKind::OneofInvalid, element, count, limit, "oneofs");
        }
        for oneof in message.oneofs() {
            let count = oneof.fields().count();
            if count > FIELDS_OF_ONEOF && self.has_limits(message, oneof) {
                let (element, limit) = (Element::Oneof(oneof), FIELDS_OF_ONEOF);
                self.check_size(ProblemKind::OneofInvalid, element, count, limit, "fields");
            }
        }
    }

    pub(super) fn check_enum_limits(&mut self, item: Enum<'a>) {
        if item.features().limits_enforced {
            let (element, count) = (Element::Enum(item), item.values().len());
            self.check_size(ProblemKind::EnumInvalid, element, count, VALUES_OF_ENUM, "values");
        }
    }

    /// Returns true if the limits of a oneof are enforced: it inherits the feature from its message
    /// unless it sets it.
    fn has_limits(&self, message: Message<'a>, oneof: Oneof<'a>) -> bool {
        let mut own = self.iter_set_features(oneof.options());
        match own.find(|(feature, ..)| *feature == "enforce_proto_limits") {
            Some((_, 1, _)) => false,
            Some((_, 2, _)) => true,
            _ => message.features().limits_enforced,
        }
    }

    fn check_size(
        &mut self,
        kind: ProblemKind,
        element: Element<'a>,
        count: usize,
        limit: usize,
        what: &str,
    ) {
        if count <= limit {
            return;
        }
        let span = self.span(element.node(), Part::Name);
        let noun = element.noun();
        let text = format!("the {noun} `{}` has {count} {what}", element.name());
        self.report(kind, element, span, text).help = Some(format!(
            "split it: {limit} are allowed, unless it sets `features.enforce_proto_limits = \
             LEGACY_NO_EXPLICIT_LIMITS`"
        ));
    }
}
