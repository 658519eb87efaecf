//! Features and visibility: what each edition allows.

use abide_syntax::{Span, Visibility};

use crate::decl::{FileDecl, Part};
use crate::problem::{Place, ProblemKind};
use crate::protobuf::Edition;
use crate::tree::{Element, Presence, Service};

use super::check::FileCheck;
use super::imports::is_lite;

impl<'a> FileCheck<'a> {
    pub(super) fn check_edition(&mut self) {
        let file: &'a FileDecl = self.decl;
        if !file.edition.is_edition() {
            return;
        }
        let options = self.file.options();
        if self.linked.features.presence == Presence::LegacyRequired {
            let mut place = Span::default();
            for (feature, _, entry) in self.iter_set_features(options) {
                if feature == "field_presence" {
                    place = entry.key.to(entry.span);
                }
            }
            let text = "a file cannot make every field required";
            let label = self.describe_edition();
            let problem = self.report_file(ProblemKind::FeatureInvalid, place, text);
            problem.labels.extend(label);
            problem.help = Some("set `field_presence` on each required field".to_owned());
        }
        if self.is_set(options, "java_string_check_utf8")
            && let Some(check) = options.and_then(|it| it.get(self.tree, "java_string_check_utf8"))
        {
            let text = "`java_string_check_utf8` does not exist in editions";
            let label = self.describe_edition();
            let span = check.key.to(check.span);
            let problem = self.report_file(ProblemKind::OptionInvalid, span, text);
            problem.labels.extend(label);
            problem.help = Some("set `features.(pb.java).utf8_validation`".to_owned());
        }
        if file.edition >= Edition::Edition2024 {
            self.check_strict_visibility();
            self.check_keyword_types();
        }
    }

    /// Where a message or an enum could be declared, `export` and `local` begin a declaration from
    /// edition 2024 on. Source: `ParseMessageStatement` of protobuf's parser.
    fn check_keyword_types(&mut self) {
        let Some(source) = self.decl.source_text() else { return };
        for field in self.file.all_fields() {
            let decl = field.decl();
            let is_statement = decl.label.is_none() && decl.oneof.is_none();
            if !is_statement || field.is_extension() || field.is_map() {
                continue;
            }
            let span = self.span(decl.node, Part::Type);
            let written = span.str(source);
            let first = written.split('.').next().unwrap_or_default();
            if matches!(first, "export" | "local") {
                let text = format!("`{first}` begins a declaration here, not the name of a type");
                self.report(ProblemKind::NameMisused, Element::Field(field), span, text).help =
                    Some("write the full name, with a dot before it".to_owned());
            }
        }
    }

    fn describe_edition(&self) -> Option<(Place, String)> {
        let syntax = self.decl.syntax?;
        let place = self.place(self.span(syntax.node, Part::Whole));
        Some((place, "the edition of the file".to_owned()))
    }

    fn check_strict_visibility(&mut self) {
        for element in self.file.elements() {
            if element.visibility() != Some(Visibility::Export) || element.may_be_exported() {
                continue;
            }
            let span = self.span(element.node(), Part::Head);
            let text = format!("the nested {} `{}` is exported", element.noun(), element.name());
            self.report(ProblemKind::NameMisused, element, span, text).help =
                Some("move it to the top level: `STRICT` exports nothing nested".to_owned());
        }
    }

    /// Reports request and response types that this file may not use.
    pub(super) fn check_methods(&mut self, service: Service<'a>) {
        for method in service.methods() {
            for (message, part) in [(method.input(), Part::Input), (method.output(), Part::Output)]
            {
                if let Some(message) = message {
                    self.check_visible_at(Element::Method(method), Element::Message(message), part);
                }
            }
        }
        let generic = ["cc_generic_services", "java_generic_services"];
        let options = self.file.options();
        if is_lite(self.file) && generic.iter().any(|name| self.is_set(options, name)) {
            let span = self.span(service.decl().node, Part::Name);
            let text = format!("a lite file declares the generic service `{}`", service.name());
            self.report(ProblemKind::MethodInvalid, Element::Service(service), span, text).help =
                Some("remove `cc_generic_services` and `java_generic_services`".to_owned());
        }
    }
}
