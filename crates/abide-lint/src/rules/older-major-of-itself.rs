//! `older-major-of-itself`.

use std::collections::BTreeMap;

use abide_schema::Package;

use crate::checks::{
    ApiVersions, describe_path, is_earlier_major, judged, report, stability, unversioned_reach,
};
use crate::finding::Severity;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "older-major-of-itself",
    summary: "a package that depends on an earlier major version of itself",
    group: Group::Dependencies,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("older-major-of-itself.md"),
    check: Check::Tree(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let apis = ApiVersions::new(context);
    let mut reach = unversioned_reach(context);
    let mut older: BTreeMap<Package<'_>, Vec<Package<'_>>> = BTreeMap::new();
    for strip in reach.split_targets(apis.all()) {
        for &package in strip.targets().iter().filter(|it| it.is_judged()) {
            let reached = strip.collect_reached(judged(package));
            // An older major that is also less stable is reported by
            // `stable-depends-on-unstable` or `beta-depends-on-alpha`.
            let reached = reached.ones().filter_map(|it| strip.targets().get(it)).copied();
            older.entry(package).or_default().extend(reached.filter(|other| {
                apis.same(*other, package)
                    && is_earlier_major(*other, package)
                    && stability(*other) >= stability(package)
            }));
        }
    }
    for (package, older) in older {
        for (other, path) in reach.find_paths(judged(package), &older) {
            let message = format!(
                "`{}` depends on an earlier major version of itself, `{}`{}",
                package.name(),
                other.name(),
                describe_path(&path),
            );
            if let Some(finding) = report(sink, package, &path, message) {
                finding.fact(other.name());
                finding.why(
                    "the earlier major cannot be removed while this package depends on it, and \
                     every user of this package carries both",
                );
                finding.help(format!(
                    "copy the types that you need from `{}` into `{}` and use the copies",
                    other.name(),
                    package.name(),
                ));
            }
        }
    }
}
