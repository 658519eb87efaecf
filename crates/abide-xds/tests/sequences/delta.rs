//! The incremental variant: `requirements` 002-069 to 002-090.

use abide_xds::Options;

use super::script::{Play, play, play_alone};

/// One change of many resources is one resource.
#[test]
fn one_changed_resource_of_many_is_sent_alone() {
    let many: Vec<String> = (0..1000).map(|it| format!("c{it}")).collect();
    let mut names = many.clone();
    names.sort();
    play(&format!(
        "serve cds: {}
         >> cds
         < cds {}
         >> cds ack
         serve cds: {}
         < cds c500
         >> cds ack",
        many.join(" "),
        names.join(" "),
        many.join(" ").replace("c500", "c500@2"),
    ));
}

/// More names may be asked for at any time.
#[test]
fn names_can_be_added_at_any_time() {
    play(
        "serve vhds: a b c
         >> vhds +a
         < vhds a
         >> vhds ack
         >> vhds +b
         < vhds b
         >> vhds +c
         < vhds c
         >> vhds ack -a
         serve vhds: a@2 b@2 c
         < vhds b",
    );
}

/// A proxy that asks for the host of a request learns that there is none, by the name that it asked for,
/// and lets the request go. What it holds is removed by its name.
#[test]
fn a_host_that_nobody_serves_is_answered_under_its_name() {
    for (ty, sign) in [("vhds", "?"), ("sds", "-")] {
        play(&format!(
            "serve {ty}: a=r/one.example b
             >> {ty} +a +r/four.example
             < {ty} a {sign}r/four.example
             >> {ty} ack
             >> {ty} +r/five.example
             < {ty} {sign}r/five.example
             >> {ty} ack
             >> {ty} +r/one.example
             < {ty} a
             >> {ty} ack
             serve {ty}: a=r/one.example c=r/four.example
             < {ty} c
             >> {ty} ack
             serve {ty}: c=r/four.example
             < {ty} -a"
        ));
    }
}

/// A response is accepted by its nonce; a request without one is about none.
#[test]
fn a_response_is_acknowledged_by_its_nonce() {
    let mut play = Play::new(Options::default());
    play.run(
        "serve cds: a b
         >> cds
         < cds a b
         >> cds",
    );
    assert_eq!(play.session.status()[0].accepted, None, "not accepted yet");
    play.run(">> cds ack");
    let good = play.version("cds");
    play.run(
        "serve cds: a@2 b
         < cds a
         >> cds nack
         >> cds",
    );
    let status = play.session.status();
    assert_eq!(status[0].accepted.as_ref(), Some(&good));
    assert_eq!(status[0].refused.as_ref().map(|it| &*it.message), Some("no"));
    play.run(
        "serve cds: a@2 b@2
         < cds b
         >> cds ack
         serve cds: a@3 b@2
         < cds a
         >> cds ack",
    );
    assert_eq!(play.session.status()[0].refused, None);
}

/// The worked example: accepted, refused, and a name without a response.
#[test]
fn the_worked_example_of_the_protocol_is_replayed() {
    play(
        "serve rds: wa wb wc
         >> rds +wa +wb
         < rds wa wb
         >> rds ack
         serve rds: wa@2 wb wc
         < rds wa
         >> rds nack
         >> rds +wc
         < rds wc
         >> rds ack",
    );
}

/// On a new stream the client says what it holds: what did not change is not sent,
/// and what is gone is named.
#[test]
fn a_reconnected_client_gets_only_changes_and_removals() {
    play(
        "serve cds: a b@2 d
         >> cds =a =b@1 =c
         < cds b d -c
         >> cds ack",
    );
    play(
        "serve cds: a
         >> cds =a
         < cds
         >> cds ack",
    );
    play(
        "serve eds: a b
         >> eds +a +b =a
         < eds b
         >> eds ack
         serve eds: b
         < eds -a",
    );
}

/// What refers to something may come later on the stream than what is gone: the old cluster stays
/// until the client has the new route.
#[test]
fn what_a_resumed_client_uses_stays() {
    let script = "serve cds: new eds: lds: l>rds/r rds: r@2>cds/new
         >> cds =old
         < cds new
         >> cds ack
         >> lds =l>rds/r
         < lds
         >> lds ack
         >> rds +r =r>cds/old
         < rds r
         >> rds ack
         < cds -old";
    play(script);
    // One that asks for nothing else is told in the end.
    play(
        "serve cds: new lds: l>rds/r rds: r@2>cds/new
         >> cds =old
         < cds new
         >> cds ack
         wait 2
         < cds -old",
    );
}

/// Of what a client says that it holds, nobody knows the content: it cannot be sent again.
#[test]
fn what_is_only_known_by_name_is_not_sent() {
    // The route waits for the cluster, and the listener that changed asks for it.
    play(
        "serve cds: c@2 lds: l@2>rds/r rds: r@2>cds/c
         >> cds =c
         < cds c
         >> lds =l>rds/r
         < lds l
         >> rds +r =r>cds/c
         >> lds ack
         >> cds ack
         < rds r
         >> rds ack",
    );
    // Its endpoints are gone, and the cluster changes.
    play(
        "serve cds: a>eds/a
         >> cds =a>eds/a
         < cds
         >> cds ack
         >> eds +a =a
         serve cds: a@2>eds/a
         < cds a
         >> cds ack",
    );
}

