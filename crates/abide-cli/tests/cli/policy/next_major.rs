//! What people write in the next major version, and what a release asks of it.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::upgrade::{
    DAY, OLD_FIELD, SHOP, SHOP_NEXT, USER, USER_NEXT, edit, ok, read, ready, refused, reported,
    shop, tree,
};
use crate::run::{abide, put};

const POLICY: &str = "import \"abide/annotations/v1/status.proto\";\n\noption \
                      (abide.annotations.v1.file_policy)";

/// A package that people maintain as the next major version, with this in it.
fn by_hand(package: &str, rest: &str) -> String {
    format!("syntax = \"proto3\";\n\npackage {package};\n\n{POLICY}.by_hand = true;\n{rest}")
}

/// A package that depends on the users.
const FEED: &str = "syntax = \"proto3\";\n\npackage acme.feed.v1;\n\nimport \
                    \"acme/user/v1/user.proto\";\n\nmessage Feed {\n  acme.user.v1.User user = 1;\n}\n";

#[test]
fn a_hand_maintained_version_is_released() {
    let next = by_hand(
        "acme.user.v2alpha",
        "option go_package = \"acme.com/user/v2alpha;userv2alpha\";\noption java_package = \
         \"com.acme.user.v2alpha\";\n\nimport \"google/api/annotations.proto\";\n\n// See \
         [User][acme.user.v2alpha.User].\nmessage User {\n  // Kept, no longer used: an alpha loses nothing.\n  \
         string name = 1 [deprecated = true];\n\n  string nickname = 7;\n}\n\nservice Users {\n  \
         rpc Get(acme.user.v2alpha.User) returns (User) {\n    option (google.api.http).get = \
         \"/v2alpha/{name=users}\";\n  }\n}\n",
    );
    let google = "syntax = \"proto3\";\npackage google.api;\nimport \
                  \"google/protobuf/descriptor.proto\";\nmessage HttpRule {\n  oneof pattern {\n    \
                  string get = 2;\n  }\n}\nextend google.protobuf.MethodOptions {\n  HttpRule http \
                  = 72295728;\n}\n";
    let wild = "syntax = \"proto3\";\n\npackage acme.wild.v1alpha;\n\nimport \
                \"acme/user/v2alpha/people.proto\";\n\nmessage Wild {\n  acme.user.v2alpha.User \
                user = 1;\n}\n";
    let people = "acme/user/v2alpha/people.proto";
    let tree = tree(
        "rules.conversion-missing = \"off\"\npackages.unversioned = [\"google.api\"]\n",
        &[
            (USER, OLD_FIELD),
            (people, &next),
            ("acme/feed/v1/feed.proto", FEED),
            ("acme/wild/v1alpha/wild.proto", wild),
            ("google/api/annotations.proto", google),
        ],
    );
    let folder = tree.path();
    let ran = ok(folder, &["upgrade", "--write"]);
    let note = "note: `acme.user.v1` was not upgraded: people maintain `acme.user.v2alpha` as its next \
                major version\n";
    assert_eq!(ran.stderr.matches(note).count(), 1, "{}", ran.stderr);
    assert_eq!(read(folder, people), next, "no upgrade touches it");
    assert!(!folder.join(USER_NEXT).exists(), "nor makes a second candidate");
    assert!(!reported(folder).contains(&"candidate-edited".to_owned()));

    let ran = ok(folder, &["release", "--write", "--as-of", DAY]);
    let told = "note: `acme.user.v2alpha` becomes `acme.user.v2`\n";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    let caught = "note: `acme.feed.v1` becomes `acme.feed.v2` to catch up: it depends on";
    assert!(ran.stderr.contains(caught), "{}", ran.stderr);
    let released = next
        .replace("\nimport \"abide/annotations/v1/status.proto\";\n", "")
        .replace("option (abide.annotations.v1.file_policy).by_hand = true;\n", "")
        .replace("v2alpha", "v2");
    let text = read(folder, "acme/user/v2/people.proto");
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(squeezed(&text), squeezed(&released));
    assert!(!folder.join("acme/user/v2alpha").exists());
    let feed = read(folder, "acme/feed/v2/feed.proto");
    assert!(feed.contains("import \"acme/user/v2/people.proto\";"), "{feed}");
    assert!(feed.contains("acme.user.v2.User user = 1;"), "{feed}");
    let wild = read(folder, "acme/wild/v1alpha/wild.proto");
    assert!(wild.contains("acme.user.v2.User") && wild.contains("user/v2/people"), "{wild}");
    assert_eq!(read(folder, USER), OLD_FIELD, "without a status there is nothing to change");
    let lock = read(folder, "abide.lock");
    assert!(lock.contains(&format!("frozen acme.user.v1 {DAY} ")), "{lock}");
    ok(folder, &["release", "--check"]);
    ok(folder, &["check", "--as-of", DAY]);
}

