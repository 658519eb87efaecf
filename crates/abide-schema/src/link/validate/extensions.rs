//! Extensions, and the ranges and declarations that allow them.

use abide_syntax::FieldLabel;
use rustc_hash::FxHashSet;

use crate::decl::{FileDecl, MAX_FIELD_NUMBER, Part, RangeDecl};
use crate::dynamic as value;
use crate::problem::{Problem, ProblemKind};
use crate::protobuf::{Edition, default_json_name};
use crate::tree::{Element, ExtensionDeclaration, Field, File, Message, Presence, Tree, Type};

use super::check::{FileCheck, NumberedExtension};
use super::imports::is_lite;
use super::names::ImportSets;
use super::numbers::{contains_number, is_message_set};

/// The messages that proto3 may extend: the options messages. Source:
/// `AllowedCustomOptionExtendees` of protobuf's descriptor.cc.
const OPTIONS: [&str; 9] = [
    "EnumOptions",
    "EnumValueOptions",
    "ExtensionRangeOptions",
    "FieldOptions",
    "FileOptions",
    "MessageOptions",
    "MethodOptions",
    "OneofOptions",
    "ServiceOptions",
];

/// Numbers of `ExtensionRangeOptions.VerificationState`.
const DECLARATION: i64 = 0;
const UNVERIFIED: i64 = 1;

/// The extensions that the checks of a file collect.
pub(super) fn collect_extensions(file: File<'_>) -> Vec<NumberedExtension> {
    let in_messages = file.all_messages().filter(|it| !it.is_map_entry());
    let fields = in_messages.flat_map(Message::extensions).chain(file.extensions());
    fields.filter_map(NumberedExtension::from_field).collect()
}

impl NumberedExtension {
    fn from_field(field: Field<'_>) -> Option<NumberedExtension> {
        let (number, field_id) = (field.number(), field.id);
        Some(NumberedExtension { extendee: field.extendee()?.id, number, field: field_id })
    }
}

impl<'a> FileCheck<'a> {
    pub(super) fn check_extension(&mut self, field: Field<'a>) {
        let decl = field.decl();
        let element = Element::Field(field);
        let name = field.name();
        // Only message sets have numbers above the largest field number.
        if decl.number <= 0 || (19_000..=19_999).contains(&decl.number) {
            self.check_field_number(element, decl.number);
        }
        if field.features().presence == Presence::LegacyRequired {
            let part = if decl.label.is_some() { Part::Label } else { Part::Name };
            let span = self.span(decl.node, part);
            let text = format!("the extension `{name}` cannot be required");
            self.report(ProblemKind::ExtensionInvalid, element, span, text).help =
                Some("make it optional or repeated".to_owned());
        }
        let default = default_json_name(name);
        if decl.json_name().is_some_and(|json| json != default) {
            let span = self.find_option_span(field, "json_name");
            let text = format!("the extension `{name}` cannot have a `json_name`");
            self.report(ProblemKind::ExtensionInvalid, element, span, text).help =
                Some("remove it: its JSON name is its full name in brackets".to_owned());
        }
        let Some(extendee) = field.extendee() else { return };
        self.check_visible_at(element, Element::Message(extendee), Part::Extendee);
        self.extensions.extend(NumberedExtension::from_field(field));
        let is_option = extendee.package().name() == "google.protobuf"
            && extendee.parent().is_none()
            && OPTIONS.contains(&extendee.name());
        if self.decl.edition == Edition::Proto3 && !is_option {
            let span = self.span(decl.node, Part::Extendee);
            let text = format!("proto3 cannot extend `{}`", extendee.full_name());
            self.report(ProblemKind::ExtensionInvalid, element, span, text).help =
                Some("proto3 can only extend the options messages of descriptor.proto".to_owned());
        }
        if is_lite(self.file) && !is_lite(extendee.file()) {
            let span = self.span(decl.node, Part::Extendee);
            let text = format!("a lite file extends `{}`, which is not lite", extendee.full_name());
            self.report(ProblemKind::ExtensionInvalid, element, span, text).help =
                Some("declare the extension in a file that is not lite".to_owned());
        }
        if is_message_set(extendee) {
            let optional_message = decl.label != Some(FieldLabel::Repeated)
                && matches!(field.ty(), Type::Message(_) | Type::Unresolved)
                && !field.features().delimited;
            if !optional_message {
                let span = self.span(decl.node, Part::Type);
                let text =
                    format!("the extension `{name}` of a message set is not an optional message");
                self.report(ProblemKind::ExtensionInvalid, element, span, text);
            }
        }
        let of_extendee = self.tree.linked(extendee.id.file);
        let ranges = &of_extendee.decl.ranges;
        let mut indices = extendee.decl().extension_ranges.range();
        let Some(at) = indices.find(|&at| contains_number(&ranges[at], decl)) else {
            self.report_outside(field, extendee);
            return;
        };
        // protoc does not enforce the declarations of its own options.
        let is_builtin = &*extendee.file().decl().path == crate::protobuf::DESCRIPTOR_PROTO;
        if let Some(options) = of_extendee.ranges[at].as_deref()
            && !is_builtin
        {
            self.check_declared(field, extendee, at, options);
        }
    }

