//! Decides whether the other side accepts everything that one side accepts.
//!
//! `Yes` is a proof: intervals, lists, lengths and automata are compared exactly.
//! `No` comes with a value that the first side accepts and the second rejects, if
//! there is one of a sensible size.

use std::collections::BTreeSet;

use abide_schema::value::Value;
use abide_schema::{Cardinality, Type};

use super::acceptance::Acceptance;
use super::datum::{Contents, Datum, DatumKind, ValueType, convert, domain, key};
use super::evaluate::Evaluator;
use super::limits::{
    DialectLimits, Expression, FieldLimits, StringSet, ValueLimits, ValueSet, within,
};
use super::number_set::{NumberKind, NumberSet};
use super::pattern::{Length, Pattern, SearchResult, TextSearch};
use super::read::Dialect;
use super::{formats::StringFormat, sample};

/// Whether one set is included in another, or an element that is not.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Included<W> {
    Yes,
    /// There is an element that is not included; `None` if it is too large or needs
    /// a clock.
    No(Option<W>),
    Unknown(String),
}

/// Collects several answers to one question. An element that is not included
/// settles the question; until then the first doubt remains.
struct Doubt(Option<String>);

impl Doubt {
    fn none() -> Doubt {
        Doubt(None)
    }

    fn that(&mut self, why: impl Into<String>) {
        self.0.get_or_insert(why.into());
    }

    fn end<W>(self) -> Included<W> {
        self.0.map_or(Included::Yes, Included::Unknown)
    }
}

/// A pair of sides: does `b` accept everything that `a` accepts?
pub(super) struct Sides<'j, 'a, 'b> {
    pub(super) a: &'j Evaluator<'a>,
    pub(super) b: &'j Evaluator<'b>,
}

