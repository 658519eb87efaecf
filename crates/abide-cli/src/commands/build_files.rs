//! Bazel BUILD files, as they are on disk and as generated.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use abide_schema::{FileId, Tree};
use abide_source::write::OpenFolder;
use abide_upgrade::{BUILD_MARK, BuildFile};

use super::file_changes::{Changes, ContentAuthor, FileChange, display_of_generated};
use super::generated_files::GeneratedFiles;

/// BUILD files to write or delete.
pub(super) struct BuildFiles<'a> {
    /// The content on disk and the generated one, by path.
    files: BTreeMap<String, (Option<Vec<u8>>, Option<&'a str>)>,
}

impl<'a> BuildFiles<'a> {
    /// Collects the generated ones, and those to delete with the last proto of their folder.
    pub(super) fn collect(
        tree: &Tree,
        made: &'a [BuildFile],
        gone: &[FileId],
        folder: Option<&OpenFolder>,
    ) -> BuildFiles<'a> {
        let mut files = BTreeMap::new();
        for file in made {
            let path = display_of_generated(tree.file(file.beside), &file.path);
            files.insert(path.clone(), (read_file(folder, &path), Some(file.text.as_str())));
        }
        let gone: BTreeSet<FileId> = gone.iter().copied().collect();
        let kept = tree.files().filter(|it| !gone.contains(&it.id));
        let in_use: BTreeSet<Option<&Path>> =
            kept.map(|it| Path::new(&*it.decl().display).parent()).collect();
        for id in &gone {
            let own = &tree.file(*id).decl().display;
            let in_use = in_use.contains(&Path::new(&**own).parent());
            let path = Path::new(&**own).with_file_name("BUILD");
            let path = path.to_string_lossy().replace('\\', "/");
            let old =
                read_file(folder, &path).filter(|text| text.starts_with(BUILD_MARK.as_bytes()));
            if !in_use && old.is_some() {
                files.entry(path).or_insert((old, None));
            }
        }
        BuildFiles { files }
    }

    /// Adds the files that differ.
    pub(super) fn add_to(&self, changes: &mut Changes<'a>, records: &GeneratedFiles) {
        for (path, (old, new)) in &self.files {
            let new = new.map(str::as_bytes);
            if old.as_deref() != new {
                let author = match old {
                    Some(old) => records.author(path, old),
                    None => ContentAuthor::Abide,
                };
                let change = FileChange { old: old.clone(), new, last: false, author };
                changes.insert(path.clone(), change);
            }
        }
    }

    /// The generated ones, with their texts.
    pub(super) fn generated(&self) -> impl Iterator<Item = (&str, &'a [u8])> {
        self.files.iter().filter_map(|(path, (_, new))| Some((path.as_str(), (*new)?.as_bytes())))
    }
}

fn read_file(folder: Option<&OpenFolder>, path: &str) -> Option<Vec<u8>> {
    folder?.read(path.as_ref()).ok().flatten()
}
