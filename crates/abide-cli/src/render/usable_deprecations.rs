//! Deprecated elements that instances can use: for people and as JSON Lines.

use std::fmt::Write;

use abide_lint::{UsableDeprecation, pluralize};
use abide_source::printable::escape_unprintable;
use serde_json::{Map, Value};

use super::context::{Style, write_styled};
use super::json_object::{insert, insert_some};

pub(super) fn render_human(list: &[UsableDeprecation<'_>], style: Style) -> String {
    let mut text = String::new();
    for it in list {
        let colour = if it.is_disallowed { "31;1" } else { "33;1" };
        text += &escape_unprintable(&it.element.full_name());
        text.push_str(": ");
        write_styled(&mut text, style.color, colour, it.phase());
        if let Some(since) = it.since() {
            // Writing to a string cannot fail.
            let _ = write!(text, " since {}", escape_unprintable(since));
        }
        text.push('\n');
        if let Some(replacement) = it.replacement() {
            let _ = writeln!(text, "    use {}", escape_unprintable(&replacement));
        }
        if let Some(advice) = it.advice() {
            let _ = writeln!(text, "    {}", escape_unprintable(&advice));
        }
        if let Some(key) = it.runtime_key().filter(|_| it.is_disallowed) {
            let _ = writeln!(text, "    allowed by the runtime key {}", escape_unprintable(&key));
        }
    }
    if !style.quiet {
        let disallowed = list.iter().filter(|it| it.is_disallowed).count();
        let many = pluralize(list.len(), "deprecated element");
        let _ = writeln!(text, "{many}, {disallowed} of them disallowed by default");
    }
    text
}

pub(super) fn render_json(list: &[UsableDeprecation<'_>], _: Style) -> String {
    let lines = list.iter().map(|it| {
        let mut object = Map::new();
        insert(&mut object, "element", it.element.full_name().into());
        insert(&mut object, "kind", it.kind().to_owned().into());
        insert(&mut object, "phase", it.phase().to_owned().into());
        insert_some(&mut object, "since", it.since().map(Value::from));
        insert_some(&mut object, "replacement", it.replacement().map(Value::from));
        insert_some(&mut object, "advice", it.advice().map(Value::from));
        insert_some(&mut object, "runtime_key", it.runtime_key().map(Value::from));
        format!("{}\n", Value::Object(object))
    });
    lines.collect()
}
