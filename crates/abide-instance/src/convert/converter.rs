//! One hop: a value of a type as one of the neighbouring version.

use abide_schema::value::{Entry, Message, Value};
use abide_schema::{
    Cardinality, Element, Enum, EnumValue, Field, MessageId, Openness, PackageVersion, Presence,
    Tree, Type,
};
use abide_syntax::Span;

use super::apply_steps::{RaisedValue, TakenValues};
use super::path::{build_any, read_any_content};
use super::steps::MigrationStep;
use super::type_mapping::Direction;
use super::version_converter::{ConversionChange, ConversionLoss, OlderReader, VersionConverter};
use crate::document::replace_content;
use crate::readers::{remove_message_places, remove_places};

/// Carries values one hop, and records what happens to them.
pub(super) struct Converter<'a, 't> {
    pub(super) translator: &'a VersionConverter<'t>,
    pub(super) tree: &'t Tree,
    pub(super) way: &'a Direction,
    /// The reader of the value, if it stays one of its version.
    pub(super) reader: Option<OlderReader<'a>>,
    /// True if the places of what a `google.protobuf.Struct` holds are places of JSON, so that it
    /// keeps them when it becomes another message.
    pub(super) structs_are_json: bool,
    /// The version and the outermost package that the document has after the hop.
    pub(super) document_version: Option<PackageVersion>,
    pub(super) document_api: Option<&'t str>,
    /// The types of the messages around the present one, the outermost first.
    pub(super) enclosing: Vec<MessageId>,
    /// Values for messages around the present one.
    pub(super) raised: Vec<RaisedValue>,
    pub(super) losses: Vec<ConversionLoss>,
    pub(super) changes: Vec<ConversionChange>,
}

/// What to do about most of what has no home.
pub(super) const BY_HAND: &str = "remove it, or write by hand what takes its place";

impl<'a, 't> Converter<'a, 't> {
    /// Records that something has no home.
    pub(super) fn record_loss(
        &mut self,
        span: Span,
        element: impl Into<String>,
        message: impl Into<String>,
    ) {
        let (element, message) = (element.into(), message.into());
        self.losses.push(ConversionLoss { span, element, message, help: None });
    }

    /// Records that something has no home, with what to do about it.
    pub(super) fn record_loss_with_help(
        &mut self,
        span: Span,
        element: impl Into<String>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let (element, message, help) = (element.into(), message.into(), Some(help.into()));
        self.losses.push(ConversionLoss { span, element, message, help });
    }

    /// Records what became of something.
    pub(super) fn record_change(
        &mut self,
        span: Span,
        old: impl Into<String>,
        new: impl Into<String>,
    ) {
        self.changes.push(ConversionChange { span, old: old.into(), new: new.into() });
    }

    /// A value as one of `target`, the type that its place has in the neighbouring version; what is
    /// implicit in it stands at `span`.
    pub(super) fn convert_message(
        &mut self,
        old: &Message,
        target: MessageId,
        span: Span,
    ) -> Message {
        if self.tree.message(old.ty).full_name() == "google.protobuf.Any" {
            return self.convert_any(old, span);
        }
        if let Some(content) = &old.content {
            return self.convert_typed_struct(old, content, span);
        }
        let mut rest = old.clone();
        self.enclosing.push(old.ty);
        let mut new = Message::new(target);
        let mut made: Vec<(&'a MigrationStep, Vec<TakenValues<'a>>)> = Vec::new();
        for step in
            self.translator.find_steps_between(old.ty, target, self.way, self.reader.is_some())
        {
            if let Some(taken) = self.take_step(step, old, target, &mut rest) {
                made.push((step, taken));
            }
        }
        for (step, _) in &made {
            self.take_dropped(step, old, &mut rest);
            if let Some(configured) = &step.configured {
                self.convert_configured(configured, &mut rest, &mut new);
            }
        }
        for entry in &rest.entries {
            self.convert_field(entry, old, &mut new);
        }
        if !rest.unknown.is_empty() {
            let element = self.tree.message(old.ty).full_name();
            let length = rest.unknown.len();
            let text = format!("{length} bytes are fields that `{element}` does not have");
            self.record_loss(span, element, text);
        }
        for (step, taken) in made {
            self.put_step(step, taken, old, &mut new, span);
        }
        self.place_raised(&mut new);
        self.report_unavailable_defaults(old, &new, span);
        self.enclosing.pop();
        new
    }

