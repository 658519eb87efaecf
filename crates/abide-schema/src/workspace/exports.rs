//! What one file offers to others, and what it claims for itself.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use abide_syntax::ImportKind;
use rustc_hash::FxHasher;

use crate::decl::{FieldDecl, FileDecl, RawOptions, TypeDecl};
use crate::workspace::outline::claim;
use crate::workspace::unique_names::{Claims, simple};

/// A file of a workspace, and what other files may depend on.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) decl: Arc<FileDecl>,
    /// The same the other way: imported where it is judged, and the reverse.
    other: OnceLock<Arc<FileDecl>>,
    /// What it offers to those that import it, in order.
    pub(super) offers: Box<[Offer]>,
    /// The files that it imports publicly.
    pub(super) passes_on: BTreeSet<Box<str>>,
    /// What may stand once in a tree only: names, and numbers of extensions. In order.
    pub(super) claims: Box<[Claim]>,
    /// Every word of its text, as hashes in order. Few files are ever asked for them.
    words: OnceLock<Box<[u32]>>,
    /// Whether it declares options.
    pub(super) extends_options: bool,
}

/// Something that an importing file may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Offer {
    /// Its kind and its full name, as a hash.
    name: u64,
    /// What of it matters to others, as a hash.
    facts: u64,
    /// Its simple name, as a word.
    pub(super) word: u32,
}

/// A name that is claimed, or the number of an extension, as a hash. Two names of one hash make a
/// tree larger, and no result wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Claim(u64);

impl Claim {
    /// Of a file that nobody may share.
    fn of(name: &str) -> Claim {
        Claim(claim(name) & !1)
    }

    /// The same name, claimed by a package, which many files may share.
    pub(super) fn as_package(self) -> Claim {
        Claim(self.0 | 1)
    }

    /// The same name, claimed otherwise than by a package.
    pub(super) fn alone(self) -> Claim {
        Claim(self.0 & !1)
    }

    pub(super) fn is_package(self) -> bool {
        self == self.as_package()
    }
}

impl Entry {
    pub(super) fn new(decl: Arc<FileDecl>) -> Entry {
        let text = decl.strings.text();
        let has = |word: &[u8]| memchr::memmem::find(text, word).is_some();
        let offers = offers(&decl, has(b"features") || has(b"message_set_wire_format"));
        let package = decl.package_name();
        let Claims { names: claimed, extends_options } = Claims::of(&decl);
        // A package claims its own name and those around it.
        let ends = package.match_indices('.').map(|(at, _)| at).chain([package.len()]);
        let around = ends.map(|end| Claim::of(&package[..end]).as_package());
        let claims = claimed.iter().map(|it| Claim::of(it)).chain(around);
        let public = decl.imports.iter().filter(|it| it.kind == ImportKind::Public);
        Entry {
            passes_on: public.map(|it| it.path.clone()).collect(),
            offers,
            claims: in_order(claims),
            words: OnceLock::new(),
            extends_options,
            other: OnceLock::new(),
            decl,
        }
    }

    /// The file as a tree takes it.
    pub(super) fn decl(&self, imported: bool) -> Arc<FileDecl> {
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

    pub(super) fn mentions(&self, word: u32) -> bool {
        let words = self.words.get_or_init(|| words(self.decl.strings.text()));
        words.binary_search(&word).is_ok()
    }
}

fn hash_of(value: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

/// A word, as a hash.
pub(super) fn word(text: &[u8]) -> u32 {
    (hash_of(text) >> 32) as u32
}

/// The words of a text, as hashes in order.
fn words(text: &[u8]) -> Box<[u32]> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    in_order(text.split(|byte| !is_word(byte)).filter(|it| !it.is_empty()).map(word))
}

/// Each of some values once, in their order.
fn in_order<T: Ord>(values: impl Iterator<Item = T>) -> Box<[T]> {
    let mut values: Vec<T> = values.collect();
    values.sort_unstable();
    values.dedup();
    values.into()
}

/// What a file offers to others. Where it sets what turns the meaning of whole
/// scopes, its whole text counts.
fn offers(decl: &FileDecl, whole: bool) -> Box<[Offer]> {
    let text = decl.source_text().unwrap_or_default();
    let common = hash_of((decl.package_name(), decl.edition as u32, whole.then_some(text)));
    let mut offers = Vec::new();
    let mut offer = |kind: &str, full: &str, facts: u64| {
        offers.push(Offer {
            name: hash_of((kind, full)),
            facts: hash_of((common, facts)),
            word: word(simple(full).as_bytes()),
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
    for part in decl.package_name().split('.') {
        offer("package", part, 0);
    }
    in_order(offers.into_iter())
}

fn values(decl: &FileDecl, range: std::ops::Range<usize>) -> u64 {
    let values = &decl.values[range];
    let values: Vec<(&str, i32)> = values.iter().map(|it| (decl.str(it.name), it.number)).collect();
    hash_of(values)
}

fn extension_facts(decl: &FileDecl, field: &FieldDecl) -> u64 {
    let ty = match field.ty {
        TypeDecl::Scalar(scalar) => scalar.keyword(),
        TypeDecl::Named(name) | TypeDecl::GroupNamed(name) => decl.str(name),
        TypeDecl::Group(_) | TypeDecl::Map(_) => "",
    };
    let extendee = field.extendee().map(|it| decl.str(it));
    hash_of((field.number, extendee, ty, field.label.map(|it| it as u8)))
}
