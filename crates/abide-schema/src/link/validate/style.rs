//! The naming styles that editions enforce: the case of names since 2024, and no collisions with
//! accessors of generated code since 2026.
//!
//! Source: `DescriptorBuilder::ValidateNamingStyle` and the feature
//! `enforce_naming_style`.

use crate::decl::Part;
use crate::dynamic::Message;
use crate::problem::ProblemKind;
use crate::protobuf::Edition;
use crate::tree::{Element, Field, File, Message as MessageView, NamingStyle};

use super::check::FileCheck;

#[derive(Clone, Copy, PartialEq)]
enum NameCase {
    TitleCase,
    LowerSnake,
    UpperSnake,
}

impl NameCase {
    fn example(self) -> &'static str {
        match self {
            NameCase::TitleCase => "TitleCase",
            NameCase::LowerSnake => "lower_snake_case",
            NameCase::UpperSnake => "UPPER_SNAKE_CASE",
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
            && self.linked.features.naming_style > NamingStyle::Legacy
        {
            let name = self.decl.str(package.name);
            if let Err(reason) = check_name(name, NameCase::LowerSnake) {
                let span = self.span(package.node, Part::Name);
                let text = format!("the package name `{name}` {reason}");
                self.report_file(ProblemKind::StyleViolated, span, text).help = suggest_style();
            }
        }
        for element in self.file.elements() {
            let Some(case) = find_case(element) else { continue };
            let style = self.resolve_style(element);
            if style == NamingStyle::Legacy {
                continue;
            }
            if let Err(reason) = check_name(element.name(), case) {
                let span = self.span(element.node(), Part::Name);
                let text =
                    format!("the name of the {} `{}` {reason}", element.noun(), element.name());
                self.report(ProblemKind::StyleViolated, element, span, text).help = suggest_style();
            }
            if style == NamingStyle::Style2026 {
                self.check_collision(element);
            }
        }
    }

    /// The style that an element is checked by. Services, enum values, methods and oneofs inherit
    /// the feature from their parent unless they set it.
    fn resolve_style(&self, element: Element<'a>) -> NamingStyle {
        let of_file = self.linked.features.naming_style;
        match element {
            Element::Message(it) => it.features().naming_style,
            Element::Field(it) => it.features().naming_style,
            Element::Enum(it) => it.features().naming_style,
            Element::Oneof(it) => {
                self.find_style(it.message().features().naming_style, it.options())
            }
            Element::EnumValue(it) => {
                self.find_style(it.parent().features().naming_style, it.options())
            }
            Element::Service(it) => self.find_style(of_file, it.options()),
            Element::Method(it) => {
                let outer = self.find_style(of_file, it.service().options());
                self.find_style(outer, it.options())
            }
        }
    }

    /// Reports a field, an extension or a oneof whose name is that of an accessor of another one in
    /// its message.
    fn check_collision(&mut self, element: Element<'a>) {
        let name = element.name();
        let (other, reason) = match find_collision(element) {
            Some(NameCollision::Accessor(other)) => {
                (Some(other), format!("is that of an accessor of `{}`", other.name()))
            }
            Some(NameCollision::Method) => {
                (None, "is that of a method of generated code".to_owned())
            }
            None => return,
        };
        let span = self.span(element.node(), Part::Name);
        let text = format!("the name of the {} `{name}` {reason}", element.noun());
        let label = other.map(|it| {
            (self.place(self.name_span(it)), format!("the {} `{}`", it.noun(), it.name()))
        });
        // An extension may stand in another file than the message that it extends.
        let label = label.filter(|_| other.is_some_and(|it| it.file().id == self.file.id));
        let problem = self.report(ProblemKind::StyleViolated, element, span, text);
        problem.labels.extend(label);
        problem.help =
            Some("rename it, or set `features.enforce_naming_style = STYLE2024`".to_owned());
    }

    /// The feature `enforce_naming_style` of an element inside another.
    fn find_style(&self, outer: NamingStyle, options: Option<&'a Message>) -> NamingStyle {
        let mut own = self.iter_set_features(options);
        match own.find(|(feature, ..)| *feature == "enforce_naming_style") {
            Some((_, 1, _)) => NamingStyle::Style2024,
            Some((_, 2, _)) => NamingStyle::Legacy,
            Some((_, 3, _)) => NamingStyle::Style2026,
            _ => outer,
        }
    }
}

