//! Laws over several clients that come, change, refuse and break off in any order.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use abide_xds::{Action, Event, Names, Options, Request, Session};
use fastrand::Rng;

use super::laws::{Client, KINDS, scene, type_url};
use super::script::{Play, snapshot, url};

/// Clients of one server, and everything that happened.
struct Fleet {
    clients: Vec<Client>,
    served: String,
    history: Vec<String>,
    reconnects: usize,
}

impl Fleet {
    /// The life of three clients: random changes, delays, refusals and broken streams.
    fn live(seed: u64) -> Fleet {
        let mut rng = Rng::with_seed(seed);
        let clients = (0..3).map(|_| Client::new(rng.bool(), rng.bool())).collect();
        let history = vec![format!("seed {seed}")];
        let mut fleet = Fleet { clients, served: String::new(), history, reconnects: 0 };
        fleet.serve(scene(&mut rng));
        for _ in 0..rng.usize(20..150) {
            let at = rng.usize(..fleet.clients.len());
            match rng.u8(..16) {
                0 => fleet.serve(scene(&mut rng)),
                1 => {
                    let target = Arc::new(snapshot(&fleet.served));
                    fleet.history.push(format!("client {at} breaks off"));
                    fleet.clients[at].reconnect(target);
                    fleet.reconnects += 1;
                }
                2 => {
                    let client = &mut fleet.clients[at];
                    client.now += Duration::from_millis(rng.u64(..3000));
                    client.step(Event::Tick);
                }
                3..9 => fleet.clients[at].deliver(),
                _ => fleet.clients[at].read(rng.u8(..8) == 0),
            }
            fleet.clients[at].check(&fleet.history);
        }
        fleet
    }

    fn serve(&mut self, scene: String) {
        self.history.push(scene.clone());
        let target = Arc::new(snapshot(&scene));
        for client in &mut self.clients {
            client.step(Event::Snapshot(Arc::clone(&target)));
        }
        self.served = scene;
    }
}

/// Whatever happened, in the end all clients hold what is served, also those whose streams broke. The
/// observer of each stream fails nonces that are not new, and what was sent twice.
#[test]
fn nothing_is_sent_twice_without_a_reason() {
    let mut reconnects = 0;
    for seed in 0..200 {
        let mut fleet = Fleet::live(seed);
        // Nobody refused any of this before.
        let last = "cds: c0@7>eds/e0 c9@7>eds/e9 eds: e0@7 e9@7 lds: l@7>rds/r>rds/s \
                    rds: r@7>cds/c0 s@7>cds/c9";
        fleet.serve(last.to_owned());
        let target = snapshot(last);
        for client in &mut fleet.clients {
            client.settle(&fleet.history);
            for (kind, _) in KINDS {
                let expected = target.collection(&type_url(kind)).expect("every type is served");
                let expected: BTreeMap<&str, &str> =
                    expected.iter().map(|it| (&*it.name, &*it.version)).collect();
                let held = client.held.get(&kind).into_iter().flatten();
                let held: BTreeMap<&str, &str> =
                    held.map(|(name, it)| (&**name, &*it.version)).collect();
                assert_eq!(
                    held,
                    expected,
                    "{kind:?} of {:#?} after {:#?}",
                    client.session.status(),
                    fleet.history
                );
            }
        }
        reconnects += fleet.reconnects;
    }
    assert!(reconnects > 500, "{reconnects} streams broke");
}

/// A nonce counts for its own type and stream, and only the last one.
#[test]
fn nonces_are_new_and_known() {
    let mut play = Play::new(Options::default());
    play.run("serve cds: a eds: e f\n> cds\n< cds a\n> eds e\n< eds e");
    let given: Vec<String> = play.session.status().iter().map(|it| format!("{it:?}")).collect();
    // That of another type, one to come, one of nobody, and none.
    for nonce in ["1", "3", "never", ""] {
        let request = Request {
            type_url: url("eds"),
            nonce: nonce.to_owned(),
            version: String::new(),
            error: Some("no".to_owned()),
            names: Names::Sotw(vec!["f".to_owned()]),
        };
        let actions = play.session.step(Duration::ZERO, Event::Request(request));
        assert!(actions.is_empty(), "the nonce `{nonce}`: {actions:?}");
        let now: Vec<String> = play.session.status().iter().map(|it| format!("{it:?}")).collect();
        assert_eq!(now, given, "the nonce `{nonce}`");
    }
    play.run("> eds ack f\n< eds f");
}

#[test]
fn a_session_says_what_a_client_refuses() {
    let mut play = Play::new(Options::default());
    play.run("serve cds: a b\n> cds\n< cds a b");
    let mut refuse = |nonce: &str| {
        let request = Request {
            type_url: url("cds"),
            nonce: nonce.to_owned(),
            version: String::new(),
            error: Some("no".to_owned()),
            names: Names::Sotw(Vec::new()),
        };
        play.session.step(Duration::ZERO, Event::Request(request))
    };
    assert!(refuse("another").is_empty(), "no response has this nonce");
    let actions = refuse("1");
    let [Action::Refused { type_url, refusal }] = &*actions else { panic!("{actions:?}") };
    assert_eq!((&**type_url, &*refusal.message), (&*url("cds"), "no"));
    let names: Vec<&str> = refusal.resources.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["a", "b"]);
}

/// What a session holds does not grow with time, also for a client that never answers and one that
/// asks for other names each time.
#[test]
fn memory_has_an_end() {
    let size = |session: &Session| format!("{session:?}").len();
    for is_delta in [false, true] {
        let mut session = Session::new(Options::default());
        let mut sizes = Vec::new();
        for round in 0..600_u64 {
            let served = format!("cds: c@{round}>eds/e{round} eds: e{round} other@{round}");
            let now = Duration::from_secs(round * 60);
            session.step(now, Event::Snapshot(Arc::new(snapshot(&served))));
            let before = format!("e{}", round.saturating_sub(1));
            for (ty, names) in [("cds", vec![]), ("eds", vec![format!("e{round}")])] {
                let names = match is_delta {
                    false => Names::Sotw(names),
                    true => Names::Delta {
                        unsubscribe: names.iter().map(|_| before.clone()).collect(),
                        subscribe: names,
                        held: BTreeMap::new(),
                    },
                };
                // It refuses something that nobody sent.
                let error = (round % 3 == 0).then(|| "no".repeat(10_000));
                let request = Request { type_url: url(ty), error, names, ..Request::default() };
                session.step(now, Event::Request(request));
            }
            session.step(now + Duration::from_secs(30), Event::Tick);
            sizes.push(size(&session));
        }
        let early = sizes[..300].iter().max().expect("it ran");
        let late = sizes[300..].iter().max().expect("it ran");
        // Numbers get more digits; nothing else grows.
        assert!(*late < early + early / 10, "from {early} to {late}, delta {is_delta}");
    }
}
