//! The steps of one message: what they take from the old value, and where they put it.

use abide_schema::value::{Codec, Entry, Message, Value, default_of};
use abide_schema::{Cardinality, Field, MessageId, Scalar, Type};
use abide_syntax::Span;

use super::converter::{BY_HAND, Converter};
use super::path::{FieldPath, ValuePlacer, take_values};
use super::steps::{DownwardUse, MigrationStep, SettingSource, StepMove, StepSetting, TextCut};
use super::type_mapping::Direction;
use super::version_converter::OlderReader;
use crate::readers::remove_places;

/// Values that a move took.
pub(super) type TakenValues<'a> = (&'a StepMove, Vec<Entry>);

/// Values that a step has for a message around its own.
pub(super) struct RaisedValue {
    outer: MessageId,
    path: FieldPath,
    entries: Vec<Entry>,
    /// The key that they are from, its element and its name.
    key: Span,
    element: String,
    name: String,
}

impl<'a, 't> Converter<'a, 't> {
    /// Takes out fields that mean nothing in the newer version. One of which steps took a part is
    /// not left out: they say what became of it.
    pub(super) fn take_dropped(&mut self, step: &MigrationStep, old: &Message, rest: &mut Message) {
        if matches!(self.way, Direction::Down(_)) {
            return;
        }
        let is_dropped = |it: &Entry| {
            let name = self.tree.field(it.field).name();
            step.drop.iter().any(|dropped| dropped == name)
        };
        let (dropped, kept) = std::mem::take(&mut rest.entries).into_iter().partition(is_dropped);
        rest.entries = kept;
        let dropped: Vec<Entry> = dropped;
        for entry in dropped.iter().filter(|it| old.entries.contains(it)) {
            self.record_change(entry.key, self.tree.field(entry.field).full_name(), "");
        }
    }

