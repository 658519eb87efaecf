//! Fields: types, labels, defaults and the options that depend on them.

use abide_syntax::{DeclKind, FieldLabel, Span};

use crate::decl::{FieldDecl, MessageKind, Parent, Part, Scalar, TypeDecl};
use crate::ids::FileId;
use crate::problem::{ProblemKind, find_nearest, suggest_word};
use crate::protobuf::Edition;
use crate::tree::{Element, Enum, EnumValue, Field, Message, Openness, Presence, Type};

use super::check::FileCheck;
use super::lifetimes::Limited;
use super::numbers::is_message_set;

/// Numbers of fields of `FieldOptions`.
const CTYPE: i32 = 1;
const PACKED_OPTION: i32 = 2;
const LAZY: i32 = 5;
const JSTYPE: i32 = 6;
const UNVERIFIED_LAZY: i32 = 15;

/// Numbers of values in the enums of `FeatureSet`.
const IMPLICIT: i64 = 2;
const LEGACY_REQUIRED: i64 = 3;
const PACKED: i64 = 1;

impl<'a> FileCheck<'a> {
    pub(super) fn check_field(&mut self, field: Field<'a>, limited: &mut Limited) {
        let decl: &'a FieldDecl = &self.decl.fields[field.id.index as usize];
        let link = &self.linked.fields[field.id.index as usize];
        let plain = matches!(link.ty, Type::Scalar(_))
            && decl.extendee().is_none()
            && decl.default().is_none()
            && decl.json_name().is_none()
            && link.options.is_none();
        if plain {
            return;
        }
        self.check_options(Element::Field(field), limited);
        let entry = match decl.parent {
            Parent::Message(index) if decl.extendee().is_none() => {
                self.decl.messages[index as usize].kind == MessageKind::MapEntry
            }
            _ => false,
        };
        match link.ty {
            Type::Message(id) => {
                self.check_visible(Element::Field(field), Element::Message(self.tree.message(id)));
                let target = self.tree.linked(id.file).decl.messages[id.index as usize].kind;
                if target == MessageKind::MapEntry {
                    self.map_field(field, self.tree.message(id));
                }
            }
            Type::Enum(id) => {
                let ty = self.tree.enumeration(id);
                self.check_visible(Element::Field(field), Element::Enum(ty));
                self.check_enum_field(field, ty);
            }
            Type::Scalar(_) | Type::Unresolved => {}
        }
        if field.is_extension() {
            self.check_extension(field);
        }
        if decl.default().is_some() {
            self.default_value(field);
        }
        if link.options.is_some() && !entry {
            self.check_field_options(field);
            if self.decl.edition.is_edition() {
                self.check_field_features(field);
            }
        }
        if decl.json_name().is_some_and(|name| name.contains('\0')) {
            let span = self.find_option_span(field, "json_name");
            let text = "the JSON name contains a null character";
            self.report(ProblemKind::JsonName, Element::Field(field), span, text);
        }
    }

    /// Source: the checks of `message_set_wire_format` in
    /// `DescriptorBuilder::ValidateOptions`.
    pub(super) fn check_message_set(&mut self, message: Message<'a>) {
        if !is_message_set(message) {
            return;
        }
        for field in message.fields() {
            let span = self.span(field.decl().node, Part::Name);
            let text = format!("a message set cannot have the field `{}`", field.name());
            self.report(ProblemKind::FieldInvalid, Element::Field(field), span, text).help =
                Some("declare it as an extension".to_owned());
        }
    }

    /// Finds the place where an option in the brackets of a field is set; the name of the field
    /// if it has no such option.
    pub(super) fn find_option_span(&self, field: Field<'a>, name: &str) -> Span {
        let fallback = self.span(field.decl().node, Part::Name);
        let Some(ast) = self.decl.ast() else { return fallback };
        let list = match ast.decls.get(field.decl().node.0 as usize).map(|decl| decl.kind) {
            Some(DeclKind::Field(node)) => node.options,
            Some(DeclKind::MapField(id)) => ast.maps[id as usize].options,
            _ => return fallback,
        };
        let text: &[u8] = self.decl.strings.text();
        let found =
            ast.options[list.range()].iter().find(|option| option.name.of(text) == name.as_bytes());
        found.map_or(fallback, |option| option.span)
    }

    /// Reports the use of a type that is local to another file. Source:
    /// `Symbol::IsVisibleFrom` of protobuf's descriptor.cc.
    pub(super) fn check_visible(&mut self, user: Element<'a>, ty: Element<'a>) {
        let part = match user {
            Element::Field(_) => Part::Type,
            _ => Part::Input,
        };
        self.check_visible_at(user, ty, part);
    }

