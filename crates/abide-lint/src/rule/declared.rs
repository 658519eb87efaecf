//! Rules that configurations declare, as rules like ours.
//!
//! A rule lives as long as the program. That is no leak that grows: each distinct declaration is
//! kept once, however often a configuration is read.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::rule::{Check, Group, Rule};
use crate::finding::Severity;
use crate::own_rules::{OwnRule, OwnRuleError, OwnRuleId, OwnRuleText};

/// Every rule that was declared, and its number by its texts.
#[derive(Default)]
struct DeclaredRules {
    rules: Vec<&'static Rule>,
    by_text: BTreeMap<String, OwnRuleId>,
}

static DECLARED: Mutex<DeclaredRules> =
    Mutex::new(DeclaredRules { rules: Vec::new(), by_text: BTreeMap::new() });

fn lock() -> MutexGuard<'static, DeclaredRules> {
    DECLARED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Compiles a rule and makes it one like ours.
pub(crate) fn declare_rule(text: OwnRuleText) -> Result<OwnRuleId, Vec<OwnRuleError>> {
    let key = format!("{text:?}");
    if let Some(&known) = lock().by_text.get(&key) {
        return Ok(known);
    }
    let own: &'static OwnRule = Box::leak(Box::new(OwnRule::compile(text)?));
    let rule: &'static Rule = Box::leak(Box::new(Rule {
        id: &own.id,
        summary: &own.summary,
        group: Group::Own,
        severity: own.severity,
        since: "",
        aliases: &[],
        aliases_by_case: &[],
        spares_work_in_progress: true,
        page: Box::leak(own.render_page().into_boxed_str()),
        check: Check::Own(own),
    }));
    let mut declared = lock();
    let number = OwnRuleId(declared.rules.len());
    declared.rules.push(rule);
    Ok(*declared.by_text.entry(key).or_insert(number))
}

/// Makes a rule of a plugin one like ours.
pub(crate) fn declare_plugin_rule(id: &str, severity: Option<Severity>) -> &'static Rule {
    let word = severity.map_or("off", Severity::word);
    let key = format!("{id} {word}");
    let mut declared = lock();
    if let Some(&OwnRuleId(known)) = declared.by_text.get(&key) {
        return declared.rules[known];
    }
    let summary = "a rule of a plugin that `abide.toml` names";
    let page = format!(
        "# {id}\n\n## What it checks\n\nWhat the plugin says: it is a program that `[[plugin]]` in \
         `abide.toml` names. Its severity there is `{word}`.\n"
    );
    let rule: &'static Rule = Box::leak(Box::new(Rule {
        id: Box::leak(id.to_owned().into_boxed_str()),
        summary,
        group: Group::Own,
        severity,
        since: "",
        aliases: &[],
        aliases_by_case: &[],
        spares_work_in_progress: true,
        page: Box::leak(page.into_boxed_str()),
        check: Check::Plugin,
    }));
    let number = OwnRuleId(declared.rules.len());
    declared.rules.push(rule);
    declared.by_text.insert(key, number);
    rule
}

/// The rule with this number.
pub(crate) fn declared_rule(id: OwnRuleId) -> &'static Rule {
    lock().rules[id.0]
}
