//! Values from JSON.

use abide_syntax::Span;
use rustc_hash::FxHashMap;

use super::mapping::JsonMapping;
use super::scalars::{read_integer, to_scalar_value};
use super::syntax::{JsonKind, JsonMember, JsonNode, parse};
use super::well_known::{self, TYPE_KEY, VALUE_KEY, WellKnown, is_null_value};
use crate::decl::Scalar;
use crate::dynamic::{Entry, MAX_NESTING, Message, Value};
use crate::ids::{FieldId, MessageId};
use crate::problem::find_nearest;
use crate::tree::view;
use crate::tree::{Cardinality, Tree, Type};
use crate::value::codec::Codec;
use crate::value::error::UndeclaredPolicy;
use crate::value::facts::is_set;
use crate::value::names::TreeNames;
use crate::value::reading::{ReadError, ReadErrorKind, Reading, UndeclaredName, UnknownName};

impl Codec<'_> {
    /// Returns true if values of a message have a notation of their own in JSON, which an Any holds
    /// under the key `value`.
    pub fn has_own_json(self, ty: MessageId) -> bool {
        WellKnown::from_message(self.tree.message(ty)).is_some()
    }

    /// Reads a message in JSON. All errors are found, of the syntax and of
    /// values: text that is not JSON, values that do not fit their fields,
    /// fields and oneofs that are set twice, nesting deeper than
    /// [`MAX_NESTING`].
    pub fn read_json(self, ty: MessageId, text: &[u8], undeclared: UndeclaredPolicy) -> Reading {
        self.read_parsed_json(ty, &parse(text, JsonMapping::Strict), undeclared)
    }

    /// Reads a message from JSON that is parsed already, with the errors of its
    /// syntax.
    pub(crate) fn read_parsed_json(
        self,
        ty: MessageId,
        (node, errors): &(Option<JsonNode<'_>>, Vec<ReadError>),
        undeclared: UndeclaredPolicy,
    ) -> Reading {
        let mut reading = match node {
            Some(node) => self.read_json_node(ty, node, undeclared),
            None => Reading::from_message(Message::new(ty)),
        };
        reading.errors.extend(errors.iter().cloned());
        reading.errors.sort_by_key(|error| error.span.start);
        reading
    }

    /// Reads a message from JSON that is parsed already, or from another
    /// notation with the same values, by the mapping of the specification.
    pub fn read_json_node(
        self,
        ty: MessageId,
        node: &JsonNode<'_>,
        undeclared: UndeclaredPolicy,
    ) -> Reading {
        self.read_json_node_as(JsonMapping::Strict, ty, node, undeclared)
    }

    /// The same by either mapping.
    pub fn read_json_node_as(
        self,
        mapping: JsonMapping,
        ty: MessageId,
        node: &JsonNode<'_>,
        undeclared: UndeclaredPolicy,
    ) -> Reading {
        let mut reader = JsonReader {
            tree: self.tree,
            refuses: undeclared == UndeclaredPolicy::Refuse,
            mapping,
            errors: Vec::new(),
            liberties: Vec::new(),
            undeclared: Vec::new(),
        };
        let message = reader.read_message(ty, node, 0).unwrap_or_else(|| Message::new(ty));
        let JsonReader { mut errors, mut liberties, undeclared, .. } = reader;
        errors.sort_by_key(|error| error.span.start);
        liberties.sort_by_key(|error| error.span.start);
        Reading { message, errors, leniencies: liberties, undeclared }
    }
}

use ReadErrorKind::{Duplicate, InvalidValue, TooDeep, TypeNotFound, UnknownField, WrongType};

/// The fields of `google.protobuf.Value`.
mod kind {
    pub(super) const NULL: i32 = 1;
    pub(super) const NUMBER: i32 = 2;
    pub(super) const STRING: i32 = 3;
    pub(super) const BOOL: i32 = 4;
    pub(super) const STRUCT: i32 = 5;
    pub(super) const LIST: i32 = 6;
}

