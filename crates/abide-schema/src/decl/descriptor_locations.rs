//! Places in a file that was read from a descriptor.

use std::sync::{Arc, OnceLock};

use abide_syntax::{Position, Span};

use crate::decl::attached_comments::{AttachedComments, Comment};
use crate::decl::part::{Node, Part};
use crate::protobuf::descriptor_number::{
    enumeration, field, file, location, message, method, source_info, value,
};
use crate::protobuf::{WireError, WirePayload, WireReader};

/// The kind of an element of a descriptor, which decides the parts it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LocationKind {
    /// Its location is that of its name.
    Statement,
    Named,
    Field,
    EnumValue,
    Method,
}

/// An element of a descriptor: where it stands among those that enclose it.
#[derive(Clone, Copy, Debug)]
struct LocatedElement {
    /// The element that encloses it; [`Node::NONE`] for the file.
    parent: Node,
    kind: LocationKind,
    /// The field of the parent's descriptor that holds it.
    number: u32,
    /// Its index in that field, where that is repeated.
    index: Option<u32>,
}

/// The source info of a FileDescriptorProto, as far as it has one.
///
/// A [`Span`] of such a file counts locations of its source info, not bytes:
/// it reaches from the start of its first location to the end of its last.
#[derive(Clone, Debug, Default)]
pub struct DescriptorLocations {
    bytes: Arc<[u8]>,
    source_info: Option<Span>,
    elements: Vec<LocatedElement>,
    index: OnceLock<LocationIndex>,
}

/// The locations of a file, read when first asked for.
#[derive(Clone, Debug, Default)]
struct LocationIndex {
    /// The components of all paths.
    paths: Vec<u32>,
    /// In the order of the source info, which is that of the text.
    locations: Vec<IndexedLocation>,
    /// Indices of locations, sorted by path; of equal paths the first is
    /// first.
    by_path: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct IndexedLocation {
    /// Its path, in [`Index::paths`].
    path: Span,
    start: Position,
    end: Position,
    /// Its serialised message.
    record: Span,
}

impl DescriptorLocations {
    pub(crate) fn new(bytes: Arc<[u8]>) -> DescriptorLocations {
        DescriptorLocations { bytes, ..DescriptorLocations::default() }
    }

    pub(crate) fn set_source_info(&mut self, span: Span) {
        self.source_info = Some(span);
    }

    /// Notes an element of the file.
    pub(crate) fn add(
        &mut self,
        parent: Node,
        kind: LocationKind,
        number: u32,
        index: Option<u32>,
    ) -> Node {
        self.elements.push(LocatedElement { parent, kind, number, index });
        Node(self.elements.len() as u32 - 1)
    }

    /// The lines and columns that a span of this file stands for.
    pub(crate) fn lines(&self, span: Span) -> Option<(Position, Position)> {
        let locations = self.index().locations.get(span.range())?;
        // Source info may be made up: no place ends before it begins.
        let start = locations.first()?.start;
        Some((start, locations.last()?.end.max(start)))
    }

    /// The path of the first location of a span of this file, as
    /// `SourceCodeInfo.Location.path` describes it; empty for no location.
    pub fn path_at(&self, span: Span) -> Vec<u32> {
        let index = self.index();
        let locations = index.locations.get(span.range()).unwrap_or_default();
        if locations.is_empty() { Vec::new() } else { index.path(span.start).to_vec() }
    }

    /// The elements inside a span of this file, as a span that lies inside those of
    /// what encloses it. Spans themselves do not nest: each counts locations, and
    /// an element has only one.
    pub(crate) fn extent(&self, span: Span) -> Span {
        let index = self.index();
        let path = self.path_at(span);
        let path_of = |location: u32| index.path(location);
        let start = index.by_path.partition_point(|&it| path_of(it) < &path[..]);
        let inside = index.by_path[start..].partition_point(|&it| path_of(it).starts_with(&path));
        Span::new(start as u32, (start + inside) as u32)
    }

    /// Returns true if a text is in any comment, or looks as if it were.
    pub fn contains_in_comments(&self, text: &str) -> bool {
        let Some(span) = self.source_info else { return false };
        memchr::memmem::find(span.of(&self.bytes), text.as_bytes()).is_some()
    }

