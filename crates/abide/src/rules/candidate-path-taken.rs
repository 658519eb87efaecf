use crate::finding::Severity;
use crate::places::package_name;
use crate::rule::{Check, Context, Group, Rule, Sink};
use abide_upgrade::taken;

pub(super) static RULE: Rule = Rule {
    id: "candidate-path-taken",
    summary: "a file whose candidate for the next major version has no place to go",
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
            let be = if taken.path == other { "be" } else { "be released as" };
            format!(
                "the candidate of `{own}` would {be} `{other}`, which was not made by an upgrade"
            )
        } else {
            format!("the candidates of `{own}` and `{other}` would both be `{}`", taken.path)
        };
        let finding = sink.report(package_name(taken.file), package, own, message);
        finding.label(
            package_name(taken.other),
            match taken.exists {
                true => "this is not overwritten",
                false => "this candidate is made",
            },
        );
        finding.why("what changes in the next major version is lost").fact(&taken.path);
        finding.help(match taken.exists {
            true => "delete that file, or give it the status of a candidate, and upgrade again",
            false => "move one of them to another package",
        });
    }
}
