//! YAML to the values of JSON that it stands for, with places.
//! Source: YAML 1.2.2; what plain words mean is in `yaml/plain.rs`.

mod plain;

use std::borrow::Cow;
use std::collections::HashMap;

use abide_schema::value::{JsonKind, JsonMember, JsonNode, ReadError, ReadErrorKind};
use abide_syntax::Span;
use granit_parser::{Event, Parser, ScalarStyle, Tag, options};

use super::notation::Dialect;

/// Mappings and sequences may nest this deep, as objects and arrays of JSON may.
const fn get_max_levels(dialect: Dialect) -> u32 {
    match dialect {
        Dialect::Protobuf => 201,
        Dialect::Envoy => 100,
    }
}

/// This many values may come of aliases in one text. A long text counts as many.
const MAX_FROM_ALIASES: usize = 1_000_000;
/// So many bytes of a text count as one value.
const BYTES_OF_VALUE: usize = 64;
/// This many values may have anchors, those inside of others counted again.
const MAX_ANCHORED: usize = 4 * MAX_FROM_ALIASES;

/// A text of YAML.
#[derive(Debug, Default)]
pub(crate) struct YamlText<'t> {
    /// Its documents, in their order; of one that is malformed, what comes before
    /// the error.
    pub(crate) documents: Vec<JsonNode<'t>>,
    /// Its comments, in their order, from `#` to the end of the line.
    pub(crate) comments: Vec<Span>,
    /// The errors.
    pub(crate) errors: Vec<ReadError>,
    /// The values that only this dialect takes.
    pub(crate) liberties: Vec<ReadError>,
}

/// Reads a text of YAML. A document that is malformed is left out; those behind
/// it are read.
pub(crate) fn parse(text: &str, dialect: Dialect) -> YamlText<'_> {
    parse_with(text, dialect, RepeatedKeys::AsDialect)
}

/// Reads a text of YAML with all that it holds, values that do not count as well.
pub(crate) fn parse_whole(text: &str, dialect: Dialect) -> YamlText<'_> {
    parse_with(text, dialect, RepeatedKeys::Kept)
}

/// What becomes of members whose key is set again below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RepeatedKeys {
    /// They are left out if the dialect passes over them.
    AsDialect,
    Kept,
}

fn parse_with(text: &str, dialect: Dialect, repeated: RepeatedKeys) -> YamlText<'_> {
    // One level more, so that the limit is ours to report.
    let limit = get_max_levels(dialect) as usize + 1;
    // Comments are bounded by the text that they stand in.
    let options = options! {
        max_buffered_comment_events: text.len(),
        flow_nesting_limit: limit,
        block_nesting_limit: limit,
        emit_unresolved_aliases: true,
    };
    let mut reader = YamlReader {
        parser: Parser::new_from_str_with_options(text, options),
        text,
        dialect,
        repeated,
        anchors: HashMap::new(),
        from_aliases: 0,
        anchored: 0,
        out: YamlText::default(),
    };
    reader.read_documents();
    reader.out
}

/// The value of JSON that the first document of a text stands for, and what is malformed in the
/// text.
pub fn read_yaml_value(text: &str) -> (Option<JsonNode<'_>>, Vec<ReadError>) {
    let YamlText { documents, errors, .. } = parse(text, Dialect::Protobuf);
    (documents.into_iter().next(), errors)
}

struct YamlReader<'t> {
    parser: Parser<'t, granit_parser::StrInput<'t>>,
    text: &'t str,
    dialect: Dialect,
    repeated: RepeatedKeys,
    /// The values with an anchor in this document.
    anchors: HashMap<usize, AnchoredValue<'t>>,
    from_aliases: usize,
    anchored: usize,
    out: YamlText<'t>,
}

/// A value that aliases can repeat.
struct AnchoredValue<'t> {
    node: JsonNode<'t>,
    /// The number of values, with those inside.
    size: usize,
    /// The depth of its nesting.
    levels: u32,
}

/// A collection under construction: a mapping or sequence that has not ended.
struct OpenCollection<'t> {
    start: Span,
    anchor: usize,
    content: CollectionContent<'t>,
    size: usize,
    levels: u32,
}

enum CollectionContent<'t> {
    Sequence(Vec<JsonNode<'t>>),
    /// The members, and the key whose value is next.
    Mapping(Vec<JsonMember<'t>>, Option<(Cow<'t, str>, Span)>),
}

/// The rest of the document is no use.
struct BrokenDocument;

impl<'t> YamlReader<'t> {
    fn read_documents(&mut self) {
        loop {
            match self.read_document() {
                Ok(true) => {}
                Ok(false) => return,
                Err(BrokenDocument) => {
                    if !matches!(self.parser.proceed_next_document(), Ok(true)) {
                        return;
                    }
                }
            }
        }
    }

    fn report_error(&mut self, span: Span, message: impl Into<String>) {
        self.out.errors.push(ReadError::new(ReadErrorKind::Syntax, span, message));
    }

