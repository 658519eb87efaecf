//! Whether a value satisfies the constraints of its type.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use abide_schema::value::{self, MAX_NESTING, Value};
use abide_schema::{Cardinality, Field, FieldId, Message, MessageId, Tree};
use rustc_hash::FxHashMap;

use super::datum::{self, Datum, Single};
use super::limits::{FieldRule, Part};
use super::read::{self, Dialect, Facet, Literal, MessageRules};
use super::verdict::Verdict;

/// A constraint that a value violates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The path of the field, oneof or message inside the value; empty for the
    /// value itself.
    pub path: String,
    /// Why, in one phrase.
    pub reason: String,
    /// The field of the outermost message that the path begins with.
    pub field: Option<FieldId>,
}

/// What the validation annotations of a type say of one of its values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// What it violates.
    pub violations: Vec<Violation>,
    /// What cannot be told here: CEL expressions, and what depends on the
    /// time.
    pub unknown: Vec<String>,
}

impl Judgement {
    /// Whether every constraint is known to be satisfied.
    pub fn accepts(&self) -> bool {
        self.violations.is_empty() && self.unknown.is_empty()
    }

    /// Whether some constraint is known to be violated.
    pub fn rejects(&self) -> bool {
        !self.violations.is_empty()
    }
}

/// Judges a value by the validation annotations of its type, and the messages
/// inside it by theirs.
///
/// The meaning of `validate.rules` is that of protoc-gen-validate 1.3, the
/// meaning of `buf.validate` that of the Python package protovalidate 2.1.
pub fn judge(tree: &Tree, message: &value::Message) -> Judgement {
    Judge::new(tree).message(message)
}

/// Judges values of one tree, and remembers the rules it has read.
pub(super) struct Judge<'t> {
    pub(super) tree: &'t Tree,
    fields: RefCell<FxHashMap<FieldId, Rc<FieldRule<'t>>>>,
    messages: RefCell<FxHashMap<MessageId, Rc<MessageRules>>>,
    /// How many messages may still be made up: types that need each other
    /// would ask for ever more.
    budget: Cell<u32>,
}

/// Which libraries look at a message.
type Active = [bool; 2];

