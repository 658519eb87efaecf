//! An upgrade and a release leave a tree that its own check accepts as before, and two majors
//! never share a name of generated code or a route.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::run::{abide, put, repository};

/// A tree with these files, and with the imports that they need.
fn tree(config: &str, files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    let imports = ["api", "testdata/imports"].map(|it| repository().join(it).display().to_string());
    let config =
        format!("import-paths = {imports:?}\nrules.conversion-missing = \"off\"\n{config}");
    put(folder.path(), &[("abide.toml", &config)]);
    put(folder.path(), files);
    folder
}

fn done(folder: &Path, args: &[&str]) {
    let ran = abide(folder, args);
    assert_eq!(ran.status, 0, "{args:?}: {} {}", ran.text(), ran.stderr);
}

fn upgraded(folder: &Path) {
    done(folder, &["upgrade", "--write"]);
}

fn released(folder: &Path) {
    done(folder, &["release", "--write", "--outside-window"]);
}

fn read(folder: &Path, path: &str) -> String {
    fs::read_to_string(folder.join(path)).unwrap_or_else(|it| panic!("{path}: {it}"))
}

/// What a check reports, warnings too.
fn rules(folder: &Path) -> Vec<String> {
    abide(folder, &["check", "--format", "json", "--as-of", "2026-01-15"]).rules()
}

const ROUTED: &str = "syntax = \"proto3\";\n\npackage acme.user.v3;\n\n\
    import \"google/api/annotations.proto\";\n\n\
    service Users {\n  rpc Get(User) returns (User) {\n    \
    option (google.api.http).post = \"/v3/discovery:users\";\n  }\n}\n\n\
    message User {\n  string name = 1;\n\n  // Use `name`.\n  string nick = 2 [deprecated = true];\n}\n";

#[test]
fn a_release_gives_the_routes_that_candidates_kept_the_new_major() {
    let tree = tree("upgrade.http-major = 2\n", &[("acme/user/v3/user.proto", ROUTED)]);
    let folder = tree.path();
    let before = rules(folder);
    upgraded(folder);
    let candidate = read(folder, "acme/user/v4alpha/user.proto");
    assert!(candidate.contains("\"/v3/discovery:users\""), "{candidate}");
    assert_eq!(rules(folder), before);
    released(folder);
    let stable = read(folder, "acme/user/v4/user.proto");
    assert!(stable.contains("\"/v4/discovery:users\""), "{stable}");
    assert!(read(folder, "acme/user/v3/user.proto").contains("\"/v3/discovery:users\""));
    assert_eq!(rules(folder), before);
}

/// A route may name another stability of the same major; two majors never share it.
#[test]
fn every_spelling_of_a_major_in_a_route_rises() {
    for config in ["", "upgrade.http-major = 2\n"] {
        let routed = ROUTED.replace("\"/v3/discovery:users\"", "\"/v3alpha/{name=v3beta1/*}:v3\"");
        let tree = tree(config, &[("acme/user/v3/user.proto", &routed)]);
        let folder = tree.path();
        let before = rules(folder);
        upgraded(folder);
        assert_eq!(rules(folder), before);
        released(folder);
        let stable = read(folder, "acme/user/v4/user.proto");
        assert!(stable.contains("\"/v4/{name=v4/*}:v4\""), "{stable}");
        assert_eq!(rules(folder), before);
    }
}

#[test]
fn a_candidate_with_additions_gets_the_routes_of_its_major_as_well() {
    let config = "[upgrade]\nhttp-major = 2\nadditions = [\"acme.user.v4alpha.User.mail\"]\n";
    let tree = tree(config, &[("acme/user/v3/user.proto", ROUTED)]);
    let folder = tree.path();
    upgraded(folder);
    let path = "acme/user/v4alpha/user.proto";
    let added = "  string name = 1;\n\n  string mail = 7;\n";
    let text = read(folder, path).replace("  string name = 1;\n", added);
    put(folder, &[(path, &text)]);
    released(folder);
    let stable = read(folder, "acme/user/v4/user.proto");
    assert!(stable.contains("string mail = 7;"), "{stable}");
    assert!(stable.contains("\"/v4/discovery:users\""), "{stable}");
}

#[test]
fn an_alpha_that_a_stable_version_replaced_keeps_what_it_was_written_for() {
    let old = |package: &str| {
        format!(
            "syntax = \"proto3\";\n\npackage {package};\n\nimport \"acme/auth/v2/auth.proto\";\n\n\
             message Old {{\n  acme.auth.v2.Auth auth = 1;\n}}\n"
        )
    };
    let auth = "syntax = \"proto3\";\n\npackage acme.auth.v2;\n\nmessage Auth {\n  \
                string name = 1;\n\n  // Use `name`.\n  string nick = 2 [deprecated = true];\n}\n";
    let past = "acme/auth/v2alpha/auth.proto";
    let next = "acme/other/v1alpha/other.proto";
    let tree = tree(
        "rules.older-major-of-itself = \"off\"\n",
        &[
            ("acme/auth/v2/auth.proto", auth),
            (past, &old("acme.auth.v2alpha")),
            (next, &old("acme.other.v1alpha")),
        ],
    );
    let folder = tree.path();
    let before = rules(folder);
    upgraded(folder);
    // Until the release, the old alpha is one major too many.
    let meanwhile: Vec<String> =
        rules(folder).into_iter().filter(|it| it != "two-candidates").collect();
    assert_eq!(meanwhile, before);
    released(folder);
    assert_eq!(read(folder, past), old("acme.auth.v2alpha"));
    assert!(read(folder, next).contains("acme.auth.v3.Auth auth"), "{}", read(folder, next));
    assert_eq!(rules(folder), before);
}

