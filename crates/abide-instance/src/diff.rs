//! Two instances of one type: what changed, and what the change costs.

mod cost;

use abide_schema::value::{Entry, Message, Value};
use abide_schema::{Cardinality, Field, FieldId, MessageId, Presence, Tree};
use abide_syntax::Span;
use rustc_hash::{FxHashMap, FxHashSet};

pub use self::cost::ChangeCost;
use self::cost::MessageCosts;

/// Something that two instances have differently.
#[derive(Clone, Debug, PartialEq)]
pub struct InstanceDifference {
    /// The path in the value: names of fields, and in brackets the name of an
    /// element, the key of a map or an index from 0.
    pub path: String,
    /// The field.
    pub field: Option<FieldId>,
    /// The kind of the change.
    pub kind: DifferenceKind,
    /// The span in the old text; of an addition, the span of its container.
    pub old: Span,
    /// The span in the new text; of a removal, the span of its container.
    pub new: Span,
    /// The cost of the change, where that is known.
    pub cost: Option<ChangeCost>,
    /// The cost if a discovery service sends the resource around it: the services, from
    /// the outermost resource to the innermost.
    pub services: Vec<(&'static str, ChangeCost)>,
}

/// The kind of a change of a part of a value.
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

/// Finds the differences between two values of one type, in the order of the old one. The
/// places are those of the whole values.
pub fn compare_instances(
    tree: &Tree,
    (old, old_place): (&Message, Span),
    (new, new_place): (&Message, Span),
) -> Vec<InstanceDifference> {
    let mut differ = InstanceComparison {
        tree,
        path: String::new(),
        field: None,
        via: Vec::new(),
        element_cost: None,
        equivalent_cost: None,
        found: Vec::new(),
    };
    differ.compare_messages(old, new, OldAndNewSpan { old: old_place, new: new_place });
    differ.found
}

struct InstanceComparison<'t> {
    tree: &'t Tree,
    path: String,
    field: Option<FieldId>,
    /// The costs of a change by the messages around it, with their services.
    via: Vec<(Option<&'static str>, ChangeCost)>,
    /// What replaces a cost around, by its index, where the field that is compared only gets an
    /// element or another order.
    element_cost: Option<(usize, ChangeCost)>,
    /// The same for the order of any list that is compared, and for defaults that are written out.
    equivalent_cost: Option<(usize, ChangeCost)>,
    found: Vec<InstanceDifference>,
}

/// The spans of something in both texts.
#[derive(Clone, Copy)]
struct OldAndNewSpan {
    old: Span,
    new: Span,
}

/// Fields that name an element of a list.
const NAMES: &[&str] = &["name", "cluster_name", "id"];

impl InstanceComparison<'_> {
    fn report(&mut self, kind: DifferenceKind, places: OldAndNewSpan, own: Option<CostSource>) {
        let via = self.via.iter().copied().chain(own);
        let cost = via.clone().next().map(|(_, cost)| cost);
        // A service is worth naming if it spares a restart.
        let services = via.filter_map(|(service, cost)| {
            service.filter(|_| cost < ChangeCost::HotRestart).map(|it| (it, cost))
        });
        self.found.push(InstanceDifference {
            path: self.path.clone(),
            field: self.field,
            kind,
            old: places.old,
            new: places.new,
            cost,
            services: services.collect(),
        });
    }

    /// Does something with what costs less than other changes of the messages around it.
    fn visit_at_cost(&mut self, cost: Option<(usize, ChangeCost)>, inside: impl FnOnce(&mut Self)) {
        let via = self.via.clone();
        if let Some((at, cost)) = cost {
            self.via[at].1 = cost;
        }
        inside(self);
        self.via = via;
    }

    /// Does something one step deeper in the value.
    fn visit_inside(&mut self, step: &str, inside: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        if !self.path.is_empty() && !step.is_empty() && !step.starts_with('[') {
            self.path.push('.');
        }
        self.path.push_str(step);
        inside(self);
        self.path.truncate(length);
    }