    /// Takes what a step moves; `None` if it is not taken.
    pub(super) fn take_step(
        &mut self,
        step: &'a MigrationStep,
        old: &Message,
        target: MessageId,
        rest: &mut Message,
    ) -> Option<Vec<TakenValues<'a>>> {
        match self.way {
            Direction::Up(_) => self.take_up(step, old, rest),
            Direction::Down(_) => self.take_down(step, target, rest),
        }
    }

    fn take_up(
        &self,
        step: &'a MigrationStep,
        old: &Message,
        rest: &mut Message,
    ) -> Option<Vec<TakenValues<'a>>> {
        let tree = self.tree;
        let holds = step.when.iter().all(|condition| {
            let field = tree.message(old.ty).field_named(&condition.field);
            let Some(field) = field else { return false };
            let mut set = old.entries_of(field.id).map(|it| &it.value).peekable();
            match &condition.is {
                None => set.peek().is_some() == condition.is_set,
                Some(expected) if set.peek().is_none() => {
                    let default = default_of(field);
                    expected.iter().all(|it| Some(&it.value) == default.as_ref())
                }
                Some(expected) => has_same_values(old.entries_of(field.id), expected.iter()),
            }
        });
        let has_moves = step.moves.is_empty()
            || step.moves.iter().any(|it| !it.from.list_entries_at_end(tree, old).is_empty());
        if !step.up || !holds || !has_moves {
            return None;
        }
        // A part of a text is taken by two moves.
        let parts = step.moves.iter().map(|it| {
            let again = step.moves.iter().filter(|other| other.from == it.from).count() > 1;
            let values = it.from.list_entries_at_end(tree, rest).into_iter().cloned().collect();
            if !again {
                return (it, take_values(tree, rest, &it.from.segments));
            }
            (it, values)
        });
        let taken: Vec<TakenValues<'a>> = parts.collect();
        for (moved, _) in &taken {
            take_values(tree, rest, &moved.from.segments);
        }
        Some(taken)
    }

    fn take_down(
        &mut self,
        step: &'a MigrationStep,
        target: MessageId,
        rest: &mut Message,
    ) -> Option<Vec<TakenValues<'a>>> {
        let tree = self.tree;
        let has_home = |path: &FieldPath| {
            let outer = path.segments.first().map(|it| &it.name);
            let field = outer.and_then(|name| tree.message(rest.ty).field_named(name));
            field.is_some_and(|it| self.find_counterpart(it, target).is_some())
        };
        let is_known = |reader: OlderReader<'_>, path: &FieldPath| {
            let outer = path.segments.first().map(|it| &it.name);
            let outer = outer.and_then(|name| tree.message(rest.ty).field_named(name));
            let inner = path.resolve(tree, rest.ty).ok().map(|it| it.0);
            outer.into_iter().chain(inner).all(|field| reader.has_field(field))
        };
        let is_taken = match (self.reader, step.down) {
            (_, DownwardUse::Never) => false,
            (Some(reader), _) => match &step.feature {
                Some(feature) => !reader.features.contains(feature),
                None => step.moves.iter().any(|it| !is_known(reader, &it.to)),
            },
            (None, DownwardUse::Always) => true,
            (None, DownwardUse::IfNeeded) => step.moves.iter().any(|it| !has_home(&it.to)),
        };
        let is_one_way = |it: &StepMove| it.cut.is_some() || it.enclosing.is_some();
        if !is_taken || step.moves.iter().any(is_one_way) {
            return None;
        }
        let mut without = rest.clone();
        let taken: Vec<TakenValues<'a>> = step
            .moves
            .iter()
            .map(|it| (it, take_values(tree, &mut without, &it.to.segments)))
            .collect();
        if taken.iter().all(|(_, values)| values.is_empty()) {
            return None;
        }
        for setting in &step.settings {
            let mut without_setting = without.clone();
            let values = take_values(tree, &mut without_setting, &setting.path.segments);
            let is_made = match &setting.source {
                SettingSource::Constant(expected) => {
                    has_same_values(values.iter(), expected.iter())
                }
                SettingSource::CopyOf(path) => {
                    let name = path.segments.last().map(|it| it.name.as_str()).unwrap_or_default();
                    has_same_values(values.iter(), rest.get(tree, name).into_iter())
                }
            };
            if is_made {
                let key = values.first().map_or(Span::default(), |it| it.key);
                self.record_change(key, format_path(&setting.path), "");
                without = without_setting;
            }
        }
        *rest = without;
        Some(taken)
    }

    /// Puts what a step took where it belongs.
    pub(super) fn put_step(
        &mut self,
        step: &'a MigrationStep,
        taken: Vec<TakenValues<'a>>,
        old: &Message,
        new: &mut Message,
        span: Span,
    ) {
        let mut place = Span::default();
        let mut placing = ValuePlacer::new(self.tree);
        for (moved, entries) in taken {
            let (from, to) = match self.way {
                Direction::Up(_) => (&moved.from, &moved.to),
                Direction::Down(_) => (&moved.to, &moved.from),
            };
            let Some(first) = entries.first() else { continue };
            let key = first.key;
            place = if place.is_empty() { key } else { place };
            let element = self.tree.field(first.field).full_name();
            let within = moved.enclosing.unwrap_or(new.ty);
            let Ok((field, content)) = to.resolve(self.tree, within) else { continue };
            let carried: Vec<Entry> = entries
                .iter()
                .filter_map(|it| self.convert_moved(moved, it, field, content))
                .collect();
            if carried.is_empty() {
                continue;
            }
            if let Some(outer) = moved.enclosing {
                let (path, entries) = (to.clone(), carried.into_iter().map(remove_places));
                let name = format_path(from);
                let entries = entries.collect();
                self.raised.push(RaisedValue { outer, path, entries, key, element, name });
                continue;
            }
            // What is made takes the place of the outermost field that it is made from.
            let outer = from.segments.first().and_then(|it| old.get(self.tree, &it.name));
            let outer = outer.map_or(key, |it| it.key);
            match placing.put(new, to, carried, outer) {
                Ok(()) if step.lossy.is_some() => {
                    self.record_loss(key, element, step.lossy.clone().unwrap_or_default());
                }
                Ok(()) if format_path(from) == format_path(to) => {}
                Ok(()) => self.record_change(key, format_path(from), format_path(to)),
                Err(why) => {
                    let name = self.tree.field(first.field).name().to_owned();
                    self.record_loss(key, element, format!("`{name}` is not carried: {why}"));
                }
            }
        }
        match self.way {
            Direction::Up(_) => {
                for setting in &step.settings {
                    self.apply_setting(setting, old, new, &mut placing, place);
                }
            }
            Direction::Down(_) => {
                for condition in &step.when {
                    let path = FieldPath::parse(&condition.field);
                    if let (Ok(path), Some(values)) = (path, &condition.is) {
                        // What is set already is what the newer value says.
                        let _ = placing.put(new, &path, values.clone(), span);
                    }
                }
            }
        }
    }

    /// Puts what steps of inner messages have for this message where it belongs.
    pub(super) fn place_raised(&mut self, new: &mut Message) {
        let (own, others) =
            std::mem::take(&mut self.raised).into_iter().partition(|it| it.outer == new.ty);
        self.raised = others;
        let own: Vec<RaisedValue> = own;
        for RaisedValue { path, entries, key, element, name, .. } in own {
            let place = format_path(&path);
            let set = path.list_entries_at_end(self.tree, new);
            if !set.is_empty() {
                if !has_same_values(set.into_iter(), entries.iter()) {
                    let text = format!("`{name}` is not carried: `{place}` says something else");
                    self.record_loss(key, element, text);
                }
                continue;
            }
            match ValuePlacer::new(self.tree).put(new, &path, entries, Span::default()) {
                Ok(()) => self.record_change(key, name, place),
                Err(why) => {
                    self.record_loss(key, element, format!("`{name}` is not carried: {why}"));
                }
            }
        }
    }

    /// Reports what steps had for messages that are not around theirs.
    pub(super) fn report_raised(&mut self) {
        for RaisedValue { outer, path, key, element, name, .. } in std::mem::take(&mut self.raised)
        {
            let outer = self.tree.message(outer).full_name();
            let place = format_path(&path);
            let message = format!("`{name}` is not carried: no `{outer}` is around it");
            let help = format!("set `{place}` of the `{outer}` that uses it");
            self.record_loss_with_help(key, element, message, help);
        }
    }

    /// A value as one of the field, or of the Any, that it is moved to.
    fn convert_moved(
        &mut self,
        moved: &StepMove,
        entry: &Entry,
        field: Field<'t>,
        content: Option<MessageId>,
    ) -> Option<Entry> {
        let old = self.tree.field(entry.field);
        if !moved.values.is_empty() {
            let is_up = matches!(self.way, Direction::Up(_));
            let sides = |pair: &'_ (Entry, Entry)| -> (Entry, Entry) {
                if is_up { pair.clone() } else { (pair.1.clone(), pair.0.clone()) }
            };
            let value = remove_places(entry.clone()).value;
            let mut found = moved.values.iter().map(sides);
            let found = found.find(|(from, _)| self.is_same_value(&from.value, &value));
            let Some((_, to)) = found else {
                let text = format!("no step says what this value of `{}` becomes", old.name());
                self.record_loss_with_help(entry.span, old.full_name(), text, BY_HAND);
                return None;
            };
            return Some(remove_places(to));
        }
        if let Some(cut) = &moved.cut {
            let part = entry.value.as_str().and_then(|text| cut_part(text, cut));
            let Some(part) = part else {
                let text = format!("`{}` occurs nowhere in the value of `{}`", cut.at, old.name());
                self.record_loss(entry.span, old.full_name(), text);
                return None;
            };
            let text = Value::String(part.into());
            let value = if field.ty() == old.ty() { Some(text) } else { parse_number(part, field) };
            let Some(value) = value else {
                let text = format!("a part of it is no value of `{}`", field.name());
                self.record_loss(entry.span, old.full_name(), text);
                return None;
            };
            return Some(Entry::new(field.id, value));
        }
        match (&entry.value, content) {
            (Value::Message(inside), Some(content)) => {
                let value =
                    Value::Message(Box::new(self.convert_message(inside, content, entry.span)));
                Some(Entry { value, ..*entry })
            }
            _ => self.convert_value(entry, old, field),
        }
    }

    /// Returns true if two values say the same: a zero in a wrapper need not be written.
    fn is_same_value(&self, a: &Value, b: &Value) -> bool {
        let encode = |it: &Value| it.as_message().map(|it| Codec::new(self.tree).encode(it));
        a == b || encode(a).is_some_and(|it| Some(it) == encode(b))
    }

    fn apply_setting(
        &mut self,
        setting: &StepSetting,
        old: &Message,
        new: &mut Message,
        placing: &mut ValuePlacer<'_>,
        place: Span,
    ) {
        let Ok((field, _)) = setting.path.resolve(self.tree, new.ty) else { return };
        let values: Vec<Entry> = match &setting.source {
            SettingSource::Constant(values) => values.clone(),
            SettingSource::CopyOf(path) => {
                let mut found: Vec<Entry> =
                    path.list_entries_at_end(self.tree, old).into_iter().cloned().collect();
                let from = found.first().map(|it| self.tree.field(it.field));
                let Some(from) = from else { return };
                if from.cardinality() == Cardinality::Singular {
                    // Of equal keys in JSON, the last counts.
                    found.drain(..found.len() - 1);
                }
                let values = found.iter().filter_map(|it| self.convert_value(it, from, field));
                values.map(remove_places).collect()
            }
        };
        // What is set already stays as it is.
        if placing.put(new, &setting.path, values, place).is_ok() {
            self.record_change(place, "", format_path(&setting.path));
        }
    }
}

