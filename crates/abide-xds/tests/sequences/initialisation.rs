//! How far a client has come: Envoy's own order, and what ends each wait. `Play::progress` explains how
//! that is written.

use std::time::Duration;

use abide_xds::{Awaited, Initialisation, Kind, Options, Phase};

use super::script::{Play, url};

/// Runs each script and compares what is known after it.
fn follow(play: &mut Play, steps: &[(&str, &str)]) {
    for (script, expected) in steps {
        play.run(script);
        assert_eq!(play.progress(), *expected, "after: {script}");
    }
}

const EVERYTHING: &str = "serve cds: c%3>eds/e d>eds/f eds: e f lds: l>rds/r rds: r>cds/c";

/// Whoever asks for a secret, a filter or a layer by its name waits for it, even where an answer without it
/// was accepted.
#[test]
fn what_is_asked_for_by_name_is_waited_for() {
    for (ty, plural) in [("sds", "secrets"), ("rtds", "runtime")] {
        let waits = format!("{plural}: {ty}/crt (nothing with this name is served to the client)");
        let mut play = Play::new(Options::default());
        play.run(&format!("serve {ty}: cert"));
        follow(
            &mut play,
            &[
                (&format!("> {ty} crt\n< {ty}"), &*waits),
                (&format!("> {ty} ack"), &*waits),
                (&format!("serve {ty}: crt\n< {ty} crt\n> {ty} ack"), "initialised"),
            ],
        );
    }
}

/// Envoy's start, step by step. It asks for listeners after its health checks.
#[test]
fn each_step_of_an_envoy_start_is_observed() {
    let mut play = Play::new(Options::default());
    follow(
        &mut play,
        &[
            ("> cds", "clusters: cds (nothing is served yet)"),
            (
                &format!("{EVERYTHING}\n< cds c d"),
                "clusters: cds (it was sent, and the client has not answered yet) \
                 eds/e (the client has not asked for it yet) \
                 eds/f (the client has not asked for it yet); checks c 3s",
            ),
            (
                "> eds e f
                 < eds e f
                 > cds ack",
                "endpoints: eds/e (it was sent, and the client has not answered yet) \
                 eds/f (it was sent, and the client has not answered yet); checks c 3s",
            ),
            ("> eds ack", "endpoints; checks c 3s"),
            ("wait 2", "endpoints; checks c 3s"),
            (
                "> lds
                 < lds l",
                "listeners: lds (it was sent, and the client has not answered yet) \
                 rds/r (the client has not asked for it yet)",
            ),
            (
                "> rds r
                 < rds r
                 > lds ack",
                "routes: rds/r (it was sent, and the client has not answered yet)",
            ),
            ("> rds ack", "initialised"),
        ],
    );
    // What comes later is warmed up, and requests go on.
    follow(
        &mut play,
        &[(
            "serve cds: c%3>eds/e d>eds/f n%9>eds/n eds: e f lds: l>rds/r rds: r>cds/c
             < cds c d n
             > eds again e f n",
            "initialised: eds/n (nothing with this name is served to the client)",
        )],
    );
    follow(
        &mut play,
        &[(
            "> cds ack
             serve cds: c%3>eds/e d>eds/f n%9>eds/n eds: e f lds: l>rds/r m>rds/s rds: r>cds/c
             < lds l m
             > rds again r s
             > lds ack",
            "initialised: eds/n (nothing with this name is served to the client) \
             rds/s (nothing with this name is served to the client)",
        )],
    );
}

/// One round for each cluster: the longest of them counts, and it ends.
#[test]
fn the_wait_for_health_checks_ends_after_the_longest_round() {
    let start = "serve cds: a%2>eds/a b%5>eds/b c>eds/c eds: a b c
                 > cds
                 < cds a b c
                 > eds a b c
                 < eds a b c
                 > cds ack
                 wait 10
                 > eds ack";
    follow(
        &mut Play::new(Options::default()),
        &[
            (start, "endpoints; checks a 2s b 5s"),
            ("wait 3", "endpoints; checks b 5s"),
            // A client whose listeners are its own is seen no more of.
            ("wait 2", "initialised"),
            ("> lds\n< lds", "listeners: lds (it was sent, and the client has not answered yet)"),
            ("> lds ack", "initialised"),
        ],
    );
    // A cluster that the client refused is not checked.
    follow(
        &mut Play::new(Options::default()),
        &[(
            "serve cds: a%2>eds/a eds: a
             > cds
             < cds a
             > cds nack",
            "initialised",
        )],
    );
}

