//! Reads the YAML of templates as values.

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};

/// The document of a text. Aliases are not expected.
pub(crate) fn read(text: &str) -> Value {
    let events: Vec<Event<'_>> = Parser::new_from_str(text).map(|it| it.unwrap().0).collect();
    let mut events = events
        .into_iter()
        .filter(|it| !matches!(it, Event::StreamStart | Event::DocumentStart(_) | Event::Nothing));
    let first = events.next().unwrap();
    value(first, &mut events)
}

fn value<'a>(event: Event<'a>, rest: &mut impl Iterator<Item = Event<'a>>) -> Value {
    match event {
        Event::Scalar(text, ScalarStyle::Plain, ..) if matches!(&*text, "true" | "false") => {
            Value::Bool(&*text == "true")
        }
        Event::Scalar(text, ..) => Value::String(text.into_owned()),
        Event::SequenceStart(..) => {
            let mut items = Vec::new();
            loop {
                match rest.next().unwrap() {
                    Event::SequenceEnd => return Value::Array(items),
                    event => items.push(value(event, rest)),
                }
            }
        }
        Event::MappingStart(..) => {
            let mut fields = Map::new();
            loop {
                match rest.next().unwrap() {
                    Event::MappingEnd => return Value::Object(fields),
                    key => {
                        let key = value(key, rest).as_str().unwrap().to_owned();
                        let event = rest.next().unwrap();
                        fields.insert(key, value(event, rest));
                    }
                }
            }
        }
        other => panic!("unexpected {other:?}"),
    }
}