#[test]
fn candidates_that_nothing_calls_for_follow_the_release() {
    let calm = "syntax = \"proto3\";\n\npackage acme.calm.v3;\n\n\
                // Beside a [User][acme.user.v3.User].\nmessage Calm {}\n";
    let files = [("acme/user/v3/user.proto", ROUTED), ("acme/calm/v3/calm.proto", calm)];
    let tree = tree("upgrade.closure = \"all\"\n", &files);
    let folder = tree.path();
    upgraded(folder);
    released(folder);
    for path in ["acme/calm/v3/calm.proto", "acme/calm/v4alpha/calm.proto"] {
        let text = read(folder, path);
        assert!(text.contains("[acme.user.v4.User]"), "{path}: {text}");
    }
    assert_eq!(rules(folder), Vec::<String>::new());
    // Nobody edited it by hand, so the next upgrade may replace it.
    upgraded(folder);
}

#[test]
fn two_majors_share_no_package_of_generated_code() {
    let text = "syntax = \"proto3\";\n\npackage google.pubsub.v1;\n\n\
        option csharp_namespace = \"Google.Cloud.PubSub.V1\";\n\
        option go_package = \"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb;pubsubpb\";\n\
        option java_package = \"com.google.cloud.pubsub.proto\";\n\
        option objc_class_prefix = \"GPS\";\n\
        option php_namespace = \"Google\\\\Cloud\\\\PubSub\\\\V1\";\n\
        option ruby_package = \"Google::Cloud::PubSub::V1\";\n\n\
        message Topic {\n  string name = 1;\n\n  // Use `name`.\n  string nick = 2 [deprecated = true];\n}\n";
    let tree = tree("preset = \"google\"\n", &[("google/pubsub/v1/pubsub.proto", text)]);
    let folder = tree.path();
    let before = rules(folder);
    let options = |major: &str| -> Vec<String> {
        let text = read(folder, &format!("google/pubsub/{major}/pubsub.proto"));
        let options = text.lines().filter_map(|it| it.strip_prefix("option "));
        options.filter_map(|it| Some(it.split('"').nth(1)?.to_owned())).collect()
    };
    upgraded(folder);
    assert_eq!(
        options("v2alpha"),
        [
            "Google.Cloud.PubSub.V2Alpha",
            "cloud.google.com/go/pubsub/v2/apiv2alpha/pubsubpb;pubsubpb",
            "com.google.cloud.pubsub.proto.v2alpha",
            "GPSV2A",
            "Google\\\\Cloud\\\\PubSub\\\\V2Alpha",
            "Google::Cloud::PubSub::V2Alpha",
        ]
    );
    assert_eq!(rules(folder), before);
    released(folder);
    assert_eq!(
        options("v2"),
        [
            "Google.Cloud.PubSub.V2",
            "cloud.google.com/go/pubsub/v2/apiv2/pubsubpb;pubsubpb",
            "com.google.cloud.pubsub.proto.v2",
            "GPSV2",
            "Google\\\\Cloud\\\\PubSub\\\\V2",
            "Google::Cloud::PubSub::V2",
        ]
    );
    assert_eq!(rules(folder), before);
}

#[test]
fn an_upgrade_of_a_tree_that_does_not_link_deletes_nothing() {
    let tree = tree("", &[("acme/user/v3/user.proto", ROUTED)]);
    let folder = tree.path();
    upgraded(folder);
    let candidate = "acme/user/v4alpha/user.proto";
    assert!(folder.join(candidate).exists());
    // The deprecated field is lost behind a name that nothing declares.
    let broken = ROUTED.replace("string nick = 2 [deprecated = true];", "Nick nick = 2;");
    put(folder, &[("acme/user/v3/user.proto", &broken)]);
    for args in [&["upgrade", "--write"][..], &["upgrade", "--check"], &["upgrade", "--diff"]] {
        let ran = abide(folder, args);
        assert_eq!(ran.status, 1, "{args:?}: {}", ran.text());
        assert!(ran.stderr.contains("name-not-found"), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("note: nothing was written"), "{args:?}: {}", ran.stderr);
    }
    assert!(folder.join(candidate).exists());
    // Once it links, the candidate goes.
    let mended = ROUTED.replace("string nick = 2 [deprecated = true];", "string nick = 2;");
    put(folder, &[("acme/user/v3/user.proto", &mended)]);
    upgraded(folder);
    assert!(!folder.join(candidate).exists());
}
