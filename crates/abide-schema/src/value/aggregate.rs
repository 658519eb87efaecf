//! Reads aggregate values of options, which are in text notation, from a syntax
//! tree. Source: `TextFormat::Parser` of protobuf, in the form in which
//! protoc's `OptionInterpreter` uses it.

use std::borrow::Cow;

use abide_syntax::{
    Ast, KeyForm, Lexer, NumberLiteral, Span, TokenKind, ValueId, ValueKind, unescape_all,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::codec::Codec;
use super::facts::{can_hold_unknown_values, is_message_set, is_set};
use super::reading::{ReadErrorKind, UndeclaredName, UnknownName};
use crate::decl::{FileText, Scalar};
use crate::dynamic::{Entry, Message, Value};
use crate::ids::{ElementId, FieldId, FileId, MessageId};
use crate::problem::{ProblemKind, find_nearest, suggest_word};
use crate::protobuf::to_nearest_float;
use crate::tree::view;
use crate::tree::{Cardinality, Presence, Tree, Type};

/// Looks up names inside a value, as `TextFormat::Finder` of protobuf
/// does.
pub(crate) trait Finder {
    /// The extension that a name, written at a place, means in a value of `message`. The name of a
    /// message means the extension of a message set that it declares.
    fn find_extension(&mut self, message: MessageId, name: &str, at: Span) -> Option<FieldId>;
    /// The message with this full name, for a `google.protobuf.Any` whose type URL stands at a
    /// place.
    fn find_message(&mut self, full_name: &str, at: Span) -> Option<MessageId>;
    /// Notes what a name means that is written at a place.
    fn record_meaning(&mut self, _at: Span, _element: ElementId) {}
    /// Records that a value uses this file.
    fn mark_used(&mut self, file: FileId);
    /// Suggests what to do about an extension, or a message, that was not found where it is
    /// written.
    fn suggest_import(&self, _message: MessageId, _name: &str) -> Option<String> {
        None
    }
    /// Returns true if a file that could not be found may declare a name that was not found. If so,
    /// the value of that name is skipped.
    fn may_be_declared(&mut self, _name: &str) -> bool {
        false
    }
}

/// An error in a part of a value.
#[derive(Clone, Debug)]
pub(crate) struct ValueError {
    pub(crate) span: Span,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
    pub(crate) label: Option<(Span, String)>,
    pub(crate) kind: ProblemKind,
    /// The kind of the error to a reader of text.
    pub(crate) reason: ReadErrorKind,
    /// The field whose value it is in.
    pub(crate) field: Option<FieldId>,
}

impl ValueError {
    pub(crate) fn new(span: Span, message: impl Into<String>) -> ValueError {
        ValueError {
            span,
            message: message.into(),
            help: None,
            label: None,
            kind: ProblemKind::OptionInvalid,
            reason: ReadErrorKind::WrongType,
            field: None,
        }
    }

    pub(crate) fn with_help(mut self, help: impl Into<String>) -> ValueError {
        self.help = Some(help.into());
        self
    }

    fn with_reason(mut self, reason: ReadErrorKind) -> ValueError {
        self.reason = reason;
        self
    }

    fn with_label(mut self, span: Span, text: impl Into<String>) -> ValueError {
        self.label = Some((span, text.into()));
        self
    }
}

const IMPORT_IT: &str = "import the file that declares it";

/// After this many faults the rest of an option is passed over.
pub(crate) const MAX_FAULTS: usize = 20;

/// Reads values of the syntax tree of one file.
pub(crate) struct AggregateReader<'t, N> {
    pub(crate) tree: &'t Tree,
    pub(crate) ast: &'t Ast,
    pub(crate) text: &'t FileText,
    pub(crate) finder: N,
    /// True if undeclared fields and extensions are skipped.
    pub(crate) ignore_undeclared: bool,
    /// True if values are kept as they are written: with the zeros of fields
    /// without presence, and with what an Any holds.
    pub(crate) as_written: bool,
    pub(crate) faults: Vec<ValueError>,
    /// After this many the rest is passed over.
    pub(crate) max_faults: usize,
    pub(crate) undeclared: Vec<UndeclaredName>,
}

