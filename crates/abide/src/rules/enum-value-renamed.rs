use abide_change::{Change, Diff, Effects, Surface};
use abide_schema::{Element, EnumValue, Part};

use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "enum-value-renamed",
    summary: "an enum value that was renamed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[
        "buf:ENUM_VALUE_SAME_NAME",
        "protolock:NoChangingFieldNames",
        "google:ENUM_VALUE_REMOVAL",
    ],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("enum-value-renamed.md"),
    check: Check::Change(ChangeCheck::EnumValue(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Diff<'t>, change: Change<EnumValue<'t>>, sink: &mut Sink) {
    let Change::Both { old, new } = change else { return };
    if old.name() == new.name() {
        return;
    }
    let owner = old.parent().relative_name();
    let message = format!("`{owner}.{}` was renamed to `{}`", old.name(), new.name());
    let finding = sink.change(diff, change.map(Element::EnumValue), Part::Number, message);
    finding.fact(old.name()).fact(new.name());
    let number = [new.number()];
    finding.proven(diff.prove_enum(old.parent(), new.parent(), [&number, &number]));
    finding.proven(diff.prove_value_name((old.parent(), new.parent()), change));
    // Readers of one name refuse the other, wherever the enum is used.
    finding.breaks(Effects::both(&[Surface::Json, Surface::Text]));
    finding.source(diff, change.map(Element::EnumValue));
    finding.help(format!(
        "keep `{}` and add `{}` after it as an alias, with `option allow_alias = true;`",
        old.name(),
        new.name()
    ));
}
