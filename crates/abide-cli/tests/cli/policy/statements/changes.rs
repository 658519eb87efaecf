//! What may change between two releases, and what may not.

use std::cell::Cell;

use super::world::{BASE, CALM, IN_WINDOW, USER, World, file};

const RELEASE: [&str; 2] = ["--against", "git:r1"];

/// An edit of a released file fails the check with this rule, and no version is recorded for it.
fn is_refused(path: &str, from: &str, to: &str, rule: &str) {
    World::released(|world| {
        world.edit(path, from, to);
        assert_eq!(world.errors(&RELEASE), [rule], "{world}");
        let ran = world.run(&["bump", "--write", "--as-of", IN_WINDOW, RELEASE[0], RELEASE[1]]);
        assert_eq!(ran.status, 1, "{world}: {}", ran.text());
        assert_eq!(world.errors(&RELEASE), [rule], "{world}: a new version is no way out");
    });
}

#[test]
fn a_field_may_be_added_to_a_stable_package() {
    World::released(|world| {
        world.edit(USER, "int32 age = 2;", "int32 age = 2;\n  string mail = 6;");
        world.ok(&["breaking", RELEASE[0], RELEASE[1]]);
        world.ok(&["bump", "--write", RELEASE[0], RELEASE[1], "--as-of", IN_WINDOW]);
        assert_eq!(world.errors(&RELEASE), <[&str; 0]>::default(), "{world}");
    });
}

#[test]
fn renaming_a_field_is_a_break() {
    is_refused(USER, "string name", "string label", "field-renamed");
}

#[test]
fn renumbering_a_field_is_a_break() {
    is_refused(USER, "name = 1", "name = 9", "field-number-changed");
}

#[test]
fn changing_a_field_type_is_a_break() {
    is_refused(USER, "int32 age", "string age", "field-type-changed");
}

#[test]
fn making_a_singular_field_repeated_is_a_break() {
    is_refused(USER, "string name", "repeated string name", "field-cardinality-changed");
}

#[test]
fn reusing_a_number_is_a_break() {
    is_refused(USER, "int32 age = 2;", "string mail = 2;", "field-replaced");
    // It stays taken when its field went long ago, and left no reservation.
    World::released(|world| {
        let waived = "// abide:allow(field-removed): nobody set it\nmessage User";
        world.edit(USER, "message User", waived);
        world.edit(USER, "  int32 age = 2;\n", "");
        world.tag("r2", &RELEASE);
        world.edit(USER, waived, "message User");
        world.edit(USER, "string name = 1;", "string name = 1;\n  string mail = 2;");
        let errors = world.errors(&["--against", "git:r2"]);
        assert!(errors.contains(&"field-number-reused".to_owned()), "{world}: {errors:?}");
    });
}

#[test]
fn changing_the_zero_value_of_an_enum_is_a_break() {
    is_refused(USER, "KIND_UNSPECIFIED", "KIND_NONE", "enum-value-renamed");
    World::released(|world| {
        world.edit(USER, "KIND_UNSPECIFIED = 0;\n", "KIND_UNSPECIFIED = 2;\n");
        world.edit(USER, "KIND_PERSON = 1;", "KIND_PERSON = 0;");
        let errors = world.errors(&RELEASE);
        assert!(errors.contains(&"enum-value-number-changed".to_owned()), "{world}: {errors:?}");
    });
}

#[test]
fn renaming_a_service_method_or_package_is_a_break() {
    is_refused(USER, "service Users", "service People", "service-renamed");
    is_refused(USER, "rpc Get", "rpc Fetch", "method-renamed");
    World::released(|world| {
        let text = world.read(CALM);
        std::fs::remove_file(world.path().join(CALM)).unwrap();
        world.put("envoy/quiet/v3/calm.proto", &text.replace("envoy.calm", "envoy.quiet"));
        let errors = world.errors(&RELEASE);
        assert!(errors.contains(&"package-renamed".to_owned()), "{world}: {errors:?}");
    });
}