/// The prefixes of type URLs that protoc accepts.
pub(super) const URL_PREFIXES: [&str; 2] = ["type.googleapis.com/", "type.googleprod.com/"];

impl<'t, N: Finder> AggregateReader<'t, N> {
    /// Records a fault and returns `None`.
    fn fail<T>(&mut self, fault: ValueError) -> Option<T> {
        self.faults.push(fault);
        None
    }

    /// Reads `{ … }` as a message. A fault in one field is recorded, and the
    /// rest is read.
    pub(crate) fn read_message(&mut self, value: ValueId, ty: MessageId) -> Message {
        let ast = self.ast;
        let mut message = Message::new(ty);
        let mut set = SeenSingulars::default();
        let count = ast.value_children(value).count();
        message.entries.reserve_exact(count);
        for child in ast.value_children(value) {
            if self.faults.len() >= self.max_faults {
                break;
            }
            if let ValueKind::Field { key, form } = ast.values[child as usize].kind {
                self.read_field(&mut message, &mut set, key, form, child + 1);
            }
        }
        message
    }

    fn read_field(
        &mut self,
        message: &mut Message,
        set: &mut SeenSingulars,
        key: Span,
        form: KeyForm,
        value: ValueId,
    ) -> Option<()> {
        let view = self.tree.message(message.ty);
        let field = match form {
            KeyForm::Field => self.resolve_field(view, key, value)?,
            KeyForm::Extension | KeyForm::AnyUrl if is_any(view) => {
                return self.read_any(message, set, key, form, value);
            }
            KeyForm::Extension => self.resolve_extension(view, key, value)?,
            KeyForm::AnyUrl => {
                let message = "a type URL is only allowed in a `google.protobuf.Any`";
                return self.fail(ValueError::new(key, message));
            }
        };
        // protoc skips reserved names.
        let field = field?;
        let before = self.faults.len();
        let done = self.set_field(message, set, field, key, value);
        let found = self.faults.iter_mut().skip(before).filter(|it| it.field.is_none());
        found.for_each(|fault| fault.field = Some(field.id));
        done
    }

    /// Reads the whole value that is written for a field.
    fn set_field(
        &mut self,
        message: &mut Message,
        set: &mut SeenSingulars,
        field: view::Field<'t>,
        key: Span,
        value: ValueId,
    ) -> Option<()> {
        let view = self.tree.message(message.ty);
        let node = self.ast.values[value as usize];
        let repeated = field.cardinality() != Cardinality::Singular;
        if !repeated {
            self.check_unset(set, field, key)?;
        }
        if node.kind != ValueKind::Message {
            self.check_colon(field, key, value)?;
        }
        if repeated && node.kind == ValueKind::List {
            let ast = self.ast;
            message.entries.reserve(ast.value_children(value).count());
            for element in ast.value_children(value) {
                if let Some(entry) = self.read_value(field, key, element) {
                    message.entries.push(entry);
                }
            }
            return Some(());
        }
        let entry = self.read_value(field, key, value)?;
        let in_map_entry = view.is_map_entry();
        if repeated || self.as_written || is_set(field, &entry.value) || in_map_entry {
            if !repeated && is_set(field, &entry.value) {
                set.insert(field.id, field.decl().oneof, key);
            }
            message.entries.push(entry);
        }
        Some(())
    }

