//! Decides what a type should hold now, so that no request is lost while a change goes out.
//!
//! A resource that directs requests waits until the client accepted the clusters
//! that it directs them to. A resource that is gone stays for as long as the client
//! may hold another one that refers to it. Between them this makes the three steps
//! of the protocol: add and warm up, switch, remove.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::{Options, Retired, Topics};
use crate::collection::Collection;
use crate::kind::{Kind, Types};
use crate::resource::Resource;
use crate::snapshot::Snapshot;
use crate::topic::Deferred;

/// The content that a type should have now.
pub(super) struct Planned {
    pub(super) content: Arc<Collection>,
    /// True if it is on the way to something else.
    pub(super) is_between: bool,
    pub(super) held_back: Vec<Deferred>,
    pub(super) unused_since: BTreeMap<Arc<str>, Duration>,
    pub(super) settles_at: Option<Duration>,
}

pub(super) fn plan_response(
    topics: &Topics,
    retired: &Retired,
    key: &(Kind, Arc<str>),
    target: &Snapshot,
    options: &Options,
    now: Duration,
) -> Planned {
    let (kind, url) = key;
    let topic = &topics[key];
    let all = target.collection(url).unwrap_or(Collection::nothing());
    let content = topic.subscription.of(all);
    let mut planned = Planned {
        content,
        is_between: false,
        held_back: Vec::new(),
        unused_since: BTreeMap::new(),
        settles_at: None,
    };
    let sent = topic.sent.as_ref().unwrap_or(Collection::nothing());
    let mut changes: BTreeMap<Arc<str>, Option<Arc<Resource>>> = BTreeMap::new();
    // What a client has, and cannot be given as it is now, it keeps.
    for resource in target.withheld(url).filter_map(|it| sent.get(it)) {
        changes.insert(Arc::clone(&resource.name), Some(Arc::clone(resource)));
    }
    if !changes.is_empty() {
        planned.content = Arc::new(planned.content.with(changes));
        changes = BTreeMap::new();
    }
    if !options.is_ordered || options.only.is_some() || Arc::ptr_eq(sent, &planned.content) {
        return planned;
    }
    let difference = planned.content.since(sent);
    let types = &options.types;
    let settled = topic.resumed_at.map(|it| it + options.settling).filter(|it| now < *it);
    let settled = settled.filter(|_| has_unasked_users(types, topics, target, *kind));
    if types.is(*kind, |it| it.directs_requests) {
        for resource in &*difference.changed {
            let missing =
                sent.get(&resource.name).and_then(|_| find_withheld(topics, target, resource));
            let reason = missing
                .or_else(|| explain_not_ready(topics, target, resource, topic.sent.is_none()));
            if let Some(reason) = reason {
                let name = Arc::clone(&resource.name);
                planned.held_back.push(Deferred { name: Arc::clone(&name), reason });
                changes.insert(Arc::clone(&name), sent.get(&name).cloned());
            }
        }
    }
    for name in &*difference.removed {
        let Some(resource) = sent.get(name) else { continue };
        if all.get(name).is_some() {
            continue; // It is there, but the client does not want it any more.
        }
        if settled.is_some() {
            planned.settles_at = settled;
            changes.insert(Arc::clone(name), Some(Arc::clone(resource)));
            continue;
        }
        let is_used = is_used(types, topics, key, name);
        let is_named = topic.subscription.names(resource);
        if !is_used && is_named && types.is(*kind, |it| it.is_whole) {
            let since = *topic.unused_since.get(name).unwrap_or(&now);
            if now < since + options.grace {
                planned.unused_since.insert(Arc::clone(name), since);
            }
        }
        if is_used || planned.unused_since.contains_key(name) {
            changes.insert(Arc::clone(name), Some(Arc::clone(resource)));
        }
    }
    let retired = retired.get(key).into_iter().flat_map(BTreeMap::values);
    let is_wanted =
        |it: &&Arc<Resource>| all.get(&it.name).is_none() && topic.subscription.wants(it);
    for resource in retired.filter(is_wanted).filter(|it| is_used(types, topics, key, &it.name)) {
        changes.insert(Arc::clone(&resource.name), Some(Arc::clone(resource)));
    }
    planned.is_between = !changes.is_empty();
    if planned.is_between {
        planned.content = Arc::new(planned.content.with(changes));
    }
    planned
}

