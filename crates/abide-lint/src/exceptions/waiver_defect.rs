//! Defects of waivers.

use jiff::civil::Date;

use crate::finding::{Finding, Location};
use crate::rules::{WAIVER_EXPIRED, WAIVER_UNUSED};

/// What is wrong with a waiver.
pub(crate) struct WaiverDefect {
    pub(crate) rule: &'static str,
    pub(super) message: String,
    pub(super) at: Option<&'static str>,
    pub(super) help: String,
    pub(super) fact: String,
}

impl WaiverDefect {
    pub(crate) fn finding(self, location: Location, element: &str, package: &str) -> Finding {
        let mut finding = Finding::new(self.rule, location, package, element, self.message);
        finding.at = self.at.map(str::to_owned);
        finding.help(self.help).fact(self.fact);
        finding
    }
}

/// Decides whether a waiver is expired or matched nothing.
pub(crate) fn find_defect(
    what: &str,
    until: Option<Date>,
    as_of: Date,
    silent: bool,
) -> Option<WaiverDefect> {
    if let Some(until) = until
        && as_of > until
    {
        return Some(WaiverDefect {
            rule: WAIVER_EXPIRED.id,
            message: format!("the waiver of `{what}` expired on {until}"),
            at: None,
            help: "fix what it waives, or give it a later date and a reason".to_owned(),
            fact: until.to_string(),
        });
    }
    (!silent).then(|| WaiverDefect {
        rule: WAIVER_UNUSED.id,
        message: format!("the waiver of `{what}` matches nothing"),
        at: None,
        help: "delete it".to_owned(),
        fact: what.to_owned(),
    })
}
