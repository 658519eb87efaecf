//! `package-cycle`.

use abide_schema::{
    DependencyEvidence, DependencyLevel, File, Package, PackageDependency, Part, StepFinder,
};

use crate::checks::describe_use;
use crate::finding::Severity;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "package-cycle",
    summary: "packages that depend on each other in a cycle",
    group: Group::Dependencies,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &["buf:PACKAGE_NO_IMPORT_CYCLE"],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("package-cycle.md"),
    check: Check::Tree(check),
};

/// The number of packages of a group that are tried as the start of a shortest cycle. It bounds the
/// work for a tree whose packages all depend on each other.
const STARTS: usize = 64;

fn check(context: &Context<'_>, sink: &mut Sink) {
    // Files without a `package` statement do not form a package.
    for group in context.graph().find_cycles(|package| !package.name().is_empty()) {
        if context.policy.follows_any(RULE.aliases) {
            report_each_import(&group, sink);
            continue;
        }
        let mut shortest: Option<Vec<PackageDependency<'_, '_>>> = None;
        for &package in group.iter().filter(|it| it.is_judged()).take(STARTS) {
            let limit = shortest.as_ref().map_or(usize::MAX, Vec::len);
            shortest = context.graph().find_shortest_cycle(package, &group, limit).or(shortest);
        }
        if let Some(circle) = shortest {
            report(sink, &mut context.graph().step_finder(), &group, circle);
        }
    }
}

/// As buf does: every import of a package from which a path leads back is reported.
fn report_each_import(group: &[Package<'_>], sink: &mut Sink) {
    let files = group.iter().flat_map(|package| package.files()).filter(|it| it.is_judged());
    for file in files {
        let package = file.package();
        for import in file.imports() {
            let Some(other) = import.file.map(File::package) else { continue };
            if other == package || !group.contains(&other) {
                continue;
            }
            let (from, to) = (package.name(), other.name());
            let message =
                format!("package `{from}` imports `{to}`, which depends on `{from}` again");
            let place = file.place_of(import.decl.node, Part::Whole);
            sink.report(place, from, from, message)
                .help("move the types that they share into a package that depends on neither")
                .fact(&*import.decl.path);
        }
    }
}

fn report<'t>(
    sink: &mut Sink,
    steps: &mut StepFinder<'t>,
    group: &[Package<'t>],
    mut circle: Vec<PackageDependency<'_, 't>>,
) {
    // The report begins at the first step whose evidence is in a judged file.
    let is_judged = |edge: &PackageDependency<'_, 't>| {
        find_evidence(steps, edge).is_some_and(|used| used.file().is_judged())
    };
    let Some(start) = circle.iter().position(is_judged) else { return };
    circle.rotate_left(start);
    let uses: Vec<_> = circle.iter().filter_map(|edge| find_evidence(steps, edge)).collect();
    let Some((first, rest)) = uses.split_first() else { return };

    let names: Vec<String> = circle
        .iter()
        .map(|edge| edge.from)
        .chain([circle[0].from])
        .map(|package| format!("`{}`", package.name()))
        .collect();
    let package = circle[0].from;
    let message = format!("packages depend on each other in a cycle: {}", names.join(" → "));
    let finding = sink.report(first.place(), package.name(), package.name(), message);
    finding.at(describe_use(first));
    for used in rest {
        finding.label(used.place(), describe_use(used));
    }
    finding.facts.extend(circle.iter().map(|edge| edge.to.name().to_owned()));
    finding.why(match group.len() - circle.len() {
        0 => "none of them can be built, versioned or released without the others".to_owned(),
        1 => "none of them can be built, versioned or released without the others; 1 more package \
              is in a longer cycle with them"
            .to_owned(),
        more => format!(
            "none of them can be built, versioned or released without the others; {more} more \
             packages are in longer cycles with them",
        ),
    });
    finding.help("move the types that they share into a package that depends on none of them");
}

/// The import behind an edge; a type or an option if its file is not imported
/// directly.
fn find_evidence<'t>(
    steps: &mut StepFinder<'t>,
    edge: &PackageDependency<'_, 't>,
) -> Option<DependencyEvidence<'t>> {
    DependencyLevel::ALL.into_iter().find_map(|level| edge.find_evidence(steps, level))
}
