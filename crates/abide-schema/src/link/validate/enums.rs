//! Enums and their values.

use rustc_hash::FxHashMap;

use crate::decl::{EnumDecl, FileDecl, Part};
use crate::dynamic as value;
use crate::problem::ProblemKind;
use crate::protobuf::Edition;
use crate::tree::{Element, Enum, EnumValue, Openness};

use super::check::{FileCheck, hash_loosely};
use super::numbers::{NumberRange, find_range};

impl<'a> FileCheck<'a> {
    pub(super) fn check_enum(&mut self, item: Enum<'a>) {
        let file: &'a FileDecl = self.decl;
        let decl = item.decl();
        let element = Element::Enum(item);
        let values = &file.values[decl.values.range()];
        let Some(first) = item.values().next() else {
            let span = self.span(decl.node, Part::Name);
            let text = format!("the enum `{}` has no values", item.name());
            self.report(ProblemKind::EnumInvalid, element, span, text).help =
                Some("add a value with the number `0`".to_owned());
            return;
        };
        if item.features().openness == Openness::Open && first.number() != 0 {
            let span = self.span(first.decl().node, Part::Number);
            let text = format!("the first value of the open enum `{}` is not `0`", item.name());
            self.report(ProblemKind::EnumInvalid, Element::EnumValue(first), span, text).help =
                Some("start with a value `0` that means unspecified".to_owned());
        }
        let ascending = values.windows(2).all(|pair| pair[0].number < pair[1].number);
        let alias = item.options().and_then(|options| options.get(self.tree, "allow_alias"));
        let allowed = self.is_set(item.options(), "allow_alias");
        let twice = !ascending && self.check_enum_numbers(item, allowed);
        if let Some(alias) = alias
            && !(allowed && twice)
        {
            let text = if allowed {
                format!("no two values of `{}` have the same number", item.name())
            } else {
                "`allow_alias = false` has no effect".to_owned()
            };
            let span = self.entry_span(element, alias);
            self.report(ProblemKind::EnumInvalid, element, span, text).help =
                Some("remove the option `allow_alias`".to_owned());
        }
        self.check_stripped_names(item);
        self.check_json_texts(item, allowed);
        self.check_enum_reserved(item, decl);
    }

