use abide_change::option::{self, Setting};
use abide_change::{Change, Diff, Effects, Surface};
use abide_schema::{Element, Message};

use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "descriptor-accessor-removed",
    summary: "a message whose generated class has no `descriptor()` any more",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &["buf:MESSAGE_NO_REMOVE_STANDARD_DESCRIPTOR_ACCESSOR"],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("descriptor-accessor-removed.md"),
    check: Check::Change(ChangeCheck::Message(check)),
};

fn check<'t>(_: &Context<'t>, _: &Diff<'t>, change: Change<Message<'t>>, sink: &mut Sink) {
    let Some(holders) = option::elements(change, Element::Message) else { return };
    let setting = Setting::standard(holders, "no_standard_descriptor_accessor");
    let (was, is) = setting.values();
    if was == is {
        return;
    }
    let message = holders.1.phrase();
    if is == "true" {
        let finding =
            sink.setting(&setting, format!("{message} has no descriptor accessor any more"));
        finding.breaks(Effects::backward(&[Surface::SourceCpp, Surface::SourceJava]));
        finding.why("`descriptor()` in C++ and `getDescriptor()` in Java are not generated");
    } else {
        let finding = sink.setting(&setting, format!("{message} has a descriptor accessor now"));
        finding.fact(is).aliases(&[]);
        finding.breaks(Effects::forward(&[Surface::SourceCpp, Surface::SourceJava]));
    }
}
