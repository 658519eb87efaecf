//! Changes of custom options that only one side knows.

use abide_schema::{File, Tree};

use crate::finding::Finding;
use crate::rules::OPTION_RULES;

/// Drops the findings about custom options in files that use names which an import that was not
/// found may declare: an option that one side cannot read did not change.
pub(super) fn drop_unknown_options(tree: &Tree, old: Option<&Tree>, findings: &mut Vec<Finding>) {
    let Some(old) = old else { return };
    let unknown = [tree, old].map(|tree| -> Vec<bool> { tree.files().map(lacks_names).collect() });
    if !unknown.iter().flatten().any(|it| *it) {
        return;
    }
    let [new_unknown, old_unknown] = unknown;
    let is_in = |files: &[bool], place: Option<abide_schema::Place>| {
        place.and_then(|it| files.get(it.file.0 as usize)).is_some_and(|it| *it)
    };
    findings.retain(|finding| {
        let before = finding.change.as_ref().and_then(|it| it.old.as_ref());
        let is_unknown = is_in(&new_unknown, finding.location.place())
            || is_in(&old_unknown, before.and_then(|it| it.old_place()))
            || is_in(&old_unknown, finding.location.old_place());
        !is_unknown || !OPTION_RULES.iter().any(|rule| rule.id == finding.rule)
    });
}

fn lacks_names(file: File<'_>) -> bool {
    file.imports().any(|import| import.unknown_uses > 0)
}