    /// The comments with the span of what each is attached to; `None` where that is
    /// the `syntax`, `edition` or `package` statement of the file.
    pub fn iter_comments(&self) -> impl Iterator<Item = (Option<Span>, AttachedComments)> {
        let index = self.index();
        index.locations.iter().zip(0..).filter_map(move |(location, at)| {
            // The index holds locations that were read to their end.
            let comments = read_comments(&self.bytes, location.record).unwrap_or_default();
            let is_of_file =
                matches!(index.path(at), [file::SYNTAX | file::EDITION | file::PACKAGE]);
            let span = (!is_of_file).then(|| Span::new(at, at + 1));
            (comments != AttachedComments::default()).then_some((span, comments))
        })
    }

    /// Returns the place of the serialised source info in the file's bytes.
    pub(crate) fn serialized_span(&self) -> Option<Span> {
        self.source_info
    }

    /// The comments of an element.
    pub(crate) fn find_comments(&self, node: Node) -> AttachedComments {
        self.read_comments_at(node, &[])
    }

    /// The comments of the location with this path below an element, or below the file for
    /// [`Node::NONE`].
    pub(crate) fn read_comments_at(&self, node: Node, path: &[u32]) -> AttachedComments {
        let index = self.index();
        let path = [&self.path(node), path].concat();
        let location = index.find(&path).and_then(|at| index.locations.get(at as usize));
        let Some(location) = location else { return AttachedComments::default() };
        // The index holds locations that were read to their end.
        read_comments(&self.bytes, location.record).unwrap_or_default()
    }

    /// The span of a part of an element, or else of the element, or else of
    /// what encloses it; empty where the source info has none of these.
    pub(crate) fn span(&self, node: Node, part: Part) -> Span {
        let index = self.index();
        let mut path = self.path(node);
        let kind = self.elements.get(node.0 as usize).map(|element| element.kind);
        for &number in kind.map_or(&[][..], |kind| path_suffixes(kind, part)) {
            path.push(number);
            let found = index.find(&path);
            path.pop();
            let Some(found) = found else { continue };
            return match (part, index.find(&path)) {
                (Part::Head, Some(whole)) => Span::new(whole.min(found), found + 1),
                _ => Span::new(found, found + 1),
            };
        }
        while !path.is_empty() {
            if let Some(found) = index.find(&path) {
                return Span::new(found, found + 1);
            }
            path.pop();
        }
        Span::default()
    }

    /// The span of the first location with a path.
    pub(crate) fn find_location(&self, path: &[u32]) -> Option<Span> {
        self.index().find(path).map(|found| Span::new(found, found + 1))
    }

    /// The path of an element, as `SourceCodeInfo.Location.path` describes it.
    pub(crate) fn path(&self, mut node: Node) -> Vec<u32> {
        let mut path = Vec::new();
        // Elements stand behind those that enclose them.
        while let Some(element) = self.elements.get(node.0 as usize) {
            path.extend(element.index);
            path.push(element.number);
            node = element.parent;
        }
        path.reverse();
        path
    }

    fn index(&self) -> &LocationIndex {
        self.index.get_or_init(|| match self.source_info {
            // What was read before a malformed location is kept; `check` says
            // what is wrong.
            Some(span) => LocationIndex::read(&self.bytes, span),
            None => LocationIndex::default(),
        })
    }

