use abide_change::option::OptionSetting;
use abide_change::{Change, Comparison, OptionOwner};
use abide_schema::value::Value;

use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "sensitive-mark-removed",
    summary: "a field or enum value that is no longer marked as sensitive",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("sensitive-mark-removed.md"),
    check: Check::Change(ChangeCheck::Holder(check)),
};

fn check<'t>(
    _: &Context<'t>,
    _: &Comparison<'t>,
    change: Change<OptionOwner<'t>>,
    sink: &mut Sink,
) {
    const MARKS: &[&str] = &["udpa.annotations.sensitive", "xds.annotations.v3.sensitive"];
    let Some(holders) = change.both() else { return };
    let redacted = OptionSetting::standard(holders, "debug_redact");
    let marks = MARKS.iter().map(|mark| (*mark, OptionSetting::of(holders, |it| it.custom(mark))));
    for (name, setting) in std::iter::once(("debug_redact", redacted)).chain(marks) {
        let was = setting.old.is_some_and(|it| it.value == Value::Bool(true));
        let is = setting.new.is_some_and(|it| it.value == Value::Bool(true));
        if was && !is {
            let phrase = holders.1.phrase();
            let finding =
                sink.setting(&setting, format!("{phrase} is no longer marked with `{name}`"));
            finding.fact(name).at_least(Severity::Warning);
            finding.why("values that were kept out of logs and debug output now appear there");
        }
    }
}
