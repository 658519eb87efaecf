use abide_change::{Change, Comparison, Effects, Surface, collect_first_names};
use abide_schema::{Element, Enum, Part};

use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "enum-primary-name-changed",
    summary: "an enum number whose printed name changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("enum-primary-name-changed.md"),
    check: Check::Change(ChangeCheck::Enum(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Enum<'t>>, sink: &mut Sink) {
    let Change::Both { old, new } = change else { return };
    let (before, after) = (collect_first_names(old), collect_first_names(new));
    for was in old.values() {
        let number = was.number();
        let first = before.get(&number) == Some(&was.name());
        let Some(&name) = after.get(&number).filter(|&&name| first && name != was.name()) else {
            continue;
        };
        let is = new.values_numbered(number).find(|value| value.name() == name);
        let stays = new.values_numbered(number).find(|value| value.name() == was.name());
        // The rules about removed and renamed values report a name that is gone.
        let (Some(is), Some(stays)) = (is, stays) else { continue };
        let message = format!(
            "number {number} of enum `{}` is now printed as `{name}` instead of `{}`",
            new.relative_name(),
            was.name()
        );
        let pair = Change::Both { old: Element::EnumValue(was), new: Element::EnumValue(is) };
        let finding = sink.change(diff, pair, Part::Name, message);
        finding.changed(was.name(), name);
        finding.proven(diff.prover().prove_printed_name(old, new, number));
        if diff.is_for_others(old) {
            finding.breaks(Effects::both(&[Surface::Json, Surface::Text]));
        }
        // Code is written against the old name, which is an alias now.
        let alias = Change::Both { old: Element::EnumValue(was), new: Element::EnumValue(stays) };
        finding.source(diff, alias);
        finding.help(format!("declare `{}` before `{name}`", was.name()));
    }
}
