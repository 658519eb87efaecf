//! Selects the findings of a report, and how they are shown.

use abide_lint::{Finding, Policy, Report, Rule, backtick, rule_family};

use super::explain::find_rules;
use crate::args::SelectArgs;
use crate::error::Error;
use crate::render::{REPORTS, ReportFormat, count_table, render_counts_as_json_lines};

/// The selection of the command line.
pub(super) struct FindingSelection {
    /// The rules to report; empty for all.
    rules: Vec<&'static Rule>,
    /// The rules not to report.
    ignored: Vec<&'static Rule>,
    /// True to show the findings under an exception, too.
    pub(super) shows_waived: bool,
    /// Writes how often each rule reports, if that is asked for.
    counts: Option<fn(&Report) -> String>,
}

impl FindingSelection {
    pub(super) fn from_args(
        policy: &Policy,
        show: &SelectArgs,
        format: &ReportFormat,
    ) -> Result<FindingSelection, Error> {
        if show.waived && !format.shows_waived {
            let name = format.name;
            let formats = REPORTS.iter().filter(|it| it.shows_waived);
            let formats: Vec<String> = formats.map(|it| backtick(it.name)).collect();
            let formats = formats.join(" or ");
            return Err(Error::Usage(format!(
                "`--waived` has no format `{name}`: choose {formats}"
            )));
        }
        let counts = match format.name {
            _ if !show.statistics => None,
            "human" => Some(count_table as fn(&Report) -> String),
            "json" => Some(render_counts_as_json_lines as fn(&Report) -> String),
            other => {
                return Err(Error::Usage(format!(
                    "`--statistics` has no format `{other}`: choose `human` or `json`"
                )));
            }
        };
        Ok(FindingSelection {
            rules: collect_named(policy, &show.select)?,
            ignored: collect_named(policy, &show.ignore)?,
            shows_waived: show.waived,
            counts,
        })
    }

    /// Drops what is not asked for, so that it counts nowhere.
    pub(super) fn select(&self, report: &mut Report) {
        if !self.rules.is_empty() || !self.ignored.is_empty() {
            report.retain(|finding| self.is_selected(finding));
        }
    }

    /// Returns true if a finding is asked for.
    pub(super) fn is_selected(&self, finding: &Finding) -> bool {
        let is_in = |rules: &[&Rule]| rules.iter().any(|rule| rule.id == finding.rule);
        (self.rules.is_empty() || is_in(&self.rules)) && !is_in(&self.ignored)
    }

    /// Counts the findings of each rule, if that is asked for.
    pub(super) fn count_by_rule(&self, report: &Report) -> Option<Vec<u8>> {
        self.counts.map(|write| write(report).into_bytes())
    }
}

/// The rules of these names: those of a rule, a group, or a rule of another tool.
fn collect_named(policy: &Policy, names: &[String]) -> Result<Vec<&'static Rule>, Error> {
    let mut rules = Vec::new();
    for name in names {
        match rule_family(policy, name) {
            Some(family) => rules.extend(family.rules),
            None => rules.extend(find_rules(policy, name)?),
        }
    }
    Ok(rules)
}
