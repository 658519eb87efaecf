use std::collections::BTreeMap;

use abide_schema::Package;

use crate::finding::Severity;
use crate::places::package_place;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "too-many-majors",
    summary: "an API with more live major versions than the policy allows",
    group: Group::Lifecycle,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("too-many-majors.md"),
    check: Check::Tree(check),
};

fn check<'t>(context: &Context<'t>, sink: &mut Sink) {
    let Some(most) = context.policy.packages.max_majors else { return };
    for versions in context.apis().values() {
        let mut majors: BTreeMap<u32, Package<'t>> = BTreeMap::new();
        for &package in versions.iter().filter(|it| !context.is_frozen(**it)) {
            if let Some(version) = package.version() {
                majors.entry(version.major).or_insert(package);
            }
        }
        let Some(&oldest) = majors.values().next() else { continue };
        if majors.len() <= most as usize || !oldest.is_judged() {
            continue;
        }
        let name = oldest.name();
        let Some(place) = package_place(oldest) else { continue };
        let finding = sink.report(
            place,
            name,
            name,
            format!(
                "`{name}` is the oldest of {} major versions, but the policy allows {most}",
                majors.len()
            ),
        );
        finding
            .help(format!("freeze `{name}`, or remove it once it is no longer served"))
            .fact(majors.len().to_string());
        for (major, package) in majors.into_iter().skip(1) {
            if let Some(place) = package_place(package) {
                finding.label(place, format!("v{major}"));
            }
        }
    }
}