    fn compare_messages(&mut self, old: &Message, new: &Message, places: OldAndNewSpan) {
        if let (Some(old), Some(new)) = (&old.content, &new.content) {
            return self.compare_messages(old, new, places);
        }
        if old.ty != new.ty || is_single_value(self.tree, old, new) {
            if !is_same(self.tree, old, new) {
                self.report(DifferenceKind::Changed, places, None);
            }
            return;
        }
        let facts = MessageCosts::find(self.tree, old.ty);
        // JSON has no names for what these hold.
        let is_plain = get_well_known_name(self.tree, old.ty).is_some();
        for (field, olds, news) in collect_fields(self.tree, old, new) {
            let via = facts.and_then(|it| Some((it.service, it.cost_of(field.name())?)));
            let at = self.via.len();
            self.via.extend(via);
            let (outer, outer_costs) = (self.field, (self.element_cost, self.equivalent_cost));
            let kept = facts.and_then(|it| it.cost_of_kept_elements(field.name()));
            self.element_cost = kept.filter(|_| via.is_some()).map(|cost| (at, cost));
            if let (Some(facts), Some(_)) = (facts, via) {
                let is_default = !facts.has_own_cost(field.name());
                let cost = facts.equivalent_inside.filter(|_| is_default);
                self.equivalent_cost = cost.map(|cost| (at, cost));
            }
            if !is_plain {
                self.field = Some(field.id);
            }
            let is_unordered = facts.is_some_and(|it| it.unordered.contains(&field.name()));
            let step = if is_plain { "" } else { field.name() };
            self.visit_inside(step, |it| match field.cardinality() {
                Cardinality::Singular => {
                    it.compare_singular(olds.last().copied(), news.last().copied(), places);
                }
                Cardinality::Map => it.compare_maps(&olds, &news, places),
                Cardinality::Repeated => {
                    it.compare_lists(field, &olds, &news, places, is_unordered)
                }
            });
            self.field = outer;
            (self.element_cost, self.equivalent_cost) = outer_costs;
            self.via.truncate(self.via.len() - usize::from(via.is_some()));
        }
    }

    /// Two values of a field that has one, of which one may be absent.
    fn compare_singular(
        &mut self,
        old: Option<&Entry>,
        new: Option<&Entry>,
        around: OldAndNewSpan,
    ) {
        let is_equivalent = old.xor(new).is_some_and(|it| is_default(&it.value));
        match self.equivalent_cost.filter(|_| is_equivalent) {
            None => self.compare_pair(old, new, around),
            cost => self.visit_at_cost(cost, |it| it.compare_pair(old, new, around)),
        }
    }

    /// Two values of a place, of which one may be absent.
    fn compare_pair(&mut self, old: Option<&Entry>, new: Option<&Entry>, around: OldAndNewSpan) {
        match (old, new) {
            (Some(old), Some(new)) => {
                let places = OldAndNewSpan { old: old.span, new: new.span };
                match (&old.value, &new.value) {
                    (Value::Message(old), Value::Message(new)) => {
                        self.compare_messages(old, new, places)
                    }
                    (old, new) if is_same_value(self.tree, old, new) => {}
                    _ => self.report(DifferenceKind::Changed, places, None),
                }
            }
            (Some(old), None) => {
                let places = OldAndNewSpan { old: get_shown_span(self.tree, old), new: around.new };
                let own = self.find_resource_cost(&old.value, |it| it.removed);
                self.report(DifferenceKind::Removed, places, own);
            }
            (None, Some(new)) => {
                let places = OldAndNewSpan { old: around.old, new: get_shown_span(self.tree, new) };
                let own = self.find_resource_cost(&new.value, |it| it.added);
                self.visit_at_cost(self.element_cost, |it| {
                    it.report(DifferenceKind::Added, places, own);
                });
            }
            (None, None) => {}
        }
    }

    /// Finds the cost of an added or removed resource.
    fn find_resource_cost(
        &self,
        value: &Value,
        cost: impl FnOnce(&MessageCosts) -> ChangeCost,
    ) -> Option<CostSource> {
        let message = value.as_message()?;
        let message = message.content.as_deref().unwrap_or(message);
        let facts = MessageCosts::find(self.tree, message.ty)?;
        Some((facts.service, cost(facts)))
    }

