//! Imports that many files have and that were not found.

use std::collections::BTreeMap;

use abide_schema::{Import, Part, Tree};

use crate::finding::{Finding, Severity};
use crate::rules::IMPORT_NOT_FOUND;
use crate::wording::pluralize;

/// The findings about one import path.
#[derive(Default)]
struct Missing {
    /// The first of them.
    at: usize,
    files: usize,
    /// How many uses of names are unknown without the imported file.
    uses: u64,
}

/// Joins the findings about the same import that was not found: the first one stays, and says how
/// many files have the import and how much they use of it.
pub(super) fn join_missing_imports(tree: &Tree, findings: &mut Vec<Finding>) {
    let mut joined: BTreeMap<(Severity, &str), Missing> = BTreeMap::new();
    let mut is_repeated = vec![false; findings.len()];
    for (at, finding) in findings.iter().enumerate() {
        let Some(import) = missing_import(tree, finding) else { continue };
        let missing = joined
            .entry((finding.severity, &import.decl.path))
            .or_insert_with(|| Missing { at, ..Missing::default() });
        missing.files += 1;
        missing.uses += u64::from(import.unknown_uses);
        is_repeated[at] = missing.at != at;
    }
    for ((_, path), missing) in joined {
        let finding = &mut findings[missing.at];
        if missing.files > 1 {
            finding.message =
                format!("the import `{path}` of {} files was not found", missing.files);
        }
        if missing.uses > 0 {
            let uses = pluralize(missing.uses as usize, "use");
            let verb = if missing.uses == 1 { "is" } else { "are" };
            finding.at(format!("{uses} of names {verb} unknown without it"));
        }
    }
    let mut is_repeated = is_repeated.into_iter();
    findings.retain(|_| is_repeated.next() != Some(true));
}

/// The import that a finding is about, if it is about one that was not found.
fn missing_import<'t>(tree: &'t Tree, finding: &Finding) -> Option<Import<'t>> {
    if finding.rule != IMPORT_NOT_FOUND.id {
        return None;
    }
    let place = finding.location.place()?;
    tree.file(place.file).import_at(Part::Name, place.span)
}
