//! The engine: every rule over a tree, and what policy makes of the findings.

use abide_schema::{Element, File, FileId, Part, Place, Problem, Tree};
use jiff::civil::Date;
use rayon::prelude::*;

use crate::accepted::Accepted;
use crate::finding::{Finding, Label, Location, Severity};
use crate::policy::Policy;
use crate::rule::{Check, Context, Rule, Sink};
use crate::rules::RULES;
use crate::waiver;

/// What a run knows besides the tree and the policy.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The day to judge on.
    pub as_of: Date,
    /// The old tree, where there is one to compare with.
    pub baseline: Option<&'a Tree>,
    /// Findings that are accepted.
    pub accepted: Option<&'a Accepted>,
    /// Whether only a part of the configured tree is judged: then nobody can tell whether a
    /// waiver of `abide.toml` or a line of `abide.accepted` is stale.
    pub partial: bool,
}

/// What a run found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The findings, in the order of paths, places and rules.
    pub findings: Vec<Finding>,
    /// How many files were judged.
    pub files: usize,
    /// How many packages were judged.
    pub packages: usize,
    /// How many findings are errors.
    pub errors: usize,
    /// How many findings are warnings.
    pub warnings: usize,
    /// How many findings are notes.
    pub notes: usize,
    /// How many findings a waiver took away.
    pub waived: usize,
    /// How many findings were accepted before.
    pub accepted: usize,
}

/// Judges a tree. The result depends on nothing but the arguments: not on
/// threads, not on the order in which the files were found.
pub fn check<'t>(tree: &'t Tree, policy: &'t Policy, options: Options<'t>) -> Report {
    let context = Context::new(tree, policy, options.as_of, options.baseline);
    let rules: Vec<&'static Rule> =
        RULES.iter().copied().filter(|rule| policy.runs(rule)).collect();

    let mut findings = run(&context, &rules);
    findings.extend(linker_findings(tree, policy));
    spare_work_in_progress(tree, &mut findings);
    sort(tree, &mut findings);
    findings.dedup();

    let mut report = Report {
        files: tree.files().filter(|file| file.is_judged()).count(),
        packages: tree.packages().filter(|package| package.is_judged()).count(),
        ..Report::default()
    };
    let waived = waiver::apply(&context, &mut findings);
    report.waived = waived.count;
    findings.extend(waived.findings);
    apply_severities(policy, &mut findings);
    if options.partial {
        findings.retain(|finding| {
            finding.rule != "waiver-unused" || finding.location.place().is_some()
        });
    }
    if let Some(accepted) = options.accepted {
        let could_match = |rule: &str| {
            !options.partial
                && Rule::find(rule).is_none_or(|rule| {
                    policy.runs(rule)
                        && (options.baseline.is_some() || !matches!(rule.check, Check::Baseline(_)))
                })
        };
        report.accepted = accept(accepted, &mut findings, &could_match);
        apply_severities(policy, &mut findings);
    }
    sort(tree, &mut findings);

    let count = |severity| findings.iter().filter(|it| it.severity == severity).count();
    report.errors = count(Severity::Error);
    report.warnings = count(Severity::Warning);
    report.notes = count(Severity::Note);
    report.findings = findings;
    report
}

/// Runs every rule that is no problem of the linker. Files are judged in
/// parallel, each by every rule, so that its declarations are in the cache.
fn run<'t>(context: &Context<'t>, rules: &[&'static Rule]) -> Vec<Finding> {
    let whole_tree = || -> Vec<Finding> {
        let each = rules.par_iter().map(|rule| {
            let mut sink = Sink { rule: rule.id, findings: Vec::new() };
            match rule.check {
                Check::Tree(check) => check(context, &mut sink),
                Check::Baseline(check) => {
                    if let Some(old) = context.baseline {
                        check(context, old, &mut sink);
                    }
                }
                Check::Package(check) => {
                    for package in context.tree.packages().filter(|it| it.is_judged()) {
                        check(context, package, &mut sink);
                    }
                }
                Check::Linker | Check::Engine | Check::File(_) | Check::Element(_) => {}
            }
            sink.findings
        });
        each.flatten().collect()
    };
    let file_rules: Vec<&'static Rule> = rules
        .iter()
        .copied()
        .filter(|rule| matches!(rule.check, Check::File(_) | Check::Element(_)))
        .collect();
    let files: Vec<File<'t>> = context.tree.files().filter(|file| file.is_judged()).collect();
    let by_file = || -> Vec<Finding> {
        files
            .par_iter()
            .with_min_len(16)
            .flat_map_iter(|&file| judge(context, &file_rules, file))
            .collect()
    };
    let (mut findings, more) = rayon::join(whole_tree, by_file);
    findings.extend(more);
    findings
}

fn judge<'t>(context: &Context<'t>, rules: &[&'static Rule], file: File<'t>) -> Vec<Finding> {
    let mut sink = Sink::default();
    let elements: Vec<Element<'t>> = if rules.iter().any(|it| matches!(it.check, Check::Element(_)))
    {
        file.elements().collect()
    } else {
        Vec::new()
    };
    for rule in rules {
        sink.rule = rule.id;
        match rule.check {
            Check::File(check) => check(context, file, &mut sink),
            Check::Element(check) => {
                for &element in &elements {
                    check(context, element, &mut sink);
                }
            }
            Check::Linker
            | Check::Engine
            | Check::Tree(_)
            | Check::Package(_)
            | Check::Baseline(_) => {}
        }
    }
    sink.findings
}

