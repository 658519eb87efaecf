use abide_change::option::{self, OptionSetting};
use abide_change::{Change, Comparison, Effects, OptionOwner, Surface};
use abide_schema::{Element, Field};

use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "resource-reference-changed",
    summary: "a field whose `google.api.resource_reference` changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("resource-reference-changed.md"),
    check: Check::Change(ChangeCheck::Field(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Field<'t>>, sink: &mut Sink) {
    const REFERENCE: &str = "google.api.resource_reference";
    let Some(holders) = option::elements(change, Element::Field) else { return };
    let field = holders.1.phrase();
    let setting = OptionSetting::of(holders, |it| it.custom(REFERENCE));
    let (was, is) = (describe_reference(holders.0), describe_reference(holders.1));
    if was == is {
        return;
    }
    let finding = match (&was[..], &is[..]) {
        ("", is) => sink.setting(&setting, format!("{field} now refers to {is}")),
        (was, "") => sink.setting(&setting, format!("{field} no longer refers to {was}")),
        (was, is) => {
            let message = format!("{field} now refers to {is} instead of {was}");
            let finding = sink.setting(&setting, message);
            finding.breaks(Effects::both(&[Surface::Validation]));
            finding.why("names of one resource are refused where the other is expected")
        }
    };
    finding.changed(was, is);
    let resource = change.old().and_then(Field::resource_reference);
    finding.source_of_client(resource.and_then(|(it, _)| diff.find_lost_path_helper(it)));
}

/// The resource in words; empty if there is no reference.
fn describe_reference(holder: OptionOwner<'_>) -> String {
    match ["type", "child_type"].map(|part| read_type(holder, part)).into() {
        (Some(kind), _) => format!("`{kind}`"),
        (None, Some(child)) => format!("parents of `{child}`"),
        (None, None) => String::new(),
    }
}

fn read_type<'t>(holder: OptionOwner<'t>, part: &str) -> Option<&'t str> {
    let entry = holder.part("google.api.resource_reference", part)?;
    entry.value.as_str().filter(|it| !it.is_empty())
}
