//! `dependency-not-latest`.

use std::collections::{BTreeMap, BTreeSet};

use abide_schema::{
    DependencyEvidence, DependencyLevel, DependencyStep, Element, Package, Stability,
};

use crate::checks::{
    ApiVersions, add_step_labels, describe_path, describe_use, find_reached, judged, stability,
};
use crate::finding::Severity;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "dependency-not-latest",
    summary: "the newest version of an API depends on an outdated stable version of another",
    group: Group::Dependencies,
    severity: Some(Severity::Warning),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("dependency-not-latest.md"),
    check: Check::Tree(check),
};

fn check<'t>(context: &Context<'t>, sink: &mut Sink) {
    let apis = ApiVersions::new(context);
    let graph = context.graph();
    let mut reach = graph.compute_reach(&DependencyLevel::USED, |package| {
        !is_entry_point(context, &apis, package) && !is_outdated_stable(&apis, package)
    });
    let packages: Vec<Package<'t>> = context.tree.packages().collect();
    let leading: Vec<Package<'t>> =
        packages.iter().copied().filter(|it| is_entry_point(context, &apis, *it)).collect();
    let outdated: Vec<Package<'t>> =
        packages.iter().copied().filter(|it| is_outdated_stable(&apis, *it)).collect();
    let mut names_of = BTreeMap::new();
    for (package, targets) in find_reached(&reach, &leading, &outdated) {
        for (target, path) in reach.find_paths(judged(package), &targets) {
            let Some(newest) = apis.newest_stable(target) else { continue };
            if apis.same(package, target) {
                continue;
            }
            let direct = graph.edge(package, target).filter(|_| path.len() == 1);
            let uses: Vec<DependencyEvidence<'_>> = match direct {
                Some(edge) => edge.collect_uses(),
                None => path.last().map(|step| step.used).into_iter().collect(),
            };
            let names = names_of.entry(newest).or_insert_with(|| collect_type_names(newest));
            report(sink, package, &path, &uses, (newest, names));
        }
    }
}

/// Reports a path to an outdated package; `uses` are the uses of its elements, and `names` are those
/// of the newest version.
fn report<'t>(
    sink: &mut Sink,
    package: Package<'t>,
    path: &[DependencyStep<'t>],
    uses: &[DependencyEvidence<'t>],
    (newest, names): (Package<'t>, &BTreeSet<String>),
) {
    let Some((first, last)) = path.first().zip(path.last()) else { return };
    let (from, to) = (package.name(), last.used.target_file().package().name());
    let mut evidence = uses.iter().filter(|used| {
        used.level() != DependencyLevel::Import && (path.len() > 1 || used.file().is_judged())
    });
    let moved = evidence.clone().find_map(|used| {
        let target = used.target();
        let own = target.strip_prefix(to)?.strip_prefix('.')?;
        names.contains(own).then(|| (used, format!("{}.{own}", newest.name())))
    });
    let Some(used) = moved.as_ref().map(|(used, _)| *used).or(evidence.next()) else { return };
    let at = if path.len() > 1 { &first.used } else { used };
    let message = format!(
        "`{from}` depends on `{to}`{}, but `{}` is the latest stable version",
        describe_path(path),
        newest.name()
    );
    let finding = sink.report(at.place(), from, from, message);
    finding.at(describe_use(at)).fact(to);
    add_step_labels(finding, &path[1..], "");
    finding.why(
        "new users start from the newest version of an API, so it should not depend on a version \
         that is about to end",
    );
    match moved {
        Some(_) if path.len() > 1 => {
            let user = last.used.file().package().name();
            finding.help(format!(
                "use a version of `{user}` that depends on `{}`, or nothing of `{user}` that uses \
                 `{to}`",
                newest.name()
            ));
        }
        Some((_, name)) => {
            finding.help(format!(
                "use `{name}`; if that breaks `{from}`, do it in its next major version"
            ));
        }
        None => {
            finding.severity = Severity::Note;
            finding.severity_reason =
                Some(format!("`{}` has none of the elements in use", newest.name()));
        }
    }
}

/// The names of the messages, enums and extensions of a package, without the
/// name of the package.
fn collect_type_names(package: Package<'_>) -> BTreeSet<String> {
    let elements = package.files().flat_map(|file| {
        let messages = file.all_messages().map(Element::Message);
        let extensions = file.all_fields().filter(|it| it.is_extension()).map(Element::Field);
        messages.chain(file.all_enums().map(Element::Enum)).chain(extensions)
    });
    let names = elements.filter_map(|element| {
        let name = element.full_name();
        Some(name.strip_prefix(package.name())?.strip_prefix('.')?.to_owned())
    });
    names.collect()
}

/// Returns true if new users start from this package: the newest stable version of its API, or one
/// that has no versions.
fn leads<'t>(apis: &ApiVersions<'_, 't>, package: Package<'t>) -> bool {
    match stability(package) {
        None => true,
        Some(stability) => stability == Stability::Stable && !apis.is_outdated(package),
    }
}

/// Returns true if new users start from the package: the newest of its API, and neither frozen nor a
/// candidate, which nobody may change.
fn is_entry_point<'t>(
    context: &Context<'t>,
    apis: &ApiVersions<'_, 't>,
    package: Package<'t>,
) -> bool {
    package.is_judged()
        && leads(apis, package)
        && !context.is_frozen(package)
        && !context.is_candidate(package)
}

/// Returns true if a newer stable version exists. Other rules judge dependencies that are not stable.
fn is_outdated_stable<'t>(apis: &ApiVersions<'_, 't>, package: Package<'t>) -> bool {
    stability(package) == Some(Stability::Stable) && apis.is_outdated(package)
}
