use abide_change::option::{self, OptionSetting};
use abide_change::{Change, Comparison};
use abide_schema::{Element, Field};

use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "option-retention-changed",
    summary: "an option whose `retention` changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("option-retention-changed.md"),
    check: Check::Change(ChangeCheck::Field(check)),
};

fn check<'t>(_: &Context<'t>, _: &Comparison<'t>, change: Change<Field<'t>>, sink: &mut Sink) {
    let Some(holders) = option::elements(change, Element::Field) else { return };
    let setting = OptionSetting::standard(holders, "retention");
    let (was, is) = setting.values();
    let (was, is) = (resolve_retention(was), resolve_retention(is));
    if was == is {
        return;
    }
    let phrase = holders.1.phrase();
    let finding =
        sink.setting(&setting, format!("`retention` of {phrase} changed from `{was}` to `{is}`"));
    finding.changed(was, &is);
    if is == "RETENTION_SOURCE" {
        finding.at_least(Severity::Warning);
        finding.why("programs that read the option from descriptors at run time no longer find it");
    }
}

/// The default is to keep options at run time.
fn resolve_retention(word: String) -> String {
    match word.as_str() {
        "RETENTION_UNKNOWN" => "RETENTION_RUNTIME".to_owned(),
        _ => word,
    }
}