impl<'t> Judge<'t> {
    pub(super) fn new(tree: &'t Tree) -> Judge<'t> {
        Judge {
            tree,
            fields: RefCell::default(),
            messages: RefCell::default(),
            budget: Cell::new(2000),
        }
    }

    /// Whether another message may be made up.
    pub(super) fn may_try(&self) -> bool {
        let left = self.budget.get();
        self.budget.set(left.saturating_sub(1));
        left > 0
    }

    /// What the annotations of a field say.
    pub(super) fn rule(&self, field: Field<'t>) -> Rc<FieldRule<'t>> {
        if let Some(rule) = self.fields.borrow().get(&field.id) {
            return Rc::clone(rule);
        }
        let rule = Rc::new(FieldRule::new(field, &facets(field)));
        self.fields.borrow_mut().insert(field.id, Rc::clone(&rule));
        rule
    }

    fn rules(&self, message: Message<'t>) -> Rc<MessageRules> {
        if let Some(rules) = self.messages.borrow().get(&message.id) {
            return Rc::clone(rules);
        }
        let rules = Rc::new(MessageRules::of(message));
        self.messages.borrow_mut().insert(message.id, Rc::clone(&rules));
        rules
    }

    pub(super) fn message(&self, message: &value::Message) -> Judgement {
        let mut judgement = Judgement::default();
        let mut walk = Walk { judge: self, out: &mut judgement, field: None, depth: 0 };
        walk.message(&message.normalized(self.tree), [true; 2], "");
        judgement
    }

    /// What one library says of the values of a field; the messages among them
    /// are not judged by their own rules.
    pub(super) fn contents(&self, rule: &FieldRule<'t>, part: &Part, values: &[&Value]) -> Verdict {
        if part.skip {
            return Verdict::Accepted;
        }
        let rejected = |why: &str| Verdict::Rejected(why.to_owned());
        let single = rule.single();
        if rule.field.cardinality() == Cardinality::Singular {
            let value = values.last().copied();
            let datum = match value {
                Some(value) => single.datum(self.tree, value),
                None if !rule.is_explicit() => single.zero(),
                None if part.required => return rejected("it is required"),
                None => match &part.default {
                    Some(default) => default.clone(),
                    None => return Verdict::Accepted,
                },
            };
            if part.required && !rule.is_explicit() && datum == single.zero() {
                return rejected("it is required");
            }
            return part.values.judge(&datum);
        }
        let pairs = self.pairs(rule, values);
        if pairs.is_empty() && part.required {
            return rejected("it is required");
        }
        if pairs.is_empty() && part.empty_passes {
            return Verdict::Accepted;
        }
        let mut verdict = Verdict::when(part.items.count.contains(pairs.len() as u64))
            .because(|| "it has too few or too many values".to_owned());
        if part.items.unique {
            let twice = pairs.iter().enumerate().any(|(at, (_, value))| {
                *value != Datum::Nan && pairs[..at].iter().any(|(_, other)| other == value)
            });
            let unique = Verdict::when(!twice).because(|| "a value occurs twice".to_owned());
            verdict = verdict.and(|| unique);
        }
        for (key, value) in &pairs {
            if let (Some(rules), Some(key)) = (&part.keys, key) {
                verdict = verdict
                    .and(|| rules.judge(key).because(|| "one of its keys is refused".to_owned()));
            }
            verdict = verdict.and(|| part.values.judge(value));
        }
        verdict.and(|| match part.opaque.first() {
            Some(rule) => Verdict::Unknown(format!("`{rule}`")),
            None => Verdict::Accepted,
        })
    }

    /// The values of a list, or the pairs of a map, of which the last with one
    /// key counts.
    fn pairs(&self, rule: &FieldRule<'t>, values: &[&Value]) -> Vec<(Option<Datum>, Datum)> {
        let single = rule.single();
        let Some(key) = datum::key(rule.field) else {
            return values.iter().map(|it| (None, single.datum(self.tree, it))).collect();
        };
        let mut pairs: Vec<(Option<Datum>, Datum)> = Vec::new();
        for entry in values.iter().filter_map(|value| value.as_message()) {
            let part = |number: i32, single: Single| {
                let entry = entry.numbered(self.tree, number);
                entry.map_or_else(|| single.zero(), |entry| single.datum(self.tree, &entry.value))
            };
            let (key, value) = (Some(part(1, key)), part(2, single));
            match pairs.iter_mut().find(|(known, _)| *known == key) {
                Some(pair) => pair.1 = value,
                None => pairs.push((key, value)),
            }
        }
        pairs
    }
}

/// The facets of a field, with what its message implies: protovalidate lets
/// the unset members of a message's `oneof` pass.
pub(super) fn facets(field: Field<'_>) -> Vec<Facet> {
    let mut facets = read::of_field(field);
    let message = field.parent().filter(|_| !field.is_extension());
    let ignored = facets.iter().any(|it| it.dialect == Dialect::Buf && it.path == "ignore");
    let buf = facets.iter().find(|it| it.dialect == Dialect::Buf).map(|it| it.place);
    if let (Some(message), false, Some(place)) = (message, ignored, buf) {
        let rules = MessageRules::of(message);
        let name = field.name();
        if rules.exclusive.iter().any(|rule| rule.fields.iter().any(|it| it == name)) {
            facets.push(Facet {
                dialect: Dialect::Buf,
                path: "ignore".to_owned(),
                literals: vec![Literal::Name("IGNORE_IF_ZERO_VALUE".to_owned())],
                place,
            });
        }
    }
    facets
}

struct Walk<'j, 't> {
    judge: &'j Judge<'t>,
    out: &'j mut Judgement,
    /// The field of the outermost message.
    field: Option<FieldId>,
    depth: u32,
}

impl<'t> Walk<'_, 't> {
    fn say(&mut self, path: &str, verdict: Verdict) {
        match verdict {
            Verdict::Accepted => {}
            Verdict::Rejected(reason) => {
                let (path, field) = (path.to_owned(), self.field);
                self.out.violations.push(Violation { path, reason, field });
            }
            Verdict::Unknown(what) => self.out.unknown.push(format!("`{path}`: {what}")),
        }
    }

    fn message(&mut self, message: &value::Message, active: Active, path: &str) {
        let ty = self.judge.tree.message(message.ty);
        let rules = self.judge.rules(ty);
        let active = [Dialect::Pgv, Dialect::Buf]
            .map(|dialect| active[dialect as usize] && !rules.is_disabled(dialect));
        if active == [false; 2] || self.depth > MAX_NESTING {
            return;
        }
        let below = |name: &str| {
            if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
        };
        let outermost = self.depth == 0;
        for field in ty.fields() {
            if outermost {
                self.field = Some(field.id);
            }
            let values: Vec<&Value> = message.of(field.id).map(|entry| &entry.value).collect();
            self.field(field, &values, active, &below(field.name()));
        }
        if outermost {
            self.field = None;
        }
        let is_set = |field: Field<'_>| {
            let single = Single::of(field);
            message.of(field.id).any(|entry| {
                field.presence() != abide_schema::Presence::Implicit
                    || field.cardinality() != Cardinality::Singular
                    || single.datum(self.judge.tree, &entry.value) != single.zero()
            })
        };
        let mut said = Vec::new();
        for oneof in ty.oneofs() {
            let required = read::oneof_required(oneof);
            if required.is_some_and(|(dialect, _)| active[dialect as usize])
                && !oneof.fields().any(is_set)
            {
                said.push((below(oneof.name()), "it is required"));
            }
        }
        if active[Dialect::Buf as usize] {
            for rule in &rules.exclusive {
                let named = rule.fields.iter().filter_map(|name| ty.field_named(name));
                let count = named.filter(|field| is_set(*field)).count();
                if count > 1 || count == 0 && rule.required {
                    said.push((path.to_owned(), "too many or too few of its fields are set"));
                }
            }
            for (rule, _) in &rules.opaque {
                self.say(path, Verdict::Unknown(format!("`{rule}`")));
            }
        }
        for (path, why) in said {
            self.say(&path, Verdict::Rejected(why.to_owned()));
        }
    }

