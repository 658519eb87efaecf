//! The state-of-the-world variant: `requirements` 002-017 to 002-048.

use abide_xds::Options;

use super::script::{Play, play, play_alone};

/// The first request opens the stream and is answered.
#[test]
fn the_first_request_is_answered() {
    play(
        "serve cds: a b
         > cds
         < cds a b",
    );
}

/// What is asked for before there is anything is answered when there is.
#[test]
fn a_request_is_answered_when_its_resource_appears() {
    play(
        "> cds
         > eds e
         serve cds: a>eds/e
         < cds a
         > cds ack
         serve cds: a>eds/e eds: e
         < eds e",
    );
}

/// An accepted response is no reason to send another one.
#[test]
fn an_ack_causes_no_response() {
    let mut play = Play::new(Options::default());
    play.run(
        "serve cds: a
         > cds
         < cds a
         > cds ack",
    );
    let status = play.session.status();
    assert_eq!(status[0].accepted, Some(play.version("cds")));
    assert_eq!(status[0].refused, None);
}

/// A refused version is not sent again, and what the client said is kept.
#[test]
fn a_refused_version_is_not_sent_again() {
    let mut play = Play::new(Options::default());
    play.run(
        "serve cds: a
         > cds
         < cds a
         > cds ack",
    );
    let good = play.version("cds");
    play.run(
        "serve cds: a@2
         < cds a
         > cds nack
         > cds again",
    );
    let status = &play.session.status()[0];
    assert_eq!(status.accepted, Some(good), "the last good version");
    let refused = status.refused.as_ref().expect("it refused one");
    assert_eq!((refused.version.clone(), &*refused.message), (play.version("cds"), "no"));
    assert_eq!(status.sent, Some(play.version("cds")));
}

/// A later version may succeed, and so may the last good one again.
#[test]
fn a_later_version_is_accepted_after_a_nack() {
    let mut play = Play::new(Options::default());
    play.run(
        "serve cds: a@1
         > cds
         < cds a
         > cds ack
         serve cds: a@2
         < cds a
         > cds nack
         serve cds: a@3
         < cds a
         > cds ack
         serve cds: a@4
         < cds a
         > cds nack
         serve cds: a@3
         < cds a
         > cds ack",
    );
    assert_eq!(play.session.status()[0].refused, None);
}

/// Versions are those of a type.
#[test]
fn each_type_has_its_own_versions() {
    let mut play = Play::new(Options::default());
    play.run(
        "serve cds: a lds: l
         > cds
         < cds a
         > cds ack
         > lds
         < lds l
         > lds ack",
    );
    assert_ne!(play.version("cds"), play.version("lds"));
    play.run(
        "serve cds: a@2 lds: l
         < cds a
         > cds ack",
    );
}

/// Two streams of one type have nothing in common.
#[test]
fn two_streams_of_one_type_are_independent() {
    let serve = "serve eds: e f";
    let mut first = Play::new(Options::default());
    let mut second = Play::new(Options::default());
    first.run(&format!("{serve}\n> eds e\n< eds e\n> eds nack"));
    second.run(&format!("{serve}\n> eds f\n< eds f\n> eds ack"));
    assert_ne!(first.version("eds"), second.version("eds"));
    assert_eq!(second.session.status()[0].refused, None);
}

/// The same content is nothing to send, however it comes.
#[test]
fn unchanged_content_is_not_sent_again() {
    play(
        "serve cds: a b
         > cds
         < cds a b
         > cds ack
         serve cds: b a
         wait 5
         serve cds: a b eds: e",
    );
}

/// A client that is slow to answer gets the newest change only.
#[test]
fn a_slow_client_gets_only_the_newest_change() {
    play(
        "serve cds: a@1
         > cds
         < cds a
         serve cds: a@2
         serve cds: b
         > cds ack
         < cds b
         # One that never answers gets it after a while.
         serve cds: c
         wait 4
         wait 1
         < cds c",
    );
}

/// An answer to a response is never answered with the same content.
#[test]
fn an_answer_never_repeats_the_same_content() {
    play(
        "serve cds: a>eds/e eds: e
         > cds
         < cds a
         > eds e
         < eds e
         > eds ack
         > eds again
         > eds again
         > cds ack
         > cds again
         > cds again",
    );
}

/// A newer request takes the place of an older one.
#[test]
fn a_newer_request_replaces_an_unanswered_one() {
    play(
        "> eds a
         > eds b
         serve eds: a b
         < eds b",
    );
}

/// No names mean all; what is absent from a complete answer is gone.
#[test]
fn a_resource_absent_from_a_complete_set_is_removed() {
    play(
        "serve cds: a b
         > cds
         < cds a b
         > cds ack
         serve cds: b
         < cds b
         > cds ack
         serve eds: e
         < cds
         > cds ack",
    );
}

/// Clients that name clusters and listeners get those, and learn that one is missing.
#[test]
fn a_missing_named_listener_is_announced() {
    play(
        "serve lds: a b
         > lds b missing
         < lds b
         > lds ack
         serve lds: a@2 b
         > lds ack missing",
    );
}

/// Of other types fewer than asked for may be sent.
#[test]
fn an_answer_may_have_fewer_resources_than_requested() {
    play(
        "serve cds: a>eds/e b>eds/f eds: e
         > eds e f
         < eds e
         > eds ack
         serve cds: a>eds/e b>eds/f eds: e f
         < eds f",
    );
}

/// What is missing from an update keeps its value: only what changed is sent.
#[test]
fn an_endpoint_update_has_only_what_changed() {
    play(
        "serve eds: e f
         > eds e f
         < eds e f
         > eds ack
         serve eds: e@2 f
         < eds e
         > eds ack
         serve eds: f",
    );
}

