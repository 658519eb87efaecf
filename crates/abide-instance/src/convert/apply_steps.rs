//! The steps of one message: what they take from the old value, and where they put it.

use abide_schema::value::{Entry, Message, Value, default_of};
use abide_schema::{Field, MessageId, Scalar, Type};
use abide_syntax::Span;

use super::converter::Carrier;
use super::path::{Path, Placing, take};
use super::steps::{Cut, Down, Move, Setting, Source, Step};
use super::translator::Reader;
use super::type_mapping::Way;
use crate::readers::without_places;

/// Values that a move took.
pub(super) type Taken<'a> = (&'a Move, Vec<Entry>);

impl<'a, 't> Carrier<'a, 't> {
    /// Takes out fields that mean nothing in the newer version. One of which steps took a part is
    /// not left out: they say what became of it.
    pub(super) fn take_dropped(&mut self, step: &Step, old: &Message, rest: &mut Message) {
        if matches!(self.way, Way::Down(_)) {
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
            self.change(entry.key, self.tree.field(entry.field).full_name(), "");
        }
    }

    /// Takes what a step moves; `None` if it is not taken.
    pub(super) fn take_step(
        &mut self,
        step: &'a Step,
        old: &Message,
        target: MessageId,
        rest: &mut Message,
    ) -> Option<Vec<Taken<'a>>> {
        match self.way {
            Way::Up(_) => self.take_up(step, old, rest),
            Way::Down(_) => self.take_down(step, target, rest),
        }
    }

    fn take_up(&self, step: &'a Step, old: &Message, rest: &mut Message) -> Option<Vec<Taken<'a>>> {
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
                Some(expected) => same_values(old.entries_of(field.id), expected.iter()),
            }
        });
        let has_moves = step.moves.is_empty()
            || step.moves.iter().any(|it| !it.from.values(tree, old).is_empty());
        if !step.up || !holds || !has_moves {
            return None;
        }
        // A part of a text is taken by two moves.
        let parts = step.moves.iter().map(|it| {
            let again = step.moves.iter().filter(|other| other.from == it.from).count() > 1;
            let values = it.from.values(tree, rest).into_iter().cloned().collect();
            if !again {
                return (it, take(tree, rest, &it.from.segments));
            }
            (it, values)
        });
        let taken: Vec<Taken<'a>> = parts.collect();
        for (moved, _) in &taken {
            take(tree, rest, &moved.from.segments);
        }
        Some(taken)
    }

    fn take_down(
        &mut self,
        step: &'a Step,
        target: MessageId,
        rest: &mut Message,
    ) -> Option<Vec<Taken<'a>>> {
        let tree = self.tree;
        let has_home = |path: &Path| {
            let outer = path.segments.first().map(|it| &it.name);
            let field = outer.and_then(|name| tree.message(rest.ty).field_named(name));
            field.is_some_and(|it| self.home(it, target).is_some())
        };
        let is_known = |reader: Reader<'_>, path: &Path| {
            let outer = path.segments.first().map(|it| &it.name);
            let outer = outer.and_then(|name| tree.message(rest.ty).field_named(name));
            let inner = path.resolve(tree, rest.ty).ok().map(|it| it.0);
            outer.into_iter().chain(inner).all(|field| reader.knows(field))
        };
        let is_taken = match (self.reader, step.down) {
            (_, Down::Never) => false,
            (Some(reader), _) => match &step.feature {
                Some(feature) => !reader.features.contains(feature),
                None => step.moves.iter().any(|it| !is_known(reader, &it.to)),
            },
            (None, Down::Always) => true,
            (None, Down::IfNeeded) => step.moves.iter().any(|it| !has_home(&it.to)),
        };
        if !is_taken || step.moves.iter().any(|it| it.cut.is_some()) {
            return None;
        }
        let mut without = rest.clone();
        let taken: Vec<Taken<'a>> =
            step.moves.iter().map(|it| (it, take(tree, &mut without, &it.to.segments))).collect();
        if taken.iter().all(|(_, values)| values.is_empty()) {
            return None;
        }
        for setting in &step.settings {
            let mut without_setting = without.clone();
            let values = take(tree, &mut without_setting, &setting.path.segments);
            let is_made = match &setting.source {
                Source::Constant(expected) => same_values(values.iter(), expected.iter()),
                Source::CopyOf(path) => {
                    let name = path.segments.last().map(|it| it.name.as_str()).unwrap_or_default();
                    same_values(values.iter(), rest.get(tree, name).into_iter())
                }
            };
            if is_made {
                let key = values.first().map_or(Span::default(), |it| it.key);
                self.change(key, shown(&setting.path), "");
                without = without_setting;
            }
        }
        *rest = without;
        Some(taken)
    }

    /// Puts what a step took where it belongs.
    pub(super) fn put_step(
        &mut self,
        step: &'a Step,
        taken: Vec<Taken<'a>>,
        old: &Message,
        new: &mut Message,
        span: Span,
    ) {
        let mut place = Span::default();
        let mut placing = Placing::new(self.tree);
        for (moved, entries) in taken {
            let (from, to) = match self.way {
                Way::Up(_) => (&moved.from, &moved.to),
                Way::Down(_) => (&moved.to, &moved.from),
            };
            let Some(first) = entries.first() else { continue };
            let key = first.key;
            place = if place.is_empty() { key } else { place };
            let element = self.tree.field(first.field).full_name();
            let Ok((field, content)) = to.resolve(self.tree, new.ty) else { continue };
            let carried: Vec<Entry> =
                entries.iter().filter_map(|it| self.moved(moved, it, field, content)).collect();
            if carried.is_empty() {
                continue;
            }
            // What is made takes the place of the outermost field that it is made from.
            let outer = from.segments.first().and_then(|it| old.get(self.tree, &it.name));
            let outer = outer.map_or(key, |it| it.key);
            match placing.put(new, to, carried, outer) {
                Ok(()) if step.lossy.is_some() => {
                    self.lose(key, element, step.lossy.clone().unwrap_or_default());
                }
                Ok(()) if shown(from) == shown(to) => {}
                Ok(()) => self.change(key, shown(from), shown(to)),
                Err(why) => {
                    let name = self.tree.field(first.field).name().to_owned();
                    self.lose(key, element, format!("`{name}` is not carried: {why}"));
                }
            }
        }
        match self.way {
            Way::Up(_) => {
                for setting in &step.settings {
                    self.set(setting, old, new, &mut placing, place);
                }
            }
            Way::Down(_) => {
                for condition in &step.when {
                    let path = Path::parse(&condition.field);
                    if let (Ok(path), Some(values)) = (path, &condition.is) {
                        // What is set already is what the newer value says.
                        let _ = placing.put(new, &path, values.clone(), span);
                    }
                }
            }
        }
    }

    /// A value as one of the field, or of the Any, that it is moved to.
    fn moved(
        &mut self,
        moved: &Move,
        entry: &Entry,
        field: Field<'t>,
        content: Option<MessageId>,
    ) -> Option<Entry> {
        let old = self.tree.field(entry.field);
        if !moved.values.is_empty() {
            let is_up = matches!(self.way, Way::Up(_));
            let sides = |pair: &'_ (Entry, Entry)| -> (Entry, Entry) {
                if is_up { pair.clone() } else { (pair.1.clone(), pair.0.clone()) }
            };
            let value = without_places(entry.clone()).value;
            let found = moved.values.iter().map(sides).find(|(from, _)| from.value == value);
            let Some((_, to)) = found else {
                let text = format!("no step says what this value of `{}` becomes", old.name());
                self.lose(entry.span, old.full_name(), text);
                return None;
            };
            return Some(without_places(to));
        }
        if let Some(cut) = &moved.cut {
            let part = entry.value.as_str().and_then(|text| part_of(text, cut));
            let Some(part) = part else {
                let text = format!("`{}` occurs nowhere in the value of `{}`", cut.at, old.name());
                self.lose(entry.span, old.full_name(), text);
                return None;
            };
            let text = Value::String(part.into());
            let value = if field.ty() == old.ty() { Some(text) } else { number_of(part, field) };
            let Some(value) = value else {
                let text = format!("a part of it is no value of `{}`", field.name());
                self.lose(entry.span, old.full_name(), text);
                return None;
            };
            return Some(Entry::new(field.id, value));
        }
        match (&entry.value, content) {
            (Value::Message(inside), Some(content)) => {
                let value = Value::Message(Box::new(self.message(inside, content, entry.span)));
                Some(Entry { value, ..*entry })
            }
            _ => self.value(entry, old, field),
        }
    }

    fn set(
        &mut self,
        setting: &Setting,
        old: &Message,
        new: &mut Message,
        placing: &mut Placing<'_>,
        place: Span,
    ) {
        let Ok((field, _)) = setting.path.resolve(self.tree, new.ty) else { return };
        let values: Vec<Entry> = match &setting.source {
            Source::Constant(values) => values.clone(),
            Source::CopyOf(path) => {
                let found: Vec<Entry> = path.values(self.tree, old).into_iter().cloned().collect();
                let from = found.first().map(|it| self.tree.field(it.field));
                let Some(from) = from else { return };
                let values = found.iter().filter_map(|it| self.value(it, from, field));
                values.map(without_places).collect()
            }
        };
        // What is set already stays as it is.
        if placing.put(new, &setting.path, values, place).is_ok() {
            self.change(place, "", shown(&setting.path));
        }
    }
}

