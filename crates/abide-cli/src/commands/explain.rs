//! `abide explain` and `abide rules`.

use abide_lint::{Group, Policy, RULES, Rule, rule_family, rules_named};
use abide_source::CONFIG;

use super::outcome::CommandOutcome;
use crate::args::Global;
use crate::error::Error;
use crate::render::{RuleList, RulePages, RulePagesFormat, RulesFormat};
use crate::settings::Settings;
use crate::terminal::{style, use_error_color};

/// The name of the page about waivers.
pub(super) const WAIVERS: &str = "waivers";

/// Prints the pages of a name, or without one what there is to explain.
pub(super) fn explain(
    global: &Global,
    name: Option<&str>,
    format: &RulePagesFormat,
) -> Result<CommandOutcome, Error> {
    let name = match name {
        None => return Ok(print_pages(global, &RulePages::Index, format)),
        Some(WAIVERS) => return Ok(print_pages(global, &RulePages::Waivers, format)),
        Some(CONFIG) => return Ok(print_pages(global, &RulePages::Settings, format)),
        Some(name) => name,
    };
    // The page of one of our rules can be read whatever `abide.toml` says.
    let ours = Policy::default();
    let is_ours = name != Group::Own.name()
        && (rule_family(&ours, name).is_some() || !rules_named(&ours, name).is_empty());
    let policy = match is_ours {
        true => ours,
        false => Settings::read(global, None, use_error_color(global))?.config.policy,
    };
    let pages = match rule_family(&policy, name) {
        Some(family) => RulePages::Family(family),
        None => RulePages::Named(name.to_owned(), find_rules(&policy, name)?),
    };
    Ok(print_pages(global, &pages, format))
}

/// Prints the pages of all rules.
pub(super) fn explain_all(global: &Global, format: &RulePagesFormat) -> CommandOutcome {
    print_pages(global, &RulePages::All(RULES), format)
}

fn print_pages(global: &Global, pages: &RulePages, format: &RulePagesFormat) -> CommandOutcome {
    CommandOutcome::of((format.write)(pages, style(global, format.is_styled)))
}

/// The rules with this name, at least one.
pub(super) fn find_rules(policy: &Policy, name: &str) -> Result<Vec<&'static Rule>, Error> {
    let rules = rules_named(policy, name);
    if rules.is_empty() {
        let near = abide_lint::nearest_rule(policy, name)
            .map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        let groups: Vec<&str> = Group::ALL.iter().map(|it| it.name()).collect();
        let groups = groups.join("`, `");
        let message = format!(
            "unknown rule `{name}`{near} (`abide rules` lists all rules; the groups are `{groups}`)"
        );
        return Err(Error::Usage(message));
    }
    Ok(rules)
}

pub(super) fn list_rules(global: &Global, format: &RulesFormat) -> Result<CommandOutcome, Error> {
    let settings = Settings::read(global, None, use_error_color(global))?;
    let list = RuleList { policy: &settings.config.policy, texts: settings.texts.as_ref() };
    Ok(CommandOutcome::of((format.write)(&list)))
}