    /// Reads up to the end of the next document; false if there is none.
    fn read_document(&mut self) -> Result<bool, BrokenDocument> {
        let mut open: Vec<OpenCollection<'t>> = Vec::new();
        loop {
            let (event, place) = match self.parser.next_event() {
                None => return Ok(false),
                Some(Ok(it)) => it,
                Some(Err(error)) => {
                    let at = error.marker().byte_offset().unwrap_or(self.text.len());
                    self.report_error(Span::at(at as u32), error.info());
                    return Err(BrokenDocument);
                }
            };
            let range = place.byte_range().unwrap_or_default();
            let span = Span { start: range.start as u32, end: range.end as u32 };
            match event {
                Event::StreamStart | Event::DocumentStart(..) | Event::Anchor(..) => {}
                Event::StreamEnd => return Ok(false),
                Event::DocumentEnd => {
                    self.anchors.clear();
                    return Ok(true);
                }
                Event::Comment(..) => self.out.comments.push(span),
                Event::SequenceStart(_, anchor, tag) => {
                    self.open_collection(
                        &mut open,
                        CollectionContent::Sequence(Vec::new()),
                        anchor,
                        tag,
                        span,
                    )?;
                }
                Event::MappingStart(_, anchor, tag) => {
                    self.open_collection(
                        &mut open,
                        CollectionContent::Mapping(Vec::new(), None),
                        anchor,
                        tag,
                        span,
                    )?;
                }
                Event::SequenceEnd | Event::MappingEnd => {
                    let Some(ended) = open.pop() else { return Err(BrokenDocument) };
                    let end = if span.end > ended.start.start { span.end } else { ended.start.end };
                    let kind = match ended.content {
                        CollectionContent::Sequence(elements) => JsonKind::Array(elements),
                        CollectionContent::Mapping(members, _) => {
                            JsonKind::Object(self.drop_repeated_members(members))
                        }
                    };
                    let node = JsonNode { span: Span { start: ended.start.start, end }, kind };
                    let (size, levels) = (ended.size, ended.levels + 1);
                    self.add_value(&mut open, node, ended.anchor, size, levels)?;
                }
                Event::Scalar(value, style, anchor, tag) => {
                    let size = 1 + value.len() / BYTES_OF_VALUE;
                    let node = JsonNode { span, kind: self.read_scalar(value, style, tag, span)? };
                    self.add_value(&mut open, node, anchor, size, 0)?;
                }
                Event::Alias(id) => self.repeat_anchored(&mut open, id, span)?,
                Event::UnresolvedAlias(name) => {
                    self.report_error(
                        span,
                        format!("no anchor `&{name}` stands before this alias"),
                    );
                    return Err(BrokenDocument);
                }
                _ => {}
            }
        }
    }

    /// Begins a mapping or sequence.
    fn open_collection(
        &mut self,
        open: &mut Vec<OpenCollection<'t>>,
        content: CollectionContent<'t>,
        anchor: usize,
        tag: Option<Cow<'t, Tag>>,
        span: Span,
    ) -> Result<(), BrokenDocument> {
        let expected = match content {
            CollectionContent::Sequence(_) => "seq",
            CollectionContent::Mapping(..) => "map",
        };
        if let Some(tag) = tag
            && tag.core_suffix() != Some(expected)
        {
            self.report_unknown_tag(&tag, span)?;
        }
        if let Some(OpenCollection { content: CollectionContent::Mapping(_, None), .. }) =
            open.last()
        {
            self.report_error(span, "a key is one word or a quoted text, not a list or a mapping");
            return Err(BrokenDocument);
        }
        if open.len() as u32 >= get_max_levels(self.dialect) {
            self.report_too_deep(span);
            return Err(BrokenDocument);
        }
        open.push(OpenCollection { start: span, anchor, content, size: 1, levels: 0 });
        Ok(())
    }

    fn report_too_deep(&mut self, span: Span) {
        let levels = get_max_levels(self.dialect);
        let message = format!("values nest deeper than {levels} levels");
        self.out.errors.push(ReadError::new(ReadErrorKind::TooDeep, span, message));
    }

    /// A tag that says nothing to this reader.
    fn report_unknown_tag(&mut self, tag: &Tag, span: Span) -> Result<(), BrokenDocument> {
        let tag = tag.original();
        if self.dialect == Dialect::Envoy {
            let text = format!("Envoy ignores the tag `{tag}`");
            self.out.liberties.push(ReadError::new(ReadErrorKind::Leniency, span, text));
            return Ok(());
        }
        self.report_error(span, format!("the tag `{tag}` has no meaning here"));
        Err(BrokenDocument)
    }

