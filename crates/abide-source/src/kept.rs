//! Reports of earlier runs, kept in the folder of git.
//!
//! A report about one tree depends on the texts of its files and of what they import, on the
//! settings and on the day, and on nothing else. So it is kept under a digest of all of these: a run
//! that finds one either has the same report or another digest. The texts are those of git's blobs
//! where git's index knows that a file is unchanged, by git's own rule, and else digests of what is
//! on disk. A kept report that is damaged, or that anybody changed, counts as absent. It may be
//! deleted at any time.

mod encoding;
mod store;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use abide_lint::{Location, Origin, Report};
use abide_schema::{FileDecl, FileId, FileText, ProblemKind, SourceFile, StringTable, Tree};
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use crate::bytes::{ByteReader, ByteWriter};
use crate::load::{LeftOut, LoadedTree};
use crate::source::{ListedFile, OnRecord, Source};
use crate::write;
use encoding::{decode, encode, iter_locations};
use store::ReportStore;

/// The number of texts that may be unknown to git. Of more, reading them all takes as long as
/// judging them.
const MAX_UNRECORDED: usize = 512;

/// A digest of everything that a report depends on.
type ReportKey = [u8; 32];

/// The place of the reports of a tree that was judged before, with what git knows of its files now.
pub struct ReportCache {
    store: ReportStore,
    /// Everything but the texts that a report depends on.
    settings: String,
    /// Git's index before any file was read: a file that it still knows afterwards did not change
    /// in between.
    index: OnRecord,
    /// The fewest files for which a report is kept. A smaller tree is judged sooner.
    min_files: usize,
}

/// The report of an earlier run, beside a tree that has texts only for what the report points at.
pub struct KeptRun {
    /// The files, with their names. Nothing is declared in them.
    pub loaded: LoadedTree,
    /// The report.
    pub report: Report,
    /// What that run said about what it read.
    pub notes: Vec<String>,
}

/// A file that is imported from outside of the tree, or that was looked for there.
struct ImportedFile {
    path: String,
    /// Its root, its name in reports and the digest of its text; `None` if there is none.
    found: Option<(u32, String, [u8; 32])>,
}

impl ReportCache {
    /// The reports about a tree. `settings` says everything but the texts that they depend on.
    /// `None` if the tree is no folder in a checkout of git, or only a part of it is judged.
    pub fn open(source: &Source, settings: String, min_files: usize) -> Option<ReportCache> {
        let folder = source.folder().filter(|_| source.is_whole())?;
        let index = source.read_index().filter(|_| !write::is_half_written(folder))?;
        let store = ReportStore::in_folder(index.shared_folder());
        Some(ReportCache { store, settings, index, min_files })
    }

    /// Finds the report of an earlier run over the same texts.
    pub fn find(&self, source: &Source) -> Option<KeptRun> {
        if self.store.is_empty() {
            return None;
        }
        let mut listing = source.list().ok().flatten()?;
        if !listing.problems.is_empty() || !listing.notes.is_empty() {
            return None;
        }
        listing.files.sort_unstable_by(|a, b| (a.root, &a.path).cmp(&(b.root, &b.path)));
        let digests = read_unrecorded(source, &listing.files)?;
        let mut key = self.begin_key();
        for file in &listing.files {
            let recorded = file.blob.zip(file.size);
            let text = match recorded {
                Some((blob, size)) => TextId::Blob(blob, size),
                None => TextId::Digest(*digests.get(&(file.root, file.path.as_str()))?),
            };
            add_file(&mut key, file.root, &file.path, &text);
        }
        let bytes = self.store.read(key.finalize().into())?;
        KeptBytes::read(&bytes)?.restore(source, &listing.files, &digests)
    }

    /// Keeps a report about a tree, and the notes about it. Where that is
    /// not possible, as in a repository that cannot be written to, the next run judges again.
    pub fn keep(&self, loaded: &LoadedTree, report: &Report, notes: &[String]) {
        if let Some((key, bytes)) = self.collect(loaded, report, notes) {
            self.store.write(key, &bytes);
        }
    }

