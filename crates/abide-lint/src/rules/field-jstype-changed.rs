use abide_change::option::OptionSetting;
use abide_change::{Change, Comparison, OptionOwner};
use abide_schema::{Element, Field, Scalar, Type};

use crate::finding::{Bump, Severity};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "field-jstype-changed",
    summary: "a 64-bit integer field whose `jstype` changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &["buf:FIELD_SAME_JSTYPE"],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("field-jstype-changed.md"),
    check: Check::Change(ChangeCheck::Field(check)),
};

fn check<'t>(_: &Context<'t>, _: &Comparison<'t>, change: Change<Field<'t>>, sink: &mut Sink) {
    let Some((old, new)) = change.both().filter(|&(old, new)| is_long(old) && is_long(new)) else {
        return;
    };
    let holders =
        (OptionOwner::Element(Element::Field(old)), OptionOwner::Element(Element::Field(new)));
    let setting = OptionSetting::standard(holders, "jstype");
    let (was, is) = setting.values();
    if was == is {
        return;
    }
    let name = new.relative_name();
    let message = format!("`jstype` of `{name}` changed from `{was}` to `{is}`");
    let finding = sink.setting(&setting, message);
    finding.changed(was, is).at_least(Severity::Warning).bump(Bump::Major);
    finding.why("accessors in generated JavaScript take and return a different type");
}

fn is_long(field: Field<'_>) -> bool {
    matches!(
        field.ty(),
        Type::Scalar(
            Scalar::Int64 | Scalar::Uint64 | Scalar::Sint64 | Scalar::Fixed64 | Scalar::Sfixed64
        )
    )
}
