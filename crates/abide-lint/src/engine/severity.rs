//! How much findings matter: what policy makes of their severities, and what is
//! left of them on the surfaces that count.

use abide_change::Surface;
use jiff::civil::Date;

use crate::finding::{Bump, ElementUser, Finding, Group, Severity};
use crate::policy::{FindingScope, JudgedChange, LastUse, Policy};
use crate::rule::Context;
use crate::rules::find_rule_of;

/// Limits findings to these surfaces. A breaking change that breaks none of them is
/// dropped.
pub(super) fn limit_to_surfaces(surfaces: &[Surface], findings: &mut Vec<Finding>) {
    if surfaces.is_empty() {
        return;
    }
    findings.retain_mut(|finding| {
        let Some(change) = &mut finding.change else { return true };
        let before = change.effects;
        change.effects = before.on(surfaces);
        change.may_break = change.may_break.on(surfaces);
        change.symbols.retain(|it| surfaces.contains(&it.surface));
        change.witness = change.witness.take().filter(|it| surfaces.contains(&it.surface));
        before.is_empty() || !change.effects.is_empty() || !change.may_break.is_empty()
    });
}

/// Returns true if the rule of a finding is on anywhere.
pub(super) fn is_rule_on(policy: &Policy, finding: &Finding) -> bool {
    find_rule_of(policy, finding.rule).is_none_or(|rule| policy.runs(rule.defaults()))
}

/// Sets the severity of every finding by the policy, and the bump of every change;
/// drops findings that are off.
pub(super) fn apply_severities(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let policy = context.policy;
    findings.retain_mut(|finding| {
        apply_removal_terms(context, finding);
        let Some(rule) = find_rule_of(policy, finding.rule) else { return true };
        let subject = build_scope(context, finding);
        // Whom a change breaks decides about our rules; one of one's own is what it says.
        let change = policy.judged(finding, subject).filter(|_| rule.group != Group::Own);
        let is_left_out = change.as_ref().is_some_and(JudgedChange::is_left_out);
        let (severity, reason) = policy.severity(rule.defaults(), subject, change);
        let Some(severity) = severity else { return false };
        // A finding that its rule has already lowered stays low.
        if finding.severity_reason.is_some() {
            finding.severity = finding.severity.min(severity);
        } else {
            finding.severity = severity;
            finding.severity_reason = reason;
            if let Some(change) = &mut finding.change {
                if !policy.is_bound(&finding.package) {
                    change.bump = change.bump.min(Bump::Minor);
                } else if change.effects.breaks_backward() && !is_left_out {
                    change.bump = Bump::Major;
                }
            }
        }
        // A change that is not refused can be in the next minor.
        if let Some(change) = &mut finding.change
            && finding.severity < Severity::Error
        {
            change.bump = change.bump.min(Bump::Minor);
        }
        true
    });
}

/// Returns what settings can be for.
fn build_scope<'f>(context: &'f Context<'_>, finding: &'f Finding) -> FindingScope<'f> {
    let place = finding.location.place().map(|it| context.tree.file(it.file));
    let old = || Some(context.baseline?.file(finding.location.old_place()?.file));
    let path = place.or_else(old).map(|file| &*file.decl().display);
    FindingScope { package: &finding.package, path, aliases: &finding.aliases }
}

/// The last use of an element by one of its users; `None` if no file says who uses what.
fn find_last_use(users: Option<&[ElementUser]>) -> LastUse<'_> {
    let Some(users) = users else { return LastUse::Unknown };
    // Of two on one day the first by name counts.
    let latest = users.iter().rev().max_by_key(|it| it.last.unwrap_or(Date::MAX));
    latest.map_or(LastUse::Never, |it| LastUse::By(&it.client, it.last))
}

/// Turns a removal into a note if `[deprecation]` allows it. One that it does not allow is told
/// what would allow it.
fn apply_removal_terms(context: &Context<'_>, finding: &mut Finding) {
    let (policy, as_of) = (context.policy, context.as_of);
    let change = policy.judged(finding, build_scope(context, finding));
    let is_left_out = change.is_some_and(|it| it.is_left_out());
    let bound = policy.is_bound(&finding.package);
    let Some(change) = &mut finding.change else { return };
    if finding.severity_reason.is_some() {
        return;
    }
    let users = context.usage.map(|it| it.find_users(&finding.element));
    let when = (as_of, find_last_use(users.as_deref()));
    let terms = change
        .gone
        .as_ref()
        .map(|it| policy.deprecation.terms(&finding.element, it, &policy.calendar, when));
    match terms {
        Some(None) => {
            change.bump = change.bump.min(Bump::Minor);
            finding.severity = Severity::Note;
            finding.severity_reason =
                Some("`[deprecation] removal` allows this removal".to_owned());
        }
        Some(Some(terms)) if bound && change.effects.breaks_backward() && !is_left_out => {
            let already = finding.why.take().map(|it| format!("{it}; "));
            finding.why = Some(already.unwrap_or_default() + &terms.why);
            finding.help = match (terms.help, finding.help.take()) {
                (Some(first), Some(else_)) => {
                    Some(format!("{first}; if it has to go now, {else_} and waive this"))
                }
                (first, else_) => first.or(else_),
            };
        }
        _ => {}
    }
}
