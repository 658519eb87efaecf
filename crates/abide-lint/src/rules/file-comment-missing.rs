use abide_schema::File;

use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "file-comment-missing",
    summary: "a file that does not begin with a comment",
    group: Group::Conventions,
    severity: None,
    since: "0.1.0",
    aliases: &["protolint:FILE_HAS_COMMENT"],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("file-comment-missing.md"),
    check: Check::File(check),
};

fn check<'t>(context: &Context<'t>, file: File<'t>, sink: &mut Sink) {
    let decl = file.decl();
    let Some(syntax) = decl.syntax.filter(|_| decl.source_text().is_some()) else { return };
    let comments = decl.comments(syntax.node);
    let has_comment = comments.leading.is_some() || !comments.detached.is_empty();
    let spared = context.is_frozen(file.package()) && !context.policy.follows_any(RULE.aliases);
    if has_comment || spared {
        return;
    }
    let place = file.place_of(syntax.node, abide_schema::Part::Whole);
    let message = "the file has no comment above its first statement";
    sink.report(place, file.package().name(), file.path(), message)
        .help("say in a sentence what the file is for, or who may use it");
}
