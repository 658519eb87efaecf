use abide_change::option::{self};
use abide_change::{Change, Comparison, Effects, OptionOwner, Surface};
use abide_schema::value::{Entry, Value};
use abide_schema::{Element, File, Scalar, Type};

use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "java-utf8-validation-changed",
    summary: "a string field whose UTF-8 validation in Java changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &["buf:FIELD_SAME_JAVA_UTF8_VALIDATION"],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("java-utf8-validation-changed.md"),
    check: Check::Change(ChangeCheck::File(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<File<'t>>, sink: &mut Sink) {
    let Some(files) = change.both() else { return };
    // `field-utf8-validation-changed` reports what changed for all languages.
    let pairs =
        option::collect_pairs(diff, files.1, is_string).into_iter().filter(|&(old, new)| {
            is_string(old) && is_checked_everywhere(old) == is_checked_everywhere(new)
        });
    for found in option::find_inherited(files, pairs, find_own_option, resolve_check) {
        let checks = if found.is == "checked" { "now checks" } else { "no longer checks" };
        let message = format!("Java {checks} {} for valid UTF-8", found.phrase());
        let finding = sink.setting(&found.setting, message);
        finding.fact(&found.is);
        if found.is == "checked" {
            finding.breaks(Effects::backward(&[Surface::SourceJava]));
            finding.why("generated Java rejects messages that it accepted before");
        } else {
            finding.breaks(Effects::forward(&[Surface::SourceJava]));
        }
    }
}

fn is_string(element: Element<'_>) -> bool {
    matches!(element, Element::Field(field) if field.ty() == Type::Scalar(Scalar::String))
}

fn is_checked_everywhere(element: Element<'_>) -> bool {
    matches!(element, Element::Field(field) if field.features().utf8_validated)
}

fn resolve_check<'t>(element: Element<'t>) -> &'t str {
    let own = OptionOwner::Element(element).inherited_feature("pb.java", "utf8_validation");
    let file = OptionOwner::File(element.file()).standard("java_string_check_utf8");
    let is_checked = is_checked_everywhere(element)
        || own == Some("VERIFY")
        || file.is_some_and(|it| it.value == Value::Bool(true));
    if is_checked { "checked" } else { "not checked" }
}

fn find_own_option(holder: OptionOwner<'_>) -> Option<&Entry> {
    let feature = holder.feature("pb.java", "utf8_validation");
    feature.or_else(|| match holder {
        OptionOwner::File(_) => holder.standard("java_string_check_utf8"),
        OptionOwner::Element(_) => None,
    })
}
