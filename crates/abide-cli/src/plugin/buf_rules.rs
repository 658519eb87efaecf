//! The rules of Abide as buf lists them.

use abide_lint::{Check, Config, Group, Preset, RULES, Rule, Severity};
use serde_json::{Value, json};

/// The prefix of all rules and categories: their ids must differ from those of buf and of every
/// other plugin.
const PREFIX: &str = "ABIDE_";

/// A rule as buf knows it.
pub(super) struct BufRule {
    /// Its id there.
    pub(super) id: String,
    /// The rule.
    pub(super) rule: &'static Rule,
    /// True if it runs in `buf breaking`; the others run in `buf lint`.
    pub(super) is_breaking: bool,
    /// True if it runs where `use` names neither it nor a category.
    pub(super) is_default: bool,
    categories: Vec<String>,
}

/// The rules that a plugin of buf can run, by id. Errors of the compiler are found by buf itself;
/// rules about instances and about Abide's own files have nothing to look at.
pub(super) fn collect_rules() -> Vec<BufRule> {
    let presets: Vec<(Preset, Config)> =
        Preset::ALL.iter().map(|&it| (it, Config::of_preset(it))).collect();
    let mut rules: Vec<BufRule> = RULES
        .iter()
        .copied()
        .filter(|rule: &&Rule| {
            let is_own = matches!(rule.group, Group::Policy | Group::Instance);
            !is_own && !matches!(rule.check, Check::Linker | Check::Instance(_))
        })
        .map(|rule| {
            let is_breaking = rule.needs_baseline();
            let fails = |config: &Config| {
                let settings = config.policy.settings(rule.defaults());
                let levels = settings.parts.iter().map(|it| it.level);
                // What a change breaks decides its severity: the rule says only whether it can.
                levels.chain([settings.whole.level]).any(|level| match is_breaking {
                    true => level.is_some(),
                    false => level == Some(Severity::Error),
                })
            };
            let of_presets = presets.iter().filter(|(_, config)| fails(config));
            let names = of_presets.map(|(preset, _)| preset.name());
            let mut categories: Vec<String> = names.map(format_id).collect();
            categories.push(format_id(rule.group.name()));
            categories.sort_unstable();
            let is_default = fails(&presets[0].1);
            BufRule { id: format_id(rule.id), rule, is_breaking, is_default, categories }
        })
        .collect();
    rules.sort_unstable_by(|a, b| a.id.cmp(&b.id));
    rules
}

impl BufRule {
    /// The rule in a list.
    pub(super) fn describe(&self) -> Value {
        json!({
            "id": self.id,
            "category_ids": self.categories,
            "default": self.is_default,
            "purpose": format_sentence(&format!("reports {}", self.rule.summary)),
            "type": if self.is_breaking { "RULE_TYPE_BREAKING" } else { "RULE_TYPE_LINT" },
        })
    }
}

/// The categories of these rules, by id: the groups, and what each preset makes an error.
pub(super) fn collect_categories(rules: &[BufRule]) -> Vec<(String, Value)> {
    // A group without such a rule may have the name of a preset.
    let groups = Group::ALL.iter().filter(|it| rules.iter().any(|rule| rule.rule.group == **it));
    let groups = groups.map(|it| (format_id(it.name()), it.summary().to_owned()));
    let presets = Preset::ALL.iter().map(|it| {
        (format_id(it.name()), format!("what fails in the preset `{}` of Abide", it.name()))
    });
    let mut all: Vec<(String, String)> = groups.chain(presets).collect();
    all.retain(|(id, _)| rules.iter().any(|rule| rule.categories.contains(id)));
    all.sort_unstable();
    all.into_iter()
        .map(|(id, purpose): (String, String)| {
            let value = json!({"id": id, "purpose": format_sentence(&purpose)});
            (id, value)
        })
        .collect()
}

/// An id of Abide as buf writes ids.
fn format_id(id: &str) -> String {
    format!("{PREFIX}{}", id.replace('-', "_").to_ascii_uppercase())
}

/// A phrase as buf wants it: it begins with a capital and ends with a full stop.
fn format_sentence(phrase: &str) -> String {
    let mut chars = phrase.chars();
    let first = chars.next().map(|it| it.to_ascii_uppercase());
    first.into_iter().chain(chars).chain(['.']).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// What buf refuses in a list.
    #[test]
    fn buf_takes_every_rule_and_category() {
        let rules = collect_rules();
        let mut ids = BTreeSet::new();
        let categories = collect_categories(&rules);
        let listed = rules.iter().map(|it| (&it.id, it.describe()));
        for (id, value) in listed.chain(categories.iter().map(|(id, it)| (id, it.clone()))) {
            assert!(ids.insert(id.clone()), "`{id}` twice");
            assert!((3..=64).contains(&id.len()), "{id}");
            assert!(id.bytes().all(|it| matches!(it, b'A'..=b'Z' | b'0'..=b'9' | b'_')), "{id}");
            let purpose = value["purpose"].as_str().expect("it is a text");
            assert!((2..=256).contains(&purpose.len()), "{purpose}");
            assert!(purpose.starts_with(|it: char| it.is_ascii_uppercase()), "{purpose}");
            assert!(purpose.ends_with('.') && !purpose.ends_with(".."), "{purpose}");
        }
        for rule in &rules {
            for category in &rule.categories {
                assert!(categories.iter().any(|(id, _)| id == category), "{category}");
            }
        }
        assert!(rules.iter().any(|it| it.is_breaking && it.is_default));
        assert!(rules.iter().any(|it| !it.is_breaking && it.is_default));
    }
}
