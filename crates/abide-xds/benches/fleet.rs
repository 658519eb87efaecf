//! One change for a fleet of clients that ask for all endpoints by name, as Envoys do:
//! `cargo bench -p abide-xds`. What a client costs must not grow with what it holds.

use std::sync::Arc;
use std::time::Duration;

use abide_xds::{
    Action, Collection, Event, Kind, Names, Options, Reference, Request, Resource, Session,
    Snapshot,
};
use criterion::{BenchmarkId, Criterion, Throughput};

const CDS: &str = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const EDS: &str = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";
const CLIENTS: usize = 100;

fn name(number: usize) -> String {
    format!("cluster-{number:06}")
}

/// So many clusters and their endpoints; the first of these are in this version.
fn snapshot(clusters: &Arc<Collection>, endpoints: &Collection, version: usize) -> Arc<Snapshot> {
    let first = Arc::new(Resource::new(&name(0), version.to_string()));
    let endpoints = Collection::of(endpoints.iter().cloned().chain([first]));
    let types = [(CDS, Arc::clone(clusters)), (EDS, Arc::new(endpoints))];
    Arc::new(Snapshot::of_collections(types.map(|(url, it)| (url.into(), it))))
}

/// What a client asks for, or answers to a response.
fn request(type_url: &str, nonce: &str, subscribe: &[String]) -> Event {
    let (unsubscribe, held) = Default::default();
    Event::Request(Request {
        type_url: type_url.to_owned(),
        version: String::new(),
        nonce: nonce.to_owned(),
        error: None,
        names: Names::Delta { subscribe: subscribe.to_vec(), unsubscribe, held },
    })
}

/// Lets something happen, and accepts all that comes of it. Returns how many responses that were.
fn step(session: &mut Session, event: Event) -> usize {
    let mut responses = 0;
    let mut events = vec![event];
    while let Some(event) = events.pop() {
        for action in session.step(Duration::ZERO, event) {
            let Action::Send(response) = action else { panic!("it ended") };
            responses += 1;
            events.push(request(&response.type_url, &response.nonce, &[]));
        }
    }
    responses
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("fleet");
    group.throughput(Throughput::Elements(CLIENTS as u64)).sample_size(10);
    for count in [5_000, 10_000, 20_000] {
        let names: Vec<String> = (0..count).map(name).collect();
        let cluster = |name: &String| {
            let endpoints = Reference::required(Kind::ENDPOINTS, name);
            Arc::new(Resource::new(name, "cluster").referring_to([endpoints]))
        };
        let clusters = Arc::new(Collection::of(names.iter().map(cluster)));
        let endpoints =
            Collection::of(names.iter().map(|it| Arc::new(Resource::new(it, "endpoints"))));
        let options = Options::default();
        let mut sessions: Vec<Session> = Vec::new();
        let mut version = 0;
        for _ in 0..CLIENTS {
            let mut session = Session::new(options.clone());
            step(&mut session, Event::Snapshot(snapshot(&clusters, &endpoints, version)));
            assert_eq!(step(&mut session, request(CDS, "", &[])), 1);
            assert_eq!(step(&mut session, request(EDS, "", &names)), 1);
            sessions.push(session);
        }
        group.bench_with_input(BenchmarkId::new("change", count), &count, |bencher, _| {
            bencher.iter(|| {
                version += 1;
                let changed = snapshot(&clusters, &endpoints, version);
                for session in &mut sessions {
                    assert_eq!(step(session, Event::Snapshot(Arc::clone(&changed))), 1);
                }
            });
        });
    }
    group.finish();
    criterion.final_summary();
}
