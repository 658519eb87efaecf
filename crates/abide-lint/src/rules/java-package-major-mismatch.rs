use abide_schema::{File, PackageVersion};

use crate::finding::Severity;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "java-package-major-mismatch",
    summary: "a `java_package` whose major version differs from that of the package",
    group: Group::Layout,
    severity: Some(Severity::Warning),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("java-package-major-mismatch.md"),
    check: Check::File(check),
};

fn check<'t>(_: &Context<'t>, file: File<'t>, sink: &mut Sink) {
    let name = file.package().name();
    let (Some(version), Some((text, place))) = (file.package().version(), file.java_package())
    else {
        return;
    };
    let majors: Vec<u32> = text
        .split('.')
        .filter_map(|it| PackageVersion::parse_component(it).map(|found| found.major))
        .collect();
    let Some(other) = majors.last().filter(|_| !majors.contains(&version.major)) else { return };
    let message = format!("`java_package` names v{other}, but the package is `{name}`");
    sink.report(place, name, file.path(), message)
        .why("Java classes of two major versions end up in one package, or under a misleading name")
        .help(format!("use v{} in `java_package`", version.major))
        .fact(text);
}
