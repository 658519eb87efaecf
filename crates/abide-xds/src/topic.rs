//! One type on one stream: what the client wants, was sent, and accepted.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crate::collection::Collection;
use crate::message::{Names, Request, Response};
use crate::names::SharedNames;
use crate::resource::Resource;
use crate::subscription::Subscription;

/// The number of responses without an answer that are remembered.
const MAX_IN_FLIGHT: usize = 16;

/// The number of bytes that are kept of what a client says about a response that it refuses.
const MAX_MESSAGE: usize = 4096;

/// The number of older contents that may drain at a client at once.
const MAX_DRAINING: usize = 64;

/// The types that may be on a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamKind {
    /// One type alone: other types of the client have streams of their own.
    OneType,
    /// All types of the client (ADS).
    Aggregated,
}

/// One type on one stream.
#[derive(Debug, Default)]
pub(crate) struct TypeState {
    /// The number of the type on its stream, in the order in which types were asked for.
    pub(crate) number: usize,
    /// The time at which the client first accepted or refused an answer.
    pub(crate) first_answer: Option<Duration>,
    pub(crate) subscription: Subscription,
    is_delta: bool,
    /// True if there was a request.
    has_begun: bool,
    /// True if the first request still waits for its answer.
    is_unanswered: bool,
    /// Names or aliases that the client asked for, or that a change has to be
    /// warmed up with: they are sent even if they did not change.
    pending: BTreeSet<Arc<str>>,
    /// Everything that the client was sent, accepted or not; `None` before the first answer.
    pub(crate) sent: Option<Arc<Collection>>,
    /// The resources that the client accepted.
    pub(crate) accepted: Arc<Collection>,
    /// Responses without an answer, oldest first.
    in_flight: VecDeque<InFlight>,
    /// Contents that the client may hold of responses that a newer one overtook, as long as it
    /// accepted none since.
    unconfirmed: Vec<Arc<Collection>>,
    /// The nonce and version of the last response.
    last: Option<(Arc<str>, Arc<str>)>,
    accepted_version: Option<Arc<str>>,
    /// Of the responses that the client refused, the names and versions.
    refused: BTreeMap<Arc<str>, Arc<str>>,
    /// Names of which it was told, in an incremental response, that there is nothing.
    missing: BTreeSet<Arc<str>>,
    pub(crate) refusal: Option<Refusal>,
    /// True if it has to be looked at again, though its client asked for nothing.
    pub(crate) is_stale: bool,
    /// True if the client has more or less than it will have in the end.
    pub(crate) is_between: bool,
    /// Resources that wait for something else.
    pub(crate) held_back: Vec<Deferred>,
    /// Resources that are gone and only kept because the client still names
    /// them, with the time since when nothing uses them.
    pub(crate) unused_since: BTreeMap<Arc<str>, Duration>,
    /// The time at which the client came with what it holds from elsewhere.
    pub(crate) resumed_at: Option<Duration>,
    /// Until when what is gone stays, because what refers to it may not have been asked for yet.
    pub(crate) settles_at: Option<Duration>,
    /// True if the client said, in the state of the world, that it has something from elsewhere.
    has_more: bool,
    /// What the client accepted before, which goes on there until the time beside it.
    draining: VecDeque<(Duration, Arc<Collection>)>,
}

/// The resources and removals of a response.
pub(crate) struct Payload {
    resources: Arc<[Arc<Resource>]>,
    removed: Arc<[Arc<str>]>,
    unresolved: Arc<[Arc<str>]>,
}

/// How an answer says what there is not.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AnswerForm {
    /// True if an answer in the state of the world has all resources of the type.
    pub(crate) has_all: bool,
    /// True if a name that stands for nothing is an entry without content in an incremental answer, and
    /// not a resource that is gone.
    pub(crate) has_entries_for_nothing: bool,
}

#[derive(Debug)]
struct InFlight {
    nonce: Arc<str>,
    /// The content that the client has if it accepts.
    content: Arc<Collection>,
    /// The resources that the response carries.
    resources: Arc<[Arc<Resource>]>,
    sent_at: Duration,
}

/// A response that a client refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Its version.
    pub version: Arc<str>,
    /// The message of the client.
    pub message: String,
    /// The resources in it that the client had not accepted before: names and versions.
    pub resources: Vec<(Arc<str>, Arc<str>)>,
}

/// A resource whose newest version is not sent yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deferred {
    /// Its name.
    pub name: Arc<str>,
    /// The reason, one phrase.
    pub reason: String,
}

