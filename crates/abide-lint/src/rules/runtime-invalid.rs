use abide_instance::Document;
use abide_instance::runtime::{DeclaredLayers, LayerProblem, LayerProblemKind};
use abide_schema::value::Message;

use crate::finding::Severity;
use crate::inputs::{bootstrap_of, runtime_resources};
use crate::rule::{Check, Group, InstanceCheck, InstanceContext, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "runtime-invalid",
    summary: "layers of runtime that their reader refuses, or passes over in part",
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
    let Some(message) = document.message() else { return };
    let layers = bootstrap_of(tree, document).map(|it| DeclaredLayers::from_bootstrap(tree, it));
    for layers in layers.into_iter().chain(runtime_resources(tree, document)) {
        layers.problems().iter().for_each(|it| report_problem(context, message, it, sink));
    }
}

fn report_problem(
    context: &InstanceContext<'_>,
    message: &Message,
    problem: &LayerProblem,
    sink: &mut Sink,
) {
    // `constraint-violated` reports these.
    if let LayerProblemKind::NoName | LayerProblemKind::NoSource(_) = problem.kind {
        return;
    }
    let element = context.tree.message(message.ty);
    let (name, package) = (element.full_name(), element.file().package().name());
    let text = problem.to_string();
    let finding = sink.report(context.at(problem.span), package, name, text.clone());
    finding.fact(text);
    if let Some(first) = problem.related() {
        finding.label(context.at(first), "the first one");
    }
    if !problem.is_refused() {
        finding.at_most(Severity::Warning, "the reader starts with it");
    }
}
