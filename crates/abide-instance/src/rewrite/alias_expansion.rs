//! Aliases of YAML whose values differ now: they are written out.

use std::collections::{BTreeMap, BTreeSet};

use abide_schema::value::{JsonKind, JsonNode};
use abide_syntax::Span;

use super::anchors::AnchorNames;
use super::edit_plan::{EditPlan, PlannedMember, plan_from_json};
use super::nodes::NodeIndex;

/// Expands the aliases of a document whose values change.
#[derive(Default)]
pub(super) struct ExpandedAliases {
    /// Aliases that are written out, and the value that they repeat.
    pub(super) written_out: BTreeMap<Span, Span>,
}

struct AliasExpansion<'a, 'n> {
    nodes: &'a NodeIndex<'n>,
    anchors: &'a AnchorNames,
    /// Aliases, and the places of what they repeat.
    targets: BTreeMap<Span, Span>,
    out: BTreeMap<Span, Span>,
}

/// Decides which aliases stay: those that repeat what they are to say. Others are taken apart in
/// the draft.
pub(super) fn expand_changed_aliases(
    draft: &mut EditPlan,
    nodes: &NodeIndex<'_>,
    anchors: &AnchorNames,
) -> ExpandedAliases {
    let target = |start: &u32| nodes.find_at_start(*start).map(|it| it.span);
    let targets =
        anchors.aliases.iter().filter_map(|(alias, start)| Some((*alias, target(start)?)));
    let mut settling =
        AliasExpansion { nodes, anchors, targets: targets.collect(), out: BTreeMap::new() };
    if settling.targets.is_empty() {
        return ExpandedAliases::default();
    }
    // Writing one out can change what another one repeats.
    for _ in 0..=settling.targets.len() {
        let before = settling.out.len();
        let mut said: BTreeMap<Span, EditPlan> = BTreeMap::new();
        settling.collect_values(draft, &mut said);
        for (alias, target) in settling.targets.clone() {
            let here = said.get(&alias);
            let there = said.get(&target);
            let is_said = match (here, there) {
                (Some(here), Some(there)) => is_same_draft(here, there),
                (Some(_), None) => false,
                (None, _) => true,
            };
            if !is_said {
                settling.out.insert(alias, target);
            }
        }
        if settling.out.len() == before {
            break;
        }
        let expanded: BTreeSet<Span> = settling.out.keys().copied().collect();
        settling.expand_kept(draft, &expanded);
    }
    settling.restore(draft);
    ExpandedAliases { written_out: settling.out }
}

/// Returns true if two drafts, one made from an alias and one from what it repeats, say the same.
fn is_same_draft(a: &EditPlan, b: &EditPlan) -> bool {
    match (a, b) {
        (EditPlan::Kept(_), EditPlan::Kept(_)) => true,
        (EditPlan::List(_, a), EditPlan::List(_, b)) => a == b,
        (EditPlan::Object(_, a), EditPlan::Object(_, b)) => a == b,
        _ => a == b,
    }
}

impl AliasExpansion<'_, '_> {
    /// Collects the planned value at the position of each value.
    fn collect_values(&self, draft: &EditPlan, said: &mut BTreeMap<Span, EditPlan>) {
        match draft {
            EditPlan::Kept(span) => {
                let node = self.nodes.find_value(*span);
                node.into_iter().for_each(|it| collect_kept_inside(it, said));
            }
            EditPlan::Scalar(_) => {}
            EditPlan::List(origin, elements) => {
                said.extend(origin.map(|it| (it, draft.clone())));
                elements.iter().for_each(|it| self.collect_values(it, said));
            }
            EditPlan::Object(origin, members) => {
                said.extend(origin.map(|it| (it, draft.clone())));
                let is_alias = origin.is_some_and(|it| self.targets.contains_key(&it));
                // What is inside of an alias stands elsewhere.
                if !is_alias {
                    members.iter().for_each(|it| self.collect_values(&it.value, said));
                }
            }
        }
    }

