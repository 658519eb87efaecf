//! Proto trees in tar and zip archives, unpacked into memory and never onto the disk.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::Path;

use abide_schema::{FileDecl, FileText, SourceFile};

use super::contents::{ACCEPTED, CONFIG, Gathered, LOCK, OWNERS};
use super::disk::{MAX_FILE, MAX_SETTINGS, over_limit};
use super::failure::{
    NO_ROOT, NOT_REGULAR, NOT_UNICODE, ReadProblem, SourceError, TOO_LARGE, io_reason,
};
use super::imports::{ImportPlace, place_imports};
use super::kind::{OpenSource, OpenedSource, SourceData, SourceKind, SourceRequest};
use super::paths::{is_proto, join, normalize, strip_folder};
use super::roots::RootLayout;
use super::spec::split_subdir;
use super::unpack::{self, Compression, UnpackAllowance};
use crate::printable::escape_unprintable;

pub(super) const KIND: SourceKind = SourceKind {
    help: "FILE.tar.gz[:SUBDIR] an archive of a tree: .tar, .tar.gz, .tar.zst or .zip",
    brief: "an archive (`.tar`, `.tar.gz`, `.tar.zst`, `.zip`)",
    is_spelled: |_| false,
    is_found: |asked, found| match found {
        Ok(found) => found.is_file() && detect_packing(asked.name).is_some(),
        Err(_) => split_archive_name(asked.name).is_some(),
    },
    is_packed: true,
    open,
};

/// Returns true if a file with this name is read as an archive.
pub(super) fn is_archive_name(name: &str) -> bool {
    detect_packing(name).is_some()
}

/// The file, its packing and the folder in it that `archive.tar.gz:SUBDIR` names.
fn split_archive_name(name: &str) -> Option<(&str, Packing, &str)> {
    let (file, subdir) = split_subdir(name);
    Some((file, detect_packing(file)?, subdir?))
}

fn open(asked: &SourceRequest<'_>, mut layout: RootLayout) -> Result<OpenedSource, SourceError> {
    let options = asked.options;
    let whole = || Some((asked.name, detect_packing(asked.name)?, ""));
    let named = if asked.path.exists() { whole() } else { split_archive_name(asked.name) };
    let (file, packing, subdir) =
        named.ok_or_else(|| SourceError::unusable(asked.name, NOT_REGULAR))?;
    let mut archive = Archive::open(&options.base.join(file), file, packing, subdir)?;
    if options.roots.is_empty() {
        layout = archive.find_tree(options.copied_roots, subdir.is_empty())?;
    }
    let inside = |written: &str| {
        let folder = normalize(written).filter(|_| !Path::new(written).is_absolute())?;
        let folder = join(&archive.top, &folder);
        archive.has_folder(&folder).then_some(ImportPlace::Inside(folder))
    };
    let mut notes = Vec::new();
    let imports = place_imports(options, inside, Some(&archive.top), &mut layout, &mut notes);
    Ok(OpenedSource { source: Box::new(archive), layout, imports, notes })
}

impl OpenSource for Archive {
    fn read(&self, layout: &RootLayout, _name: &str) -> Result<SourceData, SourceError> {
        Ok(SourceData::Files(self.gather(layout)))
    }

    fn find(&self, path: &str) -> Result<Option<FileText>, SourceError> {
        Ok(self.entries.files.get(path).cloned())
    }

    fn read_text(&self, path: &str) -> Result<Option<FileText>, SourceError> {
        self.find(&join(&self.top, path))
    }

    fn is_archive(&self) -> bool {
        true
    }

    fn packed_settings(&self, name: &str) -> Option<FileText> {
        let tops = [Some(self.top.clone()), self.only_folder()];
        let files = &self.entries.files;
        tops.into_iter().flatten().find_map(|top| files.get(&join(&top, name)).cloned())
    }

    fn may_be_copy(&self, has_roots: bool) -> bool {
        has_roots
    }
}

/// The packing of the files of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    Tar(Compression),
    Zip,
}

