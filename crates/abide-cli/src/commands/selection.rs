//! Selects the findings of a report, and how they are shown.

use abide_lint::{Finding, Report, Rule, rule_family};

use super::explain::find_rules;
use crate::args::SelectArgs;
use crate::error::Error;
use crate::render::{ReportFormat, count_lines, count_table};

/// The selection of the command line.
pub(super) struct FindingSelection {
    /// The rules to report; empty for all.
    rules: Vec<&'static Rule>,
    /// Writes how often each rule reports, if that is asked for.
    counts: Option<fn(&Report) -> String>,
}

impl FindingSelection {
    pub(super) fn from_args(
        show: &SelectArgs,
        format: &ReportFormat,
    ) -> Result<FindingSelection, Error> {
        let mut rules = Vec::new();
        for name in &show.select {
            match rule_family(name) {
                Some(family) => rules.extend(family.rules),
                None => rules.extend(find_rules(name)?),
            }
        }
        let counts = match format.name {
            _ if !show.statistics => None,
            "human" => Some(count_table as fn(&Report) -> String),
            "json" => Some(count_lines as fn(&Report) -> String),
            other => {
                return Err(Error::Usage(format!(
                    "`--statistics` has no format `{other}`: choose `human` or `json`"
                )));
            }
        };
        Ok(FindingSelection { rules, counts })
    }

    /// Drops what is not asked for, so that it counts nowhere.
    pub(super) fn select(&self, report: &mut Report) {
        if !self.rules.is_empty() {
            report.retain(|finding| self.is_selected(finding));
        }
    }

    /// Returns true if a finding is asked for.
    pub(super) fn is_selected(&self, finding: &Finding) -> bool {
        self.rules.is_empty() || self.rules.iter().any(|rule| rule.id == finding.rule)
    }

    /// Counts the findings of each rule, if that is asked for.
    pub(super) fn count_by_rule(&self, report: &Report) -> Option<Vec<u8>> {
        self.counts.map(|write| write(report).into_bytes())
    }
}
