//! Values carried from a major version of an API to the next one, and back.
//!
//! On the wire a value of the old type is one of the new type, so fields keep their values by
//! number; renamed fields, enum values and promotions need no more. Types in an Any get their new
//! names. What has no field with its number follows declared steps; what is left is a
//! [`ConversionLoss`].

use std::collections::{BTreeSet, HashMap};

use abide_schema::value::{Codec, Message};
use abide_schema::{Field, MessageId, Tree};
use abide_syntax::Span;

use super::builtin_protos::DeclarationError;
use super::converter::Converter;
use super::mapping::VersionMapping;
use super::path::read_any_content;
use super::steps::{MigrationFile, MigrationStep, MigrationSteps};
use super::type_mapping::{Direction, TypeMapping};

/// More hops than any API has majors.
const MAX_HOPS: usize = 64;

/// Something of a value that the other version has no place for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversionLoss {
    /// Where it stands.
    pub span: Span,
    /// The full name of the field, enum value or message.
    pub element: String,
    /// One lower-case phrase.
    pub message: String,
    /// What is known about it.
    pub help: Option<String>,
}

/// What became of a part of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversionChange {
    /// Where it stands; empty if it is not in the text.
    pub span: Span,
    /// What it was: a name; empty if it is added.
    pub old: String,
    /// What it is now; empty if it is left out, because it means nothing any more.
    pub new: String,
}

/// A value in another version.
#[derive(Clone, Debug, PartialEq)]
pub struct ConvertedValue {
    /// The value. What the text still says about it has its place there; what differs has none.
    pub message: Message,
    /// What has no place in it.
    pub losses: Vec<ConversionLoss>,
    /// What changed, in the order of the text.
    pub changes: Vec<ConversionChange>,
}

/// Somebody who reads values of a version of an API as a release of it declares them.
#[derive(Clone, Copy, Debug)]
pub struct OlderReader<'r> {
    /// What the release declares, under the names of the newest one.
    pub release: &'r Tree,
    /// The features that the reader lists about itself.
    pub features: &'r BTreeSet<String>,
}

impl OlderReader<'_> {
    /// Returns true if the release declares a field.
    pub(super) fn has_field(&self, field: Field<'_>) -> bool {
        let message = field.containing_message().map(|it| it.full_name());
        let message = message.and_then(|name| self.release.message_named(&name));
        message.is_some_and(|it| it.field_numbered(field.number()).is_some())
    }
}

/// Translates values between the versions in one tree.
#[derive(Debug)]
pub struct VersionConverter<'t> {
    tree: &'t Tree,
    pub(super) type_mapping: TypeMapping<'t>,
    pub(super) steps: MigrationSteps,
    /// Elements of the older version, and what has their values in the newer one.
    pub(super) replacements: HashMap<String, String>,
    /// Elements whose values may get lost, and why.
    pub(super) lossy: HashMap<String, String>,
}

