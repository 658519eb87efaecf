use crate::finding::Severity;
use crate::rule::{Check, Group, Rule};

pub(super) static RULE: Rule = Rule {
    id: "import-unused",
    summary: "an import that nothing uses",
    group: Group::Language,
    severity: Some(Severity::Warning),
    since: "0.1.0",
    aliases: &["buf:IMPORT_USED"],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("import-unused.md"),
    check: Check::Linker,
};
