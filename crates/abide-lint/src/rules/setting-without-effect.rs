use crate::finding::{Location, RuleDefaults, Severity};
use crate::policy::IdleReason;
use crate::rule::{Check, Context, Group, Rule, Sink};
use crate::rules::rules_of;

pub(super) static RULE: Rule = Rule {
    id: "setting-without-effect",
    summary: "a severity in `abide.toml` that never decides",
    group: Group::Policy,
    severity: Some(Severity::Warning),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("setting-without-effect.md"),
    check: Check::Tree(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let rules: Vec<RuleDefaults> = rules_of(context.policy).map(|it| it.defaults()).collect();
    for idle in context.policy.find_idle_settings(&rules) {
        let (what, help) = match idle.reason {
            IdleReason::Overridden => (
                "a later `[[override]]` without conditions decides",
                "delete it, or say in the override which packages it is for",
            ),
            IdleReason::EachRule => {
                ("other keys of its table decide about each of its rules", "delete this key")
            }
            IdleReason::NoDirection => (
                "by `[breaking]` no direction of a break counts",
                "name the rules themselves, or set `directions` in `[breaking]`",
            ),
        };
        let message = format!("`{}` has no effect: {what}", idle.key);
        sink.report(Location::config(idle.span), "", idle.key, message).fact(what).help(help);
    }
}
