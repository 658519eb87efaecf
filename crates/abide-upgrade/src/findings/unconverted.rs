//! Finds values that a release would lose: nothing converts them.

use std::collections::BTreeSet;

use abide_schema::Element;

use crate::candidate::{ValueConversion, find_lossy_reason, find_replacement};
use crate::plan::{
    FileRole, PackageSelection, ReleaseStage, UpgradeClosure, UpgradeInputs, UpgradeOptions,
    UpgradePlan, is_declared, is_deprecated,
};

/// An element that the next version does not have, and whose values nothing
/// converts.
pub struct UnconvertedElement<'t> {
    /// The element.
    pub element: Element<'t>,
    /// The reason for values that nothing converts: one lower-case phrase.
    pub reason: String,
}

/// The elements that a release would remove without a conversion: of the packages
/// that have a candidate, of those that follow them, and of those that people
/// replace by hand.
pub fn find_unconverted<'t>(basis: UpgradeInputs<'_, 't>) -> Vec<UnconvertedElement<'t>> {
    let UpgradeInputs { tree, settings, roles: standings, .. } = basis;
    let is_next = |it: &FileRole| matches!(it, FileRole::Candidate | FileRole::HandMaintained);
    if !tree.files().any(|it| is_next(&standings.get(it))) {
        return Vec::new();
    }
    let Ok(present) =
        UpgradePlan::build(basis, PackageSelection::Present(&[]), ReleaseStage::Candidate)
    else {
        return Vec::new();
    };
    let sources = tree.files().filter(|it| present.is_source(it.id));
    let sources: BTreeSet<String> = sources.map(|it| it.package().full_name()).collect();
    let packages: Vec<String> = sources.into_iter().collect();
    let options = UpgradeOptions { packages: &packages, closure: Some(UpgradeClosure::Package) };
    let choice = if packages.is_empty() {
        PackageSelection::Nothing
    } else {
        PackageSelection::Requested(&options)
    };
    let Ok(plan) = UpgradePlan::build(basis, choice, ReleaseStage::Candidate) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for element in tree.files().filter(|it| plan.is_source(it.id)).flat_map(|it| it.elements()) {
        let is_outer = is_declared(element)
            && !element.parent().is_some_and(|it| plan.is_removed_with_parent(it));
        if !is_outer || !plan.is_removed(element) || !is_deprecated(element) {
            continue;
        }
        let conversion = ValueConversion::decide(&plan, element);
        if !conversion.is_sufficient(element)
            && find_lossy_reason(settings.policy, element).is_none()
        {
            found.push(UnconvertedElement { element, reason: conversion.reason });
        }
    }
    let replaced = plan.hand_maintained.iter_replaced().flat_map(|(before, after)| {
        let next = tree.package(after).name();
        tree.package(before).files().flat_map(|it| it.elements()).map(move |it| (it, next))
    });
    for (element, next) in replaced {
        let is_gone = |it: Element<'t>| plan.hand_maintained.find_successor(it).is_none();
        let is_outer = is_declared(element) && !element.parent().is_some_and(is_gone);
        let named = || plan.hand_maintained.find_successor(find_replacement(element)?);
        if is_outer
            && is_gone(element)
            && !matches!(element, Element::Oneof(_))
            && named().is_none()
            && find_lossy_reason(settings.policy, element).is_none()
        {
            let reason = format!("`{next}` does not have it");
            found.push(UnconvertedElement { element, reason });
        }
    }
    found
}
