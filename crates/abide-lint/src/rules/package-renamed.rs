use abide_change::{Change, Comparison, base_name};
use abide_schema::{File, Package};

use crate::checks::full_names;
use crate::finding::{Location, Severity, package_place};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "package-renamed",
    summary: "a package that was renamed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &["buf:PACKAGE_NO_DELETE"],
    aliases_by_case: &[
        full_names::MESSAGE_DELETIONS,
        full_names::ENUM_DELETIONS,
        full_names::SERVICE_DELETIONS,
        full_names::EXTENSION_DELETIONS,
        &["buf:FILE_NO_DELETE", "buf:FILE_SAME_PACKAGE"],
    ],
    spares_work_in_progress: true,
    page: include_str!("package-renamed.md"),
    check: Check::Change(ChangeCheck::Package(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Package<'t>>, sink: &mut Sink) {
    let Change::Both { old, new } = change else { return };
    if old.name() == new.name() {
        return;
    }
    let (Some(was), Some(is)) = (package_place(old), package_place(new)) else { return };
    let message = format!("{} was renamed to `{}`", full_names::titled(old), new.name());
    let finding = sink.change_at(Location::tree(is), Some(was), old.name(), new.name(), message);
    finding.fact(old.name());
    let mut aliases = RULE.aliases.to_vec();
    let files: Vec<File<'t>> = old.files().filter(|it| it.is_judged()).collect();
    for &file in &files {
        if let Some(new) = diff.new_file(file) {
            finding.source_of_file(diff, Change::Both { old: file, new });
        }
        match diff.new_file(file).filter(|it| it.package() == new) {
            Some(it) if it.path() == file.path() => aliases.push("buf:FILE_SAME_PACKAGE"),
            Some(it) if base_name(it) == base_name(file) => {
                finding.breaks(full_names::removed_path());
                aliases.push("buf:FILE_NO_DELETE");
            }
            _ => {}
        }
    }
    let carried: Vec<_> =
        files.iter().flat_map(|it| full_names::collect_moved(diff, *it)).collect();
    full_names::add_all_effects(finding, diff, carried, aliases);
}
