use abide_change::option::{self, OptionSetting};
use abide_change::{Change, Comparison};
use abide_schema::{Element, Field};

use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "field-lazy-changed",
    summary: "a field whose `lazy` or `unverified_lazy` changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("field-lazy-changed.md"),
    check: Check::Change(ChangeCheck::Field(check)),
};

fn check<'t>(_: &Context<'t>, _: &Comparison<'t>, change: Change<Field<'t>>, sink: &mut Sink) {
    let Some(holders) = option::elements(change, Element::Field) else { return };
    let Some(new) = change.new() else { return };
    let field = new.relative_name();
    for name in ["lazy", "unverified_lazy"] {
        let setting = OptionSetting::standard(holders, name);
        let (was, is) = setting.values();
        if was != is {
            let message = format!("`{name}` of `{field}` changed from `{was}` to `{is}`");
            let finding = sink.setting(&setting, message);
            finding.fact(name).fact(was).fact(is);
            finding.why("malformed data in the field is found at a different time, or never");
        }
    }
}
