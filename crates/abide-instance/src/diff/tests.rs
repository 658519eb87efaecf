//! Pairs of texts, and what is said of each.

use std::sync::Arc;

use abide_schema::{FileDecl, SourceFile};

use super::*;
use crate::{Instance, Notation, ReadOptions};

/// Shapes under the names that the facts are about, by number of their own.
const PROTOS: &[(&str, &str)] = &[
    (
        "bootstrap.proto",
        "syntax = \"proto3\"; package envoy.config.bootstrap.v3;
         import \"cluster.proto\"; import \"listener.proto\"; import \"google/protobuf/struct.proto\";
         message Bootstrap {
           message StaticResources {
             repeated envoy.config.listener.v3.Listener listeners = 1;
             repeated envoy.config.cluster.v3.Cluster clusters = 2;
           }
           StaticResources static_resources = 1;
           string flags_path = 2;
           repeated RuntimeLayer layers = 3;
         }
         message RuntimeLayer { string name = 1; google.protobuf.Struct static_layer = 2; }",
    ),
    (
        "cluster.proto",
        "syntax = \"proto3\"; package envoy.config.cluster.v3;
         import \"google/protobuf/duration.proto\"; import \"endpoint.proto\";
         message Cluster {
           string name = 1;
           google.protobuf.Duration connect_timeout = 2;
           envoy.config.endpoint.v3.ClusterLoadAssignment load_assignment = 3;
         }",
    ),
    (
        "endpoint.proto",
        "syntax = \"proto3\"; package envoy.config.endpoint.v3;
         message ClusterLoadAssignment { string cluster_name = 1; repeated string addresses = 2; }",
    ),
    (
        "listener.proto",
        "syntax = \"proto3\"; package envoy.config.listener.v3; import \"google/protobuf/any.proto\";
         message Listener {
           string name = 1; repeated FilterChain filter_chains = 2; bool transparent = 3;
           uint32 buffer = 4; repeated Filter listener_filters = 5; repeated Address more = 6;
           Filter filter_chain_matcher = 7; FilterChain default_filter_chain = 8;
           Balance balance = 9;
         }
         message Balance { Exact exact = 1; }
         message Exact { optional uint32 size = 1; }
         message Address { uint32 port = 1; }
         message FilterChain { repeated Filter filters = 1; }
         message Filter { string name = 1; google.protobuf.Any typed_config = 2; }",
    ),
    (
        "route.proto",
        "syntax = \"proto3\"; package envoy.config.route.v3;
         message RouteConfiguration { string name = 1; repeated VirtualHost virtual_hosts = 2; }
         message VirtualHost { string name = 1; repeated string domains = 2; }",
    ),
    (
        "discovery.proto",
        "syntax = \"proto3\"; package envoy.service.discovery.v3; import \"google/protobuf/any.proto\";
         message DiscoveryResponse {
           string version_info = 1; repeated google.protobuf.Any resources = 2;
         }",
    ),
    (
        "plain.proto",
        "syntax = \"proto3\"; package acme.v1; import \"google/protobuf/struct.proto\";
         message Plain {
           string text = 1; optional int32 some = 2; int32 zero = 3; double real = 4;
           map<string, int32> counts = 5; repeated int32 list = 6; repeated Part parts = 7;
           google.protobuf.Struct any = 8; map<int32, Part> by_id = 9; Plain inner = 10;
           oneof which { string a = 11; string b = 12; }
         }
         message Part { string text = 1; int32 n = 2; }",
    ),
];

fn tree() -> Tree {
    let built_in = ["any", "duration", "struct"].map(|it| format!("google/protobuf/{it}.proto"));
    let built_in =
        built_in.iter().filter_map(|it| Some((&**it, abide_schema::find_well_known(it)?)));
    let files = PROTOS.iter().copied().chain(built_in).map(|(path, text)| {
        let (path, display, text) = (path.into(), path.into(), text.as_bytes().into());
        Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported: false, text }))
    });
    let tree = Tree::link(files.collect());
    assert_eq!(tree.problems().iter().filter(|it| it.kind.is_error()).count(), 0);
    tree
}

