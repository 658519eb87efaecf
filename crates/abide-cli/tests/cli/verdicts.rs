//! Verdicts at the edges: changes whose effects depend on what else is in the tree, each with the
//! surfaces that it breaks.

use serde_json::Value;
use tempfile::TempDir;

use crate::run::{abide, put};

/// The files of a tree by their paths.
type Files<'f> = &'f [(&'f str, &'f str)];

/// What a rule reports about an element between two trees.
fn verdict(old: Files<'_>, new: Files<'_>, rule: &str, element: &str) -> Option<Value> {
    let folder = TempDir::new().unwrap();
    let under = |side: &str, files: Files<'_>| {
        for (path, text) in files {
            put(folder.path(), &[(&format!("{side}/{path}"), text)]);
        }
    };
    under("old", old);
    under("new", new);
    let args = ["breaking", "new", "--against", "old", "--changes", "--format", "json"];
    let ran = abide(folder.path(), &args);
    assert!(ran.status < 2, "{}", ran.stderr);
    let mut lines = ran.json().into_iter();
    lines.find(|it| it["rule"] == rule && it["element"] == element)
}

/// The same for two versions of one file: the encodings it breaks, with directions.
fn encodings(old: &str, new: &str, rule: &str, element: &str) -> Vec<String> {
    let file = |body: &str| format!("syntax = \"proto3\";\npackage a.v1;\n{body}\n");
    let (old, new) = (file(old), file(new));
    let finding = verdict(&[("a/v1/a.proto", &old)], &[("a/v1/a.proto", &new)], rule, element);
    let finding = finding.unwrap_or_else(|| panic!("no `{rule}` about `{element}`"));
    encoded(&finding)
}

/// The encodings that a finding says are broken, with directions.
fn encoded(finding: &Value) -> Vec<String> {
    let words = |it: &Value| {
        let word = |key: &str| it[key].as_str().unwrap_or_default().to_owned();
        format!("{} {}", word("surface"), word("direction"))
    };
    let breaks = finding["breaks"].as_array().cloned().unwrap_or_default();
    let encoding = |it: &String| ["wire", "json", "text"].iter().any(|of| it.starts_with(of));
    breaks.iter().map(words).filter(encoding).collect()
}

const ALL: [&str; 6] = [
    "wire backward",
    "wire forward",
    "json backward",
    "json forward",
    "text backward",
    "text forward",
];

#[test]
fn swapped_names_of_two_types_break_json_and_text() {
    let (old, new) = (
        "message M { string title = 2; int32 size = 9; }",
        "message M { string size = 2; int32 title = 9; }",
    );
    for name in ["title", "size"] {
        let element = format!("a.v1.M.{name}");
        assert_eq!(encodings(old, new, "field-replaced", &element), ALL, "{name}");
    }
    // Of three names that rotate, each belongs to a field of another type.
    let (old, new) = (
        "message M { string a = 1; bool b = 2; int32 c = 3; }",
        "message M { string b = 1; bool c = 2; int32 a = 3; }",
    );
    for name in ["a", "b", "c"] {
        let element = format!("a.v1.M.{name}");
        assert_eq!(encodings(old, new, "field-replaced", &element), ALL, "{name}");
    }
}

