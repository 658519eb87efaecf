use abide_change::option::{self, OptionSetting};
use abide_change::{Change, Comparison};
use abide_schema::File;

use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "arenas-changed",
    summary: "a file whose `cc_enable_arenas` changed (the option has no effect today)",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &["buf:FILE_SAME_CC_ENABLE_ARENAS"],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("arenas-changed.md"),
    check: Check::Change(ChangeCheck::File(check)),
};

fn check<'t>(_: &Context<'t>, _: &Comparison<'t>, change: Change<File<'t>>, sink: &mut Sink) {
    let Some(files) = option::files(change) else { return };
    let setting = OptionSetting::standard(files, "cc_enable_arenas");
    let (was, is) = setting.values();
    if was != is {
        let message = format!("`cc_enable_arenas` changed from `{was}` to `{is}`");
        let finding = sink.setting(&setting, message);
        finding.changed(was, is).why("generated C++ supports arenas whatever the option says");
    }
}
