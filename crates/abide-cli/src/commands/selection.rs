//! Which findings of a report are shown, and how.

use abide::{Report, Rule};

use super::explain::named;
use crate::args::JudgeArgs;
use crate::error::Error;
use crate::render::{count_lines, count_table};

/// What the command line asks of a report.
pub(super) struct Selection {
    /// The rules to report; empty for all.
    rules: Vec<&'static Rule>,
    /// Writes how often each rule reports, if that is asked for.
    counts: Option<fn(&Report) -> String>,
}

impl Selection {
    pub(super) fn of(judge: &JudgeArgs) -> Result<Selection, Error> {
        let mut rules = Vec::new();
        for name in &judge.show.select {
            rules.extend(named(name)?);
        }
        let counts = match judge.format.name {
            _ if !judge.show.statistics => None,
            "human" => Some(count_table as fn(&Report) -> String),
            "json" => Some(count_lines as fn(&Report) -> String),
            other => {
                return Err(Error::Usage(format!(
                    "`--statistics` has no format `{other}`: choose `human` or `json`"
                )));
            }
        };
        Ok(Selection { rules, counts })
    }

    /// Drops what is not asked for, so that it counts nowhere.
    pub(super) fn select(&self, report: &mut Report) {
        if !self.rules.is_empty() {
            report.retain(|finding| self.rules.iter().any(|rule| rule.id == finding.rule));
        }
    }

    /// How often each rule reports, if that is asked for.
    pub(super) fn counts(&self, report: &Report) -> Option<Vec<u8>> {
        self.counts.map(|write| write(report).into_bytes())
    }
}