#[test]
fn a_first_version_and_a_glob_are_released_by_hand() {
    let note = "syntax = \"proto3\";\n\npackage acme.note.v1beta1;\n\nmessage Note {}\n";
    let user = by_hand("acme.user.v1alpha", "\nmessage User {}\n");
    let path = "acme/note/v1beta1/note.proto";
    let tree = tree(
        "upgrade.by-hand = [\"acme.note.*\"]\n",
        &[(path, note), ("acme/user/v1alpha/user.proto", &user)],
    );
    let folder = tree.path();
    refused(folder, &["release", "--check"]);
    ok(folder, &["release", "--write", "--as-of", DAY]);
    assert_eq!(read(folder, "acme/note/v1/note.proto"), note.replace("v1beta1", "v1"));
    assert!(read(folder, USER).contains("package acme.user.v1;"));
    assert!(!folder.join(path).exists() && !folder.join("acme/user/v1alpha").exists());
    ok(folder, &["check", "--as-of", DAY]);
}

/// A release that fails in the middle is undone, and the next run makes all of it.
#[test]
fn a_failed_release_is_undone_and_can_be_repeated() {
    let next = by_hand("acme.user.v2alpha", "\nmessage User {\n  string name = 1;\n}\n");
    let next = format!("{next}// {}\n", "long ".repeat(4000));
    let tree = tree(
        "rules.conversion-missing = \"off\"\n",
        &[(USER, OLD_FIELD), (USER_NEXT, &next), ("acme/feed/v1/feed.proto", FEED)],
    );
    let folder = tree.path();
    // The disk is full once the largest file is written.
    let limited = format!("trap '' XFSZ; ulimit -f 16; exec \"$0\" release --write --as-of {DAY}");
    let mut command = Command::new("sh");
    command.args(["-c", &limited, env!("CARGO_BIN_EXE_abide")]).current_dir(folder);
    let ran = command.output().unwrap();
    assert_eq!(ran.status.code(), Some(2), "{}", String::from_utf8_lossy(&ran.stderr));
    assert!(!folder.join("acme/feed/v2").exists() && folder.join(USER_NEXT).exists());
    assert!(!folder.join("acme/user/v2").exists() && !folder.join("abide.lock").exists());
    // What a killed run leaves there.
    let left = folder.join("acme/user/v2/.abide-7-0.new");
    fs::create_dir_all(left.parent().unwrap()).unwrap();
    fs::write(&left, "syntax").unwrap();
    ok(folder, &["release", "--write", "--as-of", DAY]);
    assert!(!left.exists() && !folder.join(USER_NEXT).exists());
    let lock = read(folder, "abide.lock");
    for line in [
        format!("frozen acme.feed.v1 {DAY} "),
        format!("frozen acme.user.v1 {DAY} "),
        format!("introduced acme.feed.v2 {DAY}\n"),
        format!("introduced acme.user.v2 {DAY}\n"),
    ] {
        assert!(lock.contains(&line), "{line}: {lock}");
    }
    ok(folder, &["check", "--as-of", DAY]);
}

