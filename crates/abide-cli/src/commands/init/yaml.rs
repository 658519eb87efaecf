//! The part of YAML that configurations need: texts, lists and maps, each with its line.

use saphyr_parser::{Event, Parser};

/// A value and the line where it begins.
#[derive(Debug)]
pub(super) struct Node {
    /// The line, counted from 1.
    pub(super) line: usize,
    pub(super) value: Value,
}

/// A value.
#[derive(Debug)]
pub(super) enum Value {
    /// A scalar, as it is written: `true` and `"true"` are the same.
    Text(String),
    List(Vec<Node>),
    /// Keys and values, in the order of the text.
    Map(Vec<(Node, Node)>),
}

/// A list or a map that is not closed yet. The nodes of a map are its keys and values in turn.
struct Open {
    line: usize,
    is_map: bool,
    nodes: Vec<Node>,
}

/// Reads the first document; `None` if it is empty. An error comes with its line.
///
/// Aliases are refused: a few lines of them can expand to more than fits into memory.
pub(super) fn read(text: &str) -> Result<Option<Node>, (usize, String)> {
    // An explicit stack: the author of the file chooses the depth.
    let mut open: Vec<Open> = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, span) =
            event.map_err(|error| (error.marker().line(), error.info().to_owned()))?;
        let line = span.start.line();
        let done = match event {
            Event::Scalar(text, ..) => Node { line, value: Value::Text(text.into_owned()) },
            Event::SequenceStart(..) | Event::MappingStart(..) => {
                let is_map = matches!(event, Event::MappingStart(..));
                open.push(Open { line, is_map, nodes: Vec::new() });
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(closed) => closed.node(),
                None => continue,
            },
            Event::Alias(_) => {
                return Err((line, "an alias is not supported: write the value itself".to_owned()));
            }
            Event::DocumentEnd => return Ok(None),
            _ => continue,
        };
        match open.last_mut() {
            Some(around) => around.nodes.push(done),
            None => return Ok(Some(done)),
        }
    }
    Ok(None)
}

impl Open {
    fn node(self) -> Node {
        let value = if self.is_map {
            let mut nodes = self.nodes.into_iter();
            let mut entries = Vec::new();
            while let (Some(key), Some(value)) = (nodes.next(), nodes.next()) {
                entries.push((key, value));
            }
            Value::Map(entries)
        } else {
            Value::List(self.nodes)
        };
        Node { line: self.line, value }
    }
}

impl Node {
    /// The text of a scalar that is not empty or null.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) if !text.is_empty() && text != "~" && text != "null" => Some(text),
            _ => None,
        }
    }
}
