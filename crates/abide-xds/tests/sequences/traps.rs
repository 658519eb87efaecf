//! What other servers got wrong, under the numbers of their reports.

use abide_xds::{Kind, Options, Session, Types};

use super::script::{Play, play, play_alone, snapshot};

/// Endpoints have to be sent again after their cluster changed.
#[test]
fn go_control_plane_245() {
    play(
        "serve cds: c@1>eds/c eds: c
         > cds
         < cds c
         > eds c
         < eds c
         > eds ack
         > cds ack
         serve cds: c@2>eds/c eds: c
         < cds c
         < eds c
         > eds ack
         > cds ack",
    );
}

/// A client that wants nothing of a type for a while, as gRPC does when a channel is idle, gets
/// everything again when it comes back.
#[test]
fn go_control_plane_431() {
    play(
        "serve lds: l>rds/r rds: r
         > lds l
         < lds l
         > rds r
         < rds r
         > lds ack
         > rds ack
         > rds again none
         > lds again none
         > lds again l
         < lds l
         > rds again r
         < rds r
         > lds ack
         > rds ack",
    );
}

/// Unsubscribed and subscribed again: the endpoints did not change and are sent.
#[test]
fn go_control_plane_583() {
    play(
        "serve eds: e f
         > eds e f
         < eds e f
         > eds ack f
         > eds again e f
         < eds e
         > eds ack",
    );
    play(
        "serve eds: e f
         >> eds +e +f
         < eds e f
         >> eds ack -e
         >> eds +e
         < eds e",
    );
}

/// A refusal leaves the last good version, and the way back to it is open.
#[test]
fn go_control_plane_564() {
    let mut play = Play::new(Options::default());
    play.run(
        "serve cds: c@1
         > cds
         < cds c
         > cds ack",
    );
    let good = play.version("cds");
    play.run(
        "serve cds: c@2
         < cds c
         > cds nack
         serve cds: c@1
         < cds c
         > cds ack",
    );
    assert_eq!(play.session.status()[0].accepted, Some(good));
}

/// After a reconnect the client asks for endpoints of a cluster that is gone, and
/// for nothing else until it has an answer.
#[test]
fn java_control_plane_127() {
    play(
        "serve cds: other eds: e
         > eds gone
         < eds
         > eds ack
         > cds
         < cds other",
    );
    play(
        "serve cds: c>eds/e eds: e
         > eds e gone
         < eds e",
    );
}

/// The cluster and its endpoints change while the client asks for the first ones;
/// then the cluster changes again and the endpoints do not.
#[test]
fn java_control_plane_131() {
    play(
        "serve cds: c@1>eds/c eds: c@1
         > cds
         < cds c
         serve cds: c@2>eds/c eds: c@2
         > eds c
         < eds c
         > eds ack
         > cds ack
         < cds c
         < eds c
         > eds ack
         > cds ack",
    );
}

/// On streams of their own, clusters and endpoints know nothing of each other: the
/// client asks for the endpoints again, with what it has.
#[test]
fn istio_38709() {
    play_alone(
        "eds",
        "serve cds: c@1>eds/c eds: c
         > eds c
         < eds c
         > eds ack
         serve cds: c@2>eds/c eds: c
         > eds again
         < eds c
         > eds ack",
    );
    play(
        "serve cds: c@1>eds/c eds: c
         >> cds
         < cds c
         >> eds +c
         < eds c
         >> eds ack
         >> cds ack
         serve cds: c@2>eds/c eds: c
         < cds c
         < eds c",
    );
}

/// Endpoints are sent while their cluster is warming up, whatever version the client
/// says that it has.
#[test]
fn kuma_331() {
    play(
        "serve cds: c@1>eds/c eds: c
         > cds
         < cds c
         > eds c
         < eds c
         > eds ack
         > cds ack
         serve cds: c@2>eds/c eds: c
         < cds c
         < eds c
         # It asked before it saw them.
         > eds stale
         > eds ack
         > cds ack
         wait 60",
    );
}

/// A change of endpoints is no reason to send anything else.
#[test]
fn contour_6250() {
    play(
        "serve cds: a>eds/a b>eds/b eds: a b lds: l>cds/a
         > cds
         < cds a b
         > eds a b
         < eds a b
         > lds
         < lds l
         > cds ack
         > eds ack
         > lds ack
         serve cds: a>eds/a b>eds/b eds: a@2 b lds: l>cds/a
         < eds a
         > eds ack",
    );
}

/// A client that reconnects at the version that is served is answered all the same,
/// also if the server has nothing yet.
#[test]
fn kgateway_14703() {
    play(
        "> eds e
         serve eds: e
         < eds e
         > eds ack",
    );
}

/// Not all that is served has to be asked for.
#[test]
fn kuma_12098() {
    play(
        "serve cds: a>eds/a b>eds/b eds: a b
         > eds a
         < eds a",
    );
}

/// A nonce of another stream is none of this one.
#[test]
fn nonces_after_a_reconnect() {
    let serve = "serve eds: e f";
    let mut first = Play::new(Options::default());
    first.run(&format!("{serve}\n> eds e\n< eds e\n> eds ack"));
    first.session = Session::new(Options::default());
    first.run(&format!("{serve}\n> eds again e\n< eds e\n> eds ack e f\n< eds f"));
}

/// What cannot work is found before it is served.
#[test]
fn dangling_references() {
    let found = snapshot("cds: a>eds/gone rds: r>cds/a>cds/b lds: l>rds/r>rds/s")
        .dangling(&Types::default(), &["b".to_owned()].into());
    let types = Types::default();
    let name = |kind| types.get(kind).map_or("other", |it| &*it.entry.name);
    let found: Vec<String> =
        found.iter().map(|it| format!("{} {} {}", it.name, name(it.kind), it.missing)).collect();
    assert_eq!(found, ["a eds gone", "l rds s"]);
    // Of a kind that is not served at all, clients have what is needed.
    let alone = snapshot("rds: r>cds/a>cds/b");
    assert_eq!(alone.dangling(&types, &Default::default()), []);
    let needed = alone.from_elsewhere(&types, &["b".to_owned()].into());
    let needed: Vec<_> = needed.iter().map(|it| (&*it.name, it.kind, &*it.missing)).collect();
    assert_eq!(needed, [("r", Kind::CLUSTER, "a")]);
    let whole = snapshot("cds: a>eds/gone rds: r>cds/b lds: l>rds/s");
    assert_eq!(whole.from_elsewhere(&types, &Default::default()), [], "these are nowhere");
}
