//! Descriptor sets as sources: what their writers leave out, and how they are called.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::history::git;
use crate::run::{abide, abide_with, put};

/// Everything that a descriptor set leaves out: declarations of extensions, options that stay in the
/// source on every kind of element and inside of others, and features of the same kind.
const FILES: &[(&str, &str)] = &[
    (
        "acme/opt/v1/opt.proto",
        "edition = \"2023\";\npackage acme.opt.v1;\nimport \"google/protobuf/descriptor.proto\";\n\
         message Note {\n  string text = 1;\n  string draft = 2 [retention = RETENTION_SOURCE];\n}\n\
         extend google.protobuf.FileOptions { string file = 50001 [retention = RETENTION_SOURCE]; }\n\
         extend google.protobuf.MessageOptions { Note note = 50001; }\n\
         extend google.protobuf.FieldOptions { Note kept = 50001; \
         Note field = 50002 [retention = RETENTION_SOURCE]; }\n",
    ),
    (
        "acme/user/v1/user.proto",
        "edition = \"2024\";\npackage acme.user.v1;\n\
         import \"acme/opt/v1/opt.proto\";\nimport \"google/protobuf/java_features.proto\";\n\
         option features.default_symbol_visibility = EXPORT_ALL;\n\
         option features.enforce_naming_style = STYLE_LEGACY;\n\
         option (acme.opt.v1.file) = \"a\";\n\
         message User {\n  option (acme.opt.v1.note) = { text: \"a\" draft: \"b\" };\n  \
         option features.(pb.java).nest_in_file_class = YES;\n  \
         string badName = 1 [(acme.opt.v1.field).text = \"a\", (acme.opt.v1.kept).draft = \"b\"];\n  \
         message Part { string id = 1; }\n  \
         extensions 100 to 200 [declaration = { number: 100, full_name: \".acme.user.v1.age\", \
         type: \"int32\" }];\n}\n\
         extend User { int32 age = 100; }\n",
    ),
    (
        "acme/shop/v1/shop.proto",
        "edition = \"2024\";\npackage acme.shop.v1;\nimport \"acme/user/v1/user.proto\";\n\
         message Shop {\n  acme.user.v1.User.Part part = 1;\n}\n",
    ),
];

fn tree() -> TempDir {
    let folder = TempDir::new().unwrap();
    put(folder.path(), FILES);
    folder
}

