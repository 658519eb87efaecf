//! `abide explain` and `abide rules`.

use abide_lint::{Group, Rule, rule_family, rules_named};

use super::outcome::Outcome;
use crate::args::Global;
use crate::error::Error;
use crate::render::{RulesFormat, family_page, laid_out, rule_page};
use crate::settings::Settings;
use crate::terminal::{error_color, look};

pub(super) fn explain(global: &Global, name: &str) -> Result<Outcome, Error> {
    let page = match rule_family(name) {
        Some(family) => family_page(&family),
        None => rule_page(name, &named(name)?),
    };
    let look = look(global, true);
    Ok(Outcome::of(match look.is_terminal || look.color {
        true => laid_out(&page, look),
        false => page,
    }))
}

/// The rules with this name, at least one.
pub(super) fn named(name: &str) -> Result<Vec<&'static Rule>, Error> {
    let rules = rules_named(name);
    if rules.is_empty() {
        let near = abide_lint::nearest_rule(name)
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

pub(super) fn rules(global: &Global, format: &RulesFormat) -> Result<Outcome, Error> {
    let settings = Settings::read(global, None, error_color(global))?;
    Ok(Outcome::of((format.write)(&settings.config.policy)))
}