/// A withheld answer is waited for, and a refusal is a failure, which ends the wait.
#[test]
fn a_refusal_ends_a_wait_and_silence_does_not() {
    let up_to_listeners = "serve cds: c lds: l>rds/r rds: r
                           > cds
                           < cds c
                           > cds ack
                           > lds
                           < lds l";
    let waits = "listeners: lds (it was sent, and the client has not answered yet) \
                 rds/r (the client has not asked for it yet)";
    for delta in [false, true] {
        let arrow = if delta { ">>" } else { ">" };
        let written = |script: &str| script.replace("> ", &format!("{arrow} "));
        let mut play = Play::new(Options::default());
        follow(
            &mut play,
            &[
                (&written(up_to_listeners), waits),
                ("wait 600", waits),
                (&written("> lds nack"), "initialised"),
            ],
        );
    }
    // Before there is anything, everything is withheld.
    let mut play = Play::new(Options::default());
    follow(&mut play, &[("> lds", "listeners: lds (nothing is served yet)")]);
}

/// The routes that a listener asks for are part of its wait, until there are some or they are refused.
#[test]
fn a_listener_waits_for_its_routes() {
    let up_to_routes = "serve cds: c lds: l>rds/r
                        > cds
                        < cds c
                        > cds ack
                        > lds
                        < lds l
                        > rds r
                        > lds ack";
    let waits = "routes: rds/r (nothing with this name is served to the client)";
    let served = "serve cds: c lds: l>rds/r rds: r\n< rds r";
    for (answer, done) in [("> rds ack", "initialised"), ("> rds nack", "initialised")] {
        let mut play = Play::new(Options::default());
        let sent = "routes: rds/r (it was sent, and the client has not answered yet)";
        follow(
            &mut play,
            &[(up_to_routes, waits), ("wait 60", waits), (served, sent), (answer, done)],
        );
    }
    // Routes that are held back say what for.
    let mut play = Play::new(Options::default());
    follow(
        &mut play,
        &[(
            "serve cds: c lds: l>rds/r rds: r>cds/c
             > cds
             < cds c
             > cds nack
             > lds
             < lds l
             > rds r
             > lds ack",
            "routes: rds/r (the client refused the cluster `c`)",
        )],
    );
}

/// A listener that changed warms up with its routes: they are sent though they did not change, to clients
/// that ask for them again and to those that do not.
#[test]
fn unchanged_routes_of_a_warming_listener_are_sent_again() {
    let old = "serve cds: c lds: l@1>rds/r rds: r>cds/c";
    let new = "serve cds: c lds: l@2>rds/r rds: r>cds/c";
    for arrow in [">", ">>"] {
        let ask = |ty: &str, name: &str| match arrow {
            ">" => format!("> {ty} {name}"),
            _ => format!(">> {ty} +{name}"),
        };
        let begin = format!(
            "{old}
             {arrow} cds
             < cds c
             {arrow} cds ack
             {arrow} lds
             < lds l
             {}
             < rds r
             {arrow} lds ack
             {arrow} rds ack",
            ask("rds", "r")
        );
        let change = format!(
            "{new}
             < lds l
             < rds r"
        );
        let mut play = Play::new(Options::default());
        follow(
            &mut play,
            &[
                (&begin, "initialised"),
                (
                    &change,
                    // It keeps the old listener, and its routes, until the new one is warm.
                    "initialised",
                ),
                (&format!("{arrow} rds ack\n{arrow} lds ack"), "initialised"),
            ],
        );
    }
    // A second listener with the same routes.
    super::script::play(
        "serve lds: l>rds/r rds: r
         > lds
         < lds l
         > rds r
         < rds r
         > lds ack
         > rds ack
         serve lds: l>rds/r m>rds/r rds: r
         < lds l m
         < rds r",
    );
}

/// An incremental client is told that there is nothing, and goes on; one in the state of the world waits.
#[test]
fn an_incremental_client_learns_that_a_resource_does_not_exist() {
    follow(
        &mut Play::new(Options::default()),
        &[(
            "serve cds: c eds: other
             >> eds +e
             < eds -e
             >> eds ack",
            "initialised",
        )],
    );
    follow(
        &mut Play::new(Options::default()),
        &[(
            "serve cds: c eds: other
             > eds e
             < eds
             > eds ack",
            "endpoints: eds/e (nothing with this name is served to the client)",
        )],
    );
}

