use abide_change::{Change, Comparison, Effects, Surface};
use abide_schema::{Element, EnumValue, Part};

use crate::checks::reserved;
use crate::finding::{Severity, of_enum};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "enum-value-removed",
    summary: "an enum value that was removed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &["google:ENUM_VALUE_REMOVAL"],
    aliases_by_case: &[&[
        "buf:ENUM_VALUE_NO_DELETE",
        "buf:ENUM_VALUE_NO_DELETE_UNLESS_NAME_RESERVED",
        "buf:ENUM_VALUE_NO_DELETE_UNLESS_NUMBER_RESERVED",
        "buf:ENUM_VALUE_SAME_NAME",
        "protolock:NoRemovingFieldsWithoutReserve",
    ]],
    spares_work_in_progress: true,
    page: include_str!("enum-value-removed.md"),
    check: Check::Change(ChangeCheck::EnumValue(check)),
};

fn check<'t>(
    _: &Context<'t>,
    diff: &Comparison<'t>,
    change: Change<EnumValue<'t>>,
    sink: &mut Sink,
) {
    let Change::Removed(old) = change else { return };
    let Some(holder) = diff.new_enum(old.parent()) else { return };
    let lives = holder.value_numbered(old.number()).is_some();
    let number = lives || holder.is_reserved_number(old.number());
    let name = holder.is_reserved_name(old.name());
    let what = match (number, name) {
        _ if lives => {
            let reserved = if name { "" } else { ", and its name is not reserved" };
            format!("{reserved}; number {} still has another name", old.number())
        }
        (true, true) => String::new(),
        (true, false) => ", and its name is not reserved".to_owned(),
        (false, true) => ", and its number is not reserved".to_owned(),
        (false, false) => ", and neither its number nor its name is reserved".to_owned(),
    };
    let owner = old.parent().relative_name();
    let message = format!("enum value `{owner}.{}` was removed{what}", old.name());
    let finding = sink.change(diff, change.map(Element::EnumValue), Part::Whole, message);
    finding.fact(old.number().to_string()).fact(old.name());
    reserved::add_reuse_facts(finding, number, name);
    finding.proven(diff.prover().prove_enum(old.parent(), holder, [&[old.number()], &[]]));
    finding.proven(diff.prover().prove_value_name((old.parent(), holder), change));
    // Fields in other trees may hold its name, too.
    finding.breaks(Effects::backward(&[Surface::Json, Surface::Text]));
    finding.source(diff, change.map(Element::EnumValue));
    let mut aliases = RULE.aliases.to_vec();
    if lives {
        aliases.push("buf:ENUM_VALUE_SAME_NAME");
    } else {
        aliases.push("buf:ENUM_VALUE_NO_DELETE");
        // buf requires every name that the number had.
        let mut named = old.parent().values_numbered(old.number());
        if !named.all(|it| holder.is_reserved_name(it.name())) {
            aliases.push("buf:ENUM_VALUE_NO_DELETE_UNLESS_NAME_RESERVED");
        }
        if !number {
            aliases.push("buf:ENUM_VALUE_NO_DELETE_UNLESS_NUMBER_RESERVED");
            // Old data would be read as the next value that takes the number.
            finding.breaks(Effects::backward(&[Surface::Wire]));
        }
    }
    if !(number && name) {
        aliases.push("protolock:NoRemovingFieldsWithoutReserve");
        let missing = reserved::format_statements(
            holder.file(),
            (!number).then(|| old.number()),
            (!name).then(|| old.name()),
        );
        finding.help(format!("add `{missing}` to enum `{}`", holder.name()));
        finding.fix(of_enum(old.parent(), holder));
    }
    finding.aliases(&aliases);
}
