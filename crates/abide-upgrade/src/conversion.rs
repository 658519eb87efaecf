//! Whether the values of what the next major version does not have can be converted.

use std::collections::BTreeSet;

use abide_schema::{Cardinality, Element, Field};

use crate::basis::{Basis, Choice, UpgradeOptions};
use crate::file_elements::is_own;
use crate::next_version::Stage;
use crate::removal::deprecated;
use crate::standing::Standing;
use crate::upgrade_plan::UpgradePlan;
use crate::upgrade_policy::{Closure, UpgradePolicy};

/// What becomes of the values of a deprecated element.
pub(crate) struct Conversion {
    /// The full name of its replacement in the next version; empty if there is none.
    pub(crate) replacement: String,
    /// Whether a program can translate the values with a mapping alone.
    pub(crate) translatable: bool,
    /// Why: one lower-case phrase.
    pub(crate) reason: String,
}

impl Conversion {
    fn impossible(reason: String) -> Conversion {
        Conversion { replacement: String::new(), translatable: false, reason }
    }

    pub(crate) fn of<'t>(plan: &UpgradePlan<'t>, element: Element<'t>) -> Conversion {
        if !plan.removed(element) {
            let reason = "it still exists in the new version".to_owned();
            return Conversion { replacement: String::new(), translatable: true, reason };
        }
        let Some((name, _)) = element.replaced_by() else {
            let reason = "`replaced_by` is not set";
            return Conversion::impossible(reason.to_owned());
        };
        let Some(other) = element.replacement() else {
            return Conversion::impossible(format!("its replacement `{name}` is not in the tree"));
        };
        if plan.gone(other) {
            return Conversion::impossible(format!("its replacement `{name}` is removed too"));
        }
        let replacement = match other.parent() {
            Some(parent) => {
                format!("{}.{}", plan.name_after(parent), plan.simple_name_after(other))
            }
            None => plan.name_after(other),
        };
        let (translatable, reason) = match (element, other) {
            (Element::Field(old), Element::Field(new)) => (
                old.parent() == new.parent() && same_values(old, new),
                "its replacement has values of the same type",
            ),
            (Element::EnumValue(old), Element::EnumValue(new)) => {
                (old.parent() == new.parent(), "its replacement is a value of the same enum")
            }
            _ => (false, ""),
        };
        let other = "its replacement has another type or is in another place";
        let reason = if translatable { reason } else { other }.to_owned();
        Conversion { replacement, translatable, reason }
    }

    /// Whether it says enough. Types, services and methods have no values of their
    /// own, so a name is all that can be said about them.
    fn suffices(&self, element: Element<'_>) -> bool {
        let has_values = matches!(element, Element::Field(_) | Element::EnumValue(_));
        self.translatable || !has_values && !self.replacement.is_empty()
    }
}

/// Why the values of an element may get lost, if that is declared.
pub(crate) fn lossy<'t>(policy: &UpgradePolicy, element: Element<'t>) -> Option<&'t str> {
    if let Some((reason, _)) = element.lossy() {
        return Some(reason);
    }
    let (name, within) = (element.full_name(), name_within(element));
    let is_meant = policy.lossy.iter().any(|it| it.covers(&name) || it.covers(&within));
    is_meant.then_some("the configuration says so")
}

/// The full name of an element, which for an enum value includes its enum.
fn name_within(element: Element<'_>) -> String {
    match element.parent() {
        Some(parent) => format!("{}.{}", parent.full_name(), element.name()),
        None => element.full_name(),
    }
}

/// An element that the next version does not have, and whose values nothing
/// converts.
pub struct Unconverted<'t> {
    /// The element.
    pub element: Element<'t>,
    /// Why nothing converts them: one lower-case phrase.
    pub reason: String,
}

/// The elements that a release would remove without a conversion: of the packages
/// that have a candidate, of those that follow them, and of those that people
/// replace by hand.
pub fn unconverted<'t>(basis: Basis<'_, 't>) -> Vec<Unconverted<'t>> {
    let Basis { tree, settings, standings, .. } = basis;
    let is_next = |it: &Standing| matches!(it, Standing::Candidate | Standing::ByHand);
    if !tree.files().any(|it| is_next(&standings.file(it))) {
        return Vec::new();
    }
    let Ok(present) = UpgradePlan::of(basis, Choice::Present(&[]), Stage::Candidate) else {
        return Vec::new();
    };
    let sources = tree.files().filter(|it| present.generates(it.id));
    let sources: BTreeSet<String> = sources.map(|it| it.package().full_name()).collect();
    let packages: Vec<String> = sources.into_iter().collect();
    let options = UpgradeOptions { packages: &packages, closure: Some(Closure::Package) };
    let choice = if packages.is_empty() { Choice::Nothing } else { Choice::Asked(&options) };
    let Ok(plan) = UpgradePlan::of(basis, choice, Stage::Candidate) else { return Vec::new() };
    let mut found = Vec::new();
    for element in tree.files().filter(|it| plan.generates(it.id)).flat_map(|it| it.elements()) {
        let is_outer = is_own(element) && !element.parent().is_some_and(|it| plan.gone(it));
        if !is_outer || !plan.removed(element) || !deprecated(element) {
            continue;
        }
        let conversion = Conversion::of(&plan, element);
        if !conversion.suffices(element) && lossy(settings.policy, element).is_none() {
            found.push(Unconverted { element, reason: conversion.reason });
        }
    }
    let replaced = plan.by_hand.replaced().flat_map(|(before, after)| {
        let next = tree.package(after).name();
        tree.package(before).files().flat_map(|it| it.elements()).map(move |it| (it, next))
    });
    for (element, next) in replaced {
        let is_gone = |it: Element<'t>| plan.by_hand.successor(it).is_none();
        let is_outer = is_own(element) && !element.parent().is_some_and(is_gone);
        let named = || plan.by_hand.successor(element.replacement()?);
        if is_outer
            && is_gone(element)
            && !matches!(element, Element::Oneof(_))
            && named().is_none()
            && lossy(settings.policy, element).is_none()
        {
            let reason = format!("`{next}` does not have it");
            found.push(Unconverted { element, reason });
        }
    }
    found
}

fn same_values(old: Field<'_>, new: Field<'_>) -> bool {
    let fits = old.cardinality() == new.cardinality()
        || old.cardinality() == Cardinality::Singular && new.cardinality() == Cardinality::Repeated;
    old.ty() == new.ty() && fits && !old.is_map()
}
