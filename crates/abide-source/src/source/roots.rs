//! Folders of a tree that are judged.

use std::path::Path;

use abide_lint::Config;
use abide_schema::FileText;

use super::failure::SourceError;
use super::paths::{is_skipped, join, normalize, strip_folder};

/// The folders of a tree that are judged. All paths are relative to the tree, with `/`; "" is its
/// top.
#[derive(PartialEq, Eq)]
pub(super) struct RootLayout {
    pub(super) roots: Vec<String>,
    /// Import paths inside the tree that are not roots; their files are not judged.
    pub(super) excluded: Vec<String>,
}

impl RootLayout {
    pub(super) fn new(roots: &[String]) -> Result<Self, SourceError> {
        let mut normal = Vec::new();
        for root in roots {
            let outside =
                || SourceError::unusable(root.as_str(), "a root must be a folder inside the tree");
            if Path::new(root).is_absolute() {
                return Err(outside());
            }
            let root = normalize(root).ok_or_else(outside)?;
            if !normal.contains(&root) {
                normal.push(root);
            }
        }
        if normal.is_empty() {
            normal.push(String::new());
        }
        Ok(Self { roots: normal, excluded: Vec::new() })
    }

    pub(super) fn exclude(&mut self, folder: String) {
        if !self.roots.contains(&folder) {
            self.excluded.push(folder);
        }
    }

    /// Returns true if a walk must not enter this folder, because it is another root or an import
    /// path.
    pub(super) fn ends_at(&self, folder: &str) -> bool {
        self.roots.iter().chain(&self.excluded).any(|it| it == folder)
    }

    /// The root that a file belongs to and its path in that root, if the file is judged.
    pub(super) fn place<'p>(&self, file: &'p str) -> Option<(u32, &'p str)> {
        let folders = self.roots.iter().chain(&self.excluded).enumerate();
        let (index, path) = folders
            .filter_map(|(index, folder)| Some((index, strip_folder(file, folder)?)))
            .min_by_key(|(_, path)| path.len())?;
        (index < self.roots.len() && path.split('/').all(|name| !is_skipped(name)))
            .then_some((index as u32, path))
    }

    /// Finds the roots as they were when a configuration was this one. Roots that were not there
    /// yet are those that it named and that are none any more, in their order: a folder got another
    /// name.
    ///
    /// `None` if all were there, or if the configuration does not say where the others were.
    pub(super) fn find_former(
        &self,
        was_there: impl Fn(usize) -> bool,
        configuration: impl FnOnce() -> Option<FileText>,
    ) -> Option<RootLayout> {
        let absent: Vec<usize> = (0..self.roots.len()).filter(|it| !was_there(*it)).collect();
        if absent.is_empty() {
            return None;
        }
        let configuration = configuration()?;
        let named = Config::roots_of(std::str::from_utf8(&configuration).ok()?)?;
        let named = RootLayout::new(&named).ok()?.roots;
        let gone: Vec<String> = named.into_iter().filter(|it| !self.roots.contains(it)).collect();
        if gone.len() != absent.len() {
            return None;
        }
        let mut former = RootLayout { roots: self.roots.clone(), excluded: Vec::new() };
        absent.into_iter().zip(gone).for_each(|(at, root)| former.roots[at] = root);
        self.excluded.iter().for_each(|folder| former.exclude(folder.clone()));
        Some(former)
    }

    /// The path of a root's file, relative to the tree.
    pub(super) fn display(&self, root: usize, path: &str) -> String {
        join(&self.roots[root], path)
    }
}