    /// Returns true if all of the source info is well-formed.
    pub(crate) fn check(&self) -> Result<(), WireError> {
        let Some(span) = self.source_info else { return Ok(()) };
        let mut reader = WireReader::new(&self.bytes, span);
        let mut path = Vec::new();
        while let Some(record) = reader.next_record()? {
            if let (source_info::LOCATION, WirePayload::Bytes(span)) =
                (record.number, record.payload)
            {
                path.clear();
                read_location(&self.bytes, span, &mut path)?;
                read_comments(&self.bytes, span)?;
            }
        }
        Ok(())
    }
}

/// The fields of an element's descriptor that may hold a part of it.
fn path_suffixes(kind: LocationKind, part: Part) -> &'static [u32] {
    // Every element that has a name has it as field 1.
    const { assert!(message::NAME == 1 && field::NAME == 1 && enumeration::NAME == 1) };
    match (kind, part) {
        (LocationKind::Statement, _) => &[],
        (_, Part::Name | Part::Head) => &[message::NAME],
        (LocationKind::Field, Part::Number) => &[field::NUMBER],
        (LocationKind::EnumValue, Part::Number) => &[value::NUMBER],
        (LocationKind::Field, Part::Type) => &[field::TYPE_NAME, field::TYPE],
        (LocationKind::Field, Part::Label) => &[field::LABEL],
        (LocationKind::Field, Part::Extendee) => &[field::EXTENDEE],
        (LocationKind::Field, Part::Default) => &[field::DEFAULT],
        (LocationKind::Field, Part::JsonName) => &[field::JSON_NAME],
        (LocationKind::Method, Part::Input) => &[method::INPUT],
        (LocationKind::Method, Part::Output) => &[method::OUTPUT],
        _ => &[],
    }
}

impl LocationIndex {
    fn read(bytes: &[u8], span: Span) -> LocationIndex {
        let mut index = LocationIndex::default();
        let mut reader = WireReader::new(bytes, span);
        while let Ok(Some(record)) = reader.next_record() {
            let (source_info::LOCATION, WirePayload::Bytes(span)) = (record.number, record.payload)
            else {
                continue;
            };
            let from = index.paths.len() as u32;
            let Ok(position) = read_location(bytes, span, &mut index.paths) else { break };
            let path = Span::new(from, index.paths.len() as u32);
            let Some((start, end)) = position else { continue };
            index.locations.push(IndexedLocation { path, start, end, record: span });
        }
        let mut by_path: Vec<u32> = (0..index.locations.len() as u32).collect();
        by_path.sort_by(|&a, &b| index.path(a).cmp(index.path(b)));
        index.by_path = by_path;
        index
    }

    fn path(&self, location: u32) -> &[u32] {
        &self.paths[self.locations[location as usize].path.range()]
    }

    /// The first location with a path.
    fn find(&self, path: &[u32]) -> Option<u32> {
        let at = self.by_path.partition_point(|&location| self.path(location) < path);
        let &location = self.by_path.get(at)?;
        (self.path(location) == path).then_some(location)
    }
}

/// The positions of a location, and its path onto `path`; `None` for a
/// location whose span has neither three nor four numbers.
fn read_location(
    bytes: &[u8],
    location: Span,
    path: &mut Vec<u32>,
) -> Result<Option<(Position, Position)>, WireError> {
    let mut numbers = Vec::with_capacity(4);
    let mut reader = WireReader::new(bytes, location);
    while let Some(record) = reader.next_record()? {
        let target = match record.number {
            location::PATH => &mut *path,
            location::SPAN => &mut numbers,
            _ => continue,
        };
        match record.payload {
            WirePayload::Varint(number) => target.push(number as u32),
            WirePayload::Bytes(packed) => {
                let mut packed = WireReader::new(bytes, packed);
                while let Some(number) = packed.next_varint()? {
                    target.push(number as u32);
                }
            }
            _ => {}
        }
    }
    let position = |line: u32, column: u32| Position {
        line: line.saturating_add(1),
        column: column.saturating_add(1),
    };
    Ok(match numbers[..] {
        [line, start, end] => Some((position(line, start), position(line, end))),
        [first, start, last, end] => Some((position(first, start), position(last, end))),
        _ => None,
    })
}

fn read_comments(bytes: &[u8], location: Span) -> Result<AttachedComments, WireError> {
    let mut comments = AttachedComments::default();
    let mut reader = WireReader::new(bytes, location);
    while let Some(record) = reader.next_record()? {
        let WirePayload::Bytes(text) = record.payload else { continue };
        let text = String::from_utf8_lossy(text.of(bytes)).into_owned();
        let comment = Comment { text, span: Span::default() };
        match record.number {
            location::LEADING => comments.leading = Some(comment),
            location::TRAILING => comments.trailing = Some(comment),
            location::DETACHED => comments.detached.push(comment),
            _ => {}
        }
    }
    Ok(comments)
}
