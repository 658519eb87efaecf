use abide_change::{Change, Comparison, base_name, list_top_level};
use abide_schema::File;

use crate::checks::full_names;
use crate::finding::{Location, Severity, package_name};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "file-renamed",
    summary: "a file whose path changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &["buf:FILE_NO_DELETE"],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("file-renamed.md"),
    check: Check::Change(ChangeCheck::File(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<File<'t>>, sink: &mut Sink) {
    let Change::Both { old, new } = change else { return };
    // A file that moves with its renamed package is part of that finding.
    let along = old.package().name() != new.package().name()
        && diff.new_package(old.package()) == Some(new.package())
        && base_name(old) == base_name(new);
    if old.path() == new.path() || along {
        return;
    }
    let message = format!("file `{}` was renamed to `{}`", old.path(), new.path());
    let location = Location::tree(package_name(new));
    let package = old.package().name();
    let finding = sink.change_at(location, Some(package_name(old)), package, new.path(), message);
    finding.fact(old.path()).breaks(full_names::removed_path()).source_of_file(diff, change);
    for old in list_top_level(old) {
        if let Some(new) = diff.new_element(old).filter(|it| it.file() == new) {
            finding.source(diff, Change::Both { old, new });
        }
    }
}