/// The state of one type at a client.
#[derive(Clone, Debug)]
pub struct TypeStatus {
    /// The type.
    pub type_url: Arc<str>,
    /// The version that was sent last.
    pub sent: Option<Arc<str>>,
    /// The version that the client accepted last.
    pub accepted: Option<Arc<str>>,
    /// The response that it refused since.
    pub refused: Option<Refusal>,
    /// Resources that are not sent yet.
    pub held_back: Vec<Deferred>,
    /// The number of names that it asks for; `None`: for all there are.
    pub names: Option<usize>,
    /// The resources that it was sent, accepted or not.
    pub sent_resources: Arc<Collection>,
    /// Those of them that it accepted.
    pub accepted_resources: Arc<Collection>,
}

impl TypeState {
    /// A type that is asked for as this one of its stream; what clients want of it is shared.
    pub(crate) fn new(number: usize, shared: &Arc<SharedNames>) -> TypeState {
        TypeState { number, subscription: Subscription::new(shared), ..TypeState::default() }
    }

    /// Takes a request in; `served` is all that there is of the type. Returns whether there may be
    /// something to answer.
    pub(crate) fn handle_request(
        &mut self,
        request: &Request,
        stream: StreamKind,
        served: &Arc<Collection>,
        now: Duration,
    ) -> bool {
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        match &request.names {
            Names::Sotw(names) if is_first => {
                self.is_unanswered = true;
                self.has_more = !request.version.is_empty();
                self.replace_subscription(names);
                true
            }
            Names::Sotw(names) => self.handle_sotw(request, names, stream),
            Names::Delta { subscribe, unsubscribe, held } if is_first => {
                self.is_delta = true;
                self.is_unanswered = true;
                self.subscription.begin(subscribe);
                self.subscription.remove(unsubscribe);
                let held = self.held(held, served);
                // What it holds is sent only if it changed.
                let is_held = |name: &&String| held.get(name).is_some();
                self.pending = subscribe
                    .iter()
                    .filter(|it| !is_held(it))
                    .map(|it| it.as_str().into())
                    .collect();
                if !held.is_empty() {
                    self.resumed_at = Some(now);
                    self.accepted = Arc::clone(&held);
                    self.sent = Some(held);
                }
                true
            }
            Names::Delta { subscribe, unsubscribe, .. } => {
                self.answered(&request.nonce, request.error.as_deref());
                self.subscription.add(subscribe);
                self.pending.extend(subscribe.iter().map(|it| Arc::from(it.as_str())));
                if self.subscription.remove(unsubscribe) {
                    self.forget_unwanted();
                    self.forget_unasked();
                }
                if self.subscription.is_wildcard() {
                    // Whether everything has it or not, the client has to be told.
                    self.warm(unsubscribe.iter().map(|it| Arc::from(it.as_str())));
                }
                true
            }
        }
    }

    /// Builds the collection that a client says it holds, by name and version, as far as it wants
    /// it. Clients that come again hold most of what is served; they share it.
    fn held(&self, held: &BTreeMap<String, String>, served: &Arc<Collection>) -> Arc<Collection> {
        let wanted = self.subscription.of(served);
        let is_served =
            |it: &Arc<Resource>| wanted.get(&it.name).is_some_and(|wanted| Arc::ptr_eq(wanted, it));
        let resource = |(name, version): (&String, &String)| {
            let same = served.get(name).filter(|it| *it.version == **version);
            same.cloned().unwrap_or_else(|| Arc::new(Resource::held(name, version)))
        };
        let held: Vec<Arc<Resource>> =
            held.iter().map(resource).filter(|it| self.subscription.wants(it)).collect();
        if held.len() == wanted.len() && held.iter().all(is_served) {
            return wanted;
        }
        Arc::new(Collection::of(held))
    }

    /// Learns the contents of what the client came with, as soon as these versions are served: until then
    /// they may refer to anything, and nothing that they may refer to is taken away.
    pub(crate) fn recognize(&mut self, served: &Collection) {
        let in_flight = self.in_flight.iter_mut().map(|it| &mut it.content);
        let draining = self.draining.iter_mut().map(|(_, content)| content);
        let own = self.sent.iter_mut().chain([&mut self.accepted]).chain(&mut self.unconfirmed);
        for content in own.chain(in_flight).chain(draining) {
            if let Some(known) = content.recognized(served) {
                *content = Arc::new(known);
            }
        }
    }

