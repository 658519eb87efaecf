//! Extensions that a `google.protobuf.Struct` configures, which become an Any.

use abide_schema::value::{Codec, Entry, Message, UndeclaredPolicy, Value};
use abide_schema::{Field, MessageId};
use abide_syntax::Span;

use super::converter::Converter;
use super::path::build_any;
use super::steps::{ConfiguredExtension, KnownExtension};
use super::version_converter::ConversionChange;
use crate::readers::{Dialect, remove_message_places, struct_to_json};

impl<'a, 't> Converter<'a, 't> {
    /// Turns the `google.protobuf.Struct` of an extension into the message that it stands for.
    pub(super) fn convert_configured(
        &mut self,
        configured: &'a ConfiguredExtension,
        rest: &mut Message,
        new: &mut Message,
    ) {
        let tree = self.tree;
        let view = tree.message(rest.ty);
        let target = tree.message(new.ty);
        let fields = (view.field_named(&configured.from), target.field_named(&configured.to));
        let (Some(from), Some(to)) = fields else { return };
        let taken: Vec<Entry> = rest.entries_of(from.id).cloned().collect();
        let Some(name_field) = &configured.name else {
            rest.entries.retain(|it| it.field != from.id);
            taken.iter().for_each(|it| self.convert_configured_pair(configured, it, from, to, new));
            self.rename_keys(configured, rest, to);
            return;
        };
        let Some(named) = view.field_named(name_field) else { return };
        let Some(at) = rest.entries.iter().rposition(|it| it.field == named.id) else { return };
        let name = rest.entries[at].value.as_str().unwrap_or_default().to_owned();
        let place = rest.entries[at].span;
        let Some(extension) = self.find_extension(&name, configured) else {
            if let Some(config) = taken.first() {
                rest.entries.retain(|it| it.field != from.id);
                self.record_unknown_configuration(config.key, from, &name);
            }
            return;
        };
        if name != extension.name {
            self.record_change(place, name.clone(), extension.name.clone());
            rest.entries[at].value = Value::String(extension.name.clone().into());
            rest.entries[at].span = Span::default();
        }
        let typed = view.field_numbered(to.number());
        let is_typed = typed.is_some_and(|it| rest.entries_of(it.id).next().is_some());
        let Some(ty) = extension.ty else { return };
        let config = taken.last().and_then(|it| it.value.as_message().map(|inside| (it, inside)));
        rest.entries.retain(|it| it.field != from.id);
        let (key, inside) = match config {
            Some((entry, _)) if is_typed => {
                let text = format!(
                    "`{}` is not carried: `{}` is set as well, and wins",
                    from.name(),
                    to.name()
                );
                return self.record_loss(entry.key, from.full_name(), text);
            }
            Some((entry, inside)) => (entry.key, self.read_struct(ty, inside, entry.span)),
            None if extension.always_configured && !is_typed => (Span::default(), Message::new(ty)),
            None => return,
        };
        let span = config.map_or(Span::default(), |(entry, _)| entry.span);
        self.put_any(to, inside, key, span, new);
        self.record_change(
            key,
            if config.is_some() { from.full_name() } else { String::new() },
            to.full_name(),
        );
    }

