//! The features of an element, each with what decides about it.

use abide_syntax::FieldLabel;

use crate::decl::Scalar;
use crate::protobuf::Edition;

use super::element::Element;
use super::features::{Features, Presence};
use super::linked_tree::Type;
use super::view::{Cardinality, Field, File};

/// A feature that has an effect on an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResolvedFeature<'t> {
    /// Its name in `FeatureSet`.
    pub name: &'static str,
    /// The name of its value.
    pub value: &'static str,
    /// What decides about it.
    pub source: FeatureSource<'t>,
}

/// What decides about a feature of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeatureSource<'t> {
    /// An option of the element, or of one around it.
    Element(Element<'t>),
    /// An option of the file.
    File(File<'t>),
    /// The default of the edition.
    Edition(Edition),
}

impl<'t> Element<'t> {
    /// The features that have an effect on the element. In proto2 and proto3 there are none that
    /// anything decides about.
    pub fn resolved_features(self) -> Vec<ResolvedFeature<'t>> {
        if !self.file().decl().edition.is_edition() {
            return Vec::new();
        }
        let (features, names): (Features, Vec<&'static str>) = match self {
            Element::Message(it) => (it.features(), vec!["json_format"]),
            Element::Enum(it) => (it.features(), vec!["enum_type", "json_format"]),
            Element::Field(it) => (it.features(), list_field_features(it)),
            Element::Oneof(_)
            | Element::EnumValue(_)
            | Element::Service(_)
            | Element::Method(_) => return Vec::new(),
        };
        let resolve = |name| ResolvedFeature {
            name,
            value: features.value_name(name),
            source: self.find_feature_source(name),
        };
        names.into_iter().map(resolve).collect()
    }

    /// Finds what decides about a feature of protobuf itself.
    pub fn find_feature_source(self, name: &str) -> FeatureSource<'t> {
        let file = self.file();
        let sets = |options: Option<&crate::dynamic::Message>| {
            let features = options.and_then(|it| it.get_message(file.tree, "features"));
            features.is_some_and(|it| it.get(file.tree, name).is_some())
        };
        let mut around = Some(self);
        while let Some(element) = around {
            if sets(element.options()) {
                return FeatureSource::Element(element);
            }
            around = match element {
                Element::Field(it) if it.real_oneof().is_some() => {
                    it.real_oneof().map(Element::Oneof)
                }
                _ => element.parent(),
            };
        }
        if sets(file.options()) {
            return FeatureSource::File(file);
        }
        FeatureSource::Edition(file.decl().edition)
    }
}

fn list_field_features(field: Field<'_>) -> Vec<&'static str> {
    let is_message = matches!(field.ty(), Type::Message(_));
    let is_list = field.decl().label == Some(FieldLabel::Repeated);
    let can_be_implicit = !is_message || field.features().presence == Presence::LegacyRequired;
    let can_differ = field.cardinality() == Cardinality::Singular
        && field.real_oneof().is_none()
        && !field.is_extension();
    let is_text = field.ty() == Type::Scalar(Scalar::String);
    let candidates = [
        (can_differ && can_be_implicit, "field_presence"),
        (is_list && field.is_packable(), "repeated_field_encoding"),
        (is_text, "utf8_validation"),
        (is_message && !field.is_map(), "message_encoding"),
    ];
    candidates.into_iter().filter(|it| it.0).map(|it| it.1).collect()
}
