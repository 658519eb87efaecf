use abide_schema::{Package, PackageVersion, Stability};

use crate::finding::{Severity, package_place};
use crate::lifecycle::stable_major;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "two-candidates",
    summary: "two alpha versions of one API",
    group: Group::Layout,
    severity: Some(Severity::Warning),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("two-candidates.md"),
    check: Check::Tree(check),
};

fn check<'t>(context: &Context<'t>, sink: &mut Sink) {
    for versions in context.apis().values() {
        let alphas: Vec<(Package<'t>, &PackageVersion)> = versions
            .iter()
            .filter_map(|&package| Some((package, package.version()?)))
            .filter(|(_, version)| version.stability == Stability::Alpha)
            .collect();
        let stable = versions.iter().filter_map(|it| stable_major(*it)).max();
        for pair in alphas.windows(2) {
            let [(old, low), (new, high)] = [pair[0], pair[1]];
            let is_minor = low.major == high.major && low.minor != high.minor;
            if is_minor || !old.is_judged() || context.is_frozen(old) || context.is_frozen(new) {
                continue;
            }
            let (name, other) = (old.name(), new.name());
            let (Some(place), Some(label)) = (package_place(old), package_place(new)) else {
                continue;
            };
            let (message, why, help) = if low.major == high.major {
                (
                    format!("`{name}` and `{other}` are both candidates for v{}", high.major),
                    "feedback on one candidate does not reach the users of the other",
                    format!("delete `{name}` once its users have moved to `{other}`"),
                )
            } else {
                let is_released = stable.is_some_and(|it| it >= low.major);
                (
                    format!("`{name}` and `{other}` are alphas of two major versions"),
                    "only one major version is prepared at a time, next to the current stable one and \
                     the one before it",
                    match is_released {
                        true => format!("delete `{name}`: v{} is stable", low.major),
                        false => format!("release `{name}` first, or delete one of the two"),
                    },
                )
            };
            let finding = sink.report(place, name, name, message);
            finding.label(label, "the other candidate").why(why).help(help).fact(other);
        }
    }
}