impl<'t> VersionConverter<'t> {
    /// A translator between the versions of the packages of a tree.
    ///
    /// # Errors
    /// A step that does not fit the tree: the first of them.
    pub fn new(
        tree: &'t Tree,
        mapping: VersionMapping,
        migrations: &[MigrationFile],
    ) -> Result<VersionConverter<'t>, DeclarationError> {
        let succession = TypeMapping::build(tree, &mapping);
        let steps = MigrationSteps::read(tree, &succession, migrations)?;
        let replacements = mapping.replacements.into_iter().collect();
        let lossy = mapping.lossy.into_iter().collect();
        Ok(VersionConverter { tree, type_mapping: succession, steps, replacements, lossy })
    }

    /// The steps between a type and what it becomes; if `is_within` a version, those for readers
    /// of its older releases.
    pub(super) fn find_steps_between(
        &self,
        old: MessageId,
        new: MessageId,
        way: &Direction,
        is_within: bool,
    ) -> &[MigrationStep] {
        if is_within {
            // The steps of a type with a successor lead there.
            let leads_on = self.type_mapping.find_next(old).is_some();
            return if leads_on { &[] } else { self.steps.get_steps(old) };
        }
        let (older, newer) = match way {
            Direction::Up(_) => (old, new),
            Direction::Down(_) => (new, old),
        };
        if older == newer && matches!(way, Direction::Down(_)) {
            return &[];
        }
        self.steps.get_steps(older)
    }

    /// The versions of a type, the oldest first.
    pub fn collect_versions(&self, ty: MessageId) -> Vec<MessageId> {
        let mut versions = vec![ty];
        while let Some(previous) = self.type_mapping.find_previous(versions[0])
            && !versions.contains(&previous)
        {
            versions.insert(0, previous);
        }
        while let Some(next) = versions.last().and_then(|it| self.type_mapping.find_next(*it))
            && !versions.contains(&next)
        {
            versions.push(next);
        }
        versions
    }

    /// The major that a value of a type goes down to if nobody says another.
    pub fn find_previous_major(&self, ty: MessageId) -> Option<u32> {
        let previous = self.type_mapping.find_previous(ty)?;
        Some(self.tree.message(previous).package().version().map_or(0, |it| it.major))
    }

    /// Carries a value all the way. Places of Structs are those of JSON or YAML if
    /// `structs_are_json`.
    pub fn convert(
        &self,
        value: &Message,
        way: &Direction,
        structs_are_json: bool,
    ) -> ConvertedValue {
        let mut carrier = Converter {
            translator: self,
            tree: self.tree,
            way,
            reader: None,
            structs_are_json,
            document_version: None,
            document_api: None,
            enclosing: Vec::new(),
            raised: Vec::new(),
            losses: Vec::new(),
            changes: Vec::new(),
        };
        let mut message = value.clone();
        for _ in 0..MAX_HOPS {
            let target = self.type_mapping.find_neighbour(message.ty, way).unwrap_or(message.ty);
            let package = self.tree.message(target).package();
            carrier.document_version = package.version().cloned();
            carrier.document_api = package.name().split('.').next();
            let next = carrier.convert_message(&message, target, Span::default());
            carrier.report_raised();
            if next == message {
                break;
            }
            message = next;
        }
        let Converter { mut losses, mut changes, .. } = carrier;
        losses.sort_by_key(|it| it.span.start);
        losses.dedup();
        changes.sort_by_key(|it| it.span.start);
        changes.dedup();
        ConvertedValue { message, losses, changes }
    }

    /// A value for a reader of an older release of the same version. A step is taken, downwards,
    /// where that release lacks what the step makes, or where the reader does not list the feature
    /// that the step names. Fields that the release lacks and no step moves stay as they are.
    pub fn convert_for_reader(&self, value: &Message, reader: OlderReader<'_>) -> ConvertedValue {
        let mut carrier = Converter {
            translator: self,
            tree: self.tree,
            way: &Direction::Down(u32::MAX),
            reader: Some(reader),
            structs_are_json: false,
            document_version: None,
            document_api: None,
            enclosing: Vec::new(),
            raised: Vec::new(),
            losses: Vec::new(),
            changes: Vec::new(),
        };
        let message = carrier.convert_message(value, value.ty, Span::default());
        let Converter { losses, changes, .. } = carrier;
        ConvertedValue { message, losses, changes }
    }

    /// The features that steps name.
    pub fn iter_features(&self) -> impl Iterator<Item = &str> {
        self.steps.iter_features()
    }

    /// Returns true if a value holds nothing that its types do not declare, Anys included: what
    /// must be so after a translation.
    pub fn is_known(&self, message: &Message) -> bool {
        let codec = Codec::new(self.tree);
        let again = codec.decode(message.ty, &codec.encode(message));
        again.is_ok_and(|it| self.has_no_unknown(&it))
    }

    fn has_no_unknown(&self, message: &Message) -> bool {
        let inside = |message: &Message| {
            let any = read_any_content(self.tree, message);
            let is_any = self.tree.message(message.ty).full_name() == "google.protobuf.Any";
            !is_any || message.entries.is_empty() || any.is_some_and(|it| self.has_no_unknown(&it))
        };
        let messages = || message.entries.iter().filter_map(|it| it.value.as_message());
        message.unknown.is_empty()
            && inside(message)
            && messages().all(|it| self.has_no_unknown(it))
    }
}
