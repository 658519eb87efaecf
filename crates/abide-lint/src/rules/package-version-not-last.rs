use abide_schema::Package;

use crate::finding::{Severity, package_place};
use crate::lifecycle::version_like;
use crate::rule::{Check, Context, Group, Rule, Sink};

const BUF: &str = "buf:PACKAGE_VERSION_SUFFIX";
const AIP: &str = "aip:215";

pub(super) static RULE: Rule = Rule {
    id: "package-version-not-last",
    summary: "a package whose version is not the last component of its name",
    group: Group::Layout,
    severity: Some(Severity::Warning),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[&[BUF, AIP]],
    spares_work_in_progress: true,
    page: include_str!("package-version-not-last.md"),
    check: Check::Package(check),
};

fn check<'t>(context: &Context<'t>, package: Package<'t>, sink: &mut Sink) {
    let (name, Some(version)) = (package.name(), package.version()) else { return };
    let components: Vec<&str> = name.split('.').collect();
    // A malformed version is reported by `package-version-malformed`.
    let misplaced =
        components.last().is_some_and(|last| *last != version.text && !version_like(last));
    let concerned = misplaced && context.policy.packages.concerns(name);
    let Some(place) = package_place(package).filter(|_| concerned) else { return };
    let mut moved = components.clone();
    let version = moved.remove(version.position);
    moved.push(version);
    let moved = moved.join(".");
    let message = format!("the version of package `{name}` is not the last component of its name");
    sink.report(place, name, name, message)
        .help(format!("rename it to `{moved}`, so that it can have its own versions"))
        .aliases(select_aliases(context));
}

/// Leaves out the rule of buf if the policy follows it: then `package-version-missing` reports it.
fn select_aliases(context: &Context<'_>) -> &'static [&'static str] {
    if context.policy.follows(BUF) { &[AIP] } else { &[BUF, AIP] }
}
