//! Files that see each other through public imports.

use abide_schema::{File, FileId, Import, Tree};
use abide_syntax::ImportKind;
use rustc_hash::FxHashSet;

use super::upgrade_plan::UpgradePlan;
use super::upgrade_policy::ImportOrder;

/// Files, and the files that they import publicly in any number of steps.
pub(crate) fn collect_visible_files(
    tree: &Tree,
    files: impl Iterator<Item = FileId>,
) -> Vec<FileId> {
    let mut found: Vec<FileId> = files.collect();
    let mut known: FxHashSet<FileId> = found.iter().copied().collect();
    let mut at = 0;
    while let Some(id) = found.get(at) {
        for import in tree.file(*id).imports() {
            if let Some(target) = import.file.filter(|_| is_public(&import))
                && known.insert(target.id)
            {
                found.push(target.id);
            }
        }
        at += 1;
    }
    found
}

/// The files whose next versions, or that themselves if they have none, a rewritten file sees
/// through imports of the next versions of these files. A file that stays passes on what it always
/// did, and never the next version of it.
pub(crate) fn collect_provided_files(
    plan: &UpgradePlan<'_>,
    files: impl Iterator<Item = FileId>,
) -> FxHashSet<FileId> {
    let rises = |id: FileId| plan.next(id).is_some();
    let mut open: Vec<(FileId, bool)> = files.map(|id| (id, rises(id))).collect();
    let mut known: FxHashSet<(FileId, bool)> = open.iter().copied().collect();
    while let Some((id, is_next)) = open.pop() {
        // Computed imports are none for others.
        if is_next && plan.policy.imports == ImportOrder::Computed {
            continue;
        }
        for target in plan.tree.file(id).imports().filter(is_public).filter_map(|it| it.file) {
            let seen = (target.id, is_next && rises(target.id));
            if known.insert(seen) {
                open.push(seen);
            }
        }
    }
    known.into_iter().filter(|(id, is_next)| *is_next == rises(*id)).map(|(id, _)| id).collect()
}

fn is_public(import: &Import<'_>) -> bool {
    import.decl.kind == ImportKind::Public
}

/// Returns true if other files see what this file imports publicly.
pub(crate) fn is_imported(file: File<'_>) -> bool {
    let imports = file.tree.files().flat_map(File::imports);
    imports.filter_map(|it| it.file).any(|it| it.id == file.id)
}