    fn report_outside(&mut self, field: Field<'a>, extendee: Message<'a>) {
        let number = field.number();
        let span = self.span(field.decl().node, Part::Number);
        let text = format!("`{number}` is not an extension number of `{}`", extendee.full_name());
        let ranges = extendee.extension_ranges();
        let help = match ranges {
            [] => format!("`{}` allows no extensions", extendee.name()),
            [first, ..] => {
                let last = first.end.saturating_sub(1);
                let last = match last {
                    last if last >= MAX_FIELD_NUMBER => "max".to_owned(),
                    last => last.to_string(),
                };
                let more = if ranges.len() > 1 { " and more" } else { "" };
                format!("`{}` allows `{} to {last}`{more}", extendee.name(), first.start)
            }
        };
        let label = (extendee.place(Part::Name), format!("the message `{}`", extendee.name()));
        let problem = self.report(ProblemKind::ExtensionInvalid, Element::Field(field), span, text);
        problem.labels.push(label);
        problem.help = Some(help);
    }

    /// Checks an extension against its declaration in the extendee.
    fn check_declared(
        &mut self,
        field: Field<'a>,
        extendee: Message<'a>,
        at: usize,
        options: &'a value::Message,
    ) {
        let file = extendee.id.file;
        let range = &self.tree.linked(file).decl.ranges[at];
        let Some(declarations) = self.tree.declarations(file, at) else { return };
        let number = field.number();
        let declared = declarations.numbers.get(&i64::from(number));
        let Some(declared) = declared.map(|&at| &declarations.all[at]) else {
            let verified = options.get_i64(self.tree, "verification") == Some(DECLARATION);
            if verified || !declarations.all.is_empty() {
                let text = format!(
                    "`{}` does not declare the extension number `{number}`",
                    extendee.full_name()
                );
                self.report_mismatch(field, extendee, range, text);
            }
            return;
        };
        if declared.reserved {
            let text =
                format!("`{}` reserves the extension number `{number}`", extendee.full_name());
            self.report_mismatch(field, extendee, range, text);
            return;
        }
        if let Some(ty) = &declared.ty {
            let actual = match field.ty() {
                Type::Scalar(scalar) => scalar.keyword().to_owned(),
                Type::Message(id) => format!(".{}", self.tree.message(id).full_name()),
                Type::Enum(id) => format!(".{}", self.tree.enumeration(id).full_name()),
                Type::Unresolved => return,
            };
            let wanted =
                if is_scalar(ty) || ty.starts_with('.') { ty.clone() } else { format!(".{ty}") };
            if wanted != actual {
                let text = format!(
                    "the extension `{}` has the type `{actual}` but is declared as `{wanted}`",
                    field.name()
                );
                self.report_mismatch(field, extendee, range, text);
            }
        }
        if let Some(name) = &declared.full_name {
            let actual = format!(".{}", field.full_name());
            if *name != actual {
                let text = format!(
                    "the extension number `{number}` is declared for `{name}`, not `{actual}`"
                );
                self.report_mismatch(field, extendee, range, text);
            }
        }
        let repeated = field.decl().label == Some(FieldLabel::Repeated);
        if declared.repeated != repeated {
            let text = format!(
                "the extension `{}` is declared as {}",
                field.name(),
                if declared.repeated { "repeated" } else { "not repeated" }
            );
            self.report_mismatch(field, extendee, range, text);
        }
    }

    fn report_mismatch(
        &mut self,
        field: Field<'a>,
        extendee: Message<'a>,
        range: &'a RangeDecl,
        text: String,
    ) {
        let span = self.span(field.decl().node, Part::Extendee);
        let declared = crate::problem::Place { file: extendee.file().id, span: range.span };
        let label =
            (self.place(self.span(field.decl().node, Part::Name)), "this extension".to_owned());
        let problem = self.report(ProblemKind::ExtensionInvalid, Element::Field(field), span, text);
        problem.labels.push(label);
        problem.labels.push((declared, "the extension range".to_owned()));
        problem.help = Some("ask the owner of the message to declare it".to_owned());
    }

