use abide_change::{Change, Comparison, Effects, Surface};
use abide_schema::{Element, Field, Part, Presence};

use crate::finding::{Severity, aliases};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "field-added",
    summary: "a field that was added",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[&["buf:MESSAGE_SAME_REQUIRED_FIELDS"]],
    spares_work_in_progress: true,
    page: include_str!("field-added.md"),
    check: Check::Change(ChangeCheck::Field(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Field<'t>>, sink: &mut Sink) {
    let Change::Added(new) = change else { return };
    let holder = new.containing_message().and_then(|it| diff.old_message(it));
    // `oneof-member-added` reports a new member of an old oneof.
    let joins = new.real_oneof().is_some_and(|it| diff.old_oneof(it).is_some());
    // `field-number-changed` reports one whose name is not new.
    let is_new = !new.is_extension()
        && !joins
        && diff.find_renumbered(new).is_none()
        // `extension-removed` reports what was an extension.
        && diff.find_converted_old(new).is_none();
    if holder.is_none() || !is_new {
        return;
    }
    let required = new.presence() == Presence::LegacyRequired;
    let required_word = if required { "required " } else { "" };
    let name = new.relative_name();
    let message = format!("{required_word}field `{name}` was added");
    let finding = sink.change(diff, change.map(Element::Field), Part::Whole, message);
    finding.fact(new.number().to_string()).fact(new.name());
    // Old readers refuse its name.
    finding.breaks(Effects::forward(&[Surface::Json, Surface::Text]));
    finding.proven(diff.prover().prove_field(change)).source(diff, change.map(Element::Field));
    if required {
        finding.help("make it optional: existing data does not have the field");
        // buf looks at the label only, not at the feature.
        if aliases::is_labelled_required(new) {
            finding.aliases(&["buf:MESSAGE_SAME_REQUIRED_FIELDS"]);
        }
    }
}
