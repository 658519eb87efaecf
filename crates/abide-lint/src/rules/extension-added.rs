use abide_change::{Change, Comparison};
use abide_schema::{Element, Field};

use crate::checks::full_names;
use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "extension-added",
    summary: "an extension that was added",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("extension-added.md"),
    check: Check::Change(ChangeCheck::Field(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Field<'t>>, sink: &mut Sink) {
    let Some(new) = change.new() else { return };
    // `field-removed` reports what was a field.
    if new.is_extension() && diff.find_converted_old(new).is_none() {
        full_names::report_added(diff, change.map(Element::Field), sink);
    }
}
