//! `dependency-not-latest`.

use abide_schema::{Level, Package, Stability};

use crate::dependencies::{Apis, phrase, stability};
use crate::finding::Severity;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "dependency-not-latest",
    summary: "the newest stable version of a package depends on an API whose stable version has \
              moved on",
    group: Group::Dependencies,
    severity: Some(Severity::Warning),
    since: "0.1.0",
    aliases: &[],
    spares_work_in_progress: true,
    page: include_str!("dependency-not-latest.md"),
    check: Check::Tree(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let apis = Apis::new(context.tree);
    for package in context.tree.packages().filter(|it| it.is_judged() && leads(&apis, *it)) {
        for edge in context.graph.edges_of(package) {
            let Some(newest) = apis.newest_stable(edge.to) else { continue };
            // What is not stable is a matter of other rules.
            let outdated = stability(edge.to) == Some(Stability::Stable) && newest != edge.to;
            if !outdated || apis.same(package, edge.to) {
                continue;
            }
            let Some(step) = edge.step(&Level::USED) else { continue };
            let message = format!(
                "`{}` depends on `{}`, whose latest stable version is `{}`",
                package.name(),
                edge.to.name(),
                newest.name(),
            );
            let finding =
                sink.report(step.used.place(), package.name(), package.name(), message);
            finding.at(phrase(&step.used)).fact(edge.to.name());
            finding.why(
                "the newest version of an API is what new users start from: what it depends on \
                 shall not be on its way out",
            );
            finding.help(format!("use `{}`, in the next major if it must be", newest.name()));
        }
    }
}

/// Whether new users start from this package: the newest stable version of its
/// API, or one that has no versions.
fn leads<'t>(apis: &Apis<'t>, package: Package<'t>) -> bool {
    package.version().is_none() || apis.newest_stable(package) == Some(package)
}
