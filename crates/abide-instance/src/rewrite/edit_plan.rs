//! Plans the new content of a text in JSON or YAML, in terms of its present content.

use std::collections::{HashMap, HashSet};

use abide_schema::value::{
    Codec, Entry, JsonKind, JsonMapping, JsonMember, JsonNode, Message, Value, parse_json,
};
use abide_schema::{Cardinality, Field, MessageId, Tree, Type};
use abide_syntax::Span;

use super::nodes::{NodeIndex, get_members};

/// A value as it is to be written.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum EditPlan {
    /// As the text has it at a place.
    Kept(Span),
    /// A text, a number or a word, in JSON.
    Scalar(String),
    /// A list; the place of the list that it is made from.
    List(Option<Span>, Vec<EditPlan>),
    /// An object; the place of the object that it is made from.
    Object(Option<Span>, Vec<PlannedMember>),
}

/// A member of an object as it is to be written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PlannedMember {
    /// The key in the text that it is made from: of the same object, or of another one.
    pub(super) key: Option<Span>,
    /// True if that key is in the same object.
    pub(super) in_place: bool,
    pub(super) name: String,
    /// The position of a member that has none yet.
    pub(super) order: i32,
    /// True if the text has that name already.
    pub(super) is_renamed: bool,
    pub(super) value: EditPlan,
}

impl EditPlan {
    /// The place that it is made from.
    pub(super) fn origin(&self) -> Option<Span> {
        match self {
            EditPlan::Kept(span) => Some(*span),
            EditPlan::Scalar(_) => None,
            EditPlan::List(origin, _) | EditPlan::Object(origin, _) => *origin,
        }
    }
}

/// Makes drafts of values.
pub(super) struct Planner<'a, 'n> {
    pub(super) tree: &'a Tree,
    pub(super) nodes: &'a NodeIndex<'n>,
    /// Lists in block style: the place that their values say, and that of their first dash.
    pub(super) moved_lists: &'a HashMap<Span, Span>,
    /// True if members of YAML whose key is set again below count for nothing, but stay.
    pub(super) keeps_repeated: bool,
    /// The older and newer versions of a type.
    pub(super) versions: &'a dyn Fn(MessageId) -> Vec<MessageId>,
    /// Keys that something in the new value is made from.
    pub(super) claimed_keys: HashSet<Span>,
}

/// Text that stands for a value in JSON.
pub(super) fn plan_from_json(node: &JsonNode<'_>) -> EditPlan {
    match &node.kind {
        JsonKind::Null => EditPlan::Scalar("null".to_owned()),
        JsonKind::Bool(value) => EditPlan::Scalar(value.to_string()),
        JsonKind::Number(text) => EditPlan::Scalar(text.clone().into_owned()),
        JsonKind::String(text) => EditPlan::Scalar(quote_text(text)),
        JsonKind::Array(elements) => {
            EditPlan::List(None, elements.iter().map(plan_from_json).collect())
        }
        JsonKind::Object(members) => {
            let member = |it: &JsonMember<'_>| PlannedMember {
                key: None,
                in_place: false,
                name: it.key.clone().into_owned(),
                order: 0,
                is_renamed: true,
                value: plan_from_json(&it.value),
            };
            EditPlan::Object(None, members.iter().map(member).collect())
        }
    }
}

/// A text in the quotes of JSON.
pub(super) fn quote_text(text: &str) -> String {
    use std::fmt::Write;
    let mut out = String::from("\"");
    for char in text.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\0'..='\u{1f}' | '\u{7f}' => write!(out, "\\u{:04x}", char as u32).unwrap_or_default(),
            _ => out.push(char),
        }
    }
    out.push('"');
    out
}

