//! The parts of a tree that are compared with parts of another.

use super::paths::strip_folder;
use super::roots::RootLayout;

/// The part of an old tree that is compared with a part of the new one.
pub(super) enum ComparedSubset {
    /// The folders and files with these paths in the tree.
    At(Vec<String>),
    /// The files whose import paths are, or are below, one of these.
    Named(Vec<String>),
}

impl ComparedSubset {
    /// Finds the counterpart of `parts` of a tree that has these roots. A tree of the same roots
    /// that
    /// `may_be_copy` has them at the same places; in any other they are looked for by the paths
    /// that imports use.
    pub(super) fn of(
        parts: &[&String],
        roots: &[String],
        own: &RootLayout,
        may_be_copy: bool,
    ) -> ComparedSubset {
        let layout = RootLayout::new(roots).ok();
        let same_roots = layout.as_ref().is_some_and(|it| it.roots == own.roots);
        let roots: Vec<String> = layout.into_iter().flat_map(|it| it.roots).collect();
        let named = |part: &&String| -> Vec<String> {
            let inside = |root: &String| {
                let inside = strip_folder(part, root).or_else(|| (*part == root).then_some(""));
                // A root inside the part belongs to it as a whole.
                inside.or_else(|| strip_folder(root, part).map(|_| "")).map(str::to_owned)
            };
            roots.iter().filter_map(inside).collect()
        };
        match may_be_copy && same_roots {
            true => Self::At(parts.iter().map(|it| (*it).clone()).collect()),
            false => Self::Named(parts.iter().flat_map(named).collect()),
        }
    }

    /// Marks what is outside of the part. For each file: as seen from the tree, as imports call
    /// it, and whether it is only imported. A tree that has none of the paths is taken for the
    /// part itself.
    pub(super) fn narrow(&self, files: &mut [(&str, &str, &mut bool)]) {
        let has = |part: &str, path: &str| path == part || strip_folder(path, part).is_some();
        match self {
            Self::At(parts) => {
                let inside = |display: &str| parts.iter().any(|part| has(part, display));
                files.iter_mut().for_each(|(display, _, imported)| **imported |= !inside(display));
            }
            Self::Named(parts) => {
                let inside = |path: &str| parts.iter().any(|part| has(part, path));
                if files.iter().any(|(_, path, imported)| !**imported && inside(path)) {
                    files.iter_mut().for_each(|(_, path, imported)| **imported |= !inside(path));
                }
            }
        }
    }
}
