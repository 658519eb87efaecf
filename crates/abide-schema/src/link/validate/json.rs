//! JSON names of fields.

use std::borrow::Cow;

use crate::decl::{FileDecl, Part};
use crate::problem::ProblemKind;
use crate::protobuf::default_json_name;
use crate::tree::{Element, Field, Message};

use super::check::{FileCheck, hash_loosely};

impl<'a> FileCheck<'a> {
    /// Reports two fields with the same JSON name. Default names are compared
    /// as well as the names in effect, since field masks only know the default
    /// ones. Source: `DescriptorBuilder::CheckFieldJsonNameUniqueness`.
    ///
    /// Returns whether two fields may have the same name; such fields have the
    /// same JSON name too.
    pub(super) fn check_json_names(&mut self, message: Message<'a>) -> bool {
        let decl = message.decl();
        let file: &'a FileDecl = self.decl;
        self.seen.clear();
        let mut twice = false;
        let mut custom = false;
        for field in &file.fields[decl.fields.range()] {
            twice |= self.seen.insert(hash_loosely(file.strings.bytes(field.name)));
            custom |= field.json_name().is_some();
        }
        if !twice && !custom
            || self.is_set(message.options(), "deprecated_legacy_json_field_conflicts")
        {
            return twice;
        }
        if twice {
            self.check_json_conflicts(message, false);
        }
        if custom {
            self.check_json_conflicts(message, true);
        }
        twice
    }

    fn check_json_conflicts(&mut self, message: Message<'a>, with_custom: bool) {
        let mut names: Vec<JsonNamedField<'a>> = Vec::new();
        for field in message.fields() {
            let default = default_json_name(field.name());
            let named = match field.decl().json_name() {
                Some(name) if with_custom && *name != *default => {
                    JsonNamedField { field, name: Cow::Borrowed(name), custom: true }
                }
                _ => JsonNamedField { field, name: Cow::Owned(default), custom: false },
            };
            if named.custom && named.name.starts_with('[') && named.name.ends_with(']') {
                let span = self.find_option_span(field, "json_name");
                let text = format!("the JSON name `{}` is in brackets", named.name);
                let element = Element::Field(field);
                self.report(ProblemKind::JsonName, element, span, text).help =
                    Some("remove the brackets: only extensions have them".to_owned());
                continue;
            }
            names.push(named);
        }
        // Stable: the first field with a name stays first.
        names.sort_by(|a, b| a.name.cmp(&b.name));
        for group in names.chunk_by(|a, b| a.name == b.name) {
            let first = &group[0];
            for second in &group[1..] {
                // Another check compares the names themselves, and another
                // pass the default names.
                if second.field.name() != first.field.name()
                    && !(with_custom && !first.custom && !second.custom)
                {
                    self.report_json_conflict(message, first, second);
                }
            }
        }
    }

    fn report_json_conflict(
        &mut self,
        message: Message<'a>,
        first: &JsonNamedField<'a>,
        second: &JsonNamedField<'a>,
    ) {
        // Where JSON is only best effort, protoc warns, unless both names are
        // set explicitly.
        let strict = message.features().json_allowed || (first.custom && second.custom);
        let kind = if strict { ProblemKind::JsonName } else { ProblemKind::Warning };
        let text = format!(
            "the fields `{}` and `{}` have the same {}JSON name `{}`",
            first.field.name(),
            second.field.name(),
            if first.custom || second.custom { "" } else { "default " },
            second.name
        );
        let place = |check: &Self, named: &JsonNamedField<'a>| {
            if named.custom {
                check.find_option_span(named.field, "json_name")
            } else {
                check.span(named.field.decl().node, Part::Name)
            }
        };
        let span = self.span(second.field.decl().node, Part::Name);
        let label = (self.place(place(self, first)), format!("the field `{}`", first.field.name()));
        let problem = self.report(kind, Element::Field(second.field), span, text);
        problem.labels.push(label);
        // The default names may not be the same either, whatever `json_name` says.
        let help = match first.custom || second.custom {
            true => "rename one of them or set its `json_name`",
            false => "rename one of them",
        };
        problem.help = Some(help.to_owned());
    }
}

struct JsonNamedField<'a> {
    field: Field<'a>,
    name: Cow<'a, str>,
    custom: bool,
}
