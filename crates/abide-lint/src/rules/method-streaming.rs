use abide_schema::{Element, Part};

use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "method-streaming",
    summary: "a method that streams",
    group: Group::Conventions,
    severity: None,
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[&["buf:RPC_NO_CLIENT_STREAMING", "buf:RPC_NO_SERVER_STREAMING"]],
    spares_work_in_progress: true,
    page: include_str!("method-streaming.md"),
    check: Check::Element(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let Element::Method(method) = element else { return };
    let decl = method.decl();
    for (streams, side, alias) in [
        (decl.client_streaming, "client", "buf:RPC_NO_CLIENT_STREAMING"),
        (decl.server_streaming, "server", "buf:RPC_NO_SERVER_STREAMING"),
    ] {
        if !streams || context.exempts(element, &[alias]) {
            continue;
        }
        let message = format!("the {side} of method `{}` streams", method.relative_name());
        sink.report(
            method.place(Part::Whole),
            method.package().name(),
            method.full_name(),
            message,
        )
        .why("many clients, proxies and browsers cannot stream")
        .help("use a method with one request and one response, such as a list with pages")
        .fact(side)
        .aliases(&[alias]);
    }
}