impl<'a, 'b> Sides<'_, 'a, 'b> {
    pub(super) fn fields(&self, a: &FieldLimits<'a>, b: &FieldLimits<'b>) -> Included<Contents> {
        let mut doubt = Doubt::none();
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
                match self.parts(a, candidate, b, part) {
                    Included::Yes => proven = true,
                    Included::No(Some(contents)) => {
                        let values: Vec<&Value> = contents.iter().collect();
                        if sample::contents(self.a, a, &values) == Acceptance::Accepted {
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
                doubt.that(why);
            }
        }
        // A message that is checked by its own rules on one side only.
        if let Some(found) = self.nested(a, b) {
            match found {
                Included::Yes => {}
                Included::No(Some(contents)) => return Included::No(Some(contents)),
                Included::No(None) => unseen = true,
                Included::Unknown(why) => doubt.that(why),
            }
        }
        if unseen { Included::No(None) } else { doubt.end() }
    }

    /// Handles nested messages that `b` checks by their own rules and `a` does not.
    fn nested(&self, a: &FieldLimits<'a>, b: &FieldLimits<'b>) -> Option<Included<Contents>> {
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
        if !sample::constrains(self.b, ty) {
            return Some(Included::Yes);
        }
        let wrong = sample::rejected(self.b, ty);
        let contents = wrong.and_then(|wrong| {
            let wrong = self.back(&Datum::Message(wrong), b.single(), a.single())?;
            let contents = sample::around(self.a, a, &wrong)?;
            let values: Vec<&Value> = contents.iter().collect();
            let accepted = sample::contents(self.a, a, &values) == Acceptance::Accepted;
            accepted.then_some(contents)
        });
        Some(match contents {
            Some(contents) => Included::No(Some(contents)),
            None => Included::Unknown("nested messages are checked on one side only".to_owned()),
        })
    }

    /// A datum of `b` as one of `a`.
    fn back(&self, datum: &Datum, from: ValueType, to: ValueType) -> Option<Datum> {
        convert(self.b.tree, datum, from, self.a.tree, to)
    }

    fn parts(
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
            Cardinality::Singular => self.singular(a, pa, b, pb),
            Cardinality::Repeated | Cardinality::Map => self.lists(a, pa, b, pb),
        }
    }

    /// Whether `a` accepts the contents and `b` rejects them.
    fn shows(
        &self,
        a: &FieldLimits<'a>,
        pa: &DialectLimits,
        b: &FieldLimits<'b>,
        pb: &DialectLimits,
        contents: &Contents,
    ) -> bool {
        let values: Vec<&Value> = contents.iter().collect();
        if self.a.contents(a, pa, &values) != Acceptance::Accepted {
            return false;
        }
        let Some(there) = self.there(a, b, contents) else { return false };
        let values: Vec<&Value> = there.iter().collect();
        matches!(self.b.contents(b, pb, &values), Acceptance::Rejected(_))
    }

    /// The same contents in the other tree.
    fn there(
        &self,
        a: &FieldLimits<'a>,
        b: &FieldLimits<'b>,
        contents: &Contents,
    ) -> Option<Contents> {
        let (from, to) = (a.single(), b.single());
        let (Some(from_key), Some(to_key)) = (key(a.field), key(b.field)) else {
            let each = contents.iter().map(|value| {
                let datum = from.datum(self.a.tree, value);
                to.value(self.b.tree, &convert(self.a.tree, &datum, from, self.b.tree, to)?)
            });
            return each.collect();
        };
        let each = contents.iter().map(|value| {
            let entry = value.as_message()?;
            let part = |number: i32, from: ValueType, to: ValueType| {
                let value = &entry.numbered(self.a.tree, number)?.value;
                convert(self.a.tree, &from.datum(self.a.tree, value), from, self.b.tree, to)
            };
            let (key, value) = (part(1, from_key, to_key)?, part(2, from, to)?);
            sample::pair(self.b.tree, b.field, &key, &value)
        });
        each.collect()
    }

    fn singular(
        &self,
        a: &FieldLimits<'a>,
        pa: &DialectLimits,
        b: &FieldLimits<'b>,
        pb: &DialectLimits,
    ) -> Included<Contents> {
        let mut doubt = Doubt::none();
        let zero = a.single().value(self.a.tree, &a.single().zero());
        // Absence, and the zero that a field without presence has instead.
        let mut special = vec![Vec::new()];
        if a.is_explicit() && !b.is_explicit() {
            special.extend(zero.map(|zero| vec![zero]));
        }
        for contents in special {
            if self.shows(a, pa, b, pb, &contents) {
                return Included::No(Some(contents));
            }
        }
        // If neither has presence, absence is zero, an ordinary value.
        if a.is_explicit() || b.is_explicit() {
            match (self.a.contents(a, pa, &[]), self.b.contents(b, pb, &[])) {
                (Acceptance::Accepted, Acceptance::Unknown(why)) => doubt.that(why),
                (Acceptance::Unknown(_), Acceptance::Unknown(why)) if pa.values != pb.values => {
                    doubt.that(why);
                }
                _ => {}
            }
        }
        let without_zero = !a.is_explicit() && (b.is_explicit() || pa.required);
        let contents = |datum: &Datum| {
            if !a.is_explicit() && *datum == a.single().zero() {
                return Some(Vec::new());
            }
            Some(vec![a.single().value(self.a.tree, datum)?])
        };
        match self.values(&pa.values, &pb.values, without_zero) {
            Included::Yes => doubt.end(),
            Included::Unknown(why) => Included::Unknown(why),
            Included::No(datum) => Included::No(datum.as_ref().and_then(contents)),
        }
    }

    fn lists(
        &self,
        a: &FieldLimits<'a>,
        pa: &DialectLimits,
        b: &FieldLimits<'b>,
        pb: &DialectLimits,
    ) -> Included<Contents> {
        let mut doubt = Doubt::none();
        let mut unseen = false;
        if self.shows(a, pa, b, pb, &Vec::new()) {
            return Included::No(Some(Vec::new()));
        }
        let any = Length { least: 0, most: None };
        let (count_a, count_b) =
            if pa.skip { (any, pb.items.count) } else { (pa.items.count, pb.items.count) };
        if !pb.opaque.is_subset(&pa.opaque) {
            doubt.that(opaque_why(pb.opaque.difference(&pa.opaque)));
        }
        let nothing = !pa.skip
            && (pa.values.accepts_nothing(self.a.tree)
                || pa.keys.as_ref().is_some_and(|it| it.accepts_nothing(self.a.tree)));
        if count_a.most == Some(0) || nothing {
            return doubt.end();
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
            match sample::list(self.a, a, pa, count, distinct, None) {
                Some(list) if self.shows(a, pa, b, pb, &list) => return Included::No(Some(list)),
                None if count > sample::MANY && !distinct => {
                    // One item that can be repeated is enough.
                    if sample::list(self.a, a, pa, 1, false, None).is_some() {
                        unseen = true;
                    } else {
                        doubt.that("no accepted item was found");
                    }
                }
                _ => doubt.that("no list that shows the difference was found"),
            }
        }
        if pb.items.unique && !unique_a && pa.keys.is_none() && count_a.most.is_none_or(|it| it > 1)
        {
            let list = sample::list(self.a, a, pa, count_a.least.max(2), false, None);
            match list.filter(|list| self.shows(a, pa, b, pb, list)) {
                Some(list) => return Included::No(Some(list)),
                None => doubt.that("no list that shows the difference was found"),
            }
        }
        // The items themselves.
        let mut sets = vec![(self.values(&pa.values, &pb.values, false), false)];
        if let (Some(ka), Some(kb)) = (&pa.keys, &pb.keys) {
            sets.push((self.values(ka, kb, false), true));
        }
        for (included, key) in sets {
            match included {
                Included::Yes => {}
                Included::Unknown(why) => doubt.that(why),
                Included::No(None) => unseen = true,
                Included::No(Some(datum)) => {
                    let list = sample::list(self.a, a, pa, least, distinct, Some((&datum, key)));
                    match list.filter(|list| self.shows(a, pa, b, pb, list)) {
                        Some(list) => return Included::No(Some(list)),
                        None => doubt.that("no list that shows the difference was found"),
                    }
                }
            }
        }
        if unseen && doubt.0.is_none() { Included::No(None) } else { doubt.end() }
    }

    /// Whether each value that `a` accepts is accepted by `b`; `without_zero`
    /// where zero cannot occur.
    fn values(&self, a: &ValueLimits, b: &ValueLimits, without_zero: bool) -> Included<Datum> {
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
        let mut doubt = Doubt::none();
        if !b.opaque.is_subset(&a.opaque) {
            doubt.that(opaque_why(b.opaque.difference(&a.opaque)));
        }
        let zero = a.single.zero();
        if a.zero_passes && !without_zero {
            match b.evaluate(&zero) {
                Acceptance::Accepted => {}
                Acceptance::Rejected(_) => return Included::No(Some(zero)),
                Acceptance::Unknown(why) => doubt.that(why),
            }
        }
        let without_zero = without_zero || b.zero_passes;
        let found = match (&b.set, a.single.shape) {
            (ValueSet::All, _) => Included::Yes,
            (ValueSet::Numbers(set, now), DatumKind::Number(kind)) => {
                self.numbers(a, kind, b, (set, now), without_zero)
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
                match texts.included() {
                    Included::Yes => Included::Yes,
                    Included::No(bytes) => Included::No(bytes.map(Datum::Bytes)),
                    Included::Unknown(why) => Included::Unknown(why),
                }
            }
            _ => Included::Unknown("the type of the values differs".to_owned()),
        };
        match found {
            Included::Yes => doubt.end(),
            found => found,
        }
    }

    fn numbers(
        &self,
        a: &ValueLimits,
        kind: NumberKind,
        b: &ValueLimits,
        (set, now): (&NumberSet, &NumberSet),
        without_zero: bool,
    ) -> Included<Datum> {
        let here = domain(self.a.tree, a.single, kind);
        let there = match b.single.shape {
            DatumKind::Number(kind) => domain(self.b.tree, b.single, kind),
            _ => here.clone(),
        };
        let domain = here.intersection(&there);
        let all = NumberSet::of([(i128::MIN / 2, i128::MAX / 2)], true);
        let (own, own_now) = match &a.set {
            ValueSet::Numbers(set, now) => (set.intersection(&domain), now.clone()),
            _ => (domain.clone(), all.clone()),
        };
        let mut rest = own.minus(set);
        if without_zero {
            rest = rest.minus(&NumberSet::points([0]));
        }
        let certain = a.opaque.is_empty() && own_now == all;
        if !rest.is_empty() {
            if !certain {
                return Included::Unknown("other rules may exclude the difference".to_owned());
            }
            let near = rest.nearest_zero(1).first().map(|it| Datum::Number(*it));
            return Included::No(Some(near.unwrap_or(Datum::Nan)));
        }
        if own_now.minus(now).is_empty() {
            return Included::Yes;
        }
        if a.opaque.is_empty() && own == domain {
            Included::No(None)
        } else {
            Included::Unknown("it depends on the time".to_owned())
        }
    }
}

