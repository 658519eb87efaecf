//! A snapshot as clients of one release and major version can hold it.

mod cap;

use std::collections::BTreeMap;
use std::sync::Arc;

use abide_instance::{Direction, OlderReader, VersionConverter};
use abide_schema::value::Codec;

use crate::collection::Collection;
use crate::kind::{TYPE_URL_PREFIX, Types};
use crate::negotiation::{ClientProfile, Releases};
use crate::resource::{Resource, hash};
use crate::roll_back::ResourceVersion;
use crate::snapshot::Snapshot;
use cap::UnknownFieldFilter;

/// The fields and versions that some clients understand.
#[derive(Clone, Copy, Debug)]
pub struct SupportedFields<'t> {
    /// The APIs of all releases.
    pub releases: &'t Releases<'t>,
    /// What they are served.
    pub terms: &'t ClientProfile,
    /// The converter that makes what they understand of what is served.
    pub translator: &'t VersionConverter<'t>,
}

/// A snapshot as some clients can hold it, and what it lacks.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// What they are served.
    pub snapshot: Arc<Snapshot>,
    /// The losses of resources that were changed for them, by type URL and name.
    pub losses: BTreeMap<(Arc<str>, Arc<str>), Loss>,
    /// The outcome for each resource of the snapshot, so that one that did not
    /// change is not looked at again.
    outcomes: BTreeMap<(Arc<str>, Arc<str>), Outcome>,
}

/// The parts of a resource that clients do not get.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loss {
    /// The full names of fields and extensions that they do not know, and do not get.
    pub dropped: Vec<String>,
    /// Fields that they do not know, and get in an older form.
    pub downgraded: Vec<Downgrade>,
    /// An explanation, if they do not get the resource as it is now at all.
    pub held_back: Option<String>,
}

/// A value that stands in an older field for them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Downgrade {
    /// The path of the field.
    pub field: String,
    /// The path of the older one.
    pub replaced_by: String,
}

#[derive(Clone, Debug)]
struct Outcome {
    of: Arc<str>,
    resource: Option<Arc<Resource>>,
    loss: Loss,
}

impl View {
    /// Builds the view of clients that understand all of a snapshot.
    pub fn whole(snapshot: Arc<Snapshot>) -> View {
        View { snapshot, ..View::default() }
    }

    /// Finds the served resource behind one that these clients got, if it still is in the view.
    pub fn original(
        &self,
        types: &Types,
        type_url: &str,
        name: &str,
        version: &str,
    ) -> Option<ResourceVersion> {
        let own =
            self.snapshot.collection(type_url)?.get(name).filter(|it| *it.version == *version)?;
        let newest = types.newest_url(type_url);
        let outcome = self.outcomes.get(&(Arc::clone(&newest), Arc::clone(&own.name)));
        // A view of all has no outcomes, and a resource that was held back is not that of now.
        let is_now =
            |it: &&Outcome| it.resource.as_ref().is_some_and(|it| it.version == own.version);
        let version = match outcome {
            Some(_) => &outcome.filter(is_now)?.of,
            None => &own.version,
        };
        Some(ResourceVersion {
            type_url: newest,
            name: Arc::clone(&own.name),
            version: Arc::clone(version),
        })
    }

    /// Builds the view of clients with this understanding. A resource that they
    /// cannot hold stays as it was in `before`; one that refers to what they do not
    /// have stays with it.
    pub fn of(snapshot: &Snapshot, understanding: SupportedFields<'_>, before: &View) -> View {
        let types = understanding.releases.types();
        let mut outcomes = BTreeMap::new();
        for (url, collection) in snapshot.types() {
            for resource in collection.iter() {
                let place = (Arc::clone(url), Arc::clone(&resource.name));
                let known = before.outcomes.get(&place).filter(|it| it.of == resource.version);
                let outcome = match known {
                    Some(known) => known.clone(),
                    None => understanding.outcome(url, resource),
                };
                outcomes.insert(place, outcome);
            }
        }
        let mut theirs: BTreeMap<Arc<str>, BTreeMap<Arc<str>, Arc<Resource>>> = BTreeMap::new();
        let mut losses = BTreeMap::new();
        for ((url, name), outcome) in &outcomes {
            let url = understanding.terms.url(types, url);
            let old = before.snapshot.collection(&url).and_then(|it| it.get(name));
            let resource = outcome.resource.as_ref().or(old);
            let collection = theirs.entry(Arc::clone(&url)).or_default();
            collection.extend(resource.map(|it| (Arc::clone(name), Arc::clone(it))));
            if outcome.loss != Loss::default() {
                losses.insert((url, Arc::clone(name)), outcome.loss.clone());
            }
        }
        let mut snapshot = assemble_snapshot(&theirs);
        // What holds another one back may hold back more; each round settles one at least.
        loop {
            let dangling = snapshot.dangling(types, &Default::default());
            let required: Vec<_> = dangling.into_iter().filter(|it| it.is_required).collect();
            let is_lost = |it: &&crate::Dangling| {
                losses.iter().any(|((url, name), loss)| {
                    types.kind(url) == it.kind && *name == it.missing && loss.held_back.is_some()
                })
            };
            let Some(found) = required.iter().find(is_lost) else { break };
            let place = (Arc::clone(&found.type_url), Arc::clone(&found.name));
            let old =
                before.snapshot.collection(&found.type_url).and_then(|it| it.get(&found.name));
            let collection = theirs.entry(Arc::clone(&found.type_url)).or_default();
            let current = collection.get(&found.name).map(|it| Arc::clone(&it.version));
            match old.filter(|old| current.as_ref() != Some(&old.version)) {
                Some(old) => collection.insert(Arc::clone(&found.name), Arc::clone(old)),
                None => collection.remove(&found.name),
            };
            let loss: &mut Loss = losses.entry(place).or_default();
            loss.held_back = Some(format!("it refers to `{}`, which is held back", found.missing));
            snapshot = assemble_snapshot(&theirs);
        }
        for (url, name) in losses.iter().filter(|(_, it)| it.held_back.is_some()).map(|it| it.0) {
            if snapshot.collection(url).is_none_or(|it| it.get(name).is_none()) {
                snapshot.withhold(url, name);
            }
        }
        View { snapshot: Arc::new(snapshot), losses, outcomes }
    }
}