/// A path as people read it.
fn format_path(path: &FieldPath) -> String {
    let names: Vec<&str> = path.segments.iter().map(|it| it.name.as_str()).collect();
    names.join(".")
}

fn has_same_values<'m>(
    one: impl Iterator<Item = &'m Entry>,
    other: impl Iterator<Item = &'m Entry>,
) -> bool {
    let bare = |it: &Entry| remove_places(it.clone()).value;
    one.map(bare).eq(other.map(bare))
}

fn cut_part<'v>(text: &'v str, cut: &TextCut) -> Option<&'v str> {
    let (first, second) = text.rsplit_once(cut.at.as_str())?;
    Some(if cut.is_second { second } else { first })
}

/// A text as the number of a field.
fn parse_number(text: &str, field: Field<'_>) -> Option<Value> {
    let Type::Scalar(scalar) = field.ty() else { return None };
    Some(match scalar {
        Scalar::Int32 | Scalar::Sint32 | Scalar::Sfixed32 => Value::I32(text.parse().ok()?),
        Scalar::Uint32 | Scalar::Fixed32 => Value::U32(text.parse().ok()?),
        Scalar::Int64 | Scalar::Sint64 | Scalar::Sfixed64 => Value::I64(text.parse().ok()?),
        Scalar::Uint64 | Scalar::Fixed64 => Value::U64(text.parse().ok()?),
        _ => return None,
    })
}