impl<'a, 'n> Planner<'a, 'n> {
    /// The draft of a message that stands at a place, if it stands anywhere.
    pub(super) fn plan_message(&mut self, message: &Message, span: Span) -> EditPlan {
        let node = self.nodes.find_value(span);
        let view = self.tree.message(message.ty);
        let is_any = view.full_name() == "google.protobuf.Any";
        if is_any && let Some(content) = &message.content {
            let url = message.find_by_number(self.tree, 1);
            return self.plan_typed_object(url, content, span);
        }
        if Codec::new(self.tree).has_own_json(message.ty) {
            // Only a Struct, a Value and a ListValue hold lists, and all of one stays as it is.
            let list = self.moved_lists.get(&span).and_then(|it| self.nodes.find_value(*it));
            return match list.or(node) {
                Some(node) => EditPlan::Kept(node.span),
                None => self.plan_new_message(message),
            };
        }
        let mut members = Vec::new();
        self.plan_fields(message, span, &mut members);
        self.plan_object(span, members)
    }

    /// An object that says its type: what an Any holds, or a document that has `@type`.
    pub(super) fn plan_typed_object(
        &mut self,
        url: Option<&Entry>,
        content: &Message,
        span: Span,
    ) -> EditPlan {
        let mut members = Vec::new();
        let own = self.nodes.find_value(span).map(get_members).unwrap_or_default();
        let written = own.iter().rfind(|it| it.key == "@type");
        let prefix = written.and_then(|it| match &it.value.kind {
            JsonKind::String(url) => url.rsplit_once('/').map(|it| it.0),
            _ => None,
        });
        let prefix = prefix.unwrap_or("type.googleapis.com");
        let named = || format!("{prefix}/{}", self.tree.message(content.ty).full_name());
        let said = url.and_then(|it| it.value.as_str()).map(str::to_owned);
        let text = said.unwrap_or_else(named);
        let is_same =
            |it: &&JsonMember<'_>| matches!(&it.value.kind, JsonKind::String(x) if *x == *text);
        let value = match written.filter(is_same) {
            Some(it) => EditPlan::Kept(it.value.span),
            None => EditPlan::Scalar(quote_text(&text)),
        };
        members.push(PlannedMember {
            key: written.map(|it| it.key_span),
            in_place: written.is_some(),
            name: "@type".to_owned(),
            order: 0,
            is_renamed: written.is_none(),
            value,
        });
        if Codec::new(self.tree).has_own_json(content.ty) {
            let written = own.iter().rfind(|it| it.key == "value");
            let value = match written {
                Some(it) => self.plan_message(content, it.value.span),
                None => self.plan_new_message(content),
            };
            members.push(PlannedMember {
                key: written.map(|it| it.key_span),
                in_place: written.is_some(),
                name: "value".to_owned(),
                order: 1,
                is_renamed: written.is_none(),
                value,
            });
        } else {
            self.plan_fields(content, span, &mut members);
        }
        self.plan_object(span, members)
    }

    /// A message that no text has.
    fn plan_new_message(&self, message: &Message) -> EditPlan {
        let text = Codec::new(self.tree).to_json_with_declared_names(message);
        let text = text.unwrap_or_else(|_| "null".to_owned());
        let (node, _) = parse_json(text.as_bytes(), JsonMapping::Strict);
        node.as_ref().map_or(EditPlan::Scalar("null".to_owned()), plan_from_json)
    }

    fn plan_fields(&mut self, message: &Message, span: Span, members: &mut Vec<PlannedMember>) {
        let own = self.nodes.find_value(span).map(get_members).unwrap_or_default();
        for (field, entries) in group_by_member(self.tree, message, own) {
            let is_own = |key: Span| own.iter().find(|it| it.key_span == key && !key.is_empty());
            let origin = entries.iter().find_map(|it| is_own(it.key));
            let key = origin.map(|it| it.key_span);
            let elsewhere = || {
                let moved = |key: &Span| self.nodes.find_member(*key).is_some();
                entries.iter().map(|it| it.key).find(moved)
            };
            let from = key.or_else(elsewhere).filter(|key| key.start != key.end);
            let (name, is_renamed) = self.choose_name(field, origin);
            self.claimed_keys.extend(entries.iter().map(|it| it.key));
            let value = self.plan_field(field, &entries, from);
            let (in_place, order) = (key.is_some(), field.number());
            members.push(PlannedMember { key: from, in_place, name, order, is_renamed, value });
        }
        // The Struct of a TypedStruct is written as the value that it stands for.
        if let Some(content) = &message.content
            && let Some(held) = message.find_by_number(self.tree, 2)
            && let Some(node) = self.nodes.find_member(held.key)
            && let Some(member) = members.iter_mut().find(|it| it.key == Some(held.key))
        {
            member.value = self.plan_message(content, node.value.span);
        }
        self.keep_blank_members(message.ty, own, members);
        sort_members(members);
    }

