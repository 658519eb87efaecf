use abide_change::option::{self, OptionSetting};
use abide_change::{Change, Comparison, Effects, OptionOwner, Surface};
use abide_schema::value::Entry;
use abide_schema::{Element, Field};

use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "field-format-changed",
    summary: "a field whose `google.api.field_info` format changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("field-format-changed.md"),
    check: Check::Change(ChangeCheck::Field(check)),
};

fn check<'t>(_: &Context<'t>, _: &Comparison<'t>, change: Change<Field<'t>>, sink: &mut Sink) {
    let Some(holders) = option::elements(change, Element::Field) else { return };
    let setting = OptionSetting::of(holders, |it| it.part("google.api.field_info", "format"));
    let (was, is) = (format_of(setting.old, holders.0), format_of(setting.new, holders.1));
    if was == is {
        return;
    }
    let field = holders.1.phrase();
    let message = match (was, is) {
        (None, Some(is)) => format!("{field} now has the format `{is}`"),
        (Some(was), None) => format!("{field} no longer has the format `{was}`"),
        (was, is) => {
            let (was, is) = (was.unwrap_or_default(), is.unwrap_or_default());
            format!("format of {field} changed from `{was}` to `{is}`")
        }
    };
    let finding = sink.setting(&setting, message);
    finding.changed(was.unwrap_or_default(), is.unwrap_or_default());
    // A service ignores what clients send in a field that it alone writes.
    let is_input = change.new().is_none_or(|new| new.behaviors().all(|it| it.0 != "OUTPUT_ONLY"));
    if is_input && !accepts_all_of(is, was) {
        finding.breaks(Effects::backward(&[Surface::Validation]));
        finding.why("values that were valid before are refused");
    }
    if !accepts_all_of(was, is) {
        finding.breaks(Effects::forward(&[Surface::Validation]));
    }
}

fn format_of<'t>(entry: Option<&Entry>, holder: OptionOwner<'t>) -> Option<&'t str> {
    let name = option::word(holder.file().tree, entry?)?;
    (name != "FORMAT_UNSPECIFIED").then_some(name)
}

/// Returns true if every value of the narrow format is valid in the wide one. Without a format
/// every value is valid.
fn accepts_all_of(wide: Option<&str>, narrow: Option<&str>) -> bool {
    match (wide, narrow) {
        (None, _) => true,
        (Some("IPV4_OR_IPV6"), Some("IPV4" | "IPV6")) => true,
        (Some(wide), Some(narrow)) => wide == narrow,
        (Some(_), None) => false,
    }
}
