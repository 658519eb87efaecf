//! From one major to the next: candidates and releases.

use super::world::{BASE, CALM, HTTP, IN_WINDOW, USER, World, file, listeners};

const NONE: [&str; 0] = [];
const RELEASE: [&str; 2] = ["--against", "git:r1"];
const RECORD: [&str; 6] = ["bump", "--write", "--as-of", IN_WINDOW, "--against", "git:r1"];
const PUBLISH: [&str; 4] = ["release", "--write", "--as-of", IN_WINDOW];

/// A field of `CALM` that is deprecated in favour of another one.
const OLD: &str = "mood = 1 [\n    deprecated = true,\n    \
                   (abide.annotations.v1.field_policy).deprecated_at = \"2026-05-01\",\n    \
                   (abide.annotations.v1.field_policy).replaced_by = \"tone\"\n  ];\n  string tone = 2;";
const CANDIDATE: &str = "envoy/calm/v4alpha/calm.proto";
const RELEASED: &str = "envoy/calm/v4/calm.proto";

fn deprecate(world: &World) {
    let lifecycle = "import \"abide/annotations/v1/lifecycle.proto\";\n\nmessage Calm";
    world.edit(CALM, "message Calm", lifecycle);
    world.edit(CALM, "mood = 1;", OLD);
}

/// A deprecated field, its candidate and their versions.
fn upgraded(judge: impl Fn(&World)) {
    World::released(|world| {
        deprecate(world);
        world.ok(&["upgrade", "--write"]);
        world.ok(&RECORD);
        judge(world);
    });
}

#[test]
fn a_package_may_move_to_another_root() {
    let policy =
        "option (abide.annotations.v1.file_policy).move_to_package = \"udpa.calm.v4alpha\"";
    World::released(|world| {
        world.edit(CALM, "message Calm", &format!("{policy};\n\nmessage Calm"));
        world.ok(&["upgrade", "--write"]);
        let moved = world.read("udpa/calm/v4alpha/calm.proto");
        assert!(moved.contains("package udpa.calm.v4alpha;"), "{world}: {moved}");
        assert!(moved.contains("previous_type = \"envoy.calm.v3.Calm\""), "{world}: {moved}");
        world.ok(&RECORD);
        // The old root stays usable meanwhile.
        assert_eq!(world.errors(&RELEASE), NONE, "{world}");
    });
}

#[test]
fn the_path_of_a_service_changes_with_its_package() {
    let rls = "message RateLimitRequest {\n  string domain = 1;\n  string old = 2 [deprecated = \
               true];\n}\n\nmessage RateLimitResponse {}\n\nservice RateLimitService {\n  rpc \
               ShouldRateLimit(RateLimitRequest) returns (RateLimitResponse);\n}\n";
    let path = "envoy/service/ratelimit/v2/rls.proto";
    World::each(&[(path, file("envoy.service.ratelimit.v2", rls))], |world| {
        world.ok(&["upgrade", "--write"]);
        // Envoy's own tools went from v2 to v3 without an alpha.
        let next = if world.preset == "envoy" { "v3" } else { "v3alpha" };
        let text = world.read(&path.replace("v2", next));
        assert!(text.contains(&format!("package envoy.service.ratelimit.{next};")), "{text}");
        assert!(text.contains("service RateLimitService {\n  rpc ShouldRateLimit("), "{text}");
        assert!(world.read(path).contains("package envoy.service.ratelimit.v2;"), "{world}");
    });
}

#[test]
fn an_upgrade_rewrites_every_http_route() {
    let routes = ["/v2/discovery:listeners", "/v2/listeners"];
    let files = [
        (HTTP.0, HTTP.1.to_owned()),
        ("envoy/lds/v2/lds.proto", listeners("envoy.lds.v2", routes)),
    ];
    World::each(&files, |world| {
        world.ok(&["upgrade", "--write"]);
        let next = if world.preset == "envoy" { "v3" } else { "v3alpha" };
        let text = world.read(&format!("envoy/lds/{next}/lds.proto"));
        for route in ["discovery:listeners", "listeners"] {
            assert!(text.contains(&format!("post: \"/{next}/{route}\"")), "{world}: {text}");
        }
    });
}

#[test]
fn breaking_changes_wait_in_the_next_alpha() {
    upgraded(|world| {
        let next = world.read(CANDIDATE);
        assert!(next.contains("package envoy.calm.v4alpha;"), "{world}: {next}");
        assert!(!next.contains("string mood") && next.contains("reserved 1;"), "{world}: {next}");
        assert!(world.read(CALM).contains("string mood = 1"), "{world}: stable keeps it");
        assert_eq!(world.errors(&RELEASE), NONE, "{world}");
    });
}