    fn compare_maps(&mut self, olds: &[&Entry], news: &[&Entry], around: OldAndNewSpan) {
        let key_of = |entry: &&Entry| {
            let pair = entry.value.as_message()?;
            Some(format_key(&pair.find_by_number(self.tree, 1)?.value))
        };
        let keyed = |entries: &[&Entry]| entries.iter().map(key_of).collect::<Option<Vec<_>>>();
        let (Some(old_keys), Some(new_keys)) = (keyed(olds), keyed(news)) else { return };
        self.compare_named(olds, &old_keys, news, &new_keys, around, |it, old, new, around| {
            let (old, new) = (get_map_value(it.tree, old), get_map_value(it.tree, new));
            it.compare_pair(old, new, around);
        });
    }

    /// Pairs elements by their names.
    fn compare_named(
        &mut self,
        olds: &[&Entry],
        old_names: &[String],
        news: &[&Entry],
        new_names: &[String],
        around: OldAndNewSpan,
        mut pair: impl FnMut(&mut Self, Option<&Entry>, Option<&Entry>, OldAndNewSpan),
    ) {
        let by_name: FxHashMap<&String, &Entry> =
            new_names.iter().zip(news.iter().copied()).collect();
        for (name, old) in old_names.iter().zip(olds) {
            let new = by_name.get(name).copied();
            self.visit_inside(name, |it| pair(it, Some(old), new, around));
        }
        let known: FxHashSet<&String> = old_names.iter().collect();
        for (name, new) in new_names.iter().zip(news).filter(|(name, _)| !known.contains(name)) {
            self.visit_inside(name, |it| pair(it, None, Some(new), around));
        }
    }

    fn compare_lists(
        &mut self,
        field: Field<'_>,
        olds: &[&Entry],
        news: &[&Entry],
        around: OldAndNewSpan,
        is_unordered: bool,
    ) {
        let name = NAMES.iter().find_map(|name| {
            let names = |entries: &[&Entry]| collect_names(self.tree, entries, name);
            Some((names(olds)?, names(news)?))
        });
        let Some((old_names, new_names)) = name else {
            return self.compare_indexed(olds, news, around);
        };
        self.compare_named(olds, &old_names, news, &new_names, around, |it, old, new, around| {
            it.compare_pair(old, new, around);
        });
        let kept = |names: &[String], others: &[String]| {
            let others: FxHashSet<&String> = others.iter().collect();
            names.iter().filter(|it| others.contains(it)).cloned().collect::<Vec<_>>()
        };
        if kept(&old_names, &new_names) != kept(&new_names, &old_names) {
            let place = |entries: &[&Entry]| entries.first().map_or(Span::default(), |it| it.key);
            let places = OldAndNewSpan { old: place(olds), new: place(news) };
            self.field = Some(field.id);
            match is_unordered {
                true => {
                    let via = std::mem::replace(&mut self.via, vec![(None, ChangeCost::Nothing)]);
                    self.report(DifferenceKind::Reordered, places, None);
                    self.via = via;
                }
                false => self.report_reordered(places),
            }
        }
    }

    fn report_reordered(&mut self, places: OldAndNewSpan) {
        let cost = self.element_cost.or(self.equivalent_cost);
        self.visit_at_cost(cost, |it| it.report(DifferenceKind::Reordered, places, None));
    }

    /// Returns true if two lists hold the same elements in another order.
    fn is_permutation(&self, olds: &[&Entry], news: &[&Entry]) -> bool {
        if olds.len() != news.len() || olds.len() > MAX_PERMUTED {
            return false;
        }
        let mut left: Vec<&Entry> = news.to_vec();
        olds.iter().all(|old| {
            let at = left.iter().position(|it| is_same_value(self.tree, &old.value, &it.value));
            at.map(|at| left.swap_remove(at)).is_some()
        })
    }

