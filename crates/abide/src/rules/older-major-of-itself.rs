//! `older-major-of-itself`.

use crate::dependencies::{
    Apis, is_earlier_major, judged, report, set, stability, through, unversioned_reach,
};
use crate::finding::Severity;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "older-major-of-itself",
    summary: "a package that depends on an earlier major version of itself",
    group: Group::Dependencies,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("older-major-of-itself.md"),
    check: Check::Tree(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let apis = Apis::new(context);
    let reach = unversioned_reach(context);
    for package in context.tree.packages().filter(|it| it.is_judged()) {
        let Some(api) = apis.of(package) else { continue };
        let reached = reach.packages(judged(package));
        // An older major that is also less stable is reported by
        // `stable-depends-on-unstable` or `beta-depends-on-alpha`.
        let older = apis.versions(api).iter().copied().filter(|other| {
            reached.contains(other.id.0 as usize)
                && is_earlier_major(*other, package)
                && stability(*other) >= stability(package)
        });
        for (other, path) in reach.paths(judged(package), &set(context, older)) {
            let message = format!(
                "`{}` depends on an earlier major version of itself, `{}`{}",
                package.name(),
                other.name(),
                through(&path),
            );
            if let Some(finding) = report(sink, package, &path, message) {
                finding.fact(other.name());
                finding.why(
                    "the earlier major cannot be removed while this package depends on it, and \
                     every user of this package carries both",
                );
                finding.help(format!(
                    "copy the types that you need from `{}` into `{}` and use the copies",
                    other.name(),
                    package.name(),
                ));
            }
        }
    }
}
