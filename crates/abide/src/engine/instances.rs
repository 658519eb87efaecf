//! Instances judged: what their reader found, and what the rules about them find.

use std::collections::BTreeMap;

use abide_instance::{Carried, Document, Instance, Loss, walk};
use abide_schema::Tree;
use abide_schema::value::ReadError;
use jiff::civil::Date;

use crate::finding::{Finding, FindingLabel, Severity};
use crate::location::Origin;
use crate::options::{Options, RuleScope};
use crate::policy::Policy;
use crate::report::Report;
use crate::rule::{Check, Context, InstanceCheck, InstanceContext, Rule, Sink};
use crate::rules::RULES;
use crate::waiver::Waivers;

use super::weighing::apply_severities;

/// Judges instances of the messages of a tree, in the order of their numbers.
/// The day is that of the check: it decides about the phases of deprecations.
pub fn check_instances(
    tree: &Tree,
    policy: &Policy,
    as_of: Date,
    instances: &[Instance],
) -> Report {
    let rules: Vec<(&'static Rule, InstanceCheck)> = RULES
        .iter()
        .filter(|rule| policy.runs(rule.defaults()))
        .filter_map(|rule| match rule.check {
            Check::Instance(check) => Some((*rule, check)),
            _ => None,
        })
        .collect();
    let mut findings = Vec::new();
    for (file, instance) in (0..).zip(instances) {
        let context = InstanceContext { tree, policy, as_of, file };
        let found = findings.len();
        findings.extend(problems(&context, &rules, "", &instance.errors));
        for document in &instance.documents {
            findings.extend(document_findings(&context, &rules, document));
        }
        sort(&mut findings[found..]);
    }
    settle(tree, policy, as_of, findings, instances.len())
}

/// Judges translations: what kept files from being read, else what the other version has no place
/// for. Losses that are allowed are warnings.
pub fn check_translations(
    tree: &Tree,
    policy: &Policy,
    as_of: Date,
    files: &[Carried],
    allows_loss: bool,
) -> Report {
    let instance_rules = || RULES.iter().filter(|rule| policy.runs(rule.defaults()));
    let checks = instance_rules().filter_map(|rule| match rule.check {
        // What may be written today does not matter for what becomes of it.
        Check::Instance(
            check @ (InstanceCheck::Problem(_) | InstanceCheck::Document(_) | InstanceCheck::Loss),
        ) => Some((*rule, check)),
        _ => None,
    });
    let rules: Vec<(&'static Rule, InstanceCheck)> = checks.collect();
    let mut findings = Vec::new();
    for (file, carried) in (0..).zip(files) {
        let context = InstanceContext { tree, policy, as_of, file };
        let found = findings.len();
        if carried.text.is_none() {
            findings.extend(problems(&context, &rules, "", &carried.instance.errors));
            let documents = carried.instance.documents.iter();
            findings.extend(documents.flat_map(|it| document_findings(&context, &rules, it)));
        }
        let losses = carried.documents.iter().flat_map(|it| &it.losses);
        findings.extend(losses.filter_map(|it| loss_finding(&context, &rules, it)));
        sort(&mut findings[found..]);
    }
    let mut report = settle(tree, policy, as_of, findings, files.len());
    for finding in &mut report.findings {
        let is_loss = rules
            .iter()
            .any(|(rule, check)| matches!(check, InstanceCheck::Loss) && rule.id == finding.rule);
        if is_loss && allows_loss {
            finding.severity = finding.severity.min(Severity::Warning);
        }
    }
    report.retain(|_| true);
    report
}

/// Sorts the findings of a file by their places.
fn sort(findings: &mut [Finding]) {
    findings.sort_by(|a, b| {
        let key = |it: &Finding| (it.location.span.start, it.location.span.end, it.rule);
        key(a).cmp(&key(b)).then_with(|| a.message.cmp(&b.message))
    });
}

/// The finding about a loss.
fn loss_finding(
    context: &InstanceContext<'_>,
    rules: &[(&'static Rule, InstanceCheck)],
    loss: &Loss,
) -> Option<Finding> {
    let (rule, _) = rules.iter().find(|it| matches!(it.1, InstanceCheck::Loss))?;
    let package = context.tree.element_named(&loss.element).map(|it| it.package().name());
    let package = package.unwrap_or_default();
    let location = context.at(loss.span);
    let mut finding = Finding::new(rule.id, location, package, &loss.element, loss.message.clone());
    finding.help = loss.help.clone();
    finding.facts = vec![loss.message.clone()];
    Some(finding)
}

/// Applies waivers and severities to findings about instances.
fn settle(
    tree: &Tree,
    policy: &Policy,
    as_of: Date,
    mut findings: Vec<Finding>,
    files: usize,
) -> Report {
    // What aliases of YAML repeat is written once.
    findings.dedup();
    number(&mut findings);
    // No rule about the tree runs, so nothing of it is prepared.
    let options = Options { scope: RuleScope::Changes, ..Options::on(as_of) };
    let context = Context::new(tree, policy, options);
    let spared = Waivers::of(&context).take(&context, &mut findings);
    apply_severities(&context, &mut findings);
    let mut report = Report { files, waived: spared.len(), findings, spared, ..Report::default() };
    report.retain(|finding| finding.severity >= Severity::Note);
    report
}

/// Tells apart findings with the same facts: accepting one does not accept the next.
fn number(findings: &mut [Finding]) {
    let mut seen: BTreeMap<(Origin, String), usize> = BTreeMap::new();
    for finding in findings {
        let count = seen.entry((finding.location.origin, finding.fingerprint())).or_default();
        if *count > 0 {
            finding.facts.push(count.to_string());
        }
        *count += 1;
    }
}

fn document_findings(
    context: &InstanceContext<'_>,
    rules: &[(&'static Rule, InstanceCheck)],
    document: &Document,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(reading) = &document.reading {
        let element = context.tree.message(reading.message.ty).full_name();
        findings.extend(problems(context, rules, &element, &reading.errors));
    }
    for (rule, check) in rules {
        let mut sink = Sink::of(rule);
        match check {
            InstanceCheck::Problem(_) | InstanceCheck::Loss => {}
            InstanceCheck::Document(check) => check(context, document, &mut sink),
            InstanceCheck::Visit(check) => {
                if let Some(message) = document.message() {
                    walk(context.tree, message, document.span, &mut |visit| {
                        check(context, visit, &mut sink);
                    });
                }
            }
        }
        findings.extend(sink.into_findings());
    }
    findings
}

/// What the reader found, under the rules that name it.
fn problems(
    context: &InstanceContext<'_>,
    rules: &[(&'static Rule, InstanceCheck)],
    element: &str,
    errors: &[ReadError],
) -> Vec<Finding> {
    let named = |error: &ReadError| {
        rules.iter().find_map(|(rule, check)| match check {
            InstanceCheck::Problem(kinds) if kinds.contains(&error.kind) => Some(*rule),
            _ => None,
        })
    };
    let found = errors.iter().filter_map(|error| {
        let location = context.at(error.span);
        let package = package_of(context.tree, element);
        let message = error.message.clone();
        let mut finding = Finding::new(named(error)?.id, location, &package, element, message);
        finding.help = error.help.clone();
        finding.facts = vec![error.message.clone()];
        let labels = error.related.iter().map(|(span, text)| FindingLabel {
            location: context.at(*span),
            message: text.clone(),
        });
        finding.labels = labels.collect();
        Some(finding)
    });
    found.collect()
}

fn package_of(tree: &Tree, message: &str) -> String {
    let found = tree.message_named(message);
    found.map_or_else(String::new, |it| it.file().package().name().to_owned())
}
