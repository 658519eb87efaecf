use abide_schema::{Element, File, MAX_FIELD_NUMBER, Node};
use abide_upgrade::Edit;

use crate::checks::{CommentMark, find_marks};
use crate::finding::Fix;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "next-free-field-wrong",
    summary: "a comment `[#next-free-field: n]` with the wrong number",
    group: Group::Style,
    severity: None,
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("next-free-field-wrong.md"),
    check: Check::File(check),
};

const WORD: &str = "next-free-field";

fn check<'t>(context: &Context<'t>, file: File<'t>, sink: &mut Sink) {
    let mut found: Vec<CommentMark<'t>> = find_marks(file);
    found.retain(|it| it.word == WORD);
    if found.is_empty() || context.is_frozen(file.package()) {
        return;
    }
    for element in file.elements().filter(|it| it.node() != Node::NONE) {
        let (next, end) = match element {
            Element::Message(message) => {
                let fields = message.fields().map(|it| i64::from(it.number()) + 1);
                let ranges = message.reserved_ranges().iter().chain(message.extension_ranges());
                (fields.chain(ranges.map(|it| it.end.into())).max(), MAX_FIELD_NUMBER)
            }
            Element::Enum(it) => {
                let values = it.values().map(|value| i64::from(value.number()) + 1);
                let ranges = it.reserved_ranges().iter().map(|it| i64::from(it.end) + 1);
                (values.chain(ranges).max(), i32::MAX)
            }
            _ => continue,
        };
        // The last possible number is in use: no number is free.
        let next = next.unwrap_or(1);
        if next > i64::from(end) {
            continue;
        }
        let comments = file.decl().comments(element.node());
        for comment in comments.leading.into_iter().chain(comments.trailing) {
            let first = found.partition_point(|it| it.place.span.start < comment.span.start);
            let own = found[first..].iter().take_while(|it| it.place.span.end <= comment.span.end);
            for mark in own.filter(|it| it.value.parse() != Ok(next)) {
                let (noun, name) = (element.noun(), element.full_name());
                let message = format!("next free number of {noun} `{name}` is {next}");
                let right = format!("[#{WORD}: {next}]");
                let edit = Edit::replace(mark.place.span, right.as_str());
                sink.report(mark.place, file.package().name(), name, message)
                    .why("authors of new fields take the number from this comment")
                    .help(format!("write `{right}`"))
                    .fix(Some(Fix::of_file(file, format!("write `{right}`"), [edit])))
                    .fact(mark.value);
            }
        }
    }
}
