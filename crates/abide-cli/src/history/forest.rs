//! The files of a tree at one commit, and which of them a step to the next commit concerns.
//!
//! What a file declares depends on its text alone, but what its names mean depends on others. Two
//! small trees stand for the whole ones: they hold what changed, whatever may be understood
//! otherwise because of it, and all that these import.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use abide_schema::{FileDecl, RawOptions, SourceFile, Text, TypeDecl, well_known};
use abide_syntax::ImportKind;
use gix::ObjectId;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHasher};

use crate::source::{Content, Cursor, SourceError, Step, Timeline};

/// A file of a tree: its root, and the path that imports use.
pub(super) type Key = (u32, Arc<str>);

/// The root of what is built in.
const BUILT_IN: u32 = u32::MAX;

/// The file that declares the options themselves; linking needs it always.
const DESCRIPTOR_PROTO: &str = "google/protobuf/descriptor.proto";

/// Methods name the types of their operations in texts, relative to the package.
const OPERATIONS_PROTO: &str = "google/longrunning/operations.proto";

/// A file that was read.
pub(super) struct Entry {
    blob: Option<ObjectId>,
    decl: Arc<FileDecl>,
    /// The same the other way: imported where it is judged, and the reverse.
    other: OnceLock<Arc<FileDecl>>,
    /// What it offers to those that import it.
    offers: BTreeMap<String, Offer>,
    /// The files that it passes on.
    passes_on: BTreeSet<Box<str>>,
    /// What may stand once in a tree only: names, and numbers of extensions.
    claims: BTreeSet<String>,
    /// Every word of its text, as hashes in order.
    words: Vec<u32>,
    /// Whether it declares options.
    extends_options: bool,
    /// Whether a waiver may stand in it, which covers its whole package.
    waives: bool,
}

/// Something that an importing file may use.
#[derive(Clone, PartialEq)]
struct Offer {
    /// Its simple name, as a word.
    word: u32,
    /// What of it matters to others.
    facts: u64,
}

impl Entry {
    fn new(blob: Option<ObjectId>, decl: Arc<FileDecl>) -> Entry {
        let text = decl.source_text().unwrap_or_default();
        let has = |word: &[u8]| memchr::memmem::find(text, word).is_some();
        let offers = offers(&decl, has(b"features") || has(b"message_set_wire_format"));
        let package = package_of(&decl).to_owned();
        let mut claims: BTreeSet<String> = BTreeSet::new();
        let mut extends_options = false;
        {
            let mut claim = |name: &str| {
                claims.insert(if package.is_empty() {
                    name.to_owned()
                } else {
                    format!("{package}.{name}")
                });
            };
            for message in &decl.messages[decl.top_messages.range()] {
                claim(decl.str(message.name));
            }
            for item in &decl.enums[decl.top_enums.range()] {
                claim(decl.str(item.name));
                for value in &decl.values[item.values.range()] {
                    claim(decl.str(value.name));
                }
            }
            for extension in &decl.fields[decl.top_extensions.range()] {
                claim(decl.str(extension.name));
            }
            for service in &decl.services {
                claim(decl.str(service.name));
            }
        }
        for field in &decl.fields {
            if let Some(extendee) = field.extendee() {
                let extendee = simple(decl.str(extendee));
                claims.insert(format!("{extendee} {}", field.number));
                extends_options |= extendee.ends_with("Options");
            }
        }
        // A package claims its own name and those around it.
        let ends = package.match_indices('.').map(|(at, _)| at).chain([package.len()]);
        claims.extend(ends.map(|end| format!("package {}", &package[..end])));
        let public = decl.imports.iter().filter(|it| it.kind == ImportKind::Public);
        Entry {
            blob,
            passes_on: public.map(|it| it.path.clone()).collect(),
            offers,
            claims,
            words: words(text),
            extends_options,
            waives: has(b"abide:allow") || has(b"buf:lint:ignore") || has(b"buf:breaking:ignore"),
            other: OnceLock::new(),
            decl,
        }
    }

    /// The file as a tree takes it.
    fn decl(&self, imported: bool) -> Arc<FileDecl> {
        if self.decl.imported == imported {
            return Arc::clone(&self.decl);
        }
        let other = self.other.get_or_init(|| {
            let mut decl = FileDecl::clone(&self.decl);
            decl.imported = imported;
            Arc::new(decl)
        });
        Arc::clone(other)
    }

