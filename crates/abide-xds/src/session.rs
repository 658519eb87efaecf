//! One stream of one client.

mod initialisation;
mod name_share;
mod order;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

pub use initialisation::{Awaited, HealthChecks, Initialisation, Phase};

use self::name_share::NameShare;
use crate::collection::Collection;
use crate::kind::{Kind, Types};
use crate::message::{Action, Event, Names, Request, Response, StreamError};
use crate::names::SharedNames;
use crate::resource::Resource;
use crate::snapshot::Snapshot;
use crate::topic::{AnswerForm, StreamKind, TypeState, TypeStatus};

/// The number of bytes a type URL may have.
const MAX_TYPE_URL: usize = 1024;

/// The settings of a session.
#[derive(Clone, Debug)]
pub struct Options {
    /// The types of resource that the server knows.
    pub types: Types,
    /// The only type of the stream; `None`: all types share it (ADS).
    pub only: Option<Arc<str>>,
    /// True if a change goes out in steps, so that no request is lost: what is
    /// added, then what directs requests there, then what is gone. Only where all
    /// types share a stream.
    pub is_ordered: bool,
    /// The time that a client may take to answer before a newer change is sent.
    pub patience: Duration,
    /// The time that something that is gone, and that nothing uses, is kept for a client
    /// that still names it.
    pub grace: Duration,
    /// The time for which a listener that changed or is gone may go on at the client with the old routes
    /// and clusters.
    pub drain: Duration,
    /// The time that a client that comes with what it holds has time to ask for what may refer to it,
    /// before it is told what of it is gone.
    pub settling: Duration,
    /// The number of names one type may have.
    pub max_names: usize,
    /// The number of bytes the names of one type may have in all.
    pub max_name_bytes: usize,
    /// The number of types the stream may have.
    pub max_types: usize,
    /// The number of names all streams may have that share [`Options::names`]; what many ask for counts once.
    pub max_all_names: usize,
    /// The store that shares the names that clients ask for: one for all streams of a server.
    pub names: Arc<SharedNames>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            types: Types::default(),
            only: None,
            is_ordered: true,
            patience: Duration::from_secs(5),
            grace: Duration::from_secs(30),
            drain: Duration::from_secs(600),
            settling: Duration::from_secs(2),
            max_names: 100_000,
            max_name_bytes: 8 << 20,
            max_types: 64,
            max_all_names: 2_000_000,
            names: Arc::default(),
        }
    }
}

/// One stream of one client. Times are durations since any moment, the same for all
/// calls.
#[derive(Debug)]
pub struct Session {
    options: Options,
    target: Option<Arc<Snapshot>>,
    /// By kind, then by type URL: the order in which types are sent.
    topics: Topics,
    /// Resources that are removed, but may be asked for by a client that holds what refers to them.
    retired: Retired,
    nonces: u64,
    /// True if it ended; then it does nothing more.
    is_over: bool,
    /// True if its client takes requests, as far as can be seen from here.
    has_initialised: bool,
    /// Its share of the names that all streams may ask for.
    share: NameShare,
}

/// The types of a stream, by kind, then by type URL.
type Topics = BTreeMap<(Kind, Arc<str>), TypeState>;

/// Resources by type and name.
type Retired = BTreeMap<(Kind, Arc<str>), BTreeMap<Arc<str>, Arc<Resource>>>;

impl Session {
    /// A stream on which nothing was sent yet.
    pub fn new(options: Options) -> Session {
        let (topics, retired) = (BTreeMap::new(), BTreeMap::new());
        let share = NameShare::new(&options.names);
        Session {
            options,
            target: None,
            topics,
            retired,
            nonces: 0,
            is_over: false,
            has_initialised: false,
            share,
        }
    }

    /// Takes in what happened and returns what to do, in that order.
    pub fn step(&mut self, now: Duration, event: Event) -> Vec<Action> {
        if self.is_over {
            return Vec::new();
        }
        let mut refused = None;
        let drained = self.topics.values_mut().map(|it| it.forget_drained(now));
        if drained.fold(false, |any, it| any | it) {
            self.reconsider();
        }
        match event {
            Event::Request(request) => match self.request(now, &request) {
                Ok(()) => {
                    self.note_progress();
                    refused = self.find_client_nack(&request);
                }
                Err(ending) => {
                    self.is_over = true;
                    return vec![Action::End(ending)];
                }
            },
            Event::Snapshot(snapshot) => {
                if let Some(old) = self.target.replace(Arc::clone(&snapshot)) {
                    let types = &self.options.types;
                    self.retired =
                        order::collect_retired(types, &self.topics, &self.retired, &old, &snapshot);
                }
                for ((_, url), topic) in &mut self.topics {
                    topic.recognize(snapshot.collection(url).unwrap_or(Collection::nothing()));
                }
                self.reconsider();
            }
            Event::Tick => self.reconsider(),
        }
        let mut actions = self.send(now);
        actions.extend(refused);
        actions
    }