    /// Finds the extension of a name where the value stands.
    fn find_extension(
        &self,
        name: &str,
        configured: &ConfiguredExtension,
    ) -> Option<&'a KnownExtension> {
        let enclosing = self.enclosing.iter().rev().map(|it| self.tree.message(*it).full_name());
        let enclosing: Vec<String> = enclosing.collect();
        let enclosing = enclosing.iter().map(String::as_str);
        self.translator.steps.find_extension(name, &configured.kind, enclosing)
    }

    /// Puts a message into the Any of a field, as the neighbouring version has it.
    fn put_any(
        &mut self,
        to: Field<'t>,
        inside: Message,
        key: Span,
        span: Span,
        new: &mut Message,
    ) {
        let any = self.pack_any(to, inside, span);
        if let Some(any) = any {
            new.entries.push(Entry {
                field: to.id,
                value: Value::Message(Box::new(any)),
                key,
                span,
            });
        }
    }

    fn pack_any(&mut self, to: Field<'t>, inside: Message, span: Span) -> Option<Message> {
        let ty = inside.ty;
        let target = self.translator.type_mapping.find_neighbour(ty, self.way).unwrap_or(ty);
        let content = self.convert_message(&inside, target, span);
        Some(build_any(self.tree, to.message_type()?.id, content))
    }

    /// Records that an extension is not known, so nothing says what its configuration would be.
    fn record_unknown_configuration(&mut self, span: Span, from: Field<'t>, name: &str) {
        let message = format!("the type of the configuration of `{name}` is not known");
        let help = "write its configuration by hand as an Any with its type";
        self.record_loss_with_help(span, from.full_name(), message, help);
    }

    /// A pair of a map from names of extensions to their configuration.
    fn convert_configured_pair(
        &mut self,
        configured: &ConfiguredExtension,
        pair: &Entry,
        from: Field<'t>,
        to: Field<'t>,
        new: &mut Message,
    ) {
        let tree = self.tree;
        let Some(inside) = pair.value.as_message() else { return };
        let name =
            inside.find_by_number(tree, 1).and_then(|it| it.value.as_str()).unwrap_or_default();
        let extension = self.find_extension(name, configured);
        let config = inside.find_by_number(tree, 2);
        let known = extension.and_then(|it| Some((it, it.ty?)));
        let parts = known.zip(config.and_then(|it| Some((it, it.value.as_message()?))));
        let Some(((extension, ty), (config, content))) = parts else {
            return self.record_unknown_configuration(pair.span, from, name);
        };
        let content = self.read_struct(ty, content, config.span);
        let Some(entry) = to.message_type() else { return };
        let (Some(key_field), Some(value_field)) =
            (entry.field_numbered(1), entry.field_numbered(2))
        else {
            return;
        };
        let Some(any) = self.pack_any(value_field, content, config.span) else { return };
        let key = inside.find_by_number(tree, 1).cloned().unwrap_or_else(|| pair.clone());
        let is_same = extension.name == name;
        let mut made = Message::new(entry.id);
        made.entries.push(Entry {
            field: key_field.id,
            value: Value::String(extension.name.clone().into()),
            key: key.key,
            span: if is_same { key.span } else { Span::default() },
        });
        made.entries.push(Entry {
            field: value_field.id,
            value: Value::Message(Box::new(any)),
            key: config.key,
            span: config.span,
        });
        self.record_change(pair.key, from.full_name(), to.full_name());
        let value = Value::Message(Box::new(made));
        new.entries.push(Entry { field: to.id, value, key: pair.key, span: pair.span });
    }

    /// Gives extensions in the keys of a map the names of the newer version.
    fn rename_keys(&mut self, configured: &ConfiguredExtension, rest: &mut Message, to: Field<'t>) {
        let tree = self.tree;
        for entry in &mut rest.entries {
            if tree.field(entry.field).number() != to.number() {
                continue;
            }
            let Value::Message(pair) = &mut entry.value else { continue };
            for key in pair.entries.iter_mut().filter(|it| tree.field(it.field).number() == 1) {
                let name = key.value.as_str().unwrap_or_default().to_owned();
                let extension = self.find_extension(&name, configured);
                if let Some(extension) = extension.filter(|it| it.name != name) {
                    self.changes.push(ConversionChange {
                        span: key.span,
                        old: name,
                        new: extension.name.clone(),
                    });
                    key.value = Value::String(extension.name.clone().into());
                    key.span = Span::default();
                }
            }
        }
    }

    /// Reads a `google.protobuf.Struct` as a message.
    fn read_struct(&mut self, ty: MessageId, value: &Message, span: Span) -> Message {
        let node = struct_to_json(self.tree, value, span);
        let element = self.tree.message(ty).full_name();
        // Envoy reads it as what a `typed_config` holds.
        let mapping = Dialect::from_type(&element).mapping();
        let codec = Codec::new(self.tree);
        let mut reading = codec.read_json_node_as(mapping, ty, &node, UndeclaredPolicy::Refuse);
        for error in &reading.errors {
            remove_malformed(codec, &mut reading.message, error.span);
        }
        for error in reading.errors {
            let place = if error.span.is_empty() { span } else { error.span };
            self.record_loss(place, element.clone(), error.message);
        }
        match self.structs_are_json {
            true => reading.message,
            false => remove_message_places(reading.message),
        }
    }
}

/// Takes out the value with a notation of its own, such as a wrapper, that an error is inside of:
/// its text would say more than what was read.
fn remove_malformed(codec: Codec<'_>, message: &mut Message, error: Span) {
    let holds = |it: &Entry| it.span.start <= error.start && error.end <= it.span.end;
    message.entries.retain(|it| {
        let own = it.value.as_message().is_some_and(|it| codec.has_own_json(it.ty));
        !own || error.is_empty() || !holds(it)
    });
    for entry in &mut message.entries {
        if let Value::Message(inside) = &mut entry.value {
            remove_malformed(codec, inside, error);
        }
    }
}