/// What is said of a difference.
#[derive(Debug)]
struct Said {
    /// Its kind and path.
    what: String,
    /// The cost and the services.
    cost: String,
    /// Both places.
    places: String,
}

/// What is said of two texts in YAML.
fn said(ty: &str, old: &str, new: &str) -> Vec<Said> {
    let tree = tree();
    let ty = tree.message_named(ty).map(|it| it.id);
    let read = |text: &str| {
        let options = ReadOptions { notation: Notation::Yaml, ty, dialect: None };
        let mut instance = Instance::read(&tree, text.as_bytes(), options);
        let document = instance.documents.remove(0);
        let reading = document.reading.expect("its type is known");
        assert_eq!(reading.errors, []);
        (reading.message, document.span)
    };
    let ((old_value, old_span), (new_value, new_span)) = (read(old), read(new));
    let found = compare_instances(&tree, (&old_value, old_span), (&new_value, new_span));
    let said = found.iter().map(|it| {
        let services = it.services.iter().map(|(name, cost)| format!(", {name} {}", cost.name()));
        Said {
            what: format!("{} {}", it.kind.name(), it.path),
            cost: format!(
                "{}{}",
                it.cost.map_or("", ChangeCost::name),
                services.collect::<String>()
            ),
            places: format!("{} | {}", &old[it.old.range()], &new[it.new.range()]),
        }
    });
    said.collect()
}

/// What a change of any other API is, which costs what nobody knows.
#[track_caller]
fn plain(old: &str, new: &str, expected: &[&str]) {
    let found = said("acme.v1.Plain", old, new);
    let what: Vec<&str> = found.iter().map(|it| &*it.what).collect();
    assert_eq!(what, expected);
    assert!(found.iter().all(|it| it.cost.is_empty()), "{found:?}");
}

#[test]
fn values_are_compared_not_texts() {
    plain("{text: a, zero: 0, list: [1, 2]}", "list:\n- 1\n- 2\ntext: 'a' # same\n", &[]);
    plain("{counts: {a: 1, b: 2}}", "{counts: {b: 2, a: 1}}", &[]);
    plain("{real: 1.50}", "{real: 1.5}", &[]);
    plain("{some: 0}", "{}", &["removed some"]);
    plain("{text: a}", "{text: b}", &["changed text"]);
    plain("{a: x}", "{b: x}", &["removed a", "added b"]);
    plain("{real: 0.0}", "{real: -0.0}", &["added real"]);
}

#[test]
fn elements_are_paired_by_name_or_by_place() {
    plain(
        "{counts: {a: 1, b: 2}}",
        "{counts: {b: 3, c: 2}}",
        &["removed counts[\"a\"]", "changed counts[\"b\"]", "added counts[\"c\"]"],
    );
    plain("{list: [1, 2, 3, 4]}", "{list: [1, 5, 3, 4]}", &["changed list[1]"]);
    plain("{list: [1, 2, 3]}", "{list: [1, 9, 2, 3]}", &["added list[1]"]);
    plain("{list: [1, 2, 3]}", "{list: [1, 3]}", &["removed list[1]"]);
    plain("{parts: [{text: a}, {n: 2}]}", "{parts: [{text: a}, {n: 3}]}", &["changed parts[1].n"]);
    plain("{by_id: {7: {n: 1}}}", "{by_id: {7: {n: 2}}}", &["changed by_id[7].n"]);
    plain("{inner: {inner: {text: a}}}", "{inner: {inner: {}}}", &["removed inner.inner.text"]);
}

#[test]
fn structs_are_written_as_in_json() {
    plain(
        "{any: {a: {b: 1, c: [x]}}}",
        "{any: {a: {b: 2, c: [x, y]}}}",
        &["changed any[\"a\"][\"b\"]", "added any[\"a\"][\"c\"][1]"],
    );
    plain("{any: {a: 1}}", "{any: {a: {b: 1}}}", &["changed any[\"a\"]"]);
    plain("{any: {a: {b: 1}}}", "{any: {a: {b: 1}}}", &[]);
}

