use abide_change::{Change, Comparison};
use abide_schema::Package;

use crate::checks::full_names;
use crate::finding::{Location, Severity, package_place};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "package-added",
    summary: "a package that was added",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("package-added.md"),
    check: Check::Change(ChangeCheck::Package(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Package<'t>>, sink: &mut Sink) {
    let Change::Added(new) = change else { return };
    let Some(place) = package_place(new) else { return };
    let files = new.files().filter(|it| it.is_judged());
    let come: Vec<_> = files.flat_map(|it| full_names::collect_added(diff, it)).collect();
    let message = format!("{} was added{}", full_names::titled(new), full_names::with(&come));
    let finding = sink.change_at(Location::tree(place), None, new.name(), new.name(), message);
    full_names::add_all_effects(finding, diff, come, Vec::new());
}
