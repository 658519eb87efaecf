use abide_change::{Change, Comparison, Effects, Surface};
use abide_schema::Field;

use crate::checks::field_behaviors;
use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "field-behavior-changed",
    summary: "a field whose `google.api.field_behavior` changed in a way that AIP-203 lists as incompatible",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[&["google:FIELD_BEHAVIOR_CHANGE", "google:NEW_REQUIRED_FIELD"]],
    spares_work_in_progress: true,
    page: include_str!("field-behavior-changed.md"),
    check: Check::Change(ChangeCheck::Field(check)),
};

fn check<'t>(
    context: &Context<'t>,
    diff: &Comparison<'t>,
    change: Change<Field<'t>>,
    sink: &mut Sink,
) {
    field_behaviors::report(context, diff, change, sink, true, |finding, behavior, is_added, _| {
        match (behavior, is_added) {
            ("REQUIRED", _) => {
                let alias = match change.old() {
                    Some(_) => "google:FIELD_BEHAVIOR_CHANGE",
                    None => "google:NEW_REQUIRED_FIELD",
                };
                finding.aliases(&[alias]);
                finding.breaks(Effects::backward(&[Surface::Validation])).light();
                finding.why("the service refuses requests from old clients, which do not set it");
            }
            ("OUTPUT_ONLY", true) => {
                finding.at_least(Severity::Warning);
                finding.why("the service ignores what clients send in it");
            }
            ("IMMUTABLE", _) => {
                finding.at_least(Severity::Warning);
                finding.why("the service refuses updates that change it");
            }
            ("INPUT_ONLY", _) => {
                finding.at_least(Severity::Warning);
                finding.why("clients no longer receive it");
            }
            ("OUTPUT_ONLY", false) => {
                finding.why("the service no longer ignores what clients send in it");
            }
            _ => {}
        }
    });
}