#[test]
fn both_places_are_said() {
    let found =
        said("acme.v1.Plain", "{text: a, inner: {}}", "{text: b, inner: {list: [1], some: 2}}");
    let places: Vec<&str> = found.iter().map(|it| &*it.places).collect();
    assert_eq!(places, ["a | b", "{} | 1", "{} | some: 2"]);
    let found = said("acme.v1.Plain", "{counts: {a: 1}}", "{counts: {b: 1}}");
    let places: Vec<&str> = found.iter().map(|it| &*it.places).collect();
    assert_eq!(places, ["a: 1 | {counts: {b: 1}}", "{counts: {a: 1}} | b: 1"]);
}

const BOOTSTRAP: &str = "static_resources:
  listeners:
  - name: in
    filter_chains:
    - filters: [{name: f, typed_config: {'@type': t/envoy.config.route.v3.RouteConfiguration, name: r}}]
  clusters:
  - {name: c, connect_timeout: 1s, load_assignment: {addresses: [a]}}
  - {name: d, connect_timeout: 1s}
layers: [{name: base, static_layer: {k: 1}}]
";

#[test]
fn a_bootstrap_change_says_if_xds_could_carry_it() {
    for (from, to, expected) in [
        ("1s, load", "2s, load", "hot-restart, CDS warms-cluster"),
        ("[a]", "[b]", "hot-restart, CDS warms-cluster, EDS live"),
        ("name: r}", "name: s}", "hot-restart, LDS drains-filter-chain, RDS live"),
        ("name: in", "name: in\n    transparent: true", "hot-restart, LDS drains-listener"),
        ("k: 1", "k: 2", "hot-restart, RTDS live"),
        ("layers:", "flags_path: /x\nlayers:", "hot-restart"),
        ("  - {name: d, connect_timeout: 1s}\n", "", "hot-restart, CDS live"),
    ] {
        assert!(BOOTSTRAP.contains(from), "{from}");
        let new = BOOTSTRAP.replace(from, to);
        let found = said("envoy.config.bootstrap.v3.Bootstrap", BOOTSTRAP, &new);
        let costs: Vec<&str> = found.iter().map(|it| &*it.cost).collect();
        assert_eq!(costs, [expected], "{from} {to}");
    }
}

#[test]
fn the_order_of_clusters_means_nothing_and_that_of_filters_something() {
    let lines: Vec<&str> = BOOTSTRAP.lines().collect();
    let (c, d) = (lines[6], lines[7]);
    let swapped = BOOTSTRAP.replace(c, "X").replace(d, c).replace('X', d);
    let found = said("envoy.config.bootstrap.v3.Bootstrap", BOOTSTRAP, &swapped);
    let [found] = &found[..] else { panic!("one difference: {found:?}") };
    assert_eq!(found.what, "reordered static_resources.clusters");
    assert_eq!(found.cost, "nothing");
    let chain = |filters: &str| format!("{{name: l, filter_chains: [{{filters: [{filters}]}}]}}");
    let (old, new) = (chain("{name: a}, {name: b}"), chain("{name: b}, {name: a}"));
    let found = said("envoy.config.listener.v3.Listener", &old, &new);
    let [found] = &found[..] else { panic!("one difference: {found:?}") };
    assert_eq!(found.what, "reordered filter_chains[0].filters");
    assert_eq!(found.cost, "drains-filter-chain, LDS drains-filter-chain");
}

#[test]
fn resources_of_a_response_cost_what_their_service_says() {
    let response = "version_info: '1'
resources:
- {'@type': t/envoy.config.listener.v3.Listener, name: l, buffer: 1}
- {'@type': t/envoy.config.cluster.v3.Cluster, name: c, connect_timeout: 1s}
- {'@type': t/envoy.config.route.v3.RouteConfiguration, name: r, virtual_hosts: [{name: v}]}
";
    let of = |from: &str, to: &str| {
        let new = response.replace(from, to);
        let found = said("envoy.service.discovery.v3.DiscoveryResponse", response, &new);
        found.into_iter().map(|it| format!("{}: {}", it.what, it.cost)).collect::<Vec<_>>()
    };
    assert_eq!(of("'1'", "'2'"), ["changed version_info: nothing"]);
    assert_eq!(
        of("buffer: 1", "buffer: 2"),
        ["changed resources[\"l\"].buffer: drains-listener, LDS drains-listener"]
    );
    assert_eq!(
        of("1s", "2s"),
        ["changed resources[\"c\"].connect_timeout: warms-cluster, CDS warms-cluster"]
    );
    assert_eq!(
        of("{name: v}", "{name: v, domains: ['*']}"),
        ["added resources[\"r\"].virtual_hosts[\"v\"].domains[0]: live, RDS live"]
    );
    assert_eq!(
        of("name: l,", "name: m,"),
        [
            "removed resources[\"l\"]: drains-listener, LDS drains-listener",
            "added resources[\"m\"]: live, LDS live",
        ]
    );
}

