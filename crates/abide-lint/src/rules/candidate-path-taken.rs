use crate::finding::{Severity, package_name};
use crate::rule::{Check, Context, Group, Rule, Sink};
use abide_upgrade::find_taken_paths;

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
    for taken in find_taken_paths(context.upgrade_basis()) {
        let [file, other] = [taken.file, taken.other].map(|it| context.tree.file(it));
        let message = taken.describe(context.tree);
        let finding = sink.report(package_name(file), file.package().name(), file.path(), message);
        finding.label(
            package_name(other),
            match taken.exists {
                true => "this file is not overwritten",
                false => "only the candidate of this file is made",
            },
        );
        finding.why("without a candidate, the next major version lacks what this file declares");
        finding.fact(&taken.path);
        finding.help(taken.suggest_fix());
    }
}
