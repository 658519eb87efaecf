//! The texts that findings point into, made safe to show.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

use abide_lint::{FeatureFile, Location, Origin};
use abide_schema::{FileId, Tree};
use abide_source::printable::{escape_unprintable, is_unprintable};
use abide_syntax::{LineIndex, Span};
use codespan_reporting::diagnostic::Diagnostic;
use codespan_reporting::files::{Error, Files};

use super::context::{RenderContext, SourceText, TextFile};

/// Texts by number: the files of the tree, then those of the old tree, then the others.
pub(super) struct SnippetSources<'a> {
    /// The number of the first file of the old tree.
    old_from: usize,
    /// The number of the first text that is of neither tree.
    others_from: usize,
    /// The number of the first instance.
    instances_from: usize,
    texts: Vec<Option<SnippetText<'a>>>,
}

struct SnippetText<'a> {
    name: &'a str,
    /// `None` for a file from a descriptor set.
    bytes: Option<&'a [u8]>,
    lines: LineSource<'a>,
    /// The text to show, computed when it is first needed.
    shown: OnceLock<Cow<'a, str>>,
}

enum LineSource<'a> {
    Of(abide_schema::File<'a>),
    Own(LineIndex),
}

impl<'a> SnippetText<'a> {
    fn of(text: SourceText<'a>) -> SnippetText<'a> {
        let lines = match text {
            SourceText::Proto(file) => LineSource::Of(file),
            SourceText::Features(FeatureFile { text, .. })
            | SourceText::Other(TextFile { text, .. }) => {
                LineSource::Own(LineIndex::new(text.as_bytes()))
            }
        };
        SnippetText { name: text.name(), bytes: text.bytes(), lines, shown: OnceLock::new() }
    }

    fn index(&self) -> &LineIndex {
        match &self.lines {
            LineSource::Of(file) => file.decl().line_index(),
            LineSource::Own(index) => index,
        }
    }

    /// The text to show. Each byte that is not UTF-8, or that a terminal would act on, is replaced
    /// by a question mark, so that offsets stay the same.
    fn text(&self) -> &str {
        self.shown.get_or_init(|| {
            let bytes = self.bytes.unwrap_or_default();
            match std::str::from_utf8(bytes) {
                Ok(text) if !has_hidden(text) && !has_lone_return(bytes) => text.into(),
                _ => {
                    let mut text = String::with_capacity(bytes.len());
                    for chunk in bytes.utf8_chunks() {
                        let mut chars = chunk.valid().chars().peekable();
                        while let Some(c) = chars.next() {
                            if is_hidden(c) || c == '\r' && chars.peek() != Some(&'\n') {
                                text.extend(std::iter::repeat_n('?', c.len_utf8()));
                            } else {
                                text.push(c);
                            }
                        }
                        text.extend(chunk.invalid().iter().map(|_| '?'));
                    }
                    text.into()
                }
            }
        })
    }
}

impl<'a> SnippetSources<'a> {
    /// A single text, as number 0.
    pub(super) fn from_text(file: &'a TextFile) -> SnippetSources<'a> {
        let texts = vec![Some(SnippetText::of(SourceText::Other(file)))];
        SnippetSources { old_from: 0, others_from: 0, instances_from: 0, texts }
    }

    pub(super) fn new(context: &RenderContext<'a>) -> SnippetSources<'a> {
        let mut origins: Vec<Origin> = file_ids(context.tree).map(Origin::Tree).collect();
        let old_from = origins.len();
        let old_trees = context.old.into_iter().chain(context.older.iter().map(|it| &it.tree));
        let old_count = old_trees.map(|it| it.files().count() as u32).sum();
        origins.extend((0..old_count).map(|id| Origin::Old(FileId(id))));
        let others_from = origins.len();
        origins.extend([Origin::Config, Origin::Accepted]);
        origins.extend((0..context.features.len()).map(|it| Origin::Features(it as u32)));
        let instances_from = origins.len();
        origins.extend((0..context.instances.len()).map(|it| Origin::Instance(it as u32)));
        let texts =
            origins.into_iter().map(|it| context.find_text(it).map(SnippetText::of)).collect();
        SnippetSources { old_from, others_from, instances_from, texts }
    }

    fn text(&self, id: usize) -> Option<&SnippetText<'a>> {
        self.texts.get(id)?.as_ref()
    }

    /// The text and span of a location, if there is text to show for it.
    pub(super) fn locate(&self, location: &Location) -> Option<(usize, Span)> {
        let id = match location.origin {
            Origin::Tree(FileId(id)) => id as usize,
            Origin::Old(FileId(id)) => self.old_from + id as usize,
            Origin::Config => self.others_from,
            Origin::Accepted => self.others_from + 1,
            Origin::Features(index) => self.others_from + 2 + index as usize,
            Origin::Instance(index) => self.instances_from + index as usize,
        };
        self.text(id)?.bytes.map(|_| (id, location.span))
    }

    /// A span up to the end of its first line: a whole message would fill the screen.
    pub(super) fn clip_to_first_line(&self, id: usize, span: Span) -> Range<usize> {
        let Some(text) = self.text(id) else { return 0..0 };
        let rest = span.of(text.bytes.unwrap_or_default());
        let length = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        span.start as usize..span.start as usize + length
    }

    /// The excerpt to show for a diagnostic. A long line is cut to the part around its first label.
    /// Labels too far from it become notes, and labels are shortened to what is shown.
    pub(super) fn extract(&self, diagnostic: &mut Diagnostic<usize>) -> SourceExcerpt<'_, 'a> {
        let mut cuts: BTreeMap<(usize, usize), Range<usize>> = BTreeMap::new();
        let (mut labels, mut notes) = (Vec::new(), Vec::new());
        for mut label in std::mem::take(&mut diagnostic.labels) {
            let id = label.file_id;
            let line = self.line_index(id, label.range.start);
            let range = line.and_then(|line| Ok((line, self.line_range(id, line)?)));
            let (Ok((line, range)), Ok(text)) = (range, self.source(id)) else { continue };
            if range.len() <= LONG_LINE {
                labels.push(label);
                continue;
            }
            label.range.end = label.range.end.min(range.end).min(label.range.start + LONG_LINE / 2);
            label.range.end = text.floor_char_boundary(label.range.end).max(label.range.start);
            let from = label.range.start.saturating_sub(AROUND).max(range.start);
            let to = (label.range.end + AROUND).min(range.end);
            let around = text.floor_char_boundary(from)..text.ceil_char_boundary(to);
            let cut = cuts.entry((id, line)).or_insert(around.clone());
            let both = cut.start.min(around.start)..cut.end.max(around.end);
            if both.len() <= LONG_LINE {
                *cut = both;
                labels.push(label);
            } else if let (Ok(name), Ok(place)) =
                (self.name(id), self.location(id, label.range.start))
            {
                let at = format!("{name}:{}:{}", place.line_number, place.column_number);
                notes.push(format!("{at}: {}", label.message));
            }
        }
        diagnostic.labels = labels;
        diagnostic.notes.splice(0..0, notes);
        SourceExcerpt { sources: self, cuts }
    }
}

fn file_ids(tree: &Tree) -> impl Iterator<Item = FileId> {
    tree.files().map(|file| file.id)
}

/// The length in bytes from which a line is cut.
const LONG_LINE: usize = 1000;

/// The number of bytes of a long line that are shown on each side of a label.
const AROUND: usize = 80;

/// The part of the texts that one diagnostic shows.
pub(super) struct SourceExcerpt<'s, 'a> {
    sources: &'s SnippetSources<'a>,
    /// The part of a long line to show, by text and line.
    cuts: BTreeMap<(usize, usize), Range<usize>>,
}

impl<'f> Files<'f> for SourceExcerpt<'_, '_> {
    type FileId = usize;
    type Name = String;
    type Source = &'f str;

