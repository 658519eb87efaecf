//! Pairs of files, each with what the difference between them means: nothing,
//! or something.

use std::sync::Arc;

use abide_hash::{Hashes, SemanticHash, TreeHashes, print_facts};
use abide_schema::{FileDecl, Tree};

use super::{Files, errors, tree};

/// What stands around the texts of a row.
const PROTO2: &str = "syntax = \"proto2\"; package p.v1;";
const PROTO3: &str = "syntax = \"proto3\"; package p.v1;";
const E2023: &str = "edition = \"2023\"; package p.v1;";
const E2024: &str = "edition = \"2024\"; package p.v1;";
const LOCAL_ALL: &str =
    "edition = \"2024\"; package p.v1; option features.default_symbol_visibility = LOCAL_ALL;";
const EXPORT_ALL: &str =
    "edition = \"2024\"; package p.v1; option features.default_symbol_visibility = EXPORT_ALL;";
const STRICT: &str =
    "edition = \"2024\"; package p.v1; option features.default_symbol_visibility = STRICT;";
const LEGACY: &str = "edition = \"2023\"; package p.v1; option features.enum_type = CLOSED; \
    option features.repeated_field_encoding = EXPANDED; option features.utf8_validation = NONE; \
    option features.json_format = LEGACY_BEST_EFFORT;";

/// A file: its head and its body.
type Text = (&'static str, &'static str);

/// No meaning lies between the two sides of a row.
const SAME: &[(Text, Text)] = &[
    ((PROTO2, ""), ("package p.v1;", "")),
    ((PROTO3, "message M { int32 a = 10; }"), (PROTO3, "message M { int32 a = 0xA; }")),
    ((PROTO3, "message M { int32 a = 10; }"), (PROTO3, "message M { int32 a = 012; }")),
    ((PROTO3, "message M { M a = 1; }"), (PROTO3, "message M { optional M a = 1; }")),
    ((PROTO3, "message M { M a = 1; }"), (PROTO3, "message M { .p.v1.M a = 1; }")),
    (
        (PROTO3, "message M { oneof o { int32 a = 1; } }"),
        (PROTO3, "message M { oneof o { int32 a = 1 [deprecated = false]; } }"),
    ),
    (
        (PROTO3, "message M { repeated int32 a = 1; }"),
        (PROTO3, "message M { repeated int32 a = 1 [packed = true]; }"),
    ),
    (
        (PROTO2, "message M { optional int32 a = 1; }"),
        (PROTO2, "message M { optional int32 a = 1 [default = 0]; }"),
    ),
    (
        (PROTO2, "message M { optional E a = 1; } enum E { B = 4; A = 0; }"),
        (PROTO2, "message M { optional E a = 1 [default = B]; } enum E { B = 4; A = 0; }"),
    ),
    (
        (PROTO2, "message M { optional bytes a = 1 [default = \"\\x41\\n\"]; }"),
        (PROTO2, "message M { optional bytes a = 1 [default = 'A' \"\\012\"]; }"),
    ),
    (
        (PROTO2, "message M { optional group G = 1 { required string s = 2; } }"),
        (
            LEGACY,
            "message M { message G { string s = 2 [features.field_presence = LEGACY_REQUIRED]; } \
             G g = 1 [features.message_encoding = DELIMITED]; }",
        ),
    ),
    (
        (PROTO3, "message M { reserved 1, 2, 3 to 5; reserved 9; }"),
        (PROTO3, "message M { reserved 9, 1 to 4; reserved 5; }"),
    ),
    (
        (PROTO2, "message M { extensions 4 to 6, 7; }"),
        (PROTO2, "message M { extensions 7, 4; extensions 5 to 6; }"),
    ),
    (
        (PROTO2, "message M { extensions 4 to 6; }"),
        (PROTO2, "message M { extensions 4 to 6 [verification = UNVERIFIED]; }"),
    ),
    ((PROTO3, "enum E { A = 0; B = 1; C = 2; }"), (PROTO3, "enum E { A = 0; C = 2; B = 1; }")),
    (
        (PROTO3, "enum E { option allow_alias = true; A = 0; B = 0; C = 1; }"),
        (PROTO3, "enum E { A = 0; C = 1; B = 0; option allow_alias = true; }"),
    ),
    ((PROTO3, "message M { message N {} }"), (E2023, "message M { message N {} }")),
    (
        (E2023, "message M { bytes a = 1 [ctype = CORD]; }"),
        (
            E2023,
            "import \"google/protobuf/cpp_features.proto\"; \
             message M { bytes a = 1 [features.(pb.cpp).string_type = CORD]; }",
        ),
    ),
    (
        (E2023, "message M {}"),
        (
            E2023,
            "import \"google/protobuf/go_features.proto\"; \
             option features.(pb.go).api_level = API_OPEN; message M {}",
        ),
    ),
    ((E2024, "message M { message N {} }"), (E2024, "export message M { local message N {} }")),
    ((E2024, "local message M {}"), (LOCAL_ALL, "message M {}")),
    (
        (E2024, "message M { enum E { A = 0; } }"),
        (LOCAL_ALL, "export message M { enum E { A = 0; } }"),
    ),
    ((E2024, "local enum E { A = 0; }"), (STRICT, "enum E { A = 0; }")),
    ((LOCAL_ALL, "message M { message N {} }"), (STRICT, "local message M { message N {} }")),
    ((E2024, "message M { export message N {} }"), (EXPORT_ALL, "message M { message N {} }")),
    (
        (PROTO3, "service S { rpc R(M) returns (M); } message M {}"),
        (
            PROTO3,
            "message M {} service S { rpc R(M) returns (.p.v1.M) { \
             option idempotency_level = IDEMPOTENCY_UNKNOWN; } }",
        ),
    ),
    (
        (PROTO3, "option optimize_for = CODE_SIZE;"),
        (PROTO3, "import \"google/protobuf/any.proto\"; option optimize_for = CODE_SIZE;"),
    ),
    (
        (PROTO3, "message M { map<int32, M> a = 1; }"),
        (E2023, "message M { map<int32, .p.v1.M> a = 1; }"),
    ),
];