fn assemble_snapshot(types: &BTreeMap<Arc<str>, BTreeMap<Arc<str>, Arc<Resource>>>) -> Snapshot {
    let collection =
        |it: &BTreeMap<_, Arc<Resource>>| Arc::new(Collection::of(it.values().cloned()));
    Snapshot::of_collections(types.iter().map(|(url, it)| (Arc::clone(url), collection(it))))
}

/// An error for which a resource is held back from clients.
#[derive(Debug, thiserror::Error)]
enum Unservable {
    #[error("{0}")]
    Malformed(String),
    #[error(transparent)]
    Unknown(#[from] cap::UnknownElement),
    #[error("the second major has no type for what it holds")]
    NoOlderType,
}

impl SupportedFields<'_> {
    fn outcome(&self, url: &str, resource: &Arc<Resource>) -> Outcome {
        let mut loss = Loss::default();
        let body = match self.encode(url, resource, &mut loss) {
            Ok(body) => Some(body),
            Err(error) => {
                loss = Loss { held_back: Some(error.to_string()), ..Loss::default() };
                None
            }
        };
        let resource_for_them = body.map(|body| {
            if *body == *resource.body {
                return Arc::clone(resource);
            }
            let version = hash([resource.version.as_bytes(), &body]);
            Arc::new(Resource { version, body: body.into(), ..(**resource).clone() })
        });
        Outcome { of: Arc::clone(&resource.version), resource: resource_for_them, loss }
    }

    /// Encodes a resource as these clients can read it, and records what it loses by that.
    ///
    /// # Errors
    /// A resource that must be held back: without the fields that they do not know, it would mean
    /// something else.
    fn encode(
        &self,
        url: &str,
        resource: &Resource,
        loss: &mut Loss,
    ) -> Result<Vec<u8>, Unservable> {
        let newest = self.releases.newest().tree;
        let codec = Codec::new(newest);
        let name = url.strip_prefix(TYPE_URL_PREFIX).unwrap_or(url);
        let Some(ty) = newest.message_named(name) else { return Ok(resource.body.to_vec()) };
        let message = codec.decode(ty.id, &resource.body);
        let message = message.map_err(|error| Unservable::Malformed(error.to_string()))?;
        let deal = self.terms.deal(url);
        let release = self.releases.get(deal.release).map_or(newest, |it| it.tree);
        // What has an older form gets it before anything is dropped.
        let reader = OlderReader { release, features: self.terms.features() };
        let downgraded = self.translator.convert_for_reader(&message, reader);
        let changes = downgraded.changes.into_iter();
        loss.downgraded.extend(changes.map(|it| Downgrade { field: it.old, replaced_by: it.new }));
        loss.dropped.extend(downgraded.losses.into_iter().map(|it| it.element));
        let mut message = UnknownFieldFilter {
            newest,
            theirs: release,
            terms: self.terms,
            translator: self.translator,
            dropped: &mut loss.dropped,
        }
        .filter(&downgraded.message)?;
        if deal.is_second_major {
            let translated = self.translator.convert(&message, &Direction::Down(2), false);
            // What is gone in the older major is what its clients never had.
            loss.dropped.extend(translated.losses.into_iter().map(|it| it.element));
            message = translated.message;
            if !self.translator.is_known(&message) {
                return Err(Unservable::NoOlderType);
            }
        }
        loss.dropped.sort();
        loss.dropped.dedup();
        loss.downgraded.sort();
        loss.downgraded.dedup();
        Ok(codec.encode(&message))
    }
}
