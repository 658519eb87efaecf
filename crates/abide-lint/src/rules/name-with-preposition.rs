use abide_schema::{Element, Part};

use crate::checks::NameCase;
use crate::rule::{Check, Context, Group, Rule, Sink};

const OF_FIELDS: &str = "protolint:FIELD_NAMES_EXCLUDE_PREPOSITIONS";
const OF_MESSAGES: &str = "protolint:MESSAGE_NAMES_EXCLUDE_PREPOSITIONS";
const API_LINTER: &str = "api-linter:core::0140::prepositions";

pub(super) static RULE: Rule = Rule {
    id: "name-with-preposition",
    summary: "a field or message whose name contains a preposition",
    group: Group::Aip,
    severity: None,
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[&["aip:140", API_LINTER, OF_FIELDS, OF_MESSAGES]],
    spares_work_in_progress: true,
    page: include_str!("name-with-preposition.md"),
    check: Check::Element(check),
};

/// Those that protolint looks for.
const BY_PROTOLINT: [&str; 21] = [
    "about",
    "against",
    "among",
    "at",
    "by",
    "concerning",
    "despite",
    "during",
    "for",
    "from",
    "in",
    "including",
    "into",
    "of",
    "on",
    "throughout",
    "to",
    "towards",
    "until",
    "upon",
    "with",
];

/// Those that api-linter looks for.
const BY_API_LINTER: [&str; 23] = [
    "after",
    "at",
    "before",
    "between",
    "but",
    "by",
    "except",
    "for",
    "from",
    "in",
    "including",
    "into",
    "of",
    "on",
    "over",
    "since",
    "to",
    "toward",
    "under",
    "upon",
    "with",
    "within",
    "without",
];

/// Names that AIPs themselves use.
const STANDARD: [&str; 4] = ["order_by", "group_by", "hour_of_day", "day_of_week"];

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let protolint = match element {
        Element::Field(it)
            if it.is_extension() || it.parent().is_some_and(|it| it.is_map_entry()) =>
        {
            return;
        }
        Element::Field(_) => OF_FIELDS,
        Element::Message(it) if !it.is_map_entry() => OF_MESSAGES,
        _ => return,
    };
    let name = element.name();
    // A message that has one is a matter of taste to AIPs.
    let is_standard = STANDARD.contains(&name);
    let by_aip = protolint == OF_FIELDS && !is_standard;
    let by_protolint = !is_standard || context.policy.follows(protolint);
    // The words of a message begin with a capital each.
    let words =
        if protolint == OF_FIELDS { name.to_owned() } else { NameCase::LowerSnake.convert(name) };
    let is_written = |word: &str| {
        let (first, rest) = word.split_at(1);
        protolint == OF_FIELDS || name.contains(&(first.to_ascii_uppercase() + rest))
    };
    let found = |known: &[&str]| {
        let mut words = words.split('_');
        words.find(|word| known.contains(word) && is_written(word)).map(str::to_owned)
    };
    let (of_aip, of_protolint) =
        (found(&BY_API_LINTER).filter(|_| by_aip), found(&BY_PROTOLINT).filter(|_| by_protolint));
    let mut aliases = Vec::new();
    if of_aip.is_some() {
        aliases.extend(["aip:140", API_LINTER]);
    }
    aliases.extend(of_protolint.as_ref().map(|_| protolint));
    let Some(word) = of_aip.or(of_protolint) else { return };
    if context.exempts(element, &aliases) {
        return;
    }
    let message =
        format!("the name of {} `{}` contains `{word}`", element.noun(), element.relative_name());
    sink.report(element.place(Part::Name), element.package().name(), element.full_name(), message)
        .why("a name with a preposition often stands for several things, or for a missing message")
        .help("put the noun last, such as `error_reason` for `reason_for_error`")
        .fact(name)
        .aliases(&aliases);
}
