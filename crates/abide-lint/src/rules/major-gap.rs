use crate::finding::{Severity, package_place};
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "major-gap",
    summary: "a major version whose predecessor is missing",
    group: Group::Layout,
    severity: Some(Severity::Warning),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("major-gap.md"),
    check: Check::Tree(check),
};

fn check<'t>(context: &Context<'t>, sink: &mut Sink) {
    for versions in context.apis().values() {
        for pair in versions.windows(2) {
            let (Some(low), Some(high)) = (pair[0].version(), pair[1].version()) else { continue };
            // `[upgrade]` names the majors of candidates.
            let is_named = context.is_candidate(pair[1]);
            if high.major <= low.major + 1 || !pair[1].is_judged() || is_named {
                continue;
            }
            let (name, before) = (pair[1].name(), pair[0].name());
            let missing = match (low.major + 1, high.major - 1) {
                (first, last) if first == last => format!("v{first}"),
                (first, last) => format!("v{first} to v{last}"),
            };
            let (Some(place), Some(label)) = (package_place(pair[1]), package_place(pair[0]))
            else {
                continue;
            };
            sink.report(
                place,
                name,
                name,
                format!("package `{name}` skips {missing}: it follows `{before}`"),
            )
            .label(label, "the previous major version in the tree")
            .fact(before);
        }
    }
}