/// The packing that a file name claims.
fn detect_packing(name: &str) -> Option<Packing> {
    if name.ends_with(".zip") {
        return Some(Packing::Zip);
    }
    if name.ends_with(".tgz") {
        return Some(Packing::Tar(Compression::Gzip));
    }
    let (compression, name) = Compression::from_name(name);
    name.ends_with(".tar").then_some(Packing::Tar(compression))
}

/// An archive whose `.proto` files are in memory.
struct Archive {
    /// The folder in the archive that is the tree.
    top: String,
    entries: ArchiveEntries,
}

#[derive(Default)]
struct ArchiveEntries {
    files: BTreeMap<String, FileText>,
    /// Links named `.proto`, with their targets from the archive's top.
    links: BTreeMap<String, String>,
    problems: Vec<ReadProblem>,
}

impl Archive {
    fn open(path: &Path, name: &str, packing: Packing, subdir: &str) -> Result<Self, SourceError> {
        let failed = |reason: String| SourceError::unusable(name, reason);
        let top = normalize(subdir)
            .ok_or_else(|| failed("the folder after `:` is outside the archive".to_owned()))?;
        let io_failed = |error: io::Error| failed(io_reason(&error));
        if !fs::metadata(path).map_err(io_failed)?.is_file() {
            return Err(failed(NOT_REGULAR.to_owned()));
        }
        let (file, size) = unpack::open(path).map_err(io_failed)?;
        let mut allowance = UnpackAllowance::new(size);
        let mut entries = match packing {
            Packing::Tar(compression) => {
                // An uncompressed tar cannot grow: only the absolute limit applies.
                if compression == Compression::None {
                    allowance = UnpackAllowance::new(u64::MAX);
                }
                read_tar(file, compression, &mut allowance)
            }
            Packing::Zip => read_zip(file, &mut allowance),
        }
        .map_err(failed)?;
        entries.resolve();
        let archive = Self { top, entries };
        if !archive.has_folder(&archive.top) {
            let name = if subdir.is_empty() { name.to_owned() } else { format!("{name}:{subdir}") };
            return Err(SourceError::NoProtoFiles { name });
        }
        Ok(archive)
    }

    /// Finds the tree and its roots. Releases are often packed with all of their files in one
    /// folder, which is not part of the tree.
    fn find_tree(
        &mut self,
        roots: &[String],
        may_descend: bool,
    ) -> Result<RootLayout, SourceError> {
        let folder = self.only_folder().filter(|_| may_descend);
        let copied = RootLayout::new(roots)?;
        for top in [Some(self.top.clone()), folder.clone()].into_iter().flatten() {
            let has = |root: &String| self.has_folder(&join(&top, root));
            if !roots.is_empty() && copied.roots.iter().all(has) {
                self.top = top;
                return Ok(copied);
            }
        }
        self.top = folder.filter(|it| self.is_above_packages(it)).unwrap_or(self.top.clone());
        RootLayout::new(&[])
    }

    /// The folder that everything is in, if it is the only one at the top.
    fn only_folder(&self) -> Option<String> {
        let first = self.entries.files.keys().next()?.split_once('/')?.0;
        let mut all = self.entries.files.keys();
        all.all(|path| strip_folder(path, first).is_some()).then(|| first.to_owned())
    }

    /// Returns true if a file below a folder is where its package says, counted from that folder.
    fn is_above_packages(&self, folder: &str) -> bool {
        self.entries.files_below(folder).any(|(path, text)| {
            let file = FileDecl::parse(SourceFile {
                path: path.into(),
                display: path.into(),
                root: 0,
                imported: false,
                text: text.clone(),
            });
            let package = file.package_name().replace('.', "/");
            !package.is_empty() && path.rsplit_once('/').is_some_and(|(it, _)| it == package)
        })
    }

    fn has_folder(&self, folder: &str) -> bool {
        self.entries.files_below(folder).next().is_some()
            || self.entries.problems_below(folder).next().is_some()
    }

