//! What the linker found, as findings.

use abide_schema::{File, FileId, Problem, Tree};

use super::linker_fixes::find_fix;
use super::severity::is_rule_on;
use crate::finding::{Finding, FindingLabel, Location, Severity};
use crate::inputs::RuleScope;
use crate::policy::Policy;
use crate::rules::find_rule;

/// The problems of checked files and of imported files. Those of imported files
/// that no checked file needs become notes.
pub(super) fn check_linked(tree: &Tree, policy: &Policy, scope: RuleScope) -> Vec<Finding> {
    let mut needed: Option<Vec<bool>> = None;
    let mut findings = Vec::new();
    // Warnings of the compiler are not about changes.
    let told = |it: &&Problem| scope == RuleScope::Everything || it.kind.is_error();
    for problem in tree.problems().iter().filter(told) {
        let file = tree.file(problem.place.file);
        let mut finding = build_finding(file, problem);
        if file.is_imported() {
            if !problem.kind.is_error() {
                continue;
            }
            let needed = needed.get_or_insert_with(|| needed_by_judged(tree));
            if !needed[file.id.0 as usize] {
                finding.severity = Severity::Note;
                finding.severity_reason = Some("no checked file needs this file".to_owned());
            }
        }
        let id = finding.rule;
        debug_assert!(find_rule(id).is_some(), "a test compares kinds and rules");
        if is_rule_on(policy, &finding) {
            findings.push(finding);
        }
    }
    findings
}

fn build_finding(file: File<'_>, problem: &Problem) -> Finding {
    let element = problem.element.clone().unwrap_or_else(|| file.full_name());
    let package = file.package().name();
    let location = Location::tree(problem.place);
    let mut finding =
        Finding::new(problem.kind.id(), location, package, element, problem.message.clone());
    let labels = problem.labels.iter();
    finding.labels = labels
        .map(|(place, message)| FindingLabel {
            location: Location::tree(*place),
            message: message.clone(),
        })
        .collect();
    finding.help = problem.help.clone();
    finding.fix(find_fix(file, problem));
    finding.facts = vec![problem.message.clone()];
    finding.aliases = find_rule(finding.rule).map_or_else(Vec::new, |it| it.aliases.to_vec());
    finding
}

/// Returns which files the checked files import in any number of steps, themselves included.
fn needed_by_judged(tree: &Tree) -> Vec<bool> {
    let mut needed = vec![false; tree.files().len()];
    let mut open: Vec<FileId> =
        tree.files().filter(|file| !file.is_imported()).map(|file| file.id).collect();
    while let Some(id) = open.pop() {
        if !std::mem::replace(&mut needed[id.0 as usize], true) {
            open.extend(tree.file(id).imports().filter_map(|it| it.file).map(|file| file.id));
        }
    }
    needed
}
