//! When a change is taken back.

use std::num::NonZeroUsize;
use std::sync::Arc;

use abide_xds::{Resource, ResourceVersion, RollBack, Snapshot};

const CDS: &str = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

/// A snapshot of clusters, each with a name and what is in it.
fn snapshot(clusters: &[(&str, &str)]) -> Arc<Snapshot> {
    let resources =
        clusters.iter().map(|&(name, body)| (CDS, Resource::new(name, body.to_owned())));
    Arc::new(Snapshot::of(resources))
}

fn version(name: &str, body: &str) -> ResourceVersion {
    let version = Resource::new(name, body.to_owned()).version;
    ResourceVersion { type_url: CDS.into(), name: name.into(), version }
}

fn after(clients: usize) -> RollBack<Arc<Snapshot>> {
    RollBack::new(NonZeroUsize::new(clients).expect("at least one"))
}

#[test]
fn the_last_good_one_comes_back_once_enough_clients_of_one_release_refused_the_same() {
    let mut fleet = after(2);
    let good = snapshot(&[("a", "1"), ("b", "1")]);
    let bad = snapshot(&[("a", "2"), ("b", "1")]);
    fleet.serve(Arc::clone(&good));
    fleet.serve(Arc::clone(&bad));
    let refused = || [version("a", "2")];
    assert!(fleet.refused("envoy 1.37.0", "one", refused(), "no").is_none());
    assert!(fleet.refused("envoy 1.37.0", "one", refused(), "no").is_none(), "the same client");
    assert!(fleet.refused("envoy 1.40.0", "two", refused(), "no").is_none(), "another release");
    assert!(fleet.refused("envoy 1.37.0", "two", [version("a", "0")], "no").is_none(), "too old");
    assert!(fleet.refused("envoy 1.37.0", "two", [version("b", "1")], "no").is_none(), "another");
    let back = fleet.refused("envoy 1.37.0", "two", refused(), "unknown field");
    assert!(back.is_some_and(|it| Arc::ptr_eq(&it, &good)));
    let [taken] = fleet.taken_back() else { panic!("one is") };
    assert_eq!(
        (&*taken.release, taken.clients, &*taken.message),
        ("envoy 1.37.0", 2, "unknown field")
    );
    assert_eq!(taken.resource, version("a", "2"));
}

#[test]
fn what_was_taken_back_may_not_come_again_with_another_change() {
    let mut fleet = after(1);
    fleet.serve(snapshot(&[("a", "1")]));
    fleet.serve(snapshot(&[("a", "2")]));
    assert!(fleet.refused("x", "one", [version("a", "2")], "no").is_some());
    let next = snapshot(&[("a", "2"), ("b", "1")]);
    assert_eq!(fleet.hindrances(&next).count(), 1);
    let next = snapshot(&[("a", "3"), ("b", "1")]);
    assert_eq!(fleet.hindrances(&next).count(), 0);
    fleet.serve(next);
    // Whoever puts it back on purpose may try.
    assert_eq!(fleet.hindrances(&snapshot(&[("a", "2")])).count(), 0);
}

#[test]
fn it_goes_back_beyond_a_change_that_came_meanwhile() {
    let mut fleet = after(1);
    let good = snapshot(&[("a", "1")]);
    fleet.serve(Arc::clone(&good));
    fleet.serve(snapshot(&[("a", "2")]));
    fleet.serve(snapshot(&[("a", "2"), ("b", "1")]));
    let back = fleet.refused("x", "one", [version("a", "2")], "no");
    assert!(back.is_some_and(|it| Arc::ptr_eq(&it, &good)));
}

#[test]
fn without_anything_good_nothing_changes() {
    let mut fleet = after(1);
    fleet.serve(snapshot(&[("a", "1")]));
    assert!(fleet.refused("x", "one", [version("a", "1")], "no").is_none());
    assert!(fleet.taken_back().is_empty(), "or nothing could ever be served again");
    assert!(fleet.refused("x", "one", [], "no").is_none());
}

#[test]
fn many_releases_and_clients_take_bounded_memory() {
    let mut fleet = after(3);
    fleet.serve(snapshot(&[("a", "1")]));
    fleet.serve(snapshot(&[("a", "2")]));
    for number in 0..50_000 {
        let release = format!("x {number}");
        assert!(fleet.refused(&release, "one", [version("a", "2")], "no").is_none());
    }
    let held = format!("{fleet:?}").matches("x 4").count();
    assert!(held < 11_111, "{held} of the releases from 40,000 on were kept");
    // Those that were first still count.
    assert!(fleet.refused("x 1", "two", [version("a", "2")], "no").is_none());
    assert!(fleet.refused("x 1", "three", [version("a", "2")], "no").is_some());
}

#[test]
fn clients_that_never_accepted_anything_refuse_what_is_new() {
    let mut fleet = after(2);
    let good = snapshot(&[("a", "1"), ("b", "1")]);
    fleet.serve(Arc::clone(&good));
    fleet.serve(snapshot(&[("a", "2"), ("b", "1")]));
    let all = || [version("a", "2"), version("b", "1")];
    assert!(fleet.refused("x", "one", all(), "no").is_none());
    let back = fleet.refused("x", "two", all(), "no");
    assert!(back.is_some_and(|it| Arc::ptr_eq(&it, &good)));
    let taken: Vec<_> = fleet.taken_back().iter().map(|it| it.resource.clone()).collect();
    assert_eq!(taken, [version("a", "2")], "`b` was there before");
}

#[test]
fn what_was_refused_before_a_change_is_not_its_fault() {
    let mut fleet = after(1);
    fleet.serve(snapshot(&[("bad", "1")]));
    assert!(fleet.refused("x", "one", [version("bad", "1")], "no").is_none());
    fleet.serve(snapshot(&[("bad", "1"), ("b", "1")]));
    let all = [version("bad", "1"), version("b", "1")];
    assert!(fleet.refused("x", "two", all, "no").is_none());
    assert!(fleet.taken_back().is_empty());
}

#[test]
fn another_process_goes_on_with_what_was_taken_back() {
    let mut first = after(1);
    let (good, bad) = (snapshot(&[("a", "1")]), snapshot(&[("a", "2")]));
    first.serve(Arc::clone(&good));
    first.serve(Arc::clone(&bad));
    assert!(first.refused("x", "one", [version("a", "2")], "no").is_some());
    let mut next = after(1);
    next.restore([Arc::clone(&good)], first.taken_back().iter().cloned());
    assert_eq!(next.hindrances(&bad).count(), 1);
    let other = snapshot(&[("a", "3")]);
    assert_eq!(next.hindrances(&other).count(), 0);
    next.serve(other);
    let back = next.refused("x", "one", [version("a", "3")], "no");
    assert!(back.is_some_and(|it| Arc::ptr_eq(&it, &good)), "there is something to go back to");
}
