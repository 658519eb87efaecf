//! Additions to candidates that an upgrade cannot carry along, and why.

use std::collections::BTreeMap;

use abide_schema::{Element, File};

use crate::plan::{
    CandidateAdditions, PackageSelection, ReleaseStage, UpgradeInputs, UpgradePlan,
    find_oneof_after,
};

/// An addition that no upgrade can carry along.
pub struct ImpossibleAddition<'t> {
    /// The addition.
    pub addition: Element<'t>,
    /// The reason.
    pub fault: AdditionFault<'t>,
}

/// The reason for an addition that cannot be carried along.
pub enum AdditionFault<'t> {
    /// The active version has an element with its number.
    Number(Element<'t>),
    /// The active version has an element with its name, or reserves the name with
    /// this element.
    Name(Element<'t>),
    /// The active version reserves its number or name in this element.
    Reserved(Element<'t>),
    /// The candidate is made without what contains it. The element of the active
    /// version that was made into its container, if there is one.
    NoContainer(Option<Element<'t>>),
}

/// The additions of a tree that cannot be carried along.
pub fn find_impossible_additions<'t>(basis: UpgradeInputs<'_, 't>) -> Vec<ImpossibleAddition<'t>> {
    let UpgradeInputs { tree, settings, roles: standings, .. } = basis;
    // Without its source nothing is known about a candidate.
    let candidates = standings.iter_candidates(tree).filter(|it| standings.has_active_source(*it));
    let additions: Vec<Element<'t>> = candidates
        .filter_map(|it| CandidateAdditions::find(settings.policy, it))
        .flat_map(CandidateAdditions::into_elements)
        .collect();
    if additions.is_empty() {
        return Vec::new();
    }
    let Ok(plan) =
        UpgradePlan::build(basis, PackageSelection::Present(&[]), ReleaseStage::Candidate)
    else {
        return Vec::new();
    };
    let sources = tree.files().filter(|it| plan.is_source(it.id)).flat_map(File::elements);
    let holds = |it: &Element<'t>| {
        matches!(it, Element::Message(_) | Element::Enum(_) | Element::Service(_))
    };
    let named: BTreeMap<String, Element<'t>> =
        sources.filter(holds).filter_map(|it| Some((plan.find_next_name(it)?, it))).collect();
    let fault = |addition: Element<'t>| -> Option<AdditionFault<'t>> {
        let Some(container) = addition.parent() else {
            let same =
                named.get(&addition.full_name()).filter(|it| !plan.is_removed_with_parent(**it));
            return same.map(|it| AdditionFault::Name(*it));
        };
        let source = named.get(&container.full_name()).copied();
        let Some(source) = source.filter(|it| !plan.is_removed_with_parent(*it)) else {
            return Some(AdditionFault::NoContainer(source));
        };
        find_conflict(&plan, addition, source)
    };
    additions
        .into_iter()
        .filter_map(|addition| Some(ImpossibleAddition { addition, fault: fault(addition)? }))
        .collect()
}

/// Finds the statement that an addition clashes with in the source of its container.
fn find_conflict<'t>(
    plan: &UpgradePlan<'t>,
    addition: Element<'t>,
    source: Element<'t>,
) -> Option<AdditionFault<'t>> {
    let name = addition.name();
    let all = source.members();
    let number = |it: Element<'_>| match it {
        Element::Field(it) => Some(it.number()),
        Element::EnumValue(it) => Some(it.number()),
        _ => None,
    };
    let own = number(addition);
    if let Some(other) = all.iter().find(|it| own.is_some() && number(**it) == own) {
        return Some(AdditionFault::Number(*other));
    }
    // The name of what is removed is reserved.
    let has_name = |it: &&Element<'t>| match plan.is_removed(**it) {
        true => own.is_some() && it.name() == name && number(**it).is_some(),
        false => plan.resolve_simple_name(**it) == name,
    };
    if let Some(other) = all.iter().find(has_name) {
        return Some(AdditionFault::Name(*other));
    }
    let reserves = |number: i32| match source {
        Element::Message(it) => it.is_reserved_number(number) || it.reserves_name(name),
        Element::Enum(it) => it.is_reserved_number(number) || it.is_reserved_name(name),
        _ => false,
    };
    if own.is_some_and(reserves) {
        return Some(AdditionFault::Reserved(source));
    }
    let Element::Field(field) = addition else { return None };
    let oneof = field.oneof().filter(|it| !it.is_synthetic())?;
    let is_made = all.iter().any(|it| match it {
        Element::Oneof(it) => it.name() == oneof.name() && !plan.is_removed(Element::Oneof(*it)),
        Element::Field(it) => find_oneof_after(*it) == Some(oneof.name()),
        _ => false,
    });
    (!is_made).then_some(AdditionFault::NoContainer(Some(source)))
}
