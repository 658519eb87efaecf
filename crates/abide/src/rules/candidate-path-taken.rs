use crate::finding::Severity;
use crate::places::package_name;
use crate::rule::{Check, Context, Group, Rule, Sink};
use abide_upgrade::taken;

pub(super) static RULE: Rule = Rule {
    id: "candidate-path-taken",
    summary: "a file whose candidate cannot be written because its path is taken",
    group: Group::Lifecycle,
    severity: Some(Severity::Warning),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("candidate-path-taken.md"),
    check: Check::Tree(check),
};

fn check<'t>(context: &Context<'t>, sink: &mut Sink) {
    for taken in taken(context.upgrade_basis()) {
        let (own, other) = (taken.file.path(), taken.other.path());
        let package = taken.file.package().name();
        let message = if taken.exists {
            let verb = if taken.path == other { "written to" } else { "released as" };
            format!("the candidate of `{own}` cannot be {verb} `{other}`, which no upgrade made")
        } else {
            format!("the candidates of `{own}` and `{other}` have the same path `{}`", taken.path)
        };
        let finding = sink.report(package_name(taken.file), package, own, message);
        finding.label(
            package_name(taken.other),
            match taken.exists {
                true => "this file is not overwritten",
                false => "only the candidate of this file is made",
            },
        );
        finding.why("without a candidate, the next major version lacks what this file declares");
        finding.fact(&taken.path);
        finding.help(match taken.exists {
            true => {
                "delete that file; or, if people maintain it as the next major version, set `by_hand \
                     = true` in its `file_policy`"
            }
            false => "move one of them to another package",
        });
    }
}