    /// The name of a field in the style of the key that it is made from, and whether that differs.
    fn choose_name(&self, field: Field<'_>, origin: Option<&JsonMember<'_>>) -> (String, bool) {
        if field.is_extension() {
            let name = format!("[{}]", field.full_name());
            let is_renamed = origin.is_none_or(|it| *it.key != *name);
            return (name, is_renamed);
        }
        let Some(origin) = origin else { return (field.name().to_owned(), true) };
        let means = field.parent().and_then(|it| it.find_field_by_json_name(&origin.key));
        if means.is_some_and(|it| it.id == field.id) {
            return (origin.key.clone().into_owned(), false);
        }
        let is_json_name = origin.key.contains(|it: char| it.is_ascii_uppercase());
        (if is_json_name { field.json_name() } else { field.name().to_owned() }, true)
    }

    /// Keeps members that say nothing, such as `key: null` and empty lists, where their fields
    /// still exist.
    fn keep_blank_members(
        &mut self,
        ty: MessageId,
        own: &'n [JsonMember<'n>],
        members: &mut Vec<PlannedMember>,
    ) {
        for member in own {
            let is_blank = match &member.value.kind {
                JsonKind::Null => true,
                JsonKind::Array(elements) => elements.is_empty(),
                JsonKind::Object(pairs) => pairs.is_empty(),
                _ => false,
            };
            let is_written = members.iter().any(|it| it.key == Some(member.key_span));
            if !is_blank || is_written || self.claimed_keys.contains(&member.key_span) {
                continue;
            }
            let now = self.tree.message(ty);
            let older = (self.versions)(ty).into_iter().rev();
            let numbers: Vec<i32> = older
                .filter_map(|it| self.tree.message(it).find_field_by_json_name(&member.key))
                .map(|it| it.number())
                .collect();
            // A name that has another number now is that of another field.
            let same = now.find_field_by_json_name(&member.key);
            if same.is_some_and(|same| numbers.iter().any(|it| *it != same.number())) {
                continue;
            }
            let home = || numbers.iter().find_map(|it| now.field_numbered(*it));
            let Some(field) = same.or_else(home) else { continue };
            // What another key became has the place: a blank value adds nothing to it.
            let is_another =
                |key: Span| own.iter().any(|it| it.key_span == key && !have_one_name(it, member));
            let is_taken = |it: &PlannedMember| {
                it.order == field.number() && (!it.in_place || it.key.is_some_and(is_another))
            };
            if members.iter().any(is_taken) {
                continue;
            }
            let (name, is_renamed) = self.choose_name(field, Some(member));
            let value = EditPlan::Kept(member.value.span);
            let key = Some(member.key_span);
            members.push(PlannedMember {
                key,
                in_place: true,
                name,
                order: field.number(),
                is_renamed,
                value,
            });
        }
    }

    /// The whole value of a field, which is made from that of a key.
    fn plan_field(&mut self, field: Field<'_>, entries: &[&Entry], key: Option<Span>) -> EditPlan {
        let node = key.and_then(|key| self.nodes.find_member(key)).map(|it| &it.value);
        match field.cardinality() {
            Cardinality::Singular => match entries.last() {
                Some(entry) => self.plan_value(field, entry),
                None => EditPlan::Scalar("null".to_owned()),
            },
            Cardinality::Repeated => {
                let elements: Vec<EditPlan> =
                    entries.iter().map(|it| self.plan_value(field, it)).collect();
                let list = node.and_then(|node| match &node.kind {
                    JsonKind::Array(written) => Some((node.span, written)),
                    _ => None,
                });
                let Some((span, written)) = list else { return EditPlan::List(None, elements) };
                let is_kept = written.len() == elements.len()
                    && written.iter().zip(&elements).all(|(a, b)| *b == EditPlan::Kept(a.span));
                if is_kept { EditPlan::Kept(span) } else { EditPlan::List(Some(span), elements) }
            }
            Cardinality::Map => {
                let span = node.map_or(Span::default(), |it| it.span);
                let own = node.map(get_members).unwrap_or_default();
                let mut members = Vec::new();
                for pair in entries.iter().filter_map(|it| it.value.as_message()) {
                    members.extend(self.plan_map_entry(field, pair, own));
                }
                self.plan_object(span, members)
            }
        }
    }

    fn plan_map_entry(
        &mut self,
        map: Field<'_>,
        pair: &Message,
        own: &'n [JsonMember<'n>],
    ) -> Option<PlannedMember> {
        let view = map.message_type()?;
        let key = pair.find_by_number(self.tree, 1)?;
        let written = own.iter().find(|it| it.key_span == key.key && !key.key.is_empty());
        let name = match &key.value {
            Value::String(text) => text.to_string(),
            Value::Bool(value) => value.to_string(),
            Value::U64(value) => value.to_string(),
            value => value.as_i64()?.to_string(),
        };
        let value = match pair.find_by_number(self.tree, 2) {
            Some(entry) => self.plan_value(view.field_numbered(2)?, entry),
            None => self.plan_new_message(pair),
        };
        let is_renamed = written.is_none_or(|it| *it.key != *name && key.span.is_empty());
        let key = written.map(|it| it.key_span);
        Some(PlannedMember { key, in_place: written.is_some(), name, order: 0, is_renamed, value })
    }

    /// One value of a field.
    fn plan_value(&mut self, field: Field<'_>, entry: &Entry) -> EditPlan {
        if let Value::Message(message) = &entry.value {
            return self.plan_message(message, entry.span);
        }
        let node = self.nodes.find_value(entry.span);
        let says_it = node.is_some_and(|node| match (&entry.value, &node.kind) {
            (Value::Enum(number), JsonKind::String(name)) => {
                let named = field.enum_type().and_then(|it| it.value_in_json(name));
                named.is_some_and(|it| it.number() == *number)
            }
            _ => true,
        });
        if says_it {
            return EditPlan::Kept(entry.span);
        }
        let Some(parent) = field.containing_message() else {
            return EditPlan::Scalar("null".to_owned());
        };
        let lone = Message { entries: vec![entry.clone()], ..Message::new(parent.id) };
        match self.plan_new_message(&lone) {
            EditPlan::Object(_, members) => {
                let value = members.into_iter().next().map(|it| it.value);
                match (value, field.cardinality()) {
                    (Some(EditPlan::List(_, elements)), Cardinality::Repeated) => elements
                        .into_iter()
                        .next()
                        .unwrap_or_else(|| EditPlan::Scalar("null".to_owned())),
                    (Some(value), _) => value,
                    // A zero, which a field without presence does not tell.
                    (None, _) => self.plan_zero(field, entry),
                }
            }
            other => other,
        }
    }

    fn plan_zero(&self, field: Field<'_>, entry: &Entry) -> EditPlan {
        EditPlan::Scalar(match &entry.value {
            Value::Bool(value) => value.to_string(),
            Value::String(_) | Value::Bytes(_) => "\"\"".to_owned(),
            Value::Enum(number) => {
                let named = field.enum_type().and_then(|it| it.value_numbered(*number));
                let Some(named) = named else { return EditPlan::Scalar(number.to_string()) };
                quote_text(named.json_text().unwrap_or(named.name()))
            }
            _ => "0".to_owned(),
        })
    }

    /// An object, which is kept if all of it is.
    fn plan_object(&self, span: Span, mut members: Vec<PlannedMember>) -> EditPlan {
        let Some(node) = self.nodes.find_value(span) else {
            return EditPlan::Object(None, members);
        };
        if !matches!(node.kind, JsonKind::Object(_)) {
            return EditPlan::Object(None, members);
        }
        let written = get_members(node);
        if self.keeps_repeated {
            keep_repeated_members(written, &mut members);
        }
        let is_kept = written.len() == members.len()
            && written.iter().zip(&members).all(|(written, member)| {
                member.in_place
                    && !member.is_renamed
                    && member.key == Some(written.key_span)
                    && member.value == EditPlan::Kept(written.value.span)
            });
        if is_kept { EditPlan::Kept(span) } else { EditPlan::Object(Some(span), members) }
    }
}

