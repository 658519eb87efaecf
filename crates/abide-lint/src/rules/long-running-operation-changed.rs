use abide_change::option::OptionSetting;
use abide_change::{
    Change, Comparison, Effects, OptionOwner, Surface, find_lost_result, resolve_operation_type,
};
use abide_schema::{Element, Message, Method};

use crate::finding::{Bump, Severity};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "long-running-operation-changed",
    summary: "a long-running operation whose response or metadata type changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("long-running-operation-changed.md"),
    check: Check::Change(ChangeCheck::Method(check)),
};

pub(super) const INFO: &str = "google.longrunning.operation_info";

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Method<'t>>, sink: &mut Sink) {
    let Some((old, new)) = change.both() else { return };
    let holders =
        (OptionOwner::Element(Element::Method(old)), OptionOwner::Element(Element::Method(new)));
    for (part, what) in [("response_type", "response"), ("metadata_type", "metadata")] {
        let setting = OptionSetting::of(holders, |it| it.part(INFO, part));
        let (before, after) =
            (resolve_operation_type(old, part), resolve_operation_type(new, part));
        let was = before.as_deref().and_then(|name| diff.old.message_named(name));
        let new_name = was.and_then(|was| diff.new_message(was)).map(Message::full_name);
        // A type that was renamed is reported at the type.
        if before == after || (after.is_some() && new_name == after) {
            continue;
        }
        let method = new.relative_name();
        let message = match (&before, &after) {
            (None, Some(is)) => format!("`{method}` now declares the {what} type `{is}`"),
            (Some(was), None) => format!("`{method}` no longer declares the {what} type `{was}`"),
            _ => format!(
                "{what} type of `{method}` changed from `{}` to `{}`",
                before.clone().unwrap_or_default(),
                after.clone().unwrap_or_default(),
            ),
        };
        // A part that was removed is reported at the annotation that had it.
        let place = setting.new.or_else(|| holders.1.custom(INFO));
        let finding = sink.setting(&OptionSetting { new: place, ..setting }, message);
        finding.fact(part).fact(before.clone().unwrap_or_default());
        finding.fact(after.clone().unwrap_or_default());
        finding.source_of_client(find_lost_result(old, new));
        if before.is_some() && after.is_some() {
            finding.breaks(Effects::both(&[Surface::TypeUrl]));
            finding.why("the operation carries a type that the other side does not unpack");
        } else if before.is_some() {
            finding.at_least(Severity::Warning).bump(Bump::Major);
            finding.why("generated clients can no longer unpack the operation");
        }
    }
}