/// What stays may not name what the version maintained by hand does not have.
#[test]
fn a_reference_to_what_a_hand_maintained_version_lacks_is_reported() {
    let other = by_hand("acme.user.v2alpha", "\nmessage Person {}\n");
    let tree = tree(
        "rules.conversion-missing = \"off\"\n",
        &[(USER, OLD_FIELD), (USER_NEXT, &other), ("acme/feed/v1/feed.proto", FEED)],
    );
    let told = refused(tree.path(), &["release", "--write", "--as-of", DAY]);
    assert!(told.contains("acme/feed/v1/feed.proto:8:3"), "{told}");
    assert!(told.contains("not in the next version"), "{told}");
    // A message that says what it was is found again.
    let import = "import \"abide/annotations/v1/lifecycle.proto\";\n";
    let renamed = by_hand(
        "acme.user.v2alpha",
        &format!(
            "{import}\nmessage Person {{\n  option \
             (abide.annotations.v1.message_policy).previous_type = \"acme.user.v1.User\";\n}}\n"
        ),
    );
    put(tree.path(), &[(USER_NEXT, &renamed)]);
    ok(tree.path(), &["release", "--write", "--as-of", DAY]);
    let feed = read(tree.path(), "acme/feed/v2/feed.proto");
    assert!(feed.contains("acme.user.v2.Person user = 1;"), "{feed}");
}

/// The candidate of `OLD_FIELD` with additions of every kind.
fn with_additions(folder: &Path) -> String {
    edit(
        folder,
        USER_NEXT,
        "message User {",
        "import \"abide/annotations/v1/lifecycle.proto\";\nimport \
         \"google/protobuf/duration.proto\";\n\nmessage User {",
    );
    edit(
        folder,
        USER_NEXT,
        "  string name = 1;\n",
        "  string name = 1;\n\n  // What friends say.\n  string nickname = 7 \
         [(abide.annotations.v1.field_policy).next_major_only = true]; // short\n",
    );
    let text = read(folder, USER_NEXT)
        + "\n// How long.\nmessage Absence {\n  option \
           (abide.annotations.v1.message_policy).next_major_only = true;\n  \
           google.protobuf.Duration time = 1;\n  acme.user.v2alpha.User who = 2;\n}\n";
    fs::write(folder.join(USER_NEXT), &text).unwrap();
    text
}

#[test]
fn additions_to_a_candidate_survive_an_upgrade() {
    let tree = ready("");
    let folder = tree.path();
    let text = with_additions(folder);
    let extra = "acme/user/v2alpha/extra.proto";
    put(
        folder,
        &[(
            extra,
            "// Code generated by abide upgrade from nothing. DO NOT EDIT.\n\nsyntax = \
             \"proto3\";\n\npackage acme.user.v2alpha;\n\nimport \
             \"acme/user/v2alpha/user.proto\";\n\nenum Extra {\n  EXTRA_UNSPECIFIED = \
             0;\n}\n\nmessage More {\n  Extra extra = 1;\n  User user = 2;\n}\n",
        )],
    );
    let config = read(folder, "abide.toml");
    put(
        folder,
        &[(
            "abide.toml",
            &format!(
                "{config}upgrade.additions = [\"acme.user.v2alpha.Extra\", \
                 \"acme.user.v2alpha.More\"]\n"
            ),
        )],
    );
    assert_eq!(reported(folder), [] as [&str; 0]);
    ok(folder, &["upgrade", "--check"]);
    // The source changes, and even calls for no candidate any more.
    edit(folder, USER, "string name = 1;", "string name = 1;\n\n  int32 age = 3;");
    edit(folder, USER, " [deprecated = true]", "");
    ok(folder, &["upgrade", "--write"]);
    let carried = read(folder, USER_NEXT);
    assert!(carried.contains("int32 age = 3;") && carried.contains("// short\n"), "{carried}");
    edit(folder, USER, "old = 2", "old = 2 [deprecated = true]");
    edit(folder, USER, "\n\n  int32 age = 3;", "");
    ok(folder, &["upgrade", "--write"]);
    assert_eq!(read(folder, USER_NEXT), text, "nothing of it is lost or moved");
    assert_eq!(reported(folder), [] as [&str; 0]);

    ok(folder, &["release", "--write", "--as-of", DAY]);
    let released = read(folder, "acme/user/v2/user.proto");
    assert!(released.starts_with("syntax"), "{released}");
    assert!(released.contains("  // What friends say.\n  string nickname = 7; // short\n"));
    assert!(released.contains("acme.user.v2.User who = 2;"), "{released}");
    assert!(!released.contains("next_major_only") && !released.contains("lifecycle"), "{released}");
    let extra = read(folder, "acme/user/v2/extra.proto");
    assert!(extra.contains("package acme.user.v2;") && extra.contains("user/v2/user.proto"));
    assert!(!folder.join("acme/user/v2alpha").exists());
    ok(folder, &["check", "--as-of", DAY]);
    ok(folder, &["release", "--check"]);
}

