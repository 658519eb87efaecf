//! Lives of a client among servers that change, end, begin anew and are behind one another, in virtual
//! time: it never loses what it had and may keep, and in the end it has what is served.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use abide_xds::{Event, Kind, Snapshot};
use fastrand::Rng;

use super::laws::{Client, KINDS, type_url};
use super::script::snapshot;

/// The clusters that are always served; routes lead to these. Others come and go.
const LASTING: usize = 2;

/// What is served of a type under a name: how it is written, and whether these clients can hold it so.
type Content = BTreeMap<(&'static str, String), (String, bool)>;

/// What all servers read at one moment.
fn world(rng: &mut Rng, may_be_withheld: bool) -> Content {
    let mut world = Content::new();
    let clusters = (0..5).filter(|it| *it < LASTING || rng.bool()).collect::<Vec<usize>>();
    let mut put = |rng: &mut Rng, ty, name: String, rest: &str| {
        let text = format!("{name}@{}{rest}", rng.u8(..3));
        let is_lasting = !matches!(&*name, "c2" | "c3" | "c4");
        let is_withheld = may_be_withheld && ty != "eds" && is_lasting && rng.u8(..4) == 0;
        world.insert((ty, name), (text, !is_withheld));
    };
    for it in clusters {
        put(rng, "cds", format!("c{it}"), &format!(">eds/e{it}"));
        put(rng, "eds", format!("e{it}"), "");
    }
    put(rng, "lds", "l".to_owned(), ">rds/r>rds/s");
    for route in ["r", "s"] {
        let cluster = rng.usize(..LASTING);
        put(rng, "rds", route.to_owned(), &format!(">cds/c{cluster}"));
    }
    world
}

/// One of several servers.
#[derive(Clone, Default)]
struct Server {
    world: Content,
    /// What it served last in a form that the client can hold.
    deliverable: BTreeMap<(&'static str, String), String>,
}

impl Server {
    /// Reads what there is now. Returns what it serves from then on.
    fn read(&mut self, world: &Content) -> Arc<Snapshot> {
        self.world.clone_from(world);
        let mut text = String::new();
        for (key, (newest, can_be_held)) in world {
            if *can_be_held {
                self.deliverable.insert(key.clone(), newest.clone());
            }
            text += &match self.deliverable.get(key) {
                Some(known) => format!(" {}: {known}", key.0),
                None => format!(" {}: {}!", key.0, key.1),
            };
        }
        self.deliverable.retain(|key, _| world.contains_key(key));
        Arc::new(snapshot(&text))
    }

    /// The clusters that it cannot give to the client.
    fn withheld_clusters(&self) -> impl Iterator<Item = &str> {
        let clusters = self.world.keys().filter(|(ty, _)| *ty == "cds");
        clusters.filter(|it| !self.deliverable.contains_key(*it)).map(|(_, name)| &**name)
    }

    /// The next process in its place: it knows what this one owed, or nothing.
    fn succeeded(&self, is_handed_over: bool) -> Server {
        match is_handed_over {
            true => self.clone(),
            false => Server::default(),
        }
    }
}

/// The resources that are served at all times.
fn is_lasting(kind: Kind, name: &str) -> bool {
    match kind {
        Kind::CLUSTER => ["c0", "c1"].contains(&name),
        Kind::ENDPOINTS => ["e0", "e1"].contains(&name),
        _ => true,
    }
}

/// Plays one life.
///
/// # Panics
/// If the client loses something, or does not have in the end what is served.
pub(crate) fn live(seed: u64, is_delta: bool) {
    let mut rng = Rng::with_seed(seed);
    let mut client = Client::new(is_delta, rng.bool());
    let may_refuse = rng.bool();
    let mut newest = world(&mut rng, false);
    let mut servers = [Server::default(), Server::default()];
    let mut at = 0;
    let mut history = vec![format!("seed {seed}, delta {is_delta}"), format!("{newest:?}")];
    let first = servers.each_mut().map(|it| it.read(&newest));
    client.step(Event::Snapshot(Arc::clone(&first[0])));
    let mut had: BTreeSet<(Kind, Arc<str>)> = BTreeSet::new();
    // The routes that led to clusters which the client had.
    let mut led: BTreeSet<Arc<str>> = BTreeSet::new();
    for _ in 0..rng.usize(10..80) {
        match rng.u8(..14) {
            0 => {
                newest = world(&mut rng, true);
                history.push(format!("{newest:?}"));
                // The other one is behind, or not.
                if rng.bool() {
                    servers[1 - at].read(&newest);
                }
                client.step(Event::Snapshot(servers[at].read(&newest)));
            }
            1 => {
                client.now += Duration::from_millis(rng.u64(..3000));
                client.step(Event::Tick);
            }
            2 => {
                let is_handed_over = rng.bool();
                history.push(format!("restart, handed over {is_handed_over}"));
                servers[at] = servers[at].succeeded(is_handed_over);
                client.reconnect(servers[at].read(&newest));
            }
            3 => {
                at = 1 - at;
                history.push(format!("move to {at}"));
                let seen = servers[at].world.clone();
                client.reconnect(servers[at].read(&seen));
            }
            4..8 => client.deliver(),
            _ => client.read(may_refuse && rng.u8(..8) == 0),
        }
        client.lacks(servers[at].withheld_clusters());
        for (kind, _) in KINDS {
            let held = client.held.get(&kind).into_iter().flat_map(BTreeMap::keys);
            had.extend(held.filter(|it| is_lasting(kind, it)).map(|it| (kind, Arc::clone(it))));
        }
        for (kind, name) in &had {
            let holds = client.held.get(kind).is_some_and(|it| it.contains_key(name));
            assert!(holds, "{kind:?} `{name}` is lost after {history:#?}");
        }
        client.check(&history);
        for route in led.iter().filter(|_| is_delta || !client.is_back) {
            let leads = client.leads_somewhere(route);
            assert!(leads, "the route `{route}` leads nowhere now, after {history:#?}");
        }
        led.extend(client.routes().filter(|it| client.leads_somewhere(it)));
    }
    newest = world(&mut rng, false);
    history.push(format!("{newest:?}"));
    let target = servers[at].read(&newest);
    client.step(Event::Snapshot(Arc::clone(&target)));
    client.settle(&history);
    if may_refuse {
        return; // What it refused is not sent to it again as it is.
    }
    for kind in [Kind::CLUSTER, Kind::LISTENER] {
        let served = target.collection(&type_url(kind)).expect("every type is served");
        let expected: Vec<&Arc<str>> = served.iter().map(|it| &it.version).collect();
        let held: Vec<&Arc<str>> =
            client.held.get(&kind).into_iter().flatten().map(|(_, it)| &it.version).collect();
        assert_eq!(held, expected, "{kind:?} in the end, after {history:#?}");
    }
}

/// Some of the lives that `abide-soundness --lives` tries.
#[test]
fn no_client_loses_what_it_had_and_may_keep() {
    for seed in 0..500 {
        for is_delta in [false, true] {
            live(seed, is_delta);
        }
    }
}
