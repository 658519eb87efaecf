use abide_schema::File;

use crate::finding::package_name;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "package-status-missing",
    summary: "a file that declares no `package_version_status`",
    group: Group::Lifecycle,
    severity: None,
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("package-status-missing.md"),
    check: Check::File(check),
};

fn check<'t>(_: &Context<'t>, file: File<'t>, sink: &mut Sink) {
    let name = file.package().name();
    let declares = file.messages().len() + file.enums().len() + file.services().len() > 0;
    // Annotations belong to the files that use them, not to an API.
    let annotations = name.split('.').any(|it| it == "annotations");
    if !declares || annotations || file.package_version_status().is_some() {
        return;
    }
    let message = format!("a file of package `{name}` declares no `package_version_status`");
    sink.report(package_name(file), name, file.path(), message)
        .why("people and tools need to know whether they may change the file")
        .help("set it to active, frozen or next major version candidate");
}
