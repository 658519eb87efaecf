//! The resources that a client waits for before it takes requests.
//!
//! A proxy opens its listeners only when it has clusters, their endpoints, listeners and their routes, in
//! this order. A refusal ends a wait as an answer does. Clusters with active health checks add one round
//! of these, which happens between the proxy and its endpoints: it asks for listeners afterwards. Source:
//! "Initialization" and "Listener warming" of Envoy's documentation.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use super::Session;
use crate::kind::Kind;
use crate::resource::Resource;
use crate::topic::TypeState;

/// The number of of the resources that a client waits for are named.
const MAX_AWAITED: usize = 100;

/// The progress of a client, judged by what it asked for and what it said about the answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Initialisation {
    /// The phase that it has reached.
    pub phase: Phase,
    /// The resources that it asked for, or will, and has no answer to, in the order of the
    /// protocol. After its start these are what it warms up. At most 100 are named.
    pub waits_for: Vec<Awaited>,
    /// The number of others that are not listed.
    pub more: usize,
    /// The clusters whose endpoints it checks before it asks for listeners, by name.
    pub health_checks: Vec<HealthChecks>,
}

/// A phase of the start of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It waits for resources of this kind, and for those after it. With [`Kind::ENDPOINTS`] it may wait
    /// for the first round of its health checks alone.
    WaitsFor(Kind),
    /// It has an answer to all that it asked for.
    Initialised,
    /// The same on a stream of one type: other streams say the rest.
    Answered,
}

/// Something that a client waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Awaited {
    /// The kind of the resource.
    pub kind: Kind,
    /// Its name; `None`: all that there is of this kind.
    pub name: Option<Arc<str>>,
    /// An explanation why the client still waits, one phrase.
    pub reason: String,
}

/// A cluster whose endpoints are checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HealthChecks {
    /// Its name.
    pub cluster: Arc<str>,
    /// The time that the first round takes at most.
    pub at_most: Duration,
}

impl Initialisation {
    /// That of a client which asks for one type alone, as polls do.
    pub fn of_one_type(kind: Kind, awaited: impl IntoIterator<Item = Awaited>) -> Initialisation {
        let (waits_for, more) = first(awaited);
        let phase = if waits_for.is_empty() { Phase::Answered } else { Phase::WaitsFor(kind) };
        Initialisation { phase, waits_for, more, health_checks: Vec::new() }
    }
}

/// The first of what a client waits for, and how many more there are.
fn first(awaited: impl IntoIterator<Item = Awaited>) -> (Vec<Awaited>, usize) {
    let mut awaited = awaited.into_iter();
    let first = awaited.by_ref().take(MAX_AWAITED).collect();
    (first, awaited.count())
}

impl Session {
    /// Returns how far its client has come at a moment.
    pub fn initialisation(&self, now: Duration) -> Initialisation {
        if let Some(only) = &self.options.only {
            let kind = self.options.types.kind(only);
            return Initialisation::of_one_type(kind, self.awaited(kind));
        }
        let all: Vec<Awaited> = self.waited_for().flat_map(|kind| self.awaited(kind)).collect();
        let health_checks = self.health_checks(now);
        let is_past =
            |kind| self.is_past_clusters() && [Kind::CLUSTER, Kind::ENDPOINTS].contains(&kind);
        let waits = all.iter().map(|it| it.kind).filter(|&kind| !is_past(kind));
        let checks = (!health_checks.is_empty()).then_some(Kind::ENDPOINTS);
        let place = |kind: &Kind| self.waited_for().position(|it| it == *kind);
        let phase = match waits.chain(checks).min_by_key(place) {
            Some(kind) if !self.has_initialised => Phase::WaitsFor(kind),
            Some(_) | None => Phase::Initialised,
        };
        let (waits_for, more) = first(all);
        Initialisation { phase, waits_for, more, health_checks }
    }

    /// Notes that its client takes requests from now on, if it does: what it waits for afterwards, it
    /// warms up. Only of a client that asks for listeners after its clusters can this be said.
    pub(super) fn note_progress(&mut self) {
        if self.has_initialised || !self.is_past_clusters() {
            return;
        }
        let listeners = self.waited_for().skip_while(|&kind| kind != Kind::LISTENER);
        let waits = listeners.flat_map(|kind| self.awaited(kind)).next().is_some();
        self.has_initialised = !waits;
    }

    /// Returns true if the client asked for listeners after its clusters: proxies do so when these
    /// are ready, or when they waited long enough.
    fn is_past_clusters(&self) -> bool {
        let begin = |kind| self.of_kind(kind).map(|topic| topic.number).min();
        let clusters = begin(Kind::CLUSTER);
        clusters.is_some() && begin(Kind::LISTENER) > clusters
    }

    /// The kinds that clients wait for, in the order in which they do: that of the protocol, after the
    /// runtime, which proxies have before everything else.
    fn waited_for(&self) -> impl Iterator<Item = Kind> {
        let all = self.options.types.iter().map(|it| it.kind);
        std::iter::once(Kind::RUNTIME).chain(all.filter(|it| *it != Kind::RUNTIME))
    }

    fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &TypeState> {
        self.topics.iter().filter(move |((it, _), _)| *it == kind).map(|(_, topic)| topic)
    }

    /// Lists the resources of a kind that the client has no answer to, by name.
    fn awaited(&self, kind: Kind) -> Vec<Awaited> {
        let is_named = [Kind::SECRET, Kind::EXTENSION, Kind::RUNTIME].contains(&kind);
        if is_named || self.options.types.is(kind, |it| it.is_awaited) {
            return self.awaited_by_name(kind);
        }
        let mut all = Vec::new();
        for topic in self.of_kind(kind).filter(|it| !it.is_answered()) {
            let reason = match (&self.target, topic.is_in_flight()) {
                (None, _) => "nothing is served yet",
                (Some(_), true) => "it was sent, and the client has not answered yet",
                (Some(_), false) => "it is about to be sent",
            };
            let is_whole = topic.subscription.is_wildcard();
            let names = topic.subscription.all_names().filter(|_| !is_whole);
            let names = names.map(|it| Some(Arc::clone(it))).chain(is_whole.then_some(None));
            all.extend(names.map(|name| Awaited { kind, name, reason: reason.to_owned() }));
        }
        all
    }

    /// The same of a kind whose resources are waited for one by one.
    fn awaited_by_name(&self, kind: Kind) -> Vec<Awaited> {
        let asked = self.of_kind(kind).flat_map(|topic| topic.subscription.all_names());
        let held = self.held_by_others(kind);
        let needed = held.flat_map(|it| &*it.references).filter(|it| it.kind == kind);
        let names: BTreeSet<&Arc<str>> = asked.chain(needed.map(|it| &it.name)).collect();
        let is_open = |name: &&Arc<str>| !self.of_kind(kind).any(|topic| topic.has_settled(name));
        let awaited = names.into_iter().filter(is_open);
        let one = |name: &Arc<str>| Awaited {
            kind,
            name: Some(Arc::clone(name)),
            reason: self.reason(kind, name),
        };
        awaited.map(one).collect()
    }

    /// Lists the resources that the client was sent, and did not refuse, and that it warms up with
    /// resources of a kind. On a stream of one type nothing is known of others.
    fn held_by_others(&self, kind: Kind) -> impl Iterator<Item = &Arc<Resource>> {
        let is_alone = self.options.only.is_some();
        let topics = self.topics.iter().filter(move |((it, _), _)| {
            let is_scoped = (*it, kind) == (Kind::SCOPED_ROUTES, Kind::ROUTES);
            !is_alone && (self.options.types.warmed_by(*it) == Some(kind) || is_scoped)
        });
        topics.flat_map(|(_, topic)| {
            let sent = topic.sent.iter().flat_map(|it| it.iter());
            sent.filter(|it| !topic.refused(it))
        })
    }

    /// Explains why the client still waits for a resource.
    fn reason(&self, kind: Kind, name: &str) -> String {
        let Some(target) = &self.target else { return "nothing is served yet".to_owned() };
        let mut topics = self.topics.iter().filter(|((it, _), _)| *it == kind);
        let asked =
            topics.find(|(_, it)| it.subscription.has(name) || it.subscription.is_wildcard());
        let Some(((_, url), topic)) = asked else {
            return "the client has not asked for it yet".to_owned();
        };
        if let Some(held) = topic.held_back.iter().find(|it| *it.name == *name) {
            return held.reason.clone();
        }
        let was_sent = topic.sent.as_ref().is_some_and(|it| it.find(name).is_some());
        let is_served = target.collection(url).is_some_and(|it| it.find(name).is_some());
        let reason = match (was_sent, is_served) {
            (true, _) => "it was sent, and the client has not answered yet",
            (false, true) => "it is about to be sent",
            (false, false) => "nothing with this name is served to the client",
        };
        reason.to_owned()
    }

    /// The clusters whose endpoints the client may check before it goes on. A client without listeners
    /// from here is taken to be done when the longest first round is over.
    fn health_checks(&self, now: Duration) -> Vec<HealthChecks> {
        if self.has_initialised || self.of_kind(Kind::LISTENER).next().is_some() {
            return Vec::new();
        }
        let answered = self.of_kind(Kind::CLUSTER).chain(self.of_kind(Kind::ENDPOINTS));
        let since = answered.filter_map(|it| it.first_answer).max().unwrap_or(now);
        let waits = ![Kind::CLUSTER, Kind::ENDPOINTS].iter().all(|&it| self.awaited(it).is_empty());
        let clusters = self.of_kind(Kind::CLUSTER).flat_map(|topic| {
            topic.sent.iter().flat_map(|it| it.iter()).filter(|it| !topic.refused(it))
        });
        clusters
            .filter_map(|it| Some((Arc::clone(&it.name), it.health_round?)))
            .filter(|(_, at_most)| waits || now < since + *at_most)
            .map(|(cluster, at_most)| HealthChecks { cluster, at_most })
            .collect()
    }
}
