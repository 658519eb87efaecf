use abide_change::{Change, Comparison, OptionOwner};
use abide_schema::{Part, Place};

use crate::finding::{Bump, Location, Severity, package_name};
use crate::lifecycle::is_frozen;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "promise-withdrawn",
    summary: "a released element that became work in progress, or a package that is no longer frozen",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("promise-withdrawn.md"),
    check: Check::Change(ChangeCheck::Holder(check)),
};

fn check<'t>(
    context: &Context<'t>,
    diff: &Comparison<'t>,
    change: Change<OptionOwner<'t>>,
    sink: &mut Sink,
) {
    let Some((old, new)) = change.both() else { return };
    let package = old.file().package();
    if !context.policy.is_bound(package.name()) {
        return;
    }
    let mut withdraw = |place: Place, message: String, why: &str, help: &str, fact: &str| {
        let (before, name) = (find_name(old), new.full_name());
        let location = Location::tree(place);
        let finding = sink.change_at(location, Some(before), package.name(), name, message);
        finding.why(why).help(help).fact(fact);
        // It breaks nobody today, and lets any later change pass.
        finding.at_least(Severity::Error).bump(Bump::Major);
    };
    if let (None, Some(place)) = (find_work_in_progress(old), find_work_in_progress(new))
        && !is_told_above(diff, new)
    {
        withdraw(
            place,
            format!("{} became work in progress", new.phrase()),
            "its users were promised stability, and work in progress may change in any way",
            "remove the mark; what is to go can be deprecated",
            "work in progress",
        );
    }
    if let (OptionOwner::File(old), OptionOwner::File(new)) = (old, new) {
        let is_changed = old.package_version_status().map(|it| it.0)
            != new.package_version_status().map(|it| it.0);
        if is_changed && is_frozen(package) && !context.is_frozen(new.package()) {
            let status = new.package_version_status().map(|it| it.1);
            withdraw(
                status.unwrap_or_else(|| package_name(new)),
                format!("package `{}` is no longer frozen", new.package().name()),
                "users of a frozen package rely on it never changing",
                "set `package_version_status` back to frozen",
                "frozen",
            );
        }
    }
}

fn find_work_in_progress(holder: OptionOwner<'_>) -> Option<Place> {
    match holder {
        OptionOwner::File(file) => file.work_in_progress(),
        OptionOwner::Element(element) => element.work_in_progress(),
    }
}

fn find_name(holder: OptionOwner<'_>) -> Place {
    match holder {
        OptionOwner::File(file) => package_name(file),
        OptionOwner::Element(element) => element.place(Part::Name),
    }
}

/// Returns true if what encloses an element became work in progress, too.
fn is_told_above<'t>(diff: &Comparison<'t>, new: OptionOwner<'t>) -> bool {
    let OptionOwner::Element(element) = new else { return false };
    let (old, around) = match element.parent() {
        Some(parent) => {
            (diff.old_element(parent).map(OptionOwner::Element), OptionOwner::Element(parent))
        }
        None => {
            let file = element.file();
            (diff.old_file(file).map(OptionOwner::File), OptionOwner::File(file))
        }
    };
    old.is_some_and(|it| find_work_in_progress(it).is_none())
        && find_work_in_progress(around).is_some()
}
