//! Instances judged: what their reader found, and what the rules about them find.

use std::collections::BTreeMap;

use abide_instance::{Document, Instance, walk};
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
        findings.extend(problems(&context, &rules, "", &instance.liberties));
        for document in &instance.documents {
            findings.extend(document_findings(&context, &rules, document));
        }
        let own = &mut findings[found..];
        own.sort_by(|a, b| {
            let key = |it: &Finding| (it.location.span.start, it.location.span.end, it.rule);
            key(a).cmp(&key(b)).then_with(|| a.message.cmp(&b.message))
        });
    }
    // What aliases of YAML repeat is written once.
    findings.dedup();
    number(&mut findings);
    // No rule about the tree runs, so nothing of it is prepared.
    let options = Options { scope: RuleScope::Changes, ..Options::on(as_of) };
    let context = Context::new(tree, policy, options);
    let spared = Waivers::of(&context).take(&context, &mut findings);
    apply_severities(&context, &mut findings);
    let mut report = Report {
        files: instances.len(),
        waived: spared.len(),
        findings,
        spared,
        ..Report::default()
    };
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
        findings.extend(problems(context, rules, &element, &reading.liberties));
    }
    for (rule, check) in rules {
        let mut sink = Sink::of(rule);
        match check {
            InstanceCheck::Problem(_) => {}
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
        let field = error.field.map(|field| context.tree.field(field));
        let (package, element) = match field {
            Some(field) => (field.file().package().name().to_owned(), field.full_name()),
            None => (package_of(context.tree, element), element.to_owned()),
        };
        let message = error.message.clone();
        let mut finding = Finding::new(named(error)?.id, location, &package, &element, message);
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
