//! All types on one stream: order, warming and steps; `requirements` 002-049 to 002-065.

use abide_xds::Options;

use super::script::{Play, play};

/// A client of everything at its start, with what it asks for when.
const STARTED: &str = "
    serve cds: x>eds/x eds: x lds: l>rds/r rds: r>cds/x
    > cds
    < cds x
    > eds x
    < eds x
    > eds ack
    > cds ack
    > lds
    < lds l
    > rds r
    < rds r
    > rds ack
    > lds ack";

const DELTA_STARTED: &str = "
    serve cds: x>eds/x eds: x lds: l>rds/r rds: r>cds/x
    >> cds
    < cds x
    >> eds +x
    < eds x
    >> eds ack
    >> cds ack
    >> lds
    < lds l
    >> rds +r
    < rds r
    >> rds ack
    >> lds ack";

fn after(start: &str, script: &str) {
    play(&format!("{start}\n{script}"));
}

/// A cluster that changed is warmed up with its endpoints, a listener with its routes.
#[test]
fn changed_clusters_and_listeners_warm_with_their_dependents() {
    after(
        STARTED,
        "serve cds: x@2>eds/x eds: x lds: l@2>rds/r rds: r>cds/x
         < cds x
         < eds x
         < lds l
         < rds r
         > eds stale
         > eds ack
         > cds ack
         > rds ack
         > lds ack",
    );
    after(
        DELTA_STARTED,
        "serve cds: x@2>eds/x eds: x lds: l@2>rds/r rds: r>cds/x
         < cds x
         < eds x
         < lds l
         < rds r",
    );
}

/// Endpoints do not wait for the answer about their cluster: the client sends it
/// when it has them.
#[test]
fn endpoints_do_not_wait_for_the_ack_of_their_cluster() {
    after(
        STARTED,
        "serve cds: x>eds/x y>eds/y eds: x y lds: l>rds/r rds: r>cds/x
         < cds x y
         > eds again x y
         < eds y
         > eds ack
         > cds ack",
    );
}

/// Traffic moves from X to Y in three steps.
#[test]
fn traffic_moves_between_clusters_by_make_before_break() {
    after(
        STARTED,
        "serve cds: y>eds/y eds: y lds: l>rds/r rds: r>cds/y
         < cds x y
         > eds again x y
         < eds y
         > eds ack
         > cds ack
         < rds r
         > rds ack
         < cds y
         > cds ack
         > eds again y",
    );
    after(
        DELTA_STARTED,
        "serve cds: y>eds/y eds: y lds: l>rds/r rds: r>cds/y
         < cds y
         >> eds +y
         < eds y
         >> eds ack
         >> cds ack
         < rds r
         >> rds ack
         < cds -x
         >> cds ack
         < eds -x
         >> eds ack -x",
    );
}

/// In the order of the protocol, whatever is asked for first.
#[test]
fn types_are_sent_in_the_order_of_the_protocol() {
    play(
        "> rtds r
         > sds s
         > rds r
         > lds
         > eds e
         > cds
         serve rtds: r sds: s rds: r>cds/c lds: l>rds/r eds: e cds: c>eds/e
         < cds c
         < eds e
         < lds l
         < rds r
         < sds s
         < rtds r",
    );
}

/// Without order everything goes out at once: what the protocol warns of.
#[test]
fn unordered_sessions_send_all_types_at_once() {
    let mut play = Play::new(Options { is_ordered: false, ..Options::default() });
    play.run(STARTED);
    play.run(
        "serve cds: y>eds/y eds: y lds: l>rds/r rds: r>cds/y
         < cds y
         < rds r",
    );
}

/// A cluster that the client refused keeps the routes to it from being sent.
#[test]
fn routes_to_a_refused_cluster_are_withheld() {
    let mut play = Play::new(Options::default());
    play.run(STARTED);
    play.run(
        "serve cds: x>eds/x y eds: x lds: l>rds/r rds: r@2>cds/y
         < cds x y
         > cds nack",
    );
    let status = play.session.status();
    let routes = status.iter().find(|it| !it.held_back.is_empty()).expect("the routes wait");
    assert_eq!(&*routes.held_back[0].name, "r");
    assert_eq!(routes.held_back[0].reason, "the client refused the cluster `y`");
    // The others go on; a mended cluster lets the routes go.
    play.run(
        "serve cds: x>eds/x y eds: x@2 lds: l>rds/r rds: r@2>cds/y
         < eds x
         > eds ack
         serve cds: x>eds/x y@2 eds: x@2 lds: l>rds/r rds: r@2>cds/y
         < cds x y
         > cds ack
         < rds r",
    );
}

