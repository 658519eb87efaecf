use abide_change::{Change, Comparison, Effects, Surface};
use abide_schema::Field;

use crate::checks::field_behaviors;
use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "field-behavior-refined",
    summary: "a field whose `google.api.field_behavior` changed in a way that old clients can live with",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("field-behavior-refined.md"),
    check: Check::Change(ChangeCheck::Field(check)),
};

fn check<'t>(
    context: &Context<'t>,
    diff: &Comparison<'t>,
    change: Change<Field<'t>>,
    sink: &mut Sink,
) {
    field_behaviors::report(
        context,
        diff,
        change,
        sink,
        false,
        |finding, behavior, is_added, before| {
            let was_fixed = before.iter().any(|it| matches!(*it, "OUTPUT_ONLY" | "IMMUTABLE"));
            match (behavior, is_added) {
                ("REQUIRED", _) => {
                    finding.breaks(Effects::forward(&[Surface::Validation]));
                }
                ("IDENTIFIER", _) if !was_fixed => {
                    finding.at_least(Severity::Warning);
                    finding.why("the service refuses updates that change it");
                }
                _ => {}
            }
        },
    );
}
