//! `one-definition`.

use std::collections::BTreeMap;

use abide_schema::{Level, Package, Reach};
use fixedbitset::FixedBitSet;

use crate::dependencies::{
    Apis, is_earlier_major, judged, label_steps, phrase, set, stability, unversioned_reach,
};
use crate::finding::Severity;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "one-definition",
    summary: "a package reaches two versions of one API",
    group: Group::Dependencies,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    spares_work_in_progress: true,
    page: include_str!("one-definition.md"),
    check: Check::Tree(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let apis = Apis::new(context.tree);
    let reach = context.graph.reach(&Level::USED, |_| true);
    let rank = context.graph.circles();
    let direct = unversioned_reach(context);
    for package in context.tree.packages().filter(|it| it.is_judged() && !it.name().is_empty()) {
        let mut seen = reach.packages(judged(package));
        seen.insert(package.id.0 as usize);
        let versions = several(context, &apis, &seen);
        if versions.is_empty() {
            continue;
        }
        let below = below(&reach, package, &rank);
        for versions in versions {
            let joins = |a: Package<'_>, b: Package<'_>| {
                let has = |set: &FixedBitSet, it: Package<'_>| set.contains(it.id.0 as usize);
                !below.iter().any(|set| has(set, a) && has(set, b))
            };
            let told = |other: Package<'_>| {
                is_behind(other, package)
                    && direct.packages(judged(package)).contains(other.id.0 as usize)
            };
            let apart: Vec<Package<'_>> = versions
                .iter()
                .copied()
                .filter(|&a| {
                    versions.iter().any(|&b| {
                        a != b
                            && joins(a, b)
                            && !(a == package && told(b))
                            && !(b == package && told(a))
                    })
                })
                .collect();
            if !apart.is_empty() {
                report(context, sink, &reach, package, &apart);
            }
        }
    }
}

/// The APIs of which a set has several versions: those versions.
fn several<'t>(
    context: &Context<'t>,
    apis: &Apis<'t>,
    seen: &FixedBitSet,
) -> Vec<Vec<Package<'t>>> {
    let mut by_api: BTreeMap<usize, usize> = BTreeMap::new();
    for package in context.tree.packages().filter(|it| seen.contains(it.id.0 as usize)) {
        if let Some(api) = apis.of(package) {
            *by_api.entry(api).or_default() += 1;
        }
    }
    let several = by_api.into_iter().filter(|(_, count)| *count > 1);
    several
        .map(|(api, _)| {
            let versions = apis.versions(api).iter().copied();
            versions.filter(|it| seen.contains(it.id.0 as usize)).collect()
        })
        .collect()
}

/// For each judged package that `package` depends on directly: what it is seen
/// to reach from there, itself included. Where both versions are in one of
/// these, they meet further down. In a circle of packages each is further down
/// than the other: the first of them answers.
fn below<'t>(reach: &Reach<'_, 't>, package: Package<'t>, rank: &[usize]) -> Vec<FixedBitSet> {
    let mut by_package: BTreeMap<Package<'t>, Vec<_>> = BTreeMap::new();
    for file in reach.direct(judged(package)) {
        by_package.entry(file.package()).or_default().push(file);
    }
    let circle = |other: Package<'t>| rank[other.id.0 as usize] == rank[package.id.0 as usize];
    by_package
        .into_iter()
        .filter(|(other, _)| *other != package && other.is_judged() && !other.name().is_empty())
        .filter(|(other, _)| !circle(*other) || *other < package)
        .map(|(other, files)| {
            let mut set = reach.packages(files.into_iter());
            set.insert(other.id.0 as usize);
            set
        })
        .collect()
}

/// Whether `other` is a version of the same API that another rule reports where
/// `package` depends on it: an earlier major, or one that promises less.
fn is_behind(other: Package<'_>, package: Package<'_>) -> bool {
    is_earlier_major(other, package) || stability(other) < stability(package)
}

fn report<'t>(
    context: &Context<'t>,
    sink: &mut Sink,
    reach: &Reach<'_, 't>,
    package: Package<'t>,
    versions: &[Package<'t>],
) {
    let others = versions.iter().filter(|it| **it != package);
    let paths = reach.paths(judged(package), &set(context, others));
    let Some((first, _)) = paths.first().and_then(|(_, path)| path.split_first()) else { return };
    let names: Vec<String> = versions.iter().map(|it| format!("`{}`", it.name())).collect();
    let message = if versions.contains(&package) {
        let others: Vec<String> =
            paths.iter().map(|(other, _)| format!("`{}`", other.name())).collect();
        format!("`{}` reaches another version of itself: {}", package.name(), others.join(", "))
    } else {
        format!("`{}` reaches {} versions of one API: {}", package.name(), paths.len(), names.join(", "))
    };
    let finding = sink.report(first.used.place(), package.name(), package.name(), message);
    for (target, path) in &paths {
        let prefix = format!("to `{}`: ", target.name());
        let at_place = finding.at.is_none();
        if at_place {
            finding.at = Some(format!("{prefix}{}", phrase(&first.used)));
        }
        label_steps(finding, if at_place { &path[1..] } else { path }, &prefix);
    }
    finding.facts.extend(versions.iter().map(|it| it.name().to_owned()));
    finding.why(
        "two versions of one type do not mix: what one path returns, the other does not take, \
         and every user of this package carries both",
    );
    finding.help(format!("let both paths lead to the same version, {}", names[names.len() - 1]));
}
