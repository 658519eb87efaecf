use abide_instance::{Document, named};

use crate::finding::Severity;
use crate::rule::{Check, Group, InstanceCheck, InstanceContext, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "constraint-violated",
    summary: "a value that a validation annotation refuses",
    group: Group::Instance,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("constraint-violated.md"),
    check: Check::Instance(InstanceCheck::Document(check)),
};

fn check<'t>(context: &InstanceContext<'t>, document: &Document, sink: &mut Sink) {
    let Some(message) = document.message() else { return };
    for part in named(context.tree, message, document.span) {
        let package = context.tree.message(part.message.ty).file().package().name();
        for violation in context.evaluator.evaluate(part.message, part.span).violations {
            let (name, reason) = (&violation.element, &violation.reason);
            let rules = match violation.rules.as_slice() {
                [] => String::new(),
                rules => format!(" (`{}`)", rules.join("`, `")),
            };
            let text = format!("`{name}` violates a constraint: {reason}{rules}");
            sink.report(context.at(violation.span), package, name, text).fact(reason.clone());
        }
    }
}