fn opaque_why<'o>(facets: impl Iterator<Item = &'o String>) -> String {
    let facets: Vec<_> = facets.map(|facet| format!("`{facet}`")).collect();
    format!("{} cannot be compared", facets.join(", "))
}

/// Two sets of texts: is the first included in the second?
struct TextInclusion<'s> {
    a: &'s StringSet,
    b: &'s StringSet,
    utf8: bool,
    /// Whether the first has further rules.
    opaque: bool,
    /// Whether the empty text is left out.
    without_empty: bool,
}

impl TextInclusion<'_> {
    fn accepted(&self, text: &[u8]) -> Acceptance {
        if self.without_empty && text.is_empty() {
            return Acceptance::when(false);
        }
        self.a.evaluate(text).and(|| {
            if self.opaque { Acceptance::Unknown(String::new()) } else { Acceptance::Accepted }
        })
    }

    fn included(&self) -> Included<Vec<u8>> {
        let mut doubt = Doubt::none();
        if let Some(among) = &self.a.among {
            let mut among: Vec<&Vec<u8>> = among.iter().collect();
            among.sort_by_key(|text| text.len());
            for text in among {
                match (self.accepted(text), self.b.evaluate(text)) {
                    (Acceptance::Rejected(_), _) | (_, Acceptance::Accepted) => {}
                    (Acceptance::Accepted, Acceptance::Rejected(_)) => {
                        return Included::No(Some(text.clone()));
                    }
                    (Acceptance::Unknown(_), _) => {
                        doubt.that("other rules may exclude the difference")
                    }
                    (_, Acceptance::Unknown(why)) => doubt.that(why),
                }
            }
            return doubt.end();
        }
        let mut unseen = false;
        for wanted in self.outside() {
            let found = match wanted {
                Ok(wanted) => self.search(wanted),
                Err(why) => Included::Unknown(why),
            };
            match found {
                Included::Yes => {}
                Included::No(Some(text)) => return Included::No(Some(text)),
                Included::No(None) => unseen = true,
                Included::Unknown(why) => doubt.that(why),
            }
        }
        for text in self.b.without.difference(&self.a.without) {
            match self.accepted(text) {
                Acceptance::Accepted => return Included::No(Some(text.clone())),
                Acceptance::Rejected(_) => {}
                Acceptance::Unknown(_) => doubt.that("other rules may exclude the difference"),
            }
        }
        for (dialect, format) in &self.b.formats {
            match self.format(*dialect, *format) {
                Included::No(found) => return Included::No(found),
                Included::Unknown(why) => doubt.that(why),
                Included::Yes => {}
            }
        }
        if unseen { Included::No(None) } else { doubt.end() }
    }

    /// Descriptions of texts that are not in the second set, one for each rule that
    /// can be violated.
    fn outside(&self) -> Vec<Result<TextSearch, String>> {
        let mut all = Vec::new();
        let free = Length::default();
        let pairs = [(self.b.chars, true), (self.b.bytes, false)];
        for (length, chars) in pairs {
            let shorter =
                length.least.checked_sub(1).map(|most| Length { least: 0, most: Some(most) });
            let longer =
                length.most.map(|most| Length { least: most.saturating_add(1), most: None });
            for bound in shorter.into_iter().chain(longer) {
                let (chars, bytes) = if chars { (bound, free) } else { (free, bound) };
                all.push(Ok(TextSearch { chars, bytes, ..TextSearch::default() }));
            }
        }
        let lists = self.b.among.as_ref().map(|among| StringSet::list_expression(among, true));
        let known = |expression: &&Expression| !self.a.expressions.contains(expression);
        for expression in self.b.expressions.iter().chain(&lists).filter(known) {
            all.push(match expression.pattern() {
                Some(pattern) => {
                    let patterns = vec![(pattern, !expression.wanted)];
                    Ok(TextSearch { patterns, ..TextSearch::default() })
                }
                None => Err(format!("`{}` cannot be compared", expression.said())),
            });
        }
        all
    }

    /// A text of the first set that fits a description.
    fn search(&self, wanted: TextSearch) -> Included<Vec<u8>> {
        let (wanted, exact) = within(self.a, wanted, self.utf8, self.without_empty);
        let exact = exact && !self.opaque;
        match wanted.shortest() {
            SearchResult::Nothing => Included::Yes,
            SearchResult::Long if exact => Included::No(None),
            SearchResult::Long => {
                Included::Unknown("the texts that differ are too long".to_owned())
            }
            SearchResult::TooLarge => {
                Included::Unknown("the patterns are too large to compare".to_owned())
            }
            SearchResult::Text(text) => {
                let own = self.a.formats.iter().flat_map(|(_, format)| format.samples());
                let samples = own.map(|text| text.as_bytes().to_vec());
                for text in std::iter::once(text).chain(samples) {
                    let rejected = matches!(self.b.evaluate(&text), Acceptance::Rejected(_));
                    if rejected && self.accepted(&text) == Acceptance::Accepted {
                        return Included::No(Some(text));
                    }
                }
                Included::Unknown("other rules may exclude the difference".to_owned())
            }
        }
    }

    /// Whether the first set is known to have no text.
    fn is_empty(&self) -> bool {
        let (wanted, _) = within(self.a, TextSearch::default(), self.utf8, self.without_empty);
        wanted.shortest() == SearchResult::Nothing
    }

    /// A text of the first set that does not have a format.
    fn format(&self, dialect: Dialect, format: StringFormat) -> Included<Vec<u8>> {
        let four = [
            StringFormat::Ip,
            StringFormat::Address,
            StringFormat::LooseAddress,
            StringFormat::LooseHostname,
        ];
        let implied = self.a.formats.iter().any(|(own, it)| it.implies(*own, format, dialect))
            || four.contains(&format)
                && self.a.expressions.iter().any(|it| it.said() == "ipv4" && it.wanted);
        if implied {
            return Included::Yes;
        }
        let outline = format.outline(dialect).and_then(Pattern::new);
        let beyond = outline.map(|outline| (outline, false));
        let slash = Pattern::new("/").map(|slash| (slash, true));
        for pattern in [None, beyond, slash] {
            let patterns = pattern.into_iter().collect();
            match self.search(TextSearch { patterns, ..TextSearch::default() }) {
                Included::No(Some(text)) => return Included::No(Some(text)),
                // The first set is empty.
                Included::Yes if self.is_empty() => return Included::Yes,
                _ => {}
            }
        }
        Included::Unknown("a format cannot be compared with other rules".to_owned())
    }
}