    fn name(&'f self, id: usize) -> Result<String, Error> {
        self.sources.name(id)
    }

    fn source(&'f self, id: usize) -> Result<&'f str, Error> {
        self.sources.source(id)
    }

    fn line_index(&'f self, id: usize, byte: usize) -> Result<usize, Error> {
        self.sources.line_index(id, byte)
    }

    fn column_number(&'f self, id: usize, line: usize, byte: usize) -> Result<usize, Error> {
        self.sources.column_number(id, line, byte)
    }

    fn line_range(&'f self, id: usize, line: usize) -> Result<Range<usize>, Error> {
        if let Some(cut) = self.cuts.get(&(id, line)) {
            return Ok(cut.clone());
        }
        let range = self.sources.line_range(id, line)?;
        let end = self.source(id)?.floor_char_boundary(range.end.min(range.start + LONG_LINE));
        Ok(range.start..end)
    }
}

/// Returns true if a terminal would act on the character.
fn is_hidden(c: char) -> bool {
    is_unprintable(c) && !matches!(c, '\n' | '\t' | '\r')
}

fn has_hidden(text: &str) -> bool {
    /// Only parts with more than plain ASCII are read by character, and they are rare.
    const PART: usize = 256;
    let parts = (0..).step_by(PART).zip(text.as_bytes().chunks(PART));
    let mut strange = parts.filter(|(_, part)| !is_plain_ascii(part));
    strange.any(|(at, _)| {
        let part = text.floor_char_boundary(at)..text.ceil_char_boundary(at + PART);
        text[part].contains(is_hidden)
    })
}

/// Returns true if a text has nothing but printable ASCII, tabs and line feeds. Without branches,
/// so that the compiler vectorises it.
fn is_plain_ascii(text: &[u8]) -> bool {
    text.iter().fold(0, |any, byte| {
        let is_odd = byte.wrapping_sub(b' ') > b'~' - b' ';
        any | u8::from(is_odd & (*byte != b'\n') & (*byte != b'\t'))
    }) == 0
}

/// Returns true if a carriage return stands without a line feed: it would overwrite its line.
fn has_lone_return(text: &[u8]) -> bool {
    memchr::memchr_iter(b'\r', text).any(|at| text.get(at + 1) != Some(&b'\n'))
}

impl<'f> Files<'f> for SnippetSources<'_> {
    type FileId = usize;
    type Name = String;
    type Source = &'f str;