    /// The members that count: for Envoy, of those with the same key only the last.
    fn drop_repeated_members(&mut self, mut members: Vec<JsonMember<'t>>) -> Vec<JsonMember<'t>> {
        if self.dialect != Dialect::Envoy || self.repeated == RepeatedKeys::Kept {
            return members;
        }
        let mut last: HashMap<&str, Span> = HashMap::new();
        let mut dropped = Vec::new();
        for (at, member) in members.iter().enumerate().rev() {
            let Some(key) = last.get(&*member.key) else {
                last.insert(&member.key, member.key_span);
                continue;
            };
            let text = format!("`{}` is set again below; Envoy takes the last", member.key);
            self.out.liberties.push(ReadError {
                related: Some((*key, "this value counts".to_owned())),
                ..ReadError::new(ReadErrorKind::Leniency, member.key_span, text)
            });
            dropped.push(at);
        }
        dropped.into_iter().for_each(|at| drop(members.remove(at)));
        members
    }

    /// Puts a value in its place: into the innermost mapping or sequence, else it
    /// is the document.
    fn add_value(
        &mut self,
        open: &mut [OpenCollection<'t>],
        node: JsonNode<'t>,
        anchor: usize,
        size: usize,
        levels: u32,
    ) -> Result<(), BrokenDocument> {
        if anchor != 0 {
            self.anchored += size;
            if self.anchored > MAX_ANCHORED {
                let text = format!("anchors stand for more than {MAX_ANCHORED} values");
                self.report_error(node.span, text);
                return Err(BrokenDocument);
            }
            self.anchors.insert(anchor, AnchoredValue { node: node.clone(), size, levels });
        }
        let Some(parent) = open.last_mut() else {
            self.out.documents.push(node);
            return Ok(());
        };
        parent.size += size;
        parent.levels = parent.levels.max(levels);
        match &mut parent.content {
            CollectionContent::Sequence(elements) => elements.push(node),
            CollectionContent::Mapping(members, key) => match key.take() {
                Some((name, key_span)) => {
                    members.push(JsonMember { key: name, key_span, value: node });
                }
                None => {
                    let text = match node.kind {
                        JsonKind::String(text) => text,
                        JsonKind::Null if self.dialect == Dialect::Envoy => "null".into(),
                        // As it is written: `1` and `true` are keys of maps.
                        JsonKind::Null | JsonKind::Bool(_) | JsonKind::Number(_) => {
                            Cow::Borrowed(self.text.get(node.span.range()).unwrap_or_default())
                        }
                        JsonKind::Array(_) | JsonKind::Object(_) => {
                            self.report_error(node.span, "a key is one word or a quoted text");
                            return Err(BrokenDocument);
                        }
                    };
                    *key = Some((text, node.span));
                }
            },
        }
        Ok(())
    }

    /// Repeats the value of an anchor. Values inside it keep their places; the
    /// whole stands where the alias does.
    fn repeat_anchored(
        &mut self,
        open: &mut [OpenCollection<'t>],
        id: usize,
        span: Span,
    ) -> Result<(), BrokenDocument> {
        let Some(anchored) = self.anchors.get(&id) else {
            self.report_error(span, "this alias stands inside of what it repeats");
            return Err(BrokenDocument);
        };
        let (size, levels) = (anchored.size, anchored.levels);
        self.from_aliases += size;
        if self.from_aliases > MAX_FROM_ALIASES {
            let text = format!("aliases repeat more than {MAX_FROM_ALIASES} values");
            self.report_error(span, text);
            return Err(BrokenDocument);
        }
        if open.len() as u32 + levels > get_max_levels(self.dialect) {
            self.report_too_deep(span);
            return Err(BrokenDocument);
        }
        let node = JsonNode { span, kind: anchored.node.kind.clone() };
        self.add_value(open, node, 0, size, levels)
    }

    /// Reads a scalar.
    fn read_scalar(
        &mut self,
        value: Cow<'t, str>,
        style: ScalarStyle,
        tag: Option<Cow<'t, Tag>>,
        span: Span,
    ) -> Result<JsonKind<'t>, BrokenDocument> {
        let Some(tag) = tag else {
            return Ok(match style {
                ScalarStyle::Plain => plain::read_plain(value, self.dialect),
                _ => JsonKind::String(value),
            });
        };
        let is_plain = style == ScalarStyle::Plain;
        let kind = match (tag.core_suffix(), tag.original_handle(), tag.suffix()) {
            // A lone `!` says that the scalar is no plain word.
            (None, "", "!") => JsonKind::String(value),
            _ if self.dialect == Dialect::Envoy => {
                self.report_unknown_tag(&tag, span)?;
                match is_plain {
                    true => plain::read_plain(value, self.dialect),
                    false => JsonKind::String(value),
                }
            }
            (Some("str"), ..) => JsonKind::String(value),
            (Some("int" | "float" | "bool" | "null"), ..) => plain::read_plain(value, self.dialect),
            _ if tag.suffix_in_namespace("tag:yaml.org,2002:").as_deref() == Some("binary") => {
                JsonKind::String(value.split_ascii_whitespace().collect::<String>().into())
            }
            _ => {
                self.report_unknown_tag(&tag, span)?;
                JsonKind::String(value)
            }
        };
        Ok(kind)
    }
}

#[cfg(test)]
mod tests;
