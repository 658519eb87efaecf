//! Fixes of what the linker found.

use abide_schema::{File, Import, Part, Problem, ProblemKind};

use crate::fix::Fix;
use crate::fix::imports::{with_import, without_import};

/// The fix of a problem, if it has one.
pub(super) fn linker_fix(file: File<'_>, problem: &Problem) -> Option<Fix> {
    if !file.is_judged() {
        return None;
    }
    match problem.kind {
        ProblemKind::ImportUnused => {
            without_import(file.import_at(Part::Whole, problem.place.span)?, file)
        }
        ProblemKind::ImportInvalid => {
            let import = file.import_at(Part::Whole, problem.place.span)?;
            // The first one has to give the file all that the second one gives it.
            let is_same = |it: &Import<'_>| {
                it.decl.path == import.decl.path && it.decl.kind == import.decl.kind
            };
            let first = file.imports().find(is_same)?;
            let is_repeated = first.decl.node != import.decl.node;
            is_repeated.then(|| without_import(import, file)).flatten()
        }
        ProblemKind::NameNotFound => with_import(file, problem.missing_import()?),
        _ => None,
    }
}