/// Meaning lies between the two sides of a row.
const DIFFERENT: &[(Text, Text)] = &[
    ((PROTO3, "message M { int32 a = 1; }"), (PROTO3, "message M { optional int32 a = 1; }")),
    ((PROTO3, "message M { int32 a = 1; }"), (E2023, "message M { int32 a = 1; }")),
    ((PROTO3, "message M { string a = 1; }"), (PROTO3, "message M { bytes a = 1; }")),
    (
        (PROTO3, "message M { repeated int32 a = 1; }"),
        (PROTO3, "message M { repeated int32 a = 1 [packed = false]; }"),
    ),
    (
        (PROTO3, "message M { oneof o { int32 a = 1; } }"),
        (PROTO3, "message M { oneof p { int32 a = 1; } }"),
    ),
    (
        (PROTO2, "message M { optional float a = 1; }"),
        (PROTO2, "message M { optional float a = 1 [default = -0.0]; }"),
    ),
    (
        (PROTO2, "message M { optional group G = 1 {} }"),
        (PROTO2, "message M { message G {} optional G g = 1; }"),
    ),
    (
        (E2023, "message M { string a = 1; }"),
        (E2023, "message M { string a = 1 [features.utf8_validation = NONE]; }"),
    ),
    (
        (E2023, "message M {}"),
        (E2023, "message M { option features.json_format = LEGACY_BEST_EFFORT; }"),
    ),
    (
        (E2023, "enum E { A = 0; }"),
        (E2023, "enum E { option features.enum_type = CLOSED; A = 0; }"),
    ),
    ((PROTO2, "enum E { A = 1; B = 2; }"), (PROTO2, "enum E { B = 2; A = 1; }")),
    (
        (PROTO3, "enum E { option allow_alias = true; A = 0; B = 1; C = 1; }"),
        (PROTO3, "enum E { option allow_alias = true; A = 0; C = 1; B = 1; }"),
    ),
    ((E2024, "message M {}"), (E2024, "local message M {}")),
    ((E2024, "message M { enum E { A = 0; } }"), (E2024, "message M { export enum E { A = 0; } }")),
    ((E2024, "message M {}"), (LOCAL_ALL, "message M {}")),
    ((E2024, "enum E { A = 0; }"), (STRICT, "enum E { A = 0; }")),
    ((E2024, "message M { message N {} }"), (EXPORT_ALL, "message M { message N {} }")),
    (
        (E2024, "message M { export message N {} }"),
        (LOCAL_ALL, "message M { export message N {} }"),
    ),
    ((PROTO3, "message M { reserved 1; }"), (PROTO3, "message M { reserved \"a\"; }")),
    (
        (PROTO2, "message M { extensions 4 to 6; }"),
        (PROTO2, "message M { extensions 4 to 6; extend M { optional int32 a = 4; } }"),
    ),
    (
        (PROTO2, "message M { extensions 4 to 6; } extend M { optional int32 a = 4; }"),
        (PROTO2, "message M { extensions 4 to 6; } extend M { optional int32 a = 5; }"),
    ),
    (
        (PROTO2, "message M { extensions 4 to max; }"),
        (PROTO2, "message M { option message_set_wire_format = true; extensions 4 to max; }"),
    ),
    (
        (PROTO3, "message M {} service S { rpc R(M) returns (M); }"),
        (PROTO3, "message M {} service S { rpc R(stream M) returns (M); }"),
    ),
    (
        (PROTO3, "message M {} service S { rpc R(stream M) returns (M); }"),
        (PROTO3, "message M {} service S { rpc R(M) returns (stream M); }"),
    ),
    ((PROTO3, ""), (PROTO3, "option deprecated = true;")),
    ((PROTO3, ""), (PROTO3, "import public \"google/protobuf/any.proto\";")),
    ((PROTO3, "option go_package = \"a\";"), (PROTO3, "option go_package = \"b\";")),
    ((PROTO3, "message M {}"), (PROTO3, "message M { message N {} }")),
    (
        (E2024, "message M {}"),
        (
            E2024,
            "import \"google/protobuf/java_features.proto\"; \
             message M { option features.(pb.java).nest_in_file_class = YES; }",
        ),
    ),
    (
        (E2023, "message M { E a = 1; } enum E { A = 0; }"),
        (
            E2023,
            "import \"google/protobuf/cpp_features.proto\"; enum E { A = 0; } \
             message M { E a = 1 [features.(pb.cpp).legacy_closed_enum = true]; }",
        ),
    ),
];