    /// Returns true if two values have the same number, which is a problem without aliases.
    fn check_enum_numbers(&mut self, item: Enum<'a>, allow_alias: bool) -> bool {
        let mut values: Vec<EnumValue<'a>> = item.values().collect();
        values.sort_by_key(|value| value.number());
        let groups: Vec<&[EnumValue<'a>]> =
            values.chunk_by(|a, b| a.number() == b.number()).collect();
        let mut twice = false;
        for (group, free) in groups.iter().zip(free_behind(&groups)) {
            twice |= group.len() > 1;
            if allow_alias {
                continue;
            }
            let first = group[0];
            for &second in &group[1..] {
                let span = self.span(second.decl().node, Part::Number);
                let text = format!(
                    "the values `{}` and `{}` have the same number `{}`",
                    first.name(),
                    second.name(),
                    second.number()
                );
                let label = (
                    self.place(self.span(first.decl().node, Part::Number)),
                    format!("the value `{}`", first.name()),
                );
                let problem = self.report(
                    ProblemKind::NumberDuplicated,
                    Element::EnumValue(second),
                    span,
                    text,
                );
                problem.labels.push(label);
                problem.help = Some(format!(
                    "use the free number `{free}`, or set `option allow_alias = true;` to let \
                     values share a number"
                ));
            }
        }
        twice
    }

    /// Reports values whose names are equal without the name of the enum as a
    /// prefix, underscores and case. Source:
    /// `DescriptorBuilder::CheckEnumValueUniqueness`.
    fn check_stripped_names(&mut self, item: Enum<'a>) {
        let file: &'a FileDecl = self.decl;
        let decl = item.decl();
        let prefix: Vec<u8> = item
            .name()
            .bytes()
            .filter(|&byte| byte != b'_')
            .map(|byte| byte.to_ascii_lowercase())
            .collect();
        self.seen.clear();
        let mut twice = false;
        for value in &file.values[decl.values.range()] {
            twice |= self.seen.insert(hash_loosely(strip(file.strings.bytes(value.name), &prefix)));
        }
        if !twice {
            return;
        }
        let mut names: Vec<(String, EnumValue<'a>)> = item
            .values()
            .map(|value| (to_pascal_case(strip(value.name().as_bytes(), &prefix)), value))
            .collect();
        names.sort_by(|a, b| a.0.cmp(&b.0));
        // Only in this case protoc just warns.
        let legacy = file.edition == Edition::Proto2
            && self.is_set(item.options(), "deprecated_legacy_json_field_conflicts");
        for group in names.chunk_by(|a, b| a.0 == b.0) {
            let first = group[0].1;
            for &(ref name, second) in &group[1..] {
                if first.name() == second.name() || first.number() == second.number() {
                    continue;
                }
                let kind = if legacy { ProblemKind::Warning } else { ProblemKind::EnumInvalid };
                let span = self.span(second.decl().node, Part::Name);
                let text = format!(
                    "the values `{}` and `{}` are both `{name}` in generated code",
                    first.name(),
                    second.name()
                );
                let label = (
                    self.place(self.span(first.decl().node, Part::Name)),
                    format!("the value `{}`", first.name()),
                );
                let problem = self.report(kind, Element::EnumValue(second), span, text);
                problem.labels.push(label);
                problem.help = Some(
                    "rename one of them; the enum's name, underscores and case do not count"
                        .to_owned(),
                );
            }
        }
    }

    /// Reports texts of values in JSON that a reader could not tell apart, or would take for a
    /// number. Source: `DescriptorBuilder::CheckEnumCustomStringUniqueness` and `ValidateOptions`.
    fn check_json_texts(&mut self, item: Enum<'a>, allow_alias: bool) {
        // Nearly no enum has any.
        if item.values().all(|it| it.options().is_none_or(|options| !self.has_json_text(options))) {
            return;
        }
        let mut by_text: FxHashMap<&str, EnumValue<'a>> = FxHashMap::default();
        let mut by_number: FxHashMap<i32, EnumValue<'a>> = FxHashMap::default();
        for value in item.values() {
            let primary = *by_number.entry(value.number()).or_insert(value);
            let text = value.json_text();
            if allow_alias && primary.json_text() != text {
                let message = format!(
                    "the aliases `{}` and `{}` have different texts in JSON",
                    primary.name(),
                    value.name()
                );
                self.report_json_text(value, Some(primary), message, "give both the same text");
            }
            // A message without the text counts as an empty one.
            let own = value.options().filter(|it| self.has_json_text(it));
            let own = own.map(|_| text.unwrap_or_default());
            for name in [value.name()].into_iter().chain(own) {
                let first = *by_text.entry(name).or_insert(value);
                if first.number() != value.number() {
                    let message = format!(
                        "the values `{}` and `{}` are both `{name}` in JSON",
                        first.name(),
                        value.name()
                    );
                    self.report_json_text(value, Some(first), message, "choose another text");
                }
            }
            let Some(text) = own else { continue };
            if text.contains('\0') {
                let message = format!("the text of `{}` in JSON has a null byte", value.name());
                self.report_json_text(value, None, message, "remove it");
            }
            if let Ok(number) = text.trim_ascii().parse::<i32>()
                && number != value.number()
            {
                let message = format!(
                    "the text of `{}` in JSON is the number {number}, and its number is {}",
                    value.name(),
                    value.number()
                );
                self.report_json_text(value, None, message, "choose another text");
            }
        }
    }

    fn has_json_text(&self, options: &value::Message) -> bool {
        options.find_extension(self.tree, "pb.enumvalue.json").is_some()
    }

    fn report_json_text(
        &mut self,
        value: EnumValue<'a>,
        other: Option<EnumValue<'a>>,
        message: String,
        help: &str,
    ) {
        let element = Element::EnumValue(value);
        let option = value.options();
        let entry = option.and_then(|it| it.find_extension(self.tree, "pb.enumvalue.json"));
        let span =
            entry.map_or_else(|| self.name_span(element), |entry| self.entry_span(element, entry));
        let label = other.map(|other| {
            let span = self.name_span(Element::EnumValue(other));
            (self.place(span), format!("the value `{}`", other.name()))
        });
        let problem = self.report(ProblemKind::EnumInvalid, element, span, message);
        problem.labels.extend(label);
        problem.help = Some(help.to_owned());
    }

    fn check_enum_reserved(&mut self, item: Enum<'a>, decl: &'a EnumDecl) {
        let element = Element::Enum(item);
        let ranges = item.reserved_ranges();
        if !ranges.is_empty() {
            for range in ranges.iter().filter(|range| range.start > range.end) {
                let text = "the reserved range ends before it begins";
                self.report(ProblemKind::RangeInvalid, element, range.span, text);
            }
            let mut sorted: Vec<NumberRange<'a>> = ranges
                .iter()
                .filter(|range| range.start <= range.end)
                .map(|range| NumberRange { what: "reserved", range, last: range.end })
                .collect();
            self.check_overlaps(element, &mut sorted);
            for value in item.values() {
                let Some(range) = find_range(&sorted, value.number()) else { continue };
                let span = self.span(value.decl().node, Part::Number);
                let text = format!(
                    "the value `{}` uses the reserved number `{}`",
                    value.name(),
                    value.number()
                );
                let label = (self.place(range.range.span), "the reserved range".to_owned());
                self.report(ProblemKind::ReservedUsed, Element::EnumValue(value), span, text)
                    .labels
                    .push(label);
            }
        }
        let names = &self.decl.reserved_names[decl.reserved_names.range()];
        if !names.is_empty() {
            self.check_reserved_names(element, names, item.values().map(Element::EnumValue));
        }
    }
}

/// The name of a value without the name of its enum as a prefix, unless nothing
/// would be left. Source: `PrefixRemover` of protobuf's descriptor.cc.
fn strip<'n>(name: &'n [u8], prefix: &[u8]) -> &'n [u8] {
    let mut prefix = prefix.iter();
    let mut wanted = prefix.next();
    let mut rest = name;
    while let (Some(next), [byte, after @ ..]) = (wanted, rest) {
        if *byte != b'_' {
            if byte.to_ascii_lowercase() != *next {
                return name;
            }
            wanted = prefix.next();
        }
        rest = after;
    }
    while let [b'_', after @ ..] = rest {
        rest = after;
    }
    if wanted.is_some() || rest.is_empty() { name } else { rest }
}

/// Source: `EnumValueToPascalCase` of protobuf's descriptor.cc.
fn to_pascal_case(name: &[u8]) -> String {
    let mut out = String::with_capacity(name.len());
    let mut raise = true;
    for character in String::from_utf8_lossy(name).chars() {
        match character {
            '_' => raise = true,
            _ if raise => {
                out.push(character.to_ascii_uppercase());
                raise = false;
            }
            _ => out.push(character.to_ascii_lowercase()),
        }
    }
    out
}

/// The first number behind that of each group that no other group has. The groups are sorted.
fn free_behind(groups: &[&[EnumValue<'_>]]) -> Vec<i64> {
    let mut free = Vec::with_capacity(groups.len());
    let mut behind: Option<(i64, i64)> = None;
    for group in groups.iter().rev() {
        let number = i64::from(group[0].number());
        let next = behind.filter(|it| it.0 == number + 1).map_or(number + 1, |it| it.1);
        free.push(next);
        behind = Some((number, next));
    }
    free.reverse();
    free
}
