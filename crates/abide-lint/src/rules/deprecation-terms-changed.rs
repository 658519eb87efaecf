use abide_change::{Change, Comparison, OptionOwner};
use abide_schema::{Element, Part, Place};

use crate::finding::{Location, Severity};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};
use crate::wording::backtick;

pub(super) static RULE: Rule = Rule {
    id: "deprecation-terms-changed",
    summary: "a deprecated element whose replacement, deprecation version or phase changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("deprecation-terms-changed.md"),
    check: Check::Change(ChangeCheck::Holder(check)),
};

/// The noun of the term that days are counted from.
const DAY: &str = "deprecation version";

fn check<'t>(
    context: &Context<'t>,
    _: &Comparison<'t>,
    change: Change<OptionOwner<'t>>,
    sink: &mut Sink,
) {
    let Some(holders) = change.both() else { return };
    let (OptionOwner::Element(old), OptionOwner::Element(new)) = holders else { return };
    // A deprecation that is new has a rule of its own.
    if old.deprecated().is_none() || new.deprecated().is_none() {
        return;
    }
    let phrase = holders.1.phrase();
    let mut report = |what: &str, was: Option<Place>, is: Option<Place>, message: String| {
        let is_earlier = what == DAY && is_earlier(context, old, new);
        let location = Location::tree(is.unwrap_or_else(|| new.place(Part::Name)));
        let before = was.unwrap_or_else(|| old.place(Part::Name));
        let package = old.package().name();
        let finding = sink.change_at(location, Some(before), package, new.full_name(), message);
        // Several terms of one element may change.
        finding.fact(what);
        // Each step would be allowed: to set an old day, and to remove what is deprecated for long.
        if is_earlier && context.policy.deprecation.counts_days(&context.policy.calendar) {
            finding.why("`[deprecation]` counts from that day when the element may be removed");
            finding.help("keep the day that users know").at_least(Severity::Error);
        }
    };
    type Term<'t> = Option<(&'t str, Place)>;
    let terms: [(&str, Term<'t>, Term<'t>); 2] = [
        (DAY, old.deprecated_since(), new.deprecated_since()),
        ("replacement", old.replaced_by(), new.replaced_by()),
    ];
    for (noun, was, is) in terms {
        let message = match (was.map(|it| it.0), is.map(|it| it.0)) {
            (was, is) if was == is => continue,
            (Some(was), Some(is)) => {
                format!(
                    "the {noun} of {phrase} changed from {was} to {is}",
                    was = backtick(was),
                    is = backtick(is)
                )
            }
            (_, Some(is)) => format!("{phrase} now has the {noun} {is}", is = backtick(is)),
            (was, None) => {
                format!("the {noun} `{}` of {phrase} was removed", was.unwrap_or_default())
            }
        };
        report(noun, was.map(|term| term.1), is.map(|term| term.1), message);
    }
    match (old.disallowed_by_default(), new.disallowed_by_default()) {
        (None, is @ Some(_)) => {
            report("disallowed", None, is, format!("{phrase} is now disallowed by default"));
        }
        (was @ Some(_), None) => {
            report("allowed", was, None, format!("{phrase} is no longer disallowed by default"));
        }
        _ => {}
    }
}

/// Returns true if an element counts as deprecated since an earlier day than anybody could know:
/// than the day that the old tree names, or where it names none, than the day of the old tree.
fn is_earlier<'t>(context: &Context<'t>, old: Element<'t>, new: Element<'t>) -> bool {
    let calendar = &context.policy.calendar;
    let known = match old.deprecated_since() {
        Some((since, _)) => calendar.day_of(since),
        None => context.baseline_day,
    };
    let claimed = new.deprecated_since().and_then(|(since, _)| calendar.day_of(since));
    known.zip(claimed).is_some_and(|(known, claimed)| claimed < known)
}
