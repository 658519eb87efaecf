//! Expressions that do not compile, and ids that do not name one.

use std::collections::BTreeMap;
use std::ops::Range;

use abide_schema::value::{self, Entry};
use abide_schema::{Element, Field, Place, Tree};
use abide_syntax::{Lexer, Span, TokenKind};

use super::ConstraintDefect;
use super::subject::{AnnotationSubject, MessageAnnotation};
use crate::annotations;
use crate::cel::{self, CelType};
use crate::sets::Dialect;

pub(super) fn of_subject(subject: &AnnotationSubject<'_>, found: &mut Vec<ConstraintDefect>) {
    if subject.dialect != Dialect::Buf {
        return;
    }
    let this = match subject.part {
        None => CelType::of_field(subject.typed),
        Some(_) => CelType::of_value(subject.typed),
    };
    let noun = subject.noun();
    let holder = ExpressionSubject {
        element: Element::Field(subject.field),
        noun,
        variables: &[("this", this)],
    };
    holder.find(subject.rules, found);
}

pub(super) fn of_message(annotation: &MessageAnnotation<'_>, found: &mut Vec<ConstraintDefect>) {
    let (message, noun) = (annotation.message, annotation.noun());
    let variables = &[("this", CelType::of_message(message))];
    let holder = ExpressionSubject { element: Element::Message(message), noun, variables };
    holder.find(annotation.rules, found);
}

/// The expressions of a rule that the tree adds to those of protovalidate.
pub(super) fn of_predefined(field: Field<'_>, found: &mut Vec<ConstraintDefect>) {
    let Some(extended) = field.extendee() else { return };
    let name = extended.full_name();
    let Some(rules) = name.strip_prefix("buf.validate.") else { return };
    let this = match rules {
        "FloatRules" | "DoubleRules" => CelType::Double,
        "Int32Rules" | "Int64Rules" | "SInt32Rules" | "SInt64Rules" | "SFixed32Rules"
        | "SFixed64Rules" | "EnumRules" => CelType::Int,
        "UInt32Rules" | "UInt64Rules" | "Fixed32Rules" | "Fixed64Rules" => CelType::Uint,
        "BoolRules" => CelType::Bool,
        "StringRules" => CelType::String,
        "BytesRules" => CelType::Bytes,
        "RepeatedRules" => CelType::list(CelType::Dyn),
        "MapRules" => CelType::map(CelType::Dyn, CelType::Dyn),
        "DurationRules" => CelType::Duration,
        "TimestampRules" => CelType::Timestamp,
        "AnyRules" | "FieldMaskRules" => CelType::Dyn,
        _ => return,
    };
    let options = field.options();
    let entry = options.and_then(|it| it.find_extension(field.tree, "buf.validate.predefined"));
    let Some(annotation) = entry.and_then(|it| it.value.as_message()) else { return };
    let variables = &[
        ("this", this),
        ("rule", CelType::of_field(field)),
        ("rules", CelType::of_message(extended)),
    ];
    let noun = format!("rule `{}`", field.relative_name());
    ExpressionSubject { element: Element::Field(field), noun, variables }.find(annotation, found);
}

/// The element that expressions are about.
struct ExpressionSubject<'t, 'v> {
    element: Element<'t>,
    noun: String,
    variables: &'v [(&'static str, CelType)],
}

impl ExpressionSubject<'_, '_> {
    fn tree(&self) -> &Tree {
        self.element.file().tree
    }

    fn build_defect(&self, entry: &Entry, message: String) -> ConstraintDefect {
        let place = annotations::find_place(self.element, entry);
        ConstraintDefect { place, message, why: None, known_to_buf: true }
    }

    fn find(&self, rules: &value::Message, found: &mut Vec<ConstraintDefect>) {
        let tree = self.tree();
        let mut ids: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
        for entry in &rules.entries {
            match (tree.field(entry.field).name(), &entry.value) {
                ("cel", value::Value::Message(rule)) => {
                    if let Some(id) = rule.get(tree, "id")
                        && let Some(text) = id.value.as_str().filter(|it| !it.is_empty())
                    {
                        ids.entry(text).or_default().push(id);
                    }
                    self.check_rule(entry, rule, found);
                }
                ("cel_expression", value::Value::String(text)) => {
                    self.check_expression(entry, text, found);
                }
                _ => {}
            }
        }
        let noun = &self.noun;
        for (id, entries) in ids {
            for entry in entries.get(1..).unwrap_or_default() {
                let message = format!("two expressions of {noun} have the id `{id}`");
                found.push(self.build_defect(entry, message));
            }
        }
    }

