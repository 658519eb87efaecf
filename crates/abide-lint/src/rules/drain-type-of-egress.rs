use abide_instance::{Item, walk};

use crate::finding::{Location, Severity};
use crate::inputs::InstanceSet;
use crate::rule::{Check, Group, InstanceCheck, InstanceContext, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "drain-type-of-egress",
    summary: "an egress listener that drains with the ingress listeners",
    group: Group::Instance,
    severity: Some(Severity::Note),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("drain-type-of-egress.md"),
    check: Check::Instance(InstanceCheck::Run(check)),
};

fn check<'t>(context: &InstanceContext<'t>, set: &InstanceSet<'t>, sink: &mut Sink) {
    let tree = context.tree;
    let (mut has_ingress, mut egress) = (false, Vec::new());
    for (file, document) in set.documents() {
        let Some(message) = document.message() else { continue };
        walk(tree, message, document.span, &mut |visit| {
            let Item::Message(listener) = visit.met else { return };
            let ty = tree.message(listener.ty);
            if !ty.full_name().starts_with("envoy.") || ty.name() != "Listener" {
                return;
            }
            let direction = listener.get(tree, "traffic_direction");
            let drain = listener.get_enum_name(tree, "drain_type").unwrap_or("DEFAULT");
            match (listener.get_enum_name(tree, "traffic_direction"), drain, direction) {
                (Some("INBOUND"), ..) => has_ingress = true,
                (Some("OUTBOUND"), "DEFAULT", Some(entry)) => {
                    egress.push((ty, Location::instance(file, entry.key)));
                }
                _ => {}
            }
        });
    }
    for (ty, location) in egress.into_iter().filter(|_| has_ingress) {
        let package = ty.file().package().name();
        let text = "the egress listener drains together with the ingress listeners";
        sink.report(location, package, ty.full_name(), text)
            .why("a drain before a shutdown then also cuts what the program itself still sends")
            .help("set `drain_type: MODIFY_ONLY`");
    }
}