    /// One value of a field.
    fn read_value(&mut self, field: view::Field<'t>, key: Span, value: ValueId) -> Option<Entry> {
        let span = self.ast.values[value as usize].span;
        let read = match field.ty() {
            Type::Message(ty) => {
                if self.ast.values[value as usize].kind != ValueKind::Message {
                    let name = field.name();
                    let fault = ValueError::new(span, format!("`{name}` is a message"));
                    return self.fail(fault.with_help(format!("write `{name} {{ … }}`")));
                }
                Value::Message(Box::new(self.read_message(value, ty)))
            }
            Type::Enum(id) => self.read_enum_value(field, self.tree.enumeration(id), value)?,
            Type::Scalar(scalar) => self.read_scalar(field, scalar, value)?,
            // An unresolved type is reported where the field is declared.
            Type::Unresolved => return None,
        };
        Some(Entry { field: field.id, value: read, key, span })
    }

    /// The field with a name, or a group by the name of its type. The inner
    /// `None` means that the name is skipped, such as a reserved one.
    #[allow(clippy::option_option, reason = "not found and skipped are different results")]
    fn resolve_field(
        &mut self,
        message: view::Message<'t>,
        key: Span,
        value: ValueId,
    ) -> Option<Option<view::Field<'t>>> {
        let name = self.text.str(key);
        if let Some(field) = message.field_named(name) {
            self.finder.record_meaning(key, ElementId::Field(field.id));
            return Some(Some(field));
        }
        if name.bytes().any(|byte| byte.is_ascii_uppercase())
            && let Some(field) = message.field_named(&name.to_ascii_lowercase())
            && is_group_like(field)
            && let Some(group) = field.message_type().filter(|group| group.name() == name)
        {
            self.finder.record_meaning(key, ElementId::Message(group.id));
            self.finder.record_meaning(key, ElementId::Field(field.id));
            return Some(Some(field));
        }
        self.report_unknown(UnknownName::Message(message.id), name, key, value);
        if self.ignore_undeclared || message.reserves_name(name) {
            return Some(None);
        }
        let fault =
            ValueError::new(key, format!("`{}` has no field `{name}`", message.full_name()))
                .with_reason(ReadErrorKind::UnknownField);
        let near = find_nearest(name, message.fields().map(view::Field::name));
        self.fail(match near {
            Some(near) => fault.with_help(suggest_word(near)),
            None => fault,
        })
    }

    fn resolve_extension(
        &mut self,
        message: view::Message<'t>,
        key: Span,
        value: ValueId,
    ) -> Option<Option<view::Field<'t>>> {
        let (name, at) = self.read_bracketed_name(key);
        match self.finder.find_extension(message.id, &name, at).map(|id| self.tree.field(id)) {
            Some(field) if is_extension_of(field, message) => Some(Some(field)),
            Some(field) => {
                let extendee = field.extendee().map(view::Message::full_name).unwrap_or_default();
                let message = message.full_name();
                let text = format!("`{name}` extends `{extendee}`, not `{message}`");
                self.fail(ValueError::new(key, text))
            }
            None => {
                self.report_unknown(UnknownName::Message(message.id), &name, key, value);
                if self.ignore_undeclared || self.finder.may_be_declared(&name) {
                    return Some(None);
                }
                let text =
                    format!("`{name}` is not a visible extension of `{}`", message.full_name());
                let fault = ValueError::new(key, text).with_reason(ReadErrorKind::UnknownField);
                let advice = self.finder.suggest_import(message.id, &name);
                self.fail(fault.with_help(advice.unwrap_or_else(|| IMPORT_IT.to_owned())))
            }
        }
    }

    /// Notes a name that is not declared.
    fn report_unknown(&mut self, lacked_by: UnknownName, name: &str, key: Span, value: ValueId) {
        let value = self.ast.values[value as usize].span;
        self.undeclared.push(UndeclaredName { lacked_by, name: name.to_owned(), key, value });
    }

    /// The name inside `[` and `]`, and where it stands.
    fn read_bracketed_name(&self, key: Span) -> (String, Span) {
        let inner = Span::new(key.start + 1, key.end.saturating_sub(1).max(key.start + 1));
        let mut name = String::new();
        let mut lexer = Lexer::new(self.text, inner.start);
        loop {
            let token = lexer.next_token();
            if token.kind == TokenKind::End || token.span.start >= inner.end {
                return (name, inner);
            }
            name.push_str(self.text.str(token.span));
        }
    }

    /// `[type.googleapis.com/full.Name] { … }` in a `google.protobuf.Any`.
    fn read_any(
        &mut self,
        message: &mut Message,
        set: &mut SeenSingulars,
        key: Span,
        form: KeyForm,
        value: ValueId,
    ) -> Option<()> {
        let (url, at) = self.read_bracketed_name(key);
        if form == KeyForm::Extension {
            let fault = ValueError::new(key, "a type URL needs a host before the type name");
            return self.fail(fault.with_help(format!("write `[{}{url}]`", URL_PREFIXES[0])));
        }
        let name = URL_PREFIXES.iter().find_map(|prefix| url.strip_prefix(prefix));
        let Some(ty) = name.and_then(|name| self.finder.find_message(name, at)) else {
            if name.is_some_and(|name| self.finder.may_be_declared(name)) {
                return None;
            }
            let fault = match name {
                None => ValueError::new(key, format!("the host of `{url}` is not supported"))
                    .with_reason(ReadErrorKind::TypeNotFound)
                    .with_help(format!("write `[{}NAME]`", URL_PREFIXES[0])),
                Some(name) => {
                    let advice = self.finder.suggest_import(message.ty, &format!(".{name}"));
                    ValueError::new(key, format!("`{name}` is not a visible message"))
                        .with_reason(ReadErrorKind::TypeNotFound)
                        .with_help(advice.unwrap_or_else(|| IMPORT_IT.to_owned()))
                }
            };
            return self.fail(fault);
        };
        self.finder.mark_used(ty.file);
        let node = self.ast.values[value as usize];
        if node.kind != ValueKind::Message {
            return self.fail(ValueError::new(node.span, format!("`{url}` is a message")));
        }
        let before = self.faults.len();
        let content = self.read_message(value, ty);
        if self.faults.len() == before {
            self.check_required(&content, key);
        }
        let view = self.tree.message(message.ty);
        let fields = [
            (1, Value::String(url.into())),
            (2, Value::Bytes(Codec::new(self.tree).encode(&content).into())),
        ];
        for (number, value) in fields {
            let Some(field) = view.field_numbered(number) else { continue };
            self.check_unset(set, field, key)?;
            set.insert(field.id, None, key);
            message.entries.push(Entry { field: field.id, value, key, span: node.span });
        }
        if self.as_written {
            message.content = Some(Box::new(content));
        }
        Some(())
    }

    /// Reports a singular field that is set twice, and a second member of a
    /// oneof.
    fn check_unset(
        &mut self,
        set: &SeenSingulars,
        field: view::Field<'t>,
        key: Span,
    ) -> Option<()> {
        if let Some(&place) = set.by_field.get(&field.id) {
            let fault = ValueError::new(key, format!("`{}` is set twice", field.name()));
            let fault = fault.with_reason(ReadErrorKind::Duplicate);
            return self.fail(fault.with_label(place, "set first here"));
        }
        if let Some(oneof) = field.decl().oneof
            && let Some(&(other, place)) = set.by_oneof.get(&(field.id.file, oneof))
        {
            let oneof = field.oneof().map(view::Oneof::name).unwrap_or_default();
            let other = self.tree.field(other).name();
            let message = format!(
                "`{}` and `{other}` are members of the oneof `{oneof}`; only one can be set",
                field.name()
            );
            let fault = ValueError::new(key, message).with_reason(ReadErrorKind::Duplicate);
            return self.fail(fault.with_label(place, "set first here"));
        }
        Some(())
    }

    /// Reports a missing colon; only a message, or a list of messages, may omit
    /// it.
    fn check_colon(&mut self, field: view::Field<'t>, key: Span, value: ValueId) -> Option<()> {
        if matches!(field.ty(), Type::Message(_)) {
            return Some(());
        }
        let next = Lexer::new(self.text, key.end).next_token();
        if next.kind == TokenKind::Symbol(b':') {
            return Some(());
        }
        let span = self.ast.values[value as usize].span;
        let text = format!("`:` is missing after `{}`", field.name());
        self.fail(ValueError::new(span, text).with_reason(ReadErrorKind::Syntax))
    }

    /// Records the required fields that a value lacks.
    pub(crate) fn check_required(&mut self, message: &Message, key: Span) {
        let view = self.tree.message(message.ty);
        let required = view.fields().filter(|field| {
            field.features().presence == Presence::LegacyRequired
                && field.presence() == Presence::LegacyRequired
        });
        let mut required = required.peekable();
        let set: FxHashSet<FieldId> = match required.peek() {
            Some(_) => message.entries.iter().map(|entry| entry.field).collect(),
            None => FxHashSet::default(),
        };
        let missing: Vec<&str> =
            required.filter(|field| !set.contains(&field.id)).map(view::Field::name).collect();
        if !missing.is_empty() {
            let noun = if missing.len() == 1 { "field" } else { "fields" };
            let text = format!(
                "`{}` is missing the required {noun} `{}`",
                view.full_name(),
                missing.join("`, `")
            );
            self.faults
                .push(ValueError::new(key, text).with_reason(ReadErrorKind::MissingRequired));
        }
        for entry in &message.entries {
            if let Value::Message(inner) = &entry.value {
                self.check_required(inner, entry.key);
            }
        }
    }

    fn read_enum_value(
        &mut self,
        field: view::Field<'t>,
        item: view::Enum<'t>,
        value: ValueId,
    ) -> Option<Value> {
        let node = self.ast.values[value as usize];
        let number = match node.kind {
            ValueKind::Ident { negative: false, word } => {
                return self.enum_named(item, word).map(Value::Enum);
            }
            ValueKind::Int { negative, digits } => {
                self.read_integer(node.span, negative, digits, i32::MIN.into(), i32::MAX.into())?
                    as i32
            }
            _ => return self.fail_expected(node.span, field, "the name of an enum value"),
        };
        if item.value_numbered(number).is_some() || can_hold_unknown_values(field) {
            return Some(Value::Enum(number));
        }
        let text = format!("`{}` has no value with the number {number}", item.full_name());
        self.fail(ValueError::new(node.span, text).with_reason(ReadErrorKind::UnknownEnumValue))
    }

    /// The number of an enum value, by its name.
    pub(crate) fn enum_named(&mut self, item: view::Enum<'t>, word: Span) -> Option<i32> {
        let name = self.text.str(word);
        let value = item.value_named(name);
        if let Some(value) = value {
            self.finder.record_meaning(word, ElementId::EnumValue(value.id));
        } else {
            let text = format!("`{}` has no value `{name}`", item.full_name());
            let near = find_nearest(name, item.values().map(view::EnumValue::name));
            let fault = ValueError::new(word, text).with_reason(ReadErrorKind::UnknownEnumValue);
            self.undeclared.push(UndeclaredName {
                lacked_by: UnknownName::Enum(item.id),
                name: name.to_owned(),
                key: word,
                value: word,
            });
            self.faults.push(match near {
                Some(near) => fault.with_help(suggest_word(near)),
                None => fault,
            });
        }
        value.map(view::EnumValue::number)
    }

    fn fail_expected<T>(&mut self, span: Span, field: view::Field<'_>, what: &str) -> Option<T> {
        let text = format!("`{}` takes {what}, not `{}`", field.name(), self.excerpt(span));
        self.fail(ValueError::new(span, text))
    }

    /// The start of the text at a span, for messages.
    pub(crate) fn excerpt(&self, span: Span) -> String {
        let raw = String::from_utf8_lossy(span.of(self.text));
        let line = raw.lines().next().unwrap_or_default();
        match line.char_indices().nth(40) {
            Some((at, _)) => format!("{}…", &line[..at]),
            None if line.len() < raw.len() => format!("{line}…"),
            None => line.to_owned(),
        }
    }

    fn read_integer(
        &mut self,
        span: Span,
        negative: bool,
        digits: Span,
        min: i128,
        max: i128,
    ) -> Option<i128> {
        let number = NumberLiteral::parse(digits.of(self.text));
        let magnitude = number.and_then(NumberLiteral::to_integer).map(i128::from);
        let value = magnitude.map(|value| if negative { -value } else { value });
        match value.filter(|value| (min..=max).contains(value)) {
            Some(value) => Some(value),
            None => {
                let text = format!("`{}` is not between {min} and {max}", self.excerpt(span));
                self.fail(ValueError::new(span, text).with_reason(ReadErrorKind::InvalidValue))
            }
        }
    }

    /// The value of an integer field, from an integer token.
    fn read_integer_value(
        &mut self,
        field: view::Field<'_>,
        scalar: Scalar,
        value: ValueId,
    ) -> Option<Value> {
        let node = self.ast.values[value as usize];
        let (min, max): (i128, i128) = match scalar {
            Scalar::Int32 | Scalar::Sint32 | Scalar::Sfixed32 => (i32::MIN.into(), i32::MAX.into()),
            Scalar::Uint32 | Scalar::Fixed32 => (0, u32::MAX.into()),
            Scalar::Uint64 | Scalar::Fixed64 => (0, u64::MAX.into()),
            _ => (i64::MIN.into(), i64::MAX.into()),
        };
        let ValueKind::Int { negative, digits } = node.kind else {
            return self.fail_expected(node.span, field, "an integer");
        };
        // protoc refuses the sign itself, even before a zero.
        if negative && min == 0 {
            return self.fail_expected(node.span, field, "an integer without a sign");
        }
        let number = self.read_integer(node.span, negative, digits, min, max)?;
        Some(match scalar {
            Scalar::Int32 | Scalar::Sint32 | Scalar::Sfixed32 => Value::I32(number as i32),
            Scalar::Uint32 | Scalar::Fixed32 => Value::U32(number as u32),
            Scalar::Uint64 | Scalar::Fixed64 => Value::U64(number as u64),
            _ => Value::I64(number as i64),
        })
    }

    fn read_string_value(
        &mut self,
        field: view::Field<'_>,
        scalar: Scalar,
        value: ValueId,
    ) -> Option<Value> {
        let node = self.ast.values[value as usize];
        if node.kind != ValueKind::String {
            return self.fail_expected(node.span, field, "a string in quotes");
        }
        let bytes = match as_plain_string(node.span.of(self.text)) {
            Some(bytes) => Cow::Borrowed(bytes),
            None => match unescape_all(self.text, node.span) {
                Ok(bytes) => Cow::Owned(bytes),
                Err(error) => {
                    let fault = ValueError::new(error.span, error.message);
                    return self.fail(fault.with_reason(ReadErrorKind::InvalidValue));
                }
            },
        };
        if scalar == Scalar::Bytes {
            return Some(Value::Bytes(bytes.into()));
        }
        let value = Value::string(bytes);
        if matches!(value, Value::Bytes(_)) && field.features().utf8_validated {
            let text = format!("the string for `{}` is not valid UTF-8", field.name());
            return self
                .fail(ValueError::new(node.span, text).with_reason(ReadErrorKind::InvalidValue));
        }
        Some(value)
    }

    /// A scalar inside an aggregate, by the rules of the text format.
    fn read_scalar(
        &mut self,
        field: view::Field<'t>,
        scalar: Scalar,
        value: ValueId,
    ) -> Option<Value> {
        let node = self.ast.values[value as usize];
        match scalar {
            Scalar::String | Scalar::Bytes => self.read_string_value(field, scalar, value),
            Scalar::Bool => {
                let known = match node.kind {
                    ValueKind::Ident { negative: false, word } => match word.of(self.text) {
                        b"true" | b"True" | b"t" => Some(true),
                        b"false" | b"False" | b"f" => Some(false),
                        _ => None,
                    },
                    ValueKind::Int { negative: false, digits } => {
                        match NumberLiteral::parse(digits.of(self.text)) {
                            Some(NumberLiteral::Integer(0)) => Some(false),
                            Some(NumberLiteral::Integer(1)) => Some(true),
                            _ => None,
                        }
                    }
                    _ => None,
                };
                match known {
                    Some(value) => Some(Value::Bool(value)),
                    None => self.fail_expected(node.span, field, "`true` or `false`"),
                }
            }
            Scalar::Double | Scalar::Float => {
                let (negative, magnitude) = match node.kind {
                    ValueKind::Int { digits, .. }
                        if matches!(digits.of(self.text), [b'0', _, ..]) =>
                    {
                        return self.fail_expected(node.span, field, "a decimal number");
                    }
                    ValueKind::Int { negative, digits } | ValueKind::Float { negative, digits } => {
                        (
                            negative,
                            NumberLiteral::parse(digits.of(self.text))
                                .and_then(NumberLiteral::to_double),
                        )
                    }
                    ValueKind::Ident { negative, word } => {
                        (negative, parse_non_finite(&self.text.str(word).to_ascii_lowercase()))
                    }
                    _ => (false, None),
                };
                let Some(magnitude) = magnitude else {
                    return self.fail_expected(node.span, field, "a number");
                };
                let number = if negative { -magnitude } else { magnitude };
                Some(match scalar {
                    Scalar::Float => Value::F32(to_nearest_float(number)),
                    _ => Value::F64(number),
                })
            }
            _ => self.read_integer_value(field, scalar, value),
        }
    }

    /// The value of an option statement that is not an aggregate, which is
    /// stricter than inside one. Source: `OptionInterpreter::SetOptionValue` of
    /// protobuf.
    pub(crate) fn read_statement(
        &mut self,
        field: view::Field<'t>,
        value: ValueId,
    ) -> Option<Value> {
        let node = self.ast.values[value as usize];
        match field.ty() {
            Type::Message(ty) => {
                if node.kind != ValueKind::Message {
                    let name = field.name();
                    let fault = ValueError::new(node.span, format!("`{name}` is a message"));
                    return self.fail(fault.with_help(format!(
                        "set all of it with `{{ … }}`, or one field with `{name}.FIELD`"
                    )));
                }
                let before = self.faults.len();
                let message = self.read_message(value, ty);
                if self.faults.len() == before {
                    self.check_required(&message, node.span);
                }
                Some(Value::Message(Box::new(message)))
            }
            Type::Enum(id) => match node.kind {
                ValueKind::Ident { negative: false, word } => {
                    let item = self.tree.enumeration(id);
                    self.finder.mark_used(id.file);
                    self.enum_named(item, word).map(Value::Enum)
                }
                _ => self.fail_expected(node.span, field, "the name of an enum value"),
            },
            Type::Scalar(scalar @ (Scalar::String | Scalar::Bytes)) => {
                self.read_string_value(field, scalar, value)
            }
            Type::Scalar(Scalar::Bool) => match node.span.of(self.text) {
                b"true" => Some(Value::Bool(true)),
                b"false" => Some(Value::Bool(false)),
                _ => self.fail_expected(node.span, field, "`true` or `false`"),
            },
            Type::Scalar(scalar @ (Scalar::Double | Scalar::Float)) => {
                let number = match node.kind {
                    ValueKind::Int { negative, digits } | ValueKind::Float { negative, digits } => {
                        let sign = |value: f64| if negative { -value } else { value };
                        match NumberLiteral::parse(digits.of(self.text)) {
                            // An integer has no negative zero.
                            Some(NumberLiteral::Integer(0)) => Some(0.0),
                            // Rounded only once, from the integer itself.
                            Some(NumberLiteral::Integer(value)) if scalar == Scalar::Float => {
                                Some(sign(f64::from(value as f32)))
                            }
                            Some(NumberLiteral::TooLarge) => {
                                let text = self.excerpt(node.span);
                                let text = format!("`{text}` does not fit into 64 bits");
                                let fault = ValueError::new(node.span, text);
                                return self.fail(fault.with_reason(ReadErrorKind::InvalidValue));
                            }
                            number => number.and_then(NumberLiteral::to_double).map(sign),
                        }
                    }
                    ValueKind::Ident { negative, word } => match word.of(self.text) {
                        b"inf" if negative => Some(f64::NEG_INFINITY),
                        b"inf" => Some(f64::INFINITY),
                        b"nan" => Some(f64::NAN),
                        _ => None,
                    },
                    _ => None,
                };
                let Some(number) = number else {
                    return self.fail_expected(node.span, field, "a number");
                };
                Some(match scalar {
                    Scalar::Float => Value::F32(number as f32),
                    _ => Value::F64(number),
                })
            }
            Type::Scalar(scalar) => self.read_integer_value(field, scalar, value),
            Type::Unresolved => None,
        }
    }
}

