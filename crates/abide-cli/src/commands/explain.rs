//! `abide explain` and `abide rules`.

use abide_lint::{Group, Policy, Rule, rule_family, rules_named};

use super::outcome::CommandOutcome;
use crate::args::Global;
use crate::error::Error;
use crate::render::{RulesFormat, render_family_page, render_for_terminal, render_rule_page};
use crate::settings::Settings;
use crate::terminal::{style, use_error_color};

pub(super) fn explain(global: &Global, name: &str) -> Result<CommandOutcome, Error> {
    // The page of one of our rules can be read whatever `abide.toml` says.
    let ours = Policy::default();
    let is_ours = name != Group::Own.name()
        && (rule_family(&ours, name).is_some() || !rules_named(&ours, name).is_empty());
    let policy = match is_ours {
        true => ours,
        false => Settings::read(global, None, use_error_color(global))?.config.policy,
    };
    let page = match rule_family(&policy, name) {
        Some(family) => render_family_page(&family),
        None => render_rule_page(name, &find_rules(&policy, name)?),
    };
    let shown_in = style(global, true);
    Ok(CommandOutcome::of(match shown_in.is_terminal || shown_in.color {
        true => render_for_terminal(&page, shown_in),
        false => page,
    }))
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
    Ok(CommandOutcome::of((format.write)(&settings.config.policy)))
}
