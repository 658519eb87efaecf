use abide_change::{Change, Comparison, OptionOwner};
use abide_schema::Part;

use crate::calendar::parse_date;
use crate::finding::{Location, Severity};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};
use crate::wording::backtick;

pub(super) static RULE: Rule = Rule {
    id: "deprecation-backdated",
    summary: "a deprecation that claims to be older than the old tree, which does not have it",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("deprecation-backdated.md"),
    check: Check::Change(ChangeCheck::Holder(check)),
};

fn check<'t>(
    context: &Context<'t>,
    _: &Comparison<'t>,
    change: Change<OptionOwner<'t>>,
    sink: &mut Sink,
) {
    let Some((OptionOwner::Element(old), OptionOwner::Element(new))) = change.both() else {
        return;
    };
    let policy = context.policy;
    let Some(shown) = context.baseline_day.filter(|_| old.deprecated().is_none()) else { return };
    // On the day of the check nobody knows of a later one.
    let shown = shown.min(context.as_of);
    let Some((text, place)) = new.deprecated_since().filter(|_| new.deprecated().is_some()) else {
        return;
    };
    // A day that the calendar does not take, such as one of the first century, is as old.
    let claimed = policy.calendar.day_of(text).or_else(|| parse_date(text));
    if claimed.is_none_or(|claimed| claimed >= shown) {
        return;
    }
    let message = format!(
        "{} is deprecated since {}, but was not on {shown}",
        OptionOwner::Element(new).phrase(),
        backtick(text)
    );
    let before = Some(old.place(Part::Name));
    let package = old.package().name();
    let finding = sink.change_at(Location::tree(place), before, package, new.full_name(), message);
    finding
        .why("the old tree is of that day, and the element is not deprecated in it")
        .help("set `deprecated_at` to the day on which this is merged, or to the next version")
        .fact(text);
    finding.at_least(match policy.deprecation.counts_days(&policy.calendar) {
        true => Severity::Error,
        false => Severity::Warning,
    });
}
