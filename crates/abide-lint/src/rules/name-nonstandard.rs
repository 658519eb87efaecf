use abide_schema::{Cardinality, Element, Field, Part, Scalar, Type};

use crate::checks::{Resource, exempts, is_timestamp};
use crate::rule::{Check, Context, Group, Rule, Sink};

const ABBREVIATIONS: &str = "api-linter:core::0140::abbreviations";
const NUMBERS: &str = "api-linter:core::0140::numbers";
const UNDERSCORES: &str = "api-linter:core::0140::underscores";
const URI: &str = "api-linter:core::0140::uri";
const COUNTS: &str = "api-linter:core::0141::count-suffix";
const TIMES: &str = "api-linter:core::0142::time-field-names";
const CODES: &str = "api-linter:core::0143::standardized-codes";
const HUMAN: &str = "api-linter:core::0148::human-names";
const UID: &str = "api-linter:core::0148::use-uid";

pub(super) static RULE: Rule = Rule {
    id: "name-nonstandard",
    summary: "a name that other APIs write in the standard way of AIPs",
    group: Group::Aip,
    severity: None,
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[&[
        "aip:140",
        ABBREVIATIONS,
        NUMBERS,
        UNDERSCORES,
        URI,
        "aip:141",
        COUNTS,
        "aip:142",
        TIMES,
        "aip:143",
        CODES,
        "aip:148",
        HUMAN,
        UID,
    ]],
    spares_work_in_progress: true,
    page: include_str!("name-nonstandard.md"),
    check: Check::Element(check),
};

/// Long words and what AIPs write for them.
const SHORT: [(&str, &str); 5] = [
    ("configuration", "config"),
    ("identifier", "id"),
    ("information", "info"),
    ("specification", "spec"),
    ("statistics", "stats"),
];

/// Whole names of fields, what AIPs write for them, and the rules about it.
const NAMES: [(&str, &str, [&str; 2]); 12] = [
    ("content_type", "mime_type", ["aip:143", CODES]),
    ("country", "region_code", ["aip:143", CODES]),
    ("country_code", "region_code", ["aip:143", CODES]),
    ("currency", "currency_code", ["aip:143", CODES]),
    ("first_name", "given_name", ["aip:148", HUMAN]),
    ("lang", "language_code", ["aip:143", CODES]),
    ("language", "language_code", ["aip:143", CODES]),
    ("last_name", "family_name", ["aip:148", HUMAN]),
    ("mime", "mime_type", ["aip:143", CODES]),
    ("mimetype", "mime_type", ["aip:143", CODES]),
    ("timezone", "time_zone", ["aip:143", CODES]),
    ("tz", "time_zone", ["aip:143", CODES]),
];

/// Words for points in time, and what AIPs write for them.
const TIMES_AS: [(&str, &str); 6] = [
    ("created", "create_time"),
    ("creation", "create_time"),
    ("expired", "expire_time"),
    ("modified", "update_time"),
    ("purged", "purge_time"),
    ("updated", "update_time"),
];

