//! Where things are declared and used.

use abide_schema::{Element, FileKey, Part};
use abide_syntax::Span;

use crate::analysis::Analysis;
use crate::names::{Meaning, last_component, name_at, names};
use crate::project::{Project, key_of};

/// A place where something is declared or used.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Occurrence {
    /// The file.
    pub file: FileKey,
    /// Where in it: the last component of a dotted name.
    pub span: Span,
    /// Whether it is the declaration.
    pub declares: bool,
}

/// Something that can be found again in another tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    Element { root: u32, noun: &'static str, full_name: String },
    File(FileKey),
}

impl Identity {
    pub(crate) fn of(meaning: Meaning<'_>) -> Identity {
        match meaning {
            Meaning::Element(it) => Identity::Element {
                root: it.file().decl().root,
                noun: it.noun(),
                full_name: it.full_name(),
            },
            Meaning::File(it) => Identity::File(key_of(it.decl())),
        }
    }

    /// The word that each text has which names it.
    fn word(&self) -> &str {
        match self {
            Identity::Element { full_name, .. } => {
                full_name.rsplit('.').next().unwrap_or(full_name)
            }
            Identity::File(key) => &key.1,
        }
    }
}

impl Analysis {
    /// What the name at an offset of a file means, and where the name stands.
    pub fn meaning_at(&self, file: &FileKey, offset: u32) -> Option<(Meaning<'_>, Span)> {
        let name = name_at(self.file(file)?, offset)?;
        Some((name.means, name.span))
    }

    /// Where the name at an offset is declared.
    pub fn definition(&self, file: &FileKey, offset: u32) -> Option<Occurrence> {
        let (meaning, _) = self.meaning_at(file, offset)?;
        Some(declaration(meaning))
    }

    /// Where the type of the name at an offset is declared: of a field the type of its values, of
    /// an enum value its enum.
    pub fn type_definition(&self, file: &FileKey, offset: u32) -> Option<Occurrence> {
        let (Meaning::Element(element), _) = self.meaning_at(file, offset)? else { return None };
        let ty = match element {
            Element::Field(it) => {
                let value = if it.is_map() { it.message_type()?.fields().nth(1)? } else { it };
                let message = value.message_type().map(Element::Message);
                message.or_else(|| value.enum_type().map(Element::Enum))?
            }
            Element::EnumValue(it) => Element::Enum(it.parent()),
            Element::Method(it) => Element::Message(it.output()?),
            it => it,
        };
        Some(declaration(Meaning::Element(ty)))
    }

    /// Where in the same file that is named which the name at an offset means.
    pub fn highlights(&self, key: &FileKey, offset: u32) -> Vec<Occurrence> {
        let Some(file) = self.file(key) else { return Vec::new() };
        let Some((meaning, _)) = self.meaning_at(key, offset) else { return Vec::new() };
        occurrences(file, &Identity::of(meaning))
    }
}

fn declaration(meaning: Meaning<'_>) -> Occurrence {
    match meaning {
        Meaning::Element(it) => {
            let span = it.place(Part::Name).span;
            Occurrence { file: key_of(it.file().decl()), span, declares: true }
        }
        Meaning::File(it) => {
            Occurrence { file: key_of(it.decl()), span: Span::default(), declares: true }
        }
    }
}

fn occurrences(file: abide_schema::File<'_>, identity: &Identity) -> Vec<Occurrence> {
    let text = file.decl().source_text().unwrap_or_default();
    let named = names(file).into_iter().filter(|it| Identity::of(it.means) == *identity);
    let found = named.map(|it| Occurrence {
        file: key_of(file.decl()),
        span: match it.means {
            Meaning::Element(_) => last_component(text, it.span),
            Meaning::File(_) => it.span,
        },
        declares: it.declares,
    });
    found.collect()
}

impl Project {
    /// Where in the tree that is declared and used which the name at an offset means, in the order
    /// of files and places.
    pub fn references(&mut self, file: &FileKey, offset: u32) -> Vec<Occurrence> {
        let Some((meaning, _)) = self.analysis().meaning_at(file, offset) else {
            return Vec::new();
        };
        let identity = Identity::of(meaning);
        self.occurrences(&identity)
    }

    pub(crate) fn occurrences(&self, identity: &Identity) -> Vec<Occurrence> {
        let finder = memchr::memmem::Finder::new(identity.word());
        let mentions = |text: &[u8]| finder.find(text).is_some();
        let files = self.files.iter();
        let naming = files.filter(|(_, it)| it.decl.source_text().is_some_and(mentions));
        let naming: Vec<FileKey> = naming.map(|(key, _)| key.clone()).collect();
        let tree = self.tree_of(naming.iter().cloned());
        let files = tree.files().filter(|it| naming.binary_search(&key_of(it.decl())).is_ok());
        files.flat_map(|it| occurrences(it, identity)).collect()
    }
}