    /// Returns what a request refuses. One that comes late, with the nonce of an older response,
    /// stands by the refusal before.
    fn find_client_nack(&self, request: &Request) -> Option<Action> {
        if request.error.is_none() || !self.has_sent(&request.nonce) {
            return None;
        }
        let url: Arc<str> = match &self.options.only {
            Some(only) => Arc::clone(only),
            None => request.type_url.as_str().into(),
        };
        let key = (self.options.types.kind(&url), url);
        let refusal = self.topics.get(&key)?.refusal.clone()?;
        Some(Action::Refused { type_url: key.1, refusal })
    }

    /// Returns true if a response with this nonce was sent on this stream.
    pub fn has_sent(&self, nonce: &str) -> bool {
        nonce.parse().is_ok_and(|it: u64| (1..=self.nonces).contains(&it))
    }

    /// Returns the time at which [`Event::Tick`] is due, if nothing happens before.
    pub fn deadline(&self) -> Option<Duration> {
        let busy = self.topics.values().filter(|it| it.is_stale);
        let busy = busy.filter_map(|it| it.busy_until(self.options.patience));
        let kept = self.topics.values().flat_map(|it| it.unused_since.values());
        let settling = self.topics.values().filter_map(|it| it.settles_at);
        let draining = self.topics.values().filter_map(TypeState::drained_at);
        let kept = kept.map(|&since| since + self.options.grace);
        busy.chain(kept).chain(settling).chain(draining).min()
    }

    /// Returns true if the client answered all that it was sent, and no change is half sent: it asked for
    /// all that this refers to.
    pub fn is_settled(&self) -> bool {
        let waits = |it: &TypeState| it.is_in_flight() || it.is_owed() || !it.held_back.is_empty();
        !self.topics.values().any(waits) && !self.has_more_to_ask_for()
    }

    /// Returns true if what the client was sent refers to something that is served to it, and that it did
    /// not ask for yet.
    fn has_more_to_ask_for(&self) -> bool {
        let Some(target) = &self.target else { return false };
        if self.options.only.is_some() {
            return false; // Other streams of the client ask for the rest.
        }
        let sent = self.topics.values().filter_map(|it| it.sent.as_ref());
        let mut references = sent.flat_map(|it| it.iter()).flat_map(|it| &*it.references);
        references.any(|reference| {
            let mut asked = self.topics.iter().filter(|((kind, _), _)| *kind == reference.kind);
            let is_served = || {
                let mut own = target
                    .types()
                    .filter(|(url, _)| self.options.types.kind(url) == reference.kind);
                own.any(|(_, all)| reference.is_met_by(all))
            };
            !asked.any(|(_, it)| it.subscription.wants_name(&reference.name)) && is_served()
        })
    }

    /// Returns true if the client accepted all that it was sent. What is held back for it is not sent yet.
    pub fn has_accepted_all(&self) -> bool {
        self.topics.values().all(|it| !it.is_in_flight() && it.refusal.is_none())
    }

    /// Lists what the client has, by type.
    pub fn status(&self) -> Vec<TypeStatus> {
        self.topics.iter().map(|((_, url), topic)| topic.status(url)).collect()
    }

    fn request(&mut self, now: Duration, request: &Request) -> Result<(), StreamError> {
        let url: Arc<str> = match &self.options.only {
            Some(only) if request.type_url.is_empty() => Arc::clone(only),
            Some(only) if *request.type_url != **only => {
                let message = format!("this stream serves `{only}`, not `{}`", request.type_url);
                return Err(StreamError::Invalid(message));
            }
            None if request.type_url.is_empty() => {
                let message = "a request on a stream of all types has to have a type URL";
                return Err(StreamError::Invalid(message.to_owned()));
            }
            Some(_) | None => request.type_url.as_str().into(),
        };
        if url.len() > MAX_TYPE_URL {
            let message = format!("a type URL has at most {MAX_TYPE_URL} bytes");
            return Err(StreamError::TooMuch(message));
        }
        let max = self.options.max_names;
        let asked = match &request.names {
            Names::Sotw(names) => names.len(),
            Names::Delta { subscribe, unsubscribe, held } => {
                subscribe.len().max(unsubscribe.len()).max(held.len())
            }
        };
        let types = &self.options.types;
        let key = (types.kind(&url), url);
        if !self.topics.contains_key(&key) && self.topics.len() >= self.options.max_types {
            let max = self.options.max_types;
            return Err(StreamError::TooMuch(format!("a stream has at most {max} types")));
        }
        let too_many = || StreamError::TooMuch(format!("a type has at most {max} names"));
        if asked > max {
            return Err(too_many());
        }
        let served = self.target.as_ref().and_then(|it| it.collection(&key.1));
        let served = served.unwrap_or(Collection::nothing());
        // A client that comes again holds endpoints of clusters that changed meanwhile. It warms these up
        // before it asks, and waits for the endpoints even if they are the same.
        let warming = match self.topics.contains_key(&key) {
            true => Vec::new(),
            false => list_warming(types, &self.topics, key.0),
        };
        let number = self.topics.len();
        let names = &self.options.names;
        let drains = key.0 == Kind::LISTENER;
        let topic = self.topics.entry(key).or_insert_with(|| TypeState::new(number, names));
        let before = topic.subscription.len();
        let had = drains.then(|| Arc::clone(&topic.accepted));
        let stream = match self.options.only {
            Some(_) => StreamKind::OneType,
            None => StreamKind::Aggregated,
        };
        let counts = topic.handle_request(request, stream, served, now);
        if let Some(had) = had {
            topic.drain(had, now + self.options.drain);
        }
        if topic.is_answered() {
            topic.first_answer.get_or_insert(now);
        }
        if !counts {
            return Ok(());
        }
        topic.warm(warming);
        if topic.subscription.len() > max {
            return Err(too_many());
        }
        let most = self.options.max_all_names;
        if topic.subscription.len() > before
            && self.share.is_exceeded(most, &topic.subscription, served)
        {
            let message = format!(
                "all clients together may ask for {most} different names, and this one asks for more than its share of them"
            );
            return Err(StreamError::TooMuch(message));
        }
        let max = self.options.max_name_bytes;
        if topic.subscription.bytes() > max {
            let message = format!("the names of a type have at most {max} bytes");
            return Err(StreamError::TooMuch(message));
        }
        topic.is_stale = true;
        // Its answer may be what others wait for.
        self.topics.values_mut().for_each(|it| it.is_stale |= it.is_between);
        Ok(())
    }

