use abide_change::{Change, Comparison};
use abide_schema::File;

use crate::checks::full_names;
use crate::finding::{Location, Severity, package_name};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "file-removed",
    summary: "a file that was removed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &["buf:FILE_NO_DELETE"],
    aliases_by_case: &[
        full_names::MESSAGE_DELETIONS,
        full_names::ENUM_DELETIONS,
        full_names::SERVICE_DELETIONS,
        full_names::EXTENSION_DELETIONS,
    ],
    spares_work_in_progress: true,
    page: include_str!("file-removed.md"),
    check: Check::Change(ChangeCheck::File(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<File<'t>>, sink: &mut Sink) {
    let Change::Removed(old) = change else { return };
    // A file removed with its package is part of that finding.
    if diff.new_package(old.package()).is_none() {
        return;
    }
    let gone = if diff.is_fully_removed(old) {
        full_names::collect_removed(diff, old)
    } else {
        Vec::new()
    };
    let message = format!("file `{}` was removed{}", old.path(), full_names::with(&gone));
    let place = package_name(old);
    let package = old.package().name();
    let finding = sink.change_at(Location::old(place), Some(place), package, old.path(), message);
    finding.breaks(full_names::removed_path()).source_of_file(diff, change);
    full_names::add_all_effects(finding, diff, gone, RULE.aliases.to_vec());
}