    pub(super) fn check_visible_at(&mut self, user: Element<'a>, ty: Element<'a>, part: Part) {
        let file: FileId = ty.file().id;
        if file == self.file.id || self.tree.linked(file).decl.edition < Edition::Edition2024 {
            return;
        }
        if ty.is_exported() || !ty.has_known_visibility() {
            return;
        }
        let span = self.span(user.node(), part);
        let text = format!("`{}` is local to `{}`", ty.full_name(), ty.file().path());
        let label = (ty.place(Part::Name), format!("the {} `{}`", ty.noun(), ty.name()));
        let problem = self.report(ProblemKind::NameMisused, user, span, text);
        problem.labels.push(label);
        problem.help = Some(match ty.visibility() {
            _ if !ty.may_be_exported() => {
                format!("move the {} to the top level: `STRICT` exports nothing nested", ty.noun())
            }
            Some(_) => format!("write `export` instead of `local` before the {}", ty.noun()),
            None => format!("write `export` before the {}", ty.noun()),
        });
    }

    fn check_enum_field(&mut self, field: Field<'a>, ty: Enum<'a>) {
        if ty.features().openness == Openness::Open {
            return;
        }
        let place = ty.place(Part::Name);
        let (text, help) = if self.decl.edition == Edition::Proto3 {
            (
                format!("the closed enum `{}` is used in a proto3 message", ty.full_name()),
                "declare the enum in a proto3 file or make it open",
            )
        } else if self.decl.edition.is_edition()
            && field.decl().label != Some(FieldLabel::Repeated)
            && field.presence() == Presence::Implicit
        {
            (
                format!(
                    "the field `{}` has no presence, but its type is the closed enum `{}`",
                    field.name(),
                    ty.full_name()
                ),
                "give the field presence or make the enum open",
            )
        } else {
            return;
        };
        let span = self.span(field.decl().node, Part::Type);
        let problem = self.report(ProblemKind::FieldInvalid, Element::Field(field), span, text);
        problem.labels.push((place, format!("the enum `{}`", ty.name())));
        problem.help = Some(help.to_owned());
    }

    /// Source: `DescriptorBuilder::ValidateMapEntry`.
    fn map_field(&mut self, field: Field<'a>, entry: Message<'a>) {
        let element = Element::Field(field);
        let own = matches!(field.decl().ty, TypeDecl::Map(_));
        let mut members = entry.fields();
        let (Some(key), Some(value), true) = (members.next(), members.next(), own) else {
            let span = self.span(field.decl().node, Part::Type);
            let text = format!("`{}` is a map entry and cannot be used as a type", entry.name());
            self.report(ProblemKind::FieldInvalid, element, span, text).help =
                Some("declare a field of type `map<…, …>`".to_owned());
            return;
        };
        let wrong = match key.ty() {
            Type::Message(_) => Some("a message"),
            Type::Enum(_) => Some("an enum"),
            Type::Scalar(Scalar::Float | Scalar::Double) => Some("a floating-point number"),
            Type::Scalar(Scalar::Bytes) => Some("`bytes`"),
            Type::Scalar(_) | Type::Unresolved => None,
        };
        if let Some(wrong) = wrong {
            let span = self.find_key_span(field);
            let text = format!("the key of the map `{}` is {wrong}", field.name());
            self.report(ProblemKind::FieldInvalid, element, span, text).help =
                Some("use an integer type, `bool` or `string` as the key".to_owned());
        }
        if let Type::Enum(id) = value.ty()
            && let Some(first) = self.tree.enumeration(id).values().next()
            && first.number() != 0
        {
            let span = self.span(field.decl().node, Part::Type);
            let text = format!(
                "a map needs an enum whose first value is `0`; that of `{}` is not",
                self.tree.enumeration(id).name()
            );
            let label = (first.place(Part::Number), format!("the value `{}`", first.name()));
            self.report(ProblemKind::FieldInvalid, element, span, text).labels.push(label);
        }
    }

    fn find_key_span(&self, field: Field<'a>) -> Span {
        let node = field.decl().node;
        let map = self.decl.ast().and_then(|ast| match ast.decls.get(node.0 as usize)?.kind {
            DeclKind::MapField(id) => Some(ast.maps[id as usize]),
            _ => None,
        });
        map.map_or_else(|| self.span(node, Part::Type), |map| map.key)
    }

    fn default_value(&mut self, field: Field<'a>) {
        let decl = field.decl();
        let Some(value) = decl.default() else { return };
        let remove = || Some("remove it".to_owned());
        let (text, help) = if self.decl.edition == Edition::Proto3 {
            ("proto3 does not allow default values".to_owned(), remove())
        } else if decl.label == Some(FieldLabel::Repeated) {
            let text = format!("the repeated field `{}` cannot have a default value", field.name());
            (text, remove())
        } else if self.decl.edition.is_edition() && field.presence() == Presence::Implicit {
            let text =
                format!("`{}` has no presence and cannot have a default value", field.name());
            (text, Some("remove it or give the field presence".to_owned()))
        } else {
            match field.ty() {
                Type::Message(_) => {
                    let text =
                        format!("the message field `{}` cannot have a default value", field.name());
                    (text, remove())
                }
                Type::Enum(id) => {
                    let ty = self.tree.enumeration(id);
                    let is_known = |name| ty.value_named(name).is_some();
                    if std::str::from_utf8(value).is_ok_and(is_known) {
                        return;
                    }
                    let value = String::from_utf8_lossy(value);
                    let near = find_nearest(&value, ty.values().map(EnumValue::name));
                    let text = format!("the enum `{}` has no value `{value}`", ty.full_name());
                    (text, near.map(suggest_word))
                }
                Type::Scalar(_) | Type::Unresolved => return,
            }
        };
        let span = self.find_option_span(field, "default");
        self.report(ProblemKind::DefaultInvalid, Element::Field(field), span, text).help = help;
    }