    fn reconsider(&mut self) {
        self.topics.values_mut().for_each(|it| it.is_stale = true);
    }

    fn send(&mut self, now: Duration) -> Vec<Action> {
        let Some(target) = self.target.clone() else { return Vec::new() };
        let types = self.options.types.clone();
        let keys: Vec<_> = self.topics.keys().cloned().collect();
        let mut actions = Vec::new();
        for key in keys {
            let Some(topic) = self.topics.get(&key) else { continue };
            if !topic.is_stale && !topic.is_owed() {
                continue;
            }
            let planned = order::plan_response(
                &self.topics,
                &self.retired,
                &key,
                &target,
                &self.options,
                now,
            );
            let Some(topic) = self.topics.get_mut(&key) else { continue };
            topic.is_between = planned.is_between;
            topic.held_back = planned.held_back;
            topic.unused_since = planned.unused_since;
            topic.settles_at = planned.settles_at;
            let content = planned.content;
            let is_whole = types.is(key.0, |it| it.is_whole);
            if is_whole && topic.would_lose(target.withheld(&key.1)) {
                continue; // It is answered as soon as nothing is withheld.
            }
            let is_new = topic.sent.as_ref().is_none_or(|it| it.version() != content.version());
            let busy_until = topic.busy_until(self.options.patience);
            if !topic.is_owed() && is_new && busy_until.is_some_and(|until| now < until) {
                continue; // It stays stale; the answer or the deadline brings it up again.
            }
            topic.is_stale = false;
            if !topic.is_owed() && !is_new {
                continue;
            }
            let (kind, url) = &key;
            let awaits = |name: &str| {
                let is_held_back = target.collection(url).is_some_and(|it| it.find(name).is_some());
                let is_awaited = types.is(*kind, |it| it.is_awaited);
                is_held_back || is_awaited && target.refers_to(*kind, name)
            };
            let before = topic.sent.as_ref().unwrap_or(Collection::nothing()).clone();
            let form = AnswerForm {
                has_all: is_whole,
                // A proxy asks for the host of a request, which waits: "On-demand VHDS" of Envoy's
                // documentation.
                has_entries_for_nothing: *kind == Kind::VIRTUAL_HOST,
            };
            let Some(payload) = topic.respond(form, &content, awaits) else {
                continue;
            };
            self.nonces += 1;
            let nonce = self.nonces.to_string().into();
            let response = topic.launch(url, nonce, payload, now);
            if let Some(warmed) = types.warmed_by(*kind) {
                let difference = content.since(&before);
                // What it refused is new to it again.
                let again = response.resources.iter().filter(|it| topic.refused(it));
                let names = difference.changed.iter().chain(again).flat_map(|it| &*it.references);
                let names = names.filter(|it| it.kind == warmed).map(|it| Arc::clone(&it.name));
                let names: BTreeSet<Arc<str>> = names.collect();
                let topics = self.topics.iter_mut().filter(|((kind, _), _)| *kind == warmed);
                topics.for_each(|(_, topic)| topic.warm(names.iter().cloned()));
            }
            actions.push(Action::Send(response));
        }
        actions
    }
}

/// The names of a kind that clients need for what they may be warming up.
fn list_warming(types: &Types, topics: &Topics, kind: Kind) -> Vec<Arc<str>> {
    let others = topics.iter().filter(|((other, _), _)| types.warmed_by(*other) == Some(kind));
    let resources = others.flat_map(|(_, topic)| topic.unanswered());
    let references = resources.flat_map(|it| &*it.references).filter(|it| it.kind == kind);
    references.map(|it| Arc::clone(&it.name)).collect()
}

impl Action {
    /// The response, if it is one.
    pub fn response(&self) -> Option<&Response> {
        match self {
            Action::Send(response) => Some(response),
            Action::Refused { .. } | Action::End(_) => None,
        }
    }
}