/// The entries of a message by their fields, those of a key that is written twice apart.
fn group_by_member<'t, 'm>(
    tree: &'t Tree,
    message: &'m Message,
    own: &[JsonMember<'_>],
) -> Vec<(Field<'t>, Vec<&'m Entry>)> {
    // Two fields of the older version may become one list: that has one key.
    let find = |key: Span| own.iter().find(|it| it.key_span == key && !key.is_empty());
    let is_apart = |field: Field<'_>, a: Span, b: Span| {
        let is_twice = || find(a).zip(find(b)).is_some_and(|(a, b)| have_one_name(a, b));
        // A message that is set twice is merged of both, wherever they are from.
        let is_merged = field.cardinality() == Cardinality::Singular
            && matches!(field.ty(), Type::Message(_))
            && !(a.is_empty() || b.is_empty());
        a != b && (is_merged || is_twice())
    };
    // Of each group also the keys that its entries are from, which are few.
    let mut groups: Vec<(Field<'t>, Vec<&'m Entry>, Vec<Span>)> = Vec::new();
    for entry in &message.entries {
        let is_same = |(field, _, keys): &&mut (Field<'t>, Vec<&'m Entry>, Vec<Span>)| {
            field.id == entry.field
                // A member of a oneof is set once.
                && (field.oneof().is_some() || !keys.iter().any(|it| is_apart(*field, *it, entry.key)))
        };
        match groups.iter_mut().rev().find(is_same) {
            Some((_, entries, keys)) => {
                entries.push(entry);
                if !keys.contains(&entry.key) {
                    keys.push(entry.key);
                }
            }
            None => groups.push((tree.field(entry.field), vec![entry], vec![entry.key])),
        }
    }
    groups.into_iter().map(|(field, entries, _)| (field, entries)).collect()
}

