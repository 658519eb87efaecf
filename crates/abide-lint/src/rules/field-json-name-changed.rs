use abide_change::{Change, Comparison, Surface};
use abide_schema::{Element, Field, Part};

use crate::finding::{Severity, aliases};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};
use crate::wording::backtick;

pub(super) static RULE: Rule = Rule {
    id: "field-json-name-changed",
    summary: "a field whose JSON name changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &["buf:FIELD_SAME_JSON_NAME"],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("field-json-name-changed.md"),
    check: Check::Change(ChangeCheck::Field(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Field<'t>>, sink: &mut Sink) {
    let Change::Both { old, new } = change else { return };
    let derived = old.decl().json_name().is_none() && new.decl().json_name().is_none();
    // A derived name changes with the name of the field; `field-renamed` reports both.
    if new.is_extension() || derived {
        return;
    }
    let (was, is) = (old.json_name(), new.json_name());
    if was == is {
        return;
    }
    let name = new.relative_name();
    let message = format!(
        "JSON name of `{name}` changed from {was} to {is}",
        was = backtick(&was),
        is = backtick(&is)
    );
    let finding = sink.change(diff, change.map(Element::Field), Part::JsonName, message);
    finding.changed(&was, is);
    finding.proven(diff.prover().prove_field(change).on(&[Surface::Json]));
    let option = backtick(format!("[json_name = \"{was}\"]"));
    finding.help(format!("write {option} to keep the old JSON name"));
    finding.aliases(&aliases::of_pair(old, new, RULE.aliases));
}
