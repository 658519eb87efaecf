use abide_schema::{Element, Glob};

use crate::finding::{Location, Severity};
use crate::policy::is_at;
use crate::rule::{Check, Context, Group, Rule, Sink};
use crate::wording::suggest;

pub(super) static RULE: Rule = Rule {
    id: "pattern-unmatched",
    summary: "a pattern of `abide.toml` that matches no element or file",
    group: Group::Policy,
    severity: Some(Severity::Warning),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("pattern-unmatched.md"),
    check: Check::Tree(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let policy = context.policy;
    if context.partial || policy.element_patterns.is_empty() && policy.file_lists.is_empty() {
        return;
    }
    let trees = [Some(context.tree), context.baseline];
    let files: Vec<_> = trees.into_iter().flatten().flat_map(|tree| tree.files()).collect();
    let mut report = |text: &str, span, what: &str, near: Option<String>| {
        let message = format!("`{text}` matches no {what}");
        let finding = sink.report(Location::config(span), "", text, message);
        finding.fact(text).why("the setting has no effect");
        finding.help(near.unwrap_or_else(|| "correct it, or delete it".to_owned()));
    };
    for pattern in &policy.element_patterns {
        if !files.iter().flat_map(|file| file.elements()).any(|it| is_match(&pattern.glob, it)) {
            let text = pattern.glob.text();
            let names: Vec<String> =
                files.iter().flat_map(|file| file.elements()).map(Element::full_name).collect();
            report(text, pattern.span, "element", suggest(text, names.iter().map(|it| &**it)));
        }
    }
    for list in &policy.file_lists {
        let Some(first) = list.paths.first() else { continue };
        let is_found = files
            .iter()
            .any(|file| list.paths.iter().any(|path| is_at(&file.decl().display, path)));
        if !is_found {
            let names: Vec<&str> = files.iter().map(|it| &*it.decl().display).collect();
            let near = suggest(first, names).filter(|_| list.paths.len() == 1);
            report(&list.paths.join("`, `"), list.span, "file", near);
        }
    }
}

/// Returns true if a pattern matches an element or one around it. That of an enum value may name
/// its enum.
fn is_match(pattern: &Glob, element: Element<'_>) -> bool {
    if pattern.matches_container(&element.full_name()) {
        return true;
    }
    let parent = element.parent().filter(|_| matches!(element, Element::EnumValue(_)));
    parent.is_some_and(|parent| {
        pattern.matches_container(&format!("{}.{}", parent.full_name(), element.name()))
    })
}