/// Collects the resources that are in `old` or were retired before, are not in `new`, and may
/// still be asked for: a client that warms up a cluster waits for its endpoints, also if both are
/// gone by then.
pub(super) fn collect_retired(
    types: &Types,
    topics: &Topics,
    before: &Retired,
    old: &Snapshot,
    new: &Snapshot,
) -> Retired {
    let mut all = before.clone();
    for (url, collection) in old.types() {
        let key = (types.kind(url), Arc::clone(url));
        if !types.is(key.0, |it| it.is_awaited) {
            continue;
        }
        let difference = new.collection(url).unwrap_or(Collection::nothing()).since(collection);
        let gone = difference.removed.iter().filter_map(|name| collection.get(name));
        let gone: Vec<_> = gone.map(|it| (Arc::clone(&it.name), Arc::clone(it))).collect();
        if !gone.is_empty() {
            all.entry(key).or_default().extend(gone);
        }
    }
    for (key, resources) in &mut all {
        let has = |name: &str| new.collection(&key.1).is_some_and(|it| it.get(name).is_some());
        resources.retain(|name, _| !has(name) && is_used(types, topics, key, name));
    }
    all.retain(|_, resources| !resources.is_empty());
    all
}

/// Explains why a resource may not follow one that the client has: it directs requests to a cluster that
/// the client cannot be given, and has not.
fn find_withheld(topics: &Topics, target: &Snapshot, resource: &Resource) -> Option<String> {
    let clusters = topics.iter().filter(|((kind, _), _)| *kind == Kind::CLUSTER);
    let asked = clusters.filter_map(|((_, url), topic)| Some((url, topic, topic.sent.as_ref()?)));
    let mut withheld = asked.flat_map(|(url, topic, sent)| {
        target
            .withheld(url)
            .filter(|it| topic.subscription.wants_name(it) && sent.get(it).is_none())
    });
    let is_named = |name: &&Arc<str>| {
        resource.references.iter().any(|it| it.kind == Kind::CLUSTER && it.name == **name)
    };
    let name = withheld.find(is_named)?;
    Some(format!("the client cannot be given the cluster `{name}`"))
}

/// Explains why requests cannot be directed by a resource yet. Clients ask for the first ones
/// before they answer about clusters: for these it is enough that the clusters are on
/// the way before them.
fn explain_not_ready(
    topics: &Topics,
    target: &Snapshot,
    resource: &Resource,
    is_first: bool,
) -> Option<String> {
    let clusters = resource.references.iter().filter(|it| it.kind == Kind::CLUSTER);
    for cluster in clusters {
        for ((_, url), topic) in topics.iter().filter(|((kind, _), _)| *kind == Kind::CLUSTER) {
            let Some(needed) = target.collection(url).and_then(|it| it.get(&cluster.name)) else {
                continue; // The client has it from elsewhere.
            };
            // A client that names its clusters finds them by what is held back here.
            if topic.sent.is_none() || !topic.subscription.wants(needed) {
                continue;
            }
            if topic.refused(needed) {
                return Some(format!("the client refused the cluster `{}`", cluster.name));
            }
            let is_on_its_way = is_first && topic.begins_with(&needed.name);
            if !is_on_its_way && !topic.surely_holds(needed) {
                return Some(format!(
                    "the client has not accepted the cluster `{}` yet",
                    cluster.name
                ));
            }
        }
    }
    None
}

/// Returns true if the client may hold another resource that refers to this one.
fn is_used(types: &Types, topics: &Topics, key: &(Kind, Arc<str>), name: &str) -> bool {
    topics.iter().filter(|(other, _)| *other != key).any(|((kind, _), topic)| {
        let refers = types.may_refer(*kind, key.0);
        let is_user =
            |all: &Arc<Collection>| all.refers_to(key.0, name) || refers && all.has_unknown();
        topic.may_hold().any(is_user)
    })
}

/// Returns true if there is anything that may refer to resources of a kind, and that the client did not ask
/// for yet.
fn has_unasked_users(types: &Types, topics: &Topics, target: &Snapshot, kind: Kind) -> bool {
    let served = target.types().filter(|(_, it)| !it.is_empty()).map(|(url, _)| types.kind(url));
    let mut users = served.filter(|it| types.may_refer(*it, kind));
    users.any(|user| topics.keys().all(|(asked, _)| *asked != user))
}