fn linked((head, body): Text) -> (Tree, TreeHashes) {
    let text = format!("{head}\n{body}\n");
    let tree = tree(&Files::from([("p/v1/p.proto".to_owned(), text)]));
    assert_eq!(errors(&tree), Vec::<&str>::new(), "{head} {body}");
    let hashes = TreeHashes::of(&tree);
    (tree, hashes)
}

fn hashes((head, body): Text) -> (Hashes, Hashes, String) {
    let (tree, hashes) = linked((head, body));
    let package = hashes.package("p.v1").expect("it is declared");
    let file = hashes.file("p/v1/p.proto").expect("it is there");
    (package, file, print_facts(&tree, "p.v1").expect("it is declared"))
}

#[test]
fn what_means_the_same_has_one_hash() {
    for (old, new) in SAME {
        assert_eq!(hashes(*old), hashes(*new), "{old:?} {new:?}");
    }
}

#[test]
fn what_means_something_else_has_another_hash() {
    for (old, new) in DIFFERENT {
        let (before, after) = (hashes(*old), hashes(*new));
        assert_ne!(before.0.own, after.0.own, "{old:?} {new:?}");
        assert_ne!(before.0.closure, after.0.closure, "{old:?} {new:?}");
        assert_ne!(before.1.own, after.1.own, "{old:?} {new:?}");
        assert_ne!(before.1.closure, after.1.closure, "{old:?} {new:?}");
    }
}