#[test]
fn a_clash_with_an_addition_shows_both_locations() {
    let tree = ready("");
    let folder = tree.path();
    let text = with_additions(folder);
    for (field, fault) in [
        ("int32 age = 7;", "has the number of `acme.user.v1.User.age`"),
        ("int32 nickname = 8;", "has the name of `acme.user.v1.User.nickname`"),
        ("reserved 7;", "has a number or a name that `acme.user.v1.User` reserves"),
    ] {
        put(folder, &[(USER, &OLD_FIELD.replace("= 1;\n", &format!("= 1;\n\n  {field}\n")))]);
        let told = refused(folder, &["upgrade", "--write"]);
        assert!(told.contains("error[addition-impossible]") && told.contains(fault), "{told}");
        assert!(told.contains("acme/user/v2alpha/user.proto:"), "{told}");
        assert!(told.contains("acme/user/v1/user.proto:"), "{told}");
        assert_eq!(read(folder, USER_NEXT), text);
        assert!(reported(folder).contains(&"addition-impossible".to_owned()));
    }
    put(folder, &[(USER, &OLD_FIELD.replace("message User {", "message Person {"))]);
    let told = refused(folder, &["upgrade", "--write"]);
    assert!(told.contains("is in a type that the active version does not have"), "{told}");
    assert_eq!(read(folder, USER_NEXT), text);
}

#[test]
fn a_release_that_removes_a_used_element_needs_a_conversion() {
    let old_field = OLD_FIELD.replace("Use `name`.", "The old one.");
    let tree = tree("", &[(USER, &old_field)]);
    let folder = tree.path();
    let notes = || ok(folder, &["check", "--format", "json", "--as-of", DAY]).rules();
    let said = ["deprecation-without-replacement"];
    assert_eq!(notes(), said, "without a candidate nothing is said of conversions");
    ok(folder, &["upgrade", "--write"]);
    assert!(
        notes().contains(&"conversion-missing".to_owned()),
        "nobody is surprised by the release"
    );
    let told = refused(folder, &["release", "--write", "--as-of", DAY]);
    let missing = "no conversion is known for the field `acme.user.v1.User.old`";
    assert!(told.contains("error[conversion-missing]") && told.contains(missing), "{told}");
    assert!(folder.join(USER_NEXT).exists() && told.contains("nothing was released"), "{told}");

    // What is named must have values of the same type, and stay.
    let import = "package acme.user.v1;\n\nimport \"abide/annotations/v1/lifecycle.proto\";\n";
    let with = |policy: &str| {
        old_field.replace("package acme.user.v1;\n", import).replace(
            "[deprecated = true]",
            &format!(
                "[\n    deprecated = true,\n    (abide.annotations.v1.field_policy).{policy}\n  ]"
            ),
        )
    };
    let other = with("replaced_by = \"age\"").replace("= 1;\n", "= 1;\n\n  int32 age = 3;\n");
    put(folder, &[(USER, &other)]);
    ok(folder, &["upgrade", "--write"]);
    let told = refused(folder, &["release", "--check", "--as-of", DAY]);
    assert!(told.contains("its replacement has another type"), "{told}");

    for (policy, config, translatable) in [
        ("replaced_by = \"name\"", "", true),
        ("lossy = \"nobody set it\"", "", false),
        ("deprecated_at = \"1.2\"", "upgrade.lossy = [\"acme.user.v1.User\"]\n", false),
        ("deprecated_at = \"1.2\"", "deprecation.dropped = [\"acme.user.v1.User.old\"]\n", false),
    ] {
        let tree = super::upgrade::tree(config, &[(USER, &with(policy))]);
        let folder = tree.path();
        let args = ["upgrade", "--write", "--mapping", "mapping.json"];
        ok(folder, &args);
        let mapping: serde_json::Value =
            serde_json::from_str(&read(folder, "mapping.json")).unwrap();
        let told = &mapping["deprecations"][0];
        assert_eq!(told["translatable"].as_bool().unwrap_or_default(), translatable, "{told}");
        let lossy = match (policy, config) {
            ("lossy = \"nobody set it\"", _) => Some("nobody set it"),
            (_, config) if config.contains("lossy") => Some("the configuration says so"),
            _ => None,
        };
        assert_eq!(told["lossy"].as_str(), lossy, "{told}");
        ok(folder, &["release", "--write", "--as-of", DAY]);
        assert!(folder.join("acme/user/v2/user.proto").exists(), "{policy}");
    }
    // A comment that names one replacement says as much.
    let tree = super::upgrade::tree("", &[(USER, OLD_FIELD)]);
    let folder = tree.path();
    ok(folder, &["upgrade", "--write"]);
    assert_eq!(ok(folder, &["check", "--format", "json", "--as-of", DAY]).rules(), [] as [&str; 0]);
    ok(folder, &["release", "--write", "--as-of", DAY]);
    assert!(folder.join("acme/user/v2/user.proto").exists());
}

