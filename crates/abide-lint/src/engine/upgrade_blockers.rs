//! What keeps candidates for the next major version from being made.

use std::collections::BTreeMap;

use abide_schema::{FileId, Place, Tree};
use abide_syntax::Span;
use abide_upgrade::{FileRole, GeneratedFile};
use jiff::civil::Date;

use super::linker_findings::check_linked;
use super::missing_imports::join_missing_imports;
use super::order::sort;
use super::pipeline::find_blocking;
use super::severity::apply_severities;
use super::walk::run_rules;
use super::work_in_progress::exempt_work_in_progress;
use crate::exceptions::Waivers;
use crate::finding::{Finding, Location, Severity};
use crate::inputs::{Options, RuleScope};
use crate::policy::Policy;
use crate::rule::{Context, Report};
use crate::rules::{ADDITION, CONVERSION, DEPRECATED_TYPE, EARLY_MAJOR, UPGRADE_RULES};

/// The findings that prevent a release on its day: new majors outside the window
/// for them, as errors. Severities, waivers and accepted findings count.
pub fn check_early_release<'t>(
    released: &'t Tree,
    policy: &'t Policy,
    options: Options<'t>,
    before: &'t Tree,
) -> Report {
    let mut findings = find_blocking(released, policy, options, Some(before));
    findings.retain(|it| it.rule == EARLY_MAJOR.id && it.severity == Severity::Error);
    for finding in &mut findings {
        let package = finding.package.clone();
        finding.help = Some(format!(
            "release in that window, waive this for `{package}`, or pass `--outside-window`"
        ));
    }
    Report { errors: findings.len(), findings, ..Report::default() }
}

/// The findings that prevent a release because values would get lost, as errors.
/// Waivers and accepted findings count.
pub fn check_lossy_release<'t>(tree: &'t Tree, policy: &'t Policy, options: Options<'t>) -> Report {
    if !policy.runs(CONVERSION.defaults()) {
        return Report::default();
    }
    let context = Context::new(tree, policy, options);
    let mut findings = run_rules(&context, &[CONVERSION]);
    exempt_work_in_progress(&context, None, &mut findings);
    Waivers::of(&context).take(&context, &mut findings);
    findings.retain(|it| !options.accepted.is_some_and(|accepted| accepted.holds(it)));
    apply_severities(&context, &mut findings);
    sort(&context, &[], &mut findings);
    for finding in &mut findings {
        finding.severity = Severity::Error;
        finding.severity_reason = Some("it prevents a release".to_owned());
    }
    Report { errors: findings.len(), findings, ..Report::default() }
}

/// The findings that prevent candidates of these files: errors of the language,
/// and migrations that do not compile. Waivers, severities and work in progress
/// do not suppress them. If candidates are deleted because nothing calls for them, an
/// error of the language in any other file may be why, and prevents that.
pub fn find_upgrade_blockers(
    tree: &Tree,
    policy: &Policy,
    as_of: Date,
    made: &[GeneratedFile],
    deletes: bool,
) -> Report {
    let by_source: BTreeMap<FileId, &GeneratedFile> = made.iter().map(|it| (it.from, it)).collect();
    let holds = |outer: Span, inner: Span| outer.start <= inner.start && inner.end <= outer.end;
    let scope = RuleScope::Changes;
    let context = Context::new(tree, policy, Options { scope, ..Options::on(as_of) });
    let rules = UPGRADE_RULES;
    let mut findings = check_linked(tree, policy, scope);
    apply_severities(&context, &mut findings);
    findings.retain(|it| {
        let Some(place) = it.location.place().filter(|_| it.severity == Severity::Error) else {
            return false;
        };
        let is_candidate = || {
            let standing = context.standings().get(tree.file(place.file));
            standing == FileRole::Candidate
        };
        by_source.contains_key(&place.file) || deletes && !is_candidate()
    });
    let mut migrations = run_rules(&context, rules);
    migrations.retain(|finding| {
        let Some(place) = finding.location.place() else { return false };
        if finding.rule == ADDITION.id {
            return true;
        }
        let Some(made) = by_source.get(&place.file) else { return false };
        // A deprecated type that the next version keeps is no obstacle.
        finding.rule != DEPRECATED_TYPE.id || made.dangling.iter().any(|it| holds(place.span, *it))
    });
    findings.extend(migrations);
    for made in made {
        let file = tree.file(made.from);
        for &span in &made.dangling {
            let is_reported = |it: &Finding| {
                let place = it.location.place();
                place.is_some_and(|it| it.file == file.id && holds(it.span, span))
            };
            if !findings.iter().any(is_reported) {
                let location = Location::tree(Place { file: file.id, span });
                let package = file.package().name();
                let message = "this type is not in the next version";
                findings.push(Finding::new(
                    DEPRECATED_TYPE.id,
                    location,
                    package,
                    package,
                    message,
                ));
            }
        }
    }
    join_missing_imports(tree, &mut findings);
    sort(&context, &[], &mut findings);
    findings.dedup();
    for finding in &mut findings {
        finding.severity = Severity::Error;
        finding.severity_reason = Some("it prevents a candidate".to_owned());
    }
    Report { files: made.len(), errors: findings.len(), findings, ..Report::default() }
}