    fn gather(&self, layout: &RootLayout) -> Gathered {
        let mut gathered = Gathered::default();
        for (display, text) in self.entries.files_below(&self.top) {
            if let Some((root, path)) = layout.place(display)
                && is_proto(display.as_bytes())
            {
                gathered.files.push(SourceFile {
                    path: path.into(),
                    display: display.into(),
                    root,
                    imported: false,
                    text: text.clone(),
                });
            }
        }
        for (display, reason) in self.entries.problems_below(&self.top) {
            if layout.place(display).is_some() {
                gathered.problem(display, reason);
            }
        }
        for root in &layout.roots {
            if !self.has_folder(&join(&self.top, root)) {
                gathered.problem(root.as_str(), NO_ROOT);
            }
        }
        gathered
    }
}

impl ArchiveEntries {
    /// The files below a folder, with their paths relative to it.
    fn files_below<'e>(&'e self, folder: &'e str) -> impl Iterator<Item = (&'e str, &'e FileText)> {
        self.files.iter().filter_map(move |(name, text)| Some((strip_folder(name, folder)?, text)))
    }

    /// The problems below a folder, each with its path relative to it and the reason.
    fn problems_below<'e>(&'e self, folder: &'e str) -> impl Iterator<Item = (&'e str, &'e str)> {
        self.problems
            .iter()
            .filter_map(move |it| Some((strip_folder(&it.path, folder)?, it.reason.as_str())))
    }

    fn problem(&mut self, path: String, reason: impl Into<String>) {
        self.problems.push(ReadProblem { path, reason: reason.into(), is_lost: false });
    }

    fn file(&mut self, name: String, text: Vec<u8>) -> Result<(), String> {
        self.refuse_second(&name)?;
        self.files.insert(name, text.into());
        Ok(())
    }

    /// Records a link to a file. As on disk, a linked folder is not entered.
    fn link(&mut self, name: String, target: &[u8], from: &str) -> Result<(), String> {
        let outside = || {
            format!(
                "its link `{}` points outside the archive: remove it",
                escape_unprintable(&name)
            )
        };
        let target = std::str::from_utf8(target).map_err(|_| outside())?;
        if is_absolute(target) {
            return Err(outside());
        }
        let target = normalize(&join(from, target)).ok_or_else(outside)?;
        if is_proto(name.as_bytes()) {
            self.refuse_second(&name)?;
            self.links.insert(name, target);
        }
        Ok(())
    }

    fn refuse_second(&self, name: &str) -> Result<(), String> {
        if self.files.contains_key(name) || self.links.contains_key(name) {
            return Err(format!(
                "it contains `{}` twice: pack it again from one tree",
                escape_unprintable(name)
            ));
        }
        Ok(())
    }

    fn resolve(&mut self) {
        let links = std::mem::take(&mut self.links);
        for (name, target) in &links {
            let mut target = target;
            // Chains longer than what kernels follow are taken for loops.
            let text = (0..40).find_map(|_| match self.files.get(target) {
                Some(text) => Some(text.clone()),
                None => {
                    target = links.get(target)?;
                    None
                }
            });
            match text {
                Some(text) => drop(self.files.insert(name.clone(), text)),
                None => self.problem(name.clone(), "its link leads to no `.proto` file"),
            }
        }
    }
}

/// Returns true if a file is kept: protos, and what commands read besides them.
fn is_kept(name: &str) -> bool {
    let last = name.rsplit('/').next().unwrap_or(name);
    is_proto(name.as_bytes())
        || matches!(last, LOCK | OWNERS | CONFIG | ACCEPTED)
        || last.ends_with(".md")
        || last.ends_with(".txt")
}

/// Returns the number of bytes that a file may have, and the message about a larger one.
fn get_limit(name: &str) -> (u64, String) {
    match is_proto(name.as_bytes()) {
        true => (MAX_FILE, TOO_LARGE.to_owned()),
        false => (MAX_SETTINGS, over_limit()),
    }
}

/// Returns true if a name is absolute on any system, so that it does not count from the archive's
/// top.
fn is_absolute(name: &str) -> bool {
    let bytes = name.as_bytes();
    name.starts_with('/')
        || name.contains('\\')
        || matches!(bytes, [letter, b':', ..] if letter.is_ascii_alphabetic())
}

