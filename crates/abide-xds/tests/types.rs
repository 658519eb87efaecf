//! Types of resource that somebody described.

use std::sync::Arc;
use std::time::Duration;

use abide_xds::{
    Event, Kind, Names, Options, Reference, Request, Resource, Response, Session, Snapshot,
    TypeEntry, Types,
};

const POOL: &str = "type.googleapis.com/acme.Pool";
const TABLE: &str = "type.googleapis.com/acme.Table";

/// Pools, which clients warm up with tables.
fn types() -> Types {
    let pool = TypeEntry {
        name: "pools".to_owned(),
        messages: [None, Some("acme.Pool".to_owned())],
        is_whole: true,
        warmed_by: Some("tables".to_owned()),
        after: Some("cds".to_owned()),
        ..TypeEntry::default()
    };
    let table = TypeEntry {
        name: "tables".to_owned(),
        messages: [None, Some("acme.Table".to_owned())],
        is_awaited: true,
        ..TypeEntry::default()
    };
    Types::with(&[pool, table]).expect("they agree with one another")
}

/// What is served: pools with what is in them, which all refer to the table `t`.
fn snapshot(types: &Types, pools: &[(&str, &str)]) -> Arc<Snapshot> {
    let table = types.kind(TABLE);
    let pools = pools.iter().map(|(name, body)| {
        let resource = Resource::new(name, (*body).to_owned());
        (POOL, resource.referring_to([Reference::optional(table, "t")]))
    });
    Arc::new(Snapshot::of(pools.chain([(TABLE, Resource::new("t", "1"))])))
}

fn ask(session: &mut Session, url: &str, names: &[&str], nonce: &str) -> Vec<Response> {
    let names = Names::Sotw(names.iter().map(|&it| it.to_owned()).collect());
    let nonce = nonce.to_owned();
    let request = Request { type_url: url.to_owned(), nonce, names, ..Request::default() };
    step(session, Event::Request(request))
}

fn step(session: &mut Session, event: Event) -> Vec<Response> {
    let actions = session.step(Duration::ZERO, event);
    actions.iter().map(|it| it.response().expect("nothing ends it").clone()).collect()
}

fn names(responses: &[Response]) -> Vec<(&str, Vec<&str>)> {
    responses
        .iter()
        .map(|it| (&*it.type_url, it.resources.iter().map(|it| &*it.name).collect()))
        .collect()
}

#[test]
fn a_described_type_behaves_as_its_entry_says() {
    let types = types();
    assert!(Kind::CLUSTER < types.kind(POOL) && types.kind(POOL) < types.kind(TABLE));
    let mut session = Session::new(Options { types: types.clone(), ..Options::default() });
    step(&mut session, Event::Snapshot(snapshot(&types, &[("a", "1"), ("b", "1")])));
    let pools = ask(&mut session, POOL, &[], "");
    assert_eq!(names(&pools), [(POOL, vec!["a", "b"])]);
    let tables = ask(&mut session, TABLE, &["t"], "");
    assert_eq!(names(&tables), [(TABLE, vec!["t"])]);
    ask(&mut session, POOL, &[], &pools[0].nonce);
    ask(&mut session, TABLE, &["t"], &tables[0].nonce);
    // A change of one brings all, because the type is whole, and what warms it up.
    let next = Event::Snapshot(snapshot(&types, &[("a", "2"), ("b", "1")]));
    assert_eq!(names(&step(&mut session, next)), [(POOL, vec!["a", "b"]), (TABLE, vec!["t"])]);

    // To who knows nothing of the entries they are like any other type.
    let mut session = Session::new(Options::default());
    step(&mut session, Event::Snapshot(snapshot(&types, &[("a", "1"), ("b", "1")])));
    let pools = ask(&mut session, POOL, &[], "");
    ask(&mut session, POOL, &[], &pools[0].nonce);
    let next = Event::Snapshot(snapshot(&types, &[("a", "2"), ("b", "1")]));
    assert_eq!(names(&step(&mut session, next)), [(POOL, vec!["a"])]);
}
