//! Versions that are not recorded, as findings.

use abide_schema::Tree;
use semver::Version;

use crate::finding::Finding;
use crate::location::Location;
use crate::places::package_place;
use crate::rules::VERSION_NOT_BUMPED;

use super::{Plan, Reason, Verdict};

/// The findings of `abide check` about versions that are not recorded. The rules
/// about changes report the breaks. `command` records versions.
pub(crate) fn findings(tree: &Tree, plan: &Plan, command: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &plan.packages {
        let named = tree.package_named(&package.name).filter(|it| it.is_judged());
        let Some(place) = named.and_then(package_place) else { continue };
        let name = &package.name;
        let recorded = package.recorded.as_ref();
        let message = match (package.verdict, recorded, &package.to) {
            // A waiting package is explained by the break it waits for.
            (
                Verdict::Recorded
                | Verdict::Refused
                | Verdict::Early
                | Verdict::Frozen
                | Verdict::Waiting,
                ..,
            ) => continue,
            (_, None, Some(to)) => {
                format!("package `{name}` has no recorded version; it starts at {to}")
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
            Verdict::Unknown => {
                format!("run `{command} --against SOURCE`, where SOURCE is the last release")
            }
            _ => format!("run `{command}`"),
        };
        let location = Location::tree(place);
        let mut finding =
            Finding::new(VERSION_NOT_BUMPED.id, location, name, name.clone(), message);
        finding.why = package.reasons.first().map(Reason::to_string);
        finding.help(help);
        finding.fact(package.to.as_ref().map_or_else(String::new, Version::to_string));
        finding.fact(package.hash_new.map_or_else(String::new, |it| it.to_string()));
        findings.push(finding);
    }
    findings
}
