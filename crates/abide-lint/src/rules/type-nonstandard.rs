use abide_schema::{Element, Part, Scalar, Type};

use crate::checks::exempts;
use crate::rule::{Check, Context, Group, Rule, Sink};

const UNSIGNED: [&str; 2] = ["aip:141", "api-linter:core::0141::forbidden-types"];
const CODES: [&str; 2] = ["aip:143", "api-linter:core::0143::string-type"];
const TIMES: [&str; 2] = ["aip:142", "api-linter:core::0142::time-field-type"];

pub(super) static RULE: Rule = Rule {
    id: "type-nonstandard",
    summary: "a field whose type differs from what AIPs use for such a field",
    group: Group::Aip,
    severity: None,
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[&UNSIGNED, &CODES, &TIMES],
    spares_work_in_progress: true,
    page: include_str!("type-nonstandard.md"),
    check: Check::Element(check),
};

/// Fields that hold standard codes.
const CODE_NAMES: [&str; 5] =
    ["currency_code", "language_code", "mime_type", "region_code", "time_zone"];

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let Element::Field(field) = element else { return };
    if field.is_extension() || field.parent().is_some_and(|it| it.is_map_entry()) {
        return;
    }
    let name = field.name();
    let is_code = CODE_NAMES.contains(&name);
    let mut mistakes: Vec<(&str, &str, &[&'static str])> = Vec::new();
    match field.ty() {
        Type::Unresolved => {}
        Type::Scalar(Scalar::String) if name.ends_with("_time") || name.ends_with("_timestamp") => {
            mistakes.push((
                "google.protobuf.Timestamp",
                "readers need not guess its format",
                &TIMES,
            ));
        }
        Type::Scalar(Scalar::String) => {}
        _ if is_code => {
            mistakes.push(("string", "standards add codes without asking this API", &CODES));
        }
        Type::Scalar(scalar) => {
            let signed = match scalar {
                Scalar::Uint32 | Scalar::Fixed32 => Some("int32"),
                Scalar::Uint64 | Scalar::Fixed64 => Some("int64"),
                _ => None,
            };
            let why = "several languages have no unsigned integers";
            mistakes.extend(signed.map(|it| (it, why, &UNSIGNED[..])));
        }
        Type::Message(_) | Type::Enum(_) => {}
    }
    for (right, why, aliases) in mistakes {
        if exempts(context, element, aliases) {
            continue;
        }
        let message = format!("AIPs use `{right}` for field `{}`", field.relative_name());
        let (package, place) = (field.package().name(), field.place(Part::Type));
        sink.report(place, package, field.full_name(), message)
            .why(why)
            .help(format!("change its type to `{right}` before anybody relies on it"))
            .fact(right)
            .aliases(aliases);
    }
}