impl File<'_> {
    /// The strictest style of names that every name in the file keeps, whatever the file asks for.
    pub fn strictest_naming_style(self) -> NamingStyle {
        let package = self.decl().package.map(|it| self.decl().str(it.name));
        if package.is_some_and(|it| check_name(it, NameCase::LowerSnake).is_err()) {
            return NamingStyle::Legacy;
        }
        let is_cased =
            |it: Element<'_>| find_case(it).is_none_or(|case| check_name(it.name(), case).is_ok());
        if !self.elements().all(is_cased) {
            return NamingStyle::Legacy;
        }
        let collides = |it| find_case(it).is_some() && find_collision(it).is_some();
        match self.elements().any(collides) {
            true => NamingStyle::Style2024,
            false => NamingStyle::Style2026,
        }
    }
}

/// The case that a style asks of the name of an element; `None` for names that nobody wrote.
fn find_case(element: Element<'_>) -> Option<NameCase> {
    match element {
        Element::Message(it) if it.is_map_entry() => None,
        Element::Field(it) if it.parent().is_some_and(MessageView::is_map_entry) => None,
        Element::Oneof(it) if it.is_synthetic() => None,
        Element::Field(_) | Element::Oneof(_) => Some(NameCase::LowerSnake),
        Element::EnumValue(_) => Some(NameCase::UpperSnake),
        Element::Message(_) | Element::Enum(_) | Element::Service(_) | Element::Method(_) => {
            Some(NameCase::TitleCase)
        }
    }
}

/// What the name of a member collides with in generated code.
enum NameCollision<'t> {
    /// An accessor of another member.
    Accessor(Element<'t>),
    /// A method that every message has.
    Method,
}

/// Finds what the name of a field, an extension or a oneof collides with in its message.
fn find_collision(element: Element<'_>) -> Option<NameCollision<'_>> {
    let message = match element {
        Element::Field(it) => find_containing(it),
        Element::Oneof(it) => Some(it.message()),
        _ => return None,
    };
    let name = element.name();
    let other = message.and_then(|message| {
        let near = strip_accessors(name);
        let fields = message.fields().map(Element::Field);
        let written = message.oneofs().filter(|it| !it.is_synthetic());
        let mut members = fields.chain(written.map(Element::Oneof));
        members.find(|it| near.clone().any(|near| near == it.name()))
    });
    match other {
        Some(other) => Some(NameCollision::Accessor(other)),
        None => (name == "descriptor").then_some(NameCollision::Method),
    }
}

/// Finds the message that has a field, or that an extension extends.
fn find_containing(field: Field<'_>) -> Option<MessageView<'_>> {
    if field.is_extension() { field.extendee() } else { field.parent() }
}

/// The names of which a name may be an accessor. Source: `IsValidFieldNonCollisionName` of protobuf.
fn strip_accessors(name: &str) -> impl Iterator<Item = &str> + Clone {
    let prefixes = ["has_", "get_", "set_", "clear_"];
    let after = prefixes.into_iter().filter_map(|prefix| name.strip_prefix(prefix));
    after.chain(name.strip_suffix("_value"))
}

fn suggest_style() -> Option<String> {
    Some("rename it, or set `features.enforce_naming_style = STYLE_LEGACY`".to_owned())
}

fn check_name(name: &str, style: NameCase) -> Result<(), String> {
    let allowed = |byte: u8| match style {
        NameCase::TitleCase => byte.is_ascii_alphanumeric(),
        NameCase::LowerSnake => {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'.')
        }
        NameCase::UpperSnake => byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_',
    };
    let bytes = name.as_bytes();
    if !bytes.iter().all(|&byte| allowed(byte)) {
        return Err(format!("is not `{}`", style.example()));
    }
    let first = bytes.first().copied().unwrap_or_default();
    let begins = match style {
        NameCase::TitleCase | NameCase::UpperSnake => first.is_ascii_uppercase(),
        NameCase::LowerSnake => first.is_ascii_lowercase(),
    };
    if !begins {
        return Err(format!("does not start like `{}`", style.example()));
    }
    let bad = style != NameCase::TitleCase
        && (bytes.last() == Some(&b'_')
            || bytes.windows(2).any(|pair| pair[0] == b'_' && !pair[1].is_ascii_alphabetic()));
    if bad {
        return Err("has an underscore without a letter after it".to_owned());
    }
    Ok(())
}