/// The same of extensions, which are known by their full names.
#[test]
fn swapped_extensions_are_no_renamed_ones() {
    let file = |body: &str| {
        format!(
            "syntax = \"proto2\";\npackage a.v1;\nmessage M {{ extensions 1 to 9; }}\nextend M {{ {body} }}\n"
        )
    };
    let judged = |old: &str, new: &str, rule: &str, element: &str| -> Vec<String> {
        let (old, new) = (file(old), file(new));
        let found = verdict(&[("a.proto", &old)], &[("a.proto", &new)], rule, element);
        encoded(&found.unwrap_or_else(|| panic!("no `{rule}` about `{element}`")))
    };
    let (old, new) = (
        "optional string title = 2; optional int32 size = 9;",
        "optional string size = 2; optional int32 title = 9;",
    );
    for element in ["a.v1.title", "a.v1.size"] {
        assert_eq!(judged(old, new, "field-replaced", element), ALL);
    }
    let old = "optional string title = 2; optional string size = 9;";
    let new = "optional string size = 2; optional string title = 9;";
    assert_eq!(judged(old, new, "field-replaced", "a.v1.title"), ALL[..2]);
    // One that took the number of another one is still there.
    let new = "optional string size = 2;";
    assert_eq!(judged(old, new, "field-replaced", "a.v1.size")[..2], ALL[..2]);
    assert_eq!(judged(old, new, "extension-removed", "a.v1.size"), ["wire backward"]);
    // A name that is gone was changed.
    let new = "optional string heading = 2; optional string size = 9;";
    assert_eq!(judged(old, new, "extension-renamed", "a.v1.heading"), ALL[2..]);
}

#[test]
fn swapped_numbers_of_one_type_break_the_wire_alone() {
    let (old, new) = (
        "message M { string title = 2; string maker = 9; }",
        "message M { string maker = 2; string title = 9; }",
    );
    let found = encodings(old, new, "field-replaced", "a.v1.M.maker");
    assert_eq!(found, ["wire backward", "wire forward"]);
}

#[test]
fn a_name_that_moved_to_the_number_of_another_field_is_read_there() {
    let (old, new) = (
        "message M { int32 size = 1; string title = 2; }",
        "message M { int32 title = 1; reserved 2; }",
    );
    let found = encodings(old, new, "field-removed", "a.v1.M.title");
    assert_eq!(found.len(), 5, "{found:?}");
    assert!(found.iter().any(|it| it == "json backward"), "{found:?}");
    assert!(found.iter().any(|it| it == "text forward"), "{found:?}");
}

#[test]
fn a_zero_that_changed_its_name_with_another_value_is_another_default() {
    let field = "message M { E e = 1; }";
    let old = format!("enum E {{ DEFAULT = 0; V6 = 2; }} {field}");
    let new = format!("enum E {{ V6 = 0; DEFAULT = 2; }} {field}");
    assert_eq!(encodings(&old, &new, "enum-first-value-changed", "a.v1.E"), ALL);
    // A name for zero that stays keeps its meaning.
    let file = |values: &str| {
        format!(
            "syntax = \"proto3\";\npackage a.v1;\nenum E {{ option allow_alias = true; {values} }} \
             {field}\n"
        )
    };
    let (old, new) = (file("A = 0; B = 0; C = 1;"), file("B = 0; A = 0; C = 1;"));
    let (old, new) = ([("a/v1/a.proto", &*old)], [("a/v1/a.proto", &*new)]);
    assert_eq!(verdict(&old, &new, "enum-first-value-changed", "a.v1.E"), None);
}

#[test]
fn a_type_without_a_field_of_the_old_one_breaks_the_wire() {
    let types = "message Price { int64 cents = 1; string currency = 2; }";
    let old = format!("{types} message Amount {{ int64 cents = 1; }} message I {{ Price p = 1; }}");
    let new = old.replace("Price p", "Amount p");
    let found = encodings(&old, &new, "field-type-changed", "a.v1.I.p");
    assert!(found.contains(&"wire backward".to_owned()), "{found:?}");
    // Deeper down, and in the values of maps.
    let old = format!(
        "{types} message Amount {{ int64 cents = 1; }} message Old {{ Price p = 1; }} message New \
         {{ Amount p = 1; }} message I {{ map<string, Old> p = 1; }}"
    );
    let new = old.replace("string, Old", "string, New");
    let found = encodings(&old, &new, "field-type-changed", "a.v1.I.p");
    assert!(found.contains(&"wire backward".to_owned()), "{found:?}");
    // A number that is reserved is never taken.
    let old = format!(
        "{types} message Amount {{ reserved 2; int64 cents = 1; }} message I {{ Price p = 1; }}"
    );
    let new = old.replace("Price p", "Amount p");
    let found = encodings(&old, &new, "field-type-changed", "a.v1.I.p");
    assert!(!found.contains(&"wire backward".to_owned()), "{found:?}");
}