    fn begin_key(&self) -> Sha256 {
        let mut key = Sha256::new();
        key.update((self.settings.len() as u64).to_le_bytes());
        key.update(&self.settings);
        key
    }

    fn collect(
        &self,
        loaded: &LoadedTree,
        report: &Report,
        notes: &[String],
    ) -> Option<(ReportKey, Vec<u8>)> {
        // Whether a file is judged is not kept, and reports that list all judged files show it.
        let is_known = loaded.tree.files().all(|it| it.is_imported() || it.is_judged());
        let is_plain = is_known && loaded.notes.is_empty() && loaded.unreadable.is_empty();
        if !is_plain || !loaded.unresolved.is_empty() || names_are_missing(&loaded.tree) {
            return None;
        }
        let files = list_own_files(&loaded.tree);
        let judged: Vec<&FileDecl> = files.iter().copied().filter(|it| !it.imported).collect();
        // The judged files come first, so that their numbers are those in the listing.
        let is_first = files.iter().take(judged.len()).all(|it| !it.imported);
        if judged.len() < self.min_files || !is_first {
            return None;
        }
        let identify = |file: &&FileDecl| -> Option<TextId> {
            let text = file.source_text()?;
            let recorded = self.index.find_unchanged(&file.display, None);
            let recorded = recorded.filter(|it| it.size as usize == text.len());
            Some(match recorded {
                Some(it) => TextId::Blob(it.blob, it.size),
                None => TextId::Digest(Sha256::digest(text).into()),
            })
        };
        let texts: Option<Vec<TextId>> = judged.par_iter().map(identify).collect();
        let texts = texts?;
        let unrecorded = texts.iter().filter(|it| matches!(it, TextId::Digest(_))).count();
        if unrecorded > MAX_UNRECORDED {
            return None;
        }
        let mut key = self.begin_key();
        for (file, text) in judged.iter().zip(&texts) {
            add_file(&mut key, file.root, &file.path, text);
        }
        let imported = collect_imported(&files)?;
        let mut out = ByteWriter::default();
        out.put_list(&imported, put_imported);
        out.put_list(notes, |out, it| out.put_str(it));
        out.0.extend(encode(report)?);
        // What is built in has another number where less of it is needed.
        let is_own = collect_shown(report).last().is_none_or(|it| *it < files.len());
        is_own.then(|| (key.finalize().into(), out.0))
    }
}

/// The identity of a text on disk.
enum TextId {
    /// The blob that git's index has on record of it, and its size on disk.
    Blob(gix::ObjectId, u32),
    Digest([u8; 32]),
}

fn add_file(key: &mut Sha256, root: u32, path: &str, text: &TextId) {
    key.update(root.to_le_bytes());
    key.update((path.len() as u64).to_le_bytes());
    key.update(path);
    match text {
        TextId::Blob(blob, size) => {
            key.update([0]);
            key.update(size.to_le_bytes());
            key.update(blob.as_slice());
        }
        TextId::Digest(digest) => {
            key.update([1]);
            key.update(digest);
        }
    }
}

/// Returns true if names were not found: what is said about them depends on files of the import
/// paths that nobody imports.
fn names_are_missing(tree: &Tree) -> bool {
    let is_about_a_name =
        |it: &ProblemKind| matches!(it, ProblemKind::NameNotFound | ProblemKind::OptionInvalid);
    tree.problems().iter().any(|it| is_about_a_name(&it.kind))
}

type TextDigests<'f> = HashMap<(u32, &'f str), [u8; 32]>;

/// Reads the files that git's index says nothing about; `None` if they are many, or one cannot be
/// read.
fn read_unrecorded<'f>(source: &Source, files: &'f [ListedFile]) -> Option<TextDigests<'f>> {
    let is_unrecorded = |it: &&ListedFile| it.blob.is_none() || it.size.is_none();
    let files: Vec<&ListedFile> = files.iter().filter(is_unrecorded).collect();
    if files.len() > MAX_UNRECORDED {
        return None;
    }
    let (texts, problems) = source.read_listed(&files);
    let is_read = problems.is_empty() && texts.len() == files.len();
    let digests: BTreeMap<(u32, &str), [u8; 32]> =
        texts.iter().map(|it| ((it.root, &*it.path), Sha256::digest(&*it.text).into())).collect();
    let found = files.iter().map(|it| {
        let place = (it.root, it.path.as_str());
        Some((place, *digests.get(&place)?))
    });
    found.collect::<Option<TextDigests<'f>>>().filter(|_| is_read)
}

