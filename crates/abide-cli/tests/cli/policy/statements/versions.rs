//! Versions and hashes: what raises them, what does not, and where they are written.

use std::fs;

use super::world::{BASE, CALM, IN_WINDOW, USER, World, file};
use crate::run::{abide, repository};

const NONE: [&str; 0] = [];
const RELEASE: [&str; 2] = ["--against", "git:r1"];
const RECORD: [&str; 6] = ["bump", "--write", "--as-of", IN_WINDOW, "--against", "git:r1"];

/// What `abide bump` gives a package since the release.
fn version(world: &World, package: &str) -> String {
    world.planned(package, "git:r1")["to"].as_str().unwrap_or_default().to_owned()
}

/// The own hash and the closure hash of a package.
fn hashes(world: &World, package: &str) -> [String; 2] {
    let lines = world.ok(&["hash", "--format", "json"]).json();
    let line = lines.iter().find(|it| it["kind"] == "package" && it["name"] == package).unwrap();
    ["own", "closure"].map(|it| line[it].as_str().unwrap().to_owned())
}

#[test]
fn each_package_has_its_own_version() {
    World::released(|world| {
        world.edit(CALM, "mood = 1;", "mood = 1;\n  string tone = 2;");
        let versions = ["calm", "base", "user"].map(|it| version(world, &format!("envoy.{it}.v3")));
        assert_eq!(versions, ["3.1.0", "3.0.0", "3.0.0"], "{world}");
    });
}

#[test]
fn majors_of_packages_are_independent() {
    let files = [
        ("envoy/a/v1/a.proto", file("envoy.a.v1", "message A {}\n")),
        ("envoy/b/v7/b.proto", file("envoy.b.v7", "message B {}\n")),
    ];
    World::each(&files, |world| {
        assert_eq!(world.errors(&[]), NONE, "{world}: no version of the whole tree");
        let text = world.ok(&["bump", "--as-of", IN_WINDOW]).text();
        assert!(text.contains("envoy.a.v1 1.0.0") && text.contains("envoy.b.v7 7.0.0"), "{text}");
    });
    let help = World::help();
    let options: Vec<&str> = help.split_whitespace().collect();
    assert!(options.contains(&"--major-every"), "an interval is no version");
    for word in ["--api-version", "--major", "--xds-version"] {
        assert!(!options.contains(&word), "{word} would be a version of the whole tree");
    }
}

#[test]
fn a_minor_version_is_recorded_and_not_part_of_the_name() {
    World::released(|world| {
        world.edit(CALM, "mood = 1;", "mood = 1;\n  string tone = 2;");
        world.ok(&RECORD);
        let place = if world.place == "lock" { "abide.lock" } else { CALM };
        assert!(world.read(place).contains("3.1.0"), "{world}: {}", world.read(place));
        assert!(world.read(CALM).contains("package envoy.calm.v3;"), "{world}");
        assert_eq!(world.errors(&RELEASE), NONE, "{world}");
    });
}

#[test]
fn generated_code_can_read_the_version() {
    World::released(|world| {
        if world.place == "lock" {
            return;
        }
        world.ok(&["build", "-o", "set.json"]);
        let set = world.read("set.json");
        let version = "\"[abide.annotations.v1.file_policy]\"";
        assert!(set.contains(version) && set.contains("3.0.0"), "an option of the file: {set}");
        assert!(set.contains("abide1:sha256:"), "with the hash beside it: {set}");
    });
}