    /// Takes what is kept apart where an alias inside of it is written out.
    fn expand_kept(&self, draft: &mut EditPlan, expanded: &BTreeSet<Span>) {
        if let EditPlan::Kept(span) = draft
            && !expanded.contains(span)
            && let Some(node) = self.nodes.find_value(*span)
            && contains_any(node, expanded)
        {
            *draft = match &node.kind {
                JsonKind::Array(elements) => {
                    let elements = elements.iter().map(|it| EditPlan::Kept(it.span));
                    EditPlan::List(Some(*span), elements.collect())
                }
                JsonKind::Object(members) => {
                    let member = |it: &abide_schema::value::JsonMember<'_>| PlannedMember {
                        key: Some(it.key_span),
                        in_place: true,
                        name: it.key.clone().into_owned(),
                        order: 0,
                        is_renamed: false,
                        value: EditPlan::Kept(it.value.span),
                    };
                    EditPlan::Object(Some(*span), members.iter().map(member).collect())
                }
                _ => return,
            };
        }
        match draft {
            EditPlan::List(_, elements) => {
                elements.iter_mut().for_each(|it| self.expand_kept(it, expanded));
            }
            EditPlan::Object(_, members) => {
                members.iter_mut().for_each(|it| self.expand_kept(&mut it.value, expanded));
            }
            EditPlan::Kept(_) | EditPlan::Scalar(_) => {}
        }
    }

    /// Lets what an alias stood for be written without the anchors of its original: a second
    /// anchor of a name hides the first.
    fn remove_anchors(&self, draft: &mut EditPlan) {
        match draft {
            EditPlan::Kept(span) => {
                let is_alias = self.targets.contains_key(span);
                let has_anchor =
                    self.anchors.names.keys().any(|it| (span.start..=span.end).contains(it));
                if let Some(node) = self.nodes.find_value(*span)
                    && has_anchor
                    && !is_alias
                {
                    *draft = plan_from_json(node);
                }
            }
            EditPlan::Scalar(_) => {}
            EditPlan::List(origin, elements) => {
                *origin = None;
                elements.iter_mut().for_each(|it| self.remove_anchors(it));
            }
            EditPlan::Object(origin, members) => {
                *origin = None;
                members.iter_mut().for_each(|it| self.remove_anchors(&mut it.value));
            }
        }
    }

    /// Keeps the aliases that stay.
    fn restore(&self, draft: &mut EditPlan) {
        if let Some(origin) = draft.origin()
            && self.targets.contains_key(&origin)
        {
            match self.out.get(&origin) {
                None => *draft = EditPlan::Kept(origin),
                Some(target) => {
                    if *draft == EditPlan::Kept(origin) {
                        *draft = EditPlan::Kept(*target);
                    }
                    self.remove_anchors(draft);
                }
            }
        }
        match draft {
            EditPlan::List(_, elements) => elements.iter_mut().for_each(|it| self.restore(it)),
            EditPlan::Object(_, members) => {
                members.iter_mut().for_each(|it| self.restore(&mut it.value));
            }
            EditPlan::Kept(_) | EditPlan::Scalar(_) => {}
        }
    }
}

fn collect_kept_inside(node: &JsonNode<'_>, said: &mut BTreeMap<Span, EditPlan>) {
    // What an alias repeats has its own place.
    if said.insert(node.span, EditPlan::Kept(node.span)).is_some() {
        return;
    }
    match &node.kind {
        JsonKind::Array(elements) => elements.iter().for_each(|it| collect_kept_inside(it, said)),
        JsonKind::Object(members) => {
            members.iter().for_each(|it| collect_kept_inside(&it.value, said))
        }
        _ => {}
    }
}

/// Returns true if one of the places is inside of a value.
fn contains_any(node: &JsonNode<'_>, places: &BTreeSet<Span>) -> bool {
    let inside = |it: &JsonNode<'_>| places.contains(&it.span) || contains_any(it, places);
    match &node.kind {
        JsonKind::Array(elements) => elements.iter().any(inside),
        JsonKind::Object(members) => members.iter().any(|it| inside(&it.value)),
        _ => false,
    }
}