/// The singular fields of a message that are set, each with its key.
#[derive(Default)]
struct SeenSingulars {
    by_field: FxHashMap<FieldId, Span>,
    /// By the oneof that they are members of.
    by_oneof: FxHashMap<(FileId, u32), (FieldId, Span)>,
}

impl SeenSingulars {
    fn insert(&mut self, field: FieldId, oneof: Option<u32>, key: Span) {
        self.by_field.insert(field, key);
        if let Some(oneof) = oneof {
            self.by_oneof.insert((field.file, oneof), (field, key));
        }
    }
}

/// The text between the quotes of a single literal without escapes.
fn as_plain_string(raw: &[u8]) -> Option<&[u8]> {
    let (quote, rest) = raw.split_first()?;
    let (last, inner) = rest.split_last()?;
    let plain = last == quote && memchr::memchr2(*quote, b'\\', inner).is_none();
    plain.then_some(inner)
}

fn parse_non_finite(word: &str) -> Option<f64> {
    match word {
        "inf" | "infinity" => Some(f64::INFINITY),
        "nan" => Some(f64::NAN),
        _ => None,
    }
}

/// Returns true if a message is `google.protobuf.Any`.
pub(crate) fn is_any(message: view::Message<'_>) -> bool {
    message.name() == "Any" && message.full_name() == "google.protobuf.Any"
}

