use abide_change::{Change, Comparison};
use abide_schema::{Element, Oneof, Part};

use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "oneof-renamed",
    summary: "a oneof that was renamed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &["buf:ONEOF_NO_DELETE", "buf:FIELD_SAME_ONEOF"],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("oneof-renamed.md"),
    check: Check::Change(ChangeCheck::Oneof(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Oneof<'t>>, sink: &mut Sink) {
    let Change::Both { old, new } = change else { return };
    if old.name() == new.name() {
        return;
    }
    let was = old.relative_name();
    let message = format!("oneof `{was}` was renamed to `{}`", new.name());
    let finding = sink.change(diff, change.map(Element::Oneof), Part::Name, message);
    finding.changed(old.name(), new.name()).source(diff, change.map(Element::Oneof));
    finding.why("generated code contains the name of the oneof; bytes, JSON and text do not");
}
