//! What the last release promised of elements of the old tree, where both are known.

use std::cell::OnceCell;

use abide_change::{Diff, OptionOwner};
use abide_schema::{Place, Tree};

use super::old_elements::OldElements;
use crate::finding::Finding;
use crate::lifecycle::deprecation;
use crate::rule::Context;

/// The last release beside the old tree of a comparison.
pub(super) struct LastRelease<'t> {
    old: &'t Tree,
    released: &'t Tree,
    diff: OnceCell<Diff<'t>>,
    elements: OldElements<'t>,
}

impl<'t> LastRelease<'t> {
    pub(super) fn of(old: &'t Tree, released: &'t Tree) -> LastRelease<'t> {
        LastRelease { old, released, diff: OnceCell::new(), elements: OldElements::of(old) }
    }

    /// Returns what the release had of the innermost element of the old tree around a place, or of
    /// its file; `None` if it had nothing of it.
    pub(super) fn find(&mut self, place: Place) -> Option<OptionOwner<'t>> {
        let diff = self.diff.get_or_init(|| Diff::of(self.released, self.old));
        match self.elements.at(place) {
            Some(element) => diff.old_element(element).map(OptionOwner::Element),
            None => diff.old_file(self.old.file(place.file)).map(OptionOwner::File),
        }
    }

    /// Counts a deprecation only as far as the release had it: its users could not know of another
    /// one, and the day that the release names counts if it is later.
    pub(super) fn limit_deprecations(&mut self, context: &Context<'_>, findings: &mut [Finding]) {
        let calendar = &context.policy.calendar;
        for change in findings.iter_mut().filter_map(|it| it.change.as_mut()) {
            let place = change.old.and_then(|it| it.old_place());
            let Some((gone, place)) = change.gone.as_mut().filter(|it| it.deprecated).zip(place)
            else {
                continue;
            };
            let Some(OptionOwner::Element(released)) = self.find(place) else { continue };
            let (deprecated, since) = deprecation(released);
            gone.deprecated = deprecated;
            let day = |text: &Option<String>| calendar.day_of(text.as_deref()?);
            if day(&since) > day(&gone.deprecated_at) {
                gone.deprecated_at = since;
            }
        }
    }
}
