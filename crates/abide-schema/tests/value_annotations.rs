//! The typed view of annotations, over our own protos and over vocabularies
//! declared as others declare them.

use std::sync::Arc;

use abide_schema::{Element, FileDecl, Migration, PackageVersionStatus, Place, SourceFile, Tree};

const STATUS: &str = include_str!("../../../api/abide/annotations/v1/status.proto");
const LIFECYCLE: &str = include_str!("../../../api/abide/annotations/v1/lifecycle.proto");

const UDPA: &str = r#"
syntax = "proto3";
package udpa.annotations;
import "google/protobuf/descriptor.proto";
enum PackageVersionStatus { UNKNOWN = 0; FROZEN = 1; ACTIVE = 2; }
message StatusAnnotation {
  bool work_in_progress = 1;
  PackageVersionStatus package_version_status = 2;
}
message FieldMigrateAnnotation { string rename = 1; string oneof_promotion = 2; }
message VersioningAnnotation { string previous_message_type = 1; }
extend google.protobuf.FileOptions { StatusAnnotation file_status = 222707719; }
extend google.protobuf.FieldOptions { FieldMigrateAnnotation field_migrate = 171962766; }
extend google.protobuf.MessageOptions { VersioningAnnotation versioning = 7881811; }
"#;

const ENVOY: &str = r#"
syntax = "proto3";
package envoy.annotations;
import "google/protobuf/descriptor.proto";
extend google.protobuf.FieldOptions {
  bool disallowed_by_default = 189503207;
  string deprecated_at_minor_version = 157299826;
}
"#;

const HTTP: &str = r#"
syntax = "proto3";
package google.api;
import "google/protobuf/descriptor.proto";
message HttpRule {
  oneof pattern { string get = 2; string post = 4; CustomHttpPattern custom = 8; }
  string body = 7;
  repeated HttpRule additional_bindings = 11;
}
message CustomHttpPattern { string kind = 1; string path = 2; }
extend google.protobuf.MethodOptions { HttpRule http = 72295728; }
"#;

fn file(path: &str, text: &str) -> Arc<FileDecl> {
    Arc::new(FileDecl::parse(SourceFile {
        path: path.into(),
        display: path.into(),
        root: 0,
        imported: false,
        text: text.as_bytes().into(),
    }))
}

struct Linked {
    tree: Tree,
    text: String,
}

impl Linked {
    fn new(text: &str) -> Linked {
        let tree = Tree::link(vec![
            file("abide/annotations/v1/status.proto", STATUS),
            file("abide/annotations/v1/lifecycle.proto", LIFECYCLE),
            file("udpa.proto", UDPA),
            file("envoy.proto", ENVOY),
            file("http.proto", HTTP),
            file("t.proto", text),
        ]);
        let errors: Vec<_> =
            tree.problems().iter().filter(|problem| problem.kind.is_error()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        Linked { tree, text: text.to_owned() }
    }

    fn file(&self) -> abide_schema::File<'_> {
        self.tree.files().find(|file| file.path() == "t.proto").expect("it was linked")
    }

    fn element(&self, name: &str) -> Element<'_> {
        self.file().elements().find(|it| it.full_name() == name).expect("it is declared")
    }

    fn at(&self, place: Place) -> &str {
        assert_eq!(place.file, self.file().id);
        place.span.str(self.text.as_bytes())
    }

    fn said<'a>(&'a self, found: Option<(&'a str, Place)>) -> Option<(&'a str, &'a str)> {
        found.map(|(text, place)| (text, self.at(place)))
    }
}

