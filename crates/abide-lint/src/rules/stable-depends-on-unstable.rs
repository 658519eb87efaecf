//! `stable-depends-on-unstable`.

use abide_schema::Stability;

use crate::checks::{UNSTABLE_IMPORT, report_less_stable, report_unstable_imports};
use crate::finding::Severity;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "stable-depends-on-unstable",
    summary: "a stable package that depends on an alpha or beta package",
    group: Group::Dependencies,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[UNSTABLE_IMPORT],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("stable-depends-on-unstable.md"),
    check: Check::Tree(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    if context.policy.follows(UNSTABLE_IMPORT) {
        report_unstable_imports(context, sink);
    }
    report_less_stable(context, sink, Stability::Stable);
}
