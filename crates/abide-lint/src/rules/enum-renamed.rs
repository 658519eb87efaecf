use abide_change::{Change, Comparison};
use abide_schema::{Element, Enum};

use crate::checks::full_names;
use crate::finding::{Severity, aliases};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "enum-renamed",
    summary: "an enum whose full name changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[full_names::ENUM_DELETIONS, aliases::OF_TYPES],
    spares_work_in_progress: true,
    page: include_str!("enum-renamed.md"),
    check: Check::Change(ChangeCheck::Enum(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Enum<'t>>, sink: &mut Sink) {
    full_names::report_renamed(diff, change.map(Element::Enum), sink);
}
