use abide_change::{Change, Comparison, Surface};
use abide_schema::{Element, Field, Part};

use crate::checks::reserved;
use crate::finding::{Severity, aliases};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "field-number-changed",
    summary: "a field whose number changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[
        "buf:FIELD_NO_DELETE",
        "buf:FIELD_NO_DELETE_UNLESS_NAME_RESERVED",
        "protolock:NoChangingFieldIDs",
        "google:FIELD_REMOVAL",
    ],
    aliases_by_case: &[&[
        "buf:FIELD_NO_DELETE_UNLESS_NUMBER_RESERVED",
        "buf:MESSAGE_SAME_REQUIRED_FIELDS",
    ]],
    spares_work_in_progress: true,
    page: include_str!("field-number-changed.md"),
    check: Check::Change(ChangeCheck::Field(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Field<'t>>, sink: &mut Sink) {
    let Some((old, new)) = change.both().or_else(|| {
        let new = change.new()?;
        Some((diff.find_renumbered(new)?, new))
    }) else {
        return;
    };
    if old.number() == new.number() {
        return;
    }
    let renumbered = diff.new_field(old) != Some(new);
    let change = Change::Both { old, new };
    let (was, is) = (old.number(), new.number());
    let name = new.relative_name();
    let message = format!("number of `{name}` changed from {was} to {is}");
    let finding = sink.change(diff, change.map(Element::Field), Part::Number, message);
    finding.changed(was.to_string(), is.to_string());
    finding.proven(diff.prover().prove_field(change).on(&[Surface::Wire]));
    finding.source(diff, change.map(Element::Field));
    if old.is_extension() {
        // The other tools do not check the numbers of extensions.
        finding.aliases(&[]);
        return;
    }
    if renumbered {
        // Tools that know fields by number report the field that has the old one.
        finding.aliases(&["protolock:NoChangingFieldIDs"]);
        finding.help(format!("give `{}` its old number back", new.name()));
        return;
    }
    let mut aliases = RULE.aliases.to_vec();
    let holder = new.containing_message();
    if !holder.is_some_and(|it| it.is_reserved_number(was)) {
        aliases.push("buf:FIELD_NO_DELETE_UNLESS_NUMBER_RESERVED");
        let reserve = holder.and_then(|it| reserved::suggest_reservation(it, Some(was), None));
        let reserve = reserve.map(|it| format!("; if it has to change, {it} and waive this"));
        let reserve = reserve.unwrap_or_default();
        let is_other = !diff.find_differing_types(old, new).is_empty()
            || old.cardinality() != new.cardinality();
        let back = match is_other {
            true => format!("declare it as before, with number {was}"),
            false => format!("change the number back to {was}"),
        };
        finding.help(format!("{back}{reserve}"));
    }
    if aliases::is_labelled_required(old) || aliases::is_labelled_required(new) {
        aliases.push("buf:MESSAGE_SAME_REQUIRED_FIELDS");
    }
    finding.aliases(&aliases);
}
