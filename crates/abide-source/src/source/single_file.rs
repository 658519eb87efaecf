//! One `.proto` file alone, with the folder that its imports resolve in.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use abide_schema::{FileText, SourceFile};

use super::contents::Gathered;
use super::disk::read_regular;
use super::failure::{NOT_UNICODE, SourceError, io_reason};
use super::imports::place_imports;
use super::kind::{OpenSource, OpenedSource, SourceData, SourceKind, SourceRequest};
use super::links::LinkLimits;
use super::paths::{canonicalize, is_proto, make_relative, strip_folder};
use super::roots::RootLayout;

pub(super) const KIND: SourceKind = SourceKind {
    help: "FILE.proto           one file",
    brief: "a `.proto` file",
    is_spelled: |_| false,
    is_found: |asked, found| {
        found.as_ref().is_ok_and(|it| it.is_file()) && is_proto(asked.name.as_bytes())
    },
    is_packed: false,
    open,
};

fn open(asked: &SourceRequest<'_>, mut layout: RootLayout) -> Result<OpenedSource, SourceError> {
    let (options, path) = (asked.options, &asked.path);
    let mut notes = Vec::new();
    let imports = place_imports(options, |_| None, None, &mut layout, &mut notes);
    let folder = match canonicalize(path).starts_with(canonicalize(options.base)) {
        true => options.base.to_owned(),
        false => path.parent().unwrap_or(options.base).to_owned(),
    };
    let source =
        Box::new(SingleFile { file: path.clone(), folder, links: Arc::clone(asked.links) });
    Ok(OpenedSource { source, layout, imports, notes })
}

/// A single file, with the folder to resolve its imports in.
struct SingleFile {
    file: PathBuf,
    folder: PathBuf,
    links: Arc<LinkLimits>,
}

impl OpenSource for SingleFile {
    fn read(&self, layout: &RootLayout, name: &str) -> Result<SourceData, SourceError> {
        let file = read_single_file(&self.file, &self.folder, layout, name, &self.links)?;
        Ok(SourceData::Files(Gathered { files: vec![file], ..Gathered::default() }))
    }

    fn find_in_roots(
        &self,
        path: &str,
        layout: &RootLayout,
    ) -> Result<Option<(usize, FileText)>, SourceError> {
        for (index, root) in layout.roots.iter().enumerate() {
            if let Some(text) = self.links.find(&self.folder.join(root), path)? {
                return Ok(Some((index, text)));
            }
        }
        Ok(None)
    }
}

/// Reads a file that counts from the root that holds it, else from `folder`.
pub(super) fn read_single_file(
    file: &Path,
    folder: &Path,
    layout: &RootLayout,
    name: &str,
    links: &LinkLimits,
) -> Result<SourceFile, SourceError> {
    let error = |reason: String| SourceError::unusable(name, reason);
    let text = links.resolve_links(file).and_then(|file| read_regular(&file, &mut Vec::new()));
    let text = text.map_err(|problem: io::Error| error(io_reason(&problem)))?;
    let folder = canonicalize(folder);
    // The link itself has a place if what it leads to is elsewhere.
    let own = || Some(canonicalize(file.parent()?).join(file.file_name()?));
    let display = make_relative(&canonicalize(file), &folder)
        .or_else(|| make_relative(&own()?, &folder))
        .ok_or_else(|| error(NOT_UNICODE.to_owned()))?;
    // If no root holds the file, its path counts from the folder.
    let roots = layout.roots.iter().enumerate();
    let (root, path) = roots
        .filter_map(|(index, root)| Some((index, strip_folder(&display, root)?)))
        .min_by_key(|(_, path)| path.len())
        .unwrap_or((0, &display));
    Ok(SourceFile {
        path: path.into(),
        display: display.as_str().into(),
        root: root as u32,
        imported: false,
        text,
    })
}
