//! The anchors of a text in YAML, and which value each alias repeats.

use std::collections::HashMap;

use abide_syntax::Span;
use granit_parser::{Event, Parser, options};

/// The anchors and aliases of a text.
#[derive(Debug, Default)]
pub(super) struct AnchorNames {
    /// An alias, and the start of the value that it repeats.
    pub(super) aliases: Vec<(Span, u32)>,
    /// The names of anchors with their sign, by where their values begin.
    pub(super) names: HashMap<u32, Span>,
}

impl AnchorNames {
    /// The anchors of a text that can be parsed.
    pub(super) fn find(text: &str) -> AnchorNames {
        let options = options! {
            max_buffered_comment_events: text.len(),
            emit_anchor_events: true,
        };
        let mut parser = Parser::new_from_str_with_options(text, options);
        let mut anchors = AnchorNames::default();
        let mut starts: HashMap<usize, u32> = HashMap::new();
        let mut last = 0;
        while let Some(Ok((event, place))) = parser.next_event() {
            let range = place.byte_range().unwrap_or_default();
            let span = Span { start: range.start as u32, end: range.end as u32 };
            match event {
                Event::Scalar(..) | Event::SequenceStart(..) | Event::MappingStart(..) => {
                    last = span.start;
                }
                Event::Anchor(id, _) => {
                    starts.insert(id, last);
                    anchors.names.insert(last, span);
                }
                Event::Alias(id) => {
                    anchors.aliases.extend(starts.get(&id).map(|start| (span, *start)));
                }
                Event::StreamEnd => break,
                _ => {}
            }
        }
        anchors
    }
}
