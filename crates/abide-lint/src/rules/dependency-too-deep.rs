//! `dependency-too-deep`.

use abide_schema::DependencyLevel;

use crate::checks::report;
use crate::finding::Severity;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "dependency-too-deep",
    summary: "a package whose chain of dependencies is longer than the policy allows",
    group: Group::Dependencies,
    severity: Some(Severity::Warning),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("dependency-too-deep.md"),
    check: Check::Tree(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let Some(limit) = context.policy.dependencies.max_depth else { return };
    let depths = context.graph().compute_depths();
    let mut evidence = context.graph().step_finder();
    for package in context.tree.packages().filter(|it| it.is_judged()) {
        let depth = depths[package.id.0 as usize];
        // Only the lowest package that is too deep: those above it are too deep
        // because of it.
        let below = context.graph().edges_of(package).map(|edge| depths[edge.to.id.0 as usize]);
        if depth.length <= limit || below.into_iter().any(|below| below.length > limit) {
            continue;
        }
        let mut steps = Vec::new();
        let mut names = vec![format!("`{}`", package.name())];
        let mut next = depth.next;
        while let Some((from, to)) = next {
            let edge = context.graph().edge(from, to);
            steps
                .extend(edge.and_then(|edge| edge.find_step(&mut evidence, &DependencyLevel::ALL)));
            names.push(format!("`{}`", to.name()));
            next = depths[to.id.0 as usize].next;
        }
        let message = format!(
            "`{}` depends on a chain of {} packages; the policy allows {limit}",
            package.name(),
            depth.length,
        );
        if let Some(finding) = report(sink, package, &steps, message) {
            finding.why(names.join(" → "));
            finding.help("depend on packages near the bottom directly, not through others");
        }
    }
}
