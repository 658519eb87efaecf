//! Secrets in texts: found wherever they stand, and masked without moving anything.

use std::sync::Arc;

use abide_instance::{Instance, Notation, ReadOptions, mask_secrets};
use abide_schema::{FileDecl, SourceFile, Tree};

const PROTOS: &[(&str, &str)] = &[
    (
        "udpa/annotations/sensitive.proto",
        "syntax = \"proto3\"; package udpa.annotations; import \"google/protobuf/descriptor.proto\";
         extend google.protobuf.FieldOptions { bool sensitive = 76569463; }",
    ),
    (
        "acme.proto",
        "syntax = \"proto3\"; package acme.v1; import \"google/protobuf/any.proto\";
         import \"udpa/annotations/sensitive.proto\";
         message Pair { string chain = 1; Source key = 2 [(udpa.annotations.sensitive) = true];
           repeated string tickets = 3 [(udpa.annotations.sensitive) = true];
           google.protobuf.Any inside = 4; Source open = 5; }
         message Source { string inline = 1; bytes raw = 2; }",
    ),
    (
        "envoy.proto",
        "syntax = \"proto3\"; package envoy.auth.v3;
         message TlsCertificate { string private_key = 1; string name = 2; }",
    ),
];

/// Secrets begin with `hidden`, everything else does not.
fn mask(notation: Notation, ty: &str, text: &str) -> String {
    let parse = |(path, text): &(&str, &str)| {
        let path: Arc<str> = (*path).into();
        let (display, text) = (Arc::clone(&path), text.as_bytes().into());
        Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported: false, text }))
    };
    let tree = Tree::link(PROTOS.iter().map(parse).collect());
    let ty = Some(tree.message_named(ty).expect("the type").id);
    let options = ReadOptions { notation, ty, dialect: None };
    let instance = Instance::read(&tree, text.as_bytes(), options);
    let mut bytes = text.as_bytes().to_vec();
    mask_secrets(&mut bytes, &instance.find_secrets(&tree));
    let masked = String::from_utf8(bytes).expect("a text");
    assert_eq!(masked.len(), text.len());
    assert_eq!(masked.lines().count(), text.lines().count());
    assert!(!masked.contains("hidden"), "{masked}");
    masked
}

#[test]
fn secrets_are_masked_in_every_notation() {
    let yaml = "chain: shown
key:
  inline: hidden-1
tickets: [hidden-2, 'hidden-3']
inside:
  '@type': t/acme.v1.Pair
  chain: shown
  key: {inline: |
    hidden-4
    hidden-5
    }
open: {inline: shown}
";
    let yaml = yaml.replace(
        "{inline: |\n    hidden-4\n    hidden-5\n    }",
        "\n    inline: |\n      hidden-4\n      hidden-5",
    );
    let masked = mask(Notation::Yaml, "acme.v1.Pair", &yaml);
    assert_eq!(masked.matches("shown").count(), 3, "{masked}");
    assert_eq!(masked.matches("inline").count(), 3, "{masked}");
    let json = r#"{"chain": "shown", "key": {"inline": "hidden-1"}, "tickets": ["hidden-2"]}"#;
    assert!(mask(Notation::Json, "acme.v1.Pair", json).contains("shown"));
    let text = "chain: \"shown\" key { inline: \"hidden-1\" } tickets: \"hidden-2\"";
    assert!(mask(Notation::Text, "acme.v1.Pair", text).contains("shown"));
}

#[test]
fn secrets_are_masked_that_cannot_be_read_or_are_repeated() {
    // No base64, an unknown key, and an alias whose value is written in another place.
    mask(Notation::Yaml, "acme.v1.Pair", "key: {raw: 'hidden-!!'}\n");
    mask(Notation::Yaml, "acme.v1.Pair", "key: {other: hidden-1}\n");
    mask(Notation::Yaml, "acme.v1.Pair", "open: &x {inline: hidden-1}\nkey: *x\n");
}

#[test]
fn secrets_of_trees_without_marks_are_masked() {
    let masked = mask(
        Notation::Yaml,
        "envoy.auth.v3.TlsCertificate",
        "private_key: hidden-1\nname: shown\n",
    );
    assert!(masked.contains("name: shown"), "{masked}");
}
