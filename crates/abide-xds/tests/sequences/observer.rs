//! An observer of one stream, which fails what there is no reason for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use abide_xds::{Kind, Names, Request, Resource, Response, Snapshot, Types};

/// A name and a version.
type Versioned = (Arc<str>, Arc<str>);

/// What went over a stream.
#[derive(Debug, Default)]
pub(crate) struct Observer {
    nonces: BTreeSet<Arc<str>>,
    types: BTreeMap<Kind, Seen>,
}

/// What went over a stream of one type.
#[derive(Debug, Default)]
struct Seen {
    has_begun: bool,
    last_nonce: Arc<str>,
    /// The names that the client asks for.
    wanted: BTreeSet<String>,
    /// What the client was sent last: names and versions.
    sent: BTreeMap<Arc<str>, Arc<str>>,
    /// Names that may be sent though they did not change; of `*`, anything.
    due: BTreeSet<String>,
    /// What went out under each nonce: names and versions.
    responses: BTreeMap<Arc<str>, Vec<Versioned>>,
    /// What the client refused, and accepted in no response since.
    refused: BTreeSet<Versioned>,
}

impl Observer {
    /// Something else is served. In the state of the world nobody says that endpoints are gone, so they
    /// may come again.
    pub(crate) fn serve(&mut self, snapshot: &Snapshot) {
        for (url, collection) in snapshot.types() {
            let kind = Types::default().kind(url);
            if let Some(seen) =
                self.types.get_mut(&kind).filter(|_| !Types::default().is(kind, |it| it.is_whole))
            {
                seen.sent.retain(|name, _| collection.get(name).is_some());
            }
        }
    }

    pub(crate) fn request(&mut self, request: &Request) {
        let seen = self.types.entry(Types::default().kind(&request.type_url)).or_default();
        let is_first = !std::mem::replace(&mut seen.has_begun, true);
        for resource in seen.responses.remove(&*request.nonce).into_iter().flatten() {
            match &request.error {
                Some(_) => drop(seen.refused.insert(resource)),
                None => seen.refused.retain(|(name, _)| *name != resource.0),
            }
        }
        if is_first {
            seen.due.insert("*".to_owned());
        }
        match &request.names {
            Names::Sotw(_) if !is_first && *request.nonce != *seen.last_nonce => {}
            Names::Sotw(names) => {
                let names: BTreeSet<String> = names.iter().cloned().collect();
                seen.due.extend(names.difference(&seen.wanted).cloned());
                if !names.is_empty() || !seen.wanted.is_empty() {
                    seen.sent.retain(|name, _| names.contains(&**name));
                }
                seen.wanted = names;
            }
            Names::Delta { subscribe, unsubscribe, held } => {
                let asked = subscribe.iter().filter(|it| !held.contains_key(*it));
                seen.due.extend(asked.cloned());
                unsubscribe.iter().for_each(|name| drop(seen.sent.remove(&**name)));
                for (name, version) in held {
                    seen.sent.insert(name.as_str().into(), version.as_str().into());
                }
            }
        }
    }

    pub(crate) fn response(&mut self, response: &Response) {
        let kind = Types::default().kind(&response.type_url);
        let is_new = self.nonces.insert(Arc::clone(&response.nonce));
        assert!(is_new && !response.nonce.is_empty(), "the nonce `{}`", response.nonce);
        let seen = self.types.get_mut(&kind).expect("nobody asked for this type");
        let is_any_due = seen.due.remove("*");
        let held = |seen: &Seen, name: &Arc<str>, version: &Arc<str>| {
            seen.sent.get(name).is_some_and(|it| it == version)
        };
        let mut is_needed = is_any_due || !response.removed.is_empty();
        for resource in response.resources.iter() {
            let is_due = seen.due.remove(&*resource.name);
            let is_told = held(seen, &resource.name, &resource.version);
            is_needed |= is_due || !is_told;
            let may_repeat = !response.is_delta && Types::default().is(kind, |it| it.is_whole);
            assert!(
                is_due || !is_told || is_any_due || may_repeat,
                "{kind:?} `{}` was sent twice at one version",
                resource.name
            );
        }
        if !response.is_delta && Types::default().is(kind, |it| it.is_whole) {
            is_needed |= seen.sent.len() != response.resources.len();
        }
        is_needed |= !seen.due.is_empty() && response.resources.is_empty();
        assert!(is_needed, "{kind:?}: a response without a reason");
        let changed = response.resources.iter();
        // What it refused is new to it again.
        let is_new = |it: &&Arc<Resource>| {
            !held(seen, &it.name, &it.version)
                || seen.refused.contains(&(Arc::clone(&it.name), Arc::clone(&it.version)))
        };
        let changed: Vec<_> = changed.filter(is_new).map(Arc::clone).collect();
        if !response.is_delta && Types::default().is(kind, |it| it.is_whole) {
            seen.sent.clear();
        }
        response.removed.iter().for_each(|name| drop(seen.sent.remove(name)));
        let all = response.resources.iter();
        let all: Vec<_> = all.map(|it| (Arc::clone(&it.name), Arc::clone(&it.version))).collect();
        seen.sent.extend(all.iter().cloned());
        seen.responses.insert(Arc::clone(&response.nonce), all);
        seen.last_nonce = Arc::clone(&response.nonce);
        // A change is warmed up with what it refers to.
        for reference in changed.iter().flat_map(|it| &*it.references) {
            let follower = self.types.entry(reference.kind).or_default();
            follower.due.insert(reference.name.to_string());
        }
    }
}
