use abide_schema::{File, PackageVersion};

use crate::finding::Severity;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "go-package-major-mismatch",
    summary: "a `go_package` whose major version differs from that of the package",
    group: Group::Layout,
    severity: Some(Severity::Warning),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("go-package-major-mismatch.md"),
    check: Check::File(check),
};

fn check<'t>(_: &Context<'t>, file: File<'t>, sink: &mut Sink) {
    let name = file.package().name();
    let (Some(version), Some((text, place))) = (file.package().version(), file.go_package()) else {
        return;
    };
    let (path, alias) = text.split_once(';').unwrap_or((text, ""));
    // The major of a Go module may be anywhere in its path. The major of the API ends the path, or
    // follows the name that it follows in the package.
    let own = name.split('.').nth(version.position.wrapping_sub(1)).unwrap_or_default();
    let components: Vec<&str> = path.split('/').collect();
    let in_path = components.iter().enumerate().rev().find_map(|(at, component)| {
        let last = at + 1 == components.len() || components[at.saturating_sub(1)] == own;
        find_major(if last { component } else { "" }, component, own)
    });
    // `corev3` and `envoy_config_core_v3` name the version of `envoy.config.core.v3`. Both the path
    // and the alias must name the right one.
    let in_alias = find_major(alias.rsplit('_').next().unwrap_or_default(), alias, own);
    let Some(other) = in_path.into_iter().chain(in_alias).find(|it| *it != version.major) else {
        return;
    };
    let message = format!("`go_package` names v{other}, but the package is `{name}`");
    sink.report(place, name, file.path(), message)
        .why("Go code of two major versions ends up in one package, or under a misleading name")
        .help(format!("use v{} in `go_package`", version.major))
        .fact(text);
}

/// Finds the major version that is a whole word, or that follows `api` or the name of the API in a
/// component.
fn find_major(whole: &str, component: &str, own: &str) -> Option<u32> {
    // `ipv4` and `ipv6` are protocols, not versions of `ip`.
    if matches!(component, "ipv4" | "ipv6") {
        return None;
    }
    let [after_api, after_own] =
        ["api", own].map(|prefix| component.strip_prefix(prefix).unwrap_or_default());
    let mut found = [whole, after_api, after_own].into_iter();
    found.find_map(PackageVersion::parse_component).map(|version| version.major)
}
