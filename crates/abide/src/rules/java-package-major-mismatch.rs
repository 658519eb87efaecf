use abide_schema::{File, PackageVersion};

use crate::finding::Severity;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "java-package-major-mismatch",
    summary: "a `java_package` that names another major version than the package",
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
    let message = format!("`java_package` of package `{name}` names v{other}");
    sink.report(place, name, file.path(), message)
        .why("Java classes of two majors end up in one package, or under a name that misleads")
        .help(format!("name v{} in it", version.major))
        .fact(text);
}
