//! What one file offers to others, and what it claims for itself.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use abide_syntax::ImportKind;
use rustc_hash::FxHasher;

use crate::claims::{Claims, simple};
use crate::decl::{FieldDecl, FileDecl, RawOptions, TypeDecl};

/// A file of a workspace, and what other files may depend on.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) decl: Arc<FileDecl>,
    /// The same the other way: imported where it is judged, and the reverse.
    other: OnceLock<Arc<FileDecl>>,
    /// What it offers to those that import it.
    pub(super) offers: BTreeMap<String, Offer>,
    /// The files that it imports publicly.
    pub(super) passes_on: BTreeSet<Box<str>>,
    /// What may stand once in a tree only: names, and numbers of extensions.
    pub(super) claims: BTreeSet<String>,
    /// The simple names that it declares, as words.
    pub(super) names: BTreeSet<u32>,
    /// Every word of its text, as hashes in order.
    words: Vec<u32>,
    /// Whether it declares options.
    pub(super) extends_options: bool,
}

/// Something that an importing file may use.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Offer {
    /// Its simple name, as a word.
    pub(super) word: u32,
    /// What of it matters to others.
    facts: u64,
}

impl Entry {
    pub(super) fn new(decl: Arc<FileDecl>) -> Entry {
        let text = decl.strings.text();
        let has = |word: &[u8]| memchr::memmem::find(text, word).is_some();
        let offers = offers(&decl, has(b"features") || has(b"message_set_wire_format"));
        let package = decl.package_name();
        let Claims { names: mut claims, extends_options } = Claims::of(&decl);
        // A package claims its own name and those around it.
        let ends = package.match_indices('.').map(|(at, _)| at).chain([package.len()]);
        claims.extend(ends.map(|end| format!("package {}", &package[..end])));
        let public = decl.imports.iter().filter(|it| it.kind == ImportKind::Public);
        Entry {
            passes_on: public.map(|it| it.path.clone()).collect(),
            offers,
            claims,
            names: names(&decl),
            words: words(text),
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
        self.words.binary_search(&word).is_ok()
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
pub(super) fn words(text: &[u8]) -> Vec<u32> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let mut words: Vec<u32> =
        text.split(|byte| !is_word(byte)).filter(|it| !it.is_empty()).map(word).collect();
    words.sort_unstable();
    words.dedup();
    words.shrink_to_fit();
    words
}

/// The simple names of what a reference may mean.
fn names(decl: &FileDecl) -> BTreeSet<u32> {
    let extensions = decl.fields.iter().filter(|it| it.extendee().is_some()).map(|it| it.name);
    let messages = decl.messages.iter().map(|it| it.name);
    let enums = decl.enums.iter().map(|it| it.name).chain(decl.values.iter().map(|it| it.name));
    let services = decl.services.iter().map(|it| it.name);
    let names = messages.chain(enums).chain(extensions).chain(services);
    names.map(|name| word(decl.str(name).as_bytes())).collect()
}

/// What a file offers to others. Where it sets what turns the meaning of whole
/// scopes, its whole text counts.
fn offers(decl: &FileDecl, whole: bool) -> BTreeMap<String, Offer> {
    let text = decl.source_text().unwrap_or_default();
    let common = hash_of((decl.package_name(), decl.edition as u32, whole.then_some(text)));
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
    for part in decl.package_name().split('.') {
        offer("package", part, 0);
    }
    offers
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
