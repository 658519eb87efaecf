use crate::finding::Severity;
use crate::places::package_name;
use crate::rule::{Check, Context, Group, Rule, Sink};
use abide_upgrade::{Drift, drifts};

pub(super) static RULE: Rule = Rule {
    id: "candidate-edited",
    summary: "a candidate that differs from what `abide upgrade` makes",
    group: Group::Lifecycle,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("candidate-edited.md"),
    check: Check::Tree(check),
};

fn check<'t>(context: &Context<'t>, sink: &mut Sink) {
    for (id, drift) in drifts(context.upgrade_basis()) {
        let file = context.tree.file(id);
        let (path, package) = (file.path(), file.package().name());
        let message = match drift {
            Drift::Differs(from) => format!(
                "candidate `{path}` differs from what `abide upgrade` makes of `{}`",
                context.tree.file(from).path()
            ),
            // What calls for it, or what it is made from, may lie in another part.
            Drift::Uncalled { .. } | Drift::Stale | Drift::Orphaned if context.partial => continue,
            Drift::Stale => format!("candidate `{path}` is stale: no file upgrades to it"),
            Drift::Uncalled { from, .. } => {
                let source = context.tree.file(from).path();
                format!("candidate `{path}` is stale: nothing in `{source}` requires it")
            }
            Drift::Orphaned => {
                format!("candidate `{path}` has no active version to be made from")
            }
        };
        let finding = sink.report(package_name(file), package, path, message);
        if let Drift::Differs(from) | Drift::Uncalled { from, .. } = drift {
            let source = context.tree.file(from);
            finding.label(package_name(source), "the candidate is made from this file");
        }
        let (why, help) = match drift {
            Drift::Differs(_) | Drift::Stale => (
                "the next `abide upgrade` overwrites it, and edits made by hand are lost",
                "make the change in the active version, then run `abide upgrade --write`",
            ),
            Drift::Uncalled { as_made: true, .. } => (
                "the next upgrade deletes it: the active version has nothing to remove or to \
                 migrate",
                "run `abide upgrade --write`, or name the package in `always` of `[upgrade]`",
            ),
            Drift::Uncalled { as_made: false, .. } => (
                "the next upgrade deletes it, with what the active version does not have",
                "change the active version, and run `abide upgrade --write`; if people write \
                 this file, do not mark it as a candidate",
            ),
            Drift::Orphaned => (
                "no upgrade makes this file or deletes it",
                "delete it, or bring the active version back; if people write this file, do \
                 not mark it as a candidate",
            ),
        };
        finding.why(why);
        finding.help(help);
    }
}
