//! Places inside of a message, as steps write them: `load_assignment.endpoints[0].lb_endpoints[].x`.

use abide_schema::value::{Codec, Entry, Message, Value};
use abide_schema::{Cardinality, Field, MessageId, Tree};
use abide_syntax::Span;

/// A place: names of fields, from the outside to the inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Path {
    pub(super) segments: Vec<Segment>,
}

/// One field of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    /// The name of the field.
    pub(super) name: String,
    /// Which element of a list is meant.
    pub(super) list: List,
    /// The message in an Any.
    pub(super) content: Option<String>,
}

/// Which element of a list a path goes into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    /// The field is no list, or its elements are what is moved.
    Plain,
    /// An element for each value.
    Each,
    /// Its only element.
    Only,
}

/// Why a value cannot get a place: one lower-case phrase.
pub(super) type Refused = String;

impl Path {
    /// Reads a path.
    pub(super) fn parse(text: &str) -> Result<Path, Refused> {
        let malformed = || format!("`{text}` is not a path, such as `a.b[].c`");
        let mut segments = Vec::new();
        let mut rest = text;
        loop {
            let end = rest.find(['.', '[', '(']).unwrap_or(rest.len());
            let (name, mut behind) = rest.split_at(end);
            let mut segment =
                Segment { name: name.to_owned(), list: List::Plain, content: None };
            for (brackets, list) in [("[]", List::Each), ("[0]", List::Only)] {
                if let Some(after) = behind.strip_prefix(brackets) {
                    (segment.list, behind) = (list, after);
                }
            }
            if let Some(inside) = behind.strip_prefix('(') {
                let (content, after) = inside.split_once(')').ok_or_else(malformed)?;
                segment.content = Some(content.to_owned());
                behind = after;
            }
            if name.is_empty() {
                return Err(malformed());
            }
            segments.push(segment);
            match behind.strip_prefix('.') {
                Some(after) => rest = after,
                None if behind.is_empty() => return Ok(Path { segments }),
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
    ) -> Result<(Field<'t>, Option<MessageId>), Refused> {
        let mut within = tree.message(ty);
        for (at, segment) in self.segments.iter().enumerate() {
            let field = within.field_named(&segment.name).ok_or_else(|| {
                format!("`{}` has no field `{}`", within.full_name(), segment.name)
            })?;
            if segment.list != List::Plain && field.cardinality() != Cardinality::Repeated {
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
    pub(super) fn values<'m>(&self, tree: &'m Tree, message: &'m Message) -> Vec<&'m Entry> {
        let Some((last, way)) = self.segments.split_last() else { return Vec::new() };
        let mut within = message;
        for segment in way {
            let inside = entries(tree, within, &segment.name).last();
            let Some(inside) = inside.and_then(|it| it.value.as_message()) else {
                return Vec::new();
            };
            within = inside;
        }
        entries(tree, within, &last.name).collect()
    }
}

/// The entries of the field with a name.
fn entries<'m>(
    tree: &'m Tree,
    message: &'m Message,
    name: &str,
) -> impl Iterator<Item = &'m Entry> + use<'m> {
    let field = tree.message(message.ty).field_named(name).map(|it| it.id);
    message.entries.iter().filter(move |it| Some(it.field) == field)
}

/// An Any that holds a message; its text is that of the message.
pub(super) fn any_of(tree: &Tree, ty: MessageId, content: Message) -> Message {
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

/// Puts values at a place, and makes the messages on the way. The outermost field that is made
/// stands where `key` does.
pub(super) fn put(
    tree: &Tree,
    message: &mut Message,
    path: &[Segment],
    values: Vec<Entry>,
    key: Span,
) -> Result<(), Refused> {
    let Some((segment, rest)) = path.split_first() else { return Ok(()) };
    let field = field_named(tree, message, &segment.name)?;
    let is_list = field.cardinality() != Cardinality::Singular;
    if let Some(oneof) = field.oneof() {
        let other = message.entries.iter().map(|it| tree.field(it.field)).find(|it| {
            it.id != field.id && it.oneof().is_some_and(|other| other.id == oneof.id)
        });
        if let Some(other) = other {
            return Err(format!("`{}` is set as well, and wins", other.name()));
        }
    }
    if rest.is_empty() && segment.content.is_none() {
        if !is_list && (values.len() != 1 || message.of(field.id).next().is_some()) {
            return Err(format!("`{}` is set as well, and wins", field.name()));
        }
        message.entries.extend(
            values.into_iter().map(|it| {
                let key = if key.is_empty() { it.key } else { key };
                Entry { field: field.id, key, ..it }
            }),
        );
        return Ok(());
    }
    let ty = field.message_type().map(|it| it.id).ok_or("it is no message")?;
    if segment.list == List::Each {
        for value in values {
            let mut element = Message::new(ty);
            put_inside(tree, &mut element, segment, rest, vec![value])?;
            let entry = Entry::new(field.id, Value::Message(Box::new(element)));
            message.entries.push(Entry { key, ..entry });
        }
        return Ok(());
    }
    let known = message.entries.iter_mut().find(|it| it.field == field.id);
    if let Some(Entry { value: Value::Message(inside), .. }) = known {
        return put_inside(tree, inside, segment, rest, values);
    }
    let mut inside = Message::new(ty);
    put_inside(tree, &mut inside, segment, rest, values)?;
    message.entries.push(Entry { key, ..Entry::new(field.id, Value::Message(Box::new(inside))) });
    Ok(())
}

fn field_named<'t>(tree: &'t Tree, message: &Message, name: &str) -> Result<Field<'t>, Refused> {
    let view = tree.message(message.ty);
    let missing = || format!("`{}` has no field `{name}`", view.full_name());
    view.field_named(name).ok_or_else(missing)
}

/// Goes on inside of a message, or inside of what an Any holds.
fn put_inside(
    tree: &Tree,
    message: &mut Message,
    segment: &Segment,
    rest: &[Segment],
    values: Vec<Entry>,
) -> Result<(), Refused> {
    let Some(name) = &segment.content else {
        return put(tree, message, rest, values, Span::default());
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
        false => put(tree, &mut content, rest, values, Span::default())?,
        true => {
            let value = values.into_iter().next_back().map(|it| it.value);
            let Some(Value::Message(value)) = value else { return Err("it is no message".into()) };
            content = *value;
        }
    }
    *message = any_of(tree, message.ty, content);
    Ok(())
}

/// Takes the values out of a place, and what becomes empty by that.
pub(super) fn take(tree: &Tree, message: &mut Message, path: &[Segment]) -> Vec<Entry> {
    let Some((segment, rest)) = path.split_first() else { return Vec::new() };
    let Ok(field) = field_named(tree, message, &segment.name) else { return Vec::new() };
    let mut taken = Vec::new();
    let mut kept = Vec::new();
    let is_only = message.of(field.id).count() == 1;
    for mut entry in std::mem::take(&mut message.entries) {
        if entry.field != field.id || segment.list == List::Only && !is_only {
            kept.push(entry);
            continue;
        }
        if rest.is_empty() && segment.content.is_none() {
            taken.push(entry);
            continue;
        }
        let Value::Message(inside) = &mut entry.value else { continue };
        let found = match &segment.content {
            None => take(tree, inside, rest),
            Some(name) => take_content(tree, inside, name, rest),
        };
        let is_empty = inside.entries.is_empty() && inside.unknown.is_empty();
        if found.is_empty() || !is_empty {
            kept.push(entry);
        }
        taken.extend(found);
    }
    message.entries = kept;
    taken
}

fn take_content(tree: &Tree, any: &mut Message, name: &str, rest: &[Segment]) -> Vec<Entry> {
    let Some(mut content) = content_of(tree, any) else { return Vec::new() };
    if tree.message(content.ty).full_name() != name {
        return Vec::new();
    }
    if rest.is_empty() {
        let field = tree.message(any.ty).field_numbered(2).map(|it| it.id);
        *any = Message::new(any.ty);
        let value = Value::Message(Box::new(content));
        return field.map(|field| Entry::new(field, value)).into_iter().collect();
    }
    let taken = take(tree, &mut content, rest);
    *any = match content.entries.is_empty() {
        true => Message::new(any.ty),
        false => any_of(tree, any.ty, content),
    };
    taken
}

/// What an Any holds, if the tree has its type and its bytes can be read.
pub(super) fn content_of(tree: &Tree, any: &Message) -> Option<Message> {
    if let Some(content) = &any.content {
        return Some((**content).clone());
    }
    let url = any.numbered(tree, 1)?.value.as_str()?;
    let ty = tree.message_named(url.rsplit_once('/').map_or(url, |it| it.1))?.id;
    let bytes = any.numbered(tree, 2).and_then(|it| it.value.as_bytes()).unwrap_or_default();
    Codec::new(tree).decode(ty, bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::{List, Path};

    #[test]
    fn paths_are_read() {
        let path = Path::parse("a.b[].c[0].d(x.y.Z).e").expect("a path");
        let names: Vec<_> = path.segments.iter().map(|it| (&*it.name, it.list)).collect();
        let expected = [
            ("a", List::Plain),
            ("b", List::Each),
            ("c", List::Only),
            ("d", List::Plain),
            ("e", List::Plain),
        ];
        assert_eq!(names, expected);
        assert_eq!(path.segments[3].content.as_deref(), Some("x.y.Z"));
        for wrong in ["", ".", "a.", "a[1]", "a(b", "a]b", "[]"] {
            assert!(Path::parse(wrong).is_err(), "{wrong}");
        }
    }
}
