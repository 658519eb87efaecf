//! `abide explain` and `abide rules`.

use abide::{RULES, Rule};
use serde_json::json;

use super::Outcome;
use crate::args::ListFormat;
use crate::error::Error;

pub(super) fn explain(id: &str) -> Result<Outcome, Error> {
    let named = |rule: &&&Rule| rule.id == id || rule.aliases.contains(&id);
    match RULES.iter().find(named) {
        Some(rule) => Ok(Outcome::of(rule.page)),
        None => {
            let near = abide::nearest_rule(id)
                .map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            Err(Error::Usage(format!("there is no rule `{id}`{near} (`abide rules` lists them)")))
        }
    }
}

pub(super) fn rules(format: ListFormat) -> Result<Outcome, Error> {
    let mut out = String::new();
    let width = RULES.iter().map(|rule| rule.id.len()).max().unwrap_or(0);
    for rule in RULES {
        let severity = rule.severity.map_or("off", |severity| severity.word());
        match format {
            ListFormat::Json => {
                let row = json!({
                    "kind": "rule",
                    "id": rule.id,
                    "summary": rule.summary,
                    "group": rule.group.name(),
                    "severity": severity,
                    "since": rule.since,
                    "aliases": rule.aliases,
                });
                out.push_str(&format!("{row}\n"));
            }
            ListFormat::Human => {
                out.push_str(&format!("{:width$}  {severity:7}  {}\n", rule.id, rule.summary));
            }
        }
    }
    Ok(Outcome::of(out))
}
