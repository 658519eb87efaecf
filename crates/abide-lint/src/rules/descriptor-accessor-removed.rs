use abide_change::option::{self, OptionSetting};
use abide_change::{Change, Comparison, Effects, Surface};
use abide_schema::{Element, Message};

use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "descriptor-accessor-removed",
    summary: "a message whose generated class no longer has `descriptor()`",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &["buf:MESSAGE_NO_REMOVE_STANDARD_DESCRIPTOR_ACCESSOR"],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("descriptor-accessor-removed.md"),
    check: Check::Change(ChangeCheck::Message(check)),
};

fn check<'t>(_: &Context<'t>, _: &Comparison<'t>, change: Change<Message<'t>>, sink: &mut Sink) {
    let Some(holders) = option::elements(change, Element::Message) else { return };
    let setting = OptionSetting::standard(holders, "no_standard_descriptor_accessor");
    let (was, is) = setting.values();
    if was == is {
        return;
    }
    let message = holders.1.phrase();
    if is == "true" {
        let finding =
            sink.setting(&setting, format!("{message} no longer has a descriptor accessor"));
        finding.breaks(Effects::backward(&[Surface::SourceCpp, Surface::SourceJava]));
        finding.why("`descriptor()` in C++ and `getDescriptor()` in Java are no longer generated");
    } else {
        let finding = sink.setting(&setting, format!("{message} now has a descriptor accessor"));
        finding.fact(is).aliases(&[]);
        finding.breaks(Effects::forward(&[Surface::SourceCpp, Surface::SourceJava]));
    }
}
