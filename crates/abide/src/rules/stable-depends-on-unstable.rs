//! `stable-depends-on-unstable`.

use abide_schema::Stability;

use crate::dependencies::depends_on_less;
use crate::finding::Severity;
use crate::rule::{Check, Group, Rule};

pub(super) static RULE: Rule = Rule {
    id: "stable-depends-on-unstable",
    summary: "a stable package that depends on an alpha or beta package",
    group: Group::Dependencies,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &["buf:STABLE_PACKAGE_NO_IMPORT_UNSTABLE"],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("stable-depends-on-unstable.md"),
    check: Check::Tree(|context, sink| depends_on_less(context, sink, Stability::Stable)),
};
