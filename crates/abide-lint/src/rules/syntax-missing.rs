use abide_schema::{File, Place};
use abide_syntax::Span;

use crate::finding::with_syntax;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "syntax-missing",
    summary: "a file without a `syntax` or `edition` statement",
    group: Group::Conventions,
    severity: None,
    since: "0.1.0",
    aliases: &["buf:SYNTAX_SPECIFIED"],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("syntax-missing.md"),
    check: Check::File(check),
};

fn check<'t>(_: &Context<'t>, file: File<'t>, sink: &mut Sink) {
    if file.decl().syntax.is_some() || file.decl().source_text().is_none() {
        return;
    }
    let place = Place { file: file.id, span: Span::default() };
    let message = "the file has no `syntax` or `edition` statement, so it is read as proto2";
    sink.report(place, file.package().name(), file.path(), message)
        .help("begin it with `syntax = \"proto2\";`, which changes nothing")
        .fix(with_syntax(file));
}
