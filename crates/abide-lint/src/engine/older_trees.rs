//! Several old trees: the changes since each are judged on their own, and an element is reported
//! once, with the old trees that it breaks.

use std::collections::BTreeSet;
use std::sync::Arc;

use abide_schema::Tree;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::pipeline::check_since;
use crate::finding::{BrokenBaseline, Finding, Location};
use crate::inputs::Options;
use crate::policy::Policy;
use crate::rule::Report;
use crate::rules::{self, find_rule};

/// The reports about the changes since each old tree but the newest, in their order.
pub(super) struct OlderReports<'t> {
    options: Options<'t>,
    reports: Vec<Report>,
}

impl<'t> OlderReports<'t> {
    /// Judges the changes since each of the old trees.
    pub(super) fn check(tree: &'t Tree, policy: &'t Policy, options: Options<'t>) -> Self {
        let since = Options {
            bump_baseline: None,
            counts_bump: false,
            accepted: None,
            versions: false,
            baseline_day: None,
            ..options
        };
        let trees: Vec<&'t Tree> = options.older.iter().map(|it| &it.tree).collect();
        // Releases of other parts of a repository leave a tree as it is.
        let is_new = |at: &usize| *at == 0 || !have_same_files(trees[*at - 1], trees[*at]);
        let distinct: Vec<usize> = (0..trees.len()).filter(is_new).collect();
        let judged = distinct.par_iter().map(|at| check_since(tree, policy, since, trees[*at]));
        let judged: Vec<Report> = judged.collect();
        let report = |at| judged[distinct.partition_point(|it| *it <= at) - 1].clone();
        let reports = (0..trees.len()).map(report).collect();
        OlderReports { options, reports }
    }

    /// Returns true if a waiver that matched nothing since the newest old tree matched nothing since
    /// any other either.
    pub(super) fn are_without(
        &self,
        is_unused: impl Fn(&BTreeSet<(&str, &Location)>) -> bool,
    ) -> bool {
        self.reports.iter().all(|report| {
            is_unused(&report.findings.iter().map(|it| (it.rule, &it.location)).collect())
        })
    }

    /// Adds the findings of all reports to those about the newest old tree. Each is then about one
    /// old tree.
    pub(super) fn add_to(&mut self, findings: &mut Vec<Finding>, exempted: &mut Vec<Finding>) {
        for finding in findings.iter_mut().chain(exempted.iter_mut()) {
            if is_about_old_tree(finding) {
                mark(finding, self.options.baseline_name);
            }
        }
        let mut before = self.options.baseline.map_or(0, |it| it.files().count());
        for (old, report) in self.options.older.iter().zip(&mut self.reports) {
            let lists = [(&mut report.findings, &mut *findings), (&mut report.exempted, exempted)];
            for (from, to) in lists {
                for mut finding in from.extract_if(.., |it| is_about_old_tree(it)) {
                    renumber(&mut finding, before as u32);
                    mark(&mut finding, &old.name);
                    to.push(finding);
                }
            }
            before += old.tree.files().count();
        }
    }

    /// Joins the findings about one element, with the old trees that they are about.
    pub(super) fn join(&self, findings: &mut Vec<Finding>) {
        let names: Vec<&str> = self.options.older.iter().map(|it| &*it.name).collect();
        let order = |it: &BrokenBaseline| names.iter().position(|name| *name == it.name);
        let mut joined: Vec<Finding> = Vec::new();
        let mut by_defect: FxHashMap<Defect, Vec<usize>> = FxHashMap::default();
        for finding in std::mem::take(findings) {
            let [baseline] = &finding.baselines[..] else {
                joined.push(finding);
                continue;
            };
            let same = by_defect.entry(Defect::of(&finding)).or_default();
            let has_name =
                |at: &&usize| joined[**at].baselines.iter().any(|it| it.name == baseline.name);
            let has_print = |at: &&usize| {
                joined[**at].baselines.iter().any(|it| it.fingerprint == baseline.fingerprint)
            };
            let free = || same.iter().filter(|at| !has_name(at));
            match free().find(has_print).or_else(|| free().next()) {
                Some(&at) => join_into(&mut joined[at], finding),
                None => {
                    same.push(joined.len());
                    joined.push(finding);
                }
            }
        }
        for finding in &mut joined {
            // The newest is none of the older ones.
            finding.baselines.sort_by_key(|it| order(it).unwrap_or(usize::MAX));
        }
        *findings = joined;
    }
}

/// The defect of an element that several old trees can show: the rule, the element, and the facts
/// that do not depend on what the element was.
#[derive(PartialEq, Eq, Hash)]
struct Defect {
    rule: &'static str,
    element: String,
    facts: Vec<String>,
}

impl Defect {
    fn of(finding: &Finding) -> Defect {
        let values = finding.change.as_ref().and_then(|it| it.values.as_ref());
        let is_value = |fact: &&String| values.is_some_and(|it| it.contains(fact));
        Defect {
            rule: finding.rule,
            element: finding.element.clone(),
            facts: finding.facts.iter().filter(|it| !is_value(it)).cloned().collect(),
        }
    }
}

/// Returns true if two trees consist of the same files, each of them read once.
fn have_same_files(one: &Tree, other: &Tree) -> bool {
    let mut both = one.files().zip(other.files());
    one.files().count() == other.files().count()
        && both.all(|(one, other)| Arc::ptr_eq(one.shared_decl(), other.shared_decl()))
}

/// Returns true if a finding compares with an old tree.
fn is_about_old_tree(finding: &Finding) -> bool {
    finding.change.is_some()
        || finding.rule == rules::IMPORTED_TYPE_CHANGED.id
        || find_rule(finding.rule).is_some_and(|it| it.needs_baseline())
}

/// Says which old tree a finding is about.
fn mark(finding: &mut Finding, name: &str) {
    let (name, fingerprint) = (name.to_owned(), finding.fingerprint());
    finding.baselines = vec![BrokenBaseline { name, fingerprint }];
}

/// Counts the files of the old trees before that of a finding.
fn renumber(finding: &mut Finding, before: u32) {
    finding.location.renumber_old(before);
    finding.labels.iter_mut().for_each(|it| it.location.renumber_old(before));
    let edits = finding.fixes.iter_mut().flat_map(|it| &mut it.edits);
    edits.for_each(|it| it.location.renumber_old(before));
    if let Some(old) = finding.change.as_mut().and_then(|it| it.old.as_mut()) {
        old.renumber_old(before);
    }
}

/// Joins two findings about one element: the more severe one says what is wrong, and of equals the
/// first.
fn join_into(first: &mut Finding, mut other: Finding) {
    if other.severity > first.severity {
        std::mem::swap(first, &mut other);
    }
    first.baselines.append(&mut other.baselines);
    let aliases = other.aliases.into_iter().filter(|it| !first.aliases.contains(it));
    first.aliases.extend(aliases.collect::<Vec<_>>());
    if let (Some(change), Some(other)) = (&mut first.change, other.change) {
        change.effects |= other.effects;
        change.bump = change.bump.max(other.bump);
    }
}

/// Returns true if a finding says that a waiver matches nothing.
pub(super) fn is_about_unused_waiver(finding: &Finding) -> bool {
    finding.rule == rules::WAIVER_UNUSED.id
}