/// Returns true if an extension extends a message, or a message with the same name
/// under another root.
pub(crate) fn is_extension_of(field: view::Field<'_>, message: view::Message<'_>) -> bool {
    field.extendee().is_some_and(|extendee| {
        extendee.id == message.id
            || extendee.name() == message.name() && extendee.full_name() == message.full_name()
    })
}

/// Returns true if a field looks like a group: its type is declared beside it, and its
/// name is that of the type in lower case. Source: `IsGroupLike` of protobuf.
pub(super) fn is_group_like(field: view::Field<'_>) -> bool {
    field.features().delimited
        && field.message_type().is_some_and(|group| {
            group.id.file == field.id.file
                && group.name().to_ascii_lowercase() == field.name()
                && group.decl().parent == field.decl().parent
        })
}

/// The extension of a message set that a message declares with itself as its
/// type. Text may name it by the message. Source:
/// `AggregateOptionFinder::FindExtension`.
pub(crate) fn find_message_set_item(
    message: view::Message<'_>,
    item: view::Message<'_>,
) -> Option<FieldId> {
    if !is_message_set(message) {
        return None;
    }
    let fits = |field: &view::Field<'_>| {
        is_extension_of(*field, message)
            && field.cardinality() == Cardinality::Singular
            && field.ty() == Type::Message(item.id)
    };
    item.extensions().find(fits).map(|field| field.id)
}
