//! The law of carrying, over an API of our own in the place of Envoy's.

use abide_instance::{MigrationFile, Notation, VersionConverter, VersionMapping};
use abide_schema::MessageId;
use fastrand::Rng;

use crate::carrying::{Outcome, Subject, carry_random};
use crate::tree;

/// The number of values that are tried.
const SEEDS: u64 = 300;

const OLD: &str = r#"
syntax = "proto3";
package envoy.acme.v2;
import "google/protobuf/any.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/struct.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
message Node {
  string name = 1;
  int64 count = 2;
  Kind kind = 3;
  repeated string tags = 4;
  map<string, Node> children = 5;
  repeated Node list = 6;
  Node only = 7;
  google.protobuf.Any any = 8;
  oneof choice { string left = 9; Node right = 10; google.protobuf.BoolValue middle = 30; }
  optional bool flag = 11;
  bytes data = 12;
  double ratio = 13;
  google.protobuf.Duration wait = 14;
  google.protobuf.UInt32Value limit = 15;
  map<int32, Kind> kinds = 16;
  repeated Kind more = 17;
  uint32 window = 18;
  repeated string hosts = 19;
  repeated google.protobuf.Duration waits = 31;
  map<string, google.protobuf.UInt64Value> limits = 32;
  google.protobuf.Timestamp since = 33;
  google.protobuf.Struct extra = 34;
  google.protobuf.Value some = 35;
  repeated google.protobuf.Any details = 36;
  Filter filter = 37;
  repeated Filter filters = 38;
  google.protobuf.StringValue alias = 39;
}
message Filter { string name = 1; google.protobuf.Struct config = 2; google.protobuf.Any typed = 4; }
enum Kind { KIND_NONE = 0; KIND_A = 1; KIND_B = 2; }
"#;

/// The next version: other names, and homes of fields that moved.
fn next_version() -> String {
    let renames = [
        ("envoy.acme.v2", "envoy.acme.v3"),
        ("string name = 1;\n", "string title = 1;\n"),
        ("Kind kind = 3", "Kind sort = 3"),
        ("string tags", "string labels"),
        ("string left", "string west"),
        ("KIND_A", "KIND_FIRST"),
        ("  uint32 window = 18;\n  repeated string hosts = 19;\n", ""),
        (
            "message Filter {",
            "message Options { uint32 window = 1; }\nmessage Group { repeated Host hosts = 1; }\n\
             message Host { string address = 1; }\nmessage Filter {",
        ),
        (
            "  Filter filter",
            "  Options options = 20;\n  repeated Group groups = 21;\n  Filter filter",
        ),
        (
            " google.protobuf.Struct config = 2; google.protobuf.Any typed = 4;",
            " google.protobuf.Any typed = 4;",
        ),
    ];
    renames.iter().fold(OLD.to_owned(), |text, (old, new)| text.replace(old, new))
}

const STEPS: &str = r#"
steps:
- message: envoy.acme.v2.Node
  moves: [{from: window, to: options.window}]
- message: envoy.acme.v2.Node
  moves: [{from: hosts, to: "groups[0].hosts[].address"}]
- message: envoy.acme.v2.Filter
  configured: {name: name, from: config, to: typed, kind: filter}
extensions:
- {name: node, old_names: [old.node], type: envoy.acme.v2.Node}
"#;

#[test]
fn what_envoy_reads_is_carried_up_and_down() {
    let new = next_version();
    let tree = tree([("envoy/acme/v2/a.proto", OLD), ("envoy/acme/v3/a.proto", &new)].into_iter());
    let steps = MigrationFile::read(STEPS.as_bytes(), Notation::Yaml).expect("steps");
    let converter =
        VersionConverter::new(&tree, VersionMapping::default(), &steps).expect("they fit");
    let ty = |name: &str| -> MessageId { tree.message_named(name).expect("a message").id };
    let node = ty("envoy.acme.v2.Node");
    let contents = [
        node,
        ty("envoy.acme.v2.Filter"),
        ty("google.protobuf.Duration"),
        ty("google.protobuf.UInt32Value"),
        ty("google.protobuf.Struct"),
    ];
    let extensions = [("old.node".to_owned(), node), ("node".to_owned(), node)];
    let subject = Subject {
        tree: &tree,
        converter: &converter,
        types: &[node],
        contents: &contents,
        extensions: &extensions,
        comes_back: true,
    };
    let (mut carried, mut failures) = (0, Vec::new());
    for seed in 0..SEEDS {
        match carry_random(&subject, &mut Rng::with_seed(seed)) {
            Ok(outcome) => carried += u64::from(outcome != Outcome::Refused),
            Err(why) => failures.push(format!("seed {seed}: {why}")),
        }
    }
    let count = failures.len();
    assert!(failures.is_empty(), "{count} failures\n{}", failures.join("\n\n"));
    assert!(carried * 2 > SEEDS, "only {carried} of {SEEDS} values are taken by their reader");
}