/// The path of an entry from the archive's top; an error if it leads out of the archive.
fn parse_entry_name(name: &[u8]) -> Result<String, String> {
    let name = String::from_utf8_lossy(name);
    // Refuse any `..`, even one that stays inside: no honest archiver writes it.
    if is_absolute(&name) || name.split('/').any(|part| part == "..") {
        return Err(format!(
            "its entry `{}` is outside the archive: pack it again",
            escape_unprintable(&name)
        ));
    }
    Ok(name.split('/').filter(|part| !matches!(*part, "" | ".")).collect::<Vec<_>>().join("/"))
}

/// The text of an entry; `None` if it is over the limit.
fn read_entry(mut reader: impl Read, size: u64, limit: u64) -> io::Result<Option<Vec<u8>>> {
    if size > limit {
        return Ok(None);
    }
    // The size is only a claim: do not allocate all of it in advance.
    let mut text = Vec::with_capacity(size.min(1 << 20) as usize);
    reader.read_to_end(&mut text)?;
    Ok((text.len() as u64 <= limit).then_some(text))
}

fn read_tar(
    packed: impl Read,
    compression: Compression,
    allowance: &mut UnpackAllowance,
) -> Result<ArchiveEntries, String> {
    let failed = |error: io::Error| unpack::describe_error(&error);
    let mut entries = ArchiveEntries::default();
    let mut seen = false;
    let mut archive =
        tar::Archive::new(allowance.read(compression.unpack(packed).map_err(failed)?));
    for entry in archive.entries().map_err(failed)? {
        let entry = entry.map_err(failed)?;
        seen = true;
        let kind = entry.header().entry_type();
        if kind.is_pax_global_extensions() {
            continue;
        }
        let raw = entry.path_bytes().into_owned();
        let name = parse_entry_name(&raw)?;
        let kept = is_kept(&name);
        if kind.is_symlink() || kind.is_hard_link() {
            let target = entry.link_name_bytes().unwrap_or_default();
            // A symbolic link counts from its own folder, a hard link from the archive's top.
            let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
            let from = if kind.is_symlink() { folder.to_owned() } else { String::new() };
            entries.link(name, &target, &from)?;
        } else if kind.is_dir() || !kept {
        } else if !(kind.is_file() || kind.is_contiguous() || kind.is_gnu_sparse()) {
            entries.problem(name, NOT_REGULAR);
        } else if std::str::from_utf8(&raw).is_err() {
            entries.problem(name, NOT_UNICODE);
        } else {
            let size = entry.size();
            let (limit, reason) = get_limit(&name);
            match read_entry(entry, size, limit).map_err(failed)? {
                Some(text) => entries.file(name, text)?,
                None => entries.problem(name, reason),
            }
        }
    }
    if !seen {
        return Err("the archive is empty: pack it again".to_owned());
    }
    // Read on to the end, so that the checksum of the compression is verified.
    io::copy(&mut archive.into_inner(), &mut io::sink()).map_err(failed)?;
    Ok(entries)
}

fn read_zip(
    packed: impl Read + io::Seek,
    allowance: &mut UnpackAllowance,
) -> Result<ArchiveEntries, String> {
    let damaged = |error: zip::result::ZipError| unpack::describe_error(&error.into());
    let mut entries = ArchiveEntries::default();
    let mut archive = zip::ZipArchive::new(packed).map_err(damaged)?;
    if archive.has_duplicate_names() {
        return Err("it has two entries with the same name: pack it again from one tree".to_owned());
    }
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(damaged)?;
        let raw = entry.name_raw().to_vec();
        let name = parse_entry_name(&raw)?;
        let kept = is_kept(&name);
        if entry.is_symlink() {
            let mut target = Vec::new();
            allowance
                .read(&mut entry)
                .read_to_end(&mut target)
                .map_err(|error| unpack::describe_error(&error))?;
            let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
            entries.link(name, &target, &folder)?;
        } else if entry.is_dir() || !kept {
        } else if std::str::from_utf8(&raw).is_err() {
            entries.problem(name, NOT_UNICODE);
        } else {
            let size = entry.size();
            let (limit, reason) = get_limit(&name);
            let text = read_entry(allowance.read(entry), size, limit);
            match text.map_err(|error| unpack::describe_error(&error))? {
                Some(text) => entries.file(name, text)?,
                None => entries.problem(name, reason),
            }
        }
    }
    Ok(entries)
}
