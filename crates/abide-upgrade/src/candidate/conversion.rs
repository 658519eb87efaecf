//! True if the values of what the next major version does not have can be converted.

use abide_schema::{Cardinality, Element, Field};

use super::named_replacement::{find_replacement, says_why_dropped};
use crate::plan::{UpgradePlan, UpgradePolicy};

/// The conversion of the values of a deprecated element.
pub(crate) struct ValueConversion {
    /// The full name of its replacement in the next version; empty if there is none.
    pub(crate) replacement: String,
    /// True if a program can translate the values with a mapping alone.
    pub(crate) translatable: bool,
    /// The reason: one lower-case phrase.
    pub(crate) reason: String,
}

impl ValueConversion {
    fn new_impossible(reason: String) -> ValueConversion {
        ValueConversion { replacement: String::new(), translatable: false, reason }
    }

    pub(crate) fn decide<'t>(plan: &UpgradePlan<'t>, element: Element<'t>) -> ValueConversion {
        if !plan.is_removed(element) {
            let reason = "it still exists in the new version".to_owned();
            return ValueConversion { replacement: String::new(), translatable: true, reason };
        }
        let Some(other) = find_replacement(element) else {
            return ValueConversion::new_impossible(match element.replaced_by() {
                Some((name, _)) => format!("its replacement `{name}` is not in the tree"),
                None => "neither `replaced_by` nor its comment names one replacement".to_owned(),
            });
        };
        let name = element.replaced_by().map_or(other.name(), |(name, _)| name);
        if plan.is_removed_with_parent(other) {
            return ValueConversion::new_impossible(format!(
                "its replacement `{name}` is removed too"
            ));
        }
        let replacement = match other.parent() {
            Some(parent) => {
                format!("{}.{}", plan.resolve_full_name(parent), plan.resolve_simple_name(other))
            }
            None => plan.resolve_full_name(other),
        };
        let (translatable, reason) = match (element, other) {
            (Element::Field(old), Element::Field(new)) => (
                old.parent() == new.parent() && has_same_values(old, new),
                "its replacement has values of the same type",
            ),
            (Element::EnumValue(old), Element::EnumValue(new)) => {
                (old.parent() == new.parent(), "its replacement is a value of the same enum")
            }
            _ => (false, ""),
        };
        let other = "its replacement has another type or is in another place";
        let reason = if translatable { reason } else { other }.to_owned();
        ValueConversion { replacement, translatable, reason }
    }

    /// Returns true if it says enough. Types, services and methods have no values of their
    /// own, so a name is all that can be said about them.
    pub(crate) fn is_sufficient(&self, element: Element<'_>) -> bool {
        let has_values = matches!(element, Element::Field(_) | Element::EnumValue(_));
        self.translatable || !has_values && !self.replacement.is_empty()
    }
}

/// Finds the declared reason for the loss of the values of an element, if there is one.
pub(crate) fn find_lossy_reason<'t>(
    policy: &UpgradePolicy,
    element: Element<'t>,
) -> Option<&'t str> {
    if let Some((reason, _)) = element.lossy() {
        return Some(reason);
    }
    if says_why_dropped(element) {
        return Some("its comment says why nothing replaces it");
    }
    let (name, within) = (element.full_name(), build_scoped_name(element));
    let is_meant =
        policy.lossy.iter().any(|it| it.matches_container(&name) || it.matches_container(&within));
    is_meant.then_some("the configuration says so")
}

/// The full name of an element, which for an enum value includes its enum.
fn build_scoped_name(element: Element<'_>) -> String {
    match element.parent() {
        Some(parent) => format!("{}.{}", parent.full_name(), element.name()),
        None => element.full_name(),
    }
}

fn has_same_values(old: Field<'_>, new: Field<'_>) -> bool {
    let fits = old.cardinality() == new.cardinality()
        || old.cardinality() == Cardinality::Singular && new.cardinality() == Cardinality::Repeated;
    old.ty() == new.ty() && fits && !old.is_map()
}