    /// Checks the extension ranges of a message, without their extensions.
    /// Source: `DescriptorBuilder::ValidateExtensionRangeOptions`.
    pub(super) fn check_extension_ranges(&mut self, message: Message<'a>, ranges: &'a [RangeDecl]) {
        let element = Element::Message(message);
        let file: &'a FileDecl = self.decl;
        if file.edition == Edition::Proto3
            && let Some(first) = ranges.first()
        {
            let text = "proto3 does not allow extension ranges";
            self.report(ProblemKind::RangeInvalid, element, first.span, text).help =
                Some("remove it, or declare the message in proto2 or an edition".to_owned());
        }
        let max = if is_message_set(message) { i32::MAX } else { MAX_FIELD_NUMBER };
        let mut names = FxHashSet::default();
        for (range, at) in ranges.iter().zip(message.decl().extension_ranges.range()) {
            if i64::from(range.end) > i64::from(max) + 1 {
                let text = format!("the extension range ends after {max}");
                self.report(ProblemKind::RangeInvalid, element, range.span, text).help =
                    Some("write `max`".to_owned());
            }
            let Some(options) = self.linked.ranges[at].as_deref() else { continue };
            let Some(declared) = self.tree.declarations(self.file.id, at) else { continue };
            let declared = &declared.all;
            let unverified = options
                .get(self.tree, "verification")
                .filter(|it| it.value.as_i64() == Some(UNVERIFIED));
            if let Some(unverified) = unverified
                && !declared.is_empty()
            {
                let text = "an unverified extension range has declarations";
                let span = self.entry_span(element, unverified);
                self.report(ProblemKind::RangeInvalid, element, span, text).help =
                    Some("remove `verification` or the declarations".to_owned());
                return;
            }
            self.check_declarations(element, range, declared, &mut names);
        }
    }

    fn check_declarations(
        &mut self,
        element: Element<'a>,
        range: &'a RangeDecl,
        declared: &'a [ExtensionDeclaration],
        names: &mut FxHashSet<&'a str>,
    ) {
        let mut numbers = FxHashSet::default();
        for declaration in declared {
            let number = declaration.number;
            let mut found: Vec<String> = Vec::new();
            if !(i64::from(range.start)..i64::from(range.end)).contains(&number) {
                found.push(format!("the declared number `{number}` is not in the extension range"));
            }
            if !numbers.insert(number) {
                found.push(format!("the extension number `{number}` is declared twice"));
            }
            match (&declaration.full_name, &declaration.ty) {
                (Some(name), Some(ty)) => {
                    if !names.insert(name.as_str()) {
                        found.push(format!("the extension `{name}` is declared twice"));
                    } else {
                        for symbol in [name, ty] {
                            if !(is_full_name(symbol) || symbol == ty && is_scalar(ty)) {
                                found.push(format!(
                                    "`{symbol}` is not a full name with a leading dot"
                                ));
                            }
                        }
                    }
                }
                (None, None) if declaration.reserved => {}
                _ => found.push(format!(
                    "the declaration of `{number}` needs both `full_name` and `type`"
                )),
            }
            for text in found {
                self.report(ProblemKind::RangeInvalid, element, range.span, text);
            }
        }
    }
}

/// Reports two extensions of one message with the same number: an error in one
/// file, a warning across files, as in `DescriptorBuilder::CrossLinkField`.
pub(super) fn check_numbers(
    tree: &Tree,
    mut all: Vec<NumberedExtension>,
    problems: &mut Vec<Problem>,
) {
    // Stable, so extensions with the same number stay in the order of files.
    all.sort_by_key(|extension| (extension.extendee, extension.number));
    let mut worlds = ImportSets::new(tree);
    for group in all.chunk_by(|a, b| (a.extendee, a.number) == (b.extendee, b.number)) {
        for (index, second) in group.iter().enumerate() {
            let second = tree.field(second.field);
            let first = group[..index]
                .iter()
                .map(|first| tree.field(first.field))
                .find(|first| worlds.are_compiled_together(first.id.file, second.id.file));
            let Some(first) = first else { continue };
            let (first, second) = worlds.sort_pair(Element::Field(first), Element::Field(second));
            let same_file = first.file().id == second.file().id;
            let Element::Field(field) = second else { continue };
            let extendee = field.extendee().map(Message::full_name).unwrap_or_default();
            problems.push(Problem {
                kind: if same_file { ProblemKind::NumberDuplicated } else { ProblemKind::Warning },
                place: second.place(Part::Number),
                message: format!(
                    "the extension number `{}` of `{extendee}` is also used by `{}`",
                    field.number(),
                    first.full_name()
                ),
                element: Some(second.full_name()),
                labels: vec![(first.place(Part::Number), format!("`{}`", first.full_name()))],
                help: Some("choose another number for one of them".to_owned()),
            });
        }
    }
}

/// Source: `IsNonMessageType` of protobuf's descriptor.cc.
fn is_scalar(ty: &str) -> bool {
    ty == "enum" || crate::decl::Scalar::from_keyword(ty).is_some()
}

fn is_full_name(name: &str) -> bool {
    name.strip_prefix('.').is_some_and(|name| {
        name.split('.').all(|part| {
            !part.is_empty()
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        })
    })
}
