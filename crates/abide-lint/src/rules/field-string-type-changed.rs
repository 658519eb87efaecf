use abide_change::option::{self};
use abide_change::{Change, Comparison, Effects, OptionOwner, Surface};
use abide_schema::value::Entry;
use abide_schema::{Cardinality, Element, File, Scalar, Type};

use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "field-string-type-changed",
    summary: "a string or bytes field whose C++ type changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &["buf:FIELD_SAME_CPP_STRING_TYPE"],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("field-string-type-changed.md"),
    check: Check::Change(ChangeCheck::File(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<File<'t>>, sink: &mut Sink) {
    let Some(files) = change.both() else { return };
    let pairs = option::collect_pairs(diff, files.1, is_text).into_iter();
    let pairs = pairs.filter(|&(old, _)| is_text(old));
    let (same, other): (Vec<_>, Vec<_>) =
        pairs.partition(|&(old, new)| resolve_string_type(old) == resolve_string_type(new));
    for found in option::find_inherited(files, other, find_own_option, resolve_string_type) {
        let (was, is) = (&found.was, &found.is);
        let message = format!("C++ type of {} changed from `{was}` to `{is}`", found.phrase());
        let finding = sink.setting(&found.setting, message);
        finding.changed(was, is).breaks(Effects::backward(&[Surface::SourceCpp]));
        finding.why("the C++ accessors take and return a different type");
    }
    // buf takes the old name of `STRING` away without a word.
    let renamed = same
        .into_iter()
        .filter(|&(old, new)| (find_requested_type(old), find_requested_type(new)) != ALLOWED);
    for found in option::find_inherited(files, renamed, find_own_option, find_requested_type) {
        let (was, is) = (&found.was, &found.is);
        let message = format!("`{is}` is asked for {}, not `{was}`", found.phrase());
        let finding = sink.setting(&found.setting, message);
        finding.changed(was, is).why("the C++ type stays the same");
    }
}

/// The change that buf lets pass: see [`find_requested_type`].
const ALLOWED: (&str, &str) = ("STRING_PIECE", "STRING");

fn is_text(element: Element<'_>) -> bool {
    let Element::Field(field) = element else { return false };
    matches!(field.ty(), Type::Scalar(Scalar::String | Scalar::Bytes))
}

/// The type that is asked for a field in C++, whether or not it has any effect.
fn find_requested_type<'t>(element: Element<'t>) -> &'t str {
    let Element::Field(field) = element else { return "" };
    let holder = OptionOwner::Element(element);
    let ctype = holder.standard("ctype").and_then(|it| option::word(field.tree, it));
    let default = if option::is_since_2024(field.file()) { "VIEW" } else { "STRING" };
    ctype.or_else(|| holder.inherited_feature("pb.cpp", "string_type")).unwrap_or(default)
}

/// The type of a field in C++. `CORD` has an effect only on singular `bytes` fields, and
/// `STRING_PIECE` means `STRING`. Source: `FieldDescriptor::cpp_string_type`.
fn resolve_string_type<'t>(element: Element<'t>) -> &'t str {
    let Element::Field(field) = element else { return "" };
    let cord_holds = field.ty() == Type::Scalar(Scalar::Bytes)
        && field.cardinality() == Cardinality::Singular
        && !field.is_extension();
    match find_requested_type(element) {
        "CORD" if cord_holds => "CORD",
        "VIEW" => "VIEW",
        _ => "STRING",
    }
}

fn find_own_option(holder: OptionOwner<'_>) -> Option<&Entry> {
    holder.feature("pb.cpp", "string_type").or_else(|| holder.standard("ctype"))
}
