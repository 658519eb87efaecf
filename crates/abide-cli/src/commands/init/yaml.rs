//! The part of YAML that configurations need: texts, lists and maps, each with its place.

use std::collections::BTreeMap;

use abide_lint::ConfigError;
use abide_syntax::Span;
use granit_parser::{Event, Parser, options};

/// More values than this are no configuration: a few lines of aliases can stand for more than fits
/// into memory.
const MAX_VALUES: usize = 100_000;

const TOO_MUCH: &str = "the aliases stand for too many values";

/// The key of a map that takes over the entries of another one.
const MERGE: &str = "<<";

/// A value and its place.
#[derive(Clone, Debug)]
pub(super) struct YamlNode {
    /// The line, counted from 1.
    pub(super) line: usize,
    pub(super) span: Span,
    pub(super) value: YamlValue,
    /// The number of values that it consists of.
    size: usize,
}

/// A value.
#[derive(Clone, Debug)]
pub(super) enum YamlValue {
    /// A scalar, as it is written: `true` and `"true"` are the same.
    Text(String),
    List(Vec<YamlNode>),
    /// Keys and values, in the order of the text. A key occurs once.
    Map(Vec<(YamlNode, YamlNode)>),
}

/// A list or a map that is not closed yet. The nodes of a map are its keys and values in turn.
struct OpenNode {
    line: usize,
    span: Span,
    is_map: bool,
    anchor: usize,
    nodes: Vec<YamlNode>,
}

/// Reads the first document; `None` if it is empty.
pub(super) fn read(text: &str) -> Result<Option<YamlNode>, ConfigError> {
    let mut left = MAX_VALUES;
    let mut anchors: BTreeMap<usize, YamlNode> = BTreeMap::new();
    // An explicit stack: the author of the file chooses the depth.
    let mut open: Vec<OpenNode> = Vec::new();
    // Comments are bounded by the text that they stand in.
    let options = options! { max_buffered_comment_events: text.len() };
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, place) = event.map_err(|error| {
            let at = error.marker().byte_offset().unwrap_or(text.len());
            fault(Span::at(at as u32), error.info().to_owned(), None)
        })?;
        let line = place.start.line();
        let range = place.byte_range().unwrap_or_default();
        let span = Span::new(range.start as u32, range.end as u32);
        let (done, anchor) = match event {
            Event::Scalar(text, _, anchor, _) => {
                let value = YamlValue::Text(text.into_owned());
                (YamlNode { line, span, value, size: 1 }, anchor)
            }
            Event::SequenceStart(_, anchor, _) | Event::MappingStart(_, anchor, _) => {
                let is_map = matches!(event, Event::MappingStart(..));
                open.push(OpenNode { line, span, is_map, anchor, nodes: Vec::new() });
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(closed) => {
                    let anchor = closed.anchor;
                    (closed.node()?, anchor)
                }
                None => continue,
            },
            Event::Alias(id) => match anchors.get(&id) {
                Some(node) if node.size <= left => (node.clone(), 0),
                Some(_) => return Err(fault(span, TOO_MUCH, None)),
                None => return Err(fault(span, "the alias stands for what contains it", None)),
            },
            Event::DocumentEnd => return Ok(None),
            _ => continue,
        };
        left = left.saturating_sub(done.size);
        if anchor != 0 {
            if done.size > left {
                return Err(fault(span, TOO_MUCH, None));
            }
            anchors.insert(anchor, done.clone());
        }
        match open.last_mut() {
            Some(around) => around.nodes.push(done),
            None => return Ok(Some(done)),
        }
    }
    Ok(None)
}

/// Builds an error at a place.
pub(super) fn fault(span: Span, message: impl Into<String>, help: Option<String>) -> ConfigError {
    ConfigError { message: message.into(), span, help }
}

impl OpenNode {
    fn node(self) -> Result<YamlNode, ConfigError> {
        let size = self.nodes.iter().map(|it| it.size).fold(1, usize::saturating_add);
        let value = if self.is_map { build_map(self.nodes)? } else { YamlValue::List(self.nodes) };
        Ok(YamlNode { line: self.line, span: self.span, value, size })
    }
}

/// A map of keys and values in turn.
fn build_map(nodes: Vec<YamlNode>) -> Result<YamlValue, ConfigError> {
    let mut entries: Vec<(YamlNode, YamlNode)> = Vec::new();
    let mut merged = Vec::new();
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    let mut nodes = nodes.into_iter();
    while let (Some(key), Some(value)) = (nodes.next(), nodes.next()) {
        if key.text() == Some(MERGE) {
            merged.push(value);
            continue;
        }
        let name = key.text().unwrap_or_default().to_owned();
        if let Some(line) = lines.get(&name) {
            let message = format!("`{name}` stands twice, first in line {line}");
            return Err(fault(key.span, message, Some("keep one of the two".to_owned())));
        }
        lines.insert(name, key.line);
        entries.push((key, value));
    }
    // What the map says itself counts more, and of the others the first one.
    for value in merged {
        let maps = match value.value {
            YamlValue::List(maps) => maps,
            other => vec![YamlNode { value: other, ..value }],
        };
        for map in maps {
            let YamlValue::Map(others) = map.value else {
                return Err(fault(map.span, format!("`{MERGE}` takes a map"), None));
            };
            let new: Vec<_> = others
                .into_iter()
                .filter(|(key, _)| !lines.contains_key(key.text().unwrap_or_default()))
                .collect();
            lines
                .extend(new.iter().filter_map(|(key, _)| Some((key.text()?.to_owned(), key.line))));
            entries.extend(new);
        }
    }
    Ok(YamlValue::Map(entries))
}

impl YamlNode {
    /// The text of a scalar that is not empty or null.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.value {
            YamlValue::Text(text) if !text.is_empty() && text != "~" && text != "null" => {
                Some(text)
            }
            _ => None,
        }
    }

    /// Returns true if it is a scalar with this text.
    pub(super) fn is(&self, text: &str) -> bool {
        self.text() == Some(text)
    }

    /// Returns true if it has no value.
    pub(super) fn is_empty(&self) -> bool {
        matches!(self.value, YamlValue::Text(_)) && self.text().is_none()
    }
}
