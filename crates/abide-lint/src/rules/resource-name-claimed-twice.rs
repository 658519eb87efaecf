use crate::finding::Severity;
use crate::instances::envoy;
use crate::rule::{Check, Group, InstanceCheck, InstanceContext, Rule, Sink};
use abide_instance::Document;
use std::collections::BTreeMap;

pub(super) static RULE: Rule = Rule {
    id: "resource-name-claimed-twice",
    summary: "two clusters or secrets of one file that have the same name",
    group: Group::Envoy,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("resource-name-claimed-twice.md"),
    check: Check::Instance(InstanceCheck::Document(check)),
};

fn check<'t>(context: &InstanceContext<'t>, document: &Document, sink: &mut Sink) {
    let tree = context.tree;
    let mut claimed = BTreeMap::new();
    for kind in ["Cluster", "Secret"] {
        for (resource, _) in envoy::find_all(tree, document, kind) {
            let Some(name) = resource.get(tree, "name") else { continue };
            let Some(text) = name.value.as_str().filter(|it| !it.is_empty()) else { continue };
            let first = *claimed.entry((kind, text)).or_insert(name.span);
            if first == name.span {
                continue;
            }
            let noun = kind.to_lowercase();
            let text = format!("a second {noun} has the name `{text}`");
            envoy::report(context, resource, name.span, text, sink)
                .label(context.at(first), "the first one")
                .help("rename one of them, or remove it");
        }
    }
}