/// A client that cannot be given a resource as it is now keeps the one that it has.
#[test]
fn what_is_withheld_is_not_taken_away() {
    play(
        "serve cds: c lds: l! rds: r!
         >> cds =c
         < cds
         >> cds ack
         >> lds =l>rds/r
         < lds
         >> lds ack
         >> rds +r =r>cds/c
         serve cds: c lds: l>rds/r rds: r@2>cds/c
         < rds r
         >> rds ack",
    );
    play_alone(
        "vhds",
        "serve vhds: a! b
         >> vhds +a +b =a
         < vhds b
         >> vhds ack
         serve vhds: b
         < vhds -a",
    );
}

/// A client came with a version that could not be given to it then. When that version is served, what it
/// refers to is known, and nothing else is kept for its sake.
#[test]
fn what_a_client_came_with_is_known_once_it_is_served() {
    play(
        "serve cds: c lds: l!
         >> cds =c
         < cds
         >> cds ack
         >> lds =l>rds/r
         < lds
         >> lds ack
         serve cds: d lds: l!
         < cds d
         >> cds ack
         serve cds: d lds: l>rds/r
         < cds -c
         >> cds ack",
    );
}

/// A route that the client has stays until the cluster of its successor can be given to the client. The
/// first one of its name goes out: the client has nothing better, and other hosts of it may work.
#[test]
fn no_route_is_replaced_by_one_to_a_cluster_that_is_withheld() {
    let begin = "
         >> cds
         < cds a
         >> cds ack
         >> lds
         < lds l
         >> lds ack
         >> rds +r
         < rds r
         >> rds ack";
    play(&format!(
        "serve cds: a lds: l>rds/r rds: r>cds/a
         {begin}
         serve cds: a b! lds: l>rds/r rds: r@2>cds/b
         serve cds: a b lds: l>rds/r rds: r@2>cds/b
         < cds b
         >> cds ack
         < rds r
         >> rds ack"
    ));
    play(&format!("serve cds: a b! lds: l>rds/r rds: r>cds/b {begin}"));
}

/// What it holds is no wish: it has to name all that it wants.
#[test]
fn initial_versions_subscribe_to_nothing() {
    play(
        "serve vhds: a@2 b
         >> vhds +b =a@1
         < vhds b",
    );
}

/// Names and aliases both count; the response has the name.
#[test]
fn a_resource_is_found_by_name_or_alias() {
    play(
        "serve vhds: a=x=y b=z
         >> vhds +x
         < vhds a
         >> vhds ack
         serve vhds: a=x=y@2 b=z
         < vhds a
         >> vhds ack
         >> vhds +b
         < vhds b
         >> vhds ack -b
         serve vhds: a=x=y@3 b=z@2
         < vhds a
         >> vhds ack
         serve vhds: b=z
         < vhds -a",
    );
}

/// A name that is wanted again is sent again.
#[test]
fn a_name_subscribed_to_again_is_sent_again() {
    play(
        "serve vhds: a
         >> vhds +a
         < vhds a
         >> vhds ack
         >> vhds +a
         < vhds a
         >> vhds ack
         >> vhds -a
         >> vhds +a
         < vhds a",
    );
}

/// What is not wanted any more is not sent, by name or alias.
#[test]
fn an_unsubscribed_name_or_alias_is_not_sent() {
    play(
        "serve vhds: a=x b
         >> vhds +x +b
         < vhds a b
         >> vhds ack -x
         serve vhds: a=x@2 b
         >> vhds -b
         serve vhds: c",
    );
}

/// A name that nobody subscribed to may be unsubscribed.
#[test]
fn unsubscribing_from_an_unknown_name_is_ignored() {
    play(
        "serve vhds: a
         >> vhds +a -ghost
         < vhds a
         >> vhds ack -ghost
         >> vhds -ghost -a -a",
    );
}

/// A name that was given up before there was anything to send is not sent.
#[test]
fn given_up_before_the_answer() {
    play(
        ">> vhds +a +b
         >> vhds -a
         >> vhds +c -c
         serve vhds: a b c
         < vhds b",
    );
}

/// A name that does not exist is said to be gone, and sent when it exists.
#[test]
fn a_missing_name() {
    play(
        "serve sds: a
         >> sds +a +b
         < sds a -b
         >> sds ack
         serve sds: a b
         < sds b",
    );
}

/// Everything and names beside it: a name that is no longer wanted on its own is
/// wanted with everything.
#[test]
fn wildcard_and_names() {
    play(
        "serve cds: a b
         >> cds +* +a
         < cds a b
         >> cds ack -a
         < cds a
         >> cds ack -*
         serve cds: a@2 b@2",
    );
}

/// The wildcard that is not spelled out stays when names come.
#[test]
fn legacy_wildcard_and_names() {
    play(
        "serve cds: a b
         >> cds
         < cds a b
         >> cds ack +a
         < cds a
         >> cds ack
         serve cds: a b@2
         < cds b",
    );
}

/// Nothing at all is an answer, too: clients wait for it.
#[test]
fn nothing_to_serve() {
    play(
        "serve eds: e
         >> cds
         < cds
         >> lds
         < lds",
    );
}
