use abide_schema::{Element, Package, Part};

use crate::checks::exempts;
use crate::rule::{Check, Context, Group, Rule, Sink};

const ALIASES: [&str; 2] = ["aip:215", "api-linter:core::0215::foreign-type-reference"];

pub(super) static RULE: Rule = Rule {
    id: "foreign-type-used",
    summary: "a field whose type is from the package of another API",
    group: Group::Aip,
    severity: None,
    since: "0.1.0",
    aliases: &ALIASES,
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("foreign-type-used.md"),
    check: Check::Element(check),
};

/// Packages for everybody, with those below them.
const COMMON: [&str; 9] = [
    "google.api",
    "google.cloud.common",
    "google.geo.type",
    "google.iam",
    "google.logging.type",
    "google.longrunning",
    "google.protobuf",
    "google.rpc",
    "google.type",
];

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let Element::Field(field) = element else { return };
    let Some(message) = field.message_type().filter(|it| !it.is_map_entry()) else { return };
    let (own, other) = (field.package(), message.package());
    if take_versioned_part(own) == take_versioned_part(other)
        || is_common(context, other)
        || exempts(context, element, &ALIASES)
    {
        return;
    }
    let (name, used) = (field.relative_name(), other.name());
    let message = format!("field `{name}` has a type of another package, `{used}`");
    sink.report(field.place(Part::Type), own.name(), field.full_name(), message)
        .why("the API changes as soon as the other one does, and keeps its version alive")
        .help("declare a message of its own, or put what both share into a common package")
        .fact(used);
}

/// The name up to its version, or all of it.
fn take_versioned_part<'t>(package: Package<'t>) -> &'t str {
    let name = package.name();
    let Some(version) = package.version() else { return name };
    let end = name.match_indices('.').map(|(at, _)| at).nth(version.position);
    end.and_then(|end| name.get(..end)).unwrap_or(name)
}

fn is_common(context: &Context<'_>, package: Package<'_>) -> bool {
    let name = package.name();
    let mut rests = COMMON.iter().filter_map(|common| name.strip_prefix(*common));
    name.is_empty()
        || rests.any(|rest| rest.is_empty() || rest.starts_with('.'))
        || name.ends_with(".type")
        || !context.policy.packages.concerns(name)
}
