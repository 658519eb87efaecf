use abide_change::{Change, Comparison, Effects, Surface};
use abide_schema::{Element, Message, NumberRanges, Part};

use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "extension-range-removed",
    summary: "extension numbers that a message no longer allows",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &["buf:EXTENSION_MESSAGE_NO_DELETE"],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("extension-range-removed.md"),
    check: Check::Change(ChangeCheck::Message(check)),
};

/// An extension in the range no longer compiles, its values become unknown
/// fields, and a field may take its number.
const LOST: &[Surface] = &[
    Surface::Wire,
    Surface::Json,
    Surface::Text,
    Surface::SourceCpp,
    Surface::SourceGo,
    Surface::SourceJava,
    Surface::SourcePython,
];

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Message<'t>>, sink: &mut Sink) {
    let Change::Both { old, new } = change else { return };
    let missing =
        NumberRanges::from(old.extension_ranges()).without(&new.extension_ranges().into());
    // The extension with the number of a field became that field.
    let converted = new.fields().filter(|it| diff.find_converted_old(*it).is_some());
    let missing =
        missing.without(&NumberRanges::from_numbers(converted.map(|it| it.number().into())));
    if missing.is_empty() {
        return;
    }
    let numbers = missing.to_string();
    let message = format!("`{}` no longer allows extension numbers {numbers}", new.full_name());
    let finding = sink.change(diff, change.map(Element::Message), Part::Whole, message);
    finding.fact(numbers).breaks(Effects::backward(LOST));
    finding
        .help("put the range back; if no extension uses the numbers, reserve them and waive this");
}