/// A waiver with an end, and what is removed with its message.
#[test]
fn a_missing_conversion_can_be_waived() {
    let types = "\nmessage Old {\n  option deprecated = true;\n  string text = 1 [deprecated = \
                 true];\n}\n";
    let waiver = "\n[[waiver]]\nrule = \"conversion-missing\"\nelement = \"acme.shop.v1.Old\"\n\
                  reason = \"nobody has it\"\nuntil = \"2026-02-01\"\n";
    let tree = tree(waiver, &[(SHOP, &shop(types))]);
    let folder = tree.path();
    ok(folder, &["upgrade", "--write"]);
    let told = refused(folder, &["release", "--write", "--as-of", "2026-03-01"]);
    assert_eq!(told.matches("error[").count(), 1, "its field goes with the message: {told}");
    ok(folder, &["release", "--write", "--as-of", DAY]);
    assert!(!read(folder, "acme/shop/v2/shop.proto").contains("Old"));
}

#[test]
fn an_element_that_a_hand_maintained_version_drops_needs_a_conversion() {
    let old_field = OLD_FIELD.replace("Use `name`.", "The old one.");
    let next = by_hand("acme.user.v2alpha", "\nmessage User {\n  string name = 1;\n}\n");
    let tree = tree("", &[(USER, &old_field), (USER_NEXT, &next)]);
    let folder = tree.path();
    ok(folder, &["upgrade", "--mapping", "mapping.json"]);
    let mapping: serde_json::Value = serde_json::from_str(&read(folder, "mapping.json")).unwrap();
    let ty = &mapping["types"][0];
    assert_eq!(ty["new_name"], "acme.user.v2alpha.User", "{mapping}");
    assert_eq!(ty["members"][0]["new_name"], "name", "{mapping}");
    assert!(ty["members"][1].get("new_name").is_none(), "{mapping}");
    assert_eq!(mapping["deprecations"][0]["old_name"], "acme.user.v1.User.old", "{mapping}");
    assert_eq!(mapping["files"][0]["new_path"], USER_NEXT, "{mapping}");
    let told = refused(folder, &["release", "--write", "--as-of", DAY]);
    assert!(
        told.contains("acme.user.v1.User.old`: `acme.user.v2alpha` does not have it"),
        "{told}"
    );
    let config = read(folder, "abide.toml");
    put(
        folder,
        &[("abide.toml", &format!("{config}upgrade.lossy = [\"acme.user.v1.User.old\"]\n"))],
    );
    ok(folder, &["release", "--write", "--as-of", DAY]);
    assert!(read(folder, "acme/user/v2/user.proto").contains("package acme.user.v2;"));
}

