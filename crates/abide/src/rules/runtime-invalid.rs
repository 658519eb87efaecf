use std::collections::BTreeMap;

use abide_instance::Document;

use crate::overrides::{bootstrap_of, each_value, layers};
use crate::finding::Severity;
use crate::rule::{Check, Group, InstanceCheck, InstanceContext, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "runtime-invalid",
    summary: "layers of runtime that their reader refuses",
    group: Group::Instance,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("runtime-invalid.md"),
    check: Check::Instance(InstanceCheck::Document(check)),
};

fn check<'t>(context: &InstanceContext<'t>, document: &Document, sink: &mut Sink) {
    let tree = context.tree;
    let Some(bootstrap) = bootstrap_of(tree, document) else { return };
    let element = tree.message(bootstrap.ty);
    let (name, package) = (element.full_name(), element.file().package().name());
    let mut names = BTreeMap::new();
    let mut admin = None;
    for layer in layers(tree, bootstrap) {
        if let Some(entry) = layer.get(tree, "name") {
            let text = entry.value.as_str().unwrap_or_default();
            if let Some(first) = names.insert(text, entry.span) {
                let message = format!("two layers of runtime have the name `{text}`");
                let finding = sink.report(context.at(entry.span), package, &*name, message);
                finding.fact(text).label(context.at(first), "the first of them");
            }
        }
        if let Some(entry) = layer.get(tree, "admin_layer") {
            if let Some(first) = admin {
                let message = "there are two admin layers, and one is the most";
                let finding = sink.report(context.at(entry.key), package, &*name, message);
                finding.label(context.at(first), "the first of them");
            }
            admin = admin.or(Some(entry.key));
        }
        let Some(content) = layer.message(tree, "static_layer") else { continue };
        each_value(tree, content, "", &mut |key, entry, value| {
            let kind = value.entries.last().map(|it| tree.field(it.field).name());
            let what = match kind {
                None | Some("null_value") => "null",
                Some("list_value") => "a list",
                Some(_) => return,
            };
            let message = format!("the runtime key `{key}` is {what}, which is no value");
            let finding = sink.report(context.at(entry.key), package, &*name, message);
            finding.fact(key);
            finding.help("write a boolean, a number, a text or a share, or remove the key");
        });
    }
}
