//! The changes in each package itself, and the bump that each of them needs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use abide_change::Sides;
use abide_schema::{Element, File, Package, Part, Tree};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::package_changes::PackageChanges;
use super::undescribed_changes::{PathsByName, UndescribedChanges};
use super::{BumpReason, ReleasedState, undescribed_changes};
use crate::exceptions::SecurityFixes;
use crate::finding::{Bump, Finding, Location, Severity, package_place};
use crate::policy::Policy;
use crate::rule::Report;
use crate::rules::{ENUM_RENAMED, MESSAGE_RENAMED, VERSION_NOT_BUMPED};

/// The changes in each package since a release: those that rules found, and
/// changes of meaning in existing packages that no rule found.
pub(super) fn collect_by_package(
    tree: &Tree,
    released: &ReleasedState<'_>,
    fixes: &SecurityFixes<'_>,
) -> BTreeMap<String, PackageChanges> {
    let mut packages = collect_described(tree, released, fixes);
    let sides = Sides::of(released.tree, tree);
    add_unnamed(&mut packages, sides.new_tree(), sides.old_tree(), fixes);
    packages
}

/// The changes that rules found.
fn collect_described(
    tree: &Tree,
    released: &ReleasedState<'_>,
    fixes: &SecurityFixes<'_>,
) -> BTreeMap<String, PackageChanges> {
    let mut packages: BTreeMap<String, (PathsByName, PackageChanges)> = BTreeMap::new();
    for (finding, spared) in released.all_changes() {
        let bump = compute_bump(finding, spared, fixes);
        if bump == Bump::None {
            continue;
        }
        let name = &finding.package;
        let (paths, changes) = packages.entry(name.clone()).or_insert_with(|| {
            let sides = [released.tree, tree].map(|it| it.package_named(name));
            (PathsByName::of(sides.into_iter().flatten()), PackageChanges::default())
        });
        let reason = BumpReason {
            rule: Some(finding.rule),
            element: finding.element.clone(),
            bump,
            message: finding.message.clone(),
            via: Vec::new(),
            waived: spared && compute_bump(finding, false, fixes) == Bump::Major,
        };
        changes.reasons.push((paths.path(&finding.element), reason));
    }
    packages
        .into_iter()
        .map(|(name, (_, mut changes))| {
            changes.sort();
            (name, changes)
        })
        .collect()
}

/// Adds changes of meaning that no rule found. They count as a minor, unless they
/// are marked as a security fix.
fn add_unnamed(
    packages: &mut BTreeMap<String, PackageChanges>,
    tree: &Tree,
    old: &Tree,
    fixes: &SecurityFixes<'_>,
) {
    let touched = find_touched_packages(tree, old);
    let pairs: Vec<_> = tree
        .packages()
        .filter(|it| it.is_judged())
        .filter_map(|it| Some((old.package_named(it.name())?, it)))
        .filter(|(old, new)| {
            let is_touched = |file: File<'_>| touched.contains(file.path());
            old.files().len() != new.files().len() || new.files().any(is_touched)
        })
        .collect();
    let none = PackageChanges::default();
    let found = pairs.par_iter().map(|&(old, new)| {
        let changes = packages.get(new.name()).unwrap_or(&none);
        let reason = |UndescribedChanges { path, is_marked }: UndescribedChanges| {
            let element = find_element(new, &path);
            let name = element.map_or_else(|| path.clone(), Element::full_name);
            let place = match element {
                Some(element) => Some(element.place(Part::Name)),
                None => package_place(new).filter(|_| path == new.name()),
            };
            let is_fix = is_marked
                || place.is_some_and(|place| {
                    let location = Location::tree(place);
                    fixes.covers(&Finding::new(
                        VERSION_NOT_BUMPED.id,
                        location,
                        new.name(),
                        &*name,
                        "",
                    ))
                });
            (path, BumpReason::unnamed(name, if is_fix { Bump::Patch } else { Bump::Minor }))
        };
        let found: Vec<_> =
            undescribed_changes::of(old, new, changes, fixes).into_iter().map(reason).collect();
        (new.name().to_owned(), found)
    });
    for (name, found) in found.collect::<Vec<_>>() {
        if !found.is_empty() {
            let changes = packages.entry(name).or_default();
            changes.reasons.extend(found);
            changes.sort();
        }
    }
}

