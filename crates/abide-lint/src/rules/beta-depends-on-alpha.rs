//! `beta-depends-on-alpha`.

use abide_schema::Stability;

use crate::checks::report_less_stable;
use crate::finding::Severity;
use crate::rule::{Check, Group, Rule};

pub(super) static RULE: Rule = Rule {
    id: "beta-depends-on-alpha",
    summary: "a beta package that depends on an alpha package",
    group: Group::Dependencies,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("beta-depends-on-alpha.md"),
    check: Check::Tree(|context, sink| report_less_stable(context, sink, Stability::Beta)),
};
