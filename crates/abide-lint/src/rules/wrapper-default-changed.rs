use abide_change::Change;
use abide_schema::{Element, Field, File, Node, Part, Tree};

use crate::rule::{Check, Context, Group, Rule, Sink};
use crate::wording::backtick;

pub(super) static RULE: Rule = Rule {
    id: "wrapper-default-changed",
    summary: "a field of a wrapper type whose documented default changed",
    group: Group::Compatibility,
    severity: None,
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("wrapper-default-changed.md"),
    // Files that differ in comments alone are not offered as changes.
    check: Check::Baseline(check),
};

/// The words before a default, in lower case.
const PHRASES: [&str; 8] = [
    "defaults to ",
    "default to ",
    "default is ",
    "default: ",
    "default value is ",
    "default value: ",
    "default value of ",
    "defaulting to ",
];

fn check<'t>(context: &Context<'t>, _: &'t Tree, sink: &mut Sink) {
    let Some(diff) = context.diff() else { return };
    let files = context.tree.files().filter(|it| it.is_judged());
    for new in files.flat_map(File::all_fields).filter(|it| is_wrapper(*it)) {
        let Some(old) = diff.old_field(new).filter(|it| is_wrapper(*it)) else { continue };
        let (Some(was), Some(is)) = (find_documented_default(old), find_documented_default(new))
        else {
            continue;
        };
        if was == is {
            continue;
        }
        let name = new.relative_name();
        let message = format!(
            "documented default of `{name}` changed from {was} to {is}",
            was = backtick(&was),
            is = backtick(&is)
        );
        let change = Change::Both { old, new }.map(Element::Field);
        let finding = sink.change(diff, change, Part::Name, message);
        finding.changed(was, is);
        finding
            .why("programs that leave the field unset get another value, and nothing on the wire shows it");
        finding.help("keep the old default, or change it in the next major version");
    }
}

fn is_wrapper(field: Field<'_>) -> bool {
    field.message_type().is_some_and(|it| {
        let name = it.full_name();
        let scalar = name.strip_prefix("google.protobuf.").and_then(|it| it.strip_suffix("Value"));
        scalar.is_some_and(|it| {
            let scalars = [
                "Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes",
            ];
            scalars.contains(&it)
        })
    })
}

/// The default that the comments of a field give: the first number, truth value or
/// quoted text after one of the [`PHRASES`].
fn find_documented_default(field: Field<'_>) -> Option<String> {
    let node = Element::Field(field).node();
    if node == Node::NONE {
        return None;
    }
    let comments = field.file().decl().comments(node);
    comments.leading.into_iter().chain(comments.trailing).find_map(|comment| {
        // Words may be split between lines. Only ASCII changes, so places stay.
        let text = comment.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let lower = text.to_ascii_lowercase();
        let found = PHRASES.iter().flat_map(|phrase| lower.match_indices(phrase));
        let mut ends: Vec<usize> = found.map(|(at, phrase)| at + phrase.len()).collect();
        ends.sort_unstable();
        ends.into_iter().find_map(|end| parse_value(&text[end..]))
    })
}

/// The value that a text begins with.
fn parse_value(text: &str) -> Option<String> {
    for quote in ["``", "`", "\"", "'"] {
        if let Some(rest) = text.strip_prefix(quote) {
            return rest.split_once(quote).map(|(value, _)| value.to_owned());
        }
    }
    let word = text.split(' ').next().unwrap_or_default();
    let word = word.trim_end_matches(|it: char| it.is_ascii_punctuation() && it != '%');
    let is_number = word.trim_start_matches('-').starts_with(|it: char| it.is_ascii_digit());
    let is_truth = ["true", "false"].contains(&&*word.to_ascii_lowercase());
    (is_number || is_truth).then(|| word.to_ascii_lowercase())
}