    pub(super) fn package(&self) -> &str {
        package_of(&self.decl)
    }

    fn mentions(&self, word: u32) -> bool {
        self.words.binary_search(&word).is_ok()
    }
}

fn package_of(decl: &FileDecl) -> &str {
    decl.package.map_or("", |package| decl.str(package.name))
}

fn simple(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn hash_of(value: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

fn word(text: &[u8]) -> u32 {
    (hash_of(text) >> 32) as u32
}

fn words(text: &[u8]) -> Vec<u32> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let mut words: Vec<u32> =
        text.split(|byte| !is_word(byte)).filter(|it| !it.is_empty()).map(word).collect();
    words.sort_unstable();
    words.dedup();
    words.shrink_to_fit();
    words
}

/// What a file offers to others. Where it sets what turns the meaning of whole scopes, its whole
/// text counts.
fn offers(decl: &FileDecl, whole: bool) -> BTreeMap<String, Offer> {
    let text = decl.source_text().unwrap_or_default();
    let common = hash_of((package_of(decl), decl.edition as u32, whole.then_some(text)));
    let mut offers = BTreeMap::new();
    let mut offer = |kind: &str, full: &str, facts: u64| {
        let simple = simple(full);
        let offer = Offer { word: word(simple.as_bytes()), facts: hash_of((common, facts)) };
        offers.insert(format!("{kind} {full}"), offer);
    };
    // Those of the top level come first, and what is nested behind what encloses it.
    let mut names: Vec<String> =
        decl.messages.iter().map(|it| decl.str(it.name).to_owned()).collect();
    for (index, message) in decl.messages.iter().enumerate() {
        for nested in message.messages.range() {
            if nested > index {
                names[nested] = format!("{}.{}", names[index], names[nested]);
            }
        }
    }
    for (name, message) in names.iter().zip(&decl.messages) {
        let ranges = &decl.ranges[message.extension_ranges.range()];
        let annotated = ranges.iter().any(|it| it.options != RawOptions::None);
        let ends: Vec<(i32, i32)> = ranges.iter().map(|it| (it.start, it.end)).collect();
        offer(
            "message",
            name,
            hash_of((ends, annotated.then_some(text), message.visibility.is_some())),
        );
        for item in &decl.enums[message.enums.range()] {
            let full = format!("{name}.{}", decl.str(item.name));
            offer("enum", &full, values(decl, item.values.range()));
        }
        for extension in &decl.fields[message.extensions.range()] {
            let full = format!("{name}.{}", decl.str(extension.name));
            offer("extension", &full, extension_facts(decl, extension));
        }
    }
    for item in &decl.enums[decl.top_enums.range()] {
        offer("enum", decl.str(item.name), values(decl, item.values.range()));
    }
    for extension in &decl.fields[decl.top_extensions.range()] {
        offer("extension", decl.str(extension.name), extension_facts(decl, extension));
    }
    for service in &decl.services {
        offer("service", decl.str(service.name), 0);
    }
    // A package shadows names, too.
    for part in package_of(decl).split('.') {
        offer("package", part, 0);
    }
    offers
}

fn values(decl: &FileDecl, range: std::ops::Range<usize>) -> u64 {
    let values = &decl.values[range];
    let values: Vec<(&str, i32)> = values.iter().map(|it| (decl.str(it.name), it.number)).collect();
    hash_of(values)
}

fn extension_facts(decl: &FileDecl, field: &abide_schema::FieldDecl) -> u64 {
    let ty = match field.ty {
        TypeDecl::Scalar(scalar) => scalar.keyword(),
        TypeDecl::Named(name) | TypeDecl::GroupNamed(name) => decl.str(name),
        TypeDecl::Group(_) | TypeDecl::Map(_) => "",
    };
    let extendee = field.extendee().map(|it| decl.str(it));
    hash_of((field.number, extendee, ty, field.label.map(|it| it as u8)))
}

/// The files of a tree at one commit.
#[derive(Default)]
pub(super) struct Forest {
    files: BTreeMap<Key, Arc<Entry>>,
    by_path: FxHashMap<Arc<str>, BTreeSet<u32>>,
    importers: FxHashMap<Box<str>, BTreeSet<Key>>,
    packages: FxHashMap<String, BTreeSet<Key>>,
    claims: FxHashMap<String, BTreeSet<Key>>,
    option_files: BTreeSet<Key>,
    /// The files that import themselves, by way of others.
    cyclic: BTreeSet<Key>,
    /// How many roots hold files of the tree; others are imported.
    roots: u32,
    built_in: BTreeMap<&'static str, Arc<Entry>>,
}

/// The two sides of a step, as small as they may be.
pub(super) struct Pair {
    /// The files before.
    pub(super) old: Vec<Arc<FileDecl>>,
    /// The files now.
    pub(super) new: Vec<Arc<FileDecl>>,
    /// What of the new side is to be understood anew, imported files among it.
    pub(super) fresh: BTreeSet<Key>,
}

/// What a step did to the files.
pub(super) struct Moved {
    /// The files that changed, and their packages before and now.
    pub(super) touched: BTreeMap<Key, (Option<String>, Option<String>)>,
    /// What is to be judged; none where nothing is.
    pub(super) pair: Option<Pair>,
    /// The files of the tree that import themselves now, by way of others.
    pub(super) cyclic: BTreeSet<Key>,
}

impl Forest {
    pub(super) fn new(timeline: &Timeline) -> Forest {
        let mut forest = Forest { roots: timeline.roots(), ..Forest::default() };
        for path in abide_schema::well_known_paths() {
            let Some(text) = well_known(path) else { continue };
            let decl = FileDecl::parse(SourceFile {
                path: path.into(),
                display: path.into(),
                root: BUILT_IN,
                imported: true,
                text: text.as_bytes().into(),
            });
            forest.built_in.insert(path, Arc::new(Entry::new(None, Arc::new(decl))));
        }
        forest
    }

    /// Every file, for a tree of its own.
    pub(super) fn everything(&self) -> Vec<Arc<FileDecl>> {
        self.files.values().map(|entry| entry.decl(entry.decl.imported)).collect()
    }

    pub(super) fn entry(&self, key: &Key) -> Option<&Arc<Entry>> {
        self.files.get(key)
    }

    /// Whether the file belongs to the tree, and is not only imported.
    pub(super) fn is_own(&self, key: &Key) -> bool {
        key.0 < self.roots
    }

    /// Takes a step, and gives what is to be judged because of it.
    pub(super) fn step(
        &mut self,
        step: Step,
        timeline: &Timeline,
        cursor: &mut Cursor<'_>,
    ) -> Result<Moved, SourceError> {
        // What changed, as it was.
        let mut changed: BTreeMap<Key, Option<Arc<Entry>>> = BTreeMap::new();
        let mut wanted: BTreeSet<Box<str>> = step.imported.into_iter().collect();
        let mut gone: FxHashMap<ObjectId, Arc<Entry>> = FxHashMap::default();
        let mut fresh: Vec<(Key, ObjectId)> = Vec::new();
        for change in step.files {
            let key = (change.root, change.path);
            let before = self.remove(&key, &mut wanted);
            wanted.insert((&*key.1).into());
            if let Some(before) = &before
                && let Some(blob) = before.blob
            {
                gone.insert(blob, Arc::clone(before));
            }
            if let Some(blob) = change.blob {
                fresh.push((key.clone(), blob));
            }
            changed.insert(key, before);
        }
        let mut texts: Vec<(Key, ObjectId, Result<Arc<Entry>, Text>)> = Vec::new();
        for (key, blob) in fresh {
            let known = match gone.get(&blob) {
                Some(entry) => Ok(Arc::clone(entry)),
                None => Err(cursor.text(blob)?),
            };
            texts.push((key, blob, known));
        }
        let entries: Vec<(Key, Arc<Entry>)> = texts
            .into_par_iter()
            .map(|(key, blob, known)| {
                let display = timeline.display(key.0, &key.1);
                let decl = match known {
                    // The same text elsewhere.
                    Ok(entry) => {
                        let mut decl = FileDecl::clone(&entry.decl);
                        decl.path = Arc::clone(&key.1);
                        decl.display = display.into();
                        decl.root = key.0;
                        decl
                    }
                    Err(text) => FileDecl::parse(SourceFile {
                        path: Arc::clone(&key.1),
                        display: display.into(),
                        root: key.0,
                        imported: false,
                        text,
                    }),
                };
                (key, Arc::new(Entry::new(Some(blob), Arc::new(decl))))
            })
            .collect();
        for (key, entry) in entries {
            self.insert(key, entry, &mut wanted);
        }
        self.settle_imports(wanted, timeline, cursor, &mut changed)?;
        let suspects: BTreeSet<&Key> = changed.keys().chain(&self.cyclic).collect();
        let mut cyclic = BTreeSet::new();
        for key in suspects {
            if !cyclic.contains(key) {
                cyclic.append(&mut self.circle(key));
            }
        }
        cyclic.retain(|key| self.is_own(key));
        self.cyclic = cyclic;
        Ok(self.moved(changed))
    }

    /// Brings in what is imported from outside of the tree, and takes out what no longer is.
    fn settle_imports(
        &mut self,
        mut wanted: BTreeSet<Box<str>>,
        timeline: &Timeline,
        cursor: &mut Cursor<'_>,
        changed: &mut BTreeMap<Key, Option<Arc<Entry>>>,
    ) -> Result<(), SourceError> {
        while let Some(path) = wanted.pop_first() {
            let roots = self.by_path.get(&*path).cloned().unwrap_or_default();
            let has_own = roots.iter().any(|root| *root < self.roots);
            let here: Option<Key> =
                roots.iter().find(|root| **root >= self.roots).map(|root| (*root, (&*path).into()));
            let is_needed = !has_own && self.importers.get(&*path).is_some_and(|it| !it.is_empty());
            let found = if is_needed { cursor.import(&path)? } else { None };
            let (found, text) = match found {
                None => (None, None),
                Some(found) => {
                    let key: Key = (found.root, (&*path).into());
                    let (blob, text) = match found.content {
                        Content::Blob(blob) => {
                            let same = here.as_ref() == Some(&key)
                                && self.files.get(&key).is_some_and(|it| it.blob == Some(blob));
                            if same {
                                continue;
                            }
                            (Some(blob), cursor.text(blob)?)
                        }
                        // The disk has no history: what was read stays.
                        Content::Disk(_) if here.as_ref() == Some(&key) => continue,
                        Content::Disk(text) => (None, text),
                    };
                    (Some((key, blob)), Some(text))
                }
            };
            if let Some(key) = here {
                let before = self.remove(&key, &mut wanted);
                changed.entry(key).or_insert(before);
            }
            if let (Some((key, blob)), Some(text)) = (found, text) {
                let decl = FileDecl::parse(SourceFile {
                    path: Arc::clone(&key.1),
                    display: timeline.display(key.0, &key.1).into(),
                    root: key.0,
                    imported: true,
                    text,
                });
                changed.entry(key.clone()).or_insert(None);
                self.insert(key, Arc::new(Entry::new(blob, Arc::new(decl))), &mut wanted);
            }
        }
        Ok(())
    }

    fn insert(&mut self, key: Key, entry: Arc<Entry>, wanted: &mut BTreeSet<Box<str>>) {
        self.by_path.entry(Arc::clone(&key.1)).or_default().insert(key.0);
        for import in &entry.decl.imports {
            self.importers.entry(import.path.clone()).or_default().insert(key.clone());
            wanted.insert(import.path.clone());
        }
        self.packages.entry(entry.package().to_owned()).or_default().insert(key.clone());
        for claim in &entry.claims {
            self.claims.entry(claim.clone()).or_default().insert(key.clone());
        }
        if entry.extends_options {
            self.option_files.insert(key.clone());
        }
        self.files.insert(key, entry);
    }

    fn remove(&mut self, key: &Key, wanted: &mut BTreeSet<Box<str>>) -> Option<Arc<Entry>> {
        let entry = self.files.remove(key)?;
        forget(&mut self.by_path, &*key.1, &key.0);
        for import in &entry.decl.imports {
            forget(&mut self.importers, &*import.path, key);
            wanted.insert(import.path.clone());
        }
        forget(&mut self.packages, entry.package(), key);
        for claim in &entry.claims {
            forget(&mut self.claims, claim.as_str(), key);
        }
        self.option_files.remove(key);
        Some(entry)
    }

    /// What is to be judged because of files that changed.
    fn moved(&self, changed: BTreeMap<Key, Option<Arc<Entry>>>) -> Moved {
        let mut touched = BTreeMap::new();
        let mut fresh: BTreeSet<Key> = BTreeSet::new();
        let mut context: BTreeSet<Key> = BTreeSet::new();
        let mut packages: BTreeSet<&str> = BTreeSet::new();
        let options = self.option_closure();
        for (key, old) in &changed {
            let (old, new) = (old.as_ref(), self.files.get(key));
            let names = |it: &&Arc<Entry>| it.package().to_owned();
            if old.is_none() && new.is_none() {
                continue;
            }
            touched.insert(key.clone(), (old.as_ref().map(names), new.as_ref().map(names)));
            fresh.insert(key.clone());
            fresh.extend(self.concerned(&key.1, old.map(Arc::as_ref), new.map(Arc::as_ref)));
            let both = || old.into_iter().chain(new);
            if both().any(|it| it.extends_options) || options.contains(&*key.1) {
                fresh.extend(self.all_importers(&key.1));
            }
            let claims = both().flat_map(|it| &it.claims);
            let rivals = claims.filter_map(|claim| match claim.strip_prefix("package ") {
                // A package may be in many files, but no type may have its name.
                Some(package) => self.claims.get(package),
                None => self.claims.get(claim),
            });
            fresh.extend(rivals.flatten().cloned());
            let own = both().flat_map(|it| &it.claims).filter(|it| !it.contains(' '));
            let shadowed = own.filter_map(|it| self.claims.get(&format!("package {it}")));
            fresh.extend(shadowed.flatten().cloned());
            packages.extend(both().map(|it| it.package()));
            let whole = match (old, new) {
                (Some(old), Some(new)) => {
                    old.package() != new.package()
                        || both().any(|it| {
                            it.decl.imports.iter().any(|it| *it.path == *OPERATIONS_PROTO)
                        })
                }
                _ => true,
            };
            if whole {
                let all = both().filter_map(|it| self.packages.get(it.package()));
                context.extend(all.flatten().cloned());
            }
        }
        // Waivers cover the package that they stand in.
        for package in packages {
            let files = self.packages.get(package).into_iter().flatten();
            let waive = |it: &&Key| self.files.get(*it).is_some_and(|it| it.waives);
            fresh.extend(files.filter(waive).cloned());
        }
        if touched.is_empty() {
            return Moved { touched, pair: None, cyclic: self.cyclic.clone() };
        }
        let (old, new) = self.closed(&changed, &fresh, context);
        fresh.retain(|key| self.files.contains_key(key));
        let pair = Some(Pair { old, new, fresh });
        Moved { touched, pair, cyclic: self.cyclic.clone() }
    }

    /// Files that import a changed one, also by way of public imports, and may be understood
    /// otherwise because of it.
    fn concerned(&self, path: &str, old: Option<&Entry>, new: Option<&Entry>) -> Vec<Key> {
        let (everything, words) = match (old, new) {
            (Some(old), Some(new)) => {
                let mut words = BTreeSet::new();
                for (one, other) in [(&old.offers, &new.offers), (&new.offers, &old.offers)] {
                    let differs =
                        one.iter().filter(|(name, offer)| other.get(*name) != Some(offer));
                    words.extend(differs.map(|(_, offer)| offer.word));
                }
                (old.passes_on != new.passes_on, words)
            }
            _ => (true, BTreeSet::new()),
        };
        if !everything && words.is_empty() {
            return Vec::new();
        }
        let mut found = BTreeSet::new();
        let mut open: Vec<&str> = vec![path];
        let mut seen: BTreeSet<&str> = BTreeSet::from([path]);
        while let Some(path) = open.pop() {
            for key in self.importers.get(path).into_iter().flatten() {
                let Some(entry) = self.files.get(key) else { continue };
                if everything || words.iter().any(|word| entry.mentions(*word)) {
                    found.insert(key.clone());
                }
                if entry.passes_on.contains(path) && seen.insert(&key.1) {
                    open.push(&key.1);
                }
            }
        }
        found.into_iter().collect()
    }

    /// The files that a file imports.
    fn imports(&self, key: &Key) -> impl Iterator<Item = Key> {
        let imports = self.files.get(key).into_iter().flat_map(|it| &it.decl.imports);
        imports.flat_map(|import| {
            let found = self.by_path.get_key_value(&*import.path);
            found
                .into_iter()
                .flat_map(|(path, roots)| roots.iter().map(|root| (*root, Arc::clone(path))))
        })
    }

    /// The files that import a file and that it imports, directly or not. (The linker tells of a
    /// circle once, at the first of its files in a whole tree.)
    fn circle(&self, key: &Key) -> BTreeSet<Key> {
        let mut ahead = BTreeSet::new();
        let mut open: Vec<Key> = self.imports(key).collect();
        while let Some(key) = open.pop() {
            if ahead.insert(key.clone()) {
                open.extend(self.imports(&key));
            }
        }
        if !ahead.contains(key) {
            return BTreeSet::new();
        }
        let behind = self.all_importers(&key.1);
        ahead.retain(|it| behind.contains(it));
        ahead
    }

    /// All files that import a path, directly or not.
    fn all_importers(&self, path: &str) -> BTreeSet<Key> {
        let mut found = BTreeSet::new();
        let mut open: Vec<Arc<str>> = vec![path.into()];
        while let Some(path) = open.pop() {
            for key in self.importers.get(&*path).into_iter().flatten() {
                if found.insert(key.clone()) {
                    open.push(Arc::clone(&key.1));
                }
            }
        }
        found
    }

    /// The paths that options are declared in, or by way of.
    fn option_closure(&self) -> BTreeSet<&str> {
        let mut found: BTreeSet<&str> = BTreeSet::new();
        let mut open: Vec<&Key> = self.option_files.iter().collect();
        while let Some(key) = open.pop() {
            if !found.insert(&key.1) {
                continue;
            }
            let imports = self.imports(key);
            open.extend(imports.filter_map(|it| Some(self.files.get_key_value(&it)?.0)));
        }
        found
    }

    /// Both sides with all that they import. A file that did not change is on both, lest it look
    /// added where only one of them imports it.
    fn closed(
        &self,
        changed: &BTreeMap<Key, Option<Arc<Entry>>>,
        fresh: &BTreeSet<Key>,
        context: BTreeSet<Key>,
    ) -> (Vec<Arc<FileDecl>>, Vec<Arc<FileDecl>>) {
        let (mut old, mut new) = (BTreeMap::new(), BTreeMap::new());
        let mut built_in: BTreeSet<&str> = BTreeSet::from([DESCRIPTOR_PROTO]);
        let mut seen: BTreeSet<Key> = BTreeSet::new();
        let mut open: Vec<Key> = context.into_iter().chain(fresh.iter().cloned()).collect();
        // Where a changed file had this path under another root.
        let mut was: BTreeMap<&str, Vec<&Key>> = BTreeMap::new();
        for key in changed.keys() {
            was.entry(&key.1).or_default().push(key);
        }
        while let Some(key) = open.pop() {
            if !seen.insert(key.clone()) {
                continue;
            }
            let after = self.files.get(&key);
            let before = changed.get(&key).map_or(after, Option::as_ref);
            let imported = !self.is_own(&key) || !fresh.contains(&key);
            for (side, entry) in [(&mut old, before), (&mut new, after)] {
                let Some(entry) = entry else { continue };
                side.insert(key.clone(), entry.decl(imported));
                for import in &entry.decl.imports {
                    let path = &*import.path;
                    let mut found = false;
                    for root in self.by_path.get(path).into_iter().flatten() {
                        open.push((*root, path.into()));
                        found = true;
                    }
                    open.extend(was.get(path).into_iter().flatten().map(|it| (*it).clone()));
                    if !found && let Some((path, _)) = self.built_in.get_key_value(path) {
                        built_in.insert(path);
                    }
                }
            }
        }
        let mut built: Vec<Arc<FileDecl>> = Vec::new();
        let mut open: Vec<&str> = built_in.iter().copied().collect();
        while let Some(path) = open.pop() {
            let Some(entry) = self.built_in.get(path) else { continue };
            built.push(Arc::clone(&entry.decl));
            for import in &entry.decl.imports {
                if let Some((path, _)) = self.built_in.get_key_value(&*import.path)
                    && built_in.insert(path)
                {
                    open.push(path);
                }
            }
        }
        let side = |files: BTreeMap<Key, Arc<FileDecl>>| -> Vec<Arc<FileDecl>> {
            let own: BTreeSet<Arc<str>> = files.keys().map(|key| Arc::clone(&key.1)).collect();
            let built = built.iter().filter(|it| !own.contains(&it.path)).cloned();
            files.values().cloned().chain(built).collect()
        };
        (side(old), side(new))
    }
}

fn forget<K, Q, V>(index: &mut FxHashMap<K, BTreeSet<V>>, key: &Q, value: &V)
where
    K: std::borrow::Borrow<Q> + Hash + Eq,
    Q: Hash + Eq + ?Sized,
    V: Ord,
{
    if let Some(values) = index.get_mut(key) {
        values.remove(value);
        if values.is_empty() {
            index.remove(key);
        }
    }
}
