use abide_schema::{Package, Stability};

use crate::finding::{Severity, package_place};
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "alpha-too-old",
    summary: "an alpha package that is older than the policy allows",
    group: Group::Lifecycle,
    severity: Some(Severity::Warning),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("alpha-too-old.md"),
    check: Check::Package(check),
};

fn check<'t>(context: &Context<'t>, package: Package<'t>, sink: &mut Sink) {
    let calendar = &context.policy.calendar;
    let alpha = package.version().is_some_and(|version| version.stability == Stability::Alpha);
    let Some(since) = context.introduced(package).filter(|_| alpha) else { return };
    let Some((_, limit)) = calendar.alpha_end(since).filter(|(end, _)| context.as_of > *end) else {
        return;
    };
    let (name, Some(place)) = (package.name(), package_place(package)) else { return };
    sink.report(
        place,
        name,
        name,
        format!("package `{name}` has been an alpha since {since}; the policy allows {limit}"),
    )
    .help("promote it to beta or stable, or delete it")
    .fact(since.to_string());
}
