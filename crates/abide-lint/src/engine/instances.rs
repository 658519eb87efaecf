//! Instances judged: what their reader found, and what the rules about them find.

use std::collections::BTreeMap;

use abide_instance::{Dialect, Document, walk};
use abide_schema::Tree;
use abide_schema::value::ReadError;
use abide_validate::Evaluator;
use rayon::prelude::*;

use super::accepted_findings::accept;
use super::severity::apply_severities;
use crate::exceptions::{InstanceWaivers, Waivers};
use crate::finding::{Finding, FindingLabel, Origin, Severity};
use crate::inputs::{InstanceFile, InstanceOptions, InstanceSet, Options, RuleScope, bootstrap_of};
use crate::instances::path_of;
use crate::policy::Policy;
use crate::rule::{Check, Context, InstanceCheck, InstanceContext, Report, Rule, Sink};
use crate::rules::RULES;

/// Judges instances of the messages of a tree, in the order of their numbers.
pub fn check_instances(
    tree: &Tree,
    policy: &Policy,
    options: InstanceOptions<'_>,
    files: &[InstanceFile<'_>],
) -> Report {
    let rules = select_rules(policy);
    let set = InstanceSet::of(tree, files, options);
    let numbered = (0..).zip(files).zip(&set.overrides);
    let numbered: Vec<_> = numbered.filter(|((_, file), _)| file.is_judged).collect();
    // An evaluator keeps what it has read of the tree, and belongs to one thread.
    let share = numbered.len().div_ceil(rayon::current_num_threads()).max(1);
    let judged = numbered.par_chunks(share).flat_map_iter(|share| {
        let evaluator = &Evaluator::new(tree);
        let findings = share.iter().flat_map(|((file, instance_file), overrides)| {
            let (is_bootstrap, dialect) = (false, Dialect::Protobuf);
            let context = InstanceContext {
                tree,
                policy,
                options,
                file: *file,
                overrides,
                is_bootstrap,
                dialect,
                evaluator,
            };
            check_file(&context, &rules, instance_file)
        });
        findings.collect::<Vec<_>>()
    });
    let mut findings: Vec<Finding> = judged.collect();
    let evaluator = &Evaluator::new(tree);
    for (rule, check) in &rules {
        if let (InstanceCheck::Run(check), Some(overrides)) = (check, set.overrides.first()) {
            let (file, is_bootstrap, dialect) = (0, false, Dialect::Protobuf);
            let context = InstanceContext {
                tree,
                policy,
                options,
                file,
                overrides,
                is_bootstrap,
                dialect,
                evaluator,
            };
            let mut sink = Sink::of(rule);
            check(&context, &set, &mut sink);
            let mut found = sink.into_findings();
            found.retain(|it| is_judged(files, it));
            for finding in &mut found {
                let span = finding.location.span;
                let is_around =
                    |it: &&Document| it.span.start <= span.start && span.end <= it.span.end;
                if let Origin::Instance(number) = finding.location.origin
                    && let Some(file) = files.get(number as usize)
                    && let Some(document) = file.instance.documents.iter().find(is_around)
                {
                    locate(tree, document, finding);
                }
            }
            findings.extend(found);
        }
    }
    findings.sort_by(|a, b| {
        let key = |it: &Finding| (it.location, it.rule);
        key(a).cmp(&key(b)).then_with(|| a.message.cmp(&b.message))
    });
    apply_policy(tree, policy, options, &rules, files, findings)
}

/// The rules about instances that run under a policy.
pub(super) fn select_rules(policy: &Policy) -> Vec<(&'static Rule, InstanceCheck)> {
    let rules = RULES.iter().filter(|rule| policy.runs(rule.defaults()));
    let rules = rules.filter_map(|rule| match rule.check {
        Check::Instance(check) => Some((*rule, check)),
        _ => None,
    });
    rules.collect()
}

/// Applies waivers and severities to what `rules` found in files.
pub(super) fn apply_policy(
    tree: &Tree,
    policy: &Policy,
    options: InstanceOptions<'_>,
    rules: &[(&'static Rule, InstanceCheck)],
    files: &[InstanceFile<'_>],
    mut findings: Vec<Finding>,
) -> Report {
    // What aliases of YAML repeat is written once.
    findings.dedup();
    number(&mut findings);
    // No rule about the tree runs, so nothing of it is prepared.
    let run = Options { scope: RuleScope::Changes, ..Options::on(options.as_of) };
    let context = Context::new(tree, policy, run);
    let mut exempted = Waivers::of(&context).take(&context, &mut findings);
    let mut waivers = InstanceWaivers::of(policy, files);
    exempted.extend(waivers.take(&mut findings, options.as_of));
    let ran = |rule: &Rule| rules.iter().any(|(it, _)| it.id == rule.id);
    findings.extend(waivers.report_defects(options.as_of, &ran));
    findings.sort_by_key(|it| (it.location, it.rule));
    apply_severities(&context, &mut findings);
    if let Some(accepted) = options.accepted {
        // Only a run over the tree says which lines accept nothing.
        exempted.extend(accept(accepted, &mut findings, &|_| false).0);
    }
    let mut report = Report {
        files: files.iter().filter(|it| it.is_judged).count(),
        findings,
        exempted,
        ..Report::default()
    };
    report.retain(|finding| finding.severity >= Severity::Note);
    report
}

/// Returns true if a finding is in a file on which there is to be a report.
fn is_judged(files: &[InstanceFile<'_>], finding: &Finding) -> bool {
    match finding.location.origin {
        Origin::Instance(number) => files.get(number as usize).is_none_or(|it| it.is_judged),
        _ => true,
    }
}

/// Adds to the facts of a finding the way to what it is about.
fn locate(tree: &Tree, document: &Document, finding: &mut Finding) {
    if let Some(message) = document.message() {
        let path = path_of(tree, message, finding.location.span);
        finding.facts.extend((!path.is_empty()).then_some(path));
    }
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

/// Returns what the rules find in one file, but for those that see all files together.
fn check_file(
    context: &InstanceContext<'_>,
    rules: &[(&'static Rule, InstanceCheck)],
    file: &InstanceFile<'_>,
) -> Vec<Finding> {
    let mut findings = report_problems(context, rules, "", &file.instance.errors);
    findings.extend(report_problems(context, rules, "", &file.instance.leniencies));
    for document in &file.instance.documents {
        let is_bootstrap = bootstrap_of(context.tree, document).is_some();
        let context = InstanceContext { is_bootstrap, dialect: document.dialect, ..*context };
        let mut found = check_document(&context, rules, document);
        for finding in &mut found {
            locate(context.tree, document, finding);
        }
        findings.extend(found);
    }
    findings
}

/// Returns what the rules find in a document: one walk over it offers what it meets to all of them.
pub(super) fn check_document<'t>(
    context: &InstanceContext<'t>,
    rules: &[(&'static Rule, InstanceCheck)],
    document: &Document,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(reading) = &document.reading {
        let element = context.tree.message(reading.message.ty).full_name();
        findings.extend(report_problems(context, rules, &element, &reading.errors));
        findings.extend(report_problems(context, rules, &element, &reading.leniencies));
    }
    let mut visitors = Vec::new();
    for (rule, check) in rules {
        match check {
            InstanceCheck::Problem(_) | InstanceCheck::Loss | InstanceCheck::Run(_) => {}
            InstanceCheck::Document(check) => {
                let mut sink = Sink::of(rule);
                check(context, document, &mut sink);
                findings.extend(sink.into_findings());
            }
            InstanceCheck::Visit(check) => visitors.push((check, Sink::of(rule))),
        }
    }
    if let Some(message) = document.message() {
        walk(context.tree, message, document.span, &mut |visit| {
            for (check, sink) in &mut visitors {
                check(context, visit, sink);
            }
        });
    }
    findings.extend(visitors.into_iter().flat_map(|(_, sink)| sink.into_findings()));
    findings
}

/// Returns what the reader found, under the rules that name it.
pub(super) fn report_problems(
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
            None => (find_package(context.tree, element), element.to_owned()),
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

fn find_package(tree: &Tree, message: &str) -> String {
    let found = tree.message_named(message);
    found.map_or_else(String::new, |it| it.file().package().name().to_owned())
}