/// The files outside of the tree that were read, and those that were not found there.
fn collect_imported(files: &[&FileDecl]) -> Option<Vec<ImportedFile>> {
    let judged: BTreeSet<&str> =
        files.iter().filter(|it| !it.imported).map(|it| &*it.path).collect();
    let wanted: BTreeSet<&str> = files
        .iter()
        .flat_map(|it| &it.imports)
        .map(|it| &*it.path)
        .filter(|it| !judged.contains(it))
        .collect();
    let read: HashMap<&str, &FileDecl> =
        files.iter().filter(|it| it.imported).map(|it| (&*it.path, *it)).collect();
    // Every file that was read from outside is wanted by one that was read.
    if !read.keys().all(|it| wanted.contains(it)) {
        return None;
    }
    let found = wanted.into_iter().map(|path| {
        let found = match read.get(path) {
            None => None,
            Some(file) => {
                let digest = Sha256::digest(file.source_text()?).into();
                Some((file.root, file.display.to_string(), digest))
            }
        };
        Some(ImportedFile { path: path.to_owned(), found })
    });
    found.collect()
}

/// Returns true if a file was built in, and not read.
fn is_built_in_root(root: u32) -> bool {
    root == u32::MAX
}

fn put_imported(out: &mut ByteWriter, file: &ImportedFile) {
    out.put_str(&file.path);
    out.put_option(file.found.as_ref(), |out, (root, display, digest)| {
        out.put_u32(*root);
        out.put_str(display);
        out.0.extend(digest);
    });
}

fn read_imported(bytes: &mut ByteReader<'_>) -> Option<ImportedFile> {
    let path = bytes.read_string()?;
    let found = bytes.read_option(|bytes| {
        Some((bytes.read_u32()?, bytes.read_string()?, bytes.take(32)?.try_into().ok()?))
    })?;
    Some(ImportedFile { path, found })
}

/// What is kept of a run.
struct KeptBytes {
    imported: Vec<ImportedFile>,
    notes: Vec<String>,
    report: Report,
}

impl KeptBytes {
    fn read(bytes: &[u8]) -> Option<KeptBytes> {
        let mut bytes = ByteReader(bytes);
        let imported = bytes.read_list(read_imported)?;
        let notes = bytes.read_list(ByteReader::read_string)?;
        let report = decode(&mut bytes)?;
        bytes.0.is_empty().then_some(KeptBytes { imported, notes, report })
    }

    /// The run, if what it imported is as it was, and the texts that its report points at can be
    /// read and are still those that were found.
    fn restore(
        self,
        source: &Source,
        files: &[ListedFile],
        digests: &TextDigests<'_>,
    ) -> Option<KeptRun> {
        let imported: Option<Vec<Option<SourceFile>>> =
            self.imported.par_iter().map(|it| find_again(source, it)).collect();
        let imported: Vec<SourceFile> = imported?.into_iter().flatten().collect();
        let shown = collect_shown(&self.report);
        let read: Vec<&ListedFile> = shown.iter().filter_map(|it| files.get(*it)).collect();
        let (texts, problems) = source.read_listed(&read);
        let is_read = problems.is_empty() && texts.len() == read.len();
        if !is_read || !are_unchanged(source, &read, &texts, digests) {
            return None;
        }
        let mut texts: HashMap<(u32, Arc<str>), FileText> =
            texts.into_iter().map(|it| ((it.root, it.path), it.text)).collect();
        let mut named: Vec<SourceFile> = files.iter().map(|it| name_file(source, it)).collect();
        for file in &mut named {
            if let Some(text) = texts.remove(&(file.root, Arc::clone(&file.path))) {
                file.text = text;
            }
        }
        named.extend(imported);
        let decls = named.into_par_iter().map(|it| Arc::new(declare_nothing(it)));
        let tree = Tree::link(decls.collect());
        let are_within = self.points_into(&tree, files);
        let KeptBytes { report, notes, .. } = self;
        let loaded = LoadedTree {
            tree,
            name: source.name().to_owned(),
            unreadable: Vec::new(),
            notes: Vec::new(),
            unresolved: HashMap::new(),
            left_out: LeftOut::default(),
        };
        are_within.then_some(KeptRun { loaded, report, notes })
    }

