use crate::finding::{Severity, package_place};
use crate::lifecycle::Retirement;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "major-past-support",
    summary: "an old stable major version whose support has ended",
    group: Group::Lifecycle,
    severity: Some(Severity::Warning),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("major-past-support.md"),
    check: Check::Tree(check),
};

fn check<'t>(context: &Context<'t>, sink: &mut Sink) {
    if context.policy.calendar.previous_major_months.is_none() {
        return;
    }
    for versions in context.apis().values() {
        for &package in versions.iter().filter(|it| it.is_judged()) {
            let Some(Retirement { successor, since, end, .. }) =
                Retirement::of(package, versions, context.days())
                    .filter(|it| context.as_of > it.end)
            else {
                continue;
            };
            let (name, next) = (package.name(), successor.name());
            let Some(place) = package_place(package) else { continue };
            let finding = sink.report(
                place,
                name,
                name,
                format!(
                    "support of `{name}` ended on {end}: `{next}` has been stable since {since}"
                ),
            );
            finding.help("delete it once none of your clients needs it").fact(end.to_string());
            if let Some(place) = package_place(successor) {
                finding.label(place, "the next stable major version");
            }
        }
    }
}
