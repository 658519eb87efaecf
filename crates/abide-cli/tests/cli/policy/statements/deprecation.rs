//! The story of a deprecated field, over two releases of the API: every phase, the freeze of its
//! package and the end of support. Only commands run and protos are edited; after each step a check
//! is clean or says what is next.

use std::fs;

use super::world::{USER, World, file};
use crate::breaking::{commit, git};

/// The calendar of the preset `envoy`, for the other one.
const CALENDAR: &str = "\
[calendar]
client-releases = [\"03-31\", \"06-30\", \"09-30\", \"12-31\"]
api-releases = [\"06-30\"]
major-window-days = 30
previous-major-months = 12
";

const SECOND: &str = "envoy/user/v4/user.proto";

/// A tree on one day, compared with its last release.
struct Day<'w> {
    world: &'w World,
    day: &'static str,
    since: &'static str,
}

impl Day<'_> {
    /// What a check reports that is more than a note.
    fn reports(&self) -> Vec<String> {
        let since = format!("git:{}", self.since);
        let args = ["check", "--format", "json", "--as-of", self.day, "--against", &since];
        let lines = self.world.run(&args).json();
        let loud = lines.iter().filter(|it| it["kind"] == "finding" && it["severity"] != "note");
        loud.filter_map(|it| it["rule"].as_str().map(str::to_owned)).collect()
    }

    /// Makes the candidates and records the versions; then nothing is left to report.
    fn settle(&self) {
        let since = format!("git:{}", self.since);
        self.world.ok(&["upgrade", "--write", "--as-of", self.day]);
        self.world.ok(&["bump", "--write", "--as-of", self.day, "--against", &since]);
        self.is_clean();
    }

    fn is_clean(&self) {
        let since = format!("git:{}", self.since);
        assert_eq!(self.reports(), [""; 0], "{} on {}", self.world, self.day);
        self.world.ok(&["upgrade", "--check", "--as-of", self.day]);
        self.world.ok(&["bump", "--check", "--as-of", self.day, "--against", &since]);
    }

    fn tag(&self, name: &str) {
        commit(self.world.path());
        git(self.world.path(), &["tag", name]);
    }

    /// What the calendar says in words.
    fn calendar(&self) -> String {
        self.world.ok(&["bump", "--as-of", self.day]).text()
    }

    fn release(&self) {
        self.world.ok(&["release", "--write", "--as-of", self.day]);
        // In the lock, the release recorded the version of what is stable now.
        let asked: &[&str] = if self.world.place == "lock" { &[] } else { &["version-not-bumped"] };
        assert_eq!(self.reports(), asked, "{}", self.world);
        self.settle();
    }
}

/// Marks a field as deprecated on a day.
fn deprecate(world: &World, path: &str, field: &str, day: &str, next: &str) {
    let policy = "(abide.annotations.v1.field_policy)";
    let marks = format!(
        "{field} [\n    deprecated = true,\n    {policy}.deprecated_at = \"{day}\",\n    \
         {policy}.replaced_by = \"{next}\"\n  ];"
    );
    world.edit(path, &format!("{field};"), &marks);
}

#[test]
fn a_deprecated_field_is_followed_over_two_releases() {
    let user = "import \"abide/annotations/v1/lifecycle.proto\";\n\nmessage User {\n  string name = \
                1;\n  string label = 2;\n}\n";
    World::each_with(CALENDAR, &[(USER, file("envoy.user.v3", user))], |world| {
        let on = |day, since| Day { world, day, since };
        world.ok(&["bump", "--write", "--as-of", "2025-06-15"]);
        on("2025-06-15", "").tag("r1");

        let today = on("2026-02-10", "r1");
        deprecate(world, USER, "string name = 1", today.day, "label");
        assert_eq!(today.reports(), ["version-not-bumped"], "{world}");
        today.settle();
        today.tag("r2");
        for (day, words) in [
            ("2026-02-10", "User.name: warned about from 2026-03-31"),
            ("2026-04-01", "User.name: disallowed by default from 2026-06-30"),
        ] {
            on(day, "r2").is_clean();
            let calendar = on(day, "r2").calendar();
            assert!(calendar.contains(words), "{world} on {day}: {calendar}");
        }
        let early = world.run(&["release", "--write", "--as-of", "2026-04-01"]);
        assert_eq!(early.status, 1, "{world}");
        assert!(early.stderr.contains("from 2026-05-31 to"), "{world}: {}", early.stderr);

        let today = on("2026-06-15", "r2");
        today.release();
        today.tag("r3");
        // The first major is frozen: it keeps the field as it is, whatever the phase.
        let today = on("2026-10-02", "r3");
        today.is_clean();
        // Only `envoy` allows removals within a major.
        let phase = match world.preset {
            "envoy" => "User.name: due for removal since 2026-09-30",
            _ => "User.name: disallowed by default, removed in envoy.user.v4",
        };
        for words in
            ["envoy.user.v3 is supported until 2027-06-15", phase, "served until 2027-06-15"]
        {
            assert!(today.calendar().contains(words), "{world}: {}", today.calendar());
        }
        let frozen = world.read(USER);
        world.edit(USER, "string label = 2;", "string label = 2;\n  string late = 3;");
        let found = today.reports();
        assert!(found.contains(&"frozen-package-changed".to_owned()), "{world}: {found:?}");
        world.put(USER, &frozen);

        let today = on("2026-11-10", "r3");
        world.edit(SECOND, "string label = 2;", "string label = 2;\n  string title = 3;");
        deprecate(world, SECOND, "string label = 2", today.day, "title");
        today.settle();
        today.tag("r4");
        let today = on("2027-04-01", "r4");
        assert_eq!(today.reports(), ["deprecated-not-disallowed"], "{world}");
        let refused = "deprecated = true,\n    \
                       (abide.annotations.v1.field_policy).disallowed_by_default = true,";
        world.edit(SECOND, "deprecated = true,", refused);
        today.settle();
        today.tag("r5");

        let today = on("2027-06-10", "r5");
        today.release();
        assert!(!world.read("envoy/user/v5/user.proto").contains("string label"), "{world}");
        today.tag("r6");
        // What is past its support goes, and breaks nobody any more.
        for (day, since, gone, next) in [
            ("2027-06-16", "r6", "envoy/user/v3", "r7"),
            ("2028-06-11", "r7", "envoy/user/v4", "r8"),
        ] {
            let today = on(day, since);
            assert_eq!(today.reports(), ["major-past-support"], "{world} on {day}");
            fs::remove_dir_all(world.path().join(gone)).unwrap();
            today.settle();
            today.tag(next);
        }
        assert!(!on("2028-06-11", "r8").calendar().contains("User.label"), "{world}");
    });
}
