//! Laws over random interleavings of servers' changes and clients' answers.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use abide_xds::{
    Action, Event, Kind, Names, Options, Request, Resource, Response, Session, Snapshot, Types,
};
use fastrand::Rng;

use super::observer::Observer;
use super::script::{snapshot, url};

/// A client as Envoy is one: it wants all clusters and listeners, and the endpoints and
/// routes that those refer to. It answers about clusters at once or after their endpoints.
pub(crate) struct Client {
    pub(crate) session: Session,
    observer: Observer,
    is_delta: bool,
    is_patient: bool,
    pub(crate) now: Duration,
    /// What is on the way to it, and from it.
    inbox: VecDeque<Response>,
    outbox: VecDeque<Request>,
    pub(crate) held: BTreeMap<Kind, BTreeMap<Arc<str>, Arc<Resource>>>,
    named: BTreeMap<Kind, BTreeSet<String>>,
    nonces: BTreeMap<Kind, String>,
    /// An answer about clusters that waits for their endpoints, and for which.
    waiting: Option<(Request, BTreeSet<String>)>,
    received: usize,
    /// Whether it came to the server with things that an earlier stream gave it.
    pub(crate) is_back: bool,
    /// Clusters that it does not have because a server could not give them to it: what is the first of its
    /// name may lead to these.
    lacking: BTreeSet<String>,
}

pub(crate) const KINDS: [(Kind, &str); 4] = [
    (Kind::CLUSTER, "cds"),
    (Kind::ENDPOINTS, "eds"),
    (Kind::LISTENER, "lds"),
    (Kind::ROUTES, "rds"),
];

pub(crate) fn type_url(kind: Kind) -> String {
    url(KINDS.iter().find(|it| it.0 == kind).expect("one of four").1)
}

impl Client {
    pub(crate) fn new(is_delta: bool, is_patient: bool) -> Client {
        let mut client = Client {
            session: Session::new(Options::default()),
            observer: Observer::default(),
            is_delta,
            is_patient,
            now: Duration::ZERO,
            inbox: VecDeque::new(),
            outbox: VecDeque::new(),
            held: BTreeMap::new(),
            named: BTreeMap::new(),
            nonces: BTreeMap::new(),
            waiting: None,
            received: 0,
            is_back: false,
            lacking: BTreeSet::new(),
        };
        for kind in [Kind::CLUSTER, Kind::LISTENER] {
            client.request(kind, BTreeSet::new(), String::new(), None);
        }
        client
    }

    /// Puts a request on the way: what it wants now, and what it thinks of a response.
    fn request(
        &mut self,
        kind: Kind,
        names: BTreeSet<String>,
        nonce: String,
        error: Option<String>,
    ) {
        let request = self.made(kind, names, nonce, error);
        self.outbox.push_back(request);
    }

    fn made(
        &mut self,
        kind: Kind,
        names: BTreeSet<String>,
        nonce: String,
        error: Option<String>,
    ) -> Request {
        let before = self.named.insert(kind, names.clone()).unwrap_or_default();
        let names = match self.is_delta {
            false => Names::Sotw(names.into_iter().collect()),
            true => Names::Delta {
                subscribe: names.difference(&before).cloned().collect(),
                unsubscribe: before.difference(&names).cloned().collect(),
                held: BTreeMap::new(),
            },
        };
        let version = if self.held.contains_key(&kind) { "1" } else { "" }.to_owned();
        Request { type_url: type_url(kind), nonce, version, error, names }
    }

    /// The server takes an event in.
    pub(crate) fn step(&mut self, event: Event) {
        match &event {
            Event::Request(request) => self.observer.request(request),
            Event::Snapshot(snapshot) => self.observer.serve(snapshot),
            Event::Tick => {}
        }
        for action in self.session.step(self.now, event) {
            match action {
                Action::Send(response) => {
                    let is_blank = response.resources.iter().any(|it| it.body.is_empty());
                    assert!(!is_blank, "a resource without content: {response:?}");
                    self.observer.response(&response);
                    self.inbox.push_back(response);
                }
                Action::Refused { .. } => {}
                Action::End(ending) => panic!("{ending:?}"),
            }
        }
    }

