//! The errors that a command would bring into a tree.

use std::collections::BTreeMap;

use abide_schema::Tree;

use super::pipeline::check;
use crate::finding::{Finding, Group, Severity};
use crate::inputs::{Options, RuleScope};
use crate::policy::Policy;
use crate::rule::{Check, Report};
use crate::rules::{AFTER_FIXES, EARLY_MAJOR, find_rule};

/// The errors of the tree that a command would leave behind, `after`, that `before` does not have.
///
/// `source` names the file that one of `after` is made from, by the names that reports use. What a
/// made file has in common with its source is not new. Versions that are not recorded yet, and
/// majors that rise outside the window, are left to others.
pub fn new_errors<'t>(
    before: &'t Tree,
    after: &'t Tree,
    policy: &'t Policy,
    options: Options<'t>,
    source: &dyn Fn(&str) -> Option<&'t str>,
) -> Report {
    let options = Options {
        scope: RuleScope::Everything,
        baseline: Some(before),
        bump_baseline: None,
        counts_bump: false,
        changes: false,
        surfaces: &[],
        versions: false,
        partial: false,
        reached: None,
        ..options
    };
    let known = check(before, policy, Options { accepted: None, ..options });
    let mut by_fingerprint: BTreeMap<String, usize> = BTreeMap::new();
    let mut by_file: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for finding in known.findings.iter().chain(&known.exempted) {
        *by_fingerprint.entry(finding.fingerprint()).or_default() += 1;
        if finding.severity < Severity::Error {
            continue;
        }
        *by_file.entry((finding.rule, path(before, finding))).or_default() += 1;
    }
    let mut found = check(after, policy, options);
    found.retain(|finding| {
        if let Some(left) = by_fingerprint.get_mut(&finding.fingerprint()).filter(|it| **it > 0) {
            *left -= 1;
            return false;
        }
        if finding.severity != Severity::Error || !is_judged(finding.rule) {
            return false;
        }
        // A finding that only has another name, or other words, is not new.
        let path = path(after, finding);
        let own = if is_carried(finding) { source(path).unwrap_or(path) } else { return true };
        match by_file.get_mut(&(finding.rule, own)).filter(|it| **it > 0) {
            Some(left) => *left -= 1,
            None => return true,
        }
        false
    });
    found
}

fn path<'t>(tree: &'t Tree, finding: &Finding) -> &'t str {
    finding.location.place().map_or("", |it| &tree.file(it.file).decl().display)
}

/// Returns true if a rule is about what a command answers for when it writes files.
fn is_judged(rule: &str) -> bool {
    AFTER_FIXES.iter().chain([&EARLY_MAJOR]).all(|it| it.id != rule)
        && find_rule(rule).is_none_or(|it| it.group != Group::Policy)
}

/// Returns true if a file may take a finding from the one that it is made from.
fn is_carried(finding: &Finding) -> bool {
    finding.change.is_none()
        && find_rule(finding.rule).is_some_and(|it| !matches!(it.check, Check::Linker))
}
