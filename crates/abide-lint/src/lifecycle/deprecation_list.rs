//! Every deprecated element of a tree, with what the policy knows of its life:
//! the content of `DEPRECATED.md`.

use std::collections::BTreeMap;

use abide_change::OptionOwner;
use abide_schema::{Element, Place, Tree};
use jiff::civil::Date;

use super::calendar_status::{Deprecation, Status};
use super::package_stability::is_placeholder;
use super::replacement_words::replacement_sentence;
use crate::calendar::{Phases, Replacement};
use crate::finding::ElementUser;
use crate::policy::Policy;

/// The deprecated elements of the checked files of a tree.
#[derive(Clone, Debug)]
pub struct DeprecationList<'t> {
    /// They, by package and name. Nothing here depends on today.
    pub entries: Vec<Deprecated<'t>>,
    /// True if clients have releases, in which phases are counted.
    pub has_phases: bool,
}

/// A deprecated element or file.
#[derive(Clone, Debug)]
pub struct Deprecated<'t> {
    /// The element or the file.
    pub holder: OptionOwner<'t>,
    /// Where it is marked as deprecated.
    pub place: Place,
    /// Since when, as it is annotated: a version or a day.
    pub since: Option<&'t str>,
    /// The day since when.
    pub day: Option<Date>,
    /// What its annotation names as its replacement: a full name, or a name in
    /// the same package.
    pub replaced_by: Option<String>,
    /// What its comment says about a replacement, if no annotation names one.
    pub advice: Option<String>,
    /// What the policy says about its replacement.
    pub replacement: Replacement,
    /// The days on which its phases begin.
    pub phases: Option<Phases>,
    /// True if only the next major version may remove it.
    pub waits_for_major: bool,
    /// The last day on which anybody serves it, as far as it is known.
    pub served_until: Option<Date>,
    /// True if that day is known for sure: the major that ends it exists.
    /// Otherwise it is the earliest day.
    pub is_retired: bool,
    /// The clients that still use it, as far as `[usage] files` says.
    pub users: Vec<ElementUser>,
}

/// Why the days of a deprecation are not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown<'t> {
    /// Nothing says since when it is deprecated.
    Since,
    /// The day of the version that deprecated it is not recorded.
    DayOf(&'t str),
}

impl<'t> DeprecationList<'t> {
    /// Lists them, with the ends of old majors from the status of the tree.
    pub fn of(tree: &'t Tree, policy: &Policy, status: &Status<'t>) -> DeprecationList<'t> {
        let files = tree.files().filter(|file| file.is_judged());
        let holders = files.flat_map(|file| {
            let elements = file.elements().filter(|it| !is_placeholder(*it));
            std::iter::once(OptionOwner::File(file)).chain(elements.map(OptionOwner::Element))
        });
        let ends: BTreeMap<&str, Date> =
            status.retirements.iter().map(|it| (it.package.name(), it.end)).collect();
        let mut entries: Vec<Deprecated<'t>> = holders
            .filter_map(|holder| {
                let retired = ends.get(holder.file().package().name()).copied();
                Deprecated::of(holder, policy, retired)
            })
            .collect();
        entries.sort_by_cached_key(|it| (it.package(), it.holder.full_name()));
        DeprecationList { entries, has_phases: policy.calendar.client_releases.is_set() }
    }

    /// Adds the clients that use each of them, of those that `find_users` knows by full name.
    pub fn add_users(&mut self, find_users: impl Fn(&str) -> Vec<ElementUser>) {
        for entry in &mut self.entries {
            entry.users = find_users(&entry.holder.full_name());
        }
    }

    /// The entries by package.
    pub fn by_package(&self) -> BTreeMap<&'t str, Vec<&Deprecated<'t>>> {
        let mut packages: BTreeMap<&str, Vec<&Deprecated<'t>>> = BTreeMap::new();
        for entry in &self.entries {
            packages.entry(entry.package()).or_default().push(entry);
        }
        packages
    }
}

impl<'t> Deprecated<'t> {
    fn of(
        holder: OptionOwner<'t>,
        policy: &Policy,
        retired: Option<Date>,
    ) -> Option<Deprecated<'t>> {
        let element = match holder {
            OptionOwner::Element(element) => Some(element),
            OptionOwner::File(_) => None,
        };
        let place = match holder {
            OptionOwner::Element(element) => element.deprecated()?,
            OptionOwner::File(file) => file.deprecated()?,
        };
        let calendar = &policy.calendar;
        let since = element.and_then(|it| Some(it.deprecated_since()?.0));
        let day = since.and_then(|text| calendar.day_of(text));
        let deprecation = element.and_then(|it| Deprecation::of(it, policy));
        let gone = day.and_then(|day| calendar.life_end(day));
        let replaced_by = element.and_then(named_replacement);
        let lost = || {
            let (reason, _) = element?.lossy()?;
            Some(format!("nothing replaces it: {reason}"))
        };
        let advice = || replacement_sentence(holder).or_else(lost);
        let advice = replaced_by.is_none().then(advice).flatten();
        Some(Deprecated {
            holder,
            place,
            since,
            day,
            replaced_by,
            advice,
            replacement: policy.deprecation.replacement(&holder.full_name()),
            phases: deprecation.map(|it| it.phases),
            waits_for_major: element.is_some_and(|it| policy.waits_for_major(it)),
            served_until: retired.or(gone),
            is_retired: retired.is_some(),
            users: Vec::new(),
        })
    }

    /// The name of its package.
    pub fn package(&self) -> &'t str {
        self.holder.file().package().name()
    }

    /// Returns why its days are not known; `None` if they are. Nothing can say since when
    /// a file is deprecated.
    pub fn unknown(&self) -> Option<Unknown<'t>> {
        match (self.day, self.since, self.holder) {
            (Some(_), ..) | (None, None, OptionOwner::File(_)) => None,
            (None, Some(text), _) => Some(Unknown::DayOf(text)),
            (None, None, OptionOwner::Element(_)) => Some(Unknown::Since),
        }
    }
}

/// The full name of what `replaced_by` names; as it is written if nothing has
/// that name.
fn named_replacement(element: Element<'_>) -> Option<String> {
    let (written, _) = element.replaced_by()?;
    Some(element.replacement().map_or_else(|| written.to_owned(), Element::full_name))
}
