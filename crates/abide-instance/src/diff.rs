//! Two instances of one type: what changed, and what the change costs.

mod cost;

use abide_schema::value::{Entry, Message, Value};
use abide_schema::{Cardinality, Field, FieldId, MessageId, Presence, Tree};
use abide_syntax::Span;
use rustc_hash::{FxHashMap, FxHashSet};

pub use self::cost::Cost;
use self::cost::Facts;

/// Something that two instances have differently.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Where it is in the value: names of fields, and in brackets the name of an
    /// element, the key of a map or an index from 0.
    pub path: String,
    /// The field.
    pub field: Option<FieldId>,
    /// What happened to it.
    pub kind: DifferenceKind,
    /// Where it stands in the old text; of what was added, what is around it.
    pub old: Span,
    /// Where it stands in the new text; of what was removed, what is around it.
    pub new: Span,
    /// What the change costs, where that is known.
    pub cost: Option<Cost>,
    /// What it costs if a discovery service sends what it is in: the services, from
    /// the outermost resource to the innermost.
    pub services: Vec<(&'static str, Cost)>,
}

/// What happened to a part of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DifferenceKind {
    /// Only the new one has it.
    Added,
    /// Only the old one has it.
    Removed,
    /// Its value is another one.
    Changed,
    /// Its elements are in another order.
    Reordered,
}

impl DifferenceKind {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            DifferenceKind::Added => "added",
            DifferenceKind::Removed => "removed",
            DifferenceKind::Changed => "changed",
            DifferenceKind::Reordered => "reordered",
        }
    }
}

/// What differs between two values of one type, in the order of the old one. The
/// places are those of the whole values.
pub fn diff(
    tree: &Tree,
    (old, old_place): (&Message, Span),
    (new, new_place): (&Message, Span),
) -> Vec<Difference> {
    let mut differ =
        Differ { tree, path: String::new(), field: None, via: Vec::new(), found: Vec::new() };
    differ.message(old, new, Places { old: old_place, new: new_place });
    differ.found
}

struct Differ<'t> {
    tree: &'t Tree,
    path: String,
    field: Option<FieldId>,
    /// What the messages around say that a change costs, with their services.
    via: Vec<(Option<&'static str>, Cost)>,
    found: Vec<Difference>,
}

/// Where something stands in both texts.
#[derive(Clone, Copy)]
struct Places {
    old: Span,
    new: Span,
}

/// Fields that name an element of a list.
const NAMES: &[&str] = &["name", "cluster_name", "id"];

