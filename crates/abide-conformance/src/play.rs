//! Plays a scenario against a target.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::time::Duration;

use abide_xds::Names;
use abide_xds::wire::Node;
use bytes::Bytes;

use crate::message::{Arrival, Ask, Received};
use crate::resources::{MARK, Served, Type};
use crate::scenario::{About, Scenario, Step, Verb, Wanted, Way};

/// A server that scenarios are played against.
pub(crate) trait Target {
    /// Serves this from now on. Returns when clients get it.
    fn serve(&mut self, served: &Served) -> Result<(), Stop>;

    /// Opens a stream.
    fn open(&mut self, stream: &Stream) -> Result<usize, Stop>;

    /// Sends a request on a stream.
    fn send(&mut self, stream: usize, ask: Ask);

    /// Waits for what comes next on any stream, within this time.
    fn next(&mut self, within: Duration) -> Option<(usize, Arrival)>;

    /// Ends a stream; nothing more comes on it.
    fn close(&mut self, stream: usize);

    /// Lets time pass.
    fn wait(&mut self, time: Duration) -> Result<(), Stop>;
}

/// A stream to open.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stream {
    /// The only type of it; none: all types.
    pub(crate) only: Option<Type>,
    pub(crate) is_delta: bool,
    /// True if it is polls over HTTP.
    pub(crate) is_rest: bool,
}

/// A stop of a scenario before its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It cannot be played here: why.
    Skip(String),
    /// The target failed: what was awaited and what came.
    Fail(String),
}

/// The result of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All went as it is written.
    Passed,
    /// What was awaited and what came.
    Failed(String),
    /// Why it cannot be played here.
    Skipped(String),
}

impl From<Result<(), Stop>> for Outcome {
    fn from(result: Result<(), Stop>) -> Outcome {
        match result {
            Ok(()) => Outcome::Passed,
            Err(Stop::Fail(why)) => Outcome::Failed(why),
            Err(Stop::Skip(why)) => Outcome::Skipped(why),
        }
    }
}

/// The rules by which scenarios are judged.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The time that a response may take.
    pub patience: Duration,
    /// The time for which nothing has to come where nothing may come.
    pub quiet: Duration,
    /// True if responses in the state of the world may hold no more than what changed.
    pub is_strict: bool,
    /// The id of every client; without it each has its own.
    pub node_id: Option<String>,
}

/// Plays a scenario in one way.
pub(crate) fn play(
    scenario: &Scenario,
    way: Way,
    target: &mut dyn Target,
    rules: &Rules,
) -> Outcome {
    let mut player = Player {
        scenario,
        way,
        target,
        rules,
        served: Served::default(),
        clients: BTreeMap::new(),
        speaking: "one".to_owned(),
        streams: BTreeMap::new(),
        bodies: BTreeMap::new(),
        versions: BTreeMap::new(),
    };
    let result = player.run();
    let streams: Vec<usize> = player.streams.keys().copied().collect();
    streams.into_iter().for_each(|stream| player.target.close(stream));
    match result {
        Ok(()) => Outcome::Passed,
        Err(Stop::Fail(why)) => Outcome::Failed(why),
        Err(Stop::Skip(why)) => Outcome::Skipped(why),
    }
}

struct Player<'p> {
    scenario: &'p Scenario,
    way: Way,
    target: &'p mut dyn Target,
    rules: &'p Rules,
    served: Served,
    clients: BTreeMap<String, Client>,
    /// The client whose lines these are.
    speaking: String,
    /// Messages that came on open streams and were not awaited yet.
    streams: BTreeMap<usize, VecDeque<Arrival>>,
    /// Of each resource, the first body of each content.
    bodies: BTreeMap<(Type, String), BTreeMap<u16, Bytes>>,
    /// The version of each resource by its content, where the variant says it.
    versions: BTreeMap<(Type, String, u16), String>,
}

/// The knowledge of a client of the scenario.
#[derive(Debug, Default)]
struct Client {
    streams: BTreeMap<Stream, usize>,
    types: BTreeMap<Type, Talk>,
}

/// The knowledge of a client about a type.
#[derive(Debug, Default)]
struct Talk {
    stream: Option<usize>,
    /// In the state of the world, what it asked for last.
    names: Vec<String>,
    nonces: Vec<String>,
    /// The version of the last response, and of the last one that it accepted.
    version: String,
    accepted: String,
    is_delta: bool,
}

