//! Rules by any of their names: their own id, or that of a rule of another tool.

use std::cmp::Reverse;

use crate::checks::{BUF_LINT_CATEGORIES, BufVersion, buf_lint_rules};
use crate::finding::Group;
use crate::policy::Policy;
use crate::rule::Rule;
use crate::rules::{RULES, find_rule_of, rules_of};
use crate::wording::find_nearest;

/// The rules with this name, the main one first: the rule with this id, or every rule that reports
/// what a rule of another tool does. That rule is named as `buf:FIELD_NO_DELETE`, or without its
/// tool. Empty if nothing has this name.
pub fn rules_named(policy: &Policy, name: &str) -> Vec<&'static Rule> {
    if let Some(rule) = find_rule_of(policy, name) {
        return vec![rule];
    }
    let mut found: Vec<(Standing, &'static Rule)> =
        RULES.iter().filter_map(|rule| Some((Standing::of(rule, name)?, *rule))).collect();
    found.sort_by_key(|(standing, rule)| (*standing, rule.id));
    found.into_iter().map(|(_, rule)| rule).collect()
}

/// Rules that settings name together.
pub struct RuleFamily {
    /// The name of their group, or of their category of lint rules in buf.
    pub name: &'static str,
    /// What they are about: a phrase without a verb.
    pub about: String,
    /// The rules, in the order of their ids.
    pub rules: Vec<&'static Rule>,
}

/// The rules of the group with this name, or those that report what the rules in a category of
/// buf's do, which is named as `buf:COMMENTS` or `COMMENTS`.
pub fn rule_family(policy: &Policy, name: &str) -> Option<RuleFamily> {
    if let Some(group) = Group::find(name) {
        let rules = rules_of(policy).filter(|it| it.group == group).collect();
        return Some(RuleFamily { name: group.name(), about: group.summary().to_owned(), rules });
    }
    let category = *BUF_LINT_CATEGORIES.iter().find(|it| **it == name || bare(it) == name)?;
    let theirs = buf_lint_rules(BufVersion::V2, bare(category));
    let reports = |rule: &Rule| rule.all_aliases().any(|it| theirs.contains(&it));
    let rules = RULES.iter().copied().filter(|it| !it.needs_baseline() && reports(it)).collect();
    let about = format!("what the lint rules of buf in the category `{}` report", bare(category));
    Some(RuleFamily { name: category, about, rules })
}

/// The known name nearest to an unknown one, if one is near enough.
pub fn nearest_rule(policy: &Policy, name: &str) -> Option<&'static str> {
    let aliases = || RULES.iter().flat_map(|rule| rule.all_aliases());
    let groups = Group::ALL.iter().map(|it| it.name());
    find_nearest(name, rules_of(policy).map(|rule| rule.id).chain(groups)).or_else(|| {
        match name.contains(':') {
            true => find_nearest(name, aliases()),
            false => find_nearest(name, aliases().map(bare)),
        }
    })
}

/// The name of a rule without that of its tool.
fn bare(alias: &str) -> &str {
    alias.split_once(':').map_or(alias, |(_, name)| name)
}

/// How much a rule is the one that a name of another tool means; the least is the main one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Standing {
    /// How many words of its id the name has.
    alike: Reverse<usize>,
    /// True if only some of its findings have the name.
    is_by_case: bool,
    /// How many names it has before this one.
    before: usize,
}

impl Standing {
    fn of(rule: &'static Rule, name: &str) -> Option<Standing> {
        let before = rule.all_aliases().position(|it| it == name || bare(it) == name)?;
        let words = words(bare(name));
        let alike = rule.id.split('-').filter(|word| words.iter().any(|it| it == word)).count();
        let is_by_case = before >= rule.aliases.len();
        Some(Standing { alike: Reverse(alike), is_by_case, before })
    }
}

/// The words of `FIELD_NO_DELETE` or `NoRemovingFields`, as ids of rules have them.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let is_shouted = !name.contains(|c: char| c.is_ascii_lowercase());
    for part in name.split('_') {
        for (at, c) in part.char_indices() {
            if at == 0 || !is_shouted && c.is_ascii_uppercase() {
                words.push(String::new());
            }
            words.last_mut().expect("a part begins a word").push(c.to_ascii_lowercase());
        }
    }
    let known = |word: &str| match word {
        "delete" | "removal" | "removing" => "removed".to_owned(),
        "same" | "changing" => "changed".to_owned(),
        "ids" => "number".to_owned(),
        "fields" | "names" | "types" => word.trim_end_matches('s').to_owned(),
        "rpc" | "rpcs" => "method".to_owned(),
        _ => word.to_owned(),
    };
    words.iter().map(|word| known(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(name: &str) -> Vec<&'static str> {
        rules_named(&Policy::default(), name).iter().map(|rule| rule.id).collect()
    }

    #[test]
    fn the_main_owner_of_a_name_comes_first() {
        for rule in RULES {
            assert_eq!(ids(rule.id), [rule.id]);
            for alias in rule.all_aliases() {
                let owners = ids(alias);
                assert!(owners.contains(&rule.id), "{alias}: {owners:?}");
                let bare = ids(bare(alias));
                assert!(owners.iter().all(|it| bare.contains(it)), "{alias}: {bare:?}");
            }
        }
        let owned_alike = |name: &str, words: &[&str]| {
            let main = ids(name)[0];
            assert!(words.iter().all(|word| main.contains(word)), "{name}: {main}");
        };
        owned_alike("buf:FIELD_NO_DELETE", &["field", "removed"]);
        owned_alike("FIELD_NO_DELETE", &["field", "removed"]);
        owned_alike("FILE_NO_DELETE", &["file", "removed"]);
        owned_alike("buf:FIELD_SAME_ONEOF", &["field", "oneof", "changed"]);
        owned_alike("buf:RPC_NO_DELETE", &["method", "removed"]);
        owned_alike("protolock:NoChangingFieldIDs", &["field", "number", "changed"]);
        assert!(ids("buf:FIELD_NO_DELETE").len() > 1);
    }

    #[test]
    fn a_misspelt_name_of_another_tool_is_corrected() {
        assert!(ids("NOTHING_OF_THE_KIND").is_empty());
        assert_eq!(nearest_rule(&Policy::default(), "FIELD_NO_DELET"), Some("FIELD_NO_DELETE"));
        assert_eq!(
            nearest_rule(&Policy::default(), "buf:FIELD_NO_DELET"),
            Some("buf:FIELD_NO_DELETE")
        );
    }
}
