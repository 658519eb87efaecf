//! The part of a bootstrap that says what the runtime layers are, for those who
//! have no API at hand.

use std::sync::Arc;

use abide_schema::{FileDecl, MessageId, SourceFile, Tree};

/// The part of Envoy's bootstraps of every major that is about runtime, and no more.
const PROTO: &str = r#"
syntax = "proto3";
package envoy.config.bootstrap.v3;
import "google/protobuf/struct.proto";

message Bootstrap {
  Node node = 1;
  Runtime runtime = 11;
  LayeredRuntime layered_runtime = 17;
}
message Node {
  string id = 1;
  string cluster = 2;
}
message Runtime {
  string symlink_root = 1;
  string subdirectory = 2;
  string override_subdirectory = 3;
  google.protobuf.Struct base = 4;
}
message LayeredRuntime {
  repeated RuntimeLayer layers = 1;
}
message RuntimeLayer {
  message DiskLayer {
    string symlink_root = 1;
    bool append_service_cluster = 2;
    string subdirectory = 3;
  }
  message AdminLayer {}
  message RtdsLayer {
    string name = 1;
    // What it says is not about the layers.
    message ConfigSource {}
    ConfigSource rtds_config = 2;
  }
  string name = 1;
  oneof layer_specifier {
    google.protobuf.Struct static_layer = 2;
    DiskLayer disk_layer = 3;
    AdminLayer admin_layer = 4;
    RtdsLayer rtds_layer = 5;
  }
}
"#;

/// A tree with the part of Envoy's bootstrap that is about runtime, and that
/// message. Read leniently, every bootstrap of Envoy is a value of it.
pub fn get_known_bootstrap() -> (Tree, MessageId) {
    let tree = link_proto("bootstrap.proto", PROTO);
    let bootstrap = tree.message_named("envoy.config.bootstrap.v3.Bootstrap");
    let bootstrap = bootstrap.expect("the text above declares it").id;
    (tree, bootstrap)
}

/// A tree of a file that imports nothing but `struct.proto`.
pub(super) fn link_proto(path: &str, proto: &str) -> Tree {
    const STRUCT: &str = "google/protobuf/struct.proto";
    let built_in = abide_schema::find_well_known(STRUCT).unwrap_or_default();
    let files = [(path, proto), (STRUCT, built_in)].map(|(path, text)| {
        let (path, display, text) = (path.into(), path.into(), text.as_bytes().into());
        Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported: false, text }))
    });
    Tree::link(files.into())
}
