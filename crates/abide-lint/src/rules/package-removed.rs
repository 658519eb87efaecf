use abide_change::{Change, Comparison};
use abide_schema::{File, Package};

use crate::checks::full_names;
use crate::finding::{Location, Severity, package_place};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "package-removed",
    summary: "a package that was removed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &["buf:PACKAGE_NO_DELETE"],
    aliases_by_case: &[
        full_names::MESSAGE_DELETIONS,
        full_names::ENUM_DELETIONS,
        full_names::SERVICE_DELETIONS,
        full_names::EXTENSION_DELETIONS,
        &["buf:FILE_NO_DELETE"],
    ],
    spares_work_in_progress: true,
    page: include_str!("package-removed.md"),
    check: Check::Change(ChangeCheck::Package(check)),
};

fn check<'t>(
    context: &Context<'t>,
    diff: &Comparison<'t>,
    change: Change<Package<'t>>,
    sink: &mut Sink,
) {
    let Change::Removed(old) = change else { return };
    let Some(place) = package_place(old) else { return };
    let files: Vec<File<'t>> = old.files().filter(|it| it.is_judged()).collect();
    let gone: Vec<_> = files.iter().flat_map(|it| full_names::collect_removed(diff, *it)).collect();
    let message = format!("{} was removed{}", full_names::titled(old), full_names::with(&gone));
    let finding =
        sink.change_at(Location::old(place), Some(place), old.name(), old.name(), message);
    if let Some(ended) = context.retirement(old).filter(|it| context.as_of > it.end) {
        let next = ended.successor.name();
        finding.severity = Severity::Note;
        finding.severity_reason = Some(format!(
            "its support ended on {}: `{next}` has been stable since {}",
            ended.end, ended.since
        ));
    }
    let mut aliases = RULE.aliases.to_vec();
    if files.iter().any(|it| diff.new_file(*it).is_none()) {
        finding.breaks(full_names::removed_path());
        aliases.push("buf:FILE_NO_DELETE");
    }
    full_names::add_all_effects(finding, diff, gone, aliases);
}
