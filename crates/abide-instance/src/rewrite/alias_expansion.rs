//! Aliases of YAML whose values differ now: they are written out.

use std::collections::{BTreeMap, BTreeSet};

use abide_schema::value::{JsonKind, JsonNode};
use abide_syntax::Span;

use super::anchors::Anchors;
use super::edit_plan::{Draft, Member};
use super::nodes::Nodes;

/// What becomes of the aliases of a document.
#[derive(Default)]
pub(super) struct Aliases {
    /// Aliases that are written out, and the value that they repeat.
    pub(super) written_out: BTreeMap<Span, Span>,
}

struct Settling<'a, 'n> {
    nodes: &'a Nodes<'n>,
    /// Aliases, and the places of what they repeat.
    targets: BTreeMap<Span, Span>,
    out: BTreeMap<Span, Span>,
}

/// Decides which aliases stay: those that repeat what they are to say. Others are taken apart in the
/// draft.
pub(super) fn settle(draft: &mut Draft, nodes: &Nodes<'_>, anchors: &Anchors) -> Aliases {
    let target = |start: &u32| nodes.beginning_at(*start).map(|it| it.span);
    let targets =
        anchors.aliases.iter().filter_map(|(alias, start)| Some((*alias, target(start)?)));
    let mut settling = Settling { nodes, targets: targets.collect(), out: BTreeMap::new() };
    if settling.targets.is_empty() {
        return Aliases::default();
    }
    // Writing one out can change what another one repeats.
    for _ in 0..=settling.targets.len() {
        let before = settling.out.len();
        let mut said: BTreeMap<Span, Draft> = BTreeMap::new();
        settling.collect(draft, &mut said);
        for (alias, target) in settling.targets.clone() {
            let here = said.get(&alias);
            let there = said.get(&target);
            let is_said = match (here, there) {
                (Some(here), Some(there)) => same(here, there),
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
        settling.take_apart(draft, &expanded);
    }
    settling.restore(draft);
    Aliases { written_out: settling.out }
}

/// Whether two drafts, one made from an alias and one from what it repeats, say the same.
fn same(a: &Draft, b: &Draft) -> bool {
    match (a, b) {
        (Draft::Kept(_), Draft::Kept(_)) => true,
        (Draft::List(_, a), Draft::List(_, b)) => a == b,
        (Draft::Object(_, a), Draft::Object(_, b)) => a == b,
        _ => a == b,
    }
}

impl Settling<'_, '_> {
    /// What is said in the place of each value.
    fn collect(&self, draft: &Draft, said: &mut BTreeMap<Span, Draft>) {
        match draft {
            Draft::Kept(span) => {
                let node = self.nodes.value(*span);
                node.into_iter().for_each(|it| kept_inside(it, said));
            }
            Draft::Scalar(_) => {}
            Draft::List(origin, elements) => {
                said.extend(origin.map(|it| (it, draft.clone())));
                elements.iter().for_each(|it| self.collect(it, said));
            }
            Draft::Object(origin, members) => {
                said.extend(origin.map(|it| (it, draft.clone())));
                let is_alias = origin.is_some_and(|it| self.targets.contains_key(&it));
                // What is inside of an alias stands elsewhere.
                if !is_alias {
                    members.iter().for_each(|it| self.collect(&it.value, said));
                }
            }
        }
    }

    /// Takes what is kept apart where an alias inside of it is written out.
    fn take_apart(&self, draft: &mut Draft, expanded: &BTreeSet<Span>) {
        if let Draft::Kept(span) = draft
            && !expanded.contains(span)
            && let Some(node) = self.nodes.value(*span)
            && holds(node, expanded)
        {
            *draft = match &node.kind {
                JsonKind::Array(elements) => {
                    let elements = elements.iter().map(|it| Draft::Kept(it.span));
                    Draft::List(Some(*span), elements.collect())
                }
                JsonKind::Object(members) => {
                    let member = |it: &abide_schema::value::JsonMember<'_>| Member {
                        key: Some(it.key_span),
                        in_place: true,
                        name: it.key.clone().into_owned(),
                        order: 0,
                        is_renamed: false,
                        value: Draft::Kept(it.value.span),
                    };
                    Draft::Object(Some(*span), members.iter().map(member).collect())
                }
                _ => return,
            };
        }
        match draft {
            Draft::List(_, elements) => {
                elements.iter_mut().for_each(|it| self.take_apart(it, expanded));
            }
            Draft::Object(_, members) => {
                members.iter_mut().for_each(|it| self.take_apart(&mut it.value, expanded));
            }
            Draft::Kept(_) | Draft::Scalar(_) => {}
        }
    }

    /// Keeps the aliases that stay.
    fn restore(&self, draft: &mut Draft) {
        if let Some(origin) = draft.origin()
            && self.targets.contains_key(&origin)
        {
            match self.out.get(&origin) {
                None => *draft = Draft::Kept(origin),
                Some(target) if *draft == Draft::Kept(origin) => *draft = Draft::Kept(*target),
                Some(_) => {}
            }
        }
        match draft {
            Draft::List(_, elements) => elements.iter_mut().for_each(|it| self.restore(it)),
            Draft::Object(_, members) => {
                members.iter_mut().for_each(|it| self.restore(&mut it.value));
            }
            Draft::Kept(_) | Draft::Scalar(_) => {}
        }
    }
}

fn kept_inside(node: &JsonNode<'_>, said: &mut BTreeMap<Span, Draft>) {
    // What an alias repeats has its own place.
    if said.insert(node.span, Draft::Kept(node.span)).is_some() {
        return;
    }
    match &node.kind {
        JsonKind::Array(elements) => elements.iter().for_each(|it| kept_inside(it, said)),
        JsonKind::Object(members) => members.iter().for_each(|it| kept_inside(&it.value, said)),
        _ => {}
    }
}

/// Whether one of the places is inside of a value.
fn holds(node: &JsonNode<'_>, places: &BTreeSet<Span>) -> bool {
    let inside = |it: &JsonNode<'_>| places.contains(&it.span) || holds(it, places);
    match &node.kind {
        JsonKind::Array(elements) => elements.iter().any(inside),
        JsonKind::Object(members) => members.iter().any(|it| inside(&it.value)),
        _ => false,
    }
}
