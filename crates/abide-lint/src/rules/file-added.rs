use abide_change::{Change, Comparison};
use abide_schema::File;

use crate::checks::full_names;
use crate::finding::{Bump, Location, Severity, package_name};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "file-added",
    summary: "a file that was added",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("file-added.md"),
    check: Check::Change(ChangeCheck::File(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<File<'t>>, sink: &mut Sink) {
    let Change::Added(new) = change else { return };
    if diff.old_package(new.package()).is_none() {
        return;
    }
    let come =
        if diff.is_fully_added(new) { full_names::collect_added(diff, new) } else { Vec::new() };
    let message = format!("file `{}` was added{}", new.path(), full_names::with(&come));
    let location = Location::tree(package_name(new));
    let finding = sink.change_at(location, None, new.package().name(), new.path(), message);
    if come.is_empty() {
        // What moved into it has findings of its own, and the file alone changes nothing.
        finding.bump(Bump::None);
    }
    full_names::add_all_effects(finding, diff, come, Vec::new());
}
