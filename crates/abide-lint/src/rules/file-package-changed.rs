use abide_change::{Change, Comparison};
use abide_schema::File;

use crate::checks::full_names;
use crate::finding::{Location, Severity};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "file-package-changed",
    summary: "a file whose package changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[
        full_names::MESSAGE_DELETIONS,
        full_names::ENUM_DELETIONS,
        full_names::SERVICE_DELETIONS,
        full_names::EXTENSION_DELETIONS,
        &["buf:FILE_SAME_PACKAGE"],
    ],
    spares_work_in_progress: true,
    page: include_str!("file-package-changed.md"),
    check: Check::Change(ChangeCheck::File(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<File<'t>>, sink: &mut Sink) {
    let Change::Both { old, new } = change else { return };
    let (was, is) = (old.package(), new.package());
    // `package-renamed` reports it if the whole package was renamed.
    if was.name() == is.name() || diff.new_package(was) == Some(is) {
        return;
    }
    let (was, is) = (was.name(), is.name());
    let message = format!("package of file `{}` changed from `{was}` to `{is}`", new.path());
    let location = Location::tree(new.package_place());
    let finding = sink.change_at(location, Some(old.package_place()), was, new.path(), message);
    let same_path = (old.path() == new.path()).then_some("buf:FILE_SAME_PACKAGE");
    finding.changed(was, is).source_of_file(diff, change);
    full_names::add_all_effects(
        finding,
        diff,
        full_names::collect_moved(diff, old),
        Vec::from_iter(same_path),
    );
}
