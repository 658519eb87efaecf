//! Versions that are not recorded, as findings.

use abide_schema::{Tree, format_api_name};
use semver::Version;

use super::{BumpReason, Plan, PlanVerdict};
use crate::finding::{Finding, Location, package_place};
use crate::rules::VERSION_NOT_BUMPED;

/// The findings of `abide check` about versions that are not recorded. The rules
/// about changes report the breaks. `command` records versions.
pub(crate) fn check_recorded(
    tree: &Tree,
    before: Option<&Tree>,
    is_whole: bool,
    plan: &Plan,
    command: &str,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &plan.packages {
        let name = &package.name;
        let Some(location) = find_location(tree, before, is_whole, name) else { continue };
        let recorded = package.recorded.as_ref();
        let message = match (package.verdict, recorded, &package.to) {
            // A waiting package is explained by the break it waits for.
            (
                PlanVerdict::Recorded
                | PlanVerdict::Refused
                | PlanVerdict::Early
                | PlanVerdict::Frozen
                | PlanVerdict::Waiting,
                ..,
            ) => continue,
            (_, None, Some(to)) => {
                format!("package `{name}` has no recorded version; it starts at {to}")
            }
            (_, Some(recorded), _) if package.hash_new.is_none() => {
                format!("package `{name}` was removed and is still on record as {recorded}")
            }
            (_, Some(recorded), Some(to)) if to > recorded => {
                format!("package `{name}` is recorded as {recorded} but needs {to}")
            }
            (_, Some(recorded), _) => match package.is_as_recorded() {
                Some(false) => format!("package `{name}` changed since {recorded} was recorded"),
                Some(true) => {
                    format!("version {recorded} of package `{name}` is not recorded here yet")
                }
                None => {
                    format!("the hash of package `{name}` at {recorded} is not recorded")
                }
            },
            (_, None, None) => continue,
        };
        let help = match package.verdict {
            PlanVerdict::Unknown => {
                format!("run `{command} --against SOURCE`, where SOURCE is the last release")
            }
            _ => format!("run `{command}`"),
        };
        let mut finding =
            Finding::new(VERSION_NOT_BUMPED.id, location, name, name.clone(), message);
        finding.why = package.reasons.first().map(BumpReason::to_string);
        finding.help(help);
        finding.fact(package.to.as_ref().map_or_else(String::new, Version::to_string));
        finding.fact(package.hash_new.map_or_else(String::new, |it| it.to_string()));
        findings.push(finding);
    }
    for (name, what) in &plan.forgotten {
        let Some(location) = find_location(tree, before, is_whole, name) else { continue };
        let message = format!("`abide.lock` no longer records {what}");
        let mut finding =
            Finding::new(VERSION_NOT_BUMPED.id, location, name, name.clone(), message);
        finding.why("what is not recorded can be changed, or used again, without a finding");
        finding.help(format!("run `{command}`, which brings the lines back")).fact(what);
        findings.push(finding);
    }
    findings
}

/// The place of a package. One that was removed is reported where it was, or else, if the tree is
/// whole and thus does not have it, at a package of the same API or at the first one.
fn find_location(
    tree: &Tree,
    before: Option<&Tree>,
    is_whole: bool,
    name: &str,
) -> Option<Location> {
    if let Some(package) = tree.package_named(name) {
        return package_place(package).filter(|_| package.is_judged()).map(Location::tree);
    }
    if let Some(place) = before.and_then(|it| it.package_named(name)).and_then(package_place) {
        return Some(Location::old(place));
    }
    let judged = || tree.packages().filter(|it| is_whole && it.is_judged());
    let api = format_api_name(name);
    let sibling = judged().filter(|it| api.is_some() && format_api_name(it.name()) == api).last();
    sibling.or_else(|| judged().next()).and_then(package_place).map(Location::tree)
}