#[test]
fn moving_or_removing_a_file_is_a_break() {
    let quiet = "envoy/calm/v3/quiet.proto";
    World::released(|world| {
        world.put(quiet, &world.read(CALM));
        std::fs::remove_file(world.path().join(CALM)).unwrap();
        let errors = world.errors(&RELEASE);
        assert!(errors.contains(&"file-renamed".to_owned()), "{world}: {errors:?}");
    });
    World::released(|world| {
        world.put(quiet, &file("envoy.calm.v3", "message Quiet {}\n"));
        world.tag("r2", &RELEASE);
        world.edit(
            quiet,
            "message Quiet {}",
            "message Quiet {}\n\nmessage Calm {\n  string mood = 1;\n}",
        );
        std::fs::remove_file(world.path().join(CALM)).unwrap();
        let errors = world.errors(&["--against", "git:r2"]);
        assert!(errors.contains(&"file-removed".to_owned()), "{world}: {errors:?}");
    });
}

#[test]
fn changing_generated_names_is_a_break() {
    // Values do not change by these: only who is compiled against the stubs sees them.
    for (from, to, is_go) in
        [("io.envoy", "com.envoy", false), ("example.com", "example.org", true)]
    {
        World::released(|world| {
            world.edit(USER, from, to);
            let ran = world.run(&["breaking", RELEASE[0], RELEASE[1]]);
            // `envoy` promises Go alone to who compiles: the rest is built with the API.
            let is_refused = is_go || world.preset == "standard";
            assert_eq!(ran.status, i32::from(is_refused), "{world}: {}", ran.text());
        });
    }
    is_refused(USER, "string name = 1;", "optional string name = 1;", "field-presence-changed");
    let grouped = "oneof key {\n    string name = 1;\n  }";
    is_refused(USER, "string name = 1;", grouped, "field-oneof-changed");
}

#[test]
fn every_surface_is_judged_in_both_directions() {
    World::released(|world| {
        world.edit(USER, "int32 age = 2;", "int64 age = 2;");
        let args = ["breaking", "--format", "json", RELEASE[0], RELEASE[1]];
        let lines = world.run(&args).json();
        let finding = lines.iter().find(|it| it["rule"] == "field-type-changed").unwrap();
        let breaks = finding["breaks"].to_string();
        // An older reader cuts a larger number off on the wire, and JSON has it as a string.
        assert!(breaks.contains("forward") && breaks.contains("\"json\""), "{world}: {breaks}");
        assert!(finding["witness"]["observed"].is_string(), "{world}: {finding}");
    });
}

#[test]
fn removing_a_released_package_is_a_break() {
    World::released(|world| {
        std::fs::remove_file(world.path().join(CALM)).unwrap();
        assert_eq!(world.errors(&RELEASE), ["package-removed"], "{world}");
    });
}

const RULES: &str = "\
syntax = \"proto2\";
package validate;
import \"google/protobuf/descriptor.proto\";
extend google.protobuf.FieldOptions { optional FieldRules rules = 1071; }
message FieldRules { oneof type { StringRules string = 14; } }
message StringRules { optional uint64 min_len = 2; optional uint64 max_len = 3; }
";

/// Whether a text with these limits may have those in the next release.
fn accepts(before: &str, after: &str) -> bool {
    let text = |limit: &str| {
        let limit = if limit.is_empty() { String::new() } else { format!(" [{limit}]") };
        let import = "import \"validate/validate.proto\";\n\n";
        file("envoy.base.v3", &format!("{import}message Id {{\n  string text = 1{limit};\n}}\n"))
    };
    let files = [("dep/validate/validate.proto", RULES.to_owned()), (BASE, text(before))];
    let accepted = Cell::new(0);
    World::each(&files, |world| {
        world.put("old/dep/validate/validate.proto", RULES);
        world.put(&format!("old/{BASE}"), &text(before));
        world.put(BASE, &text(after));
        let ran = world.run(&["breaking", "envoy", "--against", "old/envoy"]);
        assert!(ran.status < 2, "{world}: {}", ran.stderr);
        accepted.set(accepted.get() + 1 - ran.status);
    });
    assert!(matches!(accepted.get(), 0 | 4), "one policy, one verdict: {accepted:?}");
    accepted.get() == 4
}