/// A cluster that routes refused still lead to is not removed.
#[test]
fn clusters_of_refused_routes_stay() {
    after(
        STARTED,
        "serve cds: y eds: x lds: l>rds/r rds: r>cds/y
         < cds x y
         > cds ack
         < rds r
         > rds nack
         > eds again x
         serve cds: y eds: x lds: l>rds/r rds: r@2>cds/y
         < rds r
         > rds ack
         < cds y",
    );
}

/// A client may hold what it never said that it accepted: a newer response overtook the
/// answer, and it refused that one.
#[test]
fn clusters_of_routes_that_were_overtaken_stay() {
    after(
        STARTED,
        "serve cds: y eds: x lds: l>rds/r rds: r>cds/y
         < cds x y
         > cds ack
         < rds r
         serve cds: z eds: x lds: l>rds/r rds: r>cds/z
         < cds x y z
         > cds ack
         wait 5
         < rds r
         > rds nack
         wait 60",
    );
}

/// A client that names its clusters finds the next one by the routes, and uses the
/// one before until then: it stays while it is named.
#[test]
fn clients_that_name_their_clusters() {
    let start = "
        serve cds: x>eds/x eds: x lds: l>rds/r rds: r>cds/x
        > lds l
        < lds l
        > lds ack
        > rds r
        < rds r
        > rds ack
        > cds x
        < cds x
        > cds ack
        > eds x
        < eds x
        > eds ack
        serve cds: y>eds/y eds: y lds: l>rds/r rds: r>cds/y
        < rds r
        > rds ack
        > cds again x y
        < cds x y
        > cds ack
        > eds again x y
        < eds y
        > eds ack";
    after(
        start,
        "> cds again y
         > eds again y
         wait 40",
    );
    // A name that the client never gives up is said to be gone in the end.
    after(
        start,
        "wait 29
         wait 1
         < cds y
         > cds ack",
    );
}

/// New routes of a new listener wait until their clusters are there.
#[test]
fn routes_of_a_new_listener_wait_for_their_clusters() {
    after(
        STARTED,
        "serve cds: x>eds/x y eds: x lds: l>rds/r m>rds/s rds: r>cds/x s>cds/y
         < cds x y
         < lds l m
         > rds again r s
         > cds ack
         < rds s
         > rds ack
         > lds ack",
    );
}

/// A listener that directs requests itself waits as well, and stays while it is used.
#[test]
fn a_listener_with_its_own_routes_waits_for_its_clusters() {
    play(
        "serve cds: x lds: l>cds/x
         > cds
         < cds x
         > cds ack
         > lds
         < lds l
         > lds ack
         serve cds: y lds: l>cds/y
         < cds x y
         > cds ack
         < lds l
         > lds ack
         # It drains with its old routes.
         wait 599
         wait 2
         < cds y",
    );
}

/// A listener that leads to other routes drains with the old ones, and with the clusters that these lead
/// to: nothing of it is gone before that.
#[test]
fn a_listener_that_changed_drains_with_its_old_routes_and_clusters() {
    after(
        STARTED,
        "serve cds: y>eds/y eds: y lds: l>rds/s rds: s>cds/y
         < cds x y
         < lds l
         > eds again x y
         < eds y
         > eds ack
         > cds ack
         > rds again r s
         < rds s
         > rds ack
         > lds ack
         wait 599
         # The old listener is gone at the client.
         > rds again s
         < cds y
         > cds ack
         > eds again y",
    );
    after(
        DELTA_STARTED,
        "serve cds: y>eds/y eds: y lds: l>rds/s rds: s>cds/y
         < cds y
         < lds l
         >> eds +y
         < eds y
         >> eds ack
         >> cds ack
         >> rds +s
         < rds s
         >> rds ack
         >> lds ack
         wait 599
         wait 2
         < rds -r
         >> rds ack
         < cds -x
         >> cds ack
         < eds -x",
    );
}

/// So does one that is gone itself, and another change does not shorten its time.
#[test]
fn a_listener_that_is_gone_drains_as_well() {
    after(
        DELTA_STARTED,
        "serve cds: x>eds/x eds: x
         < lds -l
         >> lds ack
         wait 300
         serve cds: y>eds/y eds: y
         < cds y
         >> cds ack
         wait 299
         wait 2
         < rds -r
         >> rds ack
         < cds -x
         >> cds ack
         < eds -x",
    );
}