fn find_element<'t>(package: Package<'t>, path: &str) -> Option<Element<'t>> {
    let mut elements = package.files().flat_map(File::elements);
    elements.find(|it| undescribed_changes::path_of(*it) == path)
}

/// The paths of the files that changed, or that import a changed file in any
/// number of steps: their meaning may have changed.
fn find_touched_packages<'t>(tree: &'t Tree, old: &Tree) -> BTreeSet<&'t str> {
    let before: FxHashMap<&str, File<'_>> = old.files().map(|it| (it.path(), it)).collect();
    let mut importers: FxHashMap<&str, Vec<File<'t>>> = FxHashMap::default();
    let mut open = Vec::new();
    let mut touched = BTreeSet::new();
    for file in tree.files() {
        // Files that still import a removed file are affected.
        let mut misses = false;
        for import in file.imports() {
            let path = &*import.decl.path;
            misses |= import.file.is_none() && before.contains_key(path);
            importers.entry(path).or_default().push(file);
        }
        let is_same = |old: &File<'_>| Arc::ptr_eq(old.shared_decl(), file.shared_decl());
        if misses || !before.get(file.path()).is_some_and(is_same) {
            open.push(file.path());
        }
    }
    while let Some(path) = open.pop() {
        if touched.insert(path) {
            open.extend(importers.get(path).into_iter().flatten().map(|it| it.path()));
        }
    }
    touched
}

/// The renamed messages and enums: the package, the old name and the new name.
pub(crate) fn collect_renames(findings: &[Finding]) -> impl Iterator<Item = [&str; 3]> {
    let is_one = |it: &&Finding| [MESSAGE_RENAMED.id, ENUM_RENAMED.id].contains(&it.rule);
    findings
        .iter()
        .filter(is_one)
        .filter_map(|it| Some([&*it.package, it.facts.first()?, &*it.element]))
}

/// The bump that a change needs, depending on whether a waiver covers it: major
/// if it is refused.
fn compute_bump(finding: &Finding, spared: bool, fixes: &SecurityFixes<'_>) -> Bump {
    let Some(change) = &finding.change else { return Bump::None };
    if change.bump == Bump::Major && !spared && finding.severity == Severity::Error {
        return Bump::Major;
    }
    // A new major version is always a new package.
    match change.bump.min(Bump::Minor) {
        Bump::Minor if fixes.covers(finding) => Bump::Patch,
        bump => bump,
    }
}

/// The changes in a report, waived ones last, each with the bump that its package
/// needs for it: major if the change is refused.
pub fn compute_bumps<'r>(
    tree: &Tree,
    old: &'r Tree,
    policy: &Policy,
    report: &'r Report,
) -> Vec<(&'r Finding, Bump)> {
    let fixes = SecurityFixes::of(tree, Some(old), policy);
    let (changes, spared) = (&report.findings, &report.exempted);
    let released = ReleasedState { tree: old, changes, spared, accepted: None };
    released.all_changes().map(|(it, spared)| (it, compute_bump(it, spared, &fixes))).collect()
}

/// The highest bump that any package needs for these findings and the waived
/// ones: major if one is refused. Also whether only a waiver or `abide.accepted`
/// keeps it from being a major. `are_all` is false if the findings are limited to
/// some surfaces; changes that no rule found are then not considered.
pub(crate) fn compute_required(
    tree: &Tree,
    policy: &Policy,
    released: &ReleasedState<'_>,
    are_all: bool,
) -> (Bump, bool) {
    let fixes = SecurityFixes::of(tree, Some(released.tree), policy);
    let changes = released.all_changes();
    let (bump, waives) = changes.fold((Bump::None, false), |(bump, any), (it, spared)| {
        let would = || compute_bump(it, false, &fixes) == Bump::Major;
        (bump.max(compute_bump(it, spared, &fixes)), any || spared && would())
    });
    // A change that no rule found is at most a minor.
    if !are_all || bump >= Bump::Minor {
        return (bump, waives);
    }
    let packages = collect_by_package(tree, released, &fixes);
    let reasons = packages.values().flat_map(PackageChanges::reasons);
    (reasons.map(|it| it.bump).max().unwrap_or_default(), waives)
}
