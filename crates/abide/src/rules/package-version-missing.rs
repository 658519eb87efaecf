use abide_schema::Package;

use crate::finding::Severity;
use crate::lifecycle::version_like;
use crate::places::package_place;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "package-version-missing",
    summary: "a package without a version in its name",
    group: Group::Layout,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &["buf:PACKAGE_DEFINED", "buf:PACKAGE_VERSION_SUFFIX", "aip:215"],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("package-version-missing.md"),
    check: Check::Package(check),
};

fn check<'t>(context: &Context<'t>, package: Package<'t>, sink: &mut Sink) {
    let name = package.name();
    if package.version().is_some() || !context.policy.packages.concerns(name) {
        return;
    }
    let judged = package.files().filter(|file| file.is_judged());
    if name.is_empty() {
        for file in judged.filter(|file| file.elements().next().is_some()) {
            sink.report(file.package_place(), name, file.path(), "the file declares no package")
                .why(
                    "names without a package have no version, and they can clash with those of \
                     any other file",
                )
                .help("declare a package with a version, such as `package acme.user.v1;`");
        }
        return;
    }
    let last = name.rsplit('.').next().unwrap_or(name);
    if version_like(last) {
        return;
    }
    let Some(place) = package_place(package) else { return };
    let help = format!(
        "end the name with a version, such as `{name}.v1`, or list the package in `unversioned` of \
         `[packages]`"
    );
    sink.report(place, name, name, format!("package `{name}` has no version")).help(help);
}
