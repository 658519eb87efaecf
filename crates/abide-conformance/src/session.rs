//! A session without a network, in virtual time: what the table is proven with in milliseconds.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use abide_xds::{
    Action, Event, Options, Reference, Request, Resource, Session, Snapshot, StreamError,
};

use crate::message::{Arrival, Ask, Received, ReceivedResource, StreamEnd};
use crate::play::{Outcome, Rules, Stop, Stream, Target, play};
use crate::resources::Served;
use crate::scenario::Scenario;

/// A fault that is put into the answers of a session.
type Fault = fn(&mut Vec<Received>);

struct Sessions {
    now: Duration,
    snapshot: Arc<Snapshot>,
    sessions: BTreeMap<usize, Session>,
    arrivals: VecDeque<(usize, Arrival)>,
    opened: usize,
    fault: Fault,
}

impl Sessions {
    fn new(fault: Fault) -> Sessions {
        Sessions {
            now: Duration::ZERO,
            snapshot: Arc::default(),
            sessions: BTreeMap::new(),
            arrivals: VecDeque::new(),
            opened: 0,
            fault,
        }
    }

    fn step(&mut self, stream: usize, event: Event) {
        let Some(session) = self.sessions.get_mut(&stream) else { return };
        let (mut responses, mut end) = (Vec::new(), None);
        for action in session.step(self.now, event) {
            match action {
                Action::Send(response) => responses.push(Received {
                    type_url: response.type_url.to_string(),
                    version: response.version.to_string(),
                    nonce: response.nonce.to_string(),
                    resources: response
                        .resources
                        .iter()
                        .map(|it| ReceivedResource {
                            name: it.name.to_string(),
                            version: it.version.to_string(),
                            body: it.body.clone(),
                        })
                        .collect(),
                    removed: response
                        .removed
                        .iter()
                        .chain(&*response.unresolved)
                        .map(ToString::to_string)
                        .collect(),
                }),
                Action::Refused { .. } => {}
                Action::End(StreamError::Invalid(why) | StreamError::TooMuch(why)) => {
                    end = Some(why)
                }
            }
        }
        (self.fault)(&mut responses);
        self.arrivals.extend(responses.into_iter().map(|it| (stream, Arrival::Response(it))));
        self.arrivals.extend(end.map(|why| (stream, Arrival::End(StreamEnd::Closed(why)))));
    }
}

impl Target for Sessions {
    fn serve(&mut self, served: &Served) -> Result<(), Stop> {
        let resources: Vec<(String, Resource)> = served
            .0
            .iter()
            .map(|it| {
                let aliases: Vec<&str> = it.aliases.iter().map(|alias| &**alias).collect();
                let references =
                    it.references.iter().map(|(ty, name)| Reference::required(ty.kind(), name));
                let body = it.json().to_string();
                (
                    it.ty.url(),
                    Resource::new(&it.name, body).known_as(&aliases).referring_to(references),
                )
            })
            .collect();
        let resources = resources.iter().map(|(url, it)| (url.as_str(), it.clone()));
        self.snapshot = Arc::new(Snapshot::of(resources));
        for stream in self.sessions.keys().copied().collect::<Vec<_>>() {
            self.step(stream, Event::Snapshot(Arc::clone(&self.snapshot)));
        }
        Ok(())
    }

    fn open(&mut self, stream: &Stream) -> Result<usize, Stop> {
        if stream.is_rest {
            return Err(Stop::Skip("a session has no polls".to_owned()));
        }
        let only = stream.only.map(|it| it.url().into());
        self.opened += 1;
        self.sessions.insert(self.opened, Session::new(Options { only, ..Options::default() }));
        self.step(self.opened, Event::Snapshot(Arc::clone(&self.snapshot)));
        Ok(self.opened)
    }

    fn send(&mut self, stream: usize, ask: Ask) {
        let Ask { type_url, version, nonce, error, names, .. } = ask;
        self.step(stream, Event::Request(Request { type_url, nonce, version, error, names }));
    }

    fn next(&mut self, _: Duration) -> Option<(usize, Arrival)> {
        self.arrivals.pop_front()
    }

    fn close(&mut self, stream: usize) {
        self.sessions.remove(&stream);
        self.arrivals.retain(|(it, _)| *it != stream);
    }

    fn wait(&mut self, time: Duration) -> Result<(), Stop> {
        self.now += time;
        for stream in self.sessions.keys().copied().collect::<Vec<_>>() {
            self.step(stream, Event::Tick);
        }
        Ok(())
    }
}

/// Plays every scenario with a fault. Returns how many were played, and which failed.
fn failures(fault: Fault) -> (usize, Vec<String>) {
    let rules =
        Rules { patience: Duration::ZERO, quiet: Duration::ZERO, is_strict: true, node_id: None };
    let (mut played, mut failed) = (0, Vec::new());
    for scenario in Scenario::all().expect("the table is right") {
        for way in &scenario.ways {
            match play(&scenario, *way, &mut Sessions::new(fault), &rules) {
                Outcome::Passed => played += 1,
                Outcome::Skipped(_) => {}
                Outcome::Failed(why) => {
                    played += 1;
                    failed.push(format!("{}/{way}: {why}", scenario.name));
                }
            }
        }
    }
    (played, failed)
}

#[test]
fn a_session_passes_every_scenario() {
    let (played, failed) = failures(|_| ());
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(played >= 120, "{played} were played");
}

/// A server with one of these faults is found out.
#[test]
fn servers_that_are_broken_fail() {
    let faults: [(&str, Fault); 7] = [
        ("it sends everything twice", |all| all.extend(all.clone())),
        ("it sends nothing", Vec::clear),
        ("it has no nonces", |all| all.iter_mut().for_each(|it| it.nonce.clear())),
        ("it forgets what was removed", |all| all.iter_mut().for_each(|it| it.removed.clear())),
        ("it sends types in the wrong order", |all| all.reverse()),
        ("it leaves one out", |all| all.iter_mut().for_each(|it| drop(it.resources.pop()))),
        ("it sends what is old", |all| {
            for resource in all.iter_mut().flat_map(|it| &mut it.resources) {
                resource.body = "old".into();
            }
        }),
    ];
    for (what, fault) in faults {
        let (_, failed) = failures(fault);
        assert!(!failed.is_empty(), "nobody finds out that {what}");
    }
}
