//! Where things are declared and used.

use abide_schema::{Element, File, FileKey, Mention, MentionTarget, Part, Tree};
use abide_syntax::Span;

use crate::analysis::Analysis;
use crate::project::{Project, key_of};

/// A place where something is declared or used.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Occurrence {
    /// The file.
    pub file: FileKey,
    /// Where in it: one component of a dotted name.
    pub span: Span,
    /// Whether it is the declaration.
    pub declares: bool,
}

/// Something that can be found again in another tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    Element { file: FileKey, noun: &'static str, full_name: String, is_group: bool },
    File(FileKey),
    Package(String),
}

impl Identity {
    pub(crate) fn of(meaning: MentionTarget<'_>) -> Identity {
        match meaning {
            MentionTarget::Element(it) => {
                // A group is one with its type.
                let group = match it {
                    Element::Field(it) if it.is_group() => it.message_type().map(Element::Message),
                    _ => None,
                };
                let it = group.unwrap_or(it);
                Identity::Element {
                    file: key_of(it.file().decl()),
                    noun: it.noun(),
                    full_name: it.full_name(),
                    is_group: matches!(it, Element::Message(it) if it.is_group()),
                }
            }
            MentionTarget::File(it) => Identity::File(key_of(it.decl())),
            MentionTarget::Package(name) => Identity::Package(name.to_owned()),
        }
    }

    /// Words of which each text has one that names it.
    pub(crate) fn words(&self) -> Vec<String> {
        match self {
            Identity::Element { full_name: name, is_group, .. } => {
                let name = name.rsplit('.').next().unwrap_or(name);
                let field = is_group.then(|| name.to_ascii_lowercase());
                [Some(name.to_owned()), field].into_iter().flatten().collect()
            }
            Identity::File(key) => vec![key.1.to_string()],
            Identity::Package(name) => vec![name.rsplit('.').next().unwrap_or(name).to_owned()],
        }
    }

    /// The element that it is in a tree.
    pub(crate) fn element<'t>(&self, tree: &'t Tree) -> Option<Element<'t>> {
        let Identity::Element { file, .. } = self else { return None };
        let file = tree.files().find(|it| key_of(it.decl()) == *file)?;
        file.elements().find(|it| Identity::of(MentionTarget::Element(*it)) == *self)
    }
}

/// The name at an offset, which may be right behind it.
pub(crate) fn mention_at(file: File<'_>, offset: u32) -> Option<Mention<'_>> {
    let covers = |it: &Mention<'_>| it.span.start <= offset && offset <= it.span.end;
    // Of two that touch, the one that begins here.
    file.mentions().filter(covers).min_by_key(|it| it.span.end == offset)
}

impl Analysis {
    /// What the name at an offset of a file means, and where the name stands.
    pub fn meaning_at(&self, file: &FileKey, offset: u32) -> Option<(MentionTarget<'_>, Span)> {
        let name = mention_at(self.file(file)?, offset)?;
        Some((name.means, name.span))
    }

    /// Where the name at an offset is declared: a package in many files, of which the first of each
    /// package counts.
    pub fn definition(&self, file: &FileKey, offset: u32) -> Vec<Occurrence> {
        match self.meaning_at(file, offset) {
            None => Vec::new(),
            Some((MentionTarget::Element(it), _)) => vec![declaration(it)],
            Some((MentionTarget::File(it), _)) => {
                let file = key_of(it.decl());
                vec![Occurrence { file, span: Span::default(), declares: true }]
            }
            Some((MentionTarget::Package(name), _)) => {
                let is_it =
                    |it: &Mention<'_>| it.declares && it.means == MentionTarget::Package(name);
                let packages = self.tree.packages();
                let first = packages.filter_map(|it| {
                    let file = it.files().next()?;
                    let span = file.mentions().find(is_it)?.span;
                    Some(Occurrence { file: key_of(file.decl()), span, declares: true })
                });
                first.collect()
            }
        }
    }

    /// Where the type of the name at an offset is declared: of a field the type of its values, of
    /// an enum value its enum.
    pub fn type_definition(&self, file: &FileKey, offset: u32) -> Option<Occurrence> {
        let (MentionTarget::Element(element), _) = self.meaning_at(file, offset)? else {
            return None;
        };
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
        Some(declaration(ty))
    }

    /// Where in the same file that is named which the name at an offset means.
    pub fn highlights(&self, key: &FileKey, offset: u32) -> Vec<Occurrence> {
        let Some(file) = self.file(key) else { return Vec::new() };
        let Some((meaning, _)) = self.meaning_at(key, offset) else { return Vec::new() };
        occurrences(file, &Identity::of(meaning))
    }
}

fn declaration(element: Element<'_>) -> Occurrence {
    let span = element.place(Part::Name).span;
    Occurrence { file: key_of(element.file().decl()), span, declares: true }
}

fn occurrences(file: File<'_>, identity: &Identity) -> Vec<Occurrence> {
    let named = file.mentions().filter(|it| Identity::of(it.means) == *identity);
    let mut found: Vec<Occurrence> = named
        .map(|it| Occurrence { file: key_of(file.decl()), span: it.span, declares: it.declares })
        .collect();
    // A key may name a group and its type at once.
    found.dedup();
    found
}

impl Project {
    /// Where in the tree that is declared and used which the name at an offset means, in the order
    /// of files and places.
    pub fn references(&mut self, file: &FileKey, offset: u32) -> Vec<Occurrence> {
        let Some((meaning, _)) = self.analysis().meaning_at(file, offset) else {
            return Vec::new();
        };
        let identity = Identity::of(meaning);
        let naming = self.mentioning(&identity.words());
        let tree = self.tree_of(naming.iter().cloned());
        let files = tree.files().filter(|it| naming.binary_search(&key_of(it.decl())).is_ok());
        files.flat_map(|it| occurrences(it, &identity)).collect()
    }

    /// The files whose texts have one of these words, in order.
    pub(crate) fn mentioning(&self, words: &[String]) -> Vec<FileKey> {
        let finders: Vec<_> = words.iter().map(memchr::memmem::Finder::new).collect();
        let mentions = |text: &[u8]| finders.iter().any(|it| it.find(text).is_some());
        let files = self.files.iter();
        let naming = files.filter(|(_, it)| it.decl.source_text().is_some_and(mentions));
        naming.map(|(key, _)| key.clone()).collect()
    }
}
