use abide_schema::{Element, Field, Part, Scalar, Type};

use crate::lifecycle::is_deprecated;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "time-as-integer",
    summary: "a time or duration that is an integer",
    group: Group::Style,
    severity: None,
    since: "0.1.0",
    aliases: &["aip:142", "api-linter:core::0142::time-field-type"],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("time-as-integer.md"),
    check: Check::Element(check),
};

/// Units of time only.
const UNITS: [&str; 17] = [
    "microsecond",
    "microseconds",
    "millisecond",
    "milliseconds",
    "ms",
    "msec",
    "msecs",
    "nanosecond",
    "nanoseconds",
    "ns",
    "nsec",
    "nsecs",
    "sec",
    "seconds",
    "secs",
    "usec",
    "usecs",
];

/// Units that also measure money or power, or show the time of a clock.
const OTHER_UNITS: [&str; 8] =
    ["days", "hours", "micros", "millis", "minutes", "nanos", "second", "us"];

const SPANS: [&str; 3] = ["duration", "timeout", "ttl"];

/// Words that make it a rate or a count.
const RATES: [&str; 5] = ["count", "num", "number", "of", "per"];

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let Element::Field(field) = element else { return };
    if !is_integer(field) {
        return;
    }
    let (name, package) = (field.name(), field.package());
    let Some(right) = suggest_type(name) else { return };
    if context.is_frozen(package) || is_deprecated(element) {
        return;
    }
    let shown = field.relative_name();
    let message = format!("field `{shown}` holds a time as an integer");
    sink.report(field.place(Part::Type), package.name(), field.full_name(), message)
        .why("only the name says the unit, so readers of a value have to guess it")
        .help(format!("change its type to {right}"))
        .fact(name);
}

/// Returns true if its values are integers or wrapped integers.
fn is_integer(field: Field<'_>) -> bool {
    match field.ty() {
        Type::Scalar(scalar) => !matches!(
            scalar,
            Scalar::Double | Scalar::Float | Scalar::Bool | Scalar::String | Scalar::Bytes
        ),
        Type::Message(_) => field.message_type().is_some_and(|it| {
            let wraps =
                matches!(it.name(), "Int32Value" | "Int64Value" | "UInt32Value" | "UInt64Value");
            wraps && it.package().name() == "google.protobuf"
        }),
        Type::Enum(_) | Type::Unresolved => false,
    }
}

const TIMESTAMP: &str = "`google.protobuf.Timestamp`";
const DURATION: &str = "`google.protobuf.Duration`";
const EITHER: &str = "`google.protobuf.Duration`, or `Timestamp` if it is a point in time";

/// The type that fits a name.
fn suggest_type(name: &str) -> Option<&'static str> {
    let (before, last) = name.rsplit_once('_').unwrap_or(("", name));
    // A field named just `seconds` is a part of a time, beside `hours` or `nanos`.
    let is_unit = UNITS.contains(&last) && !before.is_empty()
        || OTHER_UNITS.contains(&last)
            && (has_word(before, &SPANS) || has_word(before, &["timestamp"]));
    if has_word(before, &RATES) || RATES.contains(&last) {
        None
    } else if last == "timestamp" || is_unit && has_word(before, &["timestamp"]) {
        Some(TIMESTAMP)
    } else if SPANS.contains(&last) || is_unit && has_word(before, &SPANS) {
        Some(DURATION)
    } else {
        is_unit.then_some(EITHER)
    }
}

fn has_word(name: &str, words: &[&str]) -> bool {
    name.split('_').any(|word| words.contains(&word))
}
