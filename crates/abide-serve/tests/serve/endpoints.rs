//! Endpoints alone, and many of them, for clients whose clusters stand in their own files.

use std::collections::BTreeMap;
use std::path::Path;

use abide_xds::wire::{DeltaDiscoveryRequest, DiscoveryResponse};
use prost::Message;
use prost_types::value::Kind;
use prost_types::{Any, Struct, Value};

use crate::server::{EDS, Server, Whole, changed_api, node, run};
use crate::waiting::wait;

const EDS_V2: &str = "type.googleapis.com/envoy.api.v2.ClusterLoadAssignment";

const ENDPOINT_STREAM: &str = "/envoy.service.endpoint.v3.EndpointDiscoveryService/StreamEndpoints";

/// How many endpoints one cluster has.
const MANY: u32 = 5000;

// The messages as Envoy's API numbers them, encoded by another library than that of the server.

#[derive(Clone, PartialEq, prost::Message)]
struct Assignment {
    #[prost(string, tag = "1")]
    cluster_name: String,
    #[prost(message, repeated, tag = "2")]
    endpoints: Vec<Locals>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Locals {
    #[prost(message, optional, tag = "1")]
    locality: Option<Locality>,
    #[prost(message, repeated, tag = "2")]
    lb_endpoints: Vec<LbEndpoint>,
    #[prost(message, optional, tag = "3")]
    weight: Option<Weight>,
    #[prost(uint32, tag = "5")]
    priority: u32,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Locality {
    #[prost(string, tag = "1")]
    region: String,
    #[prost(string, tag = "2")]
    zone: String,
    #[prost(string, tag = "3")]
    sub_zone: String,
}

#[derive(Clone, PartialEq, prost::Message)]
struct LbEndpoint {
    #[prost(message, optional, tag = "1")]
    endpoint: Option<Endpoint>,
    #[prost(int32, tag = "2")]
    health_status: i32,
    #[prost(message, optional, tag = "3")]
    metadata: Option<Metadata>,
    #[prost(message, optional, tag = "4")]
    weight: Option<Weight>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Endpoint {
    #[prost(message, optional, tag = "1")]
    address: Option<Address>,
    #[prost(string, tag = "3")]
    hostname: String,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Address {
    #[prost(message, optional, tag = "1")]
    socket_address: Option<SocketAddress>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct SocketAddress {
    #[prost(string, tag = "2")]
    address: String,
    #[prost(uint32, tag = "3")]
    port_value: u32,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Weight {
    #[prost(uint32, tag = "1")]
    value: u32,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Metadata {
    #[prost(btree_map = "string, message", tag = "1")]
    filter_metadata: BTreeMap<String, Struct>,
}

fn many() -> Assignment {
    let endpoint = |number: u32| {
        let is_canary = Value { kind: Some(Kind::BoolValue(number.is_multiple_of(7))) };
        let build = Value { kind: Some(Kind::StringValue(format!("build-{number}"))) };
        let fields = [("build".to_owned(), build), ("canary".to_owned(), is_canary)];
        let envoy = Struct { fields: fields.into() };
        LbEndpoint {
            endpoint: Some(Endpoint {
                address: Some(Address {
                    socket_address: Some(SocketAddress {
                        address: format!("10.0.{}.{}", number / 256, number % 256),
                        port_value: 8000 + number % 100,
                    }),
                }),
                hostname: format!("shop-{number}.example"),
            }),
            health_status: i32::try_from(number % 6).expect("it is small"),
            metadata: Some(Metadata { filter_metadata: [("envoy.lb".to_owned(), envoy)].into() }),
            weight: Some(Weight { value: 1 + number % 128 }),
        }
    };
    let local = |zone: u32| Locals {
        locality: Some(Locality {
            region: format!("r{}", zone % 2),
            zone: format!("z{zone}"),
            sub_zone: format!("s{zone}"),
        }),
        lb_endpoints: (zone * 1000..(zone + 1) * 1000).map(endpoint).collect(),
        weight: Some(Weight { value: zone + 1 }),
        priority: zone,
    };
    Assignment { cluster_name: "many".to_owned(), endpoints: (0..MANY / 1000).map(local).collect() }
}

/// The API of the example, with all that endpoints carry, in both majors.
fn api() -> tempfile::TempDir {
    let locals = |core: &str, option: &str| {
        format!(
            "message LocalityLbEndpoints {{\n{option}  {core}.Locality locality = 1;\n  \
             google.protobuf.UInt32Value load_balancing_weight = 3;\n  uint32 priority = 5;"
        )
    };
    let lb = |core: &str| {
        format!(
            "  }}\n  HealthStatus health_status = 2;\n  {core}.Metadata metadata = 3;\n  \
             google.protobuf.UInt32Value load_balancing_weight = 4;\n}}\n\nmessage Endpoint {{\n  \
             string hostname = 3;"
        )
    };
    let health = "enum HealthStatus { UNKNOWN = 0; HEALTHY = 1; UNHEALTHY = 2; DRAINING = 3; \
                  TIMEOUT = 4; DEGRADED = 5; }\n\nmessage LocalityLbEndpoints {";
    let parts = |option: &str| {
        format!(
            "message Locality {{\n{}  string region = 1;\n  string zone = 2;\n  string sub_zone = \
             3;\n}}\n\nmessage Metadata {{\n{}  map<string, google.protobuf.Struct> filter_metadata = \
             1;\n}}\n\nmessage Address {{",
            option.replace("TYPE", "Locality"),
            option.replace("TYPE", "Metadata"),
        )
    };
    let previous = "  option (udpa.annotations.versioning).previous_message_type = ";
    let is_from = |name: &str| format!("{previous}\"envoy.api.v2.endpoint.{name}\";\n");
    let core_option = format!("{previous}\"envoy.api.v2.core.TYPE\";\n");
    let wrappers = "import \"google/protobuf/wrappers.proto\";\nimport ";
    let structs = "\nimport \"google/protobuf/struct.proto\";\n";
    let old_locals = format!("message LocalityLbEndpoints {{\n{}", is_from("LocalityLbEndpoints"));
    let old_lb = format!("  }}\n}}\n\nmessage Endpoint {{\n{}", is_from("Endpoint"));
    let new_lb = lb("envoy.config.core.v3")
        .replace("message Endpoint {\n", &format!("message Endpoint {{\n{}", is_from("Endpoint")));
    changed_api(&[
        ("endpoint.proto", "import \"core.proto\"", &format!("{wrappers}\"core.proto\"")),
        (
            "endpoint.proto",
            &old_locals,
            &locals("envoy.config.core.v3", &is_from("LocalityLbEndpoints")),
        ),
        ("endpoint.proto", "message LocalityLbEndpoints {", health),
        ("endpoint.proto", &old_lb, &new_lb),
        ("core.proto", "message Address {", &parts(&core_option)),
        (
            "core.proto",
            "package envoy.config.core.v3;\n",
            &format!("package envoy.config.core.v3;\n{structs}"),
        ),
        ("endpoint_parts_v2.proto", "import \"core", &format!("{wrappers}\"core")),
        (
            "endpoint_parts_v2.proto",
            "message LocalityLbEndpoints {",
            &locals("envoy.api.v2.core", ""),
        ),
        ("endpoint_parts_v2.proto", "message LocalityLbEndpoints {", health),
        ("endpoint_parts_v2.proto", "  }\n}\n\nmessage Endpoint {", &lb("envoy.api.v2.core")),
        ("core_v2.proto", "message Address {", &parts("")),
        (
            "core_v2.proto",
            "package envoy.api.v2.core;\n",
            &format!("package envoy.api.v2.core;\n{structs}"),
        ),
    ])
}

/// A server of nothing but these files, with a folder that it writes to.
fn serve(api: &Path, out: &Path, files: &[(&str, &[u8])]) -> Server {
    let out = out.to_string_lossy();
    let server = Server::with_api(api, &[], &["--file-out", &out, "--long-poll", "1"]);
    for (name, bytes) in files {
        server.put_bytes(name, bytes);
    }
    server.until("/config_dump", |text| text.contains("\"many\""));
    server
}

/// The endpoints of a stream in the state of the world, as they were sent.
async fn endpoints(stream: &mut Whole, type_url: &str, name: &str) -> Vec<u8> {
    stream.ask(type_url, &[name]).await;
    let response = stream.next().await.expect("a response");
    assert_eq!(response.resources.len(), 1);
    assert_eq!(response.resources[0].type_url, type_url);
    stream.ack(&response, &[name]).await;
    response.resources[0].value.to_vec()
}

/// A file with one resource.
fn binary(assignment: &Assignment) -> Vec<u8> {
    let any = Any { type_url: EDS.to_owned(), value: assignment.encode_to_vec() };
    let mut bytes = Vec::new();
    prost::encoding::message::encode(2, &any, &mut bytes);
    bytes
}

#[test]
fn endpoints_are_served_without_other_types() {
    run(async {
        let out = tempfile::tempdir().expect("a folder");
        let text = format!(
            "\"@type\": {EDS}\ncluster_name: shop\nendpoints: [{{lb_endpoints: [{{endpoint: {{address: \
             {{socket_address: {{address: 127.0.0.1, port_value: 8080}}}}}}}}]}}]\n"
        );
        let server = Server::start(
            &[("a.yaml", &text)],
            &["--file-out", &out.path().to_string_lossy(), "--long-poll", "1"],
        );
        assert_eq!(server.get("/ready"), "LIVE\n", "no cluster has to name them");
        let said = format!("{}{}", server.said, server.log());
        assert!(!said.contains("WARN"), "{said}");

        let mut alone = server.one_type(ENDPOINT_STREAM, node("alone", "", "")).await;
        let body = endpoints(&mut alone, EDS, "shop").await;
        let mut ads = server.ads("v3", node("ads", "", "")).await;
        assert_eq!(endpoints(&mut ads, EDS, "shop").await, body);
        let mut delta = server.delta(node("delta", "", "")).await;
        let subscribe = vec!["shop".to_owned()];
        delta
            .send(DeltaDiscoveryRequest {
                type_url: EDS.to_owned(),
                resource_names_subscribe: subscribe,
                ..Default::default()
            })
            .await;
        let response = delta.next().await.expect("a response");
        assert_eq!(response.resources[0].resource.as_ref().expect("it is there").value, body);
        delta
            .send(DeltaDiscoveryRequest {
                type_url: EDS.to_owned(),
                response_nonce: response.nonce,
                ..Default::default()
            })
            .await;
        let (status, polled) =
            server.poll("/v3/discovery:endpoints", r#"{"resource_names": ["shop"]}"#);
        assert_eq!(status, 200);
        assert!(polled.contains("\"clusterName\":\"shop\""), "{polled}");
        server.until("/clients", |text| text.matches("\"acked\"").count() == 3);
        let phases = |clients: &serde_json::Value| -> Vec<String> {
            let all = clients.as_array().expect("a list").iter();
            all.map(|it| it["initialisation"]["phase"].as_str().expect("a phase").to_owned())
                .collect()
        };
        assert_eq!(phases(&server.clients()), ["answered", "initialised", "initialised"]);

        // What changes is sent, and so is what a cluster of a client waits for.
        server.put("a.yaml", &text.replace("8080", "8081"));
        assert_ne!(alone.next().await.expect("a response").resources[0].value, body);
        let mut early = server.one_type(ENDPOINT_STREAM, node("early", "", "")).await;
        early.ask(EDS, &["later"]).await;
        let told = server.until("/clients", |text| text.contains("\"later\""));
        assert!(told.contains("nothing with this name is served to the client"), "{told}");
        let nothing = early.next().await.expect("a response");
        assert!(nothing.resources.is_empty(), "it is told that there is none");
        early.ack(&nothing, &["later"]).await;
        server.put("b.yaml", &text.replace("shop", "later"));
        assert_eq!(early.next().await.expect("a response").resources.len(), 1);
    });
}

#[test]
fn five_thousand_endpoints_arrive_with_all_their_fields() {
    run(async {
        let (api, out) = (api(), tempfile::tempdir().expect("a folder"));
        let many = many();
        let bytes = many.encode_to_vec();
        let server = serve(api.path(), out.path(), &[("many.pb", &binary(&many))]);

        let mut alone = server.one_type(ENDPOINT_STREAM, node("alone", "", "")).await;
        assert!(endpoints(&mut alone, EDS, "many").await == bytes, "a stream of its own");
        let mut ads = server.ads("v3", node("ads", "", "")).await;
        assert!(endpoints(&mut ads, EDS, "many").await == bytes, "the aggregated stream");
        // The second major numbers all of it as the third does.
        let mut old = server.ads("v2", node("old", "", "")).await;
        assert!(endpoints(&mut old, EDS_V2, "many").await == bytes, "the second major");
        assert!(!server.get("/clients").contains("\"dropped\": [\n"), "nothing is lost for it");
        let mut delta = server.delta(node("delta", "", "")).await;
        delta
            .send(DeltaDiscoveryRequest {
                type_url: EDS.to_owned(),
                resource_names_subscribe: vec!["many".to_owned()],
                ..Default::default()
            })
            .await;
        let response = delta.next().await.expect("a response");
        let resource = response.resources[0].resource.as_ref().expect("it is there");
        assert!(resource.value == bytes, "the incremental stream");

        let (status, polled) =
            server.poll("/v3/discovery:endpoints", r#"{"resource_names": ["many"]}"#);
        assert_eq!(status, 200);
        let file = |name: &str| wait(|| std::fs::read(out.path().join(name)).ok());
        let written = DiscoveryResponse::decode(&*file("eds.pb")).expect("a response");
        assert!(written.resources[0].value == bytes, "a file");
        // What is text says the same: read again, it is served as the same bytes.
        for (name, text) in [
            ("polled.json", polled.into_bytes()),
            ("eds.yaml", file("eds.yaml")),
            ("eds.pb_text", file("eds.pb_text")),
        ] {
            let again = tempfile::tempdir().expect("a folder");
            let second = serve(api.path(), again.path(), &[(name, &text)]);
            let mut stream = second.one_type(ENDPOINT_STREAM, node("again", "", "")).await;
            assert!(endpoints(&mut stream, EDS, "many").await == bytes, "{name}");
        }
    });
}
