use abide_schema::{Package, PackageVersion, Stability};

use crate::finding::Severity;
use crate::places::package_place;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "two-candidates",
    summary: "two alpha versions of one major version",
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
        for pair in alphas.windows(2) {
            let [(old, low), (new, high)] = [pair[0], pair[1]];
            if (low.major, low.minor) != (high.major, high.minor)
                || !old.is_judged()
                || context.is_frozen(old)
            {
                continue;
            }
            let (name, other) = (old.name(), new.name());
            let (Some(place), Some(label)) = (package_place(old), package_place(new)) else {
                continue;
            };
            sink.report(
                place,
                name,
                name,
                format!("`{name}` and `{other}` are both candidates for v{}", high.major),
            )
            .label(label, "the other candidate")
            .why("feedback on one candidate does not reach the users of the other")
            .help(format!("delete `{name}` once its users have moved to `{other}`"))
            .fact(other);
        }
    }
}
