use crate::finding::Severity;
use crate::places::package_name;
use crate::rule::{Check, Context, Group, Rule, Sink};
use abide_upgrade::{Drift, drifts};

pub(super) static RULE: Rule = Rule {
    id: "candidate-edited",
    summary: "a candidate for the next major version that is not what an upgrade makes",
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
                "the candidate `{path}` is not what an upgrade makes of `{}`",
                context.tree.file(from).path()
            ),
            Drift::Stale => format!("the candidate `{path}` is made of no file any more"),
        };
        let finding = sink.report(package_name(file), package, path, message);
        if let Drift::Differs(from) = drift {
            let source = context.tree.file(from);
            finding.label(package_name(source), "it is made from this");
        }
        finding.why("the next upgrade makes it anew, and what was edited by hand is lost");
        finding.help("change the active version, and run `abide upgrade --write`");
    }
}