#[test]
fn a_type_without_an_extension_of_the_old_one_breaks_every_encoding() {
    let file = |ty: &str, of_new: &str| {
        format!(
            "syntax = \"proto2\";\npackage a.v1;\nmessage A {{ extensions 5 to 9; }}\nmessage B {{ \
             extensions 5 to 9; }}\nextend A {{ optional string e = 5; }}\n{of_new}message M {{ \
             optional {ty} a = 1; }}\n"
        )
    };
    let judged = |of_new: &str| {
        let (old, new) = (file("A", of_new), file("B", of_new));
        let found =
            verdict(&[("a.proto", &old)], &[("a.proto", &new)], "field-type-changed", "a.v1.M.a");
        encoded(&found.unwrap())
    };
    assert_eq!(judged(""), ["wire backward", "json backward", "text backward"]);
    // Another one may have the number there, but none has the name.
    let other = "extend B { optional string f = 5; }\n";
    assert_eq!(judged(other), ["json backward", "text backward"]);
}

#[test]
fn a_request_without_a_field_of_the_old_one_breaks_calls() {
    let types = "message Get { string id = 1; string view = 2; } message Find { string id = 1; }";
    let old = format!("{types} service S {{ rpc Do(Get) returns (Get); }}");
    for (new, rule) in [
        (old.replace("Do(Get)", "Do(Find)"), "method-request-type-changed"),
        (old.replace("returns (Get)", "returns (Find)"), "method-response-type-changed"),
    ] {
        let found = encodings(&old, &new, rule, "a.v1.S.Do");
        assert!(found.contains(&"wire backward".to_owned()), "{rule}: {found:?}");
    }
}

#[test]
fn a_number_that_changed_is_no_added_field() {
    let (old, new) = (
        "message M { reserved 1; string local_address = 2; }",
        "message M { string local_address = 1; bytes remote = 2; }",
    );
    let found = encodings(old, new, "field-number-changed", "a.v1.M.local_address");
    assert_eq!(found, ["wire backward", "wire forward"]);
    // Nor where it joins a oneof that was there.
    let (old, new) = (
        "message M { string a = 2; oneof o { int32 b = 3; } }",
        "message M { bytes c = 2; oneof o { int32 b = 3; string a = 1; } }",
    );
    let found = encodings(old, new, "field-number-changed", "a.v1.M.a");
    assert_eq!(found, ["wire backward", "wire forward"]);
    let file = |body: &str| format!("syntax = \"proto3\";\npackage a.v1;\n{body}\n");
    let (old, new) = (file(old), file(new));
    for rule in ["field-added", "oneof-member-added"] {
        let (old, new) = ([("a/v1/a.proto", &*old)], [("a/v1/a.proto", &*new)]);
        assert_eq!(verdict(&old, &new, rule, "a.v1.M.a"), None, "{rule}");
    }
}

#[test]
fn requests_of_two_methods_are_two_whatever_else_is_in_the_tree() {
    let lists = |name: &str| {
        format!(
            "message List{name}Request {{ string parent = 1; int32 page_size = 2; string page_token \
             = 3; string region = 4; }}\n"
        )
    };
    let file = |names: &[&str]| {
        let all: String = names.iter().map(|it| lists(it)).collect();
        format!("syntax = \"proto3\";\npackage a.v1;\n{all}")
    };
    let renamed = |old: &[&str], new: &[&str]| {
        let (old, new) = (file(old), file(new));
        let (old, new) = ([("a/v1/a.proto", &*old)], [("a/v1/a.proto", &*new)]);
        verdict(&old, &new, "message-renamed", "a.v1.ListMappingsRequest").is_some()
    };
    // `region` says something as long as nothing else has it.
    assert!(renamed(&["Contacts"], &["Mappings"]));
    assert!(!renamed(&["Contacts", "Disks", "Hosts"], &["Mappings", "Disks", "Hosts"]));
}