/// A refactoring under the stable API versioning policy: the next major of one package is edited together with the alphas
/// that it affects, and all of them are released.
#[test]
fn a_refactoring_edits_the_next_majors_of_several_packages_and_releases_them() {
    let base = "syntax = \"proto3\";\n\npackage acme.base.v3;\n\nmessage Limit {\n  int32 count = \
                1;\n}\n";
    let route = "syntax = \"proto3\";\n\npackage acme.route.v3;\n\nimport \
                 \"acme/base/v3/base.proto\";\n\nmessage Route {\n  // Use `name`.\n  string old = 1 \
                 [deprecated = true];\n  string name = 3;\n  acme.base.v3.Limit limit = 2;\n}\n";
    let edge = "syntax = \"proto3\";\n\npackage acme.edge.v3;\n\nimport \
                \"acme/route/v3/route.proto\";\n\nmessage Edge {\n  acme.route.v3.Route route = \
                1;\n}\n";
    let calm = "syntax = \"proto3\";\n\npackage acme.calm.v3;\n\nmessage Calm {}\n";
    // People rewrite `base`; the limit of a route becomes a part of it.
    let next = by_hand(
        "acme.base.v4alpha",
        "\nmessage Limit {\n  int32 count = 1;\n  Burst burst = 2;\n}\n\nmessage Burst {\n  int32 \
         size = 1;\n}\n",
    );
    let tree = tree(
        "upgrade.lossy = [\"acme.route.v3.Route.old\"]\n",
        &[
            ("acme/base/v3/base.proto", base),
            ("acme/base/v4alpha/base.proto", &next),
            ("acme/route/v3/route.proto", route),
            ("acme/edge/v3/edge.proto", edge),
            ("acme/calm/v3/calm.proto", calm),
        ],
    );
    let folder = tree.path();
    ok(folder, &["upgrade", "--write"]);
    ok(folder, &["check", "--as-of", DAY]);
    // The affected alpha uses the new part.
    let route_next = "acme/route/v4alpha/route.proto";
    edit(
        folder,
        route_next,
        "  string name = 3;\n",
        "  string name = 3;\n  acme.base.v4alpha.Burst burst = 4 \
         [(abide.annotations.v1.field_policy).next_major_only = true];\n",
    );
    edit(
        folder,
        route_next,
        "import \"acme/base/v3/base.proto\";\n",
        "import \"abide/annotations/v1/lifecycle.proto\";\nimport \
         \"acme/base/v3/base.proto\";\nimport \"acme/base/v4alpha/base.proto\";\n",
    );
    ok(folder, &["upgrade", "--check"]);
    ok(folder, &["release", "--write", "--as-of", DAY]);
    let found = |path: &str, text: &str| {
        let whole = read(folder, path);
        assert!(whole.contains(text), "`{text}` in {path}: {whole}");
    };
    found("acme/base/v4/base.proto", "Burst burst = 2;");
    found("acme/route/v4/route.proto", "acme.base.v4.Burst burst = 4;");
    found("acme/route/v4/route.proto", "acme.base.v4.Limit limit = 2;");
    found("acme/edge/v4/edge.proto", "acme.route.v4.Route route = 1;");
    assert!(!read(folder, "acme/route/v4/route.proto").contains("v3/"), "one definition of all");
    assert!(!folder.join("acme/calm/v4").exists(), "what is not affected stays");
    for path in ["acme/base/v4alpha", "acme/route/v4alpha", "acme/edge/v4alpha"] {
        assert!(!folder.join(path).exists(), "{path}");
    }
    for (path, text) in [
        ("acme/base/v3/base.proto", base),
        ("acme/route/v3/route.proto", route),
        ("acme/calm/v3/calm.proto", calm),
    ] {
        assert_eq!(read(folder, path), text, "nobody else's file changes");
    }
    ok(folder, &["check", "--as-of", DAY]);
    ok(folder, &["upgrade", "--check"]);
    let ran = ok(folder, &["release", "--write", "--as-of", DAY]);
    assert_eq!(ran.stderr, "note: there is no candidate to release\n");
}

