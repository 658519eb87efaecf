//! Decides whether the other side accepts everything that one side accepts.
//!
//! `Yes` is a proof: intervals, lists, lengths and automata are compared exactly.
//! `No` comes with a value that the first side accepts and the second rejects, if
//! there is one of a sensible size.

use std::collections::BTreeSet;

use abide_schema::value::Value;
use abide_schema::{Cardinality, Type};
use abide_validate::limits::{
    Contents, Datum, DatumKind, DialectLimits, FieldLimits, ValueLimits, ValueSet, ValueType,
    convert, domain, key,
};
use abide_validate::sets::{
    Acceptance, Dialect, Included, Inconclusive, LengthRange, NumberKind, NumberSet, StringSet,
    TextInclusion,
};
use abide_validate::{Evaluator, sample};

/// A pair of sides: does `b` accept everything that `a` accepts?
pub(super) struct InclusionCheck<'j, 'a, 'b> {
    pub(super) a: &'j Evaluator<'a>,
    pub(super) b: &'j Evaluator<'b>,
}

impl<'a, 'b> InclusionCheck<'_, 'a, 'b> {
    pub(super) fn include_fields(
        &self,
        a: &FieldLimits<'a>,
        b: &FieldLimits<'b>,
    ) -> Included<Contents> {
        let mut doubt = Inconclusive::new();
        let mut unseen = false;
        for part in &b.parts {
            let free = DialectLimits::free(a.field, part.dialect);
            let own = a.parts.iter().filter(|own| own.dialect == part.dialect);
            let other = a.parts.iter().filter(|own| own.dialect != part.dialect);
            let mut candidates: Vec<&DialectLimits> = own.chain(other).collect();
            if candidates.is_empty() {
                candidates.push(&free);
            }
            let mut proven = false;
            let mut why = None;
            for candidate in &candidates {
                match self.include_dialects(a, candidate, b, part) {
                    Included::Yes => proven = true,
                    Included::No(Some(contents)) => {
                        let values: Vec<&Value> = contents.iter().collect();
                        if sample::check_contents(self.a, a, &values) == Acceptance::Accepted {
                            return Included::No(Some(contents));
                        }
                        why = Some("two libraries constrain the field".to_owned());
                    }
                    Included::No(None) if candidates.len() == 1 => unseen = true,
                    Included::No(None) => {
                        why = Some("two libraries constrain the field".to_owned())
                    }
                    Included::Unknown(reason) => why = Some(reason),
                }
            }
            if let (false, Some(why)) = (proven, why) {
                doubt.add(why);
            }
        }
        // A message that is checked by its own rules on one side only.
        if let Some(found) = self.include_nested(a, b) {
            match found {
                Included::Yes => {}
                Included::No(Some(contents)) => return Included::No(Some(contents)),
                Included::No(None) => unseen = true,
                Included::Unknown(why) => doubt.add(why),
            }
        }
        if unseen { Included::No(None) } else { doubt.into_included() }
    }

    /// Handles nested messages that `b` checks by their own rules and `a` does not.
    fn include_nested(
        &self,
        a: &FieldLimits<'a>,
        b: &FieldLimits<'b>,
    ) -> Option<Included<Contents>> {
        let (DatumKind::Message, DatumKind::Message) = (a.single().shape, b.single().shape) else {
            return None;
        };
        let skips = |parts: &[DialectLimits], dialect: Dialect| {
            let part = parts.iter().find(|part| part.dialect == dialect);
            part.is_some_and(|part| part.skip || part.values.skip)
        };
        let newly = |dialect: &Dialect| skips(&a.parts, *dialect) && !skips(&b.parts, *dialect);
        if !Dialect::ALL.iter().any(newly) {
            return None;
        }
        let Type::Message(ty) = b.single().ty else { return None };
        if !sample::has_constraints(self.b, ty) {
            return Some(Included::Yes);
        }
        let wrong = sample::find_rejected(self.b, ty);
        let contents = wrong.and_then(|wrong| {
            let wrong = self.convert_datum(&Datum::Message(wrong), b.single(), a.single())?;
            let contents = sample::wrap_datum(self.a, a, &wrong)?;
            let values: Vec<&Value> = contents.iter().collect();
            let accepted = sample::check_contents(self.a, a, &values) == Acceptance::Accepted;
            accepted.then_some(contents)
        });
        Some(match contents {
            Some(contents) => Included::No(Some(contents)),
            None => Included::Unknown("nested messages are checked on one side only".to_owned()),
        })
    }

    /// A datum of `b` as one of `a`.
    fn convert_datum(&self, datum: &Datum, from: ValueType, to: ValueType) -> Option<Datum> {
        convert(self.b.tree(), datum, from, self.a.tree(), to)
    }

    fn include_dialects(
        &self,
        a: &FieldLimits<'a>,
        pa: &DialectLimits,
        b: &FieldLimits<'b>,
        pb: &DialectLimits,
    ) -> Included<Contents> {
        if pb.skip {
            return Included::Yes;
        }
        if a.field.cardinality() != b.field.cardinality() {
            let free = DialectLimits::free(b.field, pb.dialect);
            let free = DialectLimits { default: pb.default.clone(), ..free } == *pb;
            return if free {
                Included::Yes
            } else {
                Included::Unknown("the cardinality of the field differs".to_owned())
            };
        }
        match a.field.cardinality() {
            Cardinality::Singular => self.include_singular(a, pa, b, pb),
            Cardinality::Repeated | Cardinality::Map => self.include_lists(a, pa, b, pb),
        }
    }

    /// Returns true if `a` accepts the contents and `b` rejects them.
    fn is_counterexample(
        &self,
        a: &FieldLimits<'a>,
        pa: &DialectLimits,
        b: &FieldLimits<'b>,
        pb: &DialectLimits,
        contents: &Contents,
    ) -> bool {
        let values: Vec<&Value> = contents.iter().collect();
        if self.a.evaluate_contents(a, pa, &values) != Acceptance::Accepted {
            return false;
        }
        let Some(there) = self.convert_contents(a, b, contents) else { return false };
        let values: Vec<&Value> = there.iter().collect();
        matches!(self.b.evaluate_contents(b, pb, &values), Acceptance::Rejected(_))
    }

    /// The same contents in the other tree.
    fn convert_contents(
        &self,
        a: &FieldLimits<'a>,
        b: &FieldLimits<'b>,
        contents: &Contents,
    ) -> Option<Contents> {
        let (from, to) = (a.single(), b.single());
        let (Some(from_key), Some(to_key)) = (key(a.field), key(b.field)) else {
            let each = contents.iter().map(|value| {
                let datum = from.datum(self.a.tree(), value);
                to.value(self.b.tree(), &convert(self.a.tree(), &datum, from, self.b.tree(), to)?)
            });
            return each.collect();
        };
        let each = contents.iter().map(|value| {
            let entry = value.as_message()?;
            let part = |number: i32, from: ValueType, to: ValueType| {
                let value = &entry.find_by_number(self.a.tree(), number)?.value;
                convert(self.a.tree(), &from.datum(self.a.tree(), value), from, self.b.tree(), to)
            };
            let (key, value) = (part(1, from_key, to_key)?, part(2, from, to)?);
            sample::build_pair(self.b.tree(), b.field, &key, &value)
        });
        each.collect()
    }

    fn include_singular(
        &self,
        a: &FieldLimits<'a>,
        pa: &DialectLimits,
        b: &FieldLimits<'b>,
        pb: &DialectLimits,
    ) -> Included<Contents> {
        let mut doubt = Inconclusive::new();
        let zero = a.single().value(self.a.tree(), &a.single().zero());
        // Absence, and the zero that a field without presence has instead.
        let mut special = vec![Vec::new()];
        if a.is_explicit() && !b.is_explicit() {
            special.extend(zero.map(|zero| vec![zero]));
        }
        for contents in special {
            if self.is_counterexample(a, pa, b, pb, &contents) {
                return Included::No(Some(contents));
            }
        }
        // If neither has presence, absence is zero, an ordinary value.
        if a.is_explicit() || b.is_explicit() {
            match (self.a.evaluate_contents(a, pa, &[]), self.b.evaluate_contents(b, pb, &[])) {
                (Acceptance::Accepted, Acceptance::Unknown(why)) => doubt.add(why),
                (Acceptance::Unknown(_), Acceptance::Unknown(why)) if pa.values != pb.values => {
                    doubt.add(why);
                }
                _ => {}
            }
        }
        let without_zero = !a.is_explicit() && (b.is_explicit() || pa.required);
        let contents = |datum: &Datum| {
            if !a.is_explicit() && *datum == a.single().zero() {
                return Some(Vec::new());
            }
            Some(vec![a.single().value(self.a.tree(), datum)?])
        };
        match self.include_values(&pa.values, &pb.values, without_zero) {
            Included::Yes => doubt.into_included(),
            Included::Unknown(why) => Included::Unknown(why),
            Included::No(datum) => Included::No(datum.as_ref().and_then(contents)),
        }
    }

    fn include_lists(
        &self,
        a: &FieldLimits<'a>,
        pa: &DialectLimits,
        b: &FieldLimits<'b>,
        pb: &DialectLimits,
    ) -> Included<Contents> {
        let mut doubt = Inconclusive::new();
        let mut unseen = false;
        if self.is_counterexample(a, pa, b, pb, &Vec::new()) {
            return Included::No(Some(Vec::new()));
        }
        let any = LengthRange { least: 0, most: None };
        let (count_a, count_b) =
            if pa.skip { (any, pb.items.count) } else { (pa.items.count, pb.items.count) };
        if !pb.opaque.is_subset(&pa.opaque) {
            doubt.add(explain_opaque(pb.opaque.difference(&pa.opaque)));
        }
        let nothing = !pa.skip
            && (pa.values.accepts_nothing(self.a.tree())
                || pa.keys.as_ref().is_some_and(|it| it.accepts_nothing(self.a.tree())));
        if count_a.most == Some(0) || nothing {
            return doubt.into_included();
        }
        let unique_a = pa.items.unique && !pa.skip;
        let distinct = unique_a || pa.keys.is_some();
        // The number of items.
        let least = count_a.least.max(1);
        let fewer = (least < count_b.least).then_some(least);
        let more = count_b.most.map(|most| least.max(most.saturating_add(1)));
        for count in fewer.into_iter().chain(more) {
            if !count_a.contains(count) {
                continue;
            }
            match sample::build_list(self.a, a, pa, count, distinct, None) {
                Some(list) if self.is_counterexample(a, pa, b, pb, &list) => {
                    return Included::No(Some(list));
                }
                None if count > sample::MANY && !distinct => {
                    // One item that can be repeated is enough.
                    if sample::build_list(self.a, a, pa, 1, false, None).is_some() {
                        unseen = true;
                    } else {
                        doubt.add("no accepted item was found");
                    }
                }
                _ => doubt.add("no list that shows the difference was found"),
            }
        }
        if pb.items.unique && !unique_a && pa.keys.is_none() && count_a.most.is_none_or(|it| it > 1)
        {
            let list = sample::build_list(self.a, a, pa, count_a.least.max(2), false, None);
            match list.filter(|list| self.is_counterexample(a, pa, b, pb, list)) {
                Some(list) => return Included::No(Some(list)),
                None => doubt.add("no list that shows the difference was found"),
            }
        }
        // The items themselves.
        let mut sets = vec![(self.include_values(&pa.values, &pb.values, false), false)];
        if let (Some(ka), Some(kb)) = (&pa.keys, &pb.keys) {
            sets.push((self.include_values(ka, kb, false), true));
        }
        for (included, key) in sets {
            match included {
                Included::Yes => {}
                Included::Unknown(why) => doubt.add(why),
                Included::No(None) => unseen = true,
                Included::No(Some(datum)) => {
                    let list =
                        sample::build_list(self.a, a, pa, least, distinct, Some((&datum, key)));
                    match list.filter(|list| self.is_counterexample(a, pa, b, pb, list)) {
                        Some(list) => return Included::No(Some(list)),
                        None => doubt.add("no list that shows the difference was found"),
                    }
                }
            }
        }
        if unseen && doubt.is_empty() { Included::No(None) } else { doubt.into_included() }
    }

    /// Decides whether each value that `a` accepts is accepted by `b`; `without_zero`
    /// where zero cannot occur.
    fn include_values(
        &self,
        a: &ValueLimits,
        b: &ValueLimits,
        without_zero: bool,
    ) -> Included<Datum> {
        if b.skip || b.set == ValueSet::All && b.opaque.is_empty() {
            return Included::Yes;
        }
        let free;
        let a = if a.skip {
            free = ValueLimits {
                skip: false,
                zero_passes: false,
                set: ValueSet::All,
                opaque: BTreeSet::new(),
                ..a.clone()
            };
            &free
        } else {
            a
        };
        let comparable = match (a.single.shape, b.single.shape) {
            (DatumKind::Number(a), DatumKind::Number(b)) => a.is_comparable(b),
            (a, b) => a == b,
        };
        if !comparable || a.single.wrapper != b.single.wrapper && a.single.shape != b.single.shape {
            return Included::Unknown("the type of the values differs".to_owned());
        }
        let mut doubt = Inconclusive::new();
        if !b.opaque.is_subset(&a.opaque) {
            doubt.add(explain_opaque(b.opaque.difference(&a.opaque)));
        }
        let zero = a.single.zero();
        if a.zero_passes && !without_zero {
            match b.evaluate(&zero) {
                Acceptance::Accepted => {}
                Acceptance::Rejected(_) => return Included::No(Some(zero)),
                Acceptance::Unknown(why) => doubt.add(why),
            }
        }
        let without_zero = without_zero || b.zero_passes;
        let found = match (&b.set, a.single.shape) {
            (ValueSet::All, _) => Included::Yes,
            (ValueSet::Numbers(set, now), DatumKind::Number(kind)) => {
                self.include_numbers(a, kind, b, (set, now), without_zero)
            }
            (ValueSet::Strings(strings), _) => {
                let own = match &a.set {
                    ValueSet::Strings(own) => (**own).clone(),
                    _ => StringSet::default(),
                };
                let utf8 = a.single.shape != DatumKind::Bytes;
                let texts = TextInclusion {
                    a: &own,
                    b: strings,
                    utf8,
                    opaque: !a.opaque.is_empty(),
                    without_empty: without_zero,
                };
                match texts.check_inclusion() {
                    Included::Yes => Included::Yes,
                    Included::No(bytes) => Included::No(bytes.map(Datum::Bytes)),
                    Included::Unknown(why) => Included::Unknown(why),
                }
            }
            _ => Included::Unknown("the type of the values differs".to_owned()),
        };
        match found {
            Included::Yes => doubt.into_included(),
            found => found,
        }
    }

    fn include_numbers(
        &self,
        a: &ValueLimits,
        kind: NumberKind,
        b: &ValueLimits,
        (set, now): (&NumberSet, &NumberSet),
        without_zero: bool,
    ) -> Included<Datum> {
        let here = domain(self.a.tree(), a.single, kind);
        let there = match b.single.shape {
            DatumKind::Number(kind) => domain(self.b.tree(), b.single, kind),
            _ => here.clone(),
        };
        let domain = here.intersect(&there);
        let all = NumberSet::of([(i128::MIN / 2, i128::MAX / 2)], true);
        let (own, own_now) = match &a.set {
            ValueSet::Numbers(set, now) => (set.intersect(&domain), now.clone()),
            _ => (domain.clone(), all.clone()),
        };
        let mut rest = own.subtract(set);
        if without_zero {
            rest = rest.subtract(&NumberSet::points([0]));
        }
        let certain = a.opaque.is_empty() && own_now == all;
        if !rest.is_empty() {
            if !certain {
                return Included::Unknown("other rules may exclude the difference".to_owned());
            }
            let near = rest.pick_nearest_zero(1).first().map(|it| Datum::Number(*it));
            return Included::No(Some(near.unwrap_or(Datum::Nan)));
        }
        if own_now.subtract(now).is_empty() {
            return Included::Yes;
        }
        if a.opaque.is_empty() && own == domain {
            Included::No(None)
        } else {
            Included::Unknown("it depends on the time".to_owned())
        }
    }
}

fn explain_opaque<'o>(facets: impl Iterator<Item = &'o String>) -> String {
    let facets: Vec<_> = facets.map(|facet| format!("`{facet}`")).collect();
    format!("{} cannot be compared", facets.join(", "))
}
