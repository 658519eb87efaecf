use abide_change::{OptionOwner, resolve_operation_type};
use abide_schema::{Element, PackageVersion, Place};

use super::long_running_operation_changed::INFO;
use super::message_history_broken::package_of;
use crate::finding::Severity;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "unstable-type-named",
    summary: "an annotation that names a type of a less stable package",
    group: Group::Dependencies,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("unstable-type-named.md"),
    check: Check::Element(check),
};

fn check<'t>(_: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let package = element.package();
    let Some(own) = package.version().map(|it| it.stability) else { return };
    for (name, place) in collect_named_types(element) {
        let Some(home) = package_of(&name) else { continue };
        let theirs = PackageVersion::from_package(home).map(|it| it.stability);
        let Some(theirs) = theirs.filter(|it| *it < own) else { continue };
        // A type from an imported package is reported as a dependency.
        let imported = element.file().imports().filter_map(|it| it.file);
        if imported.map(|it| it.package()).any(|it| it.name() == home) {
            continue;
        }
        let (noun, full_name) = (element.noun(), element.full_name());
        let shown = element.relative_name();
        let message =
            format!("{noun} `{shown}` of a {own} package names the {theirs} type `{name}`");
        let finding = sink.report(place, package.name(), full_name, message);
        finding
            .fact(name)
            .why("the type is sent in an `Any`, so it can break clients without a change here");
        finding.help(format!(
            "name a type of a {own} package, or declare the {noun} in a package that is {theirs}"
        ));
    }
}

/// The types that a service or a method names in its options, and where.
fn collect_named_types(element: Element<'_>) -> Vec<(String, Place)> {
    match element {
        Element::Service(service) => {
            let resource = service.resource_type().into_iter();
            resource.map(|(name, place)| (name.to_owned(), place)).collect()
        }
        Element::Method(method) => {
            let holder = OptionOwner::Element(element);
            let parts = ["response_type", "metadata_type"].into_iter();
            let named = parts.filter_map(|part| {
                Some((resolve_operation_type(method, part)?, holder.place(holder.part(INFO, part))))
            });
            named.collect()
        }
        _ => Vec::new(),
    }
}
