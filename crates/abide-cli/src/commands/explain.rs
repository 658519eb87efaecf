//! `abide explain` and `abide rules`.

use abide::{RULES, Rule};

use super::outcome::Outcome;
use crate::error::Error;
use crate::render::RulesFormat;

pub(super) fn explain(id: &str) -> Result<Outcome, Error> {
    let named = |rule: &&&Rule| rule.id == id || rule.aliases.contains(&id);
    match RULES.iter().find(named) {
        Some(rule) => Ok(Outcome::of(rule.page)),
        None => {
            let near = abide::nearest_rule(id)
                .map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            Err(Error::Usage(format!("unknown rule `{id}`{near} (`abide rules` lists all rules)")))
        }
    }
}

pub(super) fn rules(format: &RulesFormat) -> Outcome {
    Outcome::of((format.write)())
}
