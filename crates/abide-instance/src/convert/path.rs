//! Places inside of a message, as steps write them:
//! `load_assignment.endpoints[0].lb_endpoints[].x`.

use std::collections::BTreeMap;

use abide_schema::value::{Codec, Entry, Message, Value, default_of};
use abide_schema::{Cardinality, Field, MessageId, Tree};
use abide_syntax::Span;

/// A place: names of fields, from the outside to the inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FieldPath {
    pub(super) segments: Vec<PathSegment>,
}

/// One field of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PathSegment {
    /// The name of the field.
    pub(super) name: String,
    /// The element of a list that a path means.
    pub(super) list: ListPart,
    /// The message in an Any.
    pub(super) content: Option<String>,
}

/// The element of a list that a path goes into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListPart {
    /// The field is no list, or its elements are what is moved.
    Plain,
    /// An element for each value.
    Each,
    /// Its only element.
    Only,
}

/// The reason for a value without a place: one lower-case phrase.
pub(super) type RefusalReason = String;

impl FieldPath {
    /// Reads a path.
    pub(super) fn parse(text: &str) -> Result<FieldPath, RefusalReason> {
        let malformed = || format!("`{text}` is not a path, such as `a.b[].c`");
        let mut segments = Vec::new();
        let mut rest = text;
        loop {
            let end = rest.find(['.', '[', '(']).unwrap_or(rest.len());
            let (name, mut behind) = rest.split_at(end);
            let mut segment =
                PathSegment { name: name.to_owned(), list: ListPart::Plain, content: None };
            for (brackets, list) in [("[]", ListPart::Each), ("[0]", ListPart::Only)] {
                if let Some(after) = behind.strip_prefix(brackets) {
                    (segment.list, behind) = (list, after);
                }
            }
            if let Some(inside) = behind.strip_prefix('(') {
                let (content, after) = inside.split_once(')').ok_or_else(malformed)?;
                segment.content = Some(content.to_owned());
                behind = after;
            }
            let is_letter = |it: char| it.is_ascii_alphanumeric() || it == '_';
            if name.is_empty() || !name.chars().all(is_letter) {
                return Err(malformed());
            }
            segments.push(segment);
            match behind.strip_prefix('.') {
                Some(after) => rest = after,
                None if behind.is_empty() => return Ok(FieldPath { segments }),
                None => return Err(malformed()),
            }
        }
    }

    /// The field that a path ends at, and the message in it if that is an Any. Faults are those of
    /// a path that does not fit the message.
    pub(super) fn resolve<'t>(
        &self,
        tree: &'t Tree,
        ty: MessageId,
    ) -> Result<(Field<'t>, Option<MessageId>), RefusalReason> {
        let mut within = tree.message(ty);
        for (at, segment) in self.segments.iter().enumerate() {
            let field = within.field_named(&segment.name).ok_or_else(|| {
                format!("`{}` has no field `{}`", within.full_name(), segment.name)
            })?;
            if segment.list != ListPart::Plain && field.cardinality() != Cardinality::Repeated {
                return Err(format!("`{}` is no list", field.full_name()));
            }
            let content = match &segment.content {
                None => None,
                Some(name) => {
                    let named = tree.message_named(name);
                    Some(named.ok_or_else(|| format!("the API has no message `{name}`"))?)
                }
            };
            if at + 1 == self.segments.len() {
                return Ok((field, content.map(|it| it.id)));
            }
            within = content
                .or_else(|| field.message_type())
                .ok_or_else(|| format!("`{}` is no message", field.full_name()))?;
        }
        Err("a path has at least one name".to_owned())
    }

    /// The values at a place in a message: of singular messages along the way.
    pub(super) fn list_entries_at_end<'m>(
        &self,
        tree: &'m Tree,
        message: &'m Message,
    ) -> Vec<&'m Entry> {
        let Some((last, way)) = self.segments.split_last() else { return Vec::new() };
        let mut within = message;
        for segment in way {
            let inside = iter_entries(tree, within, &segment.name).last();
            let Some(inside) = inside.and_then(|it| it.value.as_message()) else {
                return Vec::new();
            };
            within = inside;
        }
        iter_entries(tree, within, &last.name).collect()
    }
}

/// The entries of the field with a name.
fn iter_entries<'m>(
    tree: &'m Tree,
    message: &'m Message,
    name: &str,
) -> impl Iterator<Item = &'m Entry> + use<'m> {
    let field = tree.message(message.ty).field_named(name).map(|it| it.id);
    message.entries.iter().filter(move |it| Some(it.field) == field)
}