    /// Reports enums whose default the old value relies on, and which have lost it.
    fn report_unavailable_defaults(&mut self, old: &Message, new: &Message, span: Span) {
        if old.ty == new.ty {
            return;
        }
        for home in self.tree.message(new.ty).fields() {
            let is_implicit = home.cardinality() == Cardinality::Singular
                && home.presence() == Presence::Implicit;
            if !is_implicit || new.entries_of(home.id).next().is_some() {
                continue;
            }
            let field = self.tree.message(old.ty).field_numbered(home.number());
            let Some(field) = field.filter(|it| old.entries_of(it.id).next().is_none()) else {
                continue;
            };
            if let (Some(from), Some(to)) = (field.enum_type(), home.enum_type())
                && let (Some(named), Some(other)) = (from.value_numbered(0), to.value_numbered(0))
                && self.is_unavailable(named, other)
            {
                let text = format!(
                    "`{}`, the default of `{}`, has no counterpart",
                    named.name(),
                    field.name()
                );
                let element = format!("{}.{}", from.full_name(), named.name());
                self.record_loss_with_help(span, element, text, list_usable_values(to));
            }
        }
    }

    /// Returns true if a number lost its meaning between the versions: the newer one has another
    /// name for it, and nobody may use that.
    fn is_unavailable(&self, old: EnumValue<'t>, new: EnumValue<'t>) -> bool {
        let newer = match self.way {
            Direction::Up(_) => new,
            Direction::Down(_) => old,
        };
        old.name() != new.name() && Element::EnumValue(newer).deprecated().is_some()
    }

    /// Carries a field to the field with its number.
    fn convert_field(&mut self, entry: &Entry, whole: &Message, new: &mut Message) {
        let old = self.tree.field(entry.field);
        let Some(home) = self.find_counterpart(old, new.ty) else {
            return match &entry.value {
                // Steps took the other parts of it.
                Value::Message(rest) if !whole.entries.contains(entry) => {
                    self.report_leftover(rest)
                }
                _ => self.report_without_counterpart(old, entry.key),
            };
        };
        if let Some(winner) = self.find_winner(entry, home, whole, new) {
            let Some(winner) = winner else {
                return self.record_change(entry.key, old.full_name(), home.full_name());
            };
            let text =
                format!("`{}` is not carried: `{winner}` is set as well, and wins", old.name());
            return self.record_loss(entry.key, old.full_name(), text);
        }
        let Some(value) = self.convert_value(entry, old, home) else { return };
        if home.name() != old.name() && !home.is_extension() {
            self.record_change(entry.key, old.full_name(), home.full_name());
        }
        new.entries.push(Entry { field: home.id, key: entry.key, ..value });
    }

