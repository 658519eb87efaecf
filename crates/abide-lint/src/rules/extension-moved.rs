use abide_change::{Change, Comparison};
use abide_schema::{Element, Field};

use crate::checks::full_names;
use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "extension-moved",
    summary: "an extension that moved to another file",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[full_names::EXTENSION_DELETIONS],
    spares_work_in_progress: true,
    page: include_str!("extension-moved.md"),
    check: Check::Change(ChangeCheck::Field(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Field<'t>>, sink: &mut Sink) {
    if change.new().or(change.old()).is_some_and(Field::is_extension) {
        full_names::report_moved(diff, change.map(Element::Field), sink);
    }
}