/// Custom options of files, beside which a row writes the options of two.
const OPTIONS: &str = "syntax = \"proto2\"; package o; import \"google/protobuf/descriptor.proto\"; \
    message T { optional string s = 1; optional T t = 2; map<string, string> m = 3; } \
    extend google.protobuf.FileOptions { repeated int32 list = 50000; repeated T many = 50001; \
        optional T one = 50002; repeated string texts = 50003; optional int32 number = 50004; }";

/// The options of two files of one package, and of two other files. Nothing lies
/// between the two pairs.
const SAME_TOGETHER: &[([&str; 2], [&str; 2])] = &[
    (["(o.list) = 1; | (o.list) = 2;", ""], ["", "(o.list) = 1; | (o.list) = 2;"]),
    (["(o.list) = 1; | (o.list) = 2;", ""], ["(o.list) = 1; | (o.list) = 2;"; 2]),
    (["(o.number) = 1; | (o.list) = 2;", ""], ["(o.list) = 2;", "(o.number) = 1;"]),
    (["(o.number) = 1;", "(o.number) = 2;"], ["(o.number) = 2;", "(o.number) = 1;"]),
    (
        ["(o.one) = { s: \"a\" t { s: \"b\" } };", ""],
        ["(o.one).t.s = \"b\"; | (o.one).s = \"a\";", "(o.one) = { t { s: \"b\" } s: \"a\" };"],
    ),
    (
        ["(o.one) = { m { key: \"a\" value: \"b\" } m { key: \"c\" } };", ""],
        ["(o.one) = { m { key: \"c\" } m { key: \"a\" value: \"b\" } };", ""],
    ),
];

/// Something does.
const DIFFERENT_TOGETHER: &[([&str; 2], [&str; 2])] = &[
    (
        ["(o.list) = 1; | (o.list) = 2;", "(o.list) = 1;"],
        ["(o.list) = 1; | (o.list) = 2;", "(o.list) = 1; | (o.list) = 2;"],
    ),
    (
        ["(o.list) = 1; | (o.list) = 2;", "(o.list) = 3; | (o.list) = 4;"],
        ["(o.list) = 1; | (o.list) = 4;", "(o.list) = 3; | (o.list) = 2;"],
    ),
    (["(o.list) = 1; | (o.list) = 2;", ""], ["(o.list) = 2; | (o.list) = 1;", ""]),
    (
        ["(o.many) = { s: \"a\" }; | (o.many) = {};", "(o.many) = {}; | (o.many) = { s: \"b\" };"],
        ["(o.many) = { s: \"a\" }; | (o.many) = { s: \"b\" };", "(o.many) = {}; | (o.many) = {};"],
    ),
    (
        ["(o.many) = { s: \"a\" t { s: \"b\" } };", "(o.many) = { s: \"c\" t { s: \"d\" } };"],
        ["(o.many) = { s: \"a\" t { s: \"d\" } };", "(o.many) = { s: \"c\" t { s: \"b\" } };"],
    ),
    (
        ["(o.one) = { s: \"a\" t { s: \"b\" } };", "(o.one) = { s: \"c\" t { s: \"d\" } };"],
        ["(o.one) = { s: \"a\" t { s: \"d\" } };", "(o.one) = { s: \"c\" t { s: \"b\" } };"],
    ),
    (
        ["(o.one) = { s: \"a\" };", "(o.one).t.s = \"b\";"],
        ["(o.one) = { s: \"a\" t { s: \"b\" } };", ""],
    ),
    (
        ["(o.one) = { m { key: \"a\" } m { key: \"b\" } };", ""],
        ["(o.one) = { m { key: \"a\" } };", "(o.one) = { m { key: \"b\" } };"],
    ),
    // What stands between the parts of an option may stand in a text, too.
    (
        ["(o.texts) = \"a\"; | (o.texts) = \"b\";", ""],
        ["(o.texts) = \"a\\\"; (o.texts)[1] = \\\"b\";", ""],
    ),
];