    /// An expression with its id and message.
    fn check_rule(&self, entry: &Entry, rule: &value::Message, found: &mut Vec<ConstraintDefect>) {
        let (tree, noun) = (self.tree(), &self.noun);
        let set = |name: &str| {
            let entry = rule.get(tree, name)?;
            Some((entry, entry.value.as_str().filter(|it| !it.is_empty())?))
        };
        if let Some((at, id)) = set("id")
            && !id.chars().all(|it| it.is_ascii_alphanumeric() || "._-".contains(it))
        {
            let why = "an id has only letters, digits, `.`, `_` and `-`";
            let message = format!("the id of an expression of {noun} is malformed");
            found.push(self.build_defect(at, message).because(why));
        }
        let Some((at, text)) = set("expression") else {
            return found
                .push(self.build_defect(entry, format!("a rule of {noun} has no expression")));
        };
        let Some(result) = self.check_expression(at, text, found) else { return };
        if !result.may_be_bool()
            && let Some((at, _)) = set("message")
        {
            let why = "the string that it gives is the message";
            let text = format!("an expression of {noun} gives a string, and has a `message` too");
            found.push(self.build_defect(at, text).because(why));
        }
    }

    /// The type of an expression; `None` if it is reported.
    fn check_expression(
        &self,
        entry: &Entry,
        text: &str,
        found: &mut Vec<ConstraintDefect>,
    ) -> Option<CelType> {
        let noun = &self.noun;
        if text.is_empty() {
            found.push(self.build_defect(entry, format!("an expression of {noun} is empty")));
            return None;
        }
        match cel::check_type(self.tree(), text, self.variables) {
            Ok(result) if result.may_be_bool() || result.may_be_string() => Some(result),
            Ok(result) => {
                let why = "protovalidate needs a bool, or a string with what is wrong";
                let message = format!("an expression of {noun} gives `{result}`");
                found.push(self.build_defect(entry, message).because(why));
                None
            }
            Err(error) => {
                let message =
                    format!("an expression of {noun} does not compile: {}", error.message);
                let mut defect = self.build_defect(entry, message);
                if let Some(place) = self.find_place_inside(entry, error.span) {
                    defect.place = place;
                }
                found.push(defect);
                None
            }
        }
    }

    /// The place of bytes of a text, in the literals that it was written as; `None` if
    /// escapes of several letters are in the way.
    fn find_place_inside(&self, entry: &Entry, bytes: Range<usize>) -> Option<Place> {
        let file = self.element.file();
        let source = file.decl().source_text()?;
        let end = bytes.end.max(bytes.start + 1);
        let (mut from, mut to) = (None, None);
        let mut at = 0;
        let mut lexer = Lexer::new(source, entry.span.start);
        loop {
            let token = lexer.next_token();
            if token.span.start >= entry.span.end || token.kind == TokenKind::End {
                break;
            }
            if token.kind != TokenKind::String {
                continue;
            }
            let literal = token.span.of(source);
            let mut offset = 1;
            while let Some(&byte) = literal.get(offset).filter(|_| offset + 1 < literal.len()) {
                let width = match (byte, literal.get(offset + 1)) {
                    (b'\\', Some(b'x' | b'X' | b'u' | b'U' | b'0'..=b'7')) => return None,
                    (b'\\', _) => 2,
                    _ => 1,
                };
                let place = token.span.start + offset as u32;
                if at >= bytes.start && at < end {
                    from.get_or_insert(place);
                    to = Some(place + width as u32);
                }
                at += 1;
                offset += width;
            }
        }
        // What is missing at the end is missing before the last quote.
        let last = entry.span.end.checked_sub(1)?;
        let span = Span::new(from.unwrap_or(last), to.unwrap_or(entry.span.end));
        Some(Place { span, ..annotations::find_place(self.element, entry) })
    }
}
