//! Translations judged: what kept files from being read, else what the other version has no place
//! for.

use abide_instance::{ConversionLoss, ConvertedText, Dialect};
use abide_schema::Tree;
use abide_validate::Evaluator;

use super::instances::{apply_policy, check_document, report_problems, select_rules};
use crate::finding::{Finding, Severity};
use crate::inputs::{InstanceFile, InstanceOptions, InstanceSet};
use crate::policy::Policy;
use crate::rule::{InstanceCheck, InstanceContext, Report, Rule};

/// A file that was carried to another version, and its text before.
#[derive(Clone, Copy, Debug)]
pub struct CarriedFile<'a> {
    /// What became of it.
    pub carried: &'a ConvertedText,
    /// Its text, in which its findings stand.
    pub text: &'a [u8],
}

/// Judges translations, in the order of their files. Losses that are allowed are warnings.
pub fn check_translations(
    tree: &Tree,
    policy: &Policy,
    options: InstanceOptions<'_>,
    files: &[CarriedFile<'_>],
    allows_loss: bool,
) -> Report {
    let mut rules = select_rules(policy);
    // What may be written today does not matter for what becomes of it.
    rules.retain(|(_, check)| {
        use InstanceCheck::{Document, Loss, Problem};
        matches!(check, Problem(_) | Document(_) | Loss)
    });
    let read: Vec<InstanceFile<'_>> =
        files.iter().map(|it| InstanceFile::new(&it.carried.instance, it.text)).collect();
    let set = InstanceSet::of(tree, &read, options);
    let evaluator = &Evaluator::new(tree);
    let mut findings = Vec::new();
    for ((file, CarriedFile { carried, .. }), overrides) in (0..).zip(files).zip(&set.overrides) {
        let (is_bootstrap, dialect) = (false, Dialect::Protobuf);
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
        if carried.text.is_none() {
            findings.extend(report_problems(&context, &rules, "", &carried.instance.errors));
            let documents = carried.instance.documents.iter();
            findings.extend(documents.flat_map(|it| check_document(&context, &rules, it)));
        }
        let losses = carried.documents.iter().flat_map(|it| &it.losses);
        findings.extend(losses.filter_map(|it| loss_finding(&context, &rules, it)));
    }
    let mut report = apply_policy(tree, policy, options, &rules, &read, findings);
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

/// The finding about a loss.
fn loss_finding(
    context: &InstanceContext<'_>,
    rules: &[(&'static Rule, InstanceCheck)],
    loss: &ConversionLoss,
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
