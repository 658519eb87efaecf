//! `dependency-not-allowed`.

use abide_schema::{DependencyLevel, Package};

use crate::checks::describe_use;
use crate::finding::Severity;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "dependency-not-allowed",
    summary: "a dependency that the policy denies",
    group: Group::Dependencies,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("dependency-not-allowed.md"),
    check: Check::Package(check),
};

fn check<'t>(context: &Context<'t>, package: Package<'t>, sink: &mut Sink) {
    let policy = &context.policy.dependencies;
    let mut steps = context.graph().step_finder();
    for edge in context.graph().edges_of(package) {
        let (from, to) = (package.name(), edge.to.name());
        let Some(denied) = policy.denial(from, to) else { continue };
        let Some(step) = edge.find_step(&mut steps, &DependencyLevel::ALL) else { continue };
        let message = format!("`{from}` may not depend on `{to}`");
        let finding = sink.report(step.used.place(), from, from, message);
        finding.at(describe_use(&step.used)).fact(to);
        finding.why(format!("the policy denies `{} -> {}`", denied.from.text(), denied.to.text(),));
        finding.help(format!(
            "remove the dependency, or add `{from} -> {to}` to `allow` in `[dependencies]`",
        ));
    }
}
