//! What work in progress is spared.

use abide_change::OptionOwner;
use abide_schema::{Element, FileId, Message, Part, Place, Tree};
use rustc_hash::FxHashMap;

use super::last_release::LastRelease;
use crate::exceptions::NestedSpans;
use crate::finding::{Bump, Finding, Severity};
use crate::policy::Policy;
use crate::rule::Context;
use crate::rules::find_rule_of;

/// Drops findings about work in progress of rules that spare it. A change of an
/// element that was work in progress stays as a note, unless the last release promised more.
pub(super) fn exempt_work_in_progress<'t>(
    context: &Context<'t>,
    mut release: Option<&mut LastRelease<'t>>,
    findings: &mut Vec<Finding>,
) {
    let spares = |finding: &Finding| {
        find_rule_of(context.policy, finding.rule).is_some_and(|rule| rule.spares_work_in_progress)
            && !context.policy.follows_any(&finding.aliases)
    };
    let (mut old_spans, mut spans) = (UnstableParts::default(), UnstableParts::default());
    let mut holders = Containers::default();
    let mut was_promised = |place| {
        let released = release.as_mut().and_then(|it| it.find(place));
        released.is_some_and(|it| is_promised(context.policy, it))
    };
    findings.retain_mut(|finding| {
        if let (Some(change), Some(old)) = (&mut finding.change, context.baseline) {
            let before = change.old.and_then(|it| it.old_place()).or_else(|| {
                let breaks = change.effects.breaks_backward();
                breaks.then(|| holders.before(context, finding.location.place()?)).flatten()
            });
            let is_free = |place| old_spans.contains(old, place) && !was_promised(place);
            if before.is_some_and(is_free) {
                finding.severity = Severity::Note;
                finding.severity_reason = Some("it was work in progress".to_owned());
                change.bump = change.bump.min(Bump::Minor);
            }
            return true;
        }
        match finding.location.place() {
            Some(place) if spares(finding) => !spans.contains(context.tree, place),
            _ => true,
        }
    });
}

/// Returns true if the last release promised that something stays as it is.
fn is_promised(policy: &Policy, released: OptionOwner<'_>) -> bool {
    let is_ready = match released {
        OptionOwner::File(file) => file.work_in_progress().is_none(),
        OptionOwner::Element(element) => element.work_in_progress().is_none(),
    };
    is_ready && policy.is_bound(released.file().package().name())
}

/// The places of work in progress by file, computed on first use.
#[derive(Default)]
struct UnstableParts(FxHashMap<FileId, NestedSpans<()>>);

impl UnstableParts {
    /// Returns true if a place lies in a file or an element that is work in progress.
    fn contains(&mut self, tree: &Tree, place: Place) -> bool {
        let file = tree.file(place.file);
        let spans = self.0.entry(place.file).or_insert_with(|| {
            let unready = file.elements().filter(|it| it.work_in_progress().is_some());
            let extent =
                |it: Element<'_>| file.decl().widen_to_comments(it.place(Part::Whole).span);
            NestedSpans::of(unready.map(|it| (extent(it), ())))
        });
        let extent = file.decl().widen_to_comments(place.span);
        file.work_in_progress().is_some() || spans.find_around(extent).next().is_some()
    }
}

/// The messages by file, computed on first use.
#[derive(Default)]
struct Containers<'t>(FxHashMap<FileId, NestedSpans<Message<'t>>>);

impl<'t> Containers<'t> {
    /// The old place of the message that something is added to.
    fn before(&mut self, context: &Context<'t>, added: Place) -> Option<Place> {
        let file = context.tree.file(added.file);
        let messages = self.0.entry(added.file).or_insert_with(|| {
            let extent = |it: Message<'t>| {
                file.decl().widen_to_comments(Element::Message(it).place(Part::Whole).span)
            };
            NestedSpans::of(file.all_messages().map(|it| (extent(it), it)))
        });
        let holder = messages.find_around(file.decl().widen_to_comments(added.span)).next()?;
        let before = context.diff()?.old_message(*holder)?;
        Some(Element::Message(before).place(Part::Whole))
    }
}