pub(super) struct JsonReader<'t> {
    pub(super) tree: &'t Tree,
    /// True if names that are not declared are errors.
    pub(super) refuses: bool,
    pub(super) mapping: JsonMapping,
    pub(super) errors: Vec<ReadError>,
    liberties: Vec<ReadError>,
    pub(super) undeclared: Vec<UndeclaredName>,
}

impl<'t> JsonReader<'t> {
    pub(super) fn is_lenient(&self) -> bool {
        self.mapping == JsonMapping::Lenient
    }

    /// Records what the lenient mapping takes and the specification does not.
    pub(super) fn allow_leniency(
        &mut self,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.liberties.push(ReadError {
            help: Some(help.into()),
            ..ReadError::new(ReadErrorKind::Leniency, span, message)
        });
    }

    pub(super) fn push_liberty(&mut self, liberty: ReadError) {
        self.liberties.push(liberty);
    }

    /// Records an error, in the place of what it is about.
    pub(super) fn fail<T>(
        &mut self,
        kind: ReadErrorKind,
        span: Span,
        message: impl Into<String>,
    ) -> Option<T> {
        self.errors.push(ReadError::new(kind, span, message));
        None
    }

    pub(super) fn fail_expected<T>(
        &mut self,
        node: &JsonNode<'_>,
        what: &str,
        field: view::Field<'_>,
    ) -> Option<T> {
        let text = format!("expected {what} for `{}`", field.name());
        self.fail(WrongType, node.span, text)
    }

    fn fail_duplicate<T>(&mut self, span: Span, name: &str, first: Span) -> Option<T> {
        self.errors.push(ReadError {
            related: Some((first, "set first here".to_owned())),
            ..ReadError::new(Duplicate, span, format!("`{name}` is set twice"))
        });
        None
    }

    /// Returns true if messages nest too deeply. The lenient mapping counts objects and arrays
    /// instead, which is done where they are parsed.
    fn is_too_deep(&self, depth: u32) -> bool {
        depth > MAX_NESTING && !self.is_lenient()
    }

    fn check_depth<T>(&mut self, node: &JsonNode<'_>) -> Option<T> {
        let text = format!("messages nest deeper than {MAX_NESTING} levels");
        self.fail(TooDeep, node.span, text)
    }

    /// Reads a message: what of it can be read, or nothing where it is none.
    pub(super) fn read_message(
        &mut self,
        ty: MessageId,
        node: &JsonNode<'_>,
        depth: u32,
    ) -> Option<Message> {
        if self.is_too_deep(depth) {
            return self.check_depth(node);
        }
        let view = self.tree.message(ty);
        let mut message = Message::new(ty);
        if let Some(known) = WellKnown::from_message(view) {
            self.read_well_known(&mut message, known, node, depth)?;
            return Some(message);
        }
        if matches!(node.kind, JsonKind::Null) && self.is_lenient() && depth > 0 {
            let text = format!("`null` counts as an empty `{}`", view.full_name());
            self.allow_leniency(node.span, text, "write `{}`");
            return Some(message);
        }
        let JsonKind::Object(members) = &node.kind else {
            let text = format!("expected an object for a `{}`", view.full_name());
            return self.fail(WrongType, node.span, text);
        };
        self.read_fields(&mut message, members.iter(), depth);
        Some(message)
    }