    /// Handles a further request in the state of the world. Source: "ACK/NACK and versioning" of
    /// the xDS protocol: only the nonce says which response it is about, the version does not.
    fn handle_sotw(&mut self, request: &Request, names: &[String], stream: StreamKind) -> bool {
        if let Some((nonce, _)) = &self.last {
            // It crossed the response that is newer, which the client has not seen yet. It will ask
            // again with that nonce, so that answering now would answer twice.
            if **nonce != *request.nonce {
                return false;
            }
            let is_repeated = !self.answered(&request.nonce, request.error.as_deref());
            let before = (self.subscription.is_wildcard(), Arc::clone(self.subscription.set()));
            let added = self.subscription.replace(names);
            let is_same = before.0 == self.subscription.is_wildcard()
                && Arc::ptr_eq(&before.1, self.subscription.set());
            self.pending.extend(added);
            // On a stream of its own, a repeated request says that something is warming up
            // there which this stream knows nothing of.
            if is_repeated && is_same && stream == StreamKind::OneType && request.error.is_none() {
                self.pending.extend(names.iter().map(|it| Arc::from(it.as_str())));
            }
            if !is_same {
                self.forget_unwanted();
            }
            return true;
        }
        self.replace_subscription(names);
        true
    }

    /// Replaces the names of a client that nothing was sent to yet.
    fn replace_subscription(&mut self, names: &[String]) {
        let added = self.subscription.replace(names);
        self.pending.extend(added);
        self.forget_unasked();
    }

    /// Marks what a change of another type has to be warmed up with.
    pub(crate) fn warm(&mut self, names: impl IntoIterator<Item = Arc<str>>) {
        for name in names {
            if self.was_sent(&name) {
                self.pending.insert(name);
            }
        }
    }

    fn was_sent(&self, name: &str) -> bool {
        self.sent.as_ref().is_some_and(|sent| sent.find(name).is_some())
    }

    /// Forgets resources that the client does not want any more: it does not hold them either.
    fn forget_unwanted(&mut self) {
        let TypeState { subscription, sent, accepted, .. } = self;
        if subscription.is_wildcard() {
            return;
        }
        for content in sent.iter_mut().chain([accepted]) {
            if content.iter().any(|it| !subscription.wants(it)) {
                *content = subscription.of(content);
            }
        }
    }

    /// Forgets names that the client does not ask for any more: they need no answer.
    fn forget_unasked(&mut self) {
        let TypeState { subscription, pending: due, missing, .. } = self;
        due.retain(|it| subscription.has(it));
        missing.retain(|it| subscription.has(it));
    }

    /// Takes an answer to a response in. Returns whether one was in flight.
    fn answered(&mut self, nonce: &str, error: Option<&str>) -> bool {
        let Some(at) = self.in_flight.iter().position(|it| *it.nonce == *nonce) else {
            return false;
        };
        self.unconfirmed.extend(self.in_flight.drain(..at).map(|it| it.content));
        let Some(answered) = self.in_flight.pop_front() else { return false };
        if let Some(message) = error {
            let version = Arc::clone(answered.content.version());
            let names = answered.resources.iter().map(|it| &it.name);
            let sent = names.filter_map(|name| answered.content.get(name));
            let refused: Vec<_> = sent.filter(|it| !self.accepted(it)).collect();
            let resources: Vec<_> =
                refused.iter().map(|it| (Arc::clone(&it.name), Arc::clone(&it.version))).collect();
            self.refused.extend(resources.iter().cloned());
            let end = (0..=message.len().min(MAX_MESSAGE)).rev();
            let end = { end }.find(|&at| message.is_char_boundary(at)).unwrap_or(0);
            let message = message[..end].to_owned();
            self.refusal = Some(Refusal { version, message, resources });
            return true;
        }
        self.refusal = None;
        self.unconfirmed.clear();
        self.accepted_version = Some(Arc::clone(answered.content.version()));
        // What it refused before, and has not been sent anew, it has as it was.
        let mut refused = std::mem::take(&mut self.refused);
        if !refused.is_empty() {
            answered.resources.iter().for_each(|it| drop(refused.remove(&it.name)));
        }
        let stays = |(name, version): &(Arc<str>, Arc<str>)| {
            answered.content.get(name).is_some_and(|it| it.version == *version)
        };
        self.refused = refused.into_iter().filter(stays).collect();
        self.accepted = match self.refused.is_empty() {
            true => answered.content,
            false => {
                let old = |name: &Arc<str>| (Arc::clone(name), self.accepted.get(name).cloned());
                Arc::new(answered.content.with(self.refused.keys().map(old).collect()))
            }
        };
        true
    }

