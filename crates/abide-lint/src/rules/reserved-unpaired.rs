use abide_schema::{Element, Place};
use abide_syntax::Span;

use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "reserved-unpaired",
    summary: "a message or enum that reserves numbers without names, or names without numbers",
    group: Group::Conventions,
    severity: None,
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("reserved-unpaired.md"),
    check: Check::Element(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let (ranges, names) = match element {
        Element::Message(it) => (it.reserved_ranges(), it.reserved_names()),
        Element::Enum(it) => (it.reserved_ranges(), it.reserved_names()),
        _ => return,
    };
    let (has, lacks, span, why): (_, _, Span, _) = match (ranges.first(), names.first()) {
        (Some(range), None) => (
            "numbers",
            "name",
            range.span,
            "an element with an old name under a new number reads old JSON and text as its own",
        ),
        (None, Some(name)) => (
            "names",
            "number",
            name.span,
            "an element with an old number under a new name reads old bytes as its own",
        ),
        _ => return,
    };
    if context.exempts(element, &[]) {
        return;
    }
    let (noun, name) = (element.noun(), element.relative_name());
    let message = format!("{noun} `{name}` reserves {has}, but no {lacks}");
    let place = Place { file: element.file().id, span };
    sink.report(place, element.package().name(), element.full_name(), message)
        .why(why)
        .help(format!("reserve the {lacks} of what was removed as well"))
        .fact(lacks);
}
