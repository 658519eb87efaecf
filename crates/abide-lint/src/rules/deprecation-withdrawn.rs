use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};
use abide_change::option::OptionSetting;
use abide_change::{Change, Comparison, OptionOwner};

pub(super) static RULE: Rule = Rule {
    id: "deprecation-withdrawn",
    summary: "an element or a file that is no longer deprecated",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("deprecation-withdrawn.md"),
    check: Check::Change(ChangeCheck::Holder(check)),
};

fn check<'t>(
    _: &Context<'t>,
    _: &Comparison<'t>,
    change: Change<OptionOwner<'t>>,
    sink: &mut Sink,
) {
    let Some(holders) = change.both() else { return };
    let setting = OptionSetting::standard(holders, "deprecated");
    if setting.values() == ("true".to_owned(), "false".to_owned()) {
        sink.setting(&setting, format!("{} is no longer deprecated", holders.1.phrase()));
    }
}