/// An Any that holds a message; its text is that of the message.
pub(super) fn build_any(tree: &Tree, ty: MessageId, content: Message) -> Message {
    let url = format!("type.googleapis.com/{}", tree.message(content.ty).full_name());
    let mut any = Message::new(ty);
    let bytes = Codec::new(tree).encode(&content);
    let values = [Value::String(url.into()), Value::Bytes(bytes.into())];
    for (number, value) in (1..).zip(values).filter(|(_, it)| !it.is_zero()) {
        if let Some(field) = tree.message(ty).field_numbered(number) {
            any.entries.push(Entry::new(field.id, value));
        }
    }
    any.content = Some(Box::new(content));
    any
}

/// Puts the values of one step at places of a message.
pub(super) struct ValuePlacer<'t> {
    pub(super) tree: &'t Tree,
    /// The lists that the step added elements to, by their places, and how many they had before.
    made: BTreeMap<String, usize>,
}

impl<'t> ValuePlacer<'t> {
    pub(super) fn new(tree: &'t Tree) -> ValuePlacer<'t> {
        ValuePlacer { tree, made: BTreeMap::new() }
    }

    /// Puts values at a place, and makes the messages on the way. The outermost field that is made
    /// stands where `key` does.
    pub(super) fn put(
        &mut self,
        message: &mut Message,
        path: &FieldPath,
        values: Vec<Entry>,
        key: Span,
    ) -> Result<(), RefusalReason> {
        self.put_at(message, &path.segments, values, key, "")
    }

    fn put_at(
        &mut self,
        message: &mut Message,
        path: &[PathSegment],
        values: Vec<Entry>,
        key: Span,
        around: &str,
    ) -> Result<(), RefusalReason> {
        let Some((segment, rest)) = path.split_first() else { return Ok(()) };
        let tree = self.tree;
        let field = find_field(tree, message, &segment.name)?;
        if let Some(oneof) = field.oneof() {
            let set = message.entries.iter().map(|it| tree.field(it.field));
            let other = { set }.find(|it| {
                it.id != field.id && it.oneof().is_some_and(|other| other.id == oneof.id)
            });
            if let Some(other) = other {
                return Err(format!("`{}` is set as well, and wins", other.name()));
            }
        }
        if rest.is_empty() && segment.content.is_none() {
            let is_list = field.cardinality() != Cardinality::Singular;
            if !is_list && (values.len() != 1 || message.entries_of(field.id).next().is_some()) {
                return Err(format!("`{}` is set as well, and wins", field.name()));
            }
            message.entries.extend(values.into_iter().map(|it| {
                let key = if key.is_empty() { it.key } else { key };
                Entry { field: field.id, key, ..it }
            }));
            return Ok(());
        }
        let ty = field.message_type().map(|it| it.id).ok_or("it is no message")?;
        let place = format!("{around}/{}", segment.name);
        let element =
            |inside| Entry { key, ..Entry::new(field.id, Value::Message(Box::new(inside))) };
        if segment.list == ListPart::Each {
            let before = message.entries_of(field.id).count();
            let Some(&start) = self.made.get(&place) else {
                for (at, value) in (before..).zip(values) {
                    let mut inside = Message::new(ty);
                    let place = format!("{place}/{at}");
                    self.put_inside(&mut inside, segment, rest, vec![value], &place)?;
                    message.entries.push(element(inside));
                }
                self.made.insert(place, before);
                return Ok(());
            };
            // Another field of the elements that the step made.
            let elements = message.entries.iter_mut().filter(|it| it.field == field.id);
            let is_for_all = values.len() == 1;
            if !is_for_all && before - start != values.len() {
                return Err("there is not one value for each element".to_owned());
            }
            let mut refused = Ok(());
            for (at, entry) in elements.enumerate().skip(start) {
                let Value::Message(inside) = &mut entry.value else { continue };
                let value = values[if is_for_all { 0 } else { at - start }].clone();
                let place = format!("{place}/{at}");
                refused = self.put_inside(inside, segment, rest, vec![value], &place);
            }
            return refused;
        }
        let known = message.entries.iter_mut().find(|it| it.field == field.id);
        if let Some(Entry { value: Value::Message(inside), .. }) = known {
            return self.put_inside(inside, segment, rest, values, &place);
        }
        let mut inside = Message::new(ty);
        self.put_inside(&mut inside, segment, rest, values, &place)?;
        message.entries.push(element(inside));
        Ok(())
    }

    /// Goes on inside of a message, or inside of what an Any holds.
    fn put_inside(
        &mut self,
        message: &mut Message,
        segment: &PathSegment,
        rest: &[PathSegment],
        values: Vec<Entry>,
        place: &str,
    ) -> Result<(), RefusalReason> {
        let tree = self.tree;
        let Some(name) = &segment.content else {
            return self.put_at(message, rest, values, Span::default(), place);
        };
        let ty = tree.message_named(name).map(|it| it.id);
        let ty = ty.ok_or_else(|| format!("the API has no message `{name}`"))?;
        let is_empty = message.entries.is_empty();
        let content = match message.content.take() {
            Some(content) if content.ty == ty && !rest.is_empty() => Some(*content),
            None if is_empty => Some(Message::new(ty)),
            other => {
                message.content = other;
                None
            }
        };
        let Some(mut content) = content else {
            return Err(format!("`{}` is set as well, and wins", segment.name));
        };
        match rest.is_empty() {
            false => self.put_at(&mut content, rest, values, Span::default(), place)?,
            true => {
                let value = values.into_iter().next_back().map(|it| it.value);
                let Some(Value::Message(value)) = value else {
                    return Err("it is no message".to_owned());
                };
                content = *value;
            }
        }
        *message = build_any(tree, message.ty, content);
        Ok(())
    }
}

fn find_field<'t>(
    tree: &'t Tree,
    message: &Message,
    name: &str,
) -> Result<Field<'t>, RefusalReason> {
    let view = tree.message(message.ty);
    let missing = || format!("`{}` has no field `{name}`", view.full_name());
    view.field_named(name).ok_or_else(missing)
}

