//! The order of findings.

use crate::finding::Finding;
use crate::rule::Context;

/// Sorts findings by path, place, rule and then everything else. Findings outside
/// the tree come last.
pub(super) fn sort(context: &Context<'_>, findings: &mut [Finding]) {
    findings.sort_by(|a, b| {
        let path = |finding: &Finding| {
            let (tree, place) = match finding.location.place() {
                Some(place) => (context.tree, place),
                None => (context.baseline?, finding.location.old_place()?),
            };
            Some((&*tree.file(place.file).decl().display, place))
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
