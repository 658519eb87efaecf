//! Field numbers, extension ranges, and what a message reserves.

use abide_syntax::Span;

use crate::decl::{FieldDecl, FileDecl, MAX_FIELD_NUMBER, Part, RangeDecl, ReservedNameDecl};
use crate::problem::ProblemKind;
use crate::protobuf::Edition;
use crate::tree::{Element, Message};

use super::check::FileCheck;

/// Numbers that protobuf reserves for itself. Source:
/// `FieldDescriptor::kFirstReservedNumber` and `kLastReservedNumber`.
const IMPLEMENTATION: std::ops::RangeInclusive<i32> = 19_000..=19_999;

/// The number of `message_set_wire_format` in `MessageOptions`.
const MESSAGE_SET: i32 = 1;

/// A message has at most this many fields. Source: `kMaxFieldsPerMessage`.
const MAX_FIELDS: usize = 65_535;

impl<'a> FileCheck<'a> {
    pub(super) fn check_message_numbers(&mut self, message: Message<'a>) {
        let decl = message.decl();
        let file: &'a FileDecl = self.decl;
        let fields = &file.fields[decl.fields.range()];
        let mut last = 0;
        let mut ascending = true;
        let mut valid = true;
        for field in fields {
            ascending &= field.number > last;
            valid &= is_valid(field.number);
            last = field.number;
        }
        if !valid {
            for field in message.fields() {
                self.check_field_number(Element::Field(field), field.number());
            }
        }
        if !ascending {
            self.check_repeated_numbers(message);
        }
        if fields.len() > MAX_FIELDS {
            let span = self.name_span(Element::Message(message));
            let text = format!("`{}` has more than {MAX_FIELDS} fields", message.name());
            self.report(ProblemKind::FieldInvalid, Element::Message(message), span, text);
        }
        let extensions = &file.ranges[decl.extension_ranges.range()];
        let reserved = &file.ranges[decl.reserved_ranges.range()];
        if !extensions.is_empty() || !reserved.is_empty() {
            self.check_message_ranges(message, extensions, reserved);
            self.check_extension_ranges(message, extensions);
        }
        if file.edition == Edition::Proto3
            && is_message_set(message)
            && let Some(set) =
                message.options().and_then(|it| it.find_by_number(self.tree, MESSAGE_SET))
        {
            let text =
                format!("`{}` is a message set, which proto3 does not allow", message.name());
            let element = Element::Message(message);
            let span = self.entry_span(element, set);
            let label = (self.place(self.name_span(element)), "the message".to_owned());
            let problem = self.report(ProblemKind::OptionInvalid, element, span, text);
            problem.labels.push(label);
            problem.help = Some("remove `message_set_wire_format`".to_owned());
        }
        let names = &file.reserved_names[decl.reserved_names.range()];
        if !names.is_empty() {
            let fields = message.fields().map(Element::Field);
            self.check_reserved_names(Element::Message(message), names, fields);
        }
    }

    /// Reports a number that no field can have.
    pub(super) fn check_field_number(&mut self, field: Element<'a>, number: i32) {
        let span = self.span(field.node(), Part::Number);
        // A number that was too long to read was already reported.
        if is_valid(number) || self.decl.problems.iter().any(|known| known.span == span) {
            return;
        }
        let message = if number <= 0 {
            format!("the field number `{number}` is not positive")
        } else if IMPLEMENTATION.contains(&number) {
            format!(
                "the field number `{number}` is in the range {} to {}, which protobuf reserves",
                IMPLEMENTATION.start(),
                IMPLEMENTATION.end()
            )
        } else {
            format!("the field number `{number}` is greater than {MAX_FIELD_NUMBER}")
        };
        let help = match field {
            Element::Field(field) if !field.is_extension() => {
                field.parent().and_then(|message| self.next_free(message))
            }
            _ => None,
        };
        self.report(ProblemKind::NumberInvalid, field, span, message).help = help;
    }

