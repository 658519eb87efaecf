use crate::finding::Severity;
use crate::rule::{Check, Group, Rule};

pub(super) static RULE: Rule = Rule {
    id: "import-cycle",
    summary: "a file that imports itself, directly or through other files",
    group: Group::Language,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("import-cycle.md"),
    check: Check::Linker,
};
