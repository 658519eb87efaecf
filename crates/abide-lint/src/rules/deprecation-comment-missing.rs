use abide_schema::Element;

use crate::rule::{Check, Context, Group, Rule, Sink};

const API_LINTER: &str = "api-linter:core::0192::deprecated-comment";

pub(super) static RULE: Rule = Rule {
    id: "deprecation-comment-missing",
    summary: "a deprecated element whose comment does not say why",
    group: Group::Aip,
    severity: None,
    since: "0.1.0",
    aliases: &["aip:192", API_LINTER],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("deprecation-comment-missing.md"),
    check: Check::Element(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let Some(place) = element.deprecated() else { return };
    let comment = element.file().decl().comments(element.node()).leading;
    let says_why = comment.is_some_and(|it| begins_with_reason(&it.text));
    let spared = context.is_frozen(element.package()) && !context.policy.follows(API_LINTER);
    if says_why || spared {
        return;
    }
    let name = element.relative_name();
    let message = format!("the comment of deprecated {} `{name}` does not say why", element.noun());
    sink.report(place, element.package().name(), element.full_name(), message)
        .why("generators turn `Deprecated:` into the warning that users of the code read")
        .help("begin the comment above it with `Deprecated: ` and what to use instead");
}

/// Returns true if the first line that is not internal begins with `Deprecated:`.
fn begins_with_reason(comment: &str) -> bool {
    let mut rest = comment.trim_start();
    while let Some(internal) = rest.strip_prefix("(--") {
        let Some((_, after)) = internal.split_once("--)") else { return false };
        rest = after.trim_start();
    }
    rest.starts_with("Deprecated:")
}