    fn check_repeated_numbers(&mut self, message: Message<'a>) {
        let mut fields: Vec<_> = message.fields().collect();
        fields.sort_by_key(|field| field.number());
        for group in fields.chunk_by(|a, b| a.number() == b.number()) {
            let first = group[0];
            let first_span = self.span(first.decl().node, Part::Number);
            for &second in &group[1..] {
                let span = self.span(second.decl().node, Part::Number);
                let text = format!(
                    "the field number `{}` is used twice in `{}`",
                    second.number(),
                    message.full_name()
                );
                let label = (self.place(first_span), format!("the field `{}`", first.name()));
                let help = self.next_free(message);
                let problem =
                    self.report(ProblemKind::NumberDuplicated, Element::Field(second), span, text);
                problem.labels.push(label);
                problem.help = help;
            }
        }
    }

    fn check_message_ranges(
        &mut self,
        message: Message<'a>,
        extensions: &'a [RangeDecl],
        reserved: &'a [RangeDecl],
    ) {
        let element = Element::Message(message);
        for (ranges, what) in [(extensions, "extension"), (reserved, "reserved")] {
            for range in ranges {
                let text = if range.start <= 0 {
                    format!("the {what} range begins below 1")
                } else if range.start >= range.end {
                    format!("the {what} range ends before it begins")
                } else {
                    continue;
                };
                self.report(ProblemKind::RangeInvalid, element, range.span, text);
            }
        }
        let mut sorted: Vec<NumberRange<'a>> = extensions
            .iter()
            .map(|range| NumberRange {
                what: "extension",
                range,
                last: range.end.saturating_sub(1),
            })
            .chain(reserved.iter().map(|range| NumberRange {
                what: "reserved",
                range,
                last: range.end.saturating_sub(1),
            }))
            .filter(|range| range.range.start <= range.last)
            .collect();
        self.check_overlaps(element, &mut sorted);
        for field in message.fields() {
            let Some(range) = find_range(&sorted, field.number()) else { continue };
            let span = self.span(field.decl().node, Part::Number);
            let text = if range.what == "reserved" {
                format!(
                    "the field `{}` uses the reserved number `{}`",
                    field.name(),
                    field.number()
                )
            } else {
                format!(
                    "the field `{}` uses the number `{}` of an extension range",
                    field.name(),
                    field.number()
                )
            };
            let kind = if range.what == "reserved" {
                ProblemKind::ReservedUsed
            } else {
                ProblemKind::RangeInvalid
            };
            let label = (self.place(range.range.span), format!("the {} range", range.what));
            let help = self.next_free(message);
            let problem = self.report(kind, Element::Field(field), span, text);
            problem.labels.push(label);
            problem.help = help;
        }
    }

    /// The first number that a new field could have, as a help. Every field of a message may ask.
    fn next_free(&mut self, message: Message<'a>) -> Option<String> {
        match &self.next_free {
            Some((known, help)) if *known == message.id => help.clone(),
            _ => {
                let help = next_free(message);
                self.next_free = Some((message.id, help.clone()));
                help
            }
        }
    }