/// A cluster that is removed takes its endpoints along; when it comes back they are
/// sent again.
#[test]
fn endpoints_are_sent_again_for_a_restored_cluster() {
    play(
        "serve cds: c>eds/e eds: e
         > cds
         < cds c
         > eds e
         < eds e
         > eds ack
         > cds ack
         serve cds: d eds: e
         < cds d
         > cds ack
         > eds again none
         serve cds: c>eds/e eds: e
         < cds c
         > eds again e
         < eds e
         > eds ack
         > cds ack",
    );
}

/// One name a request or several, one stream or several.
#[test]
fn names_can_be_requested_together_or_separately() {
    let serve = "serve eds: foo bar";
    play(&format!("{serve}\n> eds foo bar\n< eds bar foo\n> eds ack"));
    play(&format!("{serve}\n> eds foo\n< eds foo\n> eds ack foo bar\n< eds bar\n> eds ack"));
    play(&format!("{serve}\n> eds foo\n< eds foo\n> eds ack"));
    play(&format!("{serve}\n> eds bar\n< eds bar\n> eds ack"));
}

/// An answer to a response may change the names.
#[test]
fn an_ack_may_change_the_requested_names() {
    play(
        "serve eds: a b c
         > eds a
         < eds a
         > eds nack a b
         < eds b
         > eds ack b
         > eds again b c
         < eds c
         > eds ack",
    );
}

/// The version did not change, but the names did.
#[test]
fn a_new_name_is_answered_at_the_same_version() {
    play(
        "serve cds: foo>eds/foo eds: foo bar
         > cds
         < cds foo
         > eds foo
         < eds foo
         > eds ack
         > cds ack
         serve cds: foo>eds/foo bar>eds/bar eds: foo bar
         < cds bar foo
         > eds again foo bar
         < eds bar
         > eds ack
         > cds ack",
    );
}

/// A request that crosses a response is no refusal of it, in either order.
#[test]
fn a_request_that_crosses_a_response_is_not_a_refusal() {
    let mut play = Play::new(Options::default());
    play.run(
        "serve eds: foo@1 bar
         > eds foo
         < eds foo
         > eds ack
         serve eds: foo@2 bar
         < eds foo
         > eds stale foo bar",
    );
    assert_eq!(play.session.status()[0].refused, None);
    play.run(
        "> eds ack foo bar
         < eds bar
         > eds ack",
    );
}

/// A stale nonce is no reason to do anything.
#[test]
fn a_stale_nonce_is_ignored() {
    play(
        "serve eds: a@1 b
         > eds a
         < eds a
         > eds ack
         serve eds: a@2 b
         < eds a
         > eds stale b
         > eds stale a b
         > eds ack a
         > eds stale b",
    );
}

/// Until there is something new, nothing is sent; several requests count.
#[test]
fn requests_wait_until_something_is_new() {
    play(
        "serve cds: x>eds/a y>eds/b z>eds/c eds: e
         > eds a
         > eds a b
         > eds a b c
         serve cds: x>eds/a y>eds/b z>eds/c eds: a b c
         < eds a b c
         > eds ack a b
         > eds again a
         > eds again a b
         < eds b",
    );
}

/// On a stream of its own, a repeated request is answered once.
#[test]
fn a_repeated_request_on_its_own_stream_is_answered_once() {
    play_alone(
        "eds",
        "serve eds: e
         > eds e
         < eds e
         > eds ack
         > eds again
         < eds e
         > eds ack",
    );
}

/// Naming nothing after naming something wants nothing.
#[test]
fn no_names_after_names() {
    play(
        "serve cds: a b
         > cds a
         < cds a
         > cds ack none
         serve cds: a@2 b",
    );
}

/// The wildcard may be spelled out, beside names.
#[test]
fn explicit_wildcard() {
    play(
        "serve cds: a b
         > cds a
         < cds a
         > cds ack a *
         < cds a b
         > cds ack a",
    );
}

/// A stream of one type refuses others; a stream of all needs to know which.
#[test]
fn wrong_types() {
    play_alone(
        "eds",
        "> cds
         ends serves `type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment`
         > cds",
    );
}

/// What a client can make grow has an end.
#[test]
fn too_many_names() {
    let mut play = Play::new(Options { max_names: 3, ..Options::default() });
    play.run(
        "serve eds: a
         > eds a b c
         < eds a
         > eds ack a b c d
         ends at most 3 names",
    );
    let mut play = Play::new(Options { max_names: 3, ..Options::default() });
    play.run(
        "serve eds: a
         >> eds +a +b
         < eds a -b
         >> eds +c +d
         ends at most 3 names",
    );
    let mut play = Play::new(Options { max_name_bytes: 5, ..Options::default() });
    play.run(
        ">> eds +aa +bb
         >> eds -aa
         >> eds +cc
         >> eds +dd
         ends at most 5 bytes",
    );
    let mut play = Play::new(Options { max_types: 1, ..Options::default() });
    play.run(
        "serve eds: a
         > eds a
         < eds a
         > cds
         ends at most 1 types",
    );
}

/// A client that has listeners from elsewhere is not told that there are fewer, if one is only
/// withheld from it. One that has nothing is given what there is.
#[test]
fn what_is_withheld_is_not_taken_away() {
    play(
        "serve lds: l! m
         > lds held
         serve lds: l@2 m
         < lds l m
         > lds ack",
    );
    play(
        "serve lds: l! m
         > lds
         < lds m
         > lds ack",
    );
}