/// Returns true if two keys name one field, in whatever style.
fn have_one_name(a: &JsonMember<'_>, b: &JsonMember<'_>) -> bool {
    let plain = |it: &JsonMember<'_>| it.key.replace('_', "").to_ascii_lowercase();
    plain(a) == plain(b)
}

fn sort_members(members: &mut [PlannedMember]) {
    members.sort_by_key(|it| match it.key {
        _ if it.name == "@type" => (0, 0),
        Some(key) if it.in_place => (key.start + 1, 0),
        _ => (u32::MAX, it.order),
    });
}

/// Keeps members of YAML whose key is set again below, under the name that counts. Their values
/// say nothing, but anchors may stand there.
fn keep_repeated_members(own: &[JsonMember<'_>], members: &mut Vec<PlannedMember>) {
    let before = members.len();
    for (at, member) in own.iter().enumerate() {
        let is_planned = |key: Span| members.iter().any(|it| it.key == Some(key));
        let counts = own[at + 1..].iter().rev().find(|it| it.key == member.key);
        let Some(counts) = counts.filter(|_| !is_planned(member.key_span)) else { continue };
        let planned = members.iter().find(|it| it.in_place && it.key == Some(counts.key_span));
        if let Some(planned) = planned.cloned() {
            let (key, value) = (Some(member.key_span), EditPlan::Kept(member.value.span));
            members.push(PlannedMember { key, value, ..planned });
        }
    }
    if members.len() > before {
        sort_members(members);
    }
}