/// What a method takes and gives tells which one it is only where no other does.
#[test]
fn methods_of_the_same_types_are_told_by_their_names() {
    let renamed = |old: &[&str], new: &[&str]| {
        let file = |names: &[&str]| {
            let methods: String =
                names.iter().map(|it| format!("rpc {it}(M) returns (M); ")).collect();
            format!(
                "syntax = \"proto3\";\npackage a.v1;\nservice S {{ {methods} }}\nmessage M {{}}\n"
            )
        };
        let (old, new) = (file(old), file(new));
        let (old, new) = ([("a/v1/a.proto", &*old)], [("a/v1/a.proto", &*new)]);
        let found = |rule: &str, name: &str| verdict(&old, &new, rule, name).is_some();
        let is_renamed = found("method-renamed", "a.v1.S.Purge");
        assert_eq!(found("method-removed", "a.v1.S.Delete"), !is_renamed);
        assert_eq!(found("method-added", "a.v1.S.Purge"), !is_renamed);
        is_renamed
    };
    assert!(renamed(&["Delete"], &["Purge"]));
    assert!(!renamed(&["Get", "Delete"], &["Get", "Purge"]));
    assert!(!renamed(&["Put", "Delete"], &["Burn", "Purge"]));
    assert!(!renamed(&["Delete"], &["Burn", "Purge"]));
}

#[test]
fn users_of_a_moved_type_break_where_code_names_it() {
    let user = |folder: &str| {
        format!(
            "syntax = \"proto3\";\npackage a.user.v1;\nimport \"a/{folder}/v1/b.proto\";\noption \
             go_package = \"a/user/v1;userv1\";\nmessage User {{\n  a.{folder}.v1.Home home = 1;\n  \
             map<string, a.{folder}.v1.Home> more = 2;\n}}\nservice Users {{ rpc \
             Get(a.{folder}.v1.Home) returns (User); }}\n"
        )
    };
    let home = |folder: &str| {
        format!(
            "syntax = \"proto3\";\npackage a.{folder}.v1;\noption go_package = \
             \"a/{folder}/v1;{folder}v1\";\nmessage Home {{ string street = 1; string town = 2; }}\n"
        )
    };
    let (was, is) = (user("place"), user("geo"));
    let (from, to) = (home("place"), home("geo"));
    let old = [("a/user/v1/u.proto", &*was), ("a/place/v1/b.proto", &*from)];
    let new = [("a/user/v1/u.proto", &*is), ("a/geo/v1/b.proto", &*to)];
    let finding = verdict(&old, &new, "used-type-renamed", "a.user.v1").unwrap();
    assert_eq!(
        finding["message"],
        "2 fields and 1 method of package `a.user.v1` use a type that was renamed: \
         `a.place.v1.Home` is now `a.geo.v1.Home`"
    );
    assert_eq!(finding["package"], "a.user.v1");
    assert_eq!(finding["bump"], "major");
    assert_eq!(finding["surfaces"], serde_json::json!(["source-cpp", "source-go", "source-java"]));
    assert_eq!(finding["directions"], serde_json::json!(["backward"]));
    // A package in which the type itself is reported has no second finding.
    assert_eq!(verdict(&old, &new, "used-type-renamed", "a.geo.v1"), None);
    let moved = is.replace("a.user.v1;", "a.people.v1;");
    let new = [("a/people/v1/u.proto", &*moved), ("a/geo/v1/b.proto", &*to)];
    assert_eq!(verdict(&old, &new, "used-type-renamed", "a.people.v1"), None);
}

