//! Edits of text format.

use abide_schema::Tree;
use abide_schema::value::{Codec, Entry, Message, Value};
use abide_syntax::Span;
use abide_upgrade::Edit;

use super::lines::TextLines;
use super::yaml_blocks::shift_lines;

/// Writes a value as edits of the text of another one.
pub(super) struct TextWriter<'a> {
    pub(super) tree: &'a Tree,
    pub(super) lines: TextLines<'a>,
    pub(super) edits: Vec<Edit>,
}

impl TextWriter<'_> {
    /// Changes what is written of a message; `body` is where its fields stand.
    pub(super) fn write_message(&mut self, old: &Message, new: &Message, body: Span) {
        let is_any = self.tree.message(new.ty).full_name() == "google.protobuf.Any";
        if is_any && let (Some(inside), Some(content)) = (&old.content, &new.content) {
            return self.write_any(old, new, inside, content, body);
        }
        let mut renamed: Option<Span> = None;
        let mut last: Option<&Entry> = None;
        for entry in &old.entries {
            let kept = new.entries.iter().find(|it| self.is_made_from(it, entry));
            match kept {
                Some(kept) => {
                    if renamed != Some(entry.key) {
                        self.rename(entry, kept);
                        renamed = Some(entry.key);
                    }
                    self.write_value(entry, kept);
                    last = Some(entry);
                }
                None => self.delete(entry, old, new),
            }
        }
        let is_new = |it: &&Entry| !old.entries.iter().any(|entry| self.is_made_from(it, entry));
        let added: Vec<Entry> = new.entries.iter().filter(is_new).cloned().collect();
        if added.is_empty() {
            return;
        }
        let lone = Message { entries: added, ..Message::new(new.ty) };
        let text = Codec::new(self.tree).to_text(&lone);
        self.insert(text.trim_end(), last, old.entries.first(), body);
    }

    /// Returns true if an entry is another one, perhaps with another value inside.
    fn is_made_from(&self, new: &Entry, old: &Entry) -> bool {
        let is_message = new.value.as_message().is_some() && old.value.as_message().is_some();
        let is_scalar = new.value.as_message().is_none() && old.value.as_message().is_none();
        let same_kind = is_message && self.is_similar(new, old) || is_scalar;
        same_kind
            && !old.key.is_empty()
            && new.key == old.key
            && (new.span == old.span || new.span.is_empty() && is_scalar)
    }

    /// Returns true if the value of one can be edited into that of the other.
    fn is_similar(&self, new: &Entry, old: &Entry) -> bool {
        let (Some(new), Some(old)) = (new.value.as_message(), old.value.as_message()) else {
            return false;
        };
        let name = |it: &Message| self.tree.message(it.ty).full_name();
        let is_any = |it: &Message| name(it) == "google.protobuf.Any";
        is_any(new) == is_any(old) && new.content.is_some() == old.content.is_some()
    }

    fn rename(&mut self, old: &Entry, new: &Entry) {
        let (before, after) = (self.tree.field(old.field), self.tree.field(new.field));
        if before.name() == after.name() || after.is_extension() {
            return;
        }
        // Groups are written with the names of their messages, which stay.
        if self.lines.slice(old.key) == before.name() {
            self.edits.push(Edit::replace(old.key, after.name()));
        }
    }

    fn write_value(&mut self, old: &Entry, new: &Entry) {
        match (&old.value, &new.value) {
            (Value::Message(before), Value::Message(after)) => {
                let text = self.lines.slice(old.span);
                // Without its braces.
                let body = match text.starts_with(['{', '<']) {
                    true => Span { start: old.span.start + 1, end: old.span.end - 1 },
                    false => old.span,
                };
                self.write_message(before, after, body);
            }
            (Value::Enum(_), Value::Enum(number)) => {
                let values = self.tree.field(new.field).enum_type();
                let says = self.lines.slice(old.span);
                let named = values.and_then(|it| it.value_numbered(*number));
                let is_said = values
                    .and_then(|it| it.value_named(says))
                    .is_some_and(|it| it.number() == *number);
                let is_number = says.parse() == Ok(*number);
                if let Some(named) = named.filter(|_| !is_said && !is_number) {
                    self.edits.push(Edit::replace(old.span, named.name()));
                }
            }
            (_, after) if new.span.is_empty() => {
                if let Some(text) = self.format_scalar(new, after) {
                    self.edits.push(Edit::replace(old.span, text));
                }
            }
            _ => {}
        }
    }

    /// Formats a scalar.
    fn format_scalar(&self, entry: &Entry, value: &Value) -> Option<String> {
        let field = self.tree.field(entry.field);
        let parent = field.containing_message()?;
        let lone = Message { entries: vec![entry.clone()], ..Message::new(parent.id) };
        let text = Codec::new(self.tree).to_text(&lone);
        match text.split_once(": ") {
            Some((_, text)) => Some(text.trim_end().to_owned()),
            // A zero, which a field without presence does not tell.
            None => Some(match value {
                Value::String(_) | Value::Bytes(_) => "\"\"".to_owned(),
                Value::Bool(_) => "false".to_owned(),
                _ => "0".to_owned(),
            }),
        }
    }

    /// Changes what an Any holds, and the type that it names.
    fn write_any(
        &mut self,
        old: &Message,
        new: &Message,
        inside: &Message,
        content: &Message,
        body: Span,
    ) {
        let url = |it: &Message| {
            let url = it.find_by_number(self.tree, 1)?;
            Some((url.value.as_str()?.to_owned(), url.key))
        };
        if let (Some((before, key)), Some((after, _))) = (url(old), url(new))
            && before != after
        {
            let written = self.lines.slice(key);
            let name = written.trim_matches(['[', ']']);
            self.edits.push(Edit::replace(key, written.replace(name, &after)));
        }
        // The content has braces of its own.
        let braces = old.entries.last().map_or(body, |it| it.span);
        let body = match self.lines.slice(braces).starts_with(['{', '<']) {
            true => Span { start: braces.start + 1, end: braces.end - 1 },
            false => braces,
        };
        self.write_message(inside, content, body);
    }

    /// Takes out a field, with its line if nothing else is on it.
    fn delete(&mut self, entry: &Entry, old: &Message, new: &Message) {
        let shared: Vec<&Entry> = old.entries.iter().filter(|it| it.key == entry.key).collect();
        let stays = |it: &&Entry| new.entries.iter().any(|made| self.is_made_from(made, it));
        if shared.iter().any(stays) {
            // Of a list in brackets only this element goes, with its comma.
            let at = shared.iter().position(|it| it.span == entry.span).unwrap_or_default();
            let before = shared[..at].iter().rev().find(|it| stays(it));
            let span = match (shared.get(at + 1), before) {
                (Some(next), _) if shared[at..].iter().any(stays) => {
                    Span { start: entry.span.start, end: next.span.start }
                }
                (_, Some(before)) => Span { start: before.span.end, end: entry.span.end },
                _ => entry.span,
            };
            return self.edits.push(Edit::delete(span));
        }
        let ends = shared.iter().map(|it| it.span.end);
        let mut end = ends.max().unwrap_or(entry.span.end);
        let behind = |at: u32| self.lines.slice(Span { start: at, end: self.lines.0.len() as u32 });
        let before = self.lines.slice(Span { start: entry.key.end, end: entry.span.start });
        if before.contains('[') {
            end += behind(end).find(']').map_or(0, |at| at as u32 + 1);
        }
        let rest = behind(end);
        let next = rest.trim_start();
        if next.starts_with([',', ';']) {
            end += (rest.len() - next.len()) as u32 + 1;
        }
        let rest = self.lines.slice(Span { start: end, end: self.lines.end(end) }).trim();
        let is_alone =
            self.lines.is_first(entry.key.start) && (rest.is_empty() || rest.starts_with('#'));
        let span = match is_alone {
            true => Span { start: self.lines.start(entry.key.start), end: self.lines.next(end) },
            false => {
                let space = self.lines.slice(Span { start: end, end: self.lines.end(end) });
                let space = space.len() - space.trim_start_matches(' ').len();
                Span { start: entry.key.start, end: end + space as u32 }
            }
        };
        self.edits.push(Edit::delete(span));
    }

    /// Adds fields behind another one, or as the first of a message.
    fn insert(&mut self, text: &str, last: Option<&Entry>, first: Option<&Entry>, body: Span) {
        if let (None, Some(first)) = (last, first.filter(|it| !it.key.is_empty())) {
            // In the place of fields of which none is left.
            let at = first.key.start;
            let indent = self.lines.indent(at);
            return self.edits.push(match self.lines.is_first(at) {
                true => {
                    let text = shift_lines(text, 0, indent);
                    let at = self.lines.start(at);
                    Edit::insert(at, format!("{}{text}\n", " ".repeat(indent)))
                }
                false => Edit::insert(at, format!("{} ", join_lines(text))),
            });
        }
        let Some(last) = last else {
            // A message without fields, or a text.
            let is_whole = body.start == 0;
            let indent = if is_whole { 0 } else { self.lines.indent(body.start) + 2 };
            let text = shift_lines(text, 0, indent);
            let text = match is_whole {
                true => format!("{text}\n"),
                false => {
                    let spaces = " ".repeat(indent);
                    format!("\n{spaces}{text}\n{}", " ".repeat(indent - 2))
                }
            };
            self.edits.push(Edit::insert(body.end, text));
            return;
        };
        if self.lines.is_first(last.key.start) {
            let indent = self.lines.indent(last.key.start);
            let text = shift_lines(text, 0, indent);
            let at = self.lines.end(last.span.end.max(last.key.end));
            let at = at.min(body.end.max(last.span.end));
            self.edits.push(Edit::insert(at, format!("\n{}{text}", " ".repeat(indent))));
        } else {
            // All on one line.
            self.edits.push(Edit::insert(last.span.end, format!(" {}", join_lines(text))));
        }
    }
}

fn join_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    lines.join(" ")
}
