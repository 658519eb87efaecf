use abide_change::option::{self};
use abide_change::{Change, Diff, Effects, Holder, Surface};
use abide_schema::{Element, Field, Part};

use crate::finding::Severity;
use crate::location::Location;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "field-behavior-changed",
    summary: "a field that a service treats in another way",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[&["google:FIELD_BEHAVIOR_CHANGE", "google:NEW_REQUIRED_FIELD"]],
    spares_work_in_progress: true,
    page: include_str!("field-behavior-changed.md"),
    check: Check::Change(ChangeCheck::Field(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Diff<'t>, change: Change<Field<'t>>, sink: &mut Sink) {
    const BEHAVIOR: &str = "google.api.field_behavior";
    let Some(new) = change.new() else { return };
    // A field of a new message surprises nobody.
    let known = new.containing_message().is_some_and(|it| diff.old_message(it).is_some());
    let old = change.old();
    if !known {
        return;
    }
    let holder = Holder::Element(Element::Field(new));
    let before: Vec<&str> = old.iter().flat_map(|it| it.behaviors()).map(|it| it.0).collect();
    let after: Vec<&str> = new.behaviors().map(|it| it.0).collect();
    let each = holder.each_custom(BEHAVIOR);
    // Who could not write it before loses nothing.
    let fixed = before.iter().any(|it| matches!(*it, "OUTPUT_ONLY" | "IMMUTABLE" | "IDENTIFIER"));
    let mut report = |behavior: &str, added: bool| {
        let entry = each.iter().copied().find(|it| option::word(new.tree, it) == Some(behavior));
        let message = match (added, old) {
            (true, Some(_)) => format!("field `{}` is `{behavior}` now", new.name()),
            (true, None) => format!("the new field `{}` is `{behavior}`", new.name()),
            (false, _) => format!("field `{}` is not `{behavior}` any more", new.name()),
        };
        let location = Location::tree(holder.place(entry));
        let old_place = old.map(|it| it.place(Part::Whole));
        let package = new.package().name();
        let finding = sink.change_at(location, old_place, package, new.full_name(), message);
        finding.fact(behavior).fact(if added { "added" } else { "removed" });
        match (behavior, added) {
            ("REQUIRED", true) => {
                let alias = if old.is_some() {
                    "google:FIELD_BEHAVIOR_CHANGE"
                } else {
                    "google:NEW_REQUIRED_FIELD"
                };
                finding.aliases(&[alias]);
                finding.breaks(Effects::backward(&[Surface::Validation]));
                finding.why("requests of old clients, which do not set it, are refused");
            }
            ("REQUIRED", false) => {
                finding.breaks(Effects::forward(&[Surface::Validation]));
            }
            ("OUTPUT_ONLY", true) => {
                finding.at_least(Severity::Warning);
                finding.why("what clients send in it is ignored");
            }
            ("IMMUTABLE" | "IDENTIFIER", true) if !fixed => {
                finding.at_least(Severity::Warning);
                finding.why("updates that change it are refused");
            }
            ("INPUT_ONLY", true) => {
                finding.at_least(Severity::Warning);
                finding.why("clients do not receive it any more");
            }
            _ => {}
        }
    };
    for behavior in before.iter().filter(|it| !after.contains(it)) {
        report(behavior, false);
    }
    // A new field has been what it is from the begin, but for those who call.
    let said = |behavior: &str| old.is_some() || behavior == "REQUIRED";
    for behavior in after.iter().filter(|it| !before.contains(it) && said(it)) {
        report(behavior, true);
    }
}