#[test]
fn a_type_that_go_still_knows_by_its_old_name_breaks_no_user_in_go() {
    let user = |package: &str| {
        format!(
            "syntax = \"proto3\";\npackage a.user.v1;\nimport \"a/b.proto\";\noption go_package = \
             \"a/user\";\nmessage User {{ {package}.Home home = 1; }}\n"
        )
    };
    let home = |package: &str| {
        format!(
            "syntax = \"proto3\";\npackage {package};\noption go_package = \"a/home\";\nmessage \
             Home {{ string street = 1; string town = 2; }}\n"
        )
    };
    let (was, is, from, to) = (user("a.x"), user("a.y"), home("a.x"), home("a.y"));
    let old = [("a/u.proto", &*was), ("a/b.proto", &*from)];
    let new = [("a/u.proto", &*is), ("a/b.proto", &*to)];
    let finding = verdict(&old, &new, "used-type-renamed", "a.user.v1").unwrap();
    assert_eq!(finding["surfaces"], serde_json::json!(["source-cpp", "source-java"]));
}

#[test]
fn annotations_that_generated_clients_follow_are_a_surface() {
    let path = "acme/user/v1/user.proto";
    let file = |host: &str, signature: &str| {
        format!(
            "syntax = \"proto3\";\npackage acme.user.v1;\nimport \"google/api/client.proto\";\n\
             service Users {{\n  option (google.api.default_host) = \"{host}\";\n  rpc \
             GetUser(GetUserRequest) returns (GetUserRequest) {{\n    option \
             (google.api.method_signature) = \"{signature}\";\n  }}\n}}\nmessage GetUserRequest {{ \
             string name = 1; string view = 2; }}\n"
        )
    };
    let client = include_str!("../../../../testdata/imports/google/api/client.proto");
    let client = ("google/api/client.proto", client);
    let judged = |new: &str, rule: &str, element: &str| {
        let old = file("a.example", "name,view");
        verdict(&[client, (path, &old)], &[client, (path, new)], rule, element).unwrap()
    };
    let other = file("b.example", "name,view");
    let host = judged(&other, "service-host-changed", "acme.user.v1.Users");
    let less = file("a.example", "name");
    let call = judged(&less, "method-signature-changed", "acme.user.v1.Users.GetUser");
    for (finding, lost) in [
        (host, "`UsersClient.DEFAULT_ENDPOINT` changed from `a.example` to `b.example`"),
        (call, "`UsersClient.get_user` lost its parameter `view`"),
    ] {
        assert_eq!(finding["severity"], "error");
        assert_eq!(finding["bump"], "major");
        let breaks = serde_json::json!([{ "surface": "source-gapic", "direction": "backward" }]);
        assert_eq!(finding["breaks"], breaks);
        assert_eq!(finding["symbols"][0]["symbol"], lost);
    }
}

/// Every package of a company has its name and some names of types: what they share is no trace of
/// a renaming.
#[test]
fn packages_that_share_what_all_share_are_two() {
    let file = |package: &str, types: &[&str]| {
        let types: String =
            types.iter().map(|it| format!("message {it} {{ string a = 1; }}\n")).collect();
        format!("syntax = \"proto3\";\npackage {package};\n{types}")
    };
    let stays = file("acme.user.v1", &["GetRequest", "ListRequest", "User"]);
    let shop = file("acme.shop.v1", &["GetRequest", "ListRequest", "Cart", "Price"]);
    let maps = file("acme.maps.v1", &["GetRequest", "ListRequest", "Route", "Place"]);
    let cart = file("acme.cart.v1", &["GetRequest", "ListRequest", "Cart", "Price"]);
    let user = ("acme/user/v1/user.proto", &*stays);
    let old = [user, ("acme/shop/v1/shop.proto", &*shop)];
    let judged = |rule: &str, other: (&str, &str), element: &str| {
        verdict(&old, &[user, other], rule, element).is_some()
    };
    let other = ("acme/maps/v1/maps.proto", &*maps);
    assert!(judged("package-removed", other, "acme.shop.v1"));
    assert!(!judged("package-renamed", other, "acme.maps.v1"));
    let renamed = ("acme/cart/v1/cart.proto", &*cart);
    assert!(judged("package-renamed", renamed, "acme.cart.v1"));
}
