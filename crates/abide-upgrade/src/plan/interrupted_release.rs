//! What is left of a release that was interrupted.

use abide_schema::{File, FileId};
use rustc_hash::FxHashMap;

use super::file_role::Standing;
use super::next_version::{Next, Stage};
use super::upgrade_inputs::Basis;

/// A file left by an interrupted release.
pub(crate) struct Interrupted {
    pub(crate) frozen: FileId,
    pub(crate) candidate: FileId,
    /// Whether the candidate itself becomes stable, without moving.
    pub(crate) in_place: bool,
}

/// The frozen files of a tree whose candidates still exist: beside the released
/// file, or in its place.
pub(crate) fn interrupted(basis: Basis<'_, '_>) -> Vec<Interrupted> {
    let Basis { tree, settings, standings, .. } = basis;
    let with = |wanted: Standing| {
        let files = tree.files().filter(move |it| standings.file(*it) == wanted);
        files.map(|it| (it.path(), it.id)).collect::<FxHashMap<&str, FileId>>()
    };
    let candidates = with(Standing::Candidate);
    if candidates.is_empty() {
        return Vec::new();
    }
    let active = with(Standing::Active);
    let left = |file: File<'_>| {
        let path = |stage: Stage| Next::of(settings, file, stage).map(|it| it.path);
        let (path, stable) = (path(Stage::Candidate)?, path(Stage::Stable)?);
        let candidate = *candidates.get(path.as_str())?;
        let in_place = path == stable;
        let is_left = in_place || active.contains_key(stable.as_str());
        is_left.then_some(Interrupted { frozen: file.id, candidate, in_place })
    };
    let frozen = tree.files().filter(|it| standings.file(*it) == Standing::Frozen);
    frozen.filter_map(left).collect()
}

/// The candidates that an interrupted release did not delete.
pub(crate) fn left_behind(basis: Basis<'_, '_>) -> Vec<FileId> {
    let left = interrupted(basis).into_iter().filter(|it| !it.in_place);
    left.map(|it| it.candidate).collect()
}