#[test]
fn a_new_major_appears_only_before_an_api_release() {
    let next = [("envoy/calm/v4/calm.proto", "envoy.calm.v4")];
    for (day, is_refused) in [("2026-03-01", true), (IN_WINDOW, false), ("2026-07-01", true)] {
        World::released(|world| {
            for (path, package) in next {
                world.put(path, &file(package, "message Calm {}\n"));
            }
            let is_yearly = world.preset == "envoy";
            let args = ["bump", "--check", "--as-of", day, RELEASE[0], RELEASE[1]];
            let text = world.run(&args).text();
            let refused = text.contains("2026-06-30") || text.contains("2027-06-30");
            assert!(!is_yearly || refused, "{world}: the calendar names the day: {text}");
            let args = ["check", "--format", "json", "--as-of", day, RELEASE[0], RELEASE[1]];
            let rules = world.run(&args).rules();
            let is_early = rules.contains(&"major-outside-window".to_owned());
            assert_eq!(is_early, is_refused && is_yearly, "{world} on {day}: {rules:?}");
        });
    }
}

#[test]
fn only_packages_with_breaks_get_a_new_major() {
    World::released(|world| {
        world.edit(CALM, "mood = 1;", "mood = 1 [deprecated = true];");
        world.ok(&["upgrade", "--write"]);
        assert!(world.has("envoy/calm/v4alpha/calm.proto"), "{world}");
        assert!(!world.has("envoy/user/v4alpha") && !world.has("envoy/base/v4alpha"), "{world}");
    });
}

#[test]
fn a_release_window_forces_no_release() {
    World::released(|world| {
        let before = [USER, BASE, CALM, "abide.lock"].map(|it| world.read(it));
        let args = ["release", "--write", "--as-of", IN_WINDOW];
        let ran = world.ok(&args);
        assert_eq!(ran.stderr, "note: there is no candidate to release\n", "{world}");
        world.ok(&["upgrade", "--write"]);
        world.ok(&RECORD);
        assert_eq!([USER, BASE, CALM, "abide.lock"].map(|it| world.read(it)), before, "{world}");
        assert_eq!(world.errors(&RELEASE), NONE, "{world}");
    });
}

#[test]
fn a_new_field_needs_a_minor_bump() {
    World::released(|world| {
        world.edit(CALM, "mood = 1;", "mood = 1;\n  string tone = 2;");
        assert_eq!(world.errors(&RELEASE), ["version-not-bumped"], "{world}");
        assert_eq!(world.errors(&[]), ["version-not-bumped"], "{world}: also without a baseline");
        world.ok(&RECORD);
        assert_eq!(world.errors(&RELEASE), NONE, "{world}");
    });
}

#[test]
fn a_bump_leaves_unaffected_packages_alone() {
    World::released(|world| {
        world.edit(BASE, "text = 1;", "text = 1;\n  string kind = 2;");
        let calm = world.read(CALM);
        let line = |world: &World| {
            let lock = world.read("abide.lock");
            lock.lines().filter(|it| it.contains("envoy.calm")).collect::<Vec<_>>().join("\n")
        };
        let before = line(world);
        world.ok(&RECORD);
        assert_eq!((world.read(CALM), line(world)), (calm, before), "{world}");
        assert_eq!(version(world, "envoy.base.v3"), "3.1.0", "{world}");
        assert_eq!(version(world, "envoy.calm.v3"), "3.0.0", "{world}");
    });
}

#[test]
fn a_file_carries_its_version_and_hash() {
    World::released(|world| {
        let text = world.read(CALM);
        let has_option = text.contains("file_policy).version = \"3.0.0\"")
            && text.contains("file_policy).hash = \"abide1:sha256:");
        assert_eq!(has_option, world.place == "option", "{world}: {text}");
        // Removed by hand, it is missed.
        let lines = text.lines().filter(|it| !it.contains("file_policy).version"));
        let without: Vec<&str> = lines.collect();
        if has_option {
            world.put(CALM, &(without.join("\n") + "\n"));
            assert_eq!(world.errors(&RELEASE), ["version-not-bumped"], "{world}");
        }
    });
}

