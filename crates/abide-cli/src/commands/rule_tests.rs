//! `abide rules test`: the examples of one's own rules.

use std::sync::Arc;

use abide_lint::{Check, Group, Policy, backtick, pluralize, rules_of, run_rule_examples};
use abide_schema::{FileDecl, SourceFile, Tree};

use super::deps::load_tree;
use super::outcome::CommandOutcome;
use crate::args::Global;
use crate::error::Error;
use crate::render::RuleTestsFormat;
use crate::settings::Settings;
use crate::terminal::{eprint_line, use_error_color};

/// Runs the examples, and prints those that fail with what the rule did instead.
pub(super) fn test_rules(
    global: &Global,
    format: &RuleTestsFormat,
) -> Result<CommandOutcome, Error> {
    let settings = Settings::read(global, None, use_error_color(global))?;
    let policy = &settings.config.policy;
    // Without a tree examples can import the well-known types.
    let tree = load_tree(global, &settings).ok().flatten();
    let tree = tree.as_ref().map(|it| &it.tree);
    let results = run_rule_examples(policy, &|path| find_in_tree(tree, path));
    let failed = results.iter().filter(|it| !it.passed()).count();
    let report = (format.write)(&results, settings.file.as_ref());
    if !global.quiet {
        for note in collect_notes(policy) {
            eprint_line(&format!("note: {note}"));
        }
    }
    Ok(CommandOutcome { failed: failed > 0, ..CommandOutcome::of(report) })
}

fn find_in_tree(tree: Option<&Tree>, path: &str) -> Option<Arc<FileDecl>> {
    let file = tree?.files().find(|it| it.path() == path)?;
    let (path, text) = (Arc::clone(&file.decl().path), file.decl().source_text()?);
    let display = Arc::clone(&path);
    Some(Arc::new(FileDecl::parse(SourceFile {
        path,
        display,
        root: 0,
        imported: true,
        text: text.into(),
    })))
}

/// Says which rules have no example, and if there is no rule at all.
fn collect_notes(policy: &Policy) -> Vec<String> {
    let own: Vec<_> = rules_of(policy).filter(|it| it.group == Group::Own).collect();
    if own.is_empty() {
        return vec!["`abide.toml` declares no rule: write one as `[[rule]]`".to_owned()];
    }
    let has_none = |check: Check| matches!(check, Check::Own(own) if own.examples.is_empty());
    let bare: Vec<String> =
        own.iter().filter(|it| has_none(it.check)).map(|it| backtick(it.id)).collect();
    match bare.len() {
        0 => Vec::new(),
        count => vec![format!(
            "{} without an example: {}; add `[[rule.example]]`",
            pluralize(count, "rule"),
            bare.join(", ")
        )],
    }
}
