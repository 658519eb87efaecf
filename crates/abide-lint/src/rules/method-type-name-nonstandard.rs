use abide_schema::{Element, Message, Part};

use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "method-type-name-nonstandard",
    summary: "a request or response that is not named after its method",
    group: Group::Conventions,
    severity: None,
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[&["buf:RPC_REQUEST_STANDARD_NAME", "buf:RPC_RESPONSE_STANDARD_NAME"]],
    spares_work_in_progress: true,
    page: include_str!("method-type-name-nonstandard.md"),
    check: Check::Element(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let Element::Method(method) = element else { return };
    let lint = context.policy.lint.of(method.file());
    let (service, method_name) =
        (to_pascal_case(method.service().name()), to_pascal_case(method.name()));
    for (ty, part, noun, allows_empty, alias) in [
        (
            method.input(),
            Part::Input,
            "Request",
            lint.allow_empty_requests,
            "buf:RPC_REQUEST_STANDARD_NAME",
        ),
        (
            method.output(),
            Part::Output,
            "Response",
            lint.allow_empty_responses,
            "buf:RPC_RESPONSE_STANDARD_NAME",
        ),
    ] {
        let Some(ty) = ty.filter(|it| !(allows_empty && is_empty(*it))) else { continue };
        let short = format!("{method_name}{noun}");
        let is_named = ty.name() == short || ty.name() == format!("{service}{short}");
        if is_named || context.exempts(element, &[alias]) {
            continue;
        }
        let shown = method.relative_name();
        let noun = noun.to_lowercase();
        let message = format!("the {noun} of method `{shown}` is `{}`, not `{short}`", ty.name());
        sink.report(method.place(part), method.package().name(), method.full_name(), message)
            .help(format!("name it `{short}` or `{service}{short}`"))
            .fact(noun)
            .aliases(&[alias]);
    }
}

fn is_empty(message: Message<'_>) -> bool {
    message.full_name() == "google.protobuf.Empty"
}

/// A name as buf changes it: delimiters go, and the letter after one is a capital.
fn to_pascal_case(name: &str) -> String {
    let mut out = String::new();
    for word in name.split('_') {
        let mut letters = word.chars();
        out.extend(letters.next().map(|it| it.to_ascii_uppercase()));
        out.push_str(letters.as_str());
    }
    out
}
