use abide_schema::{Element, Field, Part, Scalar, Type};

use crate::rule::{Check, Context, Group, Rule, Sink, is_deprecated};

pub(super) static RULE: Rule = Rule {
    id: "time-as-integer",
    summary: "a time or a span of time that is an integer",
    group: Group::Style,
    severity: None,
    since: "0.1.0",
    aliases: &["aip:142"],
    spares_work_in_progress: true,
    page: include_str!("time-as-integer.md"),
    check: Check::Element(check),
};

/// Units that a name ends with. Those of one or two letters, `min` and `days`
/// end other names as well.
const UNITS: [&str; 28] = [
    "hour",
    "hours",
    "micros",
    "microsecond",
    "microseconds",
    "millis",
    "millisecond",
    "milliseconds",
    "minute",
    "minutes",
    "ms",
    "msec",
    "msecs",
    "nanos",
    "nanosec",
    "nanosecond",
    "nanoseconds",
    "nanosecs",
    "nsec",
    "nsecs",
    "sec",
    "second",
    "seconds",
    "secs",
    "usec",
    "usecs",
    "microsec",
    "millisec",
];

const SPANS: [&str; 3] = ["duration", "timeout", "ttl"];

/// Words that make a rate, a count or a part of a time of it.
const OTHERS: [&str; 9] =
    ["count", "leap", "num", "number", "of", "per", "price", "cost", "version"];

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let Element::Field(field) = element else { return };
    if !is_integer(field) {
        return;
    }
    let (name, package) = (field.name(), field.package());
    let Some(right) = type_for(name) else { return };
    if context.is_frozen(package) || is_deprecated(element) {
        return;
    }
    let message = format!("the field `{name}` holds a time as an integer");
    sink.report(field.place(Part::Type), package.name(), field.full_name(), message)
        .why("the unit is only in the name, and whoever reads it elsewhere has to guess")
        .help(format!("make it a `google.protobuf.{right}`"))
        .fact(name);
}

/// Whether its values are integers, wrapped or not.
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

/// The type that a name asks for.
fn type_for(name: &str) -> Option<&'static str> {
    let (before, last) = name.rsplit_once('_').unwrap_or(("", name));
    if name.split('_').any(|word| OTHERS.contains(&word)) {
        return None;
    }
    // `seconds` alone is a part of a time that has others.
    let is_span = SPANS.contains(&last) || UNITS.contains(&last) && !before.is_empty();
    match last {
        "timestamp" => Some("Timestamp"),
        _ if is_span && before.split('_').any(|word| word == "timestamp") => Some("Timestamp"),
        _ if is_span => Some("Duration"),
        _ => None,
    }
}
