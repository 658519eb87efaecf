//! `abide explain` and `abide rules`.

use abide::{Rule, rules_named};

use super::outcome::Outcome;
use crate::args::Global;
use crate::error::Error;
use crate::render::{RulePage, RulesFormat, human_page, markdown_page};
use crate::settings::Settings;
use crate::terminal::{error_color, look};

pub(super) fn explain(global: &Global, name: &str) -> Result<Outcome, Error> {
    let page = RulePage { name, rules: &named(name)? };
    let look = look(global, true);
    Ok(Outcome::of(match look.is_terminal || look.color {
        true => human_page(&page, look),
        false => markdown_page(&page),
    }))
}

/// The rules with this name, at least one.
pub(super) fn named(name: &str) -> Result<Vec<&'static Rule>, Error> {
    let rules = rules_named(name);
    if rules.is_empty() {
        let near = abide::nearest_rule(name)
            .map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        let message = format!("unknown rule `{name}`{near} (`abide rules` lists all rules)");
        return Err(Error::Usage(message));
    }
    Ok(rules)
}

pub(super) fn rules(global: &Global, format: &RulesFormat) -> Result<Outcome, Error> {
    let settings = Settings::read(global, None, error_color(global))?;
    Ok(Outcome::of((format.write)(&settings.config.policy)))
}
