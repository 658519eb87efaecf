use std::cell::LazyCell;
use std::collections::BTreeSet;

use abide_schema::{File, Package, PackageVersionStatus, Place, Stability};
use abide_upgrade::{FileRole, find_candidate_packages};

use crate::finding::Severity;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "package-status-contradictory",
    summary: "a package status that contradicts another file or the version",
    group: Group::Lifecycle,
    severity: Some(Severity::Warning),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("package-status-contradictory.md"),
    check: Check::Tree(check),
};

type Declared<'t> = (File<'t>, PackageVersionStatus, Place);

fn check<'t>(context: &Context<'t>, sink: &mut Sink) {
    // A policy may give candidates the name of a stable version.
    let made = LazyCell::new(|| collect_candidates_of_active(context));
    for package in context.tree.packages().filter(|it| it.is_judged()) {
        let name = package.name();
        let declared: Vec<Declared<'t>> = read_statuses(package).collect();
        let Some(&(file, status, place)) = declared.first() else { continue };
        for &(other, differs, at) in declared.iter().filter(|&&(_, it, _)| it != status) {
            let (one, two) = (status.name(), differs.name());
            let message = format!("package `{name}` is declared both `{one}` and `{two}`");
            sink.report(at, name, other.path(), message)
                .label(place, format!("`{one}` here"))
                .help("declare the same status in all files of the package")
                .fact(file.path());
        }
        let Some(version) = package.version() else { continue };
        let candidate = status == PackageVersionStatus::NextMajorVersionCandidate;
        if candidate && version.stability != Stability::Alpha && !made.contains(name) {
            let stability = version.stability;
            let message =
                format!("package `{name}` is a candidate, but its version is {stability}");
            sink.report(place, name, name, message)
                .why("a candidate may still change in any way, but its version does not say so")
                .help(format!("change the version to `v{}alpha` until the release", version.major))
                .fact(status.name());
        }
    }
    for versions in context.apis().values() {
        let active: Vec<(Package<'t>, Place)> =
            versions.iter().filter_map(|it| Some((*it, find_active_status(*it)?))).collect();
        for pair in active.windows(2) {
            let [(old, place), (new, label)] = [pair[0], pair[1]];
            let (name, newer) = (old.name(), new.name());
            if old.is_judged() {
                sink.report(
                    place,
                    name,
                    name,
                    format!("package `{name}` is still active beside `{newer}`"),
                )
                .label(label, "the newer active major")
                .why("additions to the older major keep its users from moving to the newer one")
                .help(format!("set `package_version_status` of `{name}` to frozen"))
                .fact(newer);
            }
        }
    }
}

/// The packages that the candidates of the active packages are part of.
fn collect_candidates_of_active(context: &Context<'_>) -> BTreeSet<String> {
    let (policy, standings) = (&context.policy.upgrade, context.standings());
    let active = context
        .tree
        .packages()
        .filter(|package| package.files().any(|it| standings.get(it) == FileRole::Active));
    active.flat_map(|it| find_candidate_packages(policy, standings, it)).collect()
}

fn read_statuses<'t>(package: Package<'t>) -> impl Iterator<Item = Declared<'t>> {
    package.files().filter_map(|file| {
        let (status, place) = file.package_version_status()?;
        Some((file, status, place))
    })
}

/// Finds where a stable package is declared active.
fn find_active_status(package: Package<'_>) -> Option<Place> {
    let is_stable = package.version().is_some_and(|version| version.is_stable());
    let (_, status, place) = read_statuses(package).next().filter(|_| is_stable)?;
    (status == PackageVersionStatus::Active).then_some(place)
}
