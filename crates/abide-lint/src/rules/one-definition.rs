//! `one-definition`.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use abide_schema::{BitRow, DependencyLevel, Package, PackageId, ReachTable};
use abide_upgrade::UpgradeClosure;
use fixedbitset::FixedBitSet;

use crate::checks::{
    ApiVersions, add_step_labels, describe_use, is_earlier_major, judged, stability,
    unversioned_reach,
};
use crate::finding::{Finding, Severity};
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
    let apis = ApiVersions::new(context);
    let mut reach = context.graph().compute_reach(&DependencyLevel::USED, |_| true);
    let circles = context.graph().number_components();
    let near = unversioned_reach(context);
    let is_checked = |it: &Package<'_>| it.is_judged() && !it.name().is_empty();
    let packages: Vec<Package<'_>> = context.tree.packages().filter(is_checked).collect();
    // By package and API.
    let mut found: BTreeMap<(Package<'_>, Option<usize>), Vec<Package<'_>>> = BTreeMap::new();
    for strip in reach.split_targets(apis.all().filter(|versions| versions.len() > 1)) {
        let near_strip = OnceCell::new();
        for &package in &packages {
            let mut seen = strip.collect_reached(judged(package));
            add(&mut seen, &strip, package);
            let several = find_conflicts(&apis, &strip, &seen);
            if several.is_empty() {
                continue;
            }
            let below = reached_through_others(&reach, &strip, package, &circles);
            let near = near_strip.get_or_init(|| near.strip(strip.targets().to_vec()));
            let near = near.collect_reached(judged(package));
            for mut versions in several {
                let apart = |a: Package<'_>, b: Package<'_>| {
                    let has = |set: &FixedBitSet, it: Package<'_>| {
                        strip.column(it).is_some_and(|it| set.contains(it))
                    };
                    let meet_below = below.iter().any(|set| has(set, a) && has(set, b));
                    let told = |other: Package<'_>| {
                        let major = |it: Package<'_>| it.version().map(|version| version.major);
                        major(other) == major(package)
                            || (has(&near, other) && is_behind(other, package))
                    };
                    !(a == b
                        || meet_below
                        || (a == package && told(b))
                        || (b == package && told(a)))
                };
                let all = versions.clone();
                versions.retain(|&a| all.iter().any(|&b| apart(a, b)));
                if let Some(first) = versions.first() {
                    found.insert((package, apis.of(*first)), versions);
                }
            }
        }
    }
    for ((package, _), versions) in found {
        let finding = report(sink, &mut reach, package, &versions);
        if let Some(finding) = finding.filter(|_| is_made(context, package, &versions)) {
            finding.severity = Severity::Warning;
            finding.severity_reason = Some("an upgrade made the candidate".to_owned());
            finding.why(
                "the candidate uses the next version of an API of which it reaches the active one \
                 through a package that is not upgraded",
            );
            finding.help(advise_on_candidate(context));
        }
    }
}

/// Returns true if a package is a candidate that reaches an API in several versions because an
/// upgrade does not take every package along: it uses the next version of what it also reaches in
/// the active one. An upgrade by types also moves references to frozen types on, and only those.
fn is_made(context: &Context<'_>, package: Package<'_>, versions: &[Package<'_>]) -> bool {
    let by_types = context.policy.upgrade.closure == UpgradeClosure::Type;
    let active = versions.iter().filter(|it| !context.is_candidate(**it)).count();
    context.is_candidate(package) && (active == 1 || by_types)
}

/// Advice about a candidate, which nobody may edit.
fn advise_on_candidate(context: &Context<'_>) -> &'static str {
    if context.policy.upgrade.closure == UpgradeClosure::Type {
        "leave it: a release takes along every package that depends on what it makes stable; or \
         run `abide upgrade --closure package`"
    } else {
        "give the package between them a version of its own, or leave what it uses in the active \
         version"
    }
}

/// Adds a package to a set of columns, if it has one.
fn add<'t>(set: &mut FixedBitSet, strip: &BitRow<'_, '_, 't>, package: Package<'t>) {
    if let Some(column) = strip.column(package) {
        set.insert(column);
    }
}

/// For each API that has several versions in a set, these versions, the oldest first.
fn find_conflicts<'t>(
    apis: &ApiVersions<'_, 't>,
    strip: &BitRow<'_, '_, 't>,
    seen: &FixedBitSet,
) -> Vec<Vec<Package<'t>>> {
    let seen: Vec<Package<'t>> =
        seen.ones().filter_map(|column| strip.targets().get(column).copied()).collect();
    // A strip has the versions of an API side by side.
    let by_api = seen.chunk_by(|a, b| apis.same(*a, *b));
    by_api.filter(|versions| versions.len() > 1).map(<[_]>::to_vec).collect()
}

/// For each judged package that `package` depends on directly: the packages
/// reached through it, itself included. If one of these sets has both versions,
/// the paths join further down. Packages in a cycle are each further down than
/// the other, so the first of them is the one that is reported.
fn reached_through_others<'t>(
    reach: &ReachTable<'_, 't>,
    strip: &BitRow<'_, '_, 't>,
    package: Package<'t>,
    circles: &[usize],
) -> Vec<FixedBitSet> {
    let mut by_package: BTreeMap<PackageId, Vec<_>> = BTreeMap::new();
    for file in reach.iter_direct(judged(package)) {
        by_package.entry(file.package().id).or_default().push(file);
    }
    let circle = |it: Package<'t>| circles[it.id.0 as usize];
    by_package
        .into_iter()
        .map(|(other, files)| (package.tree.package(other), files))
        .filter(|(other, _)| *other != package && other.is_judged() && !other.name().is_empty())
        .filter(|(other, _)| circle(*other) != circle(package) || *other < package)
        .map(|(other, files)| {
            let mut set = strip.collect_reached(files.into_iter());
            add(&mut set, strip, other);
            set
        })
        .collect()
}

/// Returns true if another rule reports `package` where it depends on this version of its own API:
/// an earlier major, or one that promises less.
fn is_behind(other: Package<'_>, package: Package<'_>) -> bool {
    is_earlier_major(other, package) || stability(other) < stability(package)
}

fn report<'s, 't>(
    sink: &'s mut Sink,
    reach: &mut ReachTable<'_, 't>,
    package: Package<'t>,
    versions: &[Package<'t>],
) -> Option<&'s mut Finding> {
    let others: Vec<_> = versions.iter().copied().filter(|it| *it != package).collect();
    let paths = reach.find_paths(judged(package), &others);
    let (first, _) = paths.first().and_then(|(_, path)| path.split_first())?;
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
            finding.at = Some(format!("{prefix}{}", describe_use(&first.used)));
        }
        add_step_labels(finding, if at_place { &path[1..] } else { path }, &prefix);
    }
    finding.facts.extend(versions.iter().map(|it| it.name().to_owned()));
    finding.why(
        "two versions of a type are different types: a value from one path cannot be passed to \
         the other, and every user of this package carries both",
    );
    finding.help(format!("make both paths use the same version, {}", names[names.len() - 1]));
    Some(finding)
}
