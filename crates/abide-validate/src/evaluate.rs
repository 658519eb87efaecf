//! Checks whether a value satisfies the constraints of its type.

mod absence;
mod expressions;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use abide_schema::value::{self, Entry, MAX_NESTING, Value};
use abide_schema::{Cardinality, Element, Field, FieldId, Message, MessageId, Tree};
use abide_syntax::Span;
use rustc_hash::FxHashMap;

pub use self::absence::{rejects_absence, rejects_absence_of_oneof};
use self::expressions::Expressions;
use crate::annotations::{Facet, MessageLimits, find_required_oneof, read_facets};
use crate::limits::{self, Datum, DialectLimits, FieldLimits, ValueType};
use crate::sets::{Acceptance, Dialect};

/// A constraint that a value violates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The path of the field, oneof or message inside the value; empty for the
    /// value itself.
    pub path: String,
    /// The reason, in one phrase.
    pub reason: String,
    /// The field of the outermost message, with which the path begins.
    pub field: Option<FieldId>,
    /// The full name of the field, oneof or message that has the constraint.
    pub element: String,
    /// The constraints of that field, as a person would write them; empty for other elements.
    pub rules: Vec<String>,
    /// The place of the value, if it was read from a text: that of the message
    /// around it where there is none.
    pub span: Span,
}

/// The result of checking a value against the validation annotations of its type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evaluation {
    /// The demands that it violates.
    pub violations: Vec<Violation>,
    /// The demands that cannot be determined here: rules that depend on the time, and expressions
    /// that give no verdict.
    pub undetermined: Vec<Undetermined>,
}

/// A constraint that a value may satisfy or violate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undetermined {
    /// The full name of the field, oneof or message that has the constraint.
    pub element: String,
    /// The thing that is not known, in one phrase.
    pub what: String,
    /// The place of the value, as in a [`Violation`].
    pub span: Span,
}

impl Evaluation {
    /// Returns true if every constraint is known to be satisfied.
    pub fn accepts(&self) -> bool {
        self.violations.is_empty() && self.undetermined.is_empty()
    }

    /// Returns true if some constraint is known to be violated.
    pub fn rejects(&self) -> bool {
        !self.violations.is_empty()
    }
}

/// Checks a value against the validation annotations of its type, and the messages
/// inside it against theirs.
///
/// The meaning of `validate.rules` is that of protoc-gen-validate 1.3, the
/// meaning of `buf.validate` that of the Python package protovalidate 2.1.
pub fn evaluate(tree: &Tree, message: &value::Message) -> Evaluation {
    Evaluator::new(tree).evaluate(message, Span::default())
}

/// Checks values of one tree, and caches the rules it has read.
#[derive(Debug)]
pub struct Evaluator<'t> {
    tree: &'t Tree,
    fields: RefCell<FxHashMap<FieldId, Rc<FieldLimits<'t>>>>,
    checks: RefCell<FxHashMap<FieldId, Rc<FieldCheck<'t>>>>,
    messages: RefCell<FxHashMap<MessageId, Rc<MessageCheck<'t>>>>,
    /// The number of messages that may still be constructed. Types that need each other would
    /// never end.
    budget: Cell<u32>,
}

/// The checks of a field.
#[derive(Debug)]
struct FieldCheck<'t> {
    /// The rules that are no expressions.
    limits: FieldLimits<'t>,
    expressions: Expressions<'t>,
    /// All of them, as a person would write them.
    written: Vec<String>,
}

/// The checks of a message.
#[derive(Debug)]
struct MessageCheck<'t> {
    limits: MessageLimits,
    expressions: Expressions<'t>,
    /// The fields that have rules or hold messages, in the order of declaration.
    fields: Vec<Field<'t>>,
}

/// The libraries that check a message.
type Active = [bool; 2];

impl<'t> Evaluator<'t> {
    /// An evaluator that has read no rules yet.
    pub fn new(tree: &'t Tree) -> Evaluator<'t> {
        Evaluator {
            tree,
            fields: RefCell::default(),
            checks: RefCell::default(),
            messages: RefCell::default(),
            budget: Cell::new(2000),
        }
    }

    /// The tree of the values.
    pub fn tree(&self) -> &'t Tree {
        self.tree
    }