/// An addition goes with its candidate, so a candidate that nothing makes any more is left alone.
#[test]
fn a_stale_candidate_with_additions_is_not_deleted() {
    let tree = ready("");
    let folder = tree.path();
    let text = with_additions(folder);
    ok(folder, &["upgrade", "--check"]);
    fs::rename(folder.join(USER), folder.join("acme/user/v1/people.proto")).unwrap();
    let check = abide(folder, &["check", "--as-of", DAY]).text();
    assert!(check.contains("an upgrade leaves it alone"), "{check}");
    let told = refused(folder, &["upgrade", "--write"]);
    assert!(told.contains(&format!("error: `{USER_NEXT}` was not deleted")), "{told}");
    assert_eq!(read(folder, USER_NEXT), text);
}

/// A part of a tree says nothing about what lies outside of it.
#[test]
fn additions_are_not_judged_when_their_source_is_outside_of_the_part() {
    let tree = ready("roots = [\".\"]\n");
    let folder = tree.path();
    with_additions(folder);
    let args = ["check", "acme/user/v2alpha", "--format", "json", "--as-of", DAY, "-q"];
    assert_eq!(abide(folder, &args).rules(), [] as [&str; 0]);
}

/// Members of every kind keep their places, also where lines end as on Windows.
#[test]
fn additions_of_every_kind_keep_their_position() {
    let source = "\nmessage User {\n  string old = 1 [deprecated = true];\n  oneof contact {\n    \
                  string mail = 2;\n  }\n}\n\nenum Kind {\n  KIND_UNSPECIFIED = 0;\n}\n\nservice \
                  Users {\n  rpc Get(User) returns (User);\n}\n";
    let tree = tree(
        "upgrade.additions = [\"acme.shop.v2alpha.User.phone\", \"acme.shop.v2alpha.KIND_B\", \
         \"acme.shop.v2alpha.Users.List\", \"acme.shop.v2alpha.User.extra\"]\n",
        &[(SHOP, &shop(source).replace('\n', "\r\n"))],
    );
    let folder = tree.path();
    ok(folder, &["upgrade", "--write"]);
    for (before, addition) in [
        ("    string mail = 2;\r\n", "    // Mobile.\r\n    string phone = 9;\r\n"),
        ("  KIND_UNSPECIFIED = 0;\r\n", "  KIND_B = 1;\r\n"),
        ("  rpc Get(User) returns (User);\r\n", "\r\n  rpc List(User) returns (stream User);\r\n"),
        ("message User {\r\n", "  oneof extra { bool a = 20; }\r\n\r\n"),
    ] {
        edit(folder, SHOP_NEXT, before, &format!("{before}{addition}"));
    }
    let text = read(folder, SHOP_NEXT);
    edit(folder, SHOP, "string name = 1;", "string name = 1;\r\n  int32 size = 2;");
    ok(folder, &["upgrade", "--write"]);
    let size = "string name = 1;\r\n  int32 size = 2;";
    assert_eq!(read(folder, SHOP_NEXT), text.replace("string name = 1;", size));
    ok(folder, &["upgrade", "--check"]);
}

/// Who keeps an alpha by hand and never said so learns how to release it.
#[test]
fn a_release_explains_how_to_release_an_undeclared_alpha() {
    let user = "syntax = \"proto3\";\n\npackage acme.user.v1;\n\nmessage User {}\n";
    let next = user.replace("v1", "v2alpha");
    let far = user.replace("v1", "v4alpha");
    let files = [(USER, user), (USER_NEXT, &*next), ("acme/user/v4alpha/user.proto", &*far)];
    let tree = tree("", &files);
    let ran = ok(tree.path(), &["release", "--check", "--as-of", DAY]);
    let left = "note: `acme.user.v2alpha` is left alone: if people maintain this package, set \
                `by_hand = true` in its `file_policy`, or name it in `by-hand` of [upgrade]\n";
    assert_eq!(ran.stderr, format!("note: there is no candidate to release\n{left}"));
}
