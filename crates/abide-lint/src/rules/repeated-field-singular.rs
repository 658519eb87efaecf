use abide_schema::{Cardinality, Element, Part};

use crate::lifecycle::is_deprecated;
use crate::rule::{Check, Context, Group, Rule, Sink};

/// The rule of protolint about the same.
const PROTOLINT: &str = "protolint:REPEATED_FIELD_NAMES_PLURALIZED";

pub(super) static RULE: Rule = Rule {
    id: "repeated-field-singular",
    summary: "a repeated field with a singular name",
    group: Group::Style,
    severity: None,
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[&["aip:140", PROTOLINT]],
    spares_work_in_progress: true,
    page: include_str!("repeated-field-singular.md"),
    check: Check::Element(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let Element::Field(field) = element else { return };
    let follows = context.policy.follows(PROTOLINT);
    if field.cardinality() != Cardinality::Repeated || field.is_extension() && !follows {
        return;
    }
    let (name, package) = (field.name(), field.package());
    let certain = pluralize(name).filter(|_| {
        !field.is_extension() && !context.is_frozen(package) && !is_deprecated(element)
    });
    // protolint also reports names that may be fine.
    let by_rules = Some(pluralize_as_protolint(name)).filter(|it| !it.eq_ignore_ascii_case(name));
    let Some(right) = certain.as_ref().or(by_rules.as_ref().filter(|_| follows)) else { return };
    let aliases = [("aip:140", certain.is_some()), (PROTOLINT, by_rules.is_some())];
    let fire = aliases.into_iter().filter_map(|(alias, fires)| fires.then_some(alias));
    let aliases: Vec<&str> = fire.collect();
    let shown = field.relative_name();
    let message = format!("the name of repeated field `{shown}` is not in the plural");
    sink.report(field.place(Part::Name), package.name(), field.full_name(), message)
        .help(format!("rename it to `{right}` before anybody relies on the name"))
        .fact(name)
        .aliases(&aliases);
}

/// The plural as protolint makes it: of the singular, and without one for `info`.
fn pluralize_as_protolint(name: &str) -> String {
    if name.to_ascii_lowercase().ends_with("info") {
        return name.to_owned();
    }
    pluralizer::pluralize(&pluralizer::pluralize(name, 1, false), 2, false)
}

/// Words that need no plural: they name many things, or cannot be counted.
const COLLECTIVE: [&str; 58] = [
    "all",
    "any",
    "array",
    "audio",
    "bytes",
    "chain",
    "children",
    "collection",
    "content",
    "context",
    "criteria",
    "data",
    "deny",
    "allow",
    "disk",
    "each",
    "evidence",
    "equipment",
    "feedback",
    "feet",
    "group",
    "hardware",
    "help",
    "history",
    "in",
    "info",
    "information",
    "input",
    "items",
    "json",
    "list",
    "log",
    "many",
    "map",
    "matrix",
    "media",
    "men",
    "metadata",
    "multiple",
    "none",
    "of",
    "only",
    "options",
    "order",
    "out",
    "output",
    "path",
    "people",
    "queue",
    "schema",
    "sequence",
    "series",
    "set",
    "software",
    "stack",
    "text",
    "vector",
    "xml",
];

/// Prepositions: the last word is then not the one that counts, as in `paths_to_log`.
const PREPOSITIONS: [&str; 14] = [
    "as", "at", "by", "except", "for", "from", "in", "of", "on", "per", "to", "via", "with",
    "without",
];

/// The plural of a name that is certainly singular.
fn pluralize(name: &str) -> Option<String> {
    let words: Vec<&str> = name.split('_').collect();
    let last = *words.last()?;
    let is_word = last.len() > 2 && last.bytes().all(|it| it.is_ascii_lowercase());
    // Participles and adjectives can stand for many things.
    let is_other = ["ed", "ing", "able", "al", "ic", "ive", "a", "i", "x"];
    if !is_word
        || words.iter().any(|word| word.ends_with('s') && !word.ends_with("ss"))
        || words.iter().any(|it| PREPOSITIONS.contains(it))
        || COLLECTIVE.contains(&last)
        || is_other.iter().any(|end| last.ends_with(end))
    {
        return None;
    }
    let (stem, end) = match last.as_bytes() {
        [.., before, b'y'] if !b"aeiou".contains(before) => (&name[..name.len() - 1], "ies"),
        [.., b's' | b'z'] | [.., b'c' | b's', b'h'] => (name, "es"),
        _ => (name, "s"),
    };
    Some(format!("{stem}{end}"))
}
