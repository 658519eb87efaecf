//! Carries a file to a later edition without a change of what it means.

mod brackets;
mod edition_move;
mod feature_override;
mod groups;
mod needed_overrides;
mod obstacle;
mod statements;

use abide_schema::{Edition, File};
use abide_upgrade::{Edit, apply};

use super::Fix;
use super::source_text::SourceText;
use brackets::edit_fields;
use edition_move::EditionMove;
use groups::edit_groups;
use needed_overrides::FileOverrides;
pub use obstacle::{EditionObstacle, EditionObstacleReason};
use statements::edit_statements;

/// The text of a file in a later edition.
///
/// Features are overridden where the edition has another default and the file has elements that the
/// feature is for: for the file where most of them want it, else at the elements.
///
/// # Errors
///
/// What cannot be written in the edition.
pub(crate) fn write_in_edition(
    file: File<'_>,
    edition: Edition,
) -> Result<Vec<u8>, Vec<EditionObstacle>> {
    let at_start = |reason| vec![EditionObstacle { place: file.package_place(), reason }];
    let Some(source) = SourceText::of(file) else {
        return Err(at_start(EditionObstacleReason::NoText));
    };
    let edits = collect_edits(source, edition)?;
    apply(source.text, edits).map_err(|_| at_start(EditionObstacleReason::Entangled))
}

/// Carries a file to a later edition; `None` if it is in no earlier one, or cannot be carried.
pub(crate) fn with_edition(file: File<'_>, edition: Edition) -> Option<Fix> {
    if !edition.is_edition() || file.decl().edition >= edition {
        return None;
    }
    let source = SourceText::of(file)?;
    let edits = collect_edits(source, edition).ok()?;
    apply(source.text, edits.clone()).ok()?;
    Some(Fix::of_file(file, format!("carry the file to {edition}"), edits))
}

fn collect_edits(
    source: SourceText<'_>,
    edition: Edition,
) -> Result<Vec<Edit>, Vec<EditionObstacle>> {
    let moved = EditionMove { source, from: source.file.decl().edition, to: edition };
    let overrides = FileOverrides::find(moved);
    let mut obstacles = Vec::new();
    let mut edits = edit_statements(moved, &overrides, &mut obstacles);
    let mut fields = edit_fields(moved, &overrides);
    edits.extend(fields.take_edits());
    edit_groups(moved, &fields, &mut edits, &mut obstacles);
    if obstacles.is_empty() { Ok(edits) } else { Err(obstacles) }
}
