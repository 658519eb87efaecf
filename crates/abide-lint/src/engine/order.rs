//! The order of findings.

use crate::finding::Finding;
use crate::inputs::{OldTree, find_old_file};
use crate::rule::Context;

/// Sorts findings by path, place, rule and then everything else. Findings outside
/// the tree come last.
pub(super) fn sort(context: &Context<'_>, older: &[OldTree], findings: &mut [Finding]) {
    findings.sort_by(|a, b| {
        let path = |finding: &Finding| {
            let (file, place) = match finding.location.place() {
                Some(place) => (context.tree.file(place.file), place),
                None => {
                    let place = finding.location.old_place()?;
                    (find_old_file(context.baseline, older, place.file)?, place)
                }
            };
            Some((&*file.decl().display, place))
        };
        let (at_a, at_b) = (path(a), path(b));
        // `None` sorts before `Some`, but the tree must come first.
        at_b.is_some()
            .cmp(&at_a.is_some())
            .then_with(|| at_a.cmp(&at_b))
            .then_with(|| a.location.cmp(&b.location))
            .then_with(|| a.rule.cmp(b.rule))
            .then_with(|| a.element.cmp(&b.element))
            .then_with(|| a.facts.cmp(&b.facts))
            .then_with(|| a.message.cmp(&b.message))
    });
}
