//! Fixes of what the linker found.

use abide_schema::{File, Import, Part, Problem, ProblemKind};
use abide_upgrade::Edit;

use crate::finding::{Applied, Fix, string_literal, with_import, without_import};

/// The fix of a problem, if it has one.
pub(super) fn find_fix(file: File<'_>, problem: &Problem) -> Option<Fix> {
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
        ProblemKind::ImportNotFound => fix_spelling(file, problem),
        ProblemKind::NameNotFound | ProblemKind::OptionInvalid => match problem.missing_import() {
            Some(path) => with_import(file, path),
            None => fix_missing_import(file, problem),
        },
        _ => None,
    }
}

/// Imports the file that was meant. Where more than case and separators differ, a person decides.
fn fix_spelling(file: File<'_>, problem: &Problem) -> Option<Fix> {
    let path = problem.meant_path()?;
    let import = file.import_at(Part::Name, problem.place.span)?;
    let is_certain = problem.is_spelled_otherwise(&import.decl.path);
    if file.imports().any(|it| &*it.decl.path == path) {
        return without_import(import, file).filter(|_| is_certain);
    }
    let literal = string_literal(path)?;
    let edit = Edit::replace(problem.place.span, literal);
    let fix = Fix::of_file(file, format!("import `{path}`"), [edit]);
    Some(if is_certain { fix } else { fix.applied(Applied::Never) })
}

/// Writes the name that was meant: a person decides.
fn fix_missing_import(file: File<'_>, problem: &Problem) -> Option<Fix> {
    let name = problem.meant()?;
    let is_name = |it: &u8| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'.');
    let written = problem.place.span.of(file.decl().source_text()?);
    let edit = Edit::replace(problem.place.span, name);
    let fix = Fix::of_file(file, format!("write `{name}`"), [edit]).applied(Applied::Never);
    written.iter().all(is_name).then_some(fix)
}
