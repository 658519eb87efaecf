use std::collections::BTreeSet;

use abide_instance::{Document, Item, walk};
use abide_schema::Element;

use crate::finding::Severity;
use crate::rule::{Check, Group, InstanceCheck, InstanceContext, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "work-in-progress-used",
    summary: "an instance that uses what is still work in progress",
    group: Group::Instance,
    severity: Some(Severity::Warning),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("work-in-progress-used.md"),
    check: Check::Instance(InstanceCheck::Document(check)),
};

fn check<'t>(context: &InstanceContext<'t>, document: &Document, sink: &mut Sink) {
    let Some(message) = document.message() else { return };
    // Whoever uses a type uses it in many places.
    let mut seen = BTreeSet::new();
    walk(context.tree, message, document.span, &mut |visit| {
        let used = match visit.met {
            Item::Message(message) => Element::Message(context.tree.message(message.ty)),
            Item::Field(field, _) => Element::Field(field),
            Item::EnumValue(_, value) => Element::EnumValue(value),
            Item::Named(_) | Item::ImplicitEnumValue(..) => return,
        };
        // What is around it says it for all.
        if used.work_in_progress().is_none()
            || used.parent().is_some_and(|it| it.work_in_progress().is_some())
        {
            return;
        }
        let (name, package) = (used.full_name(), used.package().name());
        if seen.insert(name.clone()) {
            let text = format!("{} `{name}` is work in progress", used.noun());
            sink.report(context.at(visit.span), package, &*name, text)
                .why("it is exempt from the version policy and may change with any release");
        }
    });
}
