use abide_change::{Change, Diff};
use abide_schema::File;

use crate::finding::{Location, Severity};
use crate::named;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink, package_name};
use crate::level::Bump;

pub(super) static RULE: Rule = Rule {
    id: "file-added",
    summary: "a new file",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    spares_work_in_progress: true,
    page: include_str!("file-added.md"),
    check: Check::Change(ChangeCheck::File(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Diff<'t>, change: Change<File<'t>>, sink: &mut Sink) {
    let Change::Added(new) = change else { return };
    if diff.old_package(new.package()).is_none() {
        return;
    }
    let come = if diff.came_whole(new) { named::come(diff, new) } else { Vec::new() };
    let message = format!("file `{}` was added{}", new.path(), named::with(&come));
    let location = Location::Tree(package_name(new));
    let finding = sink.change_at(location, None, new.package().name(), new.path(), message);
    if come.is_empty() {
        // What moved into it is told by itself, and of the file alone nothing is to be known.
        finding.bump(Bump::None);
    }
    named::all_reach(finding, diff, come, Vec::new());
}