#[test]
fn a_value_is_the_same_as_itself_and_a_difference_has_two_sides() {
    let values =
        ["{text: a, counts: {x: 1}}", "{list: [1, 2], parts: [{n: 1}]}", "{any: {a: [{}]}}"];
    for old in values {
        assert!(said("acme.v1.Plain", old, old).is_empty());
        for new in values {
            let (there, back) = (said("acme.v1.Plain", old, new), said("acme.v1.Plain", new, old));
            assert_eq!(there.len(), back.len(), "{old} {new}");
        }
    }
}

/// The changes that Envoy 1.40 counts as `listener_in_place_updated`, or not.
#[test]
fn listeners_are_updated_in_place_where_only_order_or_chains_differ() {
    let cases: [(&str, &str, &str, &str); 15] = [
        (
            "listener_filters: [{name: tls}, {name: http}]",
            "listener_filters: [{name: http}, {name: tls}]",
            "reordered listener_filters",
            "live",
        ),
        ("more: [{port: 1}, {port: 2}]", "more: [{port: 2}, {port: 1}]", "reordered more", "live"),
        (
            "listener_filters: [{name: tls}]",
            "listener_filters: [{name: tls}, {name: http}]",
            "added listener_filters[\"http\"]",
            "drains-listener",
        ),
        (
            "filter_chain_matcher: {name: a}",
            "filter_chain_matcher: {name: b}",
            "changed filter_chain_matcher.name",
            "live",
        ),
        ("buffer: 1", "buffer: 2", "changed buffer", "drains-listener"),
        (
            "filter_chains: [{filters: [{name: a}]}]",
            "filter_chains: [{filters: [{name: a}]}, {filters: [{name: b}]}]",
            "added filter_chains[1]",
            "live",
        ),
        (
            "filter_chains: [{filters: [{name: a}]}, {filters: [{name: b}]}]",
            "filter_chains: [{filters: [{name: b}]}, {filters: [{name: a}]}]",
            "reordered filter_chains",
            "live",
        ),
        (
            "filter_chains: [{filters: [{name: a}]}, {filters: [{name: b}]}]",
            "filter_chains: [{filters: [{name: a}]}]",
            "removed filter_chains[1]",
            "drains-filter-chain",
        ),
        (
            "buffer: 1",
            "{buffer: 1, default_filter_chain: {filters: [{name: d}]}}",
            "added default_filter_chain",
            "live",
        ),
        (
            "{buffer: 1, default_filter_chain: {filters: [{name: d}]}}",
            "buffer: 1",
            "removed default_filter_chain",
            "drains-filter-chain",
        ),
        ("buffer: 1", "{buffer: 1, balance: {exact: {}}}", "added balance", "live"),
        ("{buffer: 1, balance: {exact: {size: 0}}}", "buffer: 1", "removed balance", "live"),
        ("balance: {}", "balance: {exact: {size: 0}}", "added balance.exact", "live"),
        (
            "buffer: 1",
            "{buffer: 1, balance: {exact: {size: 1}}}",
            "added balance",
            "drains-listener",
        ),
        ("more: [{port: 1}]", "more: [{port: 1}, {}]", "added more[1]", "drains-listener"),
    ];
    for (old, new, what, cost) in cases {
        let found = said("envoy.config.listener.v3.Listener", old, new);
        let [found] = &found[..] else { panic!("one difference of {old}: {found:?}") };
        assert_eq!(found.what, what);
        assert_eq!(found.cost, format!("{cost}, LDS {cost}"), "{what}");
    }
}
