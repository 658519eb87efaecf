use abide_schema::{Package, PackageVersion, Stability};

use crate::finding::{Severity, package_place};
use crate::lifecycle::version_like;
use crate::rule::{Check, Context, Group, Rule, Sink};

const BUF: &str = "buf:PACKAGE_VERSION_SUFFIX";
const AIP: &str = "aip:215";

pub(super) static RULE: Rule = Rule {
    id: "package-version-malformed",
    summary: "a version in a package name that is malformed or not allowed by the policy",
    group: Group::Layout,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[&[BUF, AIP]],
    spares_work_in_progress: true,
    page: include_str!("package-version-malformed.md"),
    check: Check::Package(check),
};

fn check<'t>(context: &Context<'t>, package: Package<'t>, sink: &mut Sink) {
    let name = package.name();
    let packages = &context.policy.packages;
    let Some(place) = package_place(package).filter(|_| packages.concerns(name)) else { return };
    // An earlier component may still be a version.
    let last = name.rsplit('.').next().unwrap_or(name);
    if version_like(last) && PackageVersion::parse_component(last).is_none() {
        let message = format!("package `{name}` ends with `{last}`, which is not a version");
        sink.report(place, name, name, message)
            .help("write it as `v3`, `v3alpha`, `v3alpha1`, `v3beta1` or `v3p1beta1`")
            .aliases(if context.policy.follows(BUF) { &[AIP] } else { &[BUF, AIP] });
        return;
    }
    let Some(version) = package.version() else { return };
    if version.revision == Some(0) || version.minor == Some(0) {
        let text = &version.text;
        let message = format!("the version of package `{name}` counts from 0 in `{text}`");
        sink.report(place, name, name, message)
            .why("other tools do not take it for a version")
            .help("begin with 1, as in `v1alpha1`, or leave the number out, as in `v1alpha`")
            .fact("zero")
            .aliases(if context.policy.follows(BUF) { &[] } else { &[BUF] });
    }
    if !packages.allows(version.stability) {
        let stability = version.stability;
        let message = format!(
            "the version of package `{name}` is {stability}, which the policy does not allow"
        );
        let allowed: Vec<String> = packages.stabilities.iter().map(ToString::to_string).collect();
        sink.report(place, name, name, message)
            .help(format!("use a version that is {}", allowed.join(" or ")))
            .fact("stability")
            .aliases(&[AIP]);
    }
    if !packages.has_version_form(version) {
        let (text, form) = (&version.text, version.version_pattern());
        let message = format!(
            "the version of package `{name}` has the form `{form}`, which the policy does not allow"
        );
        let forms: Vec<String> = packages.versions.iter().map(|it| format!("`{it}`")).collect();
        sink.report(place, name, name, message)
            .help(format!("replace `{text}` by a version of the form {}", forms.join(" or ")))
            .fact("version")
            .aliases(&[AIP]);
    }
    if !packages.is_plain(version) {
        let plain = format!(
            "v{}{}",
            version.major,
            match version.stability {
                Stability::Stable => "",
                Stability::Beta => "beta",
                Stability::Alpha => "alpha",
            }
        );
        let message = format!(
            "the version of package `{name}` has a number other than its major, which the policy \
             does not allow"
        );
        let help = format!("write it as `{plain}`");
        sink.report(place, name, name, message).help(help).fact("number").aliases(&[AIP]);
    }
    if let Some(pattern) = packages.pattern.as_ref().filter(|_| !packages.has_form(name)) {
        let message = format!("package `{name}` does not match the pattern `{}`", pattern.text());
        sink.report(place, name, name, message).fact("form").aliases(&[AIP]);
    }
}