/// A path as people read it.
fn shown(path: &Path) -> String {
    let names: Vec<&str> = path.segments.iter().map(|it| it.name.as_str()).collect();
    names.join(".")
}

fn same_values<'m>(
    one: impl Iterator<Item = &'m Entry>,
    other: impl Iterator<Item = &'m Entry>,
) -> bool {
    let bare = |it: &Entry| without_places(it.clone()).value;
    one.map(bare).eq(other.map(bare))
}

fn part_of<'v>(text: &'v str, cut: &Cut) -> Option<&'v str> {
    let (first, second) = text.rsplit_once(cut.at.as_str())?;
    Some(if cut.is_second { second } else { first })
}

/// A text as the number of a field.
fn number_of(text: &str, field: Field<'_>) -> Option<Value> {
    let Type::Scalar(scalar) = field.ty() else { return None };
    Some(match scalar {
        Scalar::Int32 | Scalar::Sint32 | Scalar::Sfixed32 => Value::I32(text.parse().ok()?),
        Scalar::Uint32 | Scalar::Fixed32 => Value::U32(text.parse().ok()?),
        Scalar::Int64 | Scalar::Sint64 | Scalar::Sfixed64 => Value::I64(text.parse().ok()?),
        Scalar::Uint64 | Scalar::Fixed64 => Value::U64(text.parse().ok()?),
        _ => return None,
    })
}
