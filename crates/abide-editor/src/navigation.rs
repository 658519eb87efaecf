//! Finds declarations and uses.

use abide_schema::{Element, File, FileKey, Mention, MentionTarget, Part, Tree};
use abide_syntax::Span;

use crate::analysis::TreeAnalysis;
use crate::project::{Project, get_key};

/// A place where something is declared or used.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NameOccurrence {
    /// The file.
    pub file: FileKey,
    /// The span in the file: one component of a dotted name.
    pub span: Span,
    /// True if it is the declaration.
    pub declares: bool,
}

/// Something that can be found again in another tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NameIdentity {
    Element { file: FileKey, noun: &'static str, full_name: String, is_group: bool },
    File(FileKey),
    Package(String),
}

impl NameIdentity {
    pub(crate) fn from_meaning(meaning: MentionTarget<'_>) -> NameIdentity {
        match meaning {
            MentionTarget::Element(it) => {
                // A group is one with its type.
                let group = match it {
                    Element::Field(it) if it.is_group() => it.message_type().map(Element::Message),
                    _ => None,
                };
                let it = group.unwrap_or(it);
                NameIdentity::Element {
                    file: get_key(it.file().decl()),
                    noun: it.noun(),
                    full_name: it.full_name(),
                    is_group: matches!(it, Element::Message(it) if it.is_group()),
                }
            }
            MentionTarget::File(it) => NameIdentity::File(get_key(it.decl())),
            MentionTarget::Package(name) => NameIdentity::Package(name.to_owned()),
        }
    }

    /// Words of which each text has one that names it.
    pub(crate) fn collect_words(&self) -> Vec<String> {
        match self {
            NameIdentity::Element { full_name: name, is_group, .. } => {
                let name = name.rsplit('.').next().unwrap_or(name);
                let field = is_group.then(|| name.to_ascii_lowercase());
                [Some(name.to_owned()), field].into_iter().flatten().collect()
            }
            NameIdentity::File(key) => vec![key.1.to_string()],
            NameIdentity::Package(name) => vec![name.rsplit('.').next().unwrap_or(name).to_owned()],
        }
    }

    /// The element that it is in a tree.
    pub(crate) fn find_element<'t>(&self, tree: &'t Tree) -> Option<Element<'t>> {
        let NameIdentity::Element { file, .. } = self else { return None };
        let file = tree.files().find(|it| get_key(it.decl()) == *file)?;
        file.elements().find(|it| NameIdentity::from_meaning(MentionTarget::Element(*it)) == *self)
    }
}

/// The name at an offset, which may be right behind it.
pub(crate) fn find_mention(file: File<'_>, offset: u32) -> Option<Mention<'_>> {
    let covers = |it: &Mention<'_>| it.span.start <= offset && offset <= it.span.end;
    // Of two that touch, the one that begins here.
    file.mentions().filter(covers).min_by_key(|it| it.span.end == offset)
}

impl TreeAnalysis {
    /// Finds the meaning of the name at an offset of a file, and the span of the name.
    pub fn find_meaning(&self, file: &FileKey, offset: u32) -> Option<(MentionTarget<'_>, Span)> {
        let name = find_mention(self.find_file(file)?, offset)?;
        Some((name.means, name.span))
    }

    /// Finds the declarations of the name at an offset: a package in many files, of which the first
    /// of each package counts.
    pub fn find_definition(&self, file: &FileKey, offset: u32) -> Vec<NameOccurrence> {
        match self.find_meaning(file, offset) {
            None => Vec::new(),
            Some((MentionTarget::Element(it), _)) => vec![get_declaration(it)],
            Some((MentionTarget::File(it), _)) => {
                let file = get_key(it.decl());
                vec![NameOccurrence { file, span: Span::default(), declares: true }]
            }
            Some((MentionTarget::Package(name), _)) => {
                let is_it =
                    |it: &Mention<'_>| it.declares && it.means == MentionTarget::Package(name);
                let packages = self.tree.packages();
                let first = packages.filter_map(|it| {
                    let file = it.files().next()?;
                    let span = file.mentions().find(is_it)?.span;
                    Some(NameOccurrence { file: get_key(file.decl()), span, declares: true })
                });
                first.collect()
            }
        }
    }

    /// Finds the declaration of the type of the name at an offset: of a field the type of its
    /// values, of an enum value its enum.
    pub fn find_type_definition(&self, file: &FileKey, offset: u32) -> Option<NameOccurrence> {
        let (MentionTarget::Element(element), _) = self.find_meaning(file, offset)? else {
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
        Some(get_declaration(ty))
    }

    /// Finds the mentions in the same file of the element that the name at an offset means.
    pub fn find_highlights(&self, key: &FileKey, offset: u32) -> Vec<NameOccurrence> {
        let Some(file) = self.find_file(key) else { return Vec::new() };
        let Some((meaning, _)) = self.find_meaning(key, offset) else { return Vec::new() };
        collect_occurrences(file, &NameIdentity::from_meaning(meaning))
    }
}

fn get_declaration(element: Element<'_>) -> NameOccurrence {
    let span = element.place(Part::Name).span;
    NameOccurrence { file: get_key(element.file().decl()), span, declares: true }
}

fn collect_occurrences(file: File<'_>, identity: &NameIdentity) -> Vec<NameOccurrence> {
    let named = file.mentions().filter(|it| NameIdentity::from_meaning(it.means) == *identity);
    let mut found: Vec<NameOccurrence> = named
        .map(|it| NameOccurrence {
            file: get_key(file.decl()),
            span: it.span,
            declares: it.declares,
        })
        .collect();
    // A key may name a group and its type at once.
    found.dedup();
    found
}

impl Project {
    /// Finds the declarations and uses in the tree of the element that the name at an offset means,
    /// in the order of files and places.
    pub fn find_references(&mut self, file: &FileKey, offset: u32) -> Vec<NameOccurrence> {
        let Some((meaning, _)) = self.analyze().find_meaning(file, offset) else {
            return Vec::new();
        };
        let identity = NameIdentity::from_meaning(meaning);
        let naming = self.find_files_with_words(&identity.collect_words());
        let tree = self.link_tree(naming.iter().cloned());
        let files = tree.files().filter(|it| naming.binary_search(&get_key(it.decl())).is_ok());
        files.flat_map(|it| collect_occurrences(it, &identity)).collect()
    }

    /// The files whose texts have one of these words, in order.
    pub(crate) fn find_files_with_words(&self, words: &[String]) -> Vec<FileKey> {
        let finders: Vec<_> = words.iter().map(memchr::memmem::Finder::new).collect();
        let mentions = |text: &[u8]| finders.iter().any(|it| it.find(text).is_some());
        let files = self.files.iter();
        let naming = files.filter(|(_, it)| it.decl.source_text().is_some_and(mentions));
        naming.map(|(key, _)| key.clone()).collect()
    }
}