fn build(folder: &Path, name: &str) {
    let ran = abide(folder, &["build", ".", "-o", name]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
}

#[test]
fn a_tree_does_not_differ_from_its_own_set() {
    let folder = tree();
    for name in ["old.binpb", "old.json", "old.txtpb", "old.yaml"] {
        build(folder.path(), name);
        for sides in [[".", name], [name, "."], [name, name]] {
            for command in [&["breaking"][..], &["breaking", "--changes"], &["check"]] {
                let against = [sides[0], "--against", sides[1], "--select", "compatibility"];
                let ran = abide(folder.path(), &[command, &against].concat());
                let said = (ran.status, ran.text(), ran.stderr.as_str());
                assert_eq!(said.0, 0, "{command:?} {sides:?}: {said:?}");
                assert!(!said.1.contains("needs a"), "{command:?} {sides:?}: {said:?}");
                assert_eq!(said.2, "", "{command:?} {sides:?}");
            }
        }
        // Nobody is accused of using what may be exported.
        let ran = abide(folder.path(), &["lint", name, "--select", "language"]);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{}", ran.text());
    }
}

#[test]
fn a_version_is_not_needed_for_what_a_set_leaves_out() {
    let folder = tree();
    let top = folder.path();
    build(top, "released.binpb");
    assert_eq!(abide(top, &["bump", ".", "--write"]).status, 0);
    let ran = abide(top, &["bump", ".", "--against", "released.binpb", "--check"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{}", ran.text());
}

#[test]
fn a_change_is_found_against_a_set_as_against_its_source() {
    let folder = tree();
    let top = folder.path();
    build(top, "old.binpb");
    git(top, &["init", "--quiet"]);
    git(top, &["add", "acme"]);
    git(top, &["commit", "--quiet", "-m", "first"]);
    let path = "acme/user/v1/user.proto";
    let rules = |against: &str| {
        let args = ["breaking", "--against", against, "--changes", "--format", "json"];
        abide(top, &args).rules()
    };
    for (was, is, rule, is_known) in [
        ("string badName", "bytes badName", "field-type-changed", true),
        ("text: \"a\"", "text: \"c\"", "custom-option-changed", true),
        ("extensions 100 to 200", "extensions 100 to 150", "extension-range-removed", true),
        ("type: \"int32\"", "type: \"int64\"", "extension-declaration-changed", false),
        ("draft: \"b\"", "draft: \"c\"", "custom-option-changed", false),
        ("(acme.opt.v1.field).text = \"a\"", "lazy = false", "custom-option-changed", false),
        (
            "(acme.opt.v1.file) = \"a\"",
            "(acme.opt.v1.file) = \"b\"",
            "custom-option-changed",
            false,
        ),
        ("EXPORT_ALL", "LOCAL_ALL", "visibility-narrowed", false),
    ] {
        let text = FILES[1].1;
        assert!(text.contains(was), "{was}");
        put(top, &[(path, &text.replace(was, is))]);
        let (source, set) = (rules("git:HEAD"), rules("old.binpb"));
        assert!(source.iter().any(|it| it == rule), "{was}: {source:?}");
        let wanted: Vec<_> = source.into_iter().filter(|it| is_known || it != rule).collect();
        assert_eq!(set, wanted, "{was}");
    }
}

#[test]
fn sets_have_the_names_that_bazel_buf_and_others_give_them() {
    let folder = tree();
    build(folder.path(), "set.binpb");
    let bytes = fs::read(folder.path().join("set.binpb")).unwrap();
    let gzip = {
        build(folder.path(), "set.binpb.gz");
        fs::read(folder.path().join("set.binpb.gz")).unwrap()
    };
    for (name, bytes) in [
        ("x-descriptor-set.proto.bin", &bytes),
        ("x.bin.gz", &gzip),
        ("x.desc", &bytes),
        ("x.desc.gz", &gzip),
        ("x.protoset", &bytes),
        ("x.protoset.gz", &gzip),
    ] {
        fs::write(folder.path().join(name), bytes).unwrap();
        for args in [["breaking", name, "--against", "."], ["breaking", ".", "--against", name]] {
            let ran = abide(folder.path(), &args);
            assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{args:?}: {}", ran.text());
        }
    }
    // A program may be called so, too.
    fs::write(folder.path().join("server.bin"), b"\x7fELF").unwrap();
    let ran = abide(folder.path(), &["lint", "server.bin"]);
    assert!(ran.stderr.contains("no descriptors are compiled into this program"), "{}", ran.stderr);
}

#[test]
fn an_image_in_yaml_is_read() {
    const IMAGE: &str = "# An image.\nfile:\n  - name: acme/user/v1/user.proto\n    package: acme.user.v1\n    \
        messageType:\n      - name: User\n        field:\n          - name: \"n\\u0061me\"\n            \
        number: 1\n            label: LABEL_OPTIONAL\n            type: TYPE_STRING\n            \
        jsonName: name\n    syntax: proto3\n    bufExtension:\n      isImport: false\n  \
        - name: acme/other/v1/other.proto\n    package: acme.other.v1\n    syntax: proto3\n    \
        bufExtension:\n      isImport: true\n";
    let folder = TempDir::new().unwrap();
    put(folder.path(), &[("image.yaml", IMAGE), ("bad.yml", "file:\n  - name: [\n")]);
    let user =
        "syntax = \"proto3\";\npackage acme.user.v1;\nmessage User {\n  string name = 1;\n}\n";
    put(folder.path(), &[("acme/user/v1/user.proto", user)]);
    let ran = abide(folder.path(), &["breaking", ".", "--against", "image.yaml", "--changes"]);
    assert_eq!((ran.status, ran.stderr.as_str(), ran.text().as_str()), (0, "", ""));
    let ran = abide_with(folder.path(), &["hash", "-"], IMAGE.as_bytes());
    let told = ran.text();
    assert!(
        told.contains("acme.user.v1") && !told.contains("acme.other.v1"),
        "{told}{}",
        ran.stderr
    );
    let ran = abide(folder.path(), &["hash", "bad.yml"]);
    assert!(ran.status == 2 && ran.stderr.contains("bad.yml"), "{}", ran.stderr);
}

/// Sets are joined as `cat` does it, and the same file may be in two of them.
#[test]
fn a_file_that_is_twice_in_a_joined_set_is_taken_once() {
    let folder = tree();
    build(folder.path(), "set.binpb");
    let args = ["build", ".", "-o", "short.binpb", "--exclude-source-info"];
    assert_eq!(abide(folder.path(), &args).status, 0);
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    fs::write(folder.path().join("twice.binpb"), [read("short.binpb"), read("set.binpb")].concat())
        .unwrap();
    for args in [
        ["breaking", "twice.binpb", "--against", "."],
        ["breaking", ".", "--against", "twice.binpb"],
    ] {
        let ran = abide(folder.path(), &args);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{args:?}: {}", ran.text());
    }
    let other = FILES[2].1.replace("part = 1", "part = 2");
    put(folder.path(), &[(FILES[2].0, &other)]);
    build(folder.path(), "other.binpb");
    fs::write(folder.path().join("apart.binpb"), [read("set.binpb"), read("other.binpb")].concat())
        .unwrap();
    let said = "the file `acme/shop/v1/shop.proto` is given twice, and the two differ";
    let ran = abide(folder.path(), &["lint", "apart.binpb"]);
    assert!(ran.status == 1 && ran.text().contains(said), "{}", ran.text());
    let ran = abide(folder.path(), &["breaking", ".", "--against", "apart.binpb"]);
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
}

/// A set of one file in proto3 or, as a writer of the future has it, in an edition with this number.
fn set_in_edition(number: Option<u16>) -> Vec<u8> {
    let field = |number: u8, name: &str, ty: u8, label: u8| {
        let mut bytes = vec![10, name.len() as u8];
        bytes.extend(name.bytes());
        bytes.extend([0x18, number, 0x20, label, 0x28, ty]);
        [vec![0x12, bytes.len() as u8], bytes].concat()
    };
    let fields = [field(1, "numbers", 5, 3), field(2, "name", 9, 1)].concat();
    let message = [b"\x0a\x04User".to_vec(), fields].concat();
    let mut file = b"\x0a\x17acme/user/v1/user.proto\x12\x0cacme.user.v1".to_vec();
    file.extend([0x22, message.len() as u8]);
    file.extend(message);
    match number {
        None => file.extend(b"\x62\x06proto3"),
        Some(number) => {
            file.extend(b"\x62\x08editions\x70");
            file.extend([(number & 0x7f) as u8 | 0x80, (number >> 7) as u8]);
        }
    }
    [vec![10, file.len() as u8], file].concat()
}

#[test]
fn features_of_an_edition_that_is_unknown_did_not_change() {
    let folder = TempDir::new().unwrap();
    for (name, number) in [("proto3.binpb", None), ("future.binpb", Some(1003))] {
        fs::write(folder.path().join(name), set_in_edition(number)).unwrap();
    }
    for [new, old] in [
        ["proto3.binpb", "future.binpb"],
        ["future.binpb", "proto3.binpb"],
        ["future.binpb", "future.binpb"],
    ] {
        let ran =
            abide(folder.path(), &["check", new, "--against", old, "--select", "compatibility"]);
        assert_eq!(ran.status, 0, "{new} {old}: {} {}", ran.text(), ran.stderr);
        assert!(!ran.text().contains("needs a"), "{new} {old}: {}", ran.text());
        let says = "`acme/user/v1/user.proto` is in edition number 1003, which is not known";
        assert_eq!(ran.stderr.contains(says), old == "future.binpb", "{new} {old}: {}", ran.stderr);
        let hashed = abide(folder.path(), &["hash", new]);
        let says = "edition number 1003, which is not known, so its hashes may change once it is";
        assert_eq!(hashed.stderr.contains(says), new == "future.binpb", "{}", hashed.stderr);
    }
}
