use abide_change::option::{self};
use abide_change::{Change, Diff, Effects, Holder, Surface};
use abide_schema::{Element, Field, Part};

use crate::finding::Severity;
use crate::location::Location;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "field-behavior-changed",
    summary: "a field whose `google.api.field_behavior` changed",
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
    // Nobody relies on the fields of a new message.
    let known = new.containing_message().is_some_and(|it| diff.old_message(it).is_some());
    let old = change.old();
    if !known {
        return;
    }
    let holder = Holder::Element(Element::Field(new));
    let name = new.relative_name();
    let before: Vec<&str> = old.iter().flat_map(|it| it.behaviors()).map(|it| it.0).collect();
    let after: Vec<&str> = new.behaviors().map(|it| it.0).collect();
    let each = holder.each_custom(BEHAVIOR);
    // Clients that could not write the field before lose nothing.
    let fixed = before.iter().any(|it| matches!(*it, "OUTPUT_ONLY" | "IMMUTABLE" | "IDENTIFIER"));
    let mut report = |behavior: &str, added: bool| {
        let entry = each.iter().copied().find(|it| option::word(new.tree, it) == Some(behavior));
        let message = match (added, old) {
            (true, Some(_)) => format!("field `{name}` is now `{behavior}`"),
            (true, None) => format!("new field `{name}` is `{behavior}`"),
            (false, _) => format!("field `{name}` is no longer `{behavior}`"),
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
                finding.breaks(Effects::backward(&[Surface::Validation])).light();
                finding.why("the service refuses requests from old clients, which do not set it");
            }
            ("REQUIRED", false) => {
                finding.breaks(Effects::forward(&[Surface::Validation]));
            }
            ("OUTPUT_ONLY", true) => {
                finding.at_least(Severity::Warning);
                finding.why("the service ignores what clients send in it");
            }
            ("IMMUTABLE" | "IDENTIFIER", true) if !fixed => {
                finding.at_least(Severity::Warning);
                finding.why("the service refuses updates that change it");
            }
            ("INPUT_ONLY", true) => {
                finding.at_least(Severity::Warning);
                finding.why("clients no longer receive it");
            }
            _ => {}
        }
    };
    for behavior in before.iter().filter(|it| !after.contains(it)) {
        report(behavior, false);
    }
    // A new field changes nothing for old clients unless they must set it.
    let said = |behavior: &str| old.is_some() || behavior == "REQUIRED";
    for behavior in after.iter().filter(|it| !before.contains(it) && said(it)) {
        report(behavior, true);
    }
}