impl Differ<'_> {
    fn report(&mut self, kind: DifferenceKind, places: Places, own: Option<Via>) {
        let via = self.via.iter().copied().chain(own);
        let cost = via.clone().next().map(|(_, cost)| cost);
        // A service is worth naming if it spares a restart.
        let services = via.filter_map(|(service, cost)| {
            service.filter(|_| cost < Cost::HotRestart).map(|it| (it, cost))
        });
        self.found.push(Difference {
            path: self.path.clone(),
            field: self.field,
            kind,
            old: places.old,
            new: places.new,
            cost,
            services: services.collect(),
        });
    }

    /// Does something one step deeper in the value.
    fn at(&mut self, step: &str, inside: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        if !self.path.is_empty() && !step.is_empty() && !step.starts_with('[') {
            self.path.push('.');
        }
        self.path.push_str(step);
        inside(self);
        self.path.truncate(length);
    }

    fn message(&mut self, old: &Message, new: &Message, places: Places) {
        if let (Some(old), Some(new)) = (&old.content, &new.content) {
            return self.message(old, new, places);
        }
        if old.ty != new.ty || is_whole(self.tree, old, new) {
            if !is_same(self.tree, old, new) {
                self.report(DifferenceKind::Changed, places, None);
            }
            return;
        }
        let facts = Facts::of(self.tree, old.ty);
        // JSON has no names for what these hold.
        let is_plain = well_known(self.tree, old.ty).is_some();
        for (field, olds, news) in fields(self.tree, old, new) {
            let via = facts.and_then(|it| Some((it.service, it.cost_of(field.name())?)));
            self.via.extend(via);
            let outer = self.field;
            if !is_plain {
                self.field = Some(field.id);
            }
            let is_unordered = facts.is_some_and(|it| it.unordered.contains(&field.name()));
            let step = if is_plain { "" } else { field.name() };
            self.at(step, |it| match field.cardinality() {
                Cardinality::Singular => {
                    it.pair(olds.last().copied(), news.last().copied(), places);
                }
                Cardinality::Map => it.map(&olds, &news, places),
                Cardinality::Repeated => it.list(field, &olds, &news, places, is_unordered),
            });
            self.field = outer;
            self.via.truncate(self.via.len() - usize::from(via.is_some()));
        }
    }

    /// Two values of a place, of which one may be absent.
    fn pair(&mut self, old: Option<&Entry>, new: Option<&Entry>, around: Places) {
        match (old, new) {
            (Some(old), Some(new)) => {
                let places = Places { old: old.span, new: new.span };
                match (&old.value, &new.value) {
                    (Value::Message(old), Value::Message(new)) => self.message(old, new, places),
                    (old, new) if is_same_value(self.tree, old, new) => {}
                    _ => self.report(DifferenceKind::Changed, places, None),
                }
            }
            (Some(old), None) => {
                let places = Places { old: shown(self.tree, old), new: around.new };
                let own = self.resource(&old.value, |it| it.removed);
                self.report(DifferenceKind::Removed, places, own);
            }
            (None, Some(new)) => {
                let places = Places { old: around.old, new: shown(self.tree, new) };
                let own = self.resource(&new.value, |it| it.added);
                self.report(DifferenceKind::Added, places, own);
            }
            (None, None) => {}
        }
    }

    /// What it costs that a whole resource comes or goes.
    fn resource(&self, value: &Value, cost: impl FnOnce(&Facts) -> Cost) -> Option<Via> {
        let message = value.as_message()?;
        let message = message.content.as_deref().unwrap_or(message);
        let facts = Facts::of(self.tree, message.ty)?;
        Some((facts.service, cost(facts)))
    }

    fn map(&mut self, olds: &[&Entry], news: &[&Entry], around: Places) {
        let key_of = |entry: &&Entry| {
            let pair = entry.value.as_message()?;
            Some(shown_key(&pair.find_by_number(self.tree, 1)?.value))
        };
        let keyed = |entries: &[&Entry]| entries.iter().map(key_of).collect::<Option<Vec<_>>>();
        let (Some(old_keys), Some(new_keys)) = (keyed(olds), keyed(news)) else { return };
        self.named(olds, &old_keys, news, &new_keys, around, |it, old, new, around| {
            let (old, new) = (value_of(it.tree, old), value_of(it.tree, new));
            it.pair(old, new, around);
        });
    }

    /// Pairs elements by their names.
    fn named(
        &mut self,
        olds: &[&Entry],
        old_names: &[String],
        news: &[&Entry],
        new_names: &[String],
        around: Places,
        mut pair: impl FnMut(&mut Self, Option<&Entry>, Option<&Entry>, Places),
    ) {
        let by_name: FxHashMap<&String, &Entry> =
            new_names.iter().zip(news.iter().copied()).collect();
        for (name, old) in old_names.iter().zip(olds) {
            let new = by_name.get(name).copied();
            self.at(name, |it| pair(it, Some(old), new, around));
        }
        let known: FxHashSet<&String> = old_names.iter().collect();
        for (name, new) in new_names.iter().zip(news).filter(|(name, _)| !known.contains(name)) {
            self.at(name, |it| pair(it, None, Some(new), around));
        }
    }

    fn list(
        &mut self,
        field: Field<'_>,
        olds: &[&Entry],
        news: &[&Entry],
        around: Places,
        is_unordered: bool,
    ) {
        let name = NAMES.iter().find_map(|name| {
            let names = |entries: &[&Entry]| names_of(self.tree, entries, name);
            Some((names(olds)?, names(news)?))
        });
        let Some((old_names, new_names)) = name else {
            return self.indexed(olds, news, around);
        };
        self.named(olds, &old_names, news, &new_names, around, |it, old, new, around| {
            it.pair(old, new, around);
        });
        let kept = |names: &[String], others: &[String]| {
            let others: FxHashSet<&String> = others.iter().collect();
            names.iter().filter(|it| others.contains(it)).cloned().collect::<Vec<_>>()
        };
        if kept(&old_names, &new_names) != kept(&new_names, &old_names) {
            let place = |entries: &[&Entry]| entries.first().map_or(Span::default(), |it| it.key);
            let places = Places { old: place(olds), new: place(news) };
            self.field = Some(field.id);
            match is_unordered {
                true => {
                    let via = std::mem::replace(&mut self.via, vec![(None, Cost::Nothing)]);
                    self.report(DifferenceKind::Reordered, places, None);
                    self.via = via;
                }
                false => self.report(DifferenceKind::Reordered, places, None),
            }
        }
    }

    /// Pairs elements without names: those at the begin and at the end that are the
    /// same, and the others in their order.
    fn indexed(&mut self, olds: &[&Entry], news: &[&Entry], around: Places) {
        let is_same =
            |(old, new): &(&&Entry, &&Entry)| is_same_value(self.tree, &old.value, &new.value);
        let begin = olds.iter().zip(news).take_while(is_same).count();
        let (olds, news) = (&olds[begin..], &news[begin..]);
        let end = olds.iter().rev().zip(news.iter().rev()).take_while(is_same).count();
        let (olds, news) = (&olds[..olds.len() - end], &news[..news.len() - end]);
        for at in 0..olds.len().max(news.len()) {
            let (old, new) = (olds.get(at).copied(), news.get(at).copied());
            self.at(&format!("[{}]", begin + at), |it| it.pair(old, new, around));
        }
    }
}

/// The value of a pair of a map.
fn value_of<'m>(tree: &Tree, pair: Option<&'m Entry>) -> Option<&'m Entry> {
    pair?.value.as_message()?.find_by_number(tree, 2)
}