    /// Its stream breaks, and what was on the way is lost. On a new one it says what it wants and, if
    /// it can, what it holds.
    pub(crate) fn reconnect(&mut self, target: Arc<Snapshot>) {
        // Whatever the delay, it asks for all that it wants.
        let settling = Duration::from_secs(1 << 20);
        self.session = Session::new(Options { settling, ..Options::default() });
        self.observer = Observer::default();
        self.inbox.clear();
        self.outbox.clear();
        self.nonces.clear();
        self.waiting = None;
        self.is_back = true;
        self.step(Event::Snapshot(target));
        for (kind, names) in std::mem::take(&mut self.named) {
            if names.is_empty() && !matches!(kind, Kind::CLUSTER | Kind::LISTENER) {
                continue;
            }
            let mut request = self.made(kind, names, String::new(), None);
            if let Names::Delta { held, .. } = &mut request.names {
                let known = self.held.get(&kind).into_iter().flatten();
                held.extend(known.map(|(name, it)| (name.to_string(), it.version.to_string())));
            }
            self.outbox.push_back(request);
        }
    }

    /// One of its requests arrives at the server.
    pub(crate) fn deliver(&mut self) {
        if let Some(request) = self.outbox.pop_front() {
            self.step(Event::Request(request));
        }
    }

    /// It reads one response, and refuses it or not.
    pub(crate) fn read(&mut self, refuses: bool) {
        let Some(response) = self.inbox.pop_front() else { return };
        self.received += 1;
        let kind = Types::default().kind(&response.type_url);
        let names = self.named.get(&kind).cloned().unwrap_or_default();
        let nonce = response.nonce.to_string();
        self.nonces.insert(kind, nonce.clone());
        // It starts with what it is given.
        if refuses && self.held.contains_key(&kind) {
            // Answers keep their order.
            let older = self.waiting.take_if(|_| kind == Kind::CLUSTER);
            self.outbox.extend(older.map(|(answer, _)| answer));
            // What is gone is gone, whatever it makes of the rest.
            if let Some(held) = self.held.get_mut(&kind) {
                response.removed.iter().for_each(|name| drop(held.remove(name)));
            }
            self.request(kind, names, nonce, Some("no".to_owned()));
            if kind == Kind::ENDPOINTS {
                // As in Envoy, a refusal ends the wait as well.
                self.arrived(response.resources.iter().map(|it| it.name.to_string()).collect());
            }
            return;
        }
        let held = self.held.entry(kind).or_default();
        let changed: BTreeSet<Arc<str>> = response
            .resources
            .iter()
            .filter(|it| held.get(&it.name).is_none_or(|old| old.version != it.version))
            .map(|it| Arc::clone(&it.name))
            .collect();
        if !self.is_delta && matches!(kind, Kind::CLUSTER | Kind::LISTENER) {
            held.clear();
        }
        let is_wanted = |it: &&Arc<Resource>| {
            matches!(kind, Kind::CLUSTER | Kind::LISTENER) || names.contains(&*it.name)
        };
        let wanted = response.resources.iter().filter(is_wanted);
        held.extend(wanted.map(|it| (Arc::clone(&it.name), Arc::clone(it))));
        response.removed.iter().for_each(|name| drop(held.remove(name)));
        let follower = match kind {
            Kind::CLUSTER => Some(Kind::ENDPOINTS),
            Kind::LISTENER => Some(Kind::ROUTES),
            _ => None,
        };
        let Some(follower) = follower else {
            self.request(kind, names, nonce, None);
            let arrived = response.resources.iter().map(|it| it.name.to_string());
            return self.arrived(arrived.collect());
        };
        let refers =
            |it: &Resource| it.references.iter().map(|it| it.name.to_string()).collect::<Vec<_>>();
        let wanted: BTreeSet<String> = held.values().flat_map(|it| refers(it)).collect();
        let warming: BTreeSet<String> =
            changed.iter().filter_map(|it| held.get(it)).flat_map(|it| refers(it)).collect();
        // A cluster that is gone takes its endpoints along.
        let kept = self.held.entry(follower).or_default();
        kept.retain(|name, _| wanted.contains(&**name));
        if self.named.get(&follower) != Some(&wanted)
            && (self.named.contains_key(&follower) || !wanted.is_empty())
        {
            let nonce = match self.is_delta {
                true => String::new(),
                false => self.nonces.get(&follower).cloned().unwrap_or_default(),
            };
            self.request(follower, wanted, nonce, None);
        }
        let answer = self.made(kind, names, nonce, None);
        if kind == Kind::CLUSTER && self.is_patient && !warming.is_empty() {
            // Of two that wait, the newer says all.
            let mut warming = warming;
            if let Some((older, before)) = self.waiting.take() {
                self.outbox.push_back(older);
                let named = &self.named[&follower];
                warming.extend(before.into_iter().filter(|it| named.contains(it)));
            }
            self.waiting = Some((answer, warming));
        } else {
            self.outbox.push_back(answer);
        }
    }