    pub(super) fn read_fields<'n>(
        &mut self,
        message: &mut Message,
        members: impl Iterator<Item = &'n JsonMember<'n>>,
        depth: u32,
    ) {
        let view = self.tree.message(message.ty);
        let mut seen: FxHashMap<FieldId, Span> = FxHashMap::default();
        let mut oneofs: FxHashMap<u32, (FieldId, Span)> = FxHashMap::default();
        for member in members {
            let Some(field) = self.resolve_field(view, member) else { continue };
            let before = self.errors.len();
            if self.may_be_set(field, member, &mut seen, &mut oneofs) {
                self.read_field(message, field, member.key_span, &member.value, depth);
            }
            let found = self.errors.iter_mut().skip(before).filter(|it| it.field.is_none());
            found.for_each(|error| error.field = Some(field.id));
        }
    }

    /// Returns true if a member sets a field that nothing before it excludes.
    fn may_be_set(
        &mut self,
        field: view::Field<'t>,
        member: &JsonMember<'_>,
        seen: &mut FxHashMap<FieldId, Span>,
        oneofs: &mut FxHashMap<u32, (FieldId, Span)>,
    ) -> bool {
        let first = seen.insert(field.id, member.key_span);
        let is_absent = matches!(member.value.kind, JsonKind::Null) && !accepts_null(field);
        if let Some(first) = first {
            if !self.is_lenient() {
                self.fail_duplicate::<()>(member.key_span, field.name(), first);
                return false;
            }
            if !is_absent {
                self.set_again(field, member.key_span, first);
            }
        }
        if is_absent {
            return false;
        }
        if let Some(oneof) = field.oneof()
            && let Some((other, first)) = oneofs.insert(oneof.id.index, (field.id, member.key_span))
        {
            let text = format!(
                "`{}` and `{}` are members of the oneof `{}`; only one can be set",
                field.name(),
                self.tree.field(other).name(),
                oneof.name()
            );
            self.errors.push(ReadError {
                related: Some((first, "set first here".to_owned())),
                ..ReadError::new(Duplicate, member.key_span, text)
            });
            return false;
        }
        true
    }

    fn resolve_field(
        &mut self,
        message: view::Message<'t>,
        member: &JsonMember<'_>,
    ) -> Option<view::Field<'t>> {
        let key = &*member.key;
        let found = match key.strip_prefix('[').and_then(|key| key.strip_suffix(']')) {
            Some(name) => {
                TreeNames(self.tree).extension(message.id, name).map(|id| self.tree.field(id))
            }
            None => message.find_field_by_json_name(key),
        };
        if found.is_none() {
            self.undeclared.push(UndeclaredName {
                lacked_by: UnknownName::Message(message.id),
                name: key.to_owned(),
                key: member.key_span,
                value: member.value.span,
            });
            if self.refuses {
                let near = find_nearest(key, message.fields().map(view::Field::name));
                let text = format!("`{}` has no field `{key}`", message.full_name());
                self.errors.push(ReadError {
                    help: near.map(|near| format!("did you mean `{near}`?")),
                    ..ReadError::new(UnknownField, member.key_span, text)
                });
            }
        }
        found
    }

    /// Reads the whole value of a field.
    pub(super) fn read_field(
        &mut self,
        message: &mut Message,
        field: view::Field<'t>,
        key: Span,
        node: &JsonNode<'_>,
        depth: u32,
    ) {
        let mut push =
            |value, span| message.entries.push(Entry { field: field.id, value, key, span });
        match field.cardinality() {
            Cardinality::Singular => {
                if let Some(value) = self.read_value(field, node, depth) {
                    push(value, node.span);
                }
            }
            Cardinality::Repeated => {
                for element in self.collect_elements(field, node) {
                    if let Some(value) = self.read_value(field, element, depth) {
                        push(value, element.span);
                    }
                }
            }
            Cardinality::Map => {
                let JsonKind::Object(members) = &node.kind else {
                    self.fail_expected::<()>(node, "an object", field);
                    return;
                };
                let mut seen: FxHashMap<&str, Span> = FxHashMap::default();
                for member in members {
                    if let Some(first) = seen.insert(&member.key, member.key_span) {
                        self.fail_duplicate::<()>(member.key_span, &member.key, first);
                    } else if let Some(pair) = self.read_map_entry(field, member, depth) {
                        let span = member.key_span.to(member.value.span);
                        push(Value::Message(Box::new(pair)), span);
                    }
                }
            }
        }
    }

    /// Reads an entry of a map.
    fn read_map_entry(
        &mut self,
        map: view::Field<'t>,
        member: &JsonMember<'_>,
        depth: u32,
    ) -> Option<Message> {
        let pair = map.message_type();
        let parts = pair.and_then(|it| Some((it, it.field_numbered(1)?, it.field_numbered(2)?)));
        let Some((pair, key_field, value_field)) = parts else {
            return self.fail_expected(&member.value, "nothing", map);
        };
        let key = match key_field.ty() {
            Type::Scalar(Scalar::Bool) => match &*member.key {
                "true" => Some(Value::Bool(true)),
                "false" => Some(Value::Bool(false)),
                _ => {
                    let text = "expected `true` or `false` as a key";
                    self.fail(WrongType, member.key_span, text)
                }
            },
            Type::Scalar(Scalar::String) => Some(Value::String((&*member.key).into())),
            ty => {
                let number = read_integer(&member.key);
                let value = match ty {
                    Type::Scalar(scalar) => number.and_then(|it| to_scalar_value(scalar, it)),
                    _ => None,
                };
                value.or_else(|| {
                    let text = format!("`{}` is not a valid key", member.key);
                    self.fail(InvalidValue, member.key_span, text)
                })
            }
        };
        let value = self.read_value(value_field, &member.value, depth + 1);
        let entry = |field: view::Field<'_>, value, span| Entry {
            field: field.id,
            value,
            key: member.key_span,
            span,
        };
        let mut message = Message::new(pair.id);
        message.entries.push(entry(key_field, key?, member.key_span));
        message.entries.push(entry(value_field, value?, member.value.span));
        Some(message)
    }

    /// Reads a type with a notation of its own; `None` where nothing of it can
    /// be read.
    fn read_well_known(
        &mut self,
        message: &mut Message,
        known: WellKnown,
        node: &JsonNode<'_>,
        depth: u32,
    ) -> Option<()> {
        let view = self.tree.message(message.ty);
        let text = match &node.kind {
            JsonKind::String(text) => Some(&**text),
            _ => None,
        };
        let kind = if text.is_some() { InvalidValue } else { WrongType };
        if self.is_lenient() && self.read_plain_form(message, known, node, depth) {
            return Some(());
        }
        match known {
            WellKnown::Any => return self.read_any(message, node, depth),
            WellKnown::Timestamp | WellKnown::Duration => {
                let (parse, what): (fn(&str) -> _, _) = match known {
                    WellKnown::Timestamp => {
                        (well_known::parse_timestamp, "a timestamp such as `1970-01-01T00:00:00Z`")
                    }
                    _ => (well_known::parse_duration, "a duration such as `1.5s`"),
                };
                let Some((seconds, nanos)) = text.and_then(parse) else {
                    return self.fail(kind, node.span, format!("expected {what}"));
                };
                for (number, value) in [(1, Value::I64(seconds)), (2, Value::I32(nanos))] {
                    set(message, view, number, value, node.span);
                }
            }
            WellKnown::FieldMask => {
                let Some(text) = text else {
                    let message = "expected a string of paths for a field mask";
                    return self.fail(kind, node.span, message);
                };
                for path in text.split(',').filter(|_| !text.is_empty()) {
                    let given = self.is_lenient() && path.contains('_');
                    let snake =
                        if given { Some(path.to_owned()) } else { well_known::to_snake_case(path) };
                    let Some(path) = snake else {
                        let text = format!("`{path}` is not a lowerCamelCase path");
                        return self.fail(kind, node.span, text);
                    };
                    set(message, view, 1, Value::String(path.into()), node.span);
                }
            }
            WellKnown::Struct | WellKnown::ListValue | WellKnown::Wrapper => {
                if let Some(field) = view.field_numbered(1) {
                    self.read_field(message, field, node.span, node, depth);
                }
            }
            WellKnown::Value => {
                let number = match node.kind {
                    JsonKind::Null => kind::NULL,
                    JsonKind::Number(_) => kind::NUMBER,
                    JsonKind::String(_) => kind::STRING,
                    JsonKind::Bool(_) => kind::BOOL,
                    JsonKind::Object(_) => kind::STRUCT,
                    JsonKind::Array(_) => kind::LIST,
                };
                if let Some(field) = view.field_numbered(number) {
                    self.read_field(message, field, node.span, node, depth);
                }
            }
        }
        Some(())
    }

    fn read_any(&mut self, message: &mut Message, node: &JsonNode<'_>, depth: u32) -> Option<()> {
        let JsonKind::Object(members) = &node.kind else {
            let text = "expected an object for a `google.protobuf.Any`";
            return self.fail(WrongType, node.span, text);
        };
        let mut types = members.iter().filter(|member| member.key == TYPE_KEY);
        let url = match (types.next(), types.next()) {
            (None, _) if members.is_empty() => return Some(()),
            (None, _) => {
                let text = format!("`{TYPE_KEY}` is missing");
                return self.fail(TypeNotFound, node.span, text);
            }
            (Some(first), Some(second)) => {
                return self.fail_duplicate(second.key_span, TYPE_KEY, first.key_span);
            }
            (Some(only), None) => &only.value,
        };
        let JsonKind::String(name) = &url.kind else {
            let text = format!("expected a string for `{TYPE_KEY}`");
            return self.fail(WrongType, url.span, text);
        };
        let is_hostless = self.is_lenient() && name.starts_with('/');
        let Some(ty) = TreeNames(self.tree).find_by_url(name).filter(|_| !is_hostless) else {
            let text = format!("`{name}` is not a known message type");
            return self.fail(TypeNotFound, url.span, text);
        };
        let view = self.tree.message(ty);
        // Runtimes differ in whether `Empty` has its own notation.
        let empty = is_empty(view) && !self.is_lenient();
        let passed =
            |member: &&JsonMember<'_>| member.key == TYPE_KEY || member.key == VALUE_KEY && empty;
        let rest = members.iter().filter(|member| !passed(member));
        let content = match WellKnown::from_message(view) {
            None => {
                if self.is_too_deep(depth + 1) {
                    return self.check_depth(node);
                }
                let mut content = Message::new(ty);
                self.read_fields(&mut content, rest, depth + 1);
                content
            }
            Some(_) => {
                let mut first = None;
                let mut content = None;
                for member in rest {
                    if member.key == VALUE_KEY && (first.is_none() || self.is_lenient()) {
                        if first.is_some() {
                            let text = format!("`{VALUE_KEY}` is set twice; the last value counts");
                            self.allow_leniency(
                                member.key_span,
                                text,
                                "remove the value that is not meant",
                            );
                        }
                        first = Some(member.key_span);
                        content = self.read_message(ty, &member.value, depth + 1);
                        continue;
                    }
                    let is_undeclared = member.key != VALUE_KEY;
                    if is_undeclared {
                        self.undeclared.push(UndeclaredName {
                            lacked_by: UnknownName::Message(message.ty),
                            name: (*member.key).to_owned(),
                            key: member.key_span,
                            value: member.value.span,
                        });
                    }
                    if !is_undeclared || self.refuses {
                        let kind = if is_undeclared { UnknownField } else { Duplicate };
                        let text = format!("expected only one `{VALUE_KEY}` and no other key");
                        self.fail::<()>(kind, member.key_span, text);
                    }
                }
                if first.is_none() && self.is_lenient() {
                    content = Some(Message::new(ty));
                } else if first.is_none() {
                    let text = format!("`{VALUE_KEY}` is missing");
                    return self.fail(WrongType, node.span, text);
                }
                content?
            }
        };
        let view = self.tree.message(message.ty);
        let bytes = Value::Bytes(Codec::new(self.tree).encode(&content).into());
        set(message, view, 1, Value::String((&**name).into()), url.span);
        set(message, view, 2, bytes, node.span);
        message.content = Some(Box::new(content));
        Some(())
    }
}

/// Sets a field of a well-known type, unless the value equals that of the unset
/// field.
fn set(message: &mut Message, view: view::Message<'_>, number: i32, value: Value, span: Span) {
    if let Some(field) = view.field_numbered(number)
        && (field.cardinality() == Cardinality::Repeated || is_set(field, &value))
    {
        message.entries.push(Entry { field: field.id, value, key: span, span });
    }
}

fn is_empty(message: view::Message<'_>) -> bool {
    message.name() == "Empty" && message.full_name() == "google.protobuf.Empty"
}

/// Returns true if `null` is a value of the field, and not its absence.
fn accepts_null(field: view::Field<'_>) -> bool {
    let is_value = |message| WellKnown::from_message(message) == Some(WellKnown::Value);
    field.cardinality() == Cardinality::Singular
        && (is_null_value(field) || field.message_type().is_some_and(is_value))
}
