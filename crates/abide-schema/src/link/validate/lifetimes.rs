//! Options and features that an edition does not have yet, or no longer has.
//!
//! Source: `FeatureResolver::ValidateFeatureLifetimes` and the option
//! `feature_support` of fields and enum values.

use rustc_hash::FxHashMap;

use crate::dynamic::{Entry, Message, Value};
use crate::ids::FieldId;
use crate::problem::{Problem, ProblemKind};
use crate::protobuf::Edition;
use crate::tree::{Element, Enum, Tree, find_support};

use super::check::FileCheck;

/// True if a field, or a value of its enum, has a lifetime; looked up once.
pub(super) type Limited = FxHashMap<FieldId, bool>;

impl<'a> FileCheck<'a> {
    pub(super) fn check_options(&mut self, element: Element<'a>, limited: &mut Limited) {
        if let Some(options) = element.options() {
            self.check_lifetimes(Some(element), options, limited);
        }
    }

    /// Checks every option of an element or, for `None`, of the file, nested
    /// ones included.
    pub(super) fn check_lifetimes(
        &mut self,
        element: Option<Element<'a>>,
        options: &'a Message,
        limited: &mut Limited,
    ) {
        if self.decl.edition.is_edition() {
            self.check_enum_values(element, options);
        }
        let mut pending = vec![options];
        while let Some(message) = pending.pop() {
            for entry in &message.entries {
                // Features before editions are reported elsewhere.
                if !self.decl.edition.is_edition() && is_features(self.tree, entry) {
                    continue;
                }
                let is_limited = *limited
                    .entry(entry.field)
                    .or_insert_with(|| is_limited(self.tree, entry.field));
                if is_limited {
                    self.check_entry(element, entry);
                }
                pending.extend(entry.value.as_message());
            }
        }
    }

    /// Reports features that are set to their value for "unknown".
    fn check_enum_values(&mut self, element: Option<Element<'a>>, options: &'a Message) {
        for (feature, _, entry) in self.iter_set_features(Some(options)).filter(|it| it.1 == 0) {
            let text = format!("`{feature}` cannot be set to its unknown value");
            self.report_option(element, ProblemKind::FeatureInvalid, entry, text).help =
                Some("choose another value or remove it".to_owned());
        }
    }

    fn check_entry(&mut self, element: Option<Element<'a>>, entry: &'a Entry) {
        let field = self.tree.field(entry.field);
        if let Some(support) = find_support(self.tree, field.options()) {
            self.check_support(element, entry, field.name(), support);
        }
        if let Some(ty) = field.enum_type()
            && let Some(number) = entry.value.as_i64()
            && let Some(value) = ty.values().find(|it| i64::from(it.number()) == number)
            && let Some(support) = find_support(self.tree, value.options())
        {
            self.check_support(element, entry, value.name(), support);
        }
    }

    fn check_support(
        &mut self,
        element: Option<Element<'a>>,
        entry: &'a Entry,
        name: &str,
        support: &'a Message,
    ) {
        let tree = self.tree;
        let edition = i64::from(self.decl.edition.number());
        let at = |name| support.get_i64(tree, name);
        let words = |name| support.get_str(tree, name).map(str::to_owned);
        let (kind, text, help) = if let Some(introduced) =
            at("edition_introduced").filter(|&introduced| edition < introduced)
        {
            let text = format!("`{name}` does not exist before {}", format_edition(introduced));
            (ProblemKind::FeatureInvalid, text, Some("remove it".to_owned()))
        } else if let Some(removed) = at("edition_removed").filter(|&removed| edition >= removed) {
            let text = format!("`{name}` was removed in {}", format_edition(removed));
            (ProblemKind::FeatureInvalid, text, words("removal_error"))
        } else if let Some(deprecated) =
            at("edition_deprecated").filter(|&deprecated| edition >= deprecated)
            && !self.decl.imported
        {
            let text = format!("`{name}` has been deprecated since {}", format_edition(deprecated));
            (ProblemKind::Warning, text, words("deprecation_warning"))
        } else {
            return;
        };
        self.report_option(element, kind, entry, text).help = help;
    }

    /// Reports an option of an element or, for `None`, of the file.
    fn report_option(
        &mut self,
        element: Option<Element<'a>>,
        kind: ProblemKind,
        entry: &'a Entry,
        text: String,
    ) -> &mut Problem {
        let Some(element) = element else {
            let label = (self.file.package_place(), "the file".to_owned());
            let problem = self.report_file(kind, entry.key.to(entry.span), text);
            problem.labels.push(label);
            return problem;
        };
        let span = self.entry_span(element, entry);
        let label = format!("the {} `{}`", element.noun(), element.name());
        let label = (self.place(self.name_span(element)), label);
        let problem = self.report(kind, element, span, text);
        problem.labels.push(label);
        problem
    }
}

/// Returns true if an option is `features` of protobuf itself.
fn is_features(tree: &Tree, entry: &Entry) -> bool {
    matches!(entry.value, Value::Message(_)) && {
        let field = tree.field(entry.field);
        !field.is_extension() && field.name() == "features"
    }
}

fn is_limited(tree: &Tree, field: FieldId) -> bool {
    let field = tree.field(field);
    let values = |ty: Enum<'_>| ty.values().any(|it| find_support(tree, it.options()).is_some());
    find_support(tree, field.options()).is_some() || field.enum_type().is_some_and(values)
}

fn format_edition(number: i64) -> String {
    let number = i32::try_from(number).unwrap_or_default();
    Edition::from_number(number).unwrap_or(Edition::Unknown(number)).to_string()
}