    /// Pairs elements without names: those at the begin and at the end that are the
    /// same, and the others in their order.
    fn compare_indexed(&mut self, olds: &[&Entry], news: &[&Entry], around: OldAndNewSpan) {
        let is_same =
            |(old, new): &(&&Entry, &&Entry)| is_same_value(self.tree, &old.value, &new.value);
        let begin = olds.iter().zip(news).take_while(is_same).count();
        let (olds, news) = (&olds[begin..], &news[begin..]);
        let end = olds.iter().rev().zip(news.iter().rev()).take_while(is_same).count();
        let (olds, news) = (&olds[..olds.len() - end], &news[..news.len() - end]);
        if olds.len() > 1 && self.is_permutation(olds, news) {
            let place = |entries: &[&Entry]| entries.first().map_or(Span::default(), |it| it.key);
            return self.report_reordered(OldAndNewSpan { old: place(olds), new: place(news) });
        }
        for at in 0..olds.len().max(news.len()) {
            let (old, new) = (olds.get(at).copied(), news.get(at).copied());
            self.visit_inside(&format!("[{}]", begin + at), |it| it.compare_pair(old, new, around));
        }
    }
}

/// Lists that are longer are compared by their indexes alone.
const MAX_PERMUTED: usize = 64;

/// The value of a pair of a map.
fn get_map_value<'m>(tree: &Tree, pair: Option<&'m Entry>) -> Option<&'m Entry> {
    pair?.value.as_message()?.find_by_number(tree, 2)
}

/// A message on the way to a change: its service, and what it says of the cost.
type CostSource = (Option<&'static str>, ChangeCost);

/// The fields that one of two values sets, in the order of the old one, with their
/// entries. A zero of a field without presence is as good as none.
fn collect_fields<'t, 'm>(
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
fn get_well_known_name(tree: &Tree, ty: MessageId) -> Option<&str> {
    let message = tree.message(ty);
    (message.package().name() == "google.protobuf").then(|| message.name())
}

/// Returns true if two messages of one type are each one value for people, as durations are.
fn is_single_value(tree: &Tree, old: &Message, new: &Message) -> bool {
    match get_well_known_name(tree, old.ty) {
        None | Some("Struct" | "ListValue") => false,
        // Structs and lists are looked into if both sides have one.
        Some("Value") => match (old.entries.last(), new.entries.last()) {
            (Some(old), Some(new)) => old.field != new.field || old.value.as_message().is_none(),
            _ => true,
        },
        Some(_) => true,
    }
}

/// Returns true if a value says no more than its absence does to a reader that asks for no presence: a
/// zero, or a message of such values.
fn is_default(value: &Value) -> bool {
    match value {
        Value::Message(message) => {
            message.content.is_none()
                && message.unknown.is_empty()
                && message.entries.iter().all(|it| is_default(&it.value))
        }
        value => value.is_zero(),
    }
}

/// The names of all elements of a list, in brackets, if each has another one.
fn collect_names(tree: &Tree, entries: &[&Entry], field: &str) -> Option<Vec<String>> {
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
fn format_key(value: &Value) -> String {
    match value {
        Value::String(text) => format!("[{text:?}]"),
        Value::Bool(value) => format!("[{value}]"),
        Value::U64(value) => format!("[{value}]"),
        value => format!("[{}]", value.as_i64().unwrap_or_default()),
    }
}

/// Returns the span of an entry, with its key unless it shares that with the rest of a list.
fn get_shown_span(tree: &Tree, entry: &Entry) -> Span {
    let is_alone = tree.field(entry.field).cardinality() == Cardinality::Singular;
    match is_alone && !entry.key.is_empty() && entry.key.start < entry.span.start {
        true => Span::new(entry.key.start, entry.span.end),
        false => entry.span,
    }
}

/// Returns true if two values mean the same. Lists are compared in their order.
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
        && collect_fields(tree, old, new).into_iter().all(|(field, olds, news)| {
            match field.cardinality() {
                Cardinality::Singular => {
                    let last = |entries: &[&'_ Entry]| entries.len().saturating_sub(1);
                    same(&olds[last(&olds)..], &news[last(&news)..])
                }
                Cardinality::Repeated => same(&olds, &news),
                Cardinality::Map => {
                    let key = |entry: &&Entry| {
                        let pair = entry.value.as_message();
                        let key = pair.and_then(|it| it.find_by_number(tree, 1));
                        key.map(|it| format_key(&it.value))
                    };
                    let [mut olds, mut news] = [olds, news];
                    olds.sort_by_cached_key(key);
                    news.sort_by_cached_key(key);
                    same(&olds, &news)
                }
            }
        })
}

#[cfg(test)]
mod tests;
