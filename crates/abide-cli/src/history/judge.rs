//! Judges the changes of one step by the engine of `abide breaking`.

use std::collections::BTreeMap;

use abide_hash::CanonicalFile;
use abide_lint::{Bump, ElementFacts, Options, Policy, RuleScope, Severity, check, compute_bumps};
use abide_schema::{FileKey as Key, Problem, ProblemKind, Tree};
use jiff::civil::Date;

use super::tree_state::StepTrees;

/// The changes of a step.
#[derive(Default)]
pub(super) struct JudgedStep {
    /// The changes, by package.
    pub(super) changes: BTreeMap<String, Vec<VerdictReason>>,
    /// The new meaning of each file that may have another one.
    pub(super) files: Vec<(Key, FileFacts)>,
}

/// The meaning of one file at a commit.
pub(super) struct FileFacts {
    pub(super) meaning: CanonicalFile,
    /// The version of its package that the file records as an option.
    pub(super) version: Option<String>,
    /// The hash that the file records as an option.
    pub(super) hash: Option<String>,
    /// The facts about its elements, if they are asked for.
    pub(super) elements: Vec<ElementFacts>,
    /// Its link errors.
    pub(super) errors: Vec<VerdictReason>,
}

/// A reason for the verdict of a row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct VerdictReason {
    /// Its severity by the policy. Reports list the highest first.
    pub(crate) severity: Severity,
    /// The rule, or `catch-up`.
    pub(crate) rule: &'static str,
    /// The full name of the element.
    pub(crate) element: String,
    /// The event, as one phrase.
    pub(crate) message: String,
    /// The bump that it requires; `None` for a link error.
    pub(crate) bump: Option<Bump>,
    /// True for a backward break, whatever the policy says about it.
    pub(crate) breaks: bool,
}

/// Links both sides of a step and compares them.
pub(super) fn compare_step(
    pair: &StepTrees,
    policy: &Policy,
    as_of: Date,
    elements: bool,
) -> JudgedStep {
    let (new, old) = Tree::link_both_as_judged(pair.new.clone(), pair.old.clone());
    let changes = collect_changes(&new, &old, policy, as_of);
    // It is not looked at any more, and may be as large as the whole tree.
    drop(old);
    JudgedStep { changes, files: collect_facts(&new, |key| pair.fresh.contains(key), elements) }
}

/// The changes between two trees, by package.
fn collect_changes(
    new: &Tree,
    old: &Tree,
    policy: &Policy,
    as_of: Date,
) -> BTreeMap<String, Vec<VerdictReason>> {
    let options = Options {
        scope: RuleScope::Changes,
        baseline: Some(old),
        changes: true,
        partial: true,
        ..Options::on(as_of)
    };
    let report = check(new, policy, options);
    let mut changes: BTreeMap<String, Vec<VerdictReason>> = BTreeMap::new();
    for (finding, bump) in compute_bumps(new, old, policy, &report) {
        changes.entry(finding.package.clone()).or_default().push(VerdictReason {
            severity: finding.severity,
            rule: finding.rule,
            element: finding.element.clone(),
            message: finding.message.clone(),
            bump: Some(bump),
            breaks: finding.change.as_ref().is_some_and(|it| it.effects.breaks_backward()),
        });
    }
    changes
}

/// The meaning of the wanted files of a tree, and their elements if they are asked.
pub(super) fn collect_facts(
    tree: &Tree,
    wanted: impl Fn(&Key) -> bool,
    elements: bool,
) -> Vec<(Key, FileFacts)> {
    let mut found = Vec::new();
    for file in tree.files() {
        let key: Key = (file.decl().root, file.decl().path.clone());
        if !wanted(&key) {
            continue;
        }
        // Problems are in the order of files.
        let problems = tree.problems();
        let from = problems.partition_point(|it| it.place.file < file.id);
        let own = problems[from..].iter().take_while(|it| it.place.file == file.id);
        // Import cycles are found in the whole tree, not here.
        let errors = own
            .filter(|it: &&Problem| it.kind.is_error() && it.kind != ProblemKind::ImportCycle)
            .map(|problem| VerdictReason {
                severity: Severity::Error,
                rule: problem.kind.id(),
                element: problem.element.clone().unwrap_or_else(|| file.full_name()),
                message: match file.decl().line_range(problem.place.span) {
                    Some((start, _)) => {
                        format!("{}:{}: {}", file.decl().display, start.line, problem.message)
                    }
                    None => format!("{}: {}", file.decl().display, problem.message),
                },
                bump: None,
                breaks: false,
            });
        let facts = FileFacts {
            errors: errors.collect(),
            version: file.released_version().map(|(version, _)| version.to_owned()),
            hash: file.released_hash().map(|(hash, _)| hash.to_owned()),
            elements: if elements { ElementFacts::of_file(file) } else { Vec::new() },
            meaning: CanonicalFile::of(file),
        };
        found.push((key, facts));
    }
    found
}
