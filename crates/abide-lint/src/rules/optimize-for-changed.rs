use abide_change::option::{self, OptionSetting};
use abide_change::{Change, Comparison, Effects, Surface};
use abide_schema::File;

use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "optimize-for-changed",
    summary: "a file whose `optimize_for` changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &["buf:FILE_SAME_OPTIMIZE_FOR"],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("optimize-for-changed.md"),
    check: Check::Change(ChangeCheck::File(check)),
};

fn check<'t>(_: &Context<'t>, _: &Comparison<'t>, change: Change<File<'t>>, sink: &mut Sink) {
    let Some(files) = option::files(change) else { return };
    let setting = OptionSetting::standard(files, "optimize_for");
    let (was, is) = setting.values();
    if was == is {
        return;
    }
    let finding = sink.setting(&setting, format!("`optimize_for` changed from `{was}` to `{is}`"));
    finding.changed(&was, &is);
    if is == "LITE_RUNTIME" {
        finding.breaks(Effects::backward(&[Surface::SourceCpp]));
        finding.why("C++ messages of the lite runtime have no descriptor and no reflection");
    } else if was == "LITE_RUNTIME" {
        finding.breaks(Effects::forward(&[Surface::SourceCpp]));
    }
}
