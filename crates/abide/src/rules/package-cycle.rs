//! `package-cycle`.

use abide_schema::{Dependency, Level, Package, Use};

use crate::dependencies::phrase;
use crate::finding::Severity;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "package-cycle",
    summary: "packages depend on each other in a circle",
    group: Group::Dependencies,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &["buf:PACKAGE_NO_IMPORT_CYCLE"],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("package-cycle.md"),
    check: Check::Tree(check),
};

/// From how many packages of a group of mutual dependence a shortest circle is
/// looked for: a bound on the work where a whole tree is one circle.
const STARTS: usize = 64;

fn check(context: &Context<'_>, sink: &mut Sink) {
    // Files without a package are no package that they could share.
    for group in context.graph().cycles(|package| !package.name().is_empty()) {
        let mut shortest: Option<Vec<Dependency<'_, '_>>> = None;
        for &package in group.iter().filter(|it| it.is_judged()).take(STARTS) {
            let limit = shortest.as_ref().map_or(usize::MAX, Vec::len);
            shortest = context.graph().circle(package, &group, limit).or(shortest);
        }
        if let Some(circle) = shortest {
            report(sink, &group, circle);
        }
    }
}

fn report(sink: &mut Sink, group: &[Package<'_>], mut circle: Vec<Dependency<'_, '_>>) {
    // It is told from the first step that stands in a judged file.
    let judged =
        |edge: &Dependency<'_, '_>| evidence(edge).is_some_and(|used| used.file().is_judged());
    let Some(start) = circle.iter().position(judged) else { return };
    circle.rotate_left(start);
    let uses: Vec<_> = circle.iter().filter_map(evidence).collect();
    let Some((first, rest)) = uses.split_first() else { return };

    let names: Vec<String> = circle
        .iter()
        .map(|edge| edge.from)
        .chain([circle[0].from])
        .map(|package| format!("`{}`", package.name()))
        .collect();
    let package = circle[0].from;
    let message = format!("packages depend on each other in a circle: {}", names.join(" → "));
    let finding = sink.report(first.place(), package.name(), package.name(), message);
    finding.at(phrase(first));
    for used in rest {
        finding.label(used.place(), phrase(used));
    }
    finding.facts.extend(circle.iter().map(|edge| edge.to.name().to_owned()));
    finding.why(match group.len() - circle.len() {
        0 => "none of them can be built, versioned or released without the others".to_owned(),
        more => format!(
            "none of them can be built, versioned or released without the others; {more} more \
             packages are part of it in longer circles",
        ),
    });
    finding.help("move what both sides need into a package below them");
}

/// The import that makes an edge; a type or option where its file is imported
/// by way of another.
fn evidence<'t>(edge: &Dependency<'_, 't>) -> Option<Use<'t>> {
    Level::ALL.into_iter().find_map(|level| edge.evidence(level))
}
