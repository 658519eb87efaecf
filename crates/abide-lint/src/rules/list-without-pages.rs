use abide_schema::{Cardinality, Element, Field, Message, Part, Place, Scalar, Type};

use crate::checks::exempts;
use crate::rule::{Check, Context, Group, Rule, Sink};

const PAGE_SIZE: [&str; 2] = ["aip:158", "api-linter:core::0158::request-page-size-field"];
const PAGE_TOKEN: [&str; 2] = ["aip:158", "api-linter:core::0158::request-page-token-field"];
const SKIP: [&str; 2] = ["aip:158", "api-linter:core::0158::request-skip-field"];
const NEXT: [&str; 2] = ["aip:158", "api-linter:core::0158::response-next-page-token-field"];
const FIRST: [&str; 2] = ["aip:158", "api-linter:core::0158::response-repeated-first-field"];

pub(super) static RULE: Rule = Rule {
    id: "list-without-pages",
    summary: "a list whose request or response has no pages",
    group: Group::Aip,
    severity: None,
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[&PAGE_SIZE, &PAGE_TOKEN, &SKIP, &NEXT, &FIRST],
    spares_work_in_progress: true,
    page: include_str!("list-without-pages.md"),
    check: Check::Element(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let Element::Message(message) = element else { return };
    let name = message.name();
    let is_list = name.starts_with("List") || name.starts_with("Search");
    let mut report = |(place, lack, aliases): PagingLack| {
        if exempts(context, element, aliases) {
            return;
        }
        let text = format!("`{}` {lack}", message.relative_name());
        sink.report(place, message.package().name(), message.full_name(), text)
            .why("a list grows, and pages that come later break clients that expect all of it")
            .help(advise(lack))
            .fact(lack)
            .aliases(aliases);
    };
    if name.ends_with("Request")
        && (is_list || has_field(message, "page_size") || has_field(message, "page_token"))
    {
        find_typed(message, "page_size", Scalar::Int32, &PAGE_SIZE)
            .into_iter()
            .for_each(&mut report);
        find_typed(message, "page_token", Scalar::String, &PAGE_TOKEN)
            .into_iter()
            .for_each(&mut report);
        let skip = message.fields().find(|it| it.name() == "skip");
        let skip = skip.filter(|it| it.ty() != Type::Scalar(Scalar::Int32));
        let place = skip.map(|it| it.place(Part::Type));
        place
            .map(|it| (it, "has a `skip` that is not `int32`", &SKIP))
            .into_iter()
            .for_each(&mut report);
    }
    if is_list && name.ends_with("Response") || has_field(message, "next_page_token") {
        find_typed(message, "next_page_token", Scalar::String, &NEXT)
            .into_iter()
            .for_each(&mut report);
        find_unpaged(message).into_iter().for_each(&mut report);
    }
}

/// Says how to add what a list lacks.
fn advise(lack: &str) -> String {
    let parts = lack.strip_prefix("has a `").and_then(|it| it.split_once("` that is not `"));
    match (parts, lack) {
        (Some((name, ty)), _) => {
            format!("declare it as `{} {name}`", ty.trim_end_matches('`'))
        }
        (None, NOT_REPEATED) => {
            "make it repeated, or declare the repeated field before it, with number 1".to_owned()
        }
        (None, NOT_FIRST) => "give it number 1".to_owned(),
        _ => "add it now, even if there is only one page yet".to_owned(),
    }
}

const NOT_FIRST: &str = "has a first field that is not number 1";
const NOT_REPEATED: &str = "has a first field that is not repeated";

/// A defect of a list: its place, its text, and the rules of other tools about it.
type PagingLack = (Place, &'static str, &'static [&'static str; 2]);

/// A field for pages that is missing, or of another type.
fn find_typed(
    message: Message<'_>,
    name: &str,
    scalar: Scalar,
    aliases: &'static [&'static str; 2],
) -> Option<PagingLack> {
    let (missing, other) = match name {
        "page_size" => ("has no `page_size`", "has a `page_size` that is not `int32`"),
        "page_token" => ("has no `page_token`", "has a `page_token` that is not `string`"),
        _ => ("has no `next_page_token`", "has a `next_page_token` that is not `string`"),
    };
    let Some(field) = message.fields().find(|it| it.name() == name) else {
        return Some((message.place(Part::Name), missing, aliases));
    };
    let is_right =
        field.ty() == Type::Scalar(scalar) && field.cardinality() == Cardinality::Singular;
    (!is_right).then(|| (field.place(Part::Type), other, aliases))
}

/// Finds a defect of the first field of a response: generated code iterates over it.
fn find_unpaged(message: Message<'_>) -> Option<PagingLack> {
    let first: Field<'_> = message.fields().next()?;
    if first.number() != 1 {
        return Some((first.place(Part::Number), NOT_FIRST, &FIRST));
    }
    let is_list = first.cardinality() != Cardinality::Singular;
    (!is_list).then(|| (first.place(Part::Name), NOT_REPEATED, &FIRST))
}

fn has_field(message: Message<'_>, name: &str) -> bool {
    message.fields().any(|field| field.name() == name)
}