    /// Returns true if the client asked for something that was not answered yet.
    pub(crate) fn is_owed(&self) -> bool {
        self.is_unanswered || !self.pending.is_empty()
    }

    /// Returns true if the client said of any answer what it thinks of it, or came with what it was sent
    /// elsewhere.
    pub(crate) fn is_answered(&self) -> bool {
        self.accepted_version.is_some() || self.refusal.is_some() || !self.accepted.is_empty()
    }

    /// Returns true if a first answer in the state of the world would take away what the client has from
    /// elsewhere and may keep.
    pub(crate) fn would_lose<'n>(&self, mut withheld: impl Iterator<Item = &'n Arc<str>>) -> bool {
        let wants = |name: &str| self.subscription.is_wildcard() || self.subscription.has(name);
        self.has_more && self.sent.is_none() && withheld.any(|it| wants(it))
    }

    /// Returns true if an answer is on its way to the client or back.
    pub(crate) fn is_in_flight(&self) -> bool {
        !self.in_flight.is_empty()
    }

    /// Returns true if the client has a resource, refused it, or was told that there is none.
    pub(crate) fn has_settled(&self, name: &str) -> bool {
        self.accepted.find(name).is_some()
            || self.refused.contains_key(name)
            || self.missing.contains(name)
    }

    /// Until when the client has time to answer the last response, if it did not.
    pub(crate) fn busy_until(&self, patience: Duration) -> Option<Duration> {
        self.in_flight.back().map(|it| it.sent_at + patience)
    }

    /// Returns true if the client accepted this very version of a resource.
    fn accepted(&self, resource: &Resource) -> bool {
        self.accepted.get(&resource.name).is_some_and(|it| it.version == resource.version)
    }

    /// Returns true if the client has this very version of a resource, and no response that is on
    /// its way takes it away.
    pub(crate) fn surely_holds(&self, resource: &Resource) -> bool {
        self.accepted(resource) && self.is_in_all(&resource.name)
    }

    /// Returns true if the client, which accepted nothing yet, has this resource as soon as it
    /// accepts anything.
    pub(crate) fn begins_with(&self, name: &str) -> bool {
        // One that came with something may refuse what it is given here.
        let begins = self.accepted_version.is_none() && self.resumed_at.is_none();
        begins && self.is_in_all(name)
    }

    /// Returns true if everything that was sent and may be what the client holds has this name.
    fn is_in_all(&self, name: &str) -> bool {
        let in_flight = self.in_flight.iter().map(|it| &it.content);
        let mut all = in_flight.chain(&self.unconfirmed).chain(&self.sent);
        all.all(|content| content.get(name).is_some())
    }

    /// Returns true if the client refused this very version of a resource.
    pub(crate) fn refused(&self, resource: &Resource) -> bool {
        self.refused.get(&resource.name).is_some_and(|version| *version == resource.version)
    }

    /// The resources that the client was sent and has not answered about yet: it may be warming them up.
    pub(crate) fn unanswered(&self) -> impl Iterator<Item = &Arc<Resource>> {
        self.in_flight.iter().flat_map(|it| it.resources.iter())
    }

    /// Everything that the client may hold now.
    pub(crate) fn may_hold(&self) -> impl Iterator<Item = &Arc<Collection>> {
        let in_flight = self.in_flight.iter().map(|it| &it.content);
        let draining = self.draining.iter().map(|(_, content)| content);
        let own = self.sent.iter().chain([&self.accepted]);
        own.chain(in_flight).chain(&self.unconfirmed).chain(draining)
    }

    /// Records that what the client had before goes on there for a time, if it has something else now.
    pub(crate) fn drain(&mut self, had: Arc<Collection>, until: Duration) {
        if Arc::ptr_eq(&had, &self.accepted) || had.is_empty() {
            return;
        }
        let has_changed = had.iter().any(|it| !self.accepted(it));
        if has_changed {
            self.draining.truncate(MAX_DRAINING - 1);
            self.draining.push_front((until, had));
        }
    }

    /// Forgets what has drained by now. Returns true if there was something.
    pub(crate) fn forget_drained(&mut self, now: Duration) -> bool {
        let before = self.draining.len();
        self.draining.retain(|(until, _)| now < *until);
        self.draining.len() < before
    }

    /// Returns the time at which the oldest content that drains has drained, if one does.
    pub(crate) fn drained_at(&self) -> Option<Duration> {
        self.draining.back().map(|(until, _)| *until)
    }

    /// Makes the payload that takes the client from what it was sent to `content`,
    /// if one has to be sent. `awaits` says of a missing name whether it may still come.
    pub(crate) fn respond(
        &mut self,
        form: AnswerForm,
        content: &Arc<Collection>,
        awaits: impl Fn(&str) -> bool,
    ) -> Option<Payload> {
        let sent = self.sent.as_ref().unwrap_or(Collection::nothing());
        let difference = content.since(sent);
        let due = std::mem::take(&mut self.pending);
        let mut is_asked =
            std::mem::take(&mut self.is_unanswered) && self.subscription.is_wildcard();
        // What is sent besides the difference, because it was asked for.
        let mut again: BTreeMap<&Arc<str>, &Arc<Resource>> = BTreeMap::new();
        let mut missing: Vec<Arc<str>> = Vec::new();
        for name in &due {
            match content.find(name) {
                Some(resource) if difference.has_changed(&resource.name) => {}
                // The client has it from elsewhere, and nobody can send it again.
                Some(resource) if !resource.is_known => {}
                Some(resource) => drop(again.insert(&resource.name, resource)),
                None if **name == *"*" => is_asked = true,
                None if awaits(name) => {}
                None => {
                    is_asked = true;
                    if !difference.has_removed(name) {
                        missing.push(Arc::clone(name));
                    }
                }
            }
        }
        let is_whole = !self.is_delta && form.has_all;
        // Elsewhere there is no way to say it: clients drop what nothing uses.
        let tells_removed = self.is_delta || is_whole;
        let is_needed = is_asked
            || !again.is_empty()
            || !difference.changed.is_empty()
            || tells_removed && !difference.removed.is_empty();
        let resources = match is_whole {
            true => content.all(),
            false if again.is_empty() => Arc::clone(&difference.changed),
            false => {
                again.extend(difference.changed.iter().map(|it| (&it.name, it)));
                again.into_values().cloned().collect()
            }
        };
        if self.is_delta {
            self.missing.extend(missing.iter().filter(|it| self.subscription.has(it)).cloned());
        }
        let mut unresolved: Arc<[Arc<str>]> = Arc::default();
        if self.is_delta && form.has_entries_for_nothing && !missing.is_empty() {
            unresolved = std::mem::take(&mut missing).into();
        }
        let removed = match self.is_delta {
            true if missing.is_empty() => Arc::clone(&difference.removed),
            true => difference.removed.iter().cloned().chain(missing).collect(),
            false => Arc::default(),
        };
        self.sent = Some(Arc::clone(content));
        is_needed.then_some(Payload { resources, removed, unresolved })
    }

    /// Records that a response goes out.
    pub(crate) fn launch(
        &mut self,
        type_url: &Arc<str>,
        nonce: Arc<str>,
        Payload { resources, removed, unresolved }: Payload,
        now: Duration,
    ) -> Response {
        let content = self.sent.clone().unwrap_or_default();
        // A client that never answers is not remembered for ever.
        self.in_flight.drain(..self.in_flight.len().saturating_sub(MAX_IN_FLIGHT - 1));
        self.unconfirmed.truncate(MAX_IN_FLIGHT);
        let version = Arc::clone(content.version());
        self.last = Some((Arc::clone(&nonce), Arc::clone(&version)));
        self.in_flight.push_back(InFlight {
            nonce: Arc::clone(&nonce),
            content,
            resources: Arc::clone(&resources),
            sent_at: now,
        });
        let type_url = Arc::clone(type_url);
        let is_delta = self.is_delta;
        Response { type_url, version, nonce, resources, removed, unresolved, is_delta }
    }

    /// Returns what the client has of this type.
    pub(crate) fn status(&self, type_url: &Arc<str>) -> TypeStatus {
        TypeStatus {
            type_url: Arc::clone(type_url),
            sent: self.last.as_ref().map(|(_, version)| Arc::clone(version)),
            accepted: self.accepted_version.clone(),
            refused: self.refusal.clone(),
            held_back: self.held_back.clone(),
            names: (!self.subscription.is_wildcard()).then(|| self.subscription.len()),
            sent_resources: Arc::clone(self.sent.as_ref().unwrap_or(Collection::nothing())),
            accepted_resources: Arc::clone(&self.accepted),
        }
    }
}