    /// Checks the built-in options that require a type or an edition.
    fn check_field_options(&mut self, field: Field<'a>) {
        let Some(options) = field.options() else { return };
        let editions = self.decl.edition.is_edition();
        let name = field.name();
        for entry in &options.entries {
            let option = self.tree.field(entry.field);
            if option.is_extension() {
                continue;
            }
            let is_true = entry.value.as_bool() == Some(true);
            let (text, help) = match option.number() {
                PACKED_OPTION if editions => (
                    "`packed` does not exist in editions".to_owned(),
                    "set `features.repeated_field_encoding`",
                ),
                PACKED_OPTION if is_true && !is_packable(field) => (
                    format!("the field `{name}` cannot be packed"),
                    "only repeated numbers, booleans and enums can be packed",
                ),
                LAZY | UNVERIFIED_LAZY if is_true && !is_submessage(field) => {
                    let option = option.name();
                    (format!("`{option}` is set on `{name}`, which is not a message"), "remove it")
                }
                UNVERIFIED_LAZY if is_true && field.is_extension() => {
                    (format!("`unverified_lazy` is set on the extension `{name}`"), "remove it")
                }
                JSTYPE if entry.value.as_i64() != Some(0) && !is_wide(field) => (
                    format!("`jstype` is set on `{name}`, which is not a 64-bit integer"),
                    "remove it",
                ),
                CTYPE if self.decl.edition >= Edition::Edition2024 => (
                    "`ctype` was removed in edition 2024".to_owned(),
                    "set `features.(pb.cpp).string_type`",
                ),
                _ => continue,
            };
            let element = Element::Field(field);
            let span = self.entry_span(element, entry);
            self.report(ProblemKind::OptionInvalid, element, span, text).help =
                Some(help.to_owned());
        }
    }

    /// Reports features that a field sets but that do not fit it. Source:
    /// `DescriptorBuilder::ValidateFieldFeatures`.
    fn check_field_features(&mut self, field: Field<'a>) {
        let decl: &'a FieldDecl = field.decl();
        let repeated = decl.label == Some(FieldLabel::Repeated);
        let is_message = matches!(field.ty(), Type::Message(_));
        let unresolved = field.ty() == Type::Unresolved;
        let is_string = |ty| ty == Type::Scalar(Scalar::String);
        for (feature, value, entry) in self.iter_set_features(field.options()) {
            let name = field.name();
            let text = match feature {
                "field_presence" if decl.oneof.is_some() => {
                    format!("the oneof member `{name}` cannot set `field_presence`")
                }
                "field_presence" if repeated => {
                    format!("the repeated field `{name}` cannot set `field_presence`")
                }
                "field_presence" if field.is_extension() && value != LEGACY_REQUIRED => {
                    format!("the extension `{name}` cannot set `field_presence`")
                }
                "field_presence" if is_message && value == IMPLICIT => {
                    format!("the message field `{name}` cannot have implicit presence")
                }
                "repeated_field_encoding" if !repeated => {
                    format!("`{name}` is not repeated and cannot set `repeated_field_encoding`")
                }
                "repeated_field_encoding" if value == PACKED && !is_packable(field) => {
                    format!("the field `{name}` cannot be packed")
                }
                "utf8_validation"
                    if !unresolved
                        && !is_string(field.ty())
                        && !field
                            .message_type()
                            .filter(|it| it.is_map_entry())
                            .is_some_and(|it| it.fields().any(|field| is_string(field.ty()))) =>
                {
                    format!("`{name}` holds no string and cannot set `utf8_validation`")
                }
                "message_encoding" if !unresolved && (!is_message || field.is_map()) => {
                    format!("`{name}` is not a message and cannot set `message_encoding`")
                }
                _ => continue,
            };
            let span = self.entry_span(Element::Field(field), entry);
            self.report(ProblemKind::FeatureInvalid, Element::Field(field), span, text).help =
                Some("remove the feature from this field".to_owned());
        }
    }
}

/// Returns true if a field may be packed; a type that was not found may be an enum. Source:
/// `FieldDescriptor::is_packable`.
fn is_packable(field: Field<'_>) -> bool {
    let may_be_enum =
        || field.ty() == Type::Unresolved && field.decl().label == Some(FieldLabel::Repeated);
    field.is_packable() || may_be_enum()
}

fn is_submessage(field: Field<'_>) -> bool {
    matches!(field.ty(), Type::Message(_) | Type::Unresolved)
        && (field.is_map() || !field.features().delimited)
}

/// Returns true if a field holds 64-bit integers.
fn is_wide(field: Field<'_>) -> bool {
    use Scalar::{Fixed64, Int64, Sfixed64, Sint64, Uint64};
    matches!(field.ty(), Type::Scalar(Int64 | Uint64 | Sint64 | Fixed64 | Sfixed64))
}
