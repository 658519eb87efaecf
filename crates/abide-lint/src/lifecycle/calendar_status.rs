//! The state of a tree in the calendar on a given day.

use abide_schema::{Element, Package, Place, Tree};
use jiff::civil::Date;

use super::package_stability::{PackageDays, apis, stable_major};
use crate::calendar::{PhaseFreeze, Phases, Window};
use crate::lock::Lock;
use crate::policy::Policy;

/// The state of a tree in the calendar on a given day: the next releases, what is
/// allowed today, and what happens next to old elements and majors. Empty if
/// nothing is configured.
#[derive(Clone, Debug)]
pub struct Status<'t> {
    /// The day.
    pub as_of: Date,
    /// The next release of clients.
    pub client_release: Option<Date>,
    /// The next release of the API.
    pub api_release: Option<Date>,
    /// The window for new majors that is open, or opens next.
    pub major_window: Option<Window>,
    /// The freeze of the phases of deprecations on the day.
    pub freeze: Option<PhaseFreeze>,
    /// The deprecations with a known day that somebody still serves, in the order
    /// of their next phase; those without one are last.
    pub deprecations: Vec<Deprecation<'t>>,
    /// The old majors whose end of support is known, sorted by it.
    pub retirements: Vec<Retirement<'t>>,
}

impl<'t> Status<'t> {
    /// Computes the status for the checked files of a tree, with the days that
    /// `abide.lock` records.
    pub fn of(
        tree: &'t Tree,
        policy: &'t Policy,
        lock: Option<&'t Lock>,
        as_of: Date,
    ) -> Status<'t> {
        let calendar = &policy.calendar;
        let days = PackageDays { calendar, lock };
        let apis = apis(tree);
        let mut retirements: Vec<Retirement<'t>> = apis
            .values()
            .flat_map(|versions| versions.iter().map(move |package| (*package, versions)))
            .filter(|(package, _)| package.is_judged())
            .filter_map(|(package, versions)| Retirement::of(package, versions, days))
            .collect();
        retirements.sort_by_key(|it| (it.end, it.package.name()));
        let end = |it: &Deprecation<'t>| {
            let package = it.element.package().id;
            let retired = retirements.iter().find(|it| it.package.id == package);
            let planned = calendar.life_end(it.phases.deprecated);
            // If no next major came, the one that ends this package is still to come.
            let is_late = planned.is_some_and(|end| end < as_of);
            let to_come = || calendar.life_end(as_of.yesterday().ok()?);
            let earliest = if is_late { to_come() } else { planned };
            retired.map(|it| it.end).or(earliest)
        };
        let elements = tree.files().filter(|file| file.is_judged()).flat_map(|it| it.elements());
        let mut deprecations: Vec<Deprecation<'t>> = elements
            .filter_map(|element| Deprecation::of(element, policy))
            .map(|it| Deprecation { served_until: end(&it), ..it })
            .filter(|it| it.served_until.is_none_or(|end| as_of <= end))
            .collect();
        deprecations.sort_by_cached_key(|it| {
            let next = it.phases.next(as_of).map(|(_, day)| day);
            (next.is_none(), next, it.served_until, it.element.full_name())
        });
        Status {
            as_of,
            client_release: calendar.client_releases.next(as_of),
            api_release: calendar.api_releases.next(as_of),
            major_window: calendar.major_window(as_of),
            freeze: policy.deprecation.freeze_on(as_of),
            deprecations,
            retirements,
        }
    }

    /// Returns true if a calendar is configured at all.
    pub fn is_configured(&self) -> bool {
        self.client_release.is_some() || self.api_release.is_some() || !self.retirements.is_empty()
    }

    /// Returns true if a new major may appear on the day; always true if no API releases
    /// are configured.
    pub fn major_may_rise(&self) -> bool {
        self.major_window.is_none_or(|window| window.contains(self.as_of))
    }
}

/// A deprecated element with a known day.
#[derive(Clone, Copy, Debug)]
pub struct Deprecation<'t> {
    /// The deprecated element.
    pub element: Element<'t>,
    /// Where it is marked as deprecated.
    pub place: Place,
    /// The days on which its phases begin.
    pub phases: Phases,
    /// True if only the next major version may remove it.
    pub waits_for_major: bool,
    /// The last day on which anybody serves it. Clients remove it earlier; the
    /// API only removes it in the next major.
    pub served_until: Option<Date>,
}

impl<'t> Deprecation<'t> {
    /// The deprecation of an element. `None` if the element itself is not
    /// deprecated, if its day is not known, and without client releases.
    pub fn of(element: Element<'t>, policy: &Policy) -> Option<Deprecation<'t>> {
        // Without client releases, no option needs to be read.
        if !policy.calendar.client_releases.is_set() {
            return None;
        }
        let place = element.deprecated()?;
        let since = policy.calendar.day_of(element.deprecated_since()?.0)?;
        let phases = policy.phases(element, since)?;
        let waits_for_major = policy.waits_for_major(element);
        let served_until = policy.calendar.life_end(since);
        Some(Deprecation { element, place, phases, waits_for_major, served_until })
    }
}

/// The end of an old stable major.
#[derive(Clone, Copy, Debug)]
pub struct Retirement<'t> {
    /// The old major.
    pub package: Package<'t>,
    /// The stable major that ends it.
    pub successor: Package<'t>,
    /// The day since which the successor is stable.
    pub since: Date,
    /// The last day on which the old one is supported.
    pub end: Date,
}

impl<'t> Retirement<'t> {
    /// The end of a package, given the versions of its API in order. `None` if
    /// the package is not stable, if no later major has a known day, and if the
    /// calendar does not limit the support.
    pub(crate) fn of(
        package: Package<'t>,
        versions: &[Package<'t>],
        days: PackageDays<'_>,
    ) -> Option<Retirement<'t>> {
        let major = stable_major(package)?;
        let later = versions.iter().filter(|it| stable_major(**it).is_some_and(|it| it > major));
        let ends = later.filter_map(|&successor| {
            let since = days.introduced(successor)?;
            let end = days.calendar.support_end(since)?;
            Some(Retirement { package, successor, since, end })
        });
        ends.min_by_key(|it| it.end)
    }
}
