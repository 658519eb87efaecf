use abide_change::{Change, Comparison, Effects, Surface, list_top_level};
use abide_schema::{File, Part, Place};
use abide_syntax::{ImportKind, Span};

use crate::checks::full_names;
use crate::finding::{Location, Severity};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "public-import-removed",
    summary: "a file that no longer imports another file publicly",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("public-import-removed.md"),
    check: Check::Change(ChangeCheck::File(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<File<'t>>, sink: &mut Sink) {
    let Change::Both { old, new } = change else { return };
    let passed_on = full_names::imported(new, true);
    for import in old.imports().filter(|it| it.decl.kind == ImportKind::Public) {
        let Some(target) = import.file else { continue };
        // Files that import this one still see the elements that it has or passes on.
        let is_still_seen = list_top_level(target).all(|old| {
            diff.new_element(old)
                .is_none_or(|it| it.file() == new || passed_on.contains(it.file().id.0 as usize))
        });
        let twin = diff.new_file(target);
        let kept = twin.is_some_and(|it| passed_on.contains(it.id.0 as usize));
        if kept || is_still_seen {
            continue;
        }
        let private = new.imports().find(|it| it.file == twin);
        let message = match private {
            Some(_) => format!("`{}` no longer imports `{}` publicly", new.path(), target.path()),
            None => format!("`{}` no longer imports `{}`", new.path(), target.path()),
        };
        let place = match private {
            Some(it) => new.place_of(it.decl.node, Part::Name),
            None => Place { file: new.id, span: Span::default() },
        };
        let before = old.place_of(import.decl.node, Part::Name);
        let package = old.package().name();
        let finding =
            sink.change_at(Location::tree(place), Some(before), package, new.path(), message);
        finding
            .fact(target.path())
            .breaks(Effects::backward(&[Surface::SourceGo, Surface::SourcePython]));
        // A header includes the headers of all imports.
        if twin.is_none_or(|it| !full_names::imported(new, false).contains(it.id.0 as usize)) {
            finding.breaks(Effects::backward(&[Surface::SourceCpp]));
        }
        finding.why("files that import this one no longer see what it imported publicly");
    }
}