    /// Sorts the ranges and reports each that overlaps one before it.
    pub(super) fn check_overlaps(&mut self, element: Element<'a>, sorted: &mut [NumberRange<'a>]) {
        sorted.sort_by_key(|range| range.range.start);
        // The range with the largest end so far.
        let mut widest: Option<NumberRange<'a>> = None;
        for &range in &*sorted {
            if let Some(other) = widest
                && range.range.start <= other.last
            {
                let in_text = |range: NumberRange<'_>| range.range.span.start;
                let (first, second) =
                    if in_text(other) <= in_text(range) { (other, range) } else { (range, other) };
                let text = format!(
                    "the {} range {} overlaps the {} range {}",
                    second.what,
                    second.numbers(),
                    first.what,
                    first.numbers()
                );
                let label = (self.place(first.range.span), format!("the {} range", first.what));
                self.report(ProblemKind::RangeInvalid, element, second.range.span, text)
                    .labels
                    .push(label);
            }
            if widest.is_none_or(|widest| widest.last < range.last) {
                widest = Some(range);
            }
        }
    }

    /// Reports names that are reserved twice, and members that use one.
    pub(super) fn check_reserved_names(
        &mut self,
        owner: Element<'a>,
        names: &'a [ReservedNameDecl],
        members: impl Iterator<Item = Element<'a>>,
    ) {
        let mut sorted: Vec<(&str, Span)> =
            names.iter().map(|name| (self.decl.str(name.name), name.span)).collect();
        sorted.sort_unstable();
        for pair in sorted.windows(2) {
            if pair[0].0 == pair[1].0 {
                let text = format!("the name `{}` is reserved twice", pair[1].0);
                let label = (self.place(pair[0].1), "reserved here".to_owned());
                let problem = self.report(ProblemKind::RangeInvalid, owner, pair[1].1, text);
                problem.labels.push(label);
                problem.help = Some("remove one of them".to_owned());
            }
        }
        for member in members {
            let Ok(at) = sorted.binary_search_by_key(&member.name(), |name| name.0) else {
                continue;
            };
            let span = self.span(member.node(), Part::Name);
            let text = format!("the {} `{}` uses a reserved name", member.noun(), member.name());
            let label = (self.place(sorted[at].1), "reserved here".to_owned());
            let problem = self.report(ProblemKind::ReservedUsed, member, span, text);
            problem.labels.push(label);
            problem.help = Some("choose another name: old data may still use this one".to_owned());
        }
    }
}

/// A range with its last number.
#[derive(Clone, Copy)]
pub(super) struct NumberRange<'a> {
    pub(super) what: &'static str,
    pub(super) range: &'a RangeDecl,
    pub(super) last: i32,
}

impl NumberRange<'_> {
    fn numbers(self) -> String {
        if self.range.start == self.last {
            format!("`{}`", self.last)
        } else {
            format!("`{} to {}`", self.range.start, self.last)
        }
    }
}

/// The range that holds a number. The ranges are sorted. Where some overlap,
/// which is reported elsewhere, only the one that begins last is considered.
pub(super) fn find_range<'r, 'a>(
    sorted: &'r [NumberRange<'a>],
    number: i32,
) -> Option<&'r NumberRange<'a>> {
    let at = sorted.partition_point(|range| range.range.start <= number);
    sorted[..at].last().filter(|range| number <= range.last)
}

fn is_valid(number: i32) -> bool {
    (1..=MAX_FIELD_NUMBER).contains(&number) && !IMPLEMENTATION.contains(&number)
}

/// The first number that a new field could have, as a help.
fn next_free(message: Message<'_>) -> Option<String> {
    let mut used: Vec<(i32, i32)> = message
        .fields()
        .map(|field| (field.number(), field.number()))
        .chain(
            message
                .extension_ranges()
                .iter()
                .chain(message.reserved_ranges())
                .map(|range| (range.start, range.end.saturating_sub(1))),
        )
        .chain([(*IMPLEMENTATION.start(), *IMPLEMENTATION.end())])
        .collect();
    used.sort_unstable();
    let mut free = 1;
    for (first, last) in used {
        if first > free {
            break;
        }
        free = free.max(last.saturating_add(1));
    }
    (free <= MAX_FIELD_NUMBER).then(|| format!("the next free number is `{free}`"))
}

/// Returns true if a message is written in the old format of message sets.
pub(super) fn is_message_set(message: Message<'_>) -> bool {
    let set =
        message.options().and_then(|options| options.find_by_number(message.tree, MESSAGE_SET));
    set.is_some_and(|set| set.value.as_bool() == Some(true))
}

/// Returns true if the number of a field is in a range.
pub(super) fn contains_number(range: &RangeDecl, field: &FieldDecl) -> bool {
    (range.start..range.end).contains(&field.number)
}