#[test]
fn a_release_promotes_each_changed_alpha_once() {
    upgraded(|world| {
        world.ok(&PUBLISH);
        assert!(world.has(RELEASED) && !world.has(CANDIDATE), "{world}");
        assert!(!world.has("envoy/user/v4") && !world.has("envoy/base/v4"), "{world}");
        let before = [CALM, RELEASED, USER, BASE, "abide.lock"].map(|it| world.read(it));
        world.ok(&PUBLISH);
        let after = [CALM, RELEASED, USER, BASE, "abide.lock"].map(|it| world.read(it));
        assert_eq!(after, before, "{world}: a second run");
        assert!(!world.has("envoy/calm/v5"), "{world}");
    });
}

#[test]
fn a_candidate_is_generated_only_for_a_break() {
    World::released(|world| {
        world.edit(CALM, "mood = 1;", "mood = 1;\n  string tone = 2;");
        world.ok(&["upgrade", "--write"]);
        assert!(!world.has(CANDIDATE), "{world}: an addition needs no major");
        world.ok(&["upgrade", "--check"]);
    });
}

#[test]
fn only_dependents_of_an_upgraded_package_are_upgraded_too() {
    World::released(|world| {
        world.edit(BASE, "text = 1;", "text = 1;\n  string old = 2 [deprecated = true];");
        world.ok(&["upgrade", "--write"]);
        let user = world.read("envoy/user/v4alpha/user.proto");
        assert!(user.contains("envoy.base.v4alpha.Id id = 5;"), "{world}: {user}");
        assert!(!world.has("envoy/calm/v4alpha"), "{world}");
    });
}

#[test]
fn an_upgrade_touches_only_packages_with_breaks() {
    upgraded(|world| {
        world.tag("r2", &RELEASE);
        let before = [USER, BASE].map(|it| world.read(it));
        world.ok(&PUBLISH);
        assert_eq!([USER, BASE].map(|it| world.read(it)), before, "{world}");
    });
    World::released(|world| {
        world.edit(CALM, "message Calm {", "// Kept.\nmessage Calm { // And this.");
        world.edit(
            CALM,
            "string mood = 1;",
            "string  mood=1 [deprecated = true];\n  int32  odd   =  7;",
        );
        world.ok(&["upgrade", "--write"]);
        let next = world.read(CANDIDATE);
        for kept in ["// Kept.\nmessage Calm { // And this.", "int32  odd   =  7;"] {
            assert!(next.contains(kept), "{world}: {next}");
        }
    });
}

#[test]
fn a_candidate_appears_when_it_is_first_needed() {
    World::released(|world| {
        // A day of the calendar makes none; what breaks makes one on any day.
        world.ok(&["upgrade", "--write", "--as-of", "2026-06-30"]);
        assert!(!world.has(CANDIDATE), "{world}");
        deprecate(world);
        world.ok(&["upgrade", "--write", "--as-of", "2026-03-01"]);
        assert!(world.has(CANDIDATE), "{world}");
    });
    // Who wants one for a package at all times says so.
    let always = "[upgrade]\nalways = [\"envoy.calm.v3\"]\n";
    let files = [(CALM, file("envoy.calm.v3", "message Calm {}\n"))];
    World::each_with(always, &files, |world| {
        world.ok(&["upgrade", "--write"]);
        assert!(world.has(CANDIDATE), "{world}");
    });
}

#[test]
fn a_deprecated_field_is_dropped_from_the_alpha() {
    upgraded(|world| {
        let (stable, next) = (world.read(CALM), world.read(CANDIDATE));
        assert!(stable.contains("string mood = 1 [\n    deprecated = true,"), "{world}: {stable}");
        assert!(!next.contains("string mood"), "{world}: {next}");
        assert!(next.contains("reserved \"mood\";"), "{world}: {next}");
    });
}

#[test]
fn after_a_release_only_the_old_major_has_the_deprecated_field() {
    upgraded(|world| {
        world.tag("r2", &RELEASE);
        world.ok(&PUBLISH);
        world.ok(&["bump", "--write", "--as-of", IN_WINDOW, "--against", "git:r2"]);
        assert!(world.read(CALM).contains("string mood = 1 [\n    deprecated = true,"), "{world}");
        let next = world.read(RELEASED);
        assert!(next.contains("package envoy.calm.v4;"), "{world}: {next}");
        assert!(!next.contains("string mood"), "{world}: {next}");
        assert_eq!(world.errors(&["--against", "git:r2"]), NONE, "{world}: both are supported");
    });
}

#[test]
fn a_candidate_follows_changes_of_the_stable_version() {
    upgraded(|world| {
        world.edit(CALM, "tone = 2;", "tone = 2;\n  string pulse = 3;");
        world.ok(&RECORD);
        assert_eq!(world.errors(&RELEASE), ["candidate-edited"], "{world}: it is out of date");
        world.ok(&["upgrade", "--write"]);
        world.ok(&RECORD);
        assert!(world.read(CANDIDATE).contains("string pulse = 3;"), "{world}");
        assert_eq!(world.errors(&RELEASE), NONE, "{world}");
        world.edit(CANDIDATE, "string pulse = 3;", "string pulse = 3;\n  string mine = 4;");
        let errors = world.errors(&RELEASE);
        assert!(errors.contains(&"candidate-edited".to_owned()), "{world}: {errors:?}");
    });
}
