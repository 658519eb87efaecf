//! The deprecated elements that instances can use: what operators ask of an API.

use abide_schema::{Element, Tree};

use super::replacement::{find_advice, find_replacement};
use crate::inputs::FEATURE;

/// A deprecated message, field or enum value.
#[derive(Clone, Copy, Debug)]
pub struct UsableDeprecation<'t> {
    /// The element.
    pub element: Element<'t>,
    /// What takes its place.
    pub replacement: Option<Element<'t>>,
    /// True if readers refuse it unless an operator allows it.
    pub is_disallowed: bool,
}

/// The deprecated elements of a tree that instances can use, in the order of their names.
pub fn usable_deprecations(tree: &Tree) -> Vec<UsableDeprecation<'_>> {
    let elements = tree.files().filter(|it| it.is_judged()).flat_map(|file| file.elements());
    let usable = elements.filter_map(|element| {
        let is_disallowed = element.disallowed_by_default().is_some();
        let counts = is_disallowed || element.deprecated().is_some();
        let is_usable =
            matches!(element, Element::Message(_) | Element::Field(_) | Element::EnumValue(_));
        (counts && is_usable).then(|| {
            let replacement = find_replacement(tree, element);
            UsableDeprecation { element, replacement, is_disallowed }
        })
    });
    let mut usable: Vec<UsableDeprecation<'_>> = usable.collect();
    usable.sort_by_cached_key(|it| it.element.full_name());
    usable
}

impl<'t> UsableDeprecation<'t> {
    /// The word for what it is in machine-readable reports.
    pub fn kind(&self) -> &'static str {
        match self.element {
            Element::Message(_) => "message",
            Element::EnumValue(_) => "enum-value",
            _ => "field",
        }
    }

    /// The word for what readers do with it.
    pub fn phase(&self) -> &'static str {
        if self.is_disallowed { "disallowed" } else { "deprecated" }
    }

    /// The version since when it is deprecated, as it is annotated.
    pub fn since(&self) -> Option<&'t str> {
        self.element.deprecated_since().map(|(since, _)| since)
    }

    /// The full name of what takes its place.
    pub fn replacement(&self) -> Option<String> {
        self.replacement.map(Element::full_name)
    }

    /// What its comment says about a replacement, or how its major is left, if no element is named.
    pub fn advice(&self) -> Option<String> {
        self.replacement.is_none().then(|| find_advice(self.element)).flatten()
    }

    /// The key of runtime that decides about it, for elements of APIs whose readers have such keys.
    pub fn runtime_key(&self) -> Option<String> {
        let package = self.element.package().name();
        let has_runtime = ["envoy.", "udpa.", "xds."].iter().any(|it| package.starts_with(it));
        let has_key = has_runtime && !matches!(self.element, Element::Message(_));
        has_key.then(|| format!("{FEATURE}{}", self.element.full_name()))
    }
}