impl Player<'_> {
    fn run(&mut self) -> Result<(), Stop> {
        let steps = &self.scenario.steps;
        if !matches!(steps.first().map(|it| &it.verb), Some(Verb::Serve(_))) {
            self.target.serve(&Served::default())?;
        }
        let mut before: Option<&Step> = None;
        for step in steps {
            let is_awaited = matches!(step.verb, Verb::Expect { .. } | Verb::Ends);
            let is_silent = matches!(step.verb, Verb::Client(_));
            if let Some(before) = before.filter(|_| !is_awaited && !is_silent) {
                let place = format!("before `{}`, after `{}`", step.line, before.line);
                let streams = self.client().streams.values().copied().collect();
                self.silence(&place, &streams)?;
            }
            if !is_silent {
                before = Some(step);
            }
            self.step(step)?;
        }
        let streams = self.streams.keys().copied().collect();
        self.silence("after the last step", &streams)
    }

    fn step(&mut self, step: &Step) -> Result<(), Stop> {
        match &step.verb {
            Verb::Serve(served) => {
                self.served = served.clone();
                self.target.serve(served)
            }
            Verb::Wait(time) => self.target.wait(*time),
            Verb::Client(name) => {
                self.speaking.clone_from(name);
                Ok(())
            }
            Verb::Reconnect => {
                let client = self.clients.entry(self.speaking.clone()).or_default();
                for stream in std::mem::take(client).streams.into_values() {
                    self.streams.remove(&stream);
                    self.target.close(stream);
                }
                Ok(())
            }
            Verb::Ask { ty, about, names } => self.ask(*ty, *about, names),
            Verb::Expect { ty, names, removed } => self.expect(*ty, names, removed, &step.line),
            Verb::Ends => match self.next(None, &step.line)? {
                Arrival::End(_) => Ok(()),
                Arrival::Response(response) => Err(report_unlike(&step.line, &response)),
            },
        }
    }

    fn client(&mut self) -> &mut Client {
        self.clients.entry(self.speaking.clone()).or_default()
    }

    fn ask(&mut self, ty: Type, about: About, wanted: &Wanted) -> Result<(), Stop> {
        let is_delta = matches!(wanted, Wanted::Delta { .. });
        let kind = Stream {
            only: (self.way != Way::Ads).then_some(ty),
            is_delta,
            is_rest: self.way == Way::Rest,
        };
        let known = self.client().streams.get(&kind).copied();
        // Clients may say who they are once a stream.
        let is_told = known.is_some() && !kind.is_rest;
        let stream = match known {
            Some(stream) => stream,
            None => {
                let stream = self.target.open(&kind)?;
                self.streams.insert(stream, VecDeque::new());
                self.client().streams.insert(kind, stream);
                stream
            }
        };
        let held = match wanted {
            Wanted::Delta { held, .. } => held
                .iter()
                .map(|it| {
                    let key = (ty, it.name.clone(), it.content);
                    // A version that nobody ever sent is another one.
                    let version = self.versions.get(&key).cloned();
                    (
                        it.name.clone(),
                        version.unwrap_or_else(|| format!("never-sent-{}", it.content)),
                    )
                })
                .collect(),
            _ => BTreeMap::new(),
        };
        let id = match &self.rules.node_id {
            Some(id) => id.clone(),
            None => format!("conformance-{}-{}-{}", self.scenario.name, self.way, self.speaking),
        };
        let node = Node {
            id,
            cluster: "conformance".to_owned(),
            user_agent_name: "abide-serve".to_owned(),
            ..Node::default()
        };
        let talk = self.client().types.entry(ty).or_default();
        talk.stream = Some(stream);
        talk.is_delta = is_delta;
        let nonce = match about {
            About::Fresh => None,
            About::Stale => talk.nonces.first(),
            About::Ack | About::Nack | About::Again => talk.nonces.last(),
        };
        let nonce = nonce.cloned().unwrap_or_default();
        if about == About::Ack {
            talk.accepted.clone_from(&talk.version);
        }
        let names = match wanted {
            Wanted::Delta { subscribe, unsubscribe, .. } => Names::Delta {
                subscribe: subscribe.clone(),
                unsubscribe: unsubscribe.clone(),
                held,
            },
            Wanted::Whole(names) => {
                talk.names.clone_from(names);
                Names::Sotw(names.clone())
            }
            Wanted::Same => Names::Sotw(talk.names.clone()),
        };
        let ask = Ask {
            node: (!is_told).then_some(node),
            type_url: ty.url(),
            version: talk.accepted.clone(),
            nonce,
            error: (about == About::Nack).then(|| "refused by a scenario".to_owned()),
            names,
        };
        self.target.send(stream, ask);
        Ok(())
    }

    fn expect(
        &mut self,
        ty: Type,
        names: &[String],
        removed: &[String],
        line: &str,
    ) -> Result<(), Stop> {
        let response = match self.next(Some(ty), line)? {
            Arrival::Response(response) => response,
            Arrival::End(why) => {
                return Err(Stop::Fail(format!("awaited `{line}`, but the stream ended: {why}")));
            }
        };
        let talk = self.client().types.entry(ty).or_default();
        talk.nonces.push(response.nonce.clone());
        talk.version.clone_from(&response.version);
        let (is_delta, asked) = (talk.is_delta, talk.names.clone());
        if response.type_url != ty.url() {
            return Err(report_unlike(line, &response));
        }
        if response.nonce.is_empty() && self.way != Way::Rest {
            return Err(Stop::Fail(format!("awaited `{line}`, and it came without a nonce")));
        }
        let is_exact = is_delta || ty.is_whole() || self.rules.is_strict && self.way != Way::Rest;
        let came: BTreeSet<&str> = response.resources.iter().map(|it| &*it.name).collect();
        let awaited: BTreeSet<&str> = names.iter().map(|it| &**it).collect();
        let is_asked =
            |name: &str| asked.is_empty() || asked.iter().any(|it| it == name || it == "*");
        let is_right = match is_exact {
            true => came == awaited,
            false => {
                awaited.is_subset(&came) && came.difference(&awaited).all(|name| is_asked(name))
            }
        };
        let gone: BTreeSet<&str> = response.removed.iter().map(|it| &**it).collect();
        let is_right = is_right && gone == removed.iter().map(|it| &**it).collect();
        if !is_right {
            return Err(report_unlike(line, &response));
        }
        self.note(ty, &response, line)
    }

    /// Remembers what a response says of each resource. Contents that differ have to arrive as bodies
    /// that differ.
    fn note(&mut self, ty: Type, response: &Received, line: &str) -> Result<(), Stop> {
        for resource in &response.resources {
            let Some(served) = self.served.get(ty, &resource.name) else { continue };
            let key = (ty, resource.name.clone());
            let bodies = self.bodies.entry(key).or_default();
            let old = bodies
                .iter()
                .find(|(content, body)| **content != served.content && **body == resource.body);
            if let Some((content, _)) = old {
                return Err(Stop::Fail(format!(
                    "awaited `{line}` with `{}@{}`, but it came as it was at `@{content}`",
                    resource.name, served.content
                )));
            }
            bodies.entry(served.content).or_insert_with(|| resource.body.clone());
            if !resource.version.is_empty() {
                let key = (ty, resource.name.clone(), served.content);
                self.versions.insert(key, resource.version.clone());
            }
        }
        Ok(())
    }

    /// Waits for what comes next on the stream of a type, or on any stream of the client.
    fn next(&mut self, ty: Option<Type>, line: &str) -> Result<Arrival, Stop> {
        let client = self.client();
        let streams: Vec<usize> = match ty {
            Some(ty) => client.types.get(&ty).and_then(|it| it.stream).into_iter().collect(),
            None => client.streams.values().copied().collect(),
        };
        loop {
            for stream in &streams {
                if let Some(arrival) = self.streams.get_mut(stream).and_then(VecDeque::pop_front) {
                    return Ok(arrival);
                }
            }
            if !self.receive(self.rules.patience) {
                let patience = self.rules.patience;
                return Err(Stop::Fail(format!(
                    "awaited `{line}`, but nothing came within {patience:?}"
                )));
            }
        }
    }

    /// Waits for something on any stream; false if nothing came.
    fn receive(&mut self, within: Duration) -> bool {
        let Some((stream, arrival)) = self.target.next(within) else { return false };
        if let Some(waiting) = self.streams.get_mut(&stream) {
            waiting.push_back(arrival);
        }
        true
    }

    /// Nothing may come on these streams; what comes on others is awaited later.
    fn silence(&mut self, place: &str, streams: &BTreeSet<usize>) -> Result<(), Stop> {
        while self.receive(self.rules.quiet) {}
        let all = self.streams.iter_mut().filter(|(stream, _)| streams.contains(stream));
        let waiting = all.into_iter().find_map(|(_, waiting)| waiting.pop_front());
        match waiting {
            None => Ok(()),
            Some(Arrival::Response(response)) => {
                Err(Stop::Fail(format!("awaited nothing {place}, but `{response}` came")))
            }
            Some(Arrival::End(why)) => {
                Err(Stop::Fail(format!("awaited nothing {place}, but the stream ended: {why}")))
            }
        }
    }
}

fn report_unlike(line: &str, came: &Received) -> Stop {
    Stop::Fail(format!("awaited `{line}`, but `{came}` came"))
}

impl fmt::Display for Received {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Type::of_url(&self.type_url) {
            Some(ty) => write!(f, "< {ty}")?,
            None => write!(f, "< {}", self.type_url)?,
        }
        // A server may send a great many.
        for resource in self.resources.iter().filter(|it| it.name != MARK).take(20) {
            write!(f, " {}", resource.name)?;
        }
        if self.resources.len() > 20 {
            write!(f, " and {} more", self.resources.len() - 20)?;
        }
        self.removed.iter().take(20).try_for_each(|name| write!(f, " -{name}"))
    }
}
