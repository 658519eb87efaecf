//! `one-definition`.

use std::collections::BTreeMap;

use abide_schema::{Level, Package, PackageId, Reach};
use fixedbitset::FixedBitSet;

use crate::dependencies::{
    Apis, is_earlier_major, judged, label_steps, phrase, set, stability, unversioned_reach,
};
use crate::finding::Severity;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "one-definition",
    summary: "a package that reaches two versions of one API",
    group: Group::Dependencies,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("one-definition.md"),
    check: Check::Tree(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let apis = Apis::new(context);
    let reach = context.graph().reach(&Level::USED, |_| true);
    let circles = context.graph().circles();
    let near = unversioned_reach(context);
    for package in context.tree.packages().filter(|it| it.is_judged() && !it.name().is_empty()) {
        let mut seen = reach.packages(judged(package));
        seen.insert(package.id.0 as usize);
        let versions = several(context, &apis, &seen);
        if versions.is_empty() {
            continue;
        }
        let below = below(&reach, package, &circles);
        let near = near.packages(judged(package));
        for versions in versions {
            let apart = |a: Package<'_>, b: Package<'_>| {
                let has = |set: &FixedBitSet, it: Package<'_>| set.contains(it.id.0 as usize);
                let meet_below = below.iter().any(|set| has(set, a) && has(set, b));
                let told = |other: Package<'_>| {
                    let major = |it: Package<'_>| it.version().map(|version| version.major);
                    major(other) == major(package)
                        || (has(&near, other) && is_behind(other, package))
                };
                !(a == b || meet_below || (a == package && told(b)) || (b == package && told(a)))
            };
            let (all, mut versions) = (versions.clone(), versions);
            versions.retain(|&a| all.iter().any(|&b| apart(a, b)));
            if !versions.is_empty() {
                report(context, sink, &reach, package, &versions);
            }
        }
    }
}

/// For each API that has several versions in a set, all these versions.
fn several<'t>(
    context: &Context<'t>,
    apis: &Apis<'_, 't>,
    seen: &FixedBitSet,
) -> Vec<Vec<Package<'t>>> {
    let packages = seen.ones().map(|index| context.tree.package(PackageId(index as u32)));
    let mut of_api: Vec<(usize, Package<'t>)> =
        packages.filter_map(|package| Some((apis.of(package)?, package))).collect();
    of_api.sort_unstable_by_key(|(api, _)| *api);
    let several = of_api.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1);
    several
        .map(|group| {
            let versions = apis.versions(group[0].0).iter().copied();
            versions.filter(|it| seen.contains(it.id.0 as usize)).collect()
        })
        .collect()
}

/// For each judged package that `package` depends on directly: the packages
/// reached through it, itself included. If one of these sets has both versions,
/// the paths join further down. Packages in a cycle are each further down than
/// the other, so the first of them is the one that is reported.
fn below<'t>(reach: &Reach<'_, 't>, package: Package<'t>, circles: &[usize]) -> Vec<FixedBitSet> {
    let mut by_package: BTreeMap<PackageId, Vec<_>> = BTreeMap::new();
    for file in reach.direct(judged(package)) {
        by_package.entry(file.package().id).or_default().push(file);
    }
    let circle = |it: Package<'t>| circles[it.id.0 as usize];
    by_package
        .into_iter()
        .map(|(other, files)| (package.tree.package(other), files))
        .filter(|(other, _)| *other != package && other.is_judged() && !other.name().is_empty())
        .filter(|(other, _)| circle(*other) != circle(package) || *other < package)
        .map(|(other, files)| {
            let mut set = reach.packages(files.into_iter());
            set.insert(other.id.0 as usize);
            set
        })
        .collect()
}

/// Whether another rule reports `package` where it depends on this version of
/// its own API: an earlier major, or one that promises less.
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
    let others = versions.iter().copied().filter(|it| *it != package);
    let paths = reach.paths(judged(package), &set(context, others));
    let Some((first, _)) = paths.first().and_then(|(_, path)| path.split_first()) else { return };
    let names: Vec<String> = versions.iter().map(|it| format!("`{}`", it.name())).collect();
    let message = if versions.contains(&package) {
        let others: Vec<String> =
            paths.iter().map(|(other, _)| format!("`{}`", other.name())).collect();
        format!("`{}` reaches another version of itself: {}", package.name(), others.join(", "))
    } else {
        let all = names.join(", ");
        format!("`{}` reaches {} versions of one API: {all}", package.name(), paths.len())
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
        "two versions of a type are different types: a value from one path cannot be passed to \
         the other, and every user of this package carries both",
    );
    finding.help(format!("make both paths use the same version, {}", names[names.len() - 1]));
}
