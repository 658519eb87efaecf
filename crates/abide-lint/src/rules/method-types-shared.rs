use std::collections::BTreeMap;

use abide_schema::{Element, Message, Method, Part};

use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "method-types-shared",
    summary: "a message that is the request or response of several methods",
    group: Group::Conventions,
    severity: None,
    since: "0.1.0",
    aliases: &["buf:RPC_REQUEST_RESPONSE_UNIQUE"],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("method-types-shared.md"),
    check: Check::Tree(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let judged = context.tree.files().filter(|file| file.is_judged());
    let methods: Vec<Method<'_>> =
        judged.flat_map(|file| file.services().flat_map(|it| it.methods())).collect();
    // By message: the methods that take or return it. Each root is judged on its own.
    let mut users: BTreeMap<(u32, String), Vec<Method<'_>>> = BTreeMap::new();
    for &method in &methods {
        let lint = context.policy.lint.of(method.file());
        let root = method.file().decl().root;
        let (taken, returned) = (full_name_of(method.input()), full_name_of(method.output()));
        if taken.is_some() && taken == returned {
            let is_empty = taken.as_deref() == Some(EMPTY);
            let all_empty = lint.allow_empty_requests && lint.allow_empty_responses;
            if !(lint.allow_same_request_response || is_empty && all_empty) {
                let shown = taken.as_deref().unwrap_or_default();
                let message =
                    format!("method `{}` takes and returns `{shown}`", method.relative_name());
                report(context, sink, method, message, "same");
            }
        }
        let mut names: Vec<String> = Vec::new();
        names.extend(taken.filter(|it| !(lint.allow_empty_requests && it == EMPTY)));
        names.extend(returned.filter(|it| !(lint.allow_empty_responses && it == EMPTY)));
        names.dedup();
        for name in names {
            users.entry((root, name)).or_default().push(method);
        }
    }
    for ((_, name), methods) in users.iter().filter(|(_, methods)| methods.len() > 1) {
        for (at, &method) in methods.iter().enumerate() {
            let other = methods[usize::from(at == 0)].relative_name();
            let shown = method.relative_name();
            let message = format!("method `{shown}` uses `{name}`, as does `{other}`");
            report(context, sink, method, message, name);
        }
    }
}

const EMPTY: &str = "google.protobuf.Empty";

fn full_name_of(message: Option<Message<'_>>) -> Option<String> {
    message.map(Message::full_name)
}

fn report<'t>(
    context: &Context<'t>,
    sink: &mut Sink,
    method: Method<'t>,
    message: String,
    fact: &str,
) {
    if context.exempts(Element::Method(method), RULE.aliases) {
        return;
    }
    sink.report(method.place(Part::Whole), method.package().name(), method.full_name(), message)
        .why("a field that one of them needs reaches the others too, and cannot go again")
        .help("give each method a request and a response of its own")
        .fact(fact);
}
