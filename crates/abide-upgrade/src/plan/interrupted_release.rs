//! Detects a release that stopped halfway.

use abide_schema::{File, FileId};
use rustc_hash::FxHashMap;

use super::file_role::FileRole;
use super::next_version::{NextVersion, ReleaseStage};
use super::upgrade_inputs::UpgradeInputs;

/// A file left by an interrupted release.
pub(crate) struct InterruptedFile {
    pub(crate) frozen: FileId,
    pub(crate) candidate: FileId,
    /// True if the candidate itself becomes stable, without moving.
    pub(crate) in_place: bool,
}

/// The frozen files of a tree whose candidates still exist: beside the released
/// file, or in its place.
pub(crate) fn find_interrupted_files(basis: UpgradeInputs<'_, '_>) -> Vec<InterruptedFile> {
    let UpgradeInputs { tree, settings, roles: standings, .. } = basis;
    let with = |wanted: FileRole| {
        let files = tree.files().filter(move |it| standings.get(*it) == wanted);
        files.map(|it| (it.path(), it.id)).collect::<FxHashMap<&str, FileId>>()
    };
    let candidates = with(FileRole::Candidate);
    if candidates.is_empty() {
        return Vec::new();
    }
    let active = with(FileRole::Active);
    let left = |file: File<'_>| {
        let path = |stage: ReleaseStage| NextVersion::find(settings, file, stage).map(|it| it.path);
        let (path, stable) = (path(ReleaseStage::Candidate)?, path(ReleaseStage::Stable)?);
        let candidate = *candidates.get(path.as_str())?;
        let in_place = path == stable;
        let is_left = in_place || active.contains_key(stable.as_str());
        is_left.then_some(InterruptedFile { frozen: file.id, candidate, in_place })
    };
    let frozen = tree.files().filter(|it| standings.get(*it) == FileRole::Frozen);
    frozen.filter_map(left).collect()
}

/// The candidates that an interrupted release did not delete.
pub(crate) fn find_leftover_candidates(basis: UpgradeInputs<'_, '_>) -> Vec<FileId> {
    let left = find_interrupted_files(basis).into_iter().filter(|it| !it.in_place);
    left.map(|it| it.candidate).collect()
}