/// gRPC asks in the other direction, by names.
#[test]
fn clients_that_begin_with_listeners_are_followed_too() {
    follow(
        &mut Play::new(Options::default()),
        &[
            (
                "serve cds: c>eds/c eds: c lds: l>rds/r rds: r>cds/c
                 > lds l
                 < lds l",
                "listeners: lds/l (it was sent, and the client has not answered yet) \
                 rds/r (the client has not asked for it yet)",
            ),
            ("> lds ack\n> rds r\n< rds r\n> rds ack", "initialised"),
            (
                "> cds c\n< cds c",
                "clusters: cds/c (it was sent, and the client has not answered yet) \
                 eds/c (the client has not asked for it yet)",
            ),
            ("> cds ack", "endpoints: eds/c (the client has not asked for it yet)"),
            ("> eds c\n< eds c\n> eds ack", "initialised"),
        ],
    );
}

/// A client that waited long enough for endpoints asks for listeners without them.
#[test]
fn a_client_that_gave_up_on_endpoints_is_past_them() {
    follow(
        &mut Play::new(Options::default()),
        &[
            (
                "serve cds: c>eds/c lds: l
                 > cds
                 < cds c
                 > eds c
                 > cds ack",
                "endpoints: eds/c (nothing with this name is served to the client)",
            ),
            (
                "> lds\n< lds l",
                "listeners: eds/c (nothing with this name is served to the client) \
                 lds (it was sent, and the client has not answered yet)",
            ),
            ("> lds ack", "initialised: eds/c (nothing with this name is served to the client)"),
        ],
    );
}

/// A stream of one type says nothing of the others.
#[test]
fn a_stream_of_endpoints_needs_no_other_type() {
    let mut play = Play::new(Options { only: Some(url("eds").into()), ..Options::default() });
    follow(
        &mut play,
        &[
            (
                "serve eds: e
                 > eds e f
                 < eds e",
                "endpoints: eds/e (it was sent, and the client has not answered yet) \
                 eds/f (nothing with this name is served to the client)",
            ),
            ("> eds ack", "endpoints: eds/f (nothing with this name is served to the client)"),
            ("serve eds: e f\n< eds f\n> eds ack", "answered"),
        ],
    );
    let mut play = Play::new(Options { only: Some(url("cds").into()), ..Options::default() });
    follow(&mut play, &[("serve cds: c>eds/c eds: c\n> cds\n< cds c\n> cds ack", "answered")]);
}

/// However much a client waits for, little is told.
#[test]
fn what_is_told_has_a_limit() {
    let name = |number: usize| Some(number.to_string().into());
    let awaited =
        |number| Awaited { kind: Kind::ENDPOINTS, name: name(number), reason: String::new() };
    let all = Initialisation::of_one_type(Kind::ENDPOINTS, (0..250).map(awaited));
    assert_eq!((all.waits_for.len(), all.more), (100, 150));
    assert_eq!(all.phase, Phase::WaitsFor(Kind::ENDPOINTS));
    assert_eq!(Initialisation::of_one_type(Kind::ENDPOINTS, []).phase, Phase::Answered);
    // What is not named counts all the same.
    let names: Vec<String> = (0..150).map(|it| format!("c{it:03}")).collect();
    let clusters: String = names.iter().map(|it| format!(" {it}>eds/{it}")).collect();
    let all = names.join(" ");
    let mut play = Play::new(Options::default());
    play.run(&format!(
        "serve cds:{clusters} lds: l
         > cds
         < cds {all}
         > eds {all}
         > cds ack
         > lds
         < lds l"
    ));
    let it = play.session.initialisation(Duration::ZERO);
    assert_eq!(it.phase, Phase::WaitsFor(Kind::LISTENER));
    assert_eq!((it.waits_for.len(), it.more), (100, 51));
}

/// The time that a round takes is that of the resource.
#[test]
fn a_round_is_what_its_cluster_says() {
    assert_eq!(super::script::resource("c%7>eds/c").health_round, Some(Duration::from_secs(7)));
    assert_eq!(super::script::resource("c>eds/c").health_round, None);
}
