use abide_schema::GlobIndex;

use crate::finding::{Location, Severity};
use crate::policy::ConfigPattern;
use crate::rule::{Check, Context, Group, Rule, Sink};
use crate::wording::suggest;

pub(super) static RULE: Rule = Rule {
    id: "package-pattern-unmatched",
    summary: "a pattern of `abide.toml` that matches no package",
    group: Group::Policy,
    severity: Some(Severity::Warning),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("package-pattern-unmatched.md"),
    check: Check::Tree(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    if context.partial {
        return;
    }
    let trees = [Some(context.tree), context.baseline].into_iter().flatten();
    let names: Vec<&str> = trees.flat_map(|tree| tree.packages()).map(|it| it.name()).collect();
    let patterns = &context.policy.package_patterns;
    for pattern in find_unmatched(patterns, &names) {
        let text = pattern.glob.text();
        let message = format!("`{text}` matches no package");
        let finding = sink.report(Location::config(pattern.span), "", text, message);
        finding.fact(text).why("the setting has no effect");
        let help = suggest(text, names.iter().copied());
        finding.help(help.unwrap_or_else(|| "correct the pattern, or delete it".to_owned()));
    }
}

/// The patterns that match none of the names.
fn find_unmatched<'c>(
    patterns: &'c [ConfigPattern],
    names: &[&str],
) -> impl Iterator<Item = &'c ConfigPattern> {
    let mut by_start = GlobIndex::default();
    for (at, pattern) in patterns.iter().enumerate() {
        by_start.insert(&pattern.glob, at);
    }
    let mut is_matched = vec![false; patterns.len()];
    for name in names {
        for at in by_start.find_candidates(name) {
            is_matched[at] = is_matched[at] || patterns[at].glob.matches(name);
        }
    }
    patterns.iter().zip(is_matched).filter_map(|(pattern, matched)| (!matched).then_some(pattern))
}
