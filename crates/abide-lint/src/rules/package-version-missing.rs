use abide_schema::{File, Package};

use crate::checks::BufStability;
use crate::finding::{Severity, package_name, package_place};
use crate::lifecycle::version_like;
use crate::rule::{Check, Context, Group, Rule, Sink};

const DEFINED: &str = "buf:PACKAGE_DEFINED";
const SUFFIX: &str = "buf:PACKAGE_VERSION_SUFFIX";
const AIP: &str = "aip:215";
const API_LINTER: &str = "api-linter:core::0215::versioned-packages";

pub(super) static RULE: Rule = Rule {
    id: "package-version-missing",
    summary: "a package without a version in its name",
    group: Group::Layout,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[&[DEFINED, SUFFIX, AIP, API_LINTER]],
    spares_work_in_progress: true,
    page: include_str!("package-version-missing.md"),
    check: Check::Package(check),
};

fn check<'t>(context: &Context<'t>, package: Package<'t>, sink: &mut Sink) {
    let name = package.name();
    if name.is_empty() && context.policy.follows(DEFINED) {
        for file in package.files().filter(|file| file.is_judged()) {
            report_undeclared(file, sink);
        }
        return;
    }
    if !name.is_empty() && context.policy.follows(SUFFIX) {
        without_suffix(context, package, sink);
        return;
    }
    if package.version().is_some() || !context.policy.packages.concerns(name) {
        return;
    }
    let judged = package.files().filter(|file| file.is_judged());
    if name.is_empty() {
        for file in judged.filter(|file| file.elements().next().is_some()) {
            report_undeclared(file, sink);
        }
        return;
    }
    let last = name.rsplit('.').next().unwrap_or(name);
    if version_like(last) {
        return;
    }
    let Some(place) = package_place(package) else { return };
    sink.report(place, name, name, format!("package `{name}` has no version"))
        .help(advise_version(name))
        .aliases(&[SUFFIX, AIP, API_LINTER]);
}

fn advise_version(name: &str) -> String {
    format!(
        "end a new package with a version, such as `{name}.v1`; list one that has users in \
         `unversioned` of `[packages]`, because a new name breaks them"
    )
}

fn report_undeclared(file: File<'_>, sink: &mut Sink) {
    sink.report(file.package_place(), "", file.path(), "the file declares no package")
        .why(
            "names without a package have no version, and they can clash with those of any other \
             file",
        )
        .help("declare a package with a version, such as `package acme.user.v1;`")
        .aliases(&[DEFINED, AIP]);
}

/// As buf does: the last component of the name must be a version, and every file that names the
/// package is reported.
fn without_suffix<'t>(context: &Context<'t>, package: Package<'t>, sink: &mut Sink) {
    let name = package.name();
    let is_version = BufStability::of_package(name).is_some();
    if is_version || !context.policy.packages.concerns(name) {
        return;
    }
    for file in context.find_reporting_files(package, SUFFIX) {
        let message = format!("package `{name}` does not end with a version");
        sink.report(package_name(file), name, name, message)
            .help(advise_version(name))
            .aliases(&[SUFFIX, AIP, API_LINTER]);
    }
}
