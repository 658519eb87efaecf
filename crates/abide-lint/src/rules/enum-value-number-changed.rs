use abide_change::{Change, Comparison, Effects, Surface};
use abide_schema::{Element, EnumValue, Part};

use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "enum-value-number-changed",
    summary: "an enum value whose number changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &["protolock:NoChangingFieldIDs", "google:ENUM_VALUE_NUMBER_CHANGE"],
    aliases_by_case: &[&[
        "buf:ENUM_VALUE_NO_DELETE",
        "buf:ENUM_VALUE_NO_DELETE_UNLESS_NAME_RESERVED",
        "buf:ENUM_VALUE_NO_DELETE_UNLESS_NUMBER_RESERVED",
        "buf:ENUM_VALUE_SAME_NAME",
    ]],
    spares_work_in_progress: true,
    page: include_str!("enum-value-number-changed.md"),
    check: Check::Change(ChangeCheck::EnumValue(check)),
};

fn check<'t>(
    _: &Context<'t>,
    diff: &Comparison<'t>,
    change: Change<EnumValue<'t>>,
    sink: &mut Sink,
) {
    let Change::Both { old, new } = change else { return };
    let (was, is) = (old.number(), new.number());
    if was == is {
        return;
    }
    let name = format!("{}.{}", new.parent().relative_name(), new.name());
    let spelled = match old.name() == new.name() {
        true => String::new(),
        false => format!(", formerly `{}`,", old.name()),
    };
    let message = format!("number of `{name}`{spelled} changed from {was} to {is}");
    let finding = sink.change(diff, change.map(Element::EnumValue), Part::Number, message);
    finding.changed(was.to_string(), is.to_string());
    let proof = diff.prover().prove_enum(old.parent(), new.parent(), [&[was], &[is]]);
    // Fields in other trees may hold it, and fields that changed along with it.
    finding.breaks(Effects::both(&[Surface::Wire]));
    if old.name() == new.name() {
        finding.proven(proof).source(diff, change.map(Element::EnumValue));
    } else {
        // `enum-value-renamed` reports what another name breaks.
        finding.proven(proof.on(&[Surface::Wire]));
    }
    let mut aliases = RULE.aliases.to_vec();
    if new.parent().value_numbered(was).is_some() {
        aliases.push("buf:ENUM_VALUE_SAME_NAME");
    } else {
        aliases.push("buf:ENUM_VALUE_NO_DELETE");
        aliases.push("buf:ENUM_VALUE_NO_DELETE_UNLESS_NAME_RESERVED");
        if !new.parent().is_reserved_number(was) {
            aliases.push("buf:ENUM_VALUE_NO_DELETE_UNLESS_NUMBER_RESERVED");
        }
    }
    finding.aliases(&aliases);
}