    /// Finds the field that is set in the place that a field would take: its own replacement, or
    /// another member of a oneof that both became members of. Nothing is lost where both say the
    /// same.
    fn find_winner(
        &self,
        entry: &Entry,
        home: Field<'t>,
        whole: &Message,
        new: &Message,
    ) -> Option<Option<&'t str>> {
        let old = self.tree.field(entry.field);
        if home.cardinality() == Cardinality::Singular
            && home.number() != old.number()
            && let Some(replaced) = whole.find_by_number(self.tree, home.number())
        {
            let bare = |it: &Entry| remove_places(it.clone()).value;
            let differs = bare(replaced) != bare(entry);
            return Some(differs.then(|| self.tree.field(replaced.field).name()));
        }
        let oneof = home.oneof()?;
        let set = new.entries.iter().map(|it| self.tree.field(it.field));
        let member = { set }
            .find(|it| it.id != home.id && it.oneof().is_some_and(|other| other.id == oneof.id));
        member.map(|it| Some(it.name()))
    }

    /// The field of the neighbouring version that has the values of a field.
    pub(super) fn find_counterpart(&self, old: Field<'t>, target: MessageId) -> Option<Field<'t>> {
        let tree = self.tree;
        if old.is_extension() {
            let same = old.containing_message().is_some_and(|it| it.id == target);
            return same.then_some(old);
        }
        let target = tree.message(target);
        let home = target.field_numbered(old.number());
        let home = home.filter(|home| has_same_values(old, *home));
        let replaced = || {
            let name = self.translator.replacements.get(&old.full_name())?;
            let (parent, name) = name.rsplit_once('.')?;
            target.field_named(name).filter(|_| target.full_name() == parent)
        };
        let annotated = || match (self.way, Element::Field(old).replacement()?) {
            (Direction::Up(_), Element::Field(it)) if it.parent() == old.parent() => {
                target.field_numbered(it.number()).filter(|home| has_same_values(old, *home))
            }
            _ => None,
        };
        home.or_else(replaced).or_else(annotated)
    }

    /// Reports what steps left of a message.
    fn report_leftover(&mut self, rest: &Message) {
        for entry in &rest.entries {
            match &entry.value {
                Value::Message(inside)
                    if inside.content.is_none() && !inside.entries.is_empty() =>
                {
                    self.report_leftover(inside);
                }
                _ => self.report_without_counterpart(self.tree.field(entry.field), entry.key),
            }
        }
    }

    /// Reports a field without a home.
    fn report_without_counterpart(&mut self, old: Field<'t>, key: Span) {
        let name = old.full_name();
        let parent = old.containing_message().map_or_else(String::new, |it| it.full_name());
        let text = format!("`{}` of `{parent}` has no counterpart", old.name());
        let help = match self.translator.lossy.get(&name) {
            Some(why) => format!("its values may get lost: {why}"),
            None => BY_HAND.to_owned(),
        };
        let is_reported = self.losses.last().is_some_and(|it| it.span == key && it.element == name);
        // A list is lost as one.
        if !is_reported || key.is_empty() {
            self.record_loss_with_help(key, name, text, help);
        }
    }

    /// The value of a field as one of its home, or of where a step puts it. Its place says whether
    /// it is still what the text says there.
    pub(super) fn convert_value(
        &mut self,
        entry: &Entry,
        old: Field<'t>,
        home: Field<'t>,
    ) -> Option<Entry> {
        let span = entry.span;
        let value = match (&entry.value, home.ty()) {
            (Value::Message(message), Type::Message(target)) => {
                Value::Message(Box::new(self.convert_message(message, target, span)))
            }
            (Value::Enum(number), Type::Enum(_)) => {
                let (from, to) = (old.enum_type()?, home.enum_type()?);
                let number = self.convert_enum_number(*number, from, to, old, span)?;
                return Some(Entry { field: home.id, value: Value::Enum(number), ..*entry });
            }
            (value, _) => value.clone(),
        };
        // A pair of a map means something only with both parts.
        if let Value::Message(pair) = &value
            && old.is_map()
            && entry.value.as_message().is_some_and(|it| it.entries.len() > pair.entries.len())
        {
            return None;
        }
        Some(Entry { field: home.id, value, key: entry.key, span })
    }

    fn convert_enum_number(
        &mut self,
        number: i32,
        from: Enum<'t>,
        to: Enum<'t>,
        field: Field<'t>,
        span: Span,
    ) -> Option<i32> {
        let named = from.value_numbered(number);
        let same = to.value_numbered(number);
        let is_same = |it: &EnumValue<'t>| !named.is_some_and(|old| self.is_unavailable(old, *it));
        if let Some(new) = same.filter(is_same) {
            let old = named?;
            if old.name() != new.name() {
                let member = |it: Enum<'_>, name| format!("{}.{name}", it.full_name());
                self.record_change(span, member(from, old.name()), member(to, new.name()));
            }
            return Some(number);
        }
        let Some(named) = named else {
            // Both versions know as little about it.
            let is_kept = to.features().openness == Openness::Open;
            if !is_kept {
                let text = format!("`{}` has no value {number}", to.full_name());
                self.record_loss(span, field.full_name(), text);
            }
            return is_kept.then_some(number);
        };
        let member = format!("{}.{}", from.full_name(), named.name());
        let replaced = self.translator.replacements.get(&member).and_then(|name| {
            let (parent, name) = name.rsplit_once('.')?;
            to.value_named(name).filter(|_| to.full_name() == parent)
        });
        let annotated = || match (self.way, Element::EnumValue(named).replacement()?) {
            (Direction::Up(_), Element::EnumValue(it)) if it.parent().id == from.id => {
                to.value_numbered(it.number())
            }
            _ => None,
        };
        let replaced = replaced.or_else(annotated);
        if let Some(replaced) = replaced {
            self.record_change(span, member, format!("{}.{}", to.full_name(), replaced.name()));
            return Some(replaced.number());
        }
        let text = format!("`{}` of `{}` has no counterpart", named.name(), from.full_name());
        let help = match self.translator.lossy.get(&member) {
            Some(why) => format!("its values may get lost: {why}"),
            None => list_usable_values(to),
        };
        self.record_loss_with_help(span, member, text, help);
        None
    }

    /// A TypedStruct holds the neighbouring type.
    fn convert_typed_struct(&mut self, old: &Message, content: &Message, span: Span) -> Message {
        let target =
            self.translator.type_mapping.find_neighbour(content.ty, self.way).unwrap_or(content.ty);
        let place = old.find_by_number(self.tree, 1).map_or(span, |it| it.span);
        self.report_left_behind(target, place);
        let inside = self.convert_message(content, target, span);
        if inside == *content {
            return old.clone();
        }
        if target != content.ty {
            let place = old.find_by_number(self.tree, 1).map_or(span, |it| it.span);
            let name = |ty| self.tree.message(ty).full_name();
            self.record_change(place, name(content.ty), name(target));
        }
        let inside = match self.structs_are_json {
            true => inside,
            false => remove_message_places(inside),
        };
        replace_content(self.tree, old, inside)
    }

    /// Reports a type that stays in another major than the document around it, because nothing
    /// takes its place.
    fn report_left_behind(&mut self, ty: MessageId, place: Span) {
        let package = self.tree.message(ty).package().name();
        let version = PackageVersion::from_package(package);
        let (Some(around), Some(version)) = (&self.document_version, version) else { return };
        let is_behind = match self.way {
            Direction::Up(_) => version.major < around.major,
            Direction::Down(_) => version.major > around.major,
        };
        let is_own_api = package.split('.').next() == self.document_api;
        if self.reader.is_none() && is_behind && is_own_api {
            let name = self.tree.message(ty).full_name();
            let major = around.major;
            let text = format!("`{name}` has no counterpart in version {major} and stays as it is");
            let help = match self.way {
                Direction::Up(_) => "remove it, or write what takes its place by hand",
                Direction::Down(_) => "remove it: readers of the older major do not know it",
            };
            self.record_loss_with_help(place, name, text, help);
        }
    }

    /// An Any holds the neighbouring type.
    fn convert_any(&mut self, old: &Message, span: Span) -> Message {
        let url = old.find_by_number(self.tree, 1).cloned();
        let Some(content) = read_any_content(self.tree, old) else {
            if let Some(url) = url {
                let named = url.value.as_str().unwrap_or_default();
                let text = format!("the content of `{named}` is not known, so it stays as it is");
                self.record_loss(if url.span.is_empty() { span } else { url.span }, named, text);
            }
            return old.clone();
        };
        let neighbour = self.translator.type_mapping.find_neighbour(content.ty, self.way);
        let target = neighbour.filter(|_| self.reader.is_none()).unwrap_or(content.ty);
        let place = url.as_ref().map(|it| it.span).filter(|it| !it.is_empty());
        self.report_left_behind(target, place.unwrap_or(span));
        let inside = self.convert_message(&content, target, span);
        if inside == content {
            return old.clone();
        }
        let mut new = build_any(self.tree, old.ty, inside);
        let name = |ty| self.tree.message(ty).full_name();
        let place = url.as_ref().map_or(span, |it| it.span);
        let old_url = url.as_ref().and_then(|it| it.value.as_str()).unwrap_or_default();
        let prefix = old_url.rsplit_once('/').map_or("type.googleapis.com", |it| it.0);
        if target != content.ty {
            self.record_change(place, name(content.ty), name(target));
        }
        let text = format!("{prefix}/{}", name(target));
        for entry in &mut new.entries {
            match &mut entry.value {
                Value::String(url) => {
                    let is_same = **url == *old_url;
                    *url = text.clone().into();
                    entry.key = place;
                    entry.span = if is_same { place } else { Span::default() };
                }
                _ => (entry.key, entry.span) = (span, span),
            }
        }
        // What was not spelled out is not spelled out.
        if old.content.is_none() {
            new.content = None;
        }
        new
    }
}

/// Lists the values of an enum that a value without a counterpart may become, as an instruction.
fn list_usable_values(to: Enum<'_>) -> String {
    let usable = to.values().filter(|it| Element::EnumValue(*it).deprecated().is_none());
    let names: Vec<String> = usable.map(|it| format!("`{}`", it.name())).collect();
    format!("choose another value of `{}`: {}", to.full_name(), names.join(", "))
}

/// Returns true if what a field holds can be what another one holds.
fn has_same_values(old: Field<'_>, new: Field<'_>) -> bool {
    let fits = old.cardinality() == new.cardinality()
        || old.cardinality() == Cardinality::Singular && new.cardinality() == Cardinality::Repeated;
    fits && match (old.ty(), new.ty()) {
        (Type::Scalar(old), Type::Scalar(new)) => old == new,
        (Type::Enum(_), Type::Enum(_)) => true,
        (Type::Message(a), Type::Message(b)) => {
            // A well-known type has the notation of its own and no other.
            let is_own = |id| old.tree.message(id).package().name() == "google.protobuf";
            a == b || !is_own(a) && !is_own(b)
        }
        _ => false,
    }
}