    /// Returns true if another message may be constructed.
    pub(crate) fn may_try(&self) -> bool {
        let left = self.budget.get();
        self.budget.set(left.saturating_sub(1));
        left > 0
    }

    /// The rules of a field.
    pub(crate) fn limits(&self, field: Field<'t>) -> Rc<FieldLimits<'t>> {
        if let Some(limits) = self.fields.borrow().get(&field.id) {
            return Rc::clone(limits);
        }
        let limits = Rc::new(FieldLimits::new(field, &read_facets(field)));
        self.fields.borrow_mut().insert(field.id, Rc::clone(&limits));
        limits
    }

    fn field_check(&self, field: Field<'t>) -> Rc<FieldCheck<'t>> {
        if let Some(check) = self.checks.borrow().get(&field.id) {
            return Rc::clone(check);
        }
        let facets = read_facets(field);
        let check = Rc::new(FieldCheck {
            limits: FieldLimits::without_expressions(field, &facets),
            expressions: Expressions::of_field(field),
            written: facets.iter().map(Facet::written).collect(),
        });
        self.checks.borrow_mut().insert(field.id, Rc::clone(&check));
        check
    }

    fn message_check(&self, message: Message<'t>) -> Rc<MessageCheck<'t>> {
        if let Some(check) = self.messages.borrow().get(&message.id) {
            return Rc::clone(check);
        }
        let counts = |field: &Field<'t>| {
            field.message_type().is_some() || !self.field_check(*field).limits.parts.is_empty()
        };
        let check = Rc::new(MessageCheck {
            limits: MessageLimits::read(message),
            expressions: Expressions::of_message(message),
            fields: message.fields().filter(counts).collect(),
        });
        self.messages.borrow_mut().insert(message.id, Rc::clone(&check));
        check
    }

    /// Checks a value as [`evaluate`] does.
    pub fn evaluate_message(&self, message: &value::Message) -> Evaluation {
        self.evaluate(message, Span::default())
    }

    /// Checks a value that stands at this place as [`evaluate`] does.
    pub fn evaluate(&self, message: &value::Message, span: Span) -> Evaluation {
        let mut evaluation = Evaluation::default();
        let mut zeros = FxHashMap::default();
        collect_written_zeros(message, span, &mut zeros);
        let out = &mut evaluation;
        let path = String::new();
        let mut walk = EvaluationWalk { evaluator: self, out, zeros, field: None, path, depth: 0 };
        walk.check_message(&message.normalize(self.tree), span, [true; 2]);
        evaluation
    }

    /// The verdict of one library on the values of a field, without the own rules of
    /// messages among them.
    pub fn evaluate_contents(
        &self,
        limits: &FieldLimits<'t>,
        part: &DialectLimits,
        values: &[&Value],
    ) -> Acceptance {
        if part.skip {
            return Acceptance::Accepted;
        }
        let rejected = |why: &str| Acceptance::Rejected(why.to_owned());
        let single = limits.single();
        if limits.field.cardinality() == Cardinality::Singular {
            let value = values.last().copied();
            let datum = match value {
                Some(value) => single.datum(self.tree, value),
                None if !limits.is_explicit() => single.zero(),
                None if part.required => return rejected("it is required"),
                None => match &part.default {
                    Some(default) => default.clone(),
                    None => return Acceptance::Accepted,
                },
            };
            if part.required && !limits.is_explicit() && datum == single.zero() {
                return rejected("it is required");
            }
            return part.values.evaluate(&datum);
        }
        let pairs = self.collect_pairs(limits, values);
        if pairs.is_empty() && part.required {
            return rejected("it is required");
        }
        if pairs.is_empty() && part.empty_passes {
            return Acceptance::Accepted;
        }
        let mut acceptance = Acceptance::when(part.items.count.contains(pairs.len() as u64))
            .because(|| "it has too few or too many values".to_owned());
        if part.items.unique {
            let twice = pairs.iter().enumerate().any(|(at, (_, value))| {
                *value != Datum::Nan && pairs[..at].iter().any(|(_, other)| other == value)
            });
            let unique = Acceptance::when(!twice).because(|| "a value occurs twice".to_owned());
            acceptance = acceptance.and(|| unique);
        }
        for (key, value) in &pairs {
            if let (Some(keys), Some(key)) = (&part.keys, key) {
                acceptance = acceptance
                    .and(|| keys.evaluate(key).because(|| "one of its keys is refused".to_owned()));
            }
            acceptance = acceptance.and(|| part.values.evaluate(value));
        }
        acceptance.and(|| match part.opaque.first() {
            Some(facet) => Acceptance::Unknown(format!("`{facet}`")),
            None => Acceptance::Accepted,
        })
    }

    /// The values of a list, or the entries of a map, where the last entry with a key
    /// counts.
    fn collect_pairs(
        &self,
        limits: &FieldLimits<'t>,
        values: &[&Value],
    ) -> Vec<(Option<Datum>, Datum)> {
        let single = limits.single();
        let Some(key) = limits::key(limits.field) else {
            return values.iter().map(|it| (None, single.datum(self.tree, it))).collect();
        };
        let mut pairs: Vec<(Option<Datum>, Datum)> = Vec::new();
        for entry in values.iter().filter_map(|value| value.as_message()) {
            let part = |number: i32, single: ValueType| {
                let entry = entry.find_by_number(self.tree, number);
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

/// Finds the zeros that a text sets, which a value on the wire does not have: by the place of their
/// message and their field.
fn collect_written_zeros(
    message: &value::Message,
    span: Span,
    zeros: &mut FxHashMap<(Span, FieldId), Span>,
) {
    for entry in message.entries.iter().filter(|entry| !entry.span.is_empty()) {
        match &entry.value {
            Value::Message(inner) => collect_written_zeros(inner, entry.span, zeros),
            value if value.is_zero() => drop(zeros.insert((span, entry.field), entry.span)),
            _ => {}
        }
    }
}

struct EvaluationWalk<'j, 't> {
    evaluator: &'j Evaluator<'t>,
    out: &'j mut Evaluation,
    /// The places of zeros that the value does not have.
    zeros: FxHashMap<(Span, FieldId), Span>,
    /// The field of the outermost message.
    field: Option<FieldId>,
    /// The path of what is checked.
    path: String,
    depth: u32,
}

impl<'t> EvaluationWalk<'_, 't> {
    fn record_acceptance(&mut self, element: Element<'t>, span: Span, acceptance: Acceptance) {
        match acceptance {
            Acceptance::Accepted => {}
            Acceptance::Rejected(reason) => {
                self.out.violations.push(Violation {
                    path: self.path.clone(),
                    reason,
                    field: self.field,
                    element: element.full_name(),
                    rules: match element {
                        Element::Field(field) => self.evaluator.field_check(field).written.clone(),
                        _ => Vec::new(),
                    },
                    span,
                });
            }
            Acceptance::Unknown(what) => {
                let element = element.full_name();
                self.out.undetermined.push(Undetermined { element, what, span });
            }
        }
    }

    /// Does something one step deeper in the value.
    fn at(&mut self, name: &str, inside: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        if !self.path.is_empty() {
            self.path.push('.');
        }
        self.path.push_str(name);
        inside(self);
        self.path.truncate(length);
    }

    fn check_message(&mut self, message: &value::Message, span: Span, active: Active) {
        let tree = self.evaluator.tree;
        let ty = tree.message(message.ty);
        let check = self.evaluator.message_check(ty);
        let limits = &check.limits;
        let active = [Dialect::Pgv, Dialect::Buf]
            .map(|dialect| active[dialect as usize] && !limits.is_disabled(dialect));
        if active == [false; 2] || self.depth > MAX_NESTING {
            return;
        }
        let outermost = self.depth == 0;
        for &field in &check.fields {
            if outermost {
                self.field = Some(field.id);
            }
            let entries: Vec<&Entry> = message.entries_of(field.id).collect();
            self.at(field.name(), |walk| walk.check_field(field, &entries, span, active));
        }
        if outermost {
            self.field = None;
        }
        let is_set = |field: Field<'_>| {
            let single = ValueType::of(field);
            message.entries_of(field.id).any(|entry| {
                field.presence() != abide_schema::Presence::Implicit
                    || field.cardinality() != Cardinality::Singular
                    || single.datum(tree, &entry.value) != single.zero()
            })
        };
        for oneof in ty.oneofs() {
            let required = find_required_oneof(oneof);
            if required.is_some_and(|(dialect, _)| active[dialect as usize])
                && !oneof.fields().any(is_set)
            {
                let refused = Acceptance::Rejected("it is required".to_owned());
                let element = Element::Oneof(oneof);
                self.at(oneof.name(), |walk| walk.record_acceptance(element, span, refused));
            }
        }
        if !active[Dialect::Buf as usize] {
            return;
        }
        let own = Element::Message(ty);
        for exclusive in &limits.exclusive {
            let named = exclusive.fields.iter().filter_map(|name| ty.field_named(name));
            let count = named.filter(|field| is_set(*field)).count();
            if count > 1 || count == 0 && exclusive.required {
                let why = "too many or too few of its fields are set";
                self.record_acceptance(own, span, Acceptance::Rejected(why.to_owned()));
            }
        }
        for verdict in check.expressions.on_message(tree, message) {
            self.record_acceptance(own, span, verdict);
        }
        for (facet, _) in &limits.opaque {
            self.record_acceptance(own, span, Acceptance::Unknown(format!("`{facet}`")));
        }
    }

    /// Checks the entries of a field of a message that stands at `around`.
    fn check_field(&mut self, field: Field<'t>, entries: &[&Entry], around: Span, active: Active) {
        let check = self.evaluator.field_check(field);
        let mut nested = active;
        if !check.limits.parts.is_empty() {
            let values: Vec<&Value> = entries.iter().map(|entry| &entry.value).collect();
            let span = match (entries, field.cardinality()) {
                ([], _) => self.zeros.get(&(around, field.id)).copied().unwrap_or(around),
                ([.., entry], Cardinality::Singular) => entry.span,
                ([entry, ..], Cardinality::Repeated | Cardinality::Map) => entry.key,
            };
            for part in &check.limits.parts {
                let at = part.dialect as usize;
                if !active[at] {
                    continue;
                }
                nested[at] = !part.skip && !part.values.skip;
                let acceptance = self.evaluator.evaluate_contents(&check.limits, part, &values);
                self.record_acceptance(Element::Field(field), span, acceptance);
                if part.dialect == Dialect::Buf && !check.expressions.is_empty() {
                    let tree = self.evaluator.tree;
                    for verdict in check.expressions.on_field(tree, &check.limits, part, &values) {
                        self.record_acceptance(Element::Field(field), span, verdict);
                    }
                }
            }
        }
        for (index, entry) in entries.iter().enumerate() {
            let Some(value) = entry.value.as_message() else { continue };
            let inner = match field.cardinality() {
                Cardinality::Singular | Cardinality::Repeated => Some((value, entry.span)),
                Cardinality::Map => {
                    let inner = value.find_by_number(self.evaluator.tree, 2);
                    inner.and_then(|it| Some((it.value.as_message()?, it.span)))
                }
            };
            let Some((inner, span)) = inner else { continue };
            let length = self.path.len();
            if field.cardinality() != Cardinality::Singular {
                self.path.push_str(&format!("[{index}]"));
            }
            self.depth += 1;
            self.check_message(inner, span, nested);
            self.depth -= 1;
            self.path.truncate(length);
        }
    }
}

/// The distinct reasons for which a value is rejected, by field.
pub(crate) fn collect_violated(evaluation: &Evaluation) -> BTreeMap<FieldId, &str> {
    let pairs = evaluation.violations.iter();
    pairs.filter_map(|it| Some((it.field?, it.reason.as_str()))).collect()
}
