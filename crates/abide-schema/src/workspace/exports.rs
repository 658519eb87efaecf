//! The names a file exports, and those it reserves for itself.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use abide_syntax::ImportKind;
use rustc_hash::FxHasher;

use crate::decl::{FieldDecl, FileDecl, RawOptions, TypeDecl};
use crate::workspace::outline::hash_name;
use crate::workspace::unique_names::{UniqueNames, last_component};

/// A file of a workspace, and what other files may depend on.
#[derive(Debug)]
pub(super) struct FileExports {
    pub(super) decl: Arc<FileDecl>,
    /// The same the other way: imported where it is judged, and the reverse.
    other: OnceLock<Arc<FileDecl>>,
    /// The names it exports to those that import it, in order.
    pub(super) offers: Box<[ExportedName]>,
    /// The files that it imports publicly.
    pub(super) passes_on: BTreeSet<Box<str>>,
    /// The names and numbers of extensions that only one file of a tree may declare. In order.
    pub(super) claims: Box<[UniqueName]>,
    /// Every word of its text, as hashes in order. Few files are ever asked for them.
    words: OnceLock<Box<[u32]>>,
    /// True if it declares options.
    pub(super) extends_options: bool,
}

/// Something that an importing file may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ExportedName {
    /// Its kind and its full name, as a hash.
    name: u64,
    /// A hash of the facts that matter to others.
    facts: u64,
    /// Its simple name, as a word.
    pub(super) word: u32,
}

/// A name that is claimed, or the number of an extension, as a hash. Two names of one hash make a
/// tree larger, and no result wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct UniqueName(u64);

impl UniqueName {
    /// Of a file that nobody may share.
    fn new(name: &str) -> UniqueName {
        UniqueName(hash_name(name) & !1)
    }

    /// The same name, claimed by a package, which many files may share.
    pub(super) fn as_package(self) -> UniqueName {
        UniqueName(self.0 | 1)
    }

    /// The same name, claimed otherwise than by a package.
    pub(super) fn without_package(self) -> UniqueName {
        UniqueName(self.0 & !1)
    }

    pub(super) fn is_package(self) -> bool {
        self == self.as_package()
    }
}

impl FileExports {
    pub(super) fn new(decl: Arc<FileDecl>) -> FileExports {
        let text = decl.strings.text();
        let has = |word: &[u8]| memchr::memmem::find(text, word).is_some();
        let offers = collect_exports(&decl, has(b"features") || has(b"message_set_wire_format"));
        let package = decl.package_name();
        let UniqueNames { names: claimed, extends_options } = UniqueNames::from_decl(&decl);
        // A package claims its own name and those around it.
        let ends = package.match_indices('.').map(|(at, _)| at).chain([package.len()]);
        let around = ends.map(|end| UniqueName::new(&package[..end]).as_package());
        let claims = claimed.iter().map(|it| UniqueName::new(it)).chain(around);
        let public = decl.imports.iter().filter(|it| it.kind == ImportKind::Public);
        FileExports {
            passes_on: public.map(|it| it.path.clone()).collect(),
            offers,
            claims: sort_and_dedup(claims),
            words: OnceLock::new(),
            extends_options,
            other: OnceLock::new(),
            decl,
        }
    }

    /// The file as a tree takes it.
    pub(super) fn parse_decl(&self, imported: bool) -> Arc<FileDecl> {
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

    pub(super) fn contains_word(&self, word: u32) -> bool {
        let words = self.words.get_or_init(|| hash_words(self.decl.strings.text()));
        words.binary_search(&word).is_ok()
    }
}

fn hash_of(value: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

/// A word, as a hash.
pub(super) fn hash_word(text: &[u8]) -> u32 {
    (hash_of(text) >> 32) as u32
}

/// The words of a text, as hashes in order.
fn hash_words(text: &[u8]) -> Box<[u32]> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    sort_and_dedup(text.split(|byte| !is_word(byte)).filter(|it| !it.is_empty()).map(hash_word))
}

/// Each of some values once, in their order.
fn sort_and_dedup<T: Ord>(values: impl Iterator<Item = T>) -> Box<[T]> {
    let mut values: Vec<T> = values.collect();
    values.sort_unstable();
    values.dedup();
    values.into()
}

/// Collects the names a file exports. Where it sets what turns the meaning of whole
/// scopes, its whole text counts.
fn collect_exports(decl: &FileDecl, whole: bool) -> Box<[ExportedName]> {
    let text = decl.source_text().unwrap_or_default();
    let common = hash_of((decl.package_name(), decl.edition, whole.then_some(text)));
    let mut offers = Vec::new();
    let mut offer = |kind: &str, full: &str, facts: u64| {
        offers.push(ExportedName {
            name: hash_of((kind, full)),
            facts: hash_of((common, facts)),
            word: hash_word(last_component(full).as_bytes()),
        });
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
            offer("enum", &full, hash_values(decl, item.values.range()));
        }
        for extension in &decl.fields[message.extensions.range()] {
            let full = format!("{name}.{}", decl.str(extension.name));
            offer("extension", &full, hash_extension(decl, extension));
        }
    }
    for item in &decl.enums[decl.top_enums.range()] {
        offer("enum", decl.str(item.name), hash_values(decl, item.values.range()));
    }
    for extension in &decl.fields[decl.top_extensions.range()] {
        offer("extension", decl.str(extension.name), hash_extension(decl, extension));
    }
    for service in &decl.services {
        offer("service", decl.str(service.name), 0);
    }
    // A package shadows names, too.
    for part in decl.package_name().split('.') {
        offer("package", part, 0);
    }
    sort_and_dedup(offers.into_iter())
}

fn hash_values(decl: &FileDecl, range: std::ops::Range<usize>) -> u64 {
    let values = &decl.values[range];
    let values: Vec<(&str, i32)> = values.iter().map(|it| (decl.str(it.name), it.number)).collect();
    hash_of(values)
}

fn hash_extension(decl: &FileDecl, field: &FieldDecl) -> u64 {
    let ty = match field.ty {
        TypeDecl::Scalar(scalar) => scalar.keyword(),
        TypeDecl::Named(name) | TypeDecl::GroupNamed(name) => decl.str(name),
        TypeDecl::Group(_) | TypeDecl::Map(_) => "",
    };
    let extendee = field.extendee().map(|it| decl.str(it));
    hash_of((field.number, extendee, ty, field.label.map(|it| it as u8)))
}