#[test]
fn our_own_annotations_are_read() {
    let linked = Linked::new(
        r#"syntax = "proto3";
package p.v1;
import "abide/annotations/v1/status.proto";
import "abide/annotations/v1/lifecycle.proto";
option go_package = "p/v1";
option (abide.annotations.v1.file_policy) = {
  package_version_status: PACKAGE_VERSION_STATUS_ACTIVE
  introduced: "2024-05-01"
};
message M {
  option (abide.annotations.v1.message_policy).work_in_progress = true;
  int32 a = 1 [
    deprecated = true,
    (abide.annotations.v1.field_policy) = {
      deprecated_at: "1.4" replaced_by: "b" disallowed_by_default: true
      migration { rename: "c" }
    }
  ];
}
message N { int32 a = 1; }
"#,
    );
    let file = linked.file();
    let (status, place) = file.package_version_status().expect("the status is set");
    assert_eq!(status, PackageVersionStatus::Active);
    assert_eq!(linked.at(place), "package_version_status: PACKAGE_VERSION_STATUS_ACTIVE");
    assert_eq!(linked.said(file.introduced()), Some(("2024-05-01", "introduced: \"2024-05-01\"")));
    assert_eq!(linked.said(file.go_package()), Some(("p/v1", "go_package = \"p/v1\"")));
    assert_eq!(file.work_in_progress(), None);

    let field = linked.element("p.v1.M.a");
    assert_eq!(linked.at(field.deprecated().expect("it is")), "deprecated = true");
    assert_eq!(linked.said(field.deprecated_since()), Some(("1.4", "deprecated_at: \"1.4\"")));
    assert_eq!(linked.said(field.replaced_by()), Some(("b", "replaced_by: \"b\"")));
    let disallowed = field.disallowed_by_default().expect("it is");
    assert_eq!(linked.at(disallowed), "disallowed_by_default: true");
    let migrations = field.migrations();
    assert_eq!(migrations.len(), 1);
    assert_eq!(migrations[0].0, Migration::Rename("c"));
    // The message that encloses the field says it.
    let unfinished = field.work_in_progress().expect("it is");
    assert_eq!(linked.at(unfinished), "work_in_progress = true");
    assert_eq!(linked.element("p.v1.N.a").work_in_progress(), None);
    assert_eq!(linked.element("p.v1.N.a").deprecated(), None);
}

#[test]
fn annotations_of_others_mean_the_same() {
    let linked = Linked::new(
        r#"syntax = "proto3";
package p.v3;
import "udpa.proto";
import "envoy.proto";
option (udpa.annotations.file_status).package_version_status = FROZEN;
option (udpa.annotations.file_status).work_in_progress = true;
message M {
  option (udpa.annotations.versioning).previous_message_type = "p.v2.M";
  int32 a = 1 [
    deprecated = true,
    (udpa.annotations.field_migrate).rename = "b",
    (udpa.annotations.field_migrate).oneof_promotion = "kind",
    (envoy.annotations.disallowed_by_default) = true,
    (envoy.annotations.deprecated_at_minor_version) = "3.0"
  ];
}
"#,
    );
    let file = linked.file();
    let (status, place) = file.package_version_status().expect("the status is set");
    assert_eq!(status, PackageVersionStatus::Frozen);
    assert_eq!(linked.at(place), "package_version_status = FROZEN");
    let field = linked.element("p.v3.M.a");
    assert_eq!(
        field.work_in_progress(),
        file.work_in_progress(),
        "the file says it for all it holds"
    );
    assert!(field.work_in_progress().is_some());
    let migrations: Vec<_> = field.migrations().into_iter().map(|(what, _)| what).collect();
    assert_eq!(migrations, [Migration::Rename("b"), Migration::PromoteToOneof("kind")]);
    assert!(field.disallowed_by_default().is_some());
    assert_eq!(
        linked.said(field.deprecated_since()),
        Some(("3.0", "(envoy.annotations.deprecated_at_minor_version) = \"3.0\""))
    );
    let message = file.messages().next().expect("there is one");
    assert_eq!(message.previous_type().map(|found| found.0), Some("p.v2.M"));
}

#[test]
fn http_bindings_are_read_with_the_additional_ones() {
    let linked = Linked::new(
        r#"syntax = "proto3";
package p.v1;
import "http.proto";
message M {}
service S {
  rpc Get(M) returns (M) {
    option (google.api.http) = {
      get: "/v1/{name=a/*}"
      additional_bindings { post: "/v1/b" body: "*" }
      additional_bindings { custom { kind: "HEAD" path: "/v1/c" } }
    };
  }
  rpc Plain(M) returns (M);
}
"#,
    );
    let service = linked.file().services().next().expect("there is one");
    let methods: Vec<_> = service.methods().collect();
    let found: Vec<_> = methods[0]
        .http_bindings()
        .into_iter()
        .map(|binding| {
            (binding.method, binding.path, binding.body, linked.at(binding.place).to_owned())
        })
        .collect();
    assert_eq!(
        found,
        [
            ("GET", "/v1/{name=a/*}", None, "\"/v1/{name=a/*}\"".to_owned()),
            ("POST", "/v1/b", Some("*"), "\"/v1/b\"".to_owned()),
            ("HEAD", "/v1/c", None, "\"/v1/c\"".to_owned()),
        ]
    );
    assert!(methods[1].http_bindings().is_empty());
}
