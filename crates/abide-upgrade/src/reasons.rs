//! What calls for the next major version.

use abide_schema::{Element, File, Migration};

use crate::next_name::UNAVAILABLE;
use crate::removal::deprecated;
use crate::upgrade_policy::{UpgradePolicy, UpgradeReason};

/// Whether a file is a reason to upgrade everything in it.
pub(crate) fn file_has_reason(policy: &UpgradePolicy, file: File<'_>) -> bool {
    policy.always.iter().any(|it| it.matches(file.package().name()))
        || policy.reasons.contains(&UpgradeReason::Moved) && file.move_to_package().is_some()
}

/// Whether a type itself is a reason to upgrade.
pub(crate) fn has_reason(policy: &UpgradePolicy, element: Element<'_>) -> bool {
    let has = |reason: UpgradeReason| policy.reasons.contains(&reason);
    let migrates = |element: Element<'_>| {
        element.migrations().iter().any(|(migration, _)| match migration {
            Migration::Rename(_) => has(UpgradeReason::Renamed),
            Migration::PromoteToOneof(_) => has(UpgradeReason::Promoted),
            Migration::MoveToPackage(_) => has(UpgradeReason::Moved),
        })
    };
    match element {
        Element::Message(message) => message.fields().map(Element::Field).any(|field| {
            has(UpgradeReason::Deprecated) && deprecated(field)
                || !deprecated(field) && migrates(field)
        }),
        Element::Enum(it) => it.values().any(|value| {
            let element = Element::EnumValue(value);
            let reason = match (value.number(), value.name()) {
                (0, UNAVAILABLE) => UpgradeReason::Unavailable,
                _ => UpgradeReason::Deprecated,
            };
            has(reason) && deprecated(element) || migrates(element)
        }),
        _ => false,
    }
}

/// Which types of a file need the next major version.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Need {
    All,
    /// Those with a reason of their own.
    Some,
    None,
}

impl Need {
    pub(crate) fn of(self, policy: &UpgradePolicy, element: Element<'_>) -> bool {
        match self {
            Need::All => true,
            Need::Some => has_reason(policy, element),
            Need::None => false,
        }
    }
}