/// A message on the way to a change: its service, and what it says of the cost.
type Via = (Option<&'static str>, Cost);

/// The fields that one of two values sets, in the order of the old one, with their
/// entries. A zero of a field without presence is as good as none.
fn fields<'t, 'm>(
    tree: &'t Tree,
    old: &'m Message,
    new: &'m Message,
) -> Vec<(Field<'t>, Vec<&'m Entry>, Vec<&'m Entry>)> {
    let mut fields: Vec<(Field<'_>, Vec<&Entry>, Vec<&Entry>)> = Vec::new();
    let mut places: FxHashMap<FieldId, usize> = FxHashMap::default();
    let both = old.entries.iter().map(|it| (it, true));
    for (entry, is_old) in both.chain(new.entries.iter().map(|it| (it, false))) {
        let at = *places.entry(entry.field).or_insert_with(|| {
            fields.push((tree.field(entry.field), Vec::new(), Vec::new()));
            fields.len() - 1
        });
        let (field, olds, news) = &mut fields[at];
        let is_unset = field.cardinality() == Cardinality::Singular
            && field.presence() == Presence::Implicit
            && entry.value.is_zero();
        if !is_unset {
            if is_old { olds.push(entry) } else { news.push(entry) }
        }
    }
    fields
}

/// The name of a message with a JSON mapping of its own.
fn well_known(tree: &Tree, ty: MessageId) -> Option<&str> {
    let message = tree.message(ty);
    (message.package().name() == "google.protobuf").then(|| message.name())
}

/// Whether two messages of one type are each one value for people, as durations are.
fn is_whole(tree: &Tree, old: &Message, new: &Message) -> bool {
    match well_known(tree, old.ty) {
        None | Some("Struct" | "ListValue") => false,
        // Structs and lists are looked into if both sides have one.
        Some("Value") => match (old.entries.last(), new.entries.last()) {
            (Some(old), Some(new)) => old.field != new.field || old.value.as_message().is_none(),
            _ => true,
        },
        Some(_) => true,
    }
}

/// The names of all elements of a list, in brackets, if each has another one.
fn names_of(tree: &Tree, entries: &[&Entry], field: &str) -> Option<Vec<String>> {
    let names = entries.iter().map(|entry| {
        let message = entry.value.as_message()?;
        let message = message.content.as_deref().unwrap_or(message);
        message.get_str(tree, field).filter(|it| !it.is_empty()).map(|it| format!("[{it:?}]"))
    });
    let names: Vec<String> = names.collect::<Option<_>>()?;
    let distinct: FxHashSet<&String> = names.iter().collect();
    (distinct.len() == names.len()).then_some(names)
}

/// A key of a map in brackets.
fn shown_key(value: &Value) -> String {
    match value {
        Value::String(text) => format!("[{text:?}]"),
        Value::Bool(value) => format!("[{value}]"),
        Value::U64(value) => format!("[{value}]"),
        value => format!("[{}]", value.as_i64().unwrap_or_default()),
    }
}

/// Where an entry stands, with its key unless it shares that with the rest of a list.
fn shown(tree: &Tree, entry: &Entry) -> Span {
    let is_alone = tree.field(entry.field).cardinality() == Cardinality::Singular;
    match is_alone && !entry.key.is_empty() && entry.key.start < entry.span.start {
        true => Span::new(entry.key.start, entry.span.end),
        false => entry.span,
    }
}

/// Whether two values mean the same. Lists are compared in their order.
fn is_same_value(tree: &Tree, old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::Message(old), Value::Message(new)) => is_same(tree, old, new),
        (Value::F32(old), Value::F32(new)) => old.to_bits() == new.to_bits(),
        (Value::F64(old), Value::F64(new)) => old.to_bits() == new.to_bits(),
        (old, new) => old == new,
    }
}

fn is_same(tree: &Tree, old: &Message, new: &Message) -> bool {
    if let (Some(old), Some(new)) = (&old.content, &new.content) {
        return is_same(tree, old, new);
    }
    let same = |olds: &[&Entry], news: &[&Entry]| {
        let mut pairs = olds.iter().zip(news);
        olds.len() == news.len() && pairs.all(|(a, b)| is_same_value(tree, &a.value, &b.value))
    };
    old.ty == new.ty
        && old.unknown == new.unknown
        && fields(tree, old, new).into_iter().all(|(field, olds, news)| match field.cardinality() {
            Cardinality::Singular => {
                let last = |entries: &[&'_ Entry]| entries.len().saturating_sub(1);
                same(&olds[last(&olds)..], &news[last(&news)..])
            }
            Cardinality::Repeated => same(&olds, &news),
            Cardinality::Map => {
                let key = |entry: &&Entry| {
                    let pair = entry.value.as_message();
                    let key = pair.and_then(|it| it.find_by_number(tree, 1));
                    key.map(|it| shown_key(&it.value))
                };
                let [mut olds, mut news] = [olds, news];
                olds.sort_by_cached_key(key);
                news.sort_by_cached_key(key);
                same(&olds, &news)
            }
        })
}

#[cfg(test)]
mod tests;