/// The own hash of the package of two files with these options, one of which has
/// a message.
fn together(options: [&str; 2], with_message: usize) -> SemanticHash {
    let mut files = Files::from([("o.proto".to_owned(), OPTIONS.to_owned())]);
    for (at, options) in options.iter().enumerate() {
        let options = options.split(" | ").filter(|it| !it.is_empty());
        let options: String = options.map(|it| format!("option {it}\n")).collect();
        let message = if at == with_message { "message M {}" } else { "" };
        let text = format!("{PROTO3} import \"o.proto\";\n{options}{message}\n");
        files.insert(format!("p/v1/{at}.proto"), text);
    }
    let tree = tree(&files);
    assert_eq!(errors(&tree), Vec::<&str>::new(), "{options:?}");
    TreeHashes::of(&tree).package("p.v1").expect("it is declared").own
}

#[test]
fn the_options_of_the_files_of_a_package_are_a_set_of_values() {
    for (old, new) in SAME_TOGETHER {
        assert_eq!(together(*old, 0), together(*new, 0), "{old:?} {new:?}");
    }
    for (old, new) in DIFFERENT_TOGETHER {
        assert_ne!(together(*old, 0), together(*new, 0), "{old:?} {new:?}");
        for options in [old, new] {
            let [one, two] = *options;
            let moved = [together([one, two], 1), together([two, one], 0)];
            assert_eq!(moved, [together(*options, 0); 2], "{options:?}");
        }
    }
}

/// protoc writes `default_symbol_visibility` where it is told `--retain_options`.
#[test]
fn a_set_says_what_its_file_makes_local_where_it_has_that() {
    let of_set = |options: &str| {
        let set = format!(
            "file {{ name: \"p/v1/p.proto\" package: \"p.v1\" {options} syntax: \"editions\" \
             edition: EDITION_2024 message_type {{ name: \"M\" }} \
             message_type {{ name: \"N\" visibility: VISIBILITY_EXPORT }} }}"
        );
        let set = abide_schema::read_descriptor_set_text(set.as_bytes()).expect("it is a set");
        let files = FileDecl::from_descriptor_set(&set.into()).expect("it is a set");
        let tree = Tree::link(files.into_iter().map(Arc::new).collect());
        print_facts(&tree, "p.v1").expect("it is declared")
    };
    let of_text = |head: &str| {
        let text = format!("{head} message M {{}} export message N {{}}");
        let tree = tree(&Files::from([("p/v1/p.proto".to_owned(), text)]));
        print_facts(&tree, "p.v1").expect("it is declared")
    };
    let retained = "options { features { default_symbol_visibility: LOCAL_ALL } }";
    assert_eq!(of_set(retained), of_text(LOCAL_ALL));
    assert_eq!(of_set("options { features { } }"), of_text(E2024));
    assert_ne!(of_text(LOCAL_ALL), of_text(E2024));
}

/// A tree without its imports has hashes, too, that tell its options apart.
#[test]
fn what_does_not_link_is_known_by_what_is_written() {
    let text = |value: &str| {
        format!(
            "syntax = \"proto3\"; package p.v1; import \"gone.proto\";\n\
             message M {{ gone.v1.Gone a = 1 [(gone.rules) . int32 = {{ /* c */ lt: {value} }}]; }}\n\
             service S {{ rpc R(M) returns (gone.v1.Gone); }}\n"
        )
    };
    let of = |value: &str| {
        let tree = tree(&Files::from([("p.proto".to_owned(), text(value))]));
        assert!(!errors(&tree).is_empty());
        let hashes = TreeHashes::of(&tree);
        let of = |name: &str| print_facts(&tree, name).expect("it is declared");
        (of("p.v1.M"), of("p.v1.S"), hashes.package("p.v1"))
    };
    let (message, service, package) = of("5");
    let own: Vec<&str> = message.lines().take_while(|line| !line.is_empty()).collect();
    let wanted = [
        "abide1 message own",
        "field 1 a implicit unresolved gone.v1.Gone",
        "field 1 option ? (gone.rules).int32 = { lt : 5 }",
        "message p.v1.M",
    ];
    assert_eq!(own, wanted);
    assert!(service.contains("\nmethod R p.v1.M gone.v1.Gone\n"), "{service}");
    assert_ne!(package, of("6").2);
    assert_eq!(package, of("5").2);
}
