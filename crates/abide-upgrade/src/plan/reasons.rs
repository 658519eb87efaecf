//! Reasons for the next major version.

use abide_schema::{Element, Field, File, Migration};

use super::file_elements::iter_extensions;
use super::next_name::{UNAVAILABLE, find_new_name};
use super::removal::{is_deprecated, is_removed};
use super::upgrade_policy::{UpgradePolicy, UpgradeReason};

/// Returns true if a file is a reason to upgrade everything in it.
pub(crate) fn has_file_reason(policy: &UpgradePolicy, file: File<'_>) -> bool {
    let is_renamed = |it: Field<'_>| {
        find_new_name(Element::Field(it)).is_some() && !is_deprecated(Element::Field(it))
    };
    policy.always.iter().any(|it| it.matches(file.package().name()))
        || policy.reasons.contains(&UpgradeReason::Renamed) && iter_extensions(file).any(is_renamed)
        || policy.reasons.contains(&UpgradeReason::Moved) && file.move_to_package().is_some()
}

/// Returns true if a type or a service itself is a reason to upgrade.
pub(crate) fn has_reason(policy: &UpgradePolicy, element: Element<'_>) -> bool {
    let has = |reason: UpgradeReason| policy.reasons.contains(&reason);
    let migrates = |element: Element<'_>| {
        element.migrations().iter().any(|(migration, _)| match migration {
            Migration::Rename(_) => has(UpgradeReason::Renamed),
            Migration::PromoteToOneof(_) => has(UpgradeReason::Promoted),
            Migration::MoveToPackage(_) => has(UpgradeReason::Moved),
        })
    };
    let goes = |element: Element<'_>, reason| has(reason) && is_deprecated(element);
    let migrates = |element: Element<'_>| !is_deprecated(element) && migrates(element);
    if goes(element, get_own_reason(element)) || migrates(element) {
        return true;
    }
    match element {
        Element::Message(message) => {
            let mut fields = message.fields().map(Element::Field);
            let mut oneofs = message.oneofs().map(Element::Oneof);
            fields.any(|it| goes(it, UpgradeReason::Deprecated) || migrates(it))
                || oneofs.any(|it| !is_removed(it) && migrates(it))
        }
        Element::Service(service) => service
            .methods()
            .map(Element::Method)
            .any(|it| goes(it, UpgradeReason::DeprecatedMethod) || migrates(it)),
        Element::Enum(it) => it.values().any(|value| {
            let element = Element::EnumValue(value);
            let reason = match (value.number(), value.name()) {
                (0, UNAVAILABLE) => UpgradeReason::Unavailable,
                _ => UpgradeReason::Deprecated,
            };
            goes(element, reason) || migrates(element)
        }),
        _ => false,
    }
}

/// The reason that a deprecated element is as a whole.
fn get_own_reason(element: Element<'_>) -> UpgradeReason {
    match element {
        Element::Message(_) | Element::Enum(_) => UpgradeReason::DeprecatedType,
        Element::Service(_) => UpgradeReason::DeprecatedService,
        Element::Method(_) => UpgradeReason::DeprecatedMethod,
        Element::Field(_) | Element::Oneof(_) | Element::EnumValue(_) => UpgradeReason::Deprecated,
    }
}

/// Finds the types of a file that need the next major version.
#[derive(Clone, Copy, Debug)]
pub(crate) enum UpgradeNeed {
    All,
    /// Those with a reason of their own.
    WithReason,
    None,
}

impl UpgradeNeed {
    pub(crate) fn contains(self, policy: &UpgradePolicy, element: Element<'_>) -> bool {
        match self {
            UpgradeNeed::All => true,
            UpgradeNeed::WithReason => has_reason(policy, element),
            UpgradeNeed::None => false,
        }
    }
}