    /// Endpoints arrived: what waits for them may go on.
    fn arrived(&mut self, names: Vec<String>) {
        let Some((_, warming)) = &mut self.waiting else { return };
        warming.retain(|name| !names.contains(name));
        if warming.is_empty()
            && let Some((answer, _)) = self.waiting.take()
        {
            self.outbox.push_back(answer);
        }
    }

    /// A server cannot give it these clusters. It may have them from before.
    pub(crate) fn lacks<'n>(&mut self, clusters: impl Iterator<Item = &'n str>) {
        let held = self.held.get(&Kind::CLUSTER);
        let has = |name: &str| held.is_some_and(|it| it.contains_key(name));
        self.lacking.extend(clusters.map(str::to_owned));
        self.lacking.retain(|it| !has(it));
    }

    /// Every route that it follows leads to a cluster that it has. In the state of the world a server
    /// knows nothing of routes that an earlier stream brought.
    pub(crate) fn check(&self, history: &[String]) {
        if self.is_back && !self.is_delta {
            return;
        }
        let nothing = BTreeMap::new();
        let clusters = self.held.get(&Kind::CLUSTER).unwrap_or(&nothing);
        for route in self.held.get(&Kind::ROUTES).into_iter().flat_map(BTreeMap::values) {
            for reference in &route.references {
                if self.lacking.contains(&*reference.name) {
                    continue;
                }
                assert!(
                    clusters.contains_key(&reference.name),
                    "the route `{}` leads nowhere: `{}` is gone after {history:#?}",
                    route.name,
                    reference.name
                );
            }
        }
    }

    /// The routes that it has.
    pub(crate) fn routes(&self) -> impl Iterator<Item = Arc<str>> {
        self.held.get(&Kind::ROUTES).into_iter().flat_map(BTreeMap::keys).cloned()
    }

    /// Returns true if it has no such route, or the clusters that this leads to.
    pub(crate) fn leads_somewhere(&self, route: &str) -> bool {
        let route = self.held.get(&Kind::ROUTES).and_then(|it| it.get(route));
        let clusters = self.held.get(&Kind::CLUSTER);
        let has = |name: &Arc<str>| clusters.is_some_and(|it| it.contains_key(name));
        route.into_iter().flat_map(|it| &*it.references).all(|it| has(&it.name))
    }

    /// Everything arrives, until nothing is on the way.
    pub(crate) fn settle(&mut self, history: &[String]) {
        for _ in 0..10_000 {
            if self.inbox.is_empty() && self.outbox.is_empty() {
                match self.session.deadline() {
                    Some(deadline) => {
                        self.now = self.now.max(deadline);
                        self.step(Event::Tick);
                    }
                    None => return,
                }
            }
            self.deliver();
            self.read(false);
            self.check(history);
        }
        panic!("it never ends: {history:#?}");
    }
}