    /// Returns true if the tree has the listed files by their numbers, and every place of the report
    /// lies in a text that was read.
    fn points_into(&self, tree: &Tree, files: &[ListedFile]) -> bool {
        let own: Vec<&FileDecl> = list_own_files(tree);
        let place = |it: &&FileDecl| (it.root, Arc::clone(&it.path));
        let are_listed = own.len() >= files.len()
            && files
                .iter()
                .zip(&own)
                .all(|(file, own)| (file.root, file.path.as_str().into()) == place(own));
        are_listed
            && list_locations(&self.report).all(|it| match it.origin {
                Origin::Tree(FileId(file)) => {
                    let text = own.get(file as usize).and_then(|it| it.source_text());
                    text.is_some_and(|text| it.span.end as usize <= text.len())
                }
                _ => true,
            })
    }
}

/// Every place of a report.
fn list_locations(report: &Report) -> impl Iterator<Item = &Location> {
    report.findings.iter().chain(&report.exempted).flat_map(iter_locations)
}

/// The numbers of the files that a report points at.
fn collect_shown(report: &Report) -> BTreeSet<usize> {
    let file = |it: &Location| match it.origin {
        Origin::Tree(FileId(file)) => Some(file as usize),
        _ => None,
    };
    list_locations(report).filter_map(file).collect()
}

/// Looks up an imported file; `None` if it is not as it was.
fn find_again(source: &Source, file: &ImportedFile) -> Option<Option<SourceFile>> {
    let found = source.find_import(&file.path).ok()?;
    let now = found
        .as_ref()
        .map(|it| (it.root, it.display.to_string(), Sha256::digest(&*it.text).into()));
    (now == file.found).then_some(found)
}

/// Returns true if the texts that were read are those that were found before.
fn are_unchanged(
    source: &Source,
    files: &[&ListedFile],
    texts: &[SourceFile],
    digests: &TextDigests<'_>,
) -> bool {
    let displays: Vec<String> = files.iter().map(|it| source.display(it.root, &it.path)).collect();
    let displays: Vec<&str> = displays.iter().map(String::as_str).collect();
    let blobs = source.find_blobs(&displays);
    files.iter().zip(texts).zip(blobs).all(|((file, text), blob)| {
        let place = (file.root, file.path.as_str());
        let is_same = match digests.get(&place) {
            Some(digest) => Sha256::digest(&*text.text)[..] == digest[..],
            None => blob.is_some() && blob == file.blob,
        };
        (text.root, &*text.path) == place && is_same
    })
}

/// A listed file without its text.
fn name_file(source: &Source, file: &ListedFile) -> SourceFile {
    SourceFile {
        path: file.path.as_str().into(),
        display: source.display(file.root, &file.path).into(),
        root: file.root,
        imported: false,
        text: FileText::Utf8("".into()),
    }
}

/// A file of which only the text and the names are known.
fn declare_nothing(mut file: SourceFile) -> FileDecl {
    let text = std::mem::replace(&mut file.text, FileText::Utf8("".into()));
    let mut decl = FileDecl::parse(file);
    decl.strings = StringTable::new(text);
    decl
}

/// The files of a tree that were read, in the order of their numbers. What is built in comes behind
/// them.
fn list_own_files(tree: &Tree) -> Vec<&FileDecl> {
    let is_read = |it: &&FileDecl| !is_built_in_root(it.root);
    tree.files().map(|it| it.decl()).take_while(is_read).collect()
}