    fn field(&mut self, field: Field<'t>, values: &[&Value], active: Active, path: &str) {
        let rule = self.judge.rule(field);
        let mut nested = active;
        for part in &rule.parts {
            let at = part.dialect as usize;
            if !active[at] {
                continue;
            }
            nested[at] = !part.skip && !part.values.skip;
            let verdict = self.judge.contents(&rule, part, values);
            self.say(path, verdict);
        }
        for (index, value) in values.iter().filter_map(|it| it.as_message()).enumerate() {
            let (path, inner) = match field.cardinality() {
                Cardinality::Singular => (path.to_owned(), Some(value)),
                Cardinality::Repeated => (format!("{path}[{index}]"), Some(value)),
                Cardinality::Map => {
                    let inner = value.numbered(self.judge.tree, 2);
                    (format!("{path}[{index}]"), inner.and_then(|it| it.value.as_message()))
                }
            };
            if let Some(inner) = inner {
                self.depth += 1;
                self.message(inner, nested, &path);
                self.depth -= 1;
            }
        }
    }
}

/// The distinct reasons that stand between a value and acceptance, by field.
pub(super) fn violated(judgement: &Judgement) -> BTreeMap<FieldId, &str> {
    let pairs = judgement.violations.iter();
    pairs.filter_map(|it| Some((it.field?, it.reason.as_str()))).collect()
}