/// What is served: some clusters with their endpoints, and routes to some of them.
pub(crate) fn scene(rng: &mut Rng) -> String {
    let mut clusters = BTreeSet::from([rng.usize(..5)]);
    clusters.extend((0..5).filter(|_| rng.bool()));
    let mut text = String::from("cds:");
    for it in &clusters {
        text.push_str(&format!(" c{it}@{}>eds/e{it}", rng.u8(..3)));
    }
    text.push_str(" eds:");
    for it in &clusters {
        text.push_str(&format!(" e{it}@{}", rng.u8(..2)));
    }
    let all: Vec<usize> = clusters.into_iter().collect();
    text.push_str(&format!(" lds: l@{}>rds/r>rds/s rds:", rng.u8(..2)));
    for route in ["r", "s"] {
        text.push_str(&format!(" {route}>cds/c{}", all[rng.usize(..all.len())]));
    }
    text
}

/// One client's life with random changes, delays and refusals. Returns the client and
/// what was served last.
fn live(seed: u64, is_delta: bool, may_refuse: bool) -> (Client, String, Vec<String>) {
    let mut rng = Rng::with_seed(seed);
    let mut client = Client::new(is_delta, rng.bool());
    let (mut served, mut history) =
        (scene(&mut rng), vec![format!("seed {seed}, delta {is_delta}")]);
    history.push(served.clone());
    client.step(Event::Snapshot(Arc::new(snapshot(&served))));
    for _ in 0..rng.usize(5..60) {
        match rng.u8(..8) {
            0 => {
                served = scene(&mut rng);
                history.push(served.clone());
                client.step(Event::Snapshot(Arc::new(snapshot(&served))));
            }
            1 => {
                client.now += Duration::from_millis(rng.u64(..3000));
                client.step(Event::Tick);
            }
            2..5 => client.deliver(),
            _ => client.read(may_refuse && rng.u8(..6) == 0),
        }
        client.check(&history);
    }
    client.settle(&history);
    (client, served, history)
}

/// Whatever order things arrive in, in the end a client holds what is served.
#[test]
fn clients_converge() {
    for seed in 0..300 {
        for is_delta in [false, true] {
            let (mut client, served, history) = live(seed, is_delta, false);
            let target = snapshot(&served);
            for (kind, _) in KINDS {
                let url = type_url(kind);
                let expected: BTreeMap<&str, &str> = target
                    .collection(&url)
                    .expect("every type is served")
                    .iter()
                    .filter(|it| {
                        matches!(kind, Kind::CLUSTER | Kind::LISTENER)
                            || client.named[&kind].contains(&*it.name)
                    })
                    .map(|it| (&*it.name, &*it.version))
                    .collect();
                let held = client.held.get(&kind).expect("it has some");
                let held: BTreeMap<&str, &str> =
                    held.iter().map(|(name, it)| (&**name, &*it.version)).collect();
                assert_eq!(held, expected, "{kind:?} after {history:#?}");
            }
            // And then there is nothing to say.
            let received = client.received;
            client.now += Duration::from_secs(3600);
            client.step(Event::Snapshot(Arc::new(snapshot(&served))));
            client.step(Event::Tick);
            client.settle(&history);
            assert_eq!(client.received, received, "after {history:#?}");
            assert!(
                client
                    .session
                    .status()
                    .iter()
                    .all(|it| it.held_back.is_empty() && it.sent == it.accepted)
            );
        }
    }
}

/// Also clients that refuse some responses never follow a route to nowhere.
#[test]
fn refusals_break_no_route() {
    let mut refusals = 0;
    for seed in 0..300 {
        for is_delta in [false, true] {
            let (client, ..) = live(seed, is_delta, true);
            refusals += client.session.status().iter().filter(|it| it.refused.is_some()).count();
        }
    }
    assert!(refusals > 50, "some have to refuse: {refusals}");
}

/// Sessions know nothing of each other: a client sees the same alone and among others.
#[test]
fn sessions_do_not_mix() {
    for seed in 0..200 {
        let log = |client: &Client| format!("{:?} {:?}", client.held, client.session.status());
        let alone = log(&live(seed, false, true).0);
        let others: Vec<_> = (seed + 1..seed + 4).map(|it| live(it, true, true)).collect();
        assert_eq!(alone, log(&live(seed, false, true).0), "beside {} others", others.len());
    }
}