fn at_least(length: u32) -> String {
    format!("(validate.rules).string.min_len = {length}")
}

fn at_most(length: u32) -> String {
    format!("(validate.rules).string.max_len = {length}")
}

#[test]
fn only_a_limit_that_accepts_less_is_a_break() {
    assert!(accepts(&at_least(2), &at_least(1)));
    assert!(!accepts(&at_least(1), &at_least(2)));
    assert!(accepts(&at_most(9), ""));
    assert!(!accepts(&at_most(9), &at_most(8)));
    assert!(!accepts("", &at_most(8)));
}

#[test]
fn forbidding_an_empty_string_is_a_break() {
    assert!(!accepts(&at_least(0), &at_least(1)));
    assert!(!accepts("", &at_least(1)));
    assert!(accepts(&at_least(1), &at_least(0)));
}

#[test]
fn entering_a_deprecation_phase_breaks_nobody() {
    World::released(|world| {
        let since = "import \"abide/annotations/v1/lifecycle.proto\";\n\nenum Kind";
        world.edit(USER, "enum Kind", since);
        let policy = "(abide.annotations.v1.field_policy)";
        let mark =
            format!("[\n    deprecated = true,\n    {policy}.deprecated_at = \"2024-01-01\",");
        let warned = format!("age = 2 {mark}\n    {policy}.replaced_by = \"name\"\n  ];");
        world.edit(USER, "age = 2;", &warned);
        // Warned about, refused by default, overdue: in each phase nothing but the days differs.
        for day in ["2024-01-02", "2024-08-01", "2025-05-01", "2030-01-01"] {
            let args = ["breaking", "--as-of", day, RELEASE[0], RELEASE[1]];
            world.ok(&args);
        }
        let refused = format!("age = 2 {mark}\n    {policy}.disallowed_by_default = true,");
        world.edit(USER, &format!("age = 2 {mark}"), &refused);
        world.ok(&["breaking", "--as-of", "2024-08-01", RELEASE[0], RELEASE[1]]);
    });
    // From one phase to the next is a change that has a name, and a minor.
    let field = |more: &str| {
        let import = "import \"abide/annotations/v1/lifecycle.proto\";\n\n";
        let message =
            format!("message Calm {{\n  string mood = 1 [deprecated = true{more}];\n}}\n");
        file("envoy.calm.v3", &format!("{import}{message}"))
    };
    World::each(&[(CALM, field(""))], |world| {
        world.tag("r1", &[]);
        let refused = ", (abide.annotations.v1.field_policy).disallowed_by_default = true";
        world.edit(CALM, "deprecated = true", &format!("deprecated = true{refused}"));
        let planned = world.planned("envoy.calm.v3", "git:r1");
        assert_eq!(planned["required"], "minor", "{world}: {planned}");
        assert_eq!(
            planned["reasons"][0]["rule"], "deprecation-terms-changed",
            "{world}: {planned}"
        );
    });
}

#[test]
fn changes_are_judged_on_the_wire_in_json_and_in_text() {
    // Each change breaks one form of a value and not another.
    for (from, to, breaks, keeps) in [
        ("string name = 1;", "string label = 1;", "json", "wire"),
        ("int32 age = 2;", "int32 age = 9;", "wire", "json"),
        ("string name = 1;", "string label = 1 [json_name = \"name\"];", "text", "wire"),
    ] {
        World::released(|world| {
            world.edit(USER, from, to);
            let args = ["breaking", "--format", "json", RELEASE[0], RELEASE[1]];
            let ran = world.run(&args);
            let lines = ran.json();
            let surfaces = lines.iter().filter_map(|it| it["surfaces"].as_array()).flatten();
            let surfaces: Vec<&str> = surfaces.filter_map(|it| it.as_str()).collect();
            assert!(ran.status == 1 && surfaces.contains(&breaks), "{world}: {to}: {surfaces:?}");
            assert!(!surfaces.contains(&keeps), "{world}: {to}: {surfaces:?}");
        });
    }
}
