//! `dependency-not-latest`.

use std::collections::BTreeSet;

use abide_schema::{Dependency, Element, Level, Package, Stability, Use};

use crate::dependencies::{Apis, phrase, stability};
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

fn check(context: &Context<'_>, sink: &mut Sink) {
    let apis = Apis::new(context);
    for package in context.tree.packages().filter(|it| it.is_judged() && leads(&apis, *it)) {
        for edge in context.graph().edges_of(package) {
            let Some(newest) = apis.newest_stable(edge.to) else { continue };
            // Other rules judge dependencies that are not stable.
            let outdated = stability(edge.to) == Some(Stability::Stable) && newest != edge.to;
            if outdated && !apis.same(package, edge.to) {
                report(sink, &edge, newest);
            }
        }
    }
}

fn report(sink: &mut Sink, edge: &Dependency<'_, '_>, newest: Package<'_>) {
    let (from, to) = (edge.from.name(), edge.to.name());
    let uses: Vec<Use<'_>> = edge
        .uses()
        .into_iter()
        .filter(|used| used.level() != Level::Import && used.file().is_judged())
        .collect();
    let names = names(newest);
    let successor = |used: &Use<'_>| {
        let target = used.target();
        let own = target.strip_prefix(to)?.strip_prefix('.')?;
        names.contains(own).then(|| format!("{}.{own}", newest.name()))
    };
    let moved = uses.iter().find_map(|used| Some((used, successor(used)?)));
    let Some(used) = moved.as_ref().map(|(used, _)| *used).or(uses.first()) else { return };
    let message =
        format!("`{from}` depends on `{to}`, but `{}` is the latest stable version", newest.name());
    let finding = sink.report(used.place(), from, from, message);
    finding.at(phrase(used)).fact(to);
    finding.why(
        "new users start from the newest version of an API, so it should not depend on a version \
         that is about to end",
    );
    match moved {
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
fn names(package: Package<'_>) -> BTreeSet<String> {
    let elements = package.files().flat_map(|file| {
        let messages = file.all_messages().map(Element::Message);
        let extensions = file.all_fields().filter(|it| it.is_extension()).map(Element::Field);
        messages.chain(file.all_enums().map(Element::Enum)).chain(extensions)
    });
    let own = |element: Element<'_>| {
        let name = element.full_name();
        Some(name.strip_prefix(package.name())?.strip_prefix('.')?.to_owned())
    };
    elements.filter_map(own).collect()
}

/// Whether new users start from this package: the newest stable version of its
/// API, or one that has no versions.
fn leads<'t>(apis: &Apis<'_, 't>, package: Package<'t>) -> bool {
    package.version().is_none() || apis.newest_stable(package) == Some(package)
}
