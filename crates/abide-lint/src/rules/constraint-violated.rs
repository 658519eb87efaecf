use std::collections::BTreeSet;

use abide_instance::{Item, WalkItem};
use abide_validate::Undetermined;

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
    check: Check::Instance(InstanceCheck::Visit(check)),
};

fn check<'t>(context: &InstanceContext<'t>, visit: WalkItem<'t, '_>, sink: &mut Sink) {
    let Item::Named(part) = visit.met else { return };
    let package = context.tree.message(part.message.ty).file().package().name();
    let evaluation = context.evaluator.evaluate(part.message, part.span);
    for violation in evaluation.violations {
        let (name, reason) = (&violation.element, &violation.reason);
        let rules = match violation.rules.as_slice() {
            [] => String::new(),
            rules => format!(" (`{}`)", rules.join("`, `")),
        };
        let text = format!("`{name}` violates a constraint: {reason}{rules}");
        sink.report(context.at(violation.span), package, name, text).fact(reason.clone());
    }
    // What is said of one value of an element holds for the others.
    let mut said = BTreeSet::new();
    for Undetermined { element, what, span } in evaluation.undetermined {
        if !said.insert((element.clone(), what.clone())) {
            continue;
        }
        let text = format!("a constraint of `{element}` was not checked: {what}");
        sink.report(context.at(span), package, element, text)
            .at_most(Severity::Note, "whether the value violates it is not known")
            .fact(what);
    }
}