/// A name that AIPs write differently, as they do, and the rules about it.
type Mistake = (String, [&'static str; 2]);

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let mistakes = match element {
        Element::Field(field) => {
            if field.is_extension() || field.parent().is_some_and(|it| it.is_map_entry()) {
                return;
            }
            find_field_mistakes(field)
        }
        Element::Message(it) if it.is_map_entry() => return,
        Element::Oneof(it) if it.is_synthetic() => return,
        _ => find_abbreviation(element.name()).into_iter().collect(),
    };
    for (right, aliases) in mistakes {
        if exempts(context, element, &aliases) {
            continue;
        }
        let (noun, name) = (element.noun(), element.relative_name());
        let message = format!("AIPs name {noun} `{name}` differently: `{right}`");
        let place = element.place(Part::Name);
        sink.report(place, element.package().name(), element.full_name(), message)
            .why("users of several APIs look for the same thing under one name")
            .help(format!("rename it to `{right}` before anybody relies on the name"))
            .fact(right)
            .aliases(&aliases);
    }
}

fn find_field_mistakes(field: Field<'_>) -> Vec<Mistake> {
    let name = field.name();
    let mut mistakes = Vec::new();
    let known = NAMES.iter().find(|(wrong, ..)| *wrong == name);
    mistakes.extend(known.map(|(_, right, aliases)| ((*right).to_owned(), *aliases)));
    mistakes.extend(find_abbreviation(name));
    mistakes.extend(replace_word(name, "url", "uri").map(|it| (it, ["aip:140", URI])));
    let words: Vec<&str> = name.split('_').filter(|it| !it.is_empty()).collect();
    if words.len() <= name.matches('_').count() {
        mistakes.push((words.join("_"), ["aip:140", UNDERSCORES]));
    }
    if words.iter().any(|it| it.starts_with(|it: char| it.is_ascii_digit())) {
        let joined = words.iter().fold(String::new(), |joined, word| {
            let apart = !joined.is_empty() && !word.starts_with(|it: char| it.is_ascii_digit());
            joined + if apart { "_" } else { "" } + word
        });
        mistakes.push((joined, ["aip:140", NUMBERS]));
    }
    if let Some(counted) = name.strip_prefix("num_") {
        let one = pluralizer::pluralize(counted, 1, false);
        mistakes.push((format!("{one}_count"), ["aip:141", COUNTS]));
    }
    let is_resource = field.parent().is_some_and(|it| Resource::of(it).is_some());
    if is_resource && name == "id" && field.ty() == Type::Scalar(Scalar::String) {
        mistakes.push(("uid".to_owned(), ["aip:148", UID]));
    }
    if is_timestamp(field) {
        let past = TIMES_AS.iter().find(|(wrong, _)| name.split('_').any(|it| it == *wrong));
        let right = match past {
            Some((_, right)) => Some((*right).to_owned()),
            None if name.ends_with("_time") || name == "time" => None,
            None if field.cardinality() != Cardinality::Singular => None,
            None => Some(format!("{}_time", strip_time_suffix(name))),
        };
        mistakes.extend(right.map(|it| (it, ["aip:142", TIMES])));
    }
    mistakes
}

/// The name of a time without the ending that says that it is one.
fn strip_time_suffix(name: &str) -> &str {
    ["_timestamp", "_at", "_date", "_ts"]
        .iter()
        .find_map(|end| name.strip_suffix(end))
        .unwrap_or(name)
}

/// A name with the abbreviation that AIPs write for one of its words.
fn find_abbreviation(name: &str) -> Option<Mistake> {
    let short = SHORT.iter().find_map(|(long, short)| replace_word(name, long, short))?;
    Some((short, ["aip:140", ABBREVIATIONS]))
}

/// A name with another word for one of its words, in the case of that one.
fn replace_word(name: &str, word: &str, by: &str) -> Option<String> {
    let lower = name.to_ascii_lowercase();
    let (at, _) = lower.match_indices(word).find(|(at, _)| {
        let (before, after) = (name.get(..*at), name.get(at + word.len()..));
        let is_start = before.is_some_and(|it| {
            let begins_upper = name.as_bytes().get(*at).is_some_and(u8::is_ascii_uppercase);
            it.is_empty()
                || it.ends_with('_')
                || begins_upper
                    && it.ends_with(|it: char| it.is_ascii_lowercase() || it.is_ascii_digit())
        });
        is_start
            && after.is_some_and(|it| {
                !it.starts_with(|it: char| it.is_ascii_lowercase()) || it.is_empty()
            })
    })?;
    let found = name.get(at..at + word.len())?;
    let by = if found.bytes().all(|it| it.is_ascii_uppercase()) {
        by.to_ascii_uppercase()
    } else if found.starts_with(|it: char| it.is_ascii_uppercase()) {
        by[..1].to_ascii_uppercase() + &by[1..]
    } else {
        by.to_owned()
    };
    Some(format!("{}{by}{}", name.get(..at)?, name.get(at + word.len()..)?))
}
