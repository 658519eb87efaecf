//! Finds values that a release would lose: nothing converts them.

use std::collections::BTreeSet;

use abide_schema::Element;

use crate::candidate::{Conversion, lossy};
use crate::plan::{
    Basis, Choice, Closure, Stage, Standing, UpgradeOptions, UpgradePlan, deprecated, is_own,
};

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
