//! The naming style that edition 2024 enforces.
//!
//! Source: `DescriptorBuilder::ValidateNamingStyle` and the feature
//! `enforce_naming_style`.

use crate::decl::{MessageKind, Part};
use crate::dynamic::Message;
use crate::problem::ProblemKind;
use crate::protobuf::Edition;
use crate::tree::Element;

use super::check::FileCheck;

#[derive(Clone, Copy, PartialEq)]
enum NamingStyle {
    TitleCase,
    LowerSnake,
    UpperSnake,
}

impl NamingStyle {
    fn example(self) -> &'static str {
        match self {
            NamingStyle::TitleCase => "TitleCase",
            NamingStyle::LowerSnake => "lower_snake_case",
            NamingStyle::UpperSnake => "UPPER_SNAKE_CASE",
        }
    }
}

impl<'a> FileCheck<'a> {
    pub(super) fn check_style(&mut self) {
        // Descriptors do not keep the feature, and were checked when they were written.
        if self.decl.edition < Edition::Edition2024 || self.decl.source_text().is_none() {
            return;
        }
        if let Some(package) = self.decl.package
            && self.linked.features.naming_enforced
        {
            let name = self.decl.str(package.name);
            if let Err(reason) = check_name(name, NamingStyle::LowerSnake) {
                let span = self.span(package.node, Part::Name);
                let text = format!("the package name `{name}` {reason}");
                self.report_file(ProblemKind::StyleViolated, span, text).help = suggest_style();
            }
        }
        for element in self.file.elements() {
            // Services, enum values, methods and oneofs inherit the feature
            // from their parent unless they set it.
            let (enforced, style) = match element {
                Element::Message(it) if it.decl().kind != MessageKind::MapEntry => {
                    (it.features().naming_enforced, NamingStyle::TitleCase)
                }
                Element::Message(_) => continue,
                Element::Field(it) => {
                    let entry = it.parent().is_some_and(|message| message.is_map_entry());
                    (it.features().naming_enforced && !entry, NamingStyle::LowerSnake)
                }
                Element::Oneof(it) => {
                    let outer = it.message().features().naming_enforced;
                    (self.is_enforced(outer, it.options()), NamingStyle::LowerSnake)
                }
                Element::Enum(it) => (it.features().naming_enforced, NamingStyle::TitleCase),
                Element::EnumValue(it) => {
                    let outer = it.parent().features().naming_enforced;
                    (self.is_enforced(outer, it.options()), NamingStyle::UpperSnake)
                }
                Element::Service(it) => {
                    let outer = self.linked.features.naming_enforced;
                    (self.is_enforced(outer, it.options()), NamingStyle::TitleCase)
                }
                Element::Method(it) => {
                    let file = self.linked.features.naming_enforced;
                    let outer = self.is_enforced(file, it.service().options());
                    (self.is_enforced(outer, it.options()), NamingStyle::TitleCase)
                }
            };
            if !enforced {
                continue;
            }
            if let Err(reason) = check_name(element.name(), style) {
                let span = self.span(element.node(), Part::Name);
                let text =
                    format!("the name of the {} `{}` {reason}", element.noun(), element.name());
                self.report(ProblemKind::StyleViolated, element, span, text).help = suggest_style();
            }
        }
    }

    /// The feature `enforce_naming_style` of an element inside another.
    fn is_enforced(&self, outer: bool, options: Option<&'a Message>) -> bool {
        const STYLE2024: i64 = 1;
        let own = self
            .iter_set_features(options)
            .find(|(feature, ..)| *feature == "enforce_naming_style")
            .map(|(_, value, _)| value == STYLE2024);
        own.unwrap_or(outer)
    }
}

fn suggest_style() -> Option<String> {
    Some("rename it, or set `features.enforce_naming_style = STYLE_LEGACY`".to_owned())
}

fn check_name(name: &str, style: NamingStyle) -> Result<(), String> {
    let allowed = |byte: u8| match style {
        NamingStyle::TitleCase => byte.is_ascii_alphanumeric(),
        NamingStyle::LowerSnake => {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'.')
        }
        NamingStyle::UpperSnake => {
            byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_'
        }
    };
    let bytes = name.as_bytes();
    if !bytes.iter().all(|&byte| allowed(byte)) {
        return Err(format!("is not `{}`", style.example()));
    }
    let first = bytes.first().copied().unwrap_or_default();
    let begins = match style {
        NamingStyle::TitleCase | NamingStyle::UpperSnake => first.is_ascii_uppercase(),
        NamingStyle::LowerSnake => first.is_ascii_lowercase(),
    };
    if !begins {
        return Err(format!("does not start like `{}`", style.example()));
    }
    let bad = style != NamingStyle::TitleCase
        && (bytes.last() == Some(&b'_')
            || bytes.windows(2).any(|pair| pair[0] == b'_' && !pair[1].is_ascii_alphabetic()));
    if bad {
        return Err("has an underscore without a letter after it".to_owned());
    }
    Ok(())
}