/// Problems of judged files, and those of imported files: as they are where
/// they keep a judged file from linking, as notes elsewhere.
fn linker_findings(tree: &Tree, policy: &Policy) -> Vec<Finding> {
    let mut needed: Option<Vec<bool>> = None;
    let mut findings = Vec::new();
    for problem in tree.problems() {
        let file = tree.file(problem.place.file);
        let mut finding = linker_finding(file, problem);
        if !file.is_judged() {
            if !problem.kind.is_error() {
                continue;
            }
            let needed = needed.get_or_insert_with(|| needed_by_judged(tree));
            if !needed[file.id.0 as usize] {
                finding.severity = Severity::Note;
                finding.severity_reason = Some("no judged file needs this file".to_owned());
            }
        }
        let id = finding.rule;
        debug_assert!(Rule::find(id).is_some(), "a test compares kinds and rules");
        if Rule::find(id).is_none_or(|rule| policy.runs(rule)) {
            findings.push(finding);
        }
    }
    findings
}

fn linker_finding(file: File<'_>, problem: &Problem) -> Finding {
    let labels = problem.labels.iter();
    Finding {
        rule: problem.kind.id(),
        severity: Severity::Error,
        message: problem.message.clone(),
        location: Location::Tree(problem.place),
        at: None,
        element: problem.element.clone().unwrap_or_else(|| file.full_name()),
        package: file.package().name().to_owned(),
        labels: labels
            .map(|(place, message)| Label { place: *place, message: message.clone() })
            .collect(),
        why: None,
        help: problem.help.clone(),
        facts: vec![problem.message.clone()],
        severity_reason: None,
        own_only: false,
    }
}

/// Which files judged files reach by imports, themselves included.
fn needed_by_judged(tree: &Tree) -> Vec<bool> {
    let mut needed = vec![false; tree.files().len()];
    let mut open: Vec<FileId> =
        tree.files().filter(|file| file.is_judged()).map(|file| file.id).collect();
    while let Some(id) = open.pop() {
        if !std::mem::replace(&mut needed[id.0 as usize], true) {
            open.extend(tree.file(id).imports().filter_map(|it| it.file).map(|file| file.id));
        }
    }
    needed
}

/// Drops findings of rules that spare work in progress, where it is.
fn spare_work_in_progress(tree: &Tree, findings: &mut Vec<Finding>) {
    let spares = |finding: &Finding| {
        Rule::find(finding.rule).is_some_and(|rule| rule.spares_work_in_progress)
    };
    findings.retain(|finding| match finding.location.place() {
        Some(place) if spares(finding) => !in_progress(tree, place),
        _ => true,
    });
}

/// Whether a place lies in a file or an element that is work in progress.
fn in_progress(tree: &Tree, place: Place) -> bool {
    let file = tree.file(place.file);
    let around = |element: &Element<'_>| {
        let whole = element.place(Part::Whole).span;
        whole.start <= place.span.start && place.span.end <= whole.end
    };
    file.work_in_progress().is_some()
        || file.elements().any(|it| around(&it) && it.work_in_progress().is_some())
}

/// Takes away findings that are accepted, and notes lines that accept nothing although this run
/// could have matched them.
fn accept(
    accepted: &Accepted,
    findings: &mut Vec<Finding>,
    could_match: &dyn Fn(&str) -> bool,
) -> usize {
    let lines = accepted.lines();
    let mut used = vec![false; lines.len()];
    let before = findings.len();
    findings.retain(|finding| {
        // Rules of the policy watch over the bookkeeping itself.
        let fingerprint = finding.fingerprint();
        let mut found = false;
        for (line, used) in lines.iter().zip(&mut used) {
            if line.rule == finding.rule && line.fingerprint == fingerprint {
                *used = true;
                found = true;
            }
        }
        !found
    });
    let count = before - findings.len();
    let stale = lines.iter().zip(used).filter(|(line, used)| !used && could_match(&line.rule));
    for (line, _) in stale {
        findings.push(Finding {
            rule: "accepted-stale",
            severity: Severity::Note,
            message: format!("nothing is left to accept of `{}` in `{}`", line.rule, line.element),
            location: Location::Accepted(line.span),
            at: None,
            element: line.element.clone(),
            package: String::new(),
            labels: Vec::new(),
            why: None,
            help: Some("delete the line, or run `abide check --accept`".to_owned()),
            facts: vec![line.fingerprint.clone()],
            severity_reason: None,
            own_only: false,
        });
    }
    count
}

/// Gives every finding the severity that policy wants, and drops those that
/// are off.
fn apply_severities(policy: &Policy, findings: &mut Vec<Finding>) {
    findings.retain_mut(|finding| {
        let Some(rule) = Rule::find(finding.rule) else { return true };
        let (severity, reason) = policy.severity(rule, &finding.package);
        let Some(severity) = severity else { return false };
        // A finding that was made a note on the way stays one.
        if finding.severity_reason.is_none() {
            finding.severity = severity;
            finding.severity_reason = reason;
        }
        true
    });
}

/// Orders findings by path, place, rule and what else tells them apart.
/// Findings outside of the tree come last.
fn sort(tree: &Tree, findings: &mut [Finding]) {
    findings.sort_by(|a, b| {
        let path = |finding: &Finding| {
            let place = finding.location.place();
            place.map(|place| (&*tree.file(place.file).decl().display, place))
        };
        let (at_a, at_b) = (path(a), path(b));
        // `None` stands before `Some`, but the tree shall come first.
        at_b.is_some()
            .cmp(&at_a.is_some())
            .then_with(|| at_a.cmp(&at_b))
            .then_with(|| a.location.cmp(&b.location))
            .then_with(|| a.rule.cmp(b.rule))
            .then_with(|| a.element.cmp(&b.element))
            .then_with(|| a.facts.cmp(&b.facts))
            .then_with(|| a.message.cmp(&b.message))
    });
}
