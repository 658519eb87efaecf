use abide_change::{Change, Comparison};
use abide_schema::{File, Part, Place};
use abide_syntax::Span;

use crate::finding::{Bump, Location, Severity};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "edition-changed",
    summary: "a file whose syntax or edition changed",
    group: Group::Compatibility,
    severity: Some(Severity::Note),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[&["buf:FILE_SAME_SYNTAX"]],
    spares_work_in_progress: true,
    page: include_str!("edition-changed.md"),
    check: Check::Change(ChangeCheck::File(check)),
};

fn check<'t>(_: &Context<'t>, _: &Comparison<'t>, change: Change<File<'t>>, sink: &mut Sink) {
    let Change::Both { old, new } = change else { return };
    let (was, is) = (old.decl().edition, new.decl().edition);
    if was == is {
        return;
    }
    let message = format!("`{}` changed from {was} to {is}", new.path());
    let package = old.package().name();
    let location = Location::tree(find_syntax_place(new));
    let finding =
        sink.change_at(location, Some(find_syntax_place(old)), package, new.path(), message);
    finding.changed(was.to_string(), is.to_string()).bump(Bump::None);
    // buf compares files with the same path, and treats all editions as one
    // syntax.
    let one_syntax = was.is_edition() && is.is_edition();
    if old.path() == new.path() && !one_syntax {
        finding.aliases(&["buf:FILE_SAME_SYNTAX"]);
    }
}

/// Finds the `syntax` or `edition` of a file, else its start.
fn find_syntax_place(file: File<'_>) -> Place {
    match file.decl().syntax {
        Some(syntax) => file.place_of(syntax.node, Part::Whole),
        None => Place { file: file.id, span: Span::default() },
    }
}