/// Takes the values out of a place, and what becomes empty by that.
pub(super) fn take_values(tree: &Tree, message: &mut Message, path: &[PathSegment]) -> Vec<Entry> {
    let Some((segment, rest)) = path.split_first() else { return Vec::new() };
    let Ok(field) = find_field(tree, message, &segment.name) else { return Vec::new() };
    let mut taken = Vec::new();
    let mut kept = Vec::new();
    let is_only = message.entries_of(field.id).count() == 1;
    for mut entry in std::mem::take(&mut message.entries) {
        if entry.field != field.id || segment.list == ListPart::Only && !is_only {
            kept.push(entry);
            continue;
        }
        if rest.is_empty() && segment.content.is_none() {
            taken.push(entry);
            continue;
        }
        let Value::Message(inside) = &mut entry.value else { continue };
        let mut found = match &segment.content {
            None => take_values(tree, inside, rest),
            Some(name) => take_content(tree, inside, name, rest),
        };
        if found.is_empty() && segment.list == ListPart::Each {
            // An element that does not tell a zero has one.
            found.extend(find_zero(tree, inside.ty, rest));
        }
        let is_empty = inside.entries.is_empty() && inside.unknown.is_empty();
        if found.is_empty() || !is_empty {
            kept.push(entry);
        }
        taken.extend(found);
    }
    message.entries = kept;
    taken
}

/// The value of a place where nothing is written, if it is a scalar.
fn find_zero(tree: &Tree, ty: MessageId, path: &[PathSegment]) -> Option<Entry> {
    let path = FieldPath { segments: path.to_vec() };
    let (field, _) = path.resolve(tree, ty).ok()?;
    let is_singular = field.cardinality() == Cardinality::Singular;
    let value = default_of(field).filter(|_| is_singular)?;
    Some(Entry::new(field.id, value))
}

fn take_content(tree: &Tree, any: &mut Message, name: &str, rest: &[PathSegment]) -> Vec<Entry> {
    let Some(mut content) = read_any_content(tree, any) else { return Vec::new() };
    if tree.message(content.ty).full_name() != name {
        return Vec::new();
    }
    if rest.is_empty() {
        let field = tree.message(any.ty).field_numbered(2).map(|it| it.id);
        *any = Message::new(any.ty);
        let value = Value::Message(Box::new(content));
        return field.map(|field| Entry::new(field, value)).into_iter().collect();
    }
    let taken = take_values(tree, &mut content, rest);
    *any = match content.entries.is_empty() {
        true => Message::new(any.ty),
        false => build_any(tree, any.ty, content),
    };
    taken
}

/// Reads the message in an Any, if the tree has its type and its bytes can be read.
pub(super) fn read_any_content(tree: &Tree, any: &Message) -> Option<Message> {
    if let Some(content) = &any.content {
        return Some((**content).clone());
    }
    let url = any.find_by_number(tree, 1)?.value.as_str()?;
    let ty = tree.message_named(url.rsplit_once('/').map_or(url, |it| it.1))?.id;
    let bytes = any.find_by_number(tree, 2).and_then(|it| it.value.as_bytes()).unwrap_or_default();
    Codec::new(tree).decode(ty, bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::{FieldPath, ListPart};

    #[test]
    fn paths_are_read() {
        let path = FieldPath::parse("a.b[].c[0].d(x.y.Z).e").expect("a path");
        let names: Vec<_> = path.segments.iter().map(|it| (&*it.name, it.list)).collect();
        let expected = [
            ("a", ListPart::Plain),
            ("b", ListPart::Each),
            ("c", ListPart::Only),
            ("d", ListPart::Plain),
            ("e", ListPart::Plain),
        ];
        assert_eq!(names, expected);
        assert_eq!(path.segments[3].content.as_deref(), Some("x.y.Z"));
        for wrong in ["", ".", "a.", "a[1]", "a(b", "a]b", "[]"] {
            assert!(FieldPath::parse(wrong).is_err(), "{wrong}");
        }
    }
}
