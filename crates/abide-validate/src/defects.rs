//! Annotations that cannot mean what they say, whatever the values are.
//!
//! Each kind of defect is found on its own, so that only what is asked for is
//! computed.

mod contradiction;
mod examples;
mod expressions;
mod malformed;
mod pattern_syntax;
mod placement;
mod redundancy;
mod subject;

use abide_schema::{Element, Place};

use self::subject::{MessageAnnotation, list_subjects};

/// The kind of a defect of an annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefectKind {
    /// It does not fit the field that it is set on.
    Misplaced,
    /// No value satisfies it.
    Unsatisfiable,
    /// It changes nothing beside another one.
    Redundant,
    /// A part of it has no meaning, such as a pattern that does not compile.
    Malformed,
    /// An expression of it does not compile, or has an id that does not name it.
    Expression,
    /// It refuses its own example.
    Example,
}

/// A defect of an annotation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstraintDefect {
    /// The place of the annotation.
    pub place: Place,
    /// One lower-case phrase about the field or message.
    pub message: String,
    /// The reason that it is wrong, if the message does not say it.
    pub why: Option<String>,
    /// True if `buf lint` reports it too.
    pub known_to_buf: bool,
}

/// The defects of one kind in the annotations of an element.
pub fn find_defects(element: Element<'_>, kind: DefectKind) -> Vec<ConstraintDefect> {
    let mut found = Vec::new();
    match element {
        Element::Field(field) => {
            if kind == DefectKind::Unsatisfiable {
                contradiction::find(field, &mut found);
            }
            for subject in list_subjects(field) {
                match kind {
                    DefectKind::Misplaced => placement::find(&subject, &mut found),
                    DefectKind::Unsatisfiable => {}
                    DefectKind::Redundant => redundancy::find(&subject, &mut found),
                    DefectKind::Malformed => malformed::find(&subject, &mut found),
                    DefectKind::Expression => expressions::of_subject(&subject, &mut found),
                    DefectKind::Example => examples::find(&subject, &mut found),
                }
            }
            if kind == DefectKind::Expression {
                expressions::of_predefined(field, &mut found);
            }
        }
        Element::Message(message) => {
            if let Some(annotation) = MessageAnnotation::of(message) {
                match kind {
                    DefectKind::Malformed => malformed::of_oneofs(&annotation, &mut found),
                    DefectKind::Expression => expressions::of_message(&annotation, &mut found),
                    DefectKind::Misplaced
                    | DefectKind::Unsatisfiable
                    | DefectKind::Redundant
                    | DefectKind::Example => {}
                }
            }
        }
        _ => {}
    }
    found
}