#[test]
fn the_hash_ignores_comments_and_formatting() {
    World::released(|world| {
        let before = hashes(world, "envoy.calm.v3");
        for (from, to) in [
            ("message Calm", "// A comment.\n\n\nmessage   Calm"),
            ("string mood = 1;", "string\n    mood = 0x1; // The mood."),
        ] {
            world.edit(CALM, from, to);
            assert_eq!(hashes(world, "envoy.calm.v3"), before, "{world}: {to}");
        }
        assert_eq!(world.errors(&RELEASE), NONE, "{world}");
        world.edit(CALM, "mood = 0x1", "mood = 0x2");
        assert_ne!(hashes(world, "envoy.calm.v3"), before, "{world}");
    });
}

#[test]
fn a_changed_hash_needs_a_bump() {
    World::released(|world| {
        world.edit(CALM, "mood = 1;", "mood = 1;\n  string tone = 2;");
        let check = ["bump", "--check", "--as-of", IN_WINDOW, RELEASE[0], RELEASE[1]];
        assert_eq!(world.run(&check).status, 1, "{world}");
        world.ok(&RECORD);
        world.ok(&check);
        world.ok(&["bump", "--check", "--as-of", IN_WINDOW]);
    });
}

#[test]
fn one_command_checks_and_fixes_versions() {
    World::released(|world| {
        world.edit(CALM, "mood = 1;", "mood = 1;\n  string tone = 2;");
        let files = |world: &World| [USER, BASE, CALM, "abide.lock"].map(|it| world.read(it));
        let before = files(world);
        let args = ["bump", "--diff", "--as-of", IN_WINDOW, RELEASE[0], RELEASE[1]];
        let patch = world.run(&args).text();
        assert_eq!(files(world), before, "{world}: `--diff` writes nothing");
        assert!(patch.contains("\n+") && patch.contains("3.1.0"), "{world}: {patch}");
        world.ok(&RECORD);
        let after = files(world);
        assert_ne!(after, before, "{world}");
        world.ok(&RECORD);
        assert_eq!(files(world), after, "{world}: again is no change");
        assert_eq!(world.run(&args).text(), "", "{world}: nothing is left to write");
    });
}

#[test]
fn dependents_of_a_changed_type_get_a_minor_bump() {
    World::released(|world| {
        let before = hashes(world, "envoy.user.v3");
        world.edit(BASE, "text = 1;", "text = 1;\n  string kind = 2;");
        let after = hashes(world, "envoy.user.v3");
        assert_eq!(after[0], before[0], "{world}: itself is the same");
        assert_ne!(after[1], before[1], "{world}: what it reaches is not");
        let versions = ["base", "user", "calm"].map(|it| version(world, &format!("envoy.{it}.v3")));
        assert_eq!(versions, ["3.1.0", "3.1.0", "3.0.0"], "{world}");
    });
}

#[test]
fn the_hash_matches_recorded_vectors() {
    let vectors = repository().join("testdata/hash");
    let mut seen = 0;
    for entry in fs::read_dir(&vectors).unwrap() {
        let tree = entry.unwrap().path();
        if !tree.is_dir() {
            continue;
        }
        let expected = fs::read_to_string(tree.with_extension("json")).unwrap();
        let ran = abide(&tree, &["hash", "--format", "json"]);
        assert_eq!(ran.text(), expected, "{}", tree.display());
        seen += 1;
    }
    assert!(seen >= 10, "{seen} vectors");
}

#[test]
fn a_version_is_three_32_bit_numbers() {
    World::released(|world| {
        if world.place == "lock" {
            return;
        }
        let text = world.read(CALM);
        for (version, is_one) in
            [("3.1.0", true), ("3.1", false), ("v3.1.0", false), ("3.4294967296.0", false)]
        {
            world.edit(CALM, "version = \"3.0.0\"", &format!("version = \"{version}\""));
            let errors = world.errors(&[]);
            assert_eq!(errors.is_empty(), is_one, "{world}: {version}: {errors:?}");
            world.put(CALM, &text);
        }
    });
}