    fn name(&'f self, id: usize) -> Result<String, Error> {
        // A name may contain a line feed; a line of a report may not.
        let name = escape_unprintable(self.text(id).ok_or(Error::FileMissing)?.name);
        let old = (self.old_from..self.others_from).contains(&id);
        Ok(if old { format!("{name} (old)") } else { name })
    }

    fn source(&'f self, id: usize) -> Result<&'f str, Error> {
        Ok(self.text(id).ok_or(Error::FileMissing)?.text())
    }

    fn line_index(&'f self, id: usize, byte: usize) -> Result<usize, Error> {
        Ok(self.text(id).ok_or(Error::FileMissing)?.index().line(byte as u32) as usize)
    }

    fn column_number(&'f self, id: usize, _: usize, byte: usize) -> Result<usize, Error> {
        let text = self.text(id).ok_or(Error::FileMissing)?;
        Ok(text.index().position(text.bytes.unwrap_or_default(), byte as u32).column as usize)
    }

    fn line_range(&'f self, id: usize, line: usize) -> Result<Range<usize>, Error> {
        let text = self.text(id).ok_or(Error::FileMissing)?;
        let index = text.index();
        let length = text.bytes.unwrap_or_default().len();
        let start = index
            .line_start(line as u32)
            .ok_or(Error::LineTooLarge { given: line, max: index.line_count() as usize })?;
        let end = index.line_start(line as u32 + 1).map_or(length, |end| end as usize);
        Ok(start as usize..end)
    }
}
