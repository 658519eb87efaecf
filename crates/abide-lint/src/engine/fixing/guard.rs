//! What keeps fixes from doing harm.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use abide_schema::{ProblemKind, Tree};

use super::proposal::{ProposedFix, Renames};
use super::trial::FixTrial;
use crate::engine::pipeline::check;
use crate::finding::{Finding, Group, Severity};
use crate::inputs::{Options, RuleScope};
use crate::policy::Policy;
use crate::rule::Check;
use crate::rules::{AFTER_FIXES, find_rule};

/// What keeps fixes from doing harm.
pub(super) struct HarmCheck<'a> {
    policy: &'a Policy,
    options: Options<'a>,
    /// The tree before any fix.
    tree: &'a Tree,
    /// How often each finding occurs there, by fingerprint.
    before: BTreeMap<String, usize>,
    /// How often each rule reports in each file there.
    by_file: BTreeMap<(&'static str, Arc<str>), usize>,
    /// What the linker refuses there: the rule, the file and the message.
    errors: Vec<((&'static str, Arc<str>), String)>,
}

/// The words of an error that do not depend on other errors: why a name was not found changes when
/// another file is imported.
fn normalize_message<'m>(rule: &str, message: &'m str) -> &'m str {
    match rule == ProblemKind::NameNotFound.id() {
        true => message.split('`').nth(1).unwrap_or(message),
        false => message,
    }
}

impl<'a> HarmCheck<'a> {
    pub(super) fn new(tree: &'a Tree, policy: &'a Policy, options: Options<'a>) -> HarmCheck<'a> {
        let options = Options {
            scope: RuleScope::Everything,
            baseline: Some(options.baseline.unwrap_or(tree)),
            bump_baseline: None,
            counts_bump: false,
            changes: false,
            surfaces: &[],
            versions: false,
            ..options
        };
        let (before, by_file, errors) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        let mut guard = HarmCheck { policy, options, tree, before, by_file, errors };
        for finding in guard.check_tree(tree) {
            *guard.before.entry(finding.fingerprint()).or_default() += 1;
            let key = rule_in_file(tree, &finding);
            if is_linker_error(&finding) {
                guard.errors.push((key.clone(), finding.message));
            }
            *guard.by_file.entry(key).or_default() += 1;
        }
        guard
    }

    /// The findings of a tree that the tree before any fix did not have. A finding that only has
    /// another name or other words since, such as one about an element that was renamed, is not
    /// new: its rule reports no more in its file than before. An error of the linker has to have
    /// the same words but for the names, because another one may be gone.
    pub(super) fn find_harm(&self, trial: &FixTrial<'_>, renames: &Renames) -> Vec<Finding> {
        let tree = &trial.tree;
        let mut left = self.before.clone();
        let mut findings = self.check_tree(tree);
        let mut by_file: BTreeMap<(&'static str, Arc<str>), usize> = BTreeMap::new();
        for finding in &findings {
            *by_file.entry(rule_in_file(tree, finding)).or_default() += 1;
        }
        let mut names = renames.clone();
        names.extend(trial.edits.made.iter().filter_map(ProposedFix::rename));
        let words = |rule: &str, message: &str| {
            normalize_message(rule, &replace_names(&names, message)).to_owned()
        };
        let known = self.errors.iter().map(|(key, message)| (key, words(key.0, message)));
        let known: BTreeSet<_> = known.collect();
        findings.retain(|it| {
            if let Some(count) = left.get_mut(&it.fingerprint()).filter(|count| **count > 0) {
                *count -= 1;
                return false;
            }
            let key = rule_in_file(tree, it);
            let has_more = by_file.get(&key) > self.by_file.get(&key);
            let is_known = || known.contains(&(&key, words(it.rule, &it.message)));
            (has_more || is_linker_error(it) && !is_known()) && !self.was_hidden(tree, it)
        });
        findings
    }

    /// Returns true if a finding is about an import that was unused before, and could not be judged
    /// while names of its file were missing.
    fn was_hidden(&self, tree: &Tree, finding: &Finding) -> bool {
        let Some(place) = finding.location.place() else { return false };
        let path = tree.file(place.file).path();
        let mut before = self.tree.files().filter(|file| file.path() == path);
        finding.rule == ProblemKind::ImportUnused.id()
            && before.any(|file| {
                let mut imports = file.decl().imports.iter();
                imports.any(|it| finding.message.contains(&format!("`{}`", it.path)))
            })
    }

    /// Returns what counts as harm where it is new. A change that the policy lets pass does not,
    /// nor does what has to follow a fix anyhow.
    fn check_tree(&self, tree: &Tree) -> Vec<Finding> {
        let mut findings = check(tree, self.policy, self.options).findings;
        let follows = |id: &str| {
            AFTER_FIXES.iter().any(|it| it.id == id)
                || find_rule(id).is_some_and(|it| it.group == Group::Policy)
        };
        findings.retain(|it| {
            (it.change.is_none() || it.severity > Severity::Note) && !follows(it.rule)
        });
        findings
    }
}

/// A rule, and the file that it reports in.
fn rule_in_file(tree: &Tree, finding: &Finding) -> (&'static str, Arc<str>) {
    let place = finding.location.place();
    let path =
        place.map_or_else(|| Arc::from(""), |it| Arc::clone(&tree.file(it.file).decl().display));
    (finding.rule, path)
}

/// Returns true if a finding is an error of the language.
pub(super) fn is_linker_error(finding: &Finding) -> bool {
    find_rule(finding.rule).is_some_and(|it| matches!(it.check, Check::Linker))
        && finding.rule != ProblemKind::ImportUnused.id()
}

/// A text with the names that elements have since.
fn replace_names(renames: &Renames, text: &str) -> String {
    let is_word = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let length = rest.find(|it| !is_word(it)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(length);
        out.push_str(renames.get(word).map_or(word, String::as_str));
        let between = behind.find(is_word).unwrap_or(behind.len());
        out.push_str(&behind[..between]);
        rest = &behind[between..];
    }
    out
}
