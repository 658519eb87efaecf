//! What a type should hold now, so that no request is lost while a change goes out.
//!
//! A resource that directs requests waits until the client accepted the clusters
//! that it directs them to. A resource that is gone stays for as long as the client
//! may hold another one that refers to it. Between them this makes the three steps
//! of the protocol: add and warm up, switch, remove.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::Options;
use crate::collection::Collection;
use crate::kind::Kind;
use crate::resource::Resource;
use crate::snapshot::Snapshot;
use crate::topic::{HeldBack, Topic};

/// What a type should hold now.
pub(super) struct Planned {
    pub(super) content: Arc<Collection>,
    /// Whether it is on the way to something else.
    pub(super) is_between: bool,
    pub(super) held_back: Vec<HeldBack>,
    pub(super) unused_since: BTreeMap<Arc<str>, Duration>,
}

type Topics = BTreeMap<(Kind, Arc<str>), Topic>;

pub(super) fn plan(
    topics: &Topics,
    key: &(Kind, Arc<str>),
    target: &Snapshot,
    options: &Options,
    now: Duration,
) -> Planned {
    let (kind, url) = key;
    let topic = &topics[key];
    let nothing = Arc::default();
    let all = target.collection(url).unwrap_or(&nothing);
    let content = topic.subscription.of(all);
    let mut planned = Planned {
        content,
        is_between: false,
        held_back: Vec::new(),
        unused_since: BTreeMap::new(),
    };
    let Some(sent) = &topic.sent else { return planned };
    if !options.is_ordered || options.only.is_some() || Arc::ptr_eq(sent, &planned.content) {
        return planned;
    }
    let mut changes: BTreeMap<Arc<str>, Option<Arc<Resource>>> = BTreeMap::new();
    if kind.directs_requests() {
        for resource in planned.content.changed_since(sent) {
            if let Some(reason) = not_ready(topics, target, resource) {
                let name = Arc::clone(&resource.name);
                planned.held_back.push(HeldBack { name: Arc::clone(&name), reason });
                changes.insert(Arc::clone(&name), sent.get(&name).cloned());
            }
        }
    }
    for name in planned.content.removed_since(sent) {
        let Some(resource) = sent.get(name) else { continue };
        if all.get(name).is_some() {
            continue; // It is there, but the client does not want it any more.
        }
        let is_used = is_used(topics, key, name);
        let is_named = topic.subscription.names(resource);
        if !is_used && is_named && kind.is_whole() {
            let since = *topic.unused_since.get(name).unwrap_or(&now);
            if now < since + options.grace {
                planned.unused_since.insert(Arc::clone(name), since);
            }
        }
        if is_used || planned.unused_since.contains_key(name) {
            changes.insert(Arc::clone(name), Some(Arc::clone(resource)));
        }
    }
    planned.is_between = !changes.is_empty();
    if planned.is_between {
        planned.content = Arc::new(planned.content.with(changes));
    }
    planned
}

/// Why requests cannot be directed by a resource yet.
fn not_ready(topics: &Topics, target: &Snapshot, resource: &Resource) -> Option<String> {
    let clusters = resource.references.iter().filter(|it| it.kind == Kind::Cluster);
    for cluster in clusters {
        for ((_, url), topic) in topics.iter().filter(|((kind, _), _)| *kind == Kind::Cluster) {
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
            if !topic.accepted(needed) {
                return Some(format!(
                    "the client has not accepted the cluster `{}` yet",
                    cluster.name
                ));
            }
        }
    }
    None
}

/// Whether the client may hold another resource that refers to this one.
fn is_used(topics: &Topics, key: &(Kind, Arc<str>), name: &str) -> bool {
    let others = topics.iter().filter(|(other, _)| *other != key);
    let mut held = others.flat_map(|(_, topic)| topic.may_hold());
    held.any(|it| it.refers_to(key.0, name))
}
