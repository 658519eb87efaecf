//! What the calendar of the preset `envoy` says about deprecated elements and majors.

use super::world::{USER, World, file};

/// The phases of the fields below; a feature is deprecated on the tenth of February.
const PEOPLE: &str = "\
import \"abide/annotations/v1/lifecycle.proto\";

message User {
  string name = 1;
  int32 age = 2 [
    deprecated = true,
    (abide.annotations.v1.field_policy).deprecated_at = \"2026-02-10\",
    (abide.annotations.v1.field_policy).replaced_by = \"name\"
  ];
  int32 nick = 3 [
    deprecated = true,
    (abide.annotations.v1.field_policy).deprecated_at = \"2026-02-10\"
  ];
  int32 motto = 4 [
    deprecated = true,
    (abide.annotations.v1.field_policy).deprecated_at = \"2026-02-10\"
  ];
}
";

const CLASSES: &str = "\
[deprecation]
without-equivalent = [\"envoy.user.v3.User.nick\"]
dropped = [\"envoy.user.v3.User.motto\"]
";

/// The tree of these fields under the preset that has a calendar.
fn calendar(judge: impl Fn(&World)) {
    World::each_with(CLASSES, &[(USER, file("envoy.user.v3", PEOPLE))], |world| {
        if world.preset == "envoy" {
            judge(world);
        }
    });
}

/// What the calendar says on a day.
fn on(world: &World, day: &str) -> serde_json::Value {
    let lines = world.ok(&["bump", "--format", "json", "--as-of", day]).json();
    lines.into_iter().find(|it| it["kind"] == "calendar").unwrap()
}

/// The phase that a field enters next, and when.
fn next(world: &World, day: &str, field: &str) -> (String, String) {
    let calendar = on(world, day);
    let all = calendar["deprecations"].as_array().unwrap();
    let name = format!("envoy.user.v3.User.{field}");
    let found = all.iter().find(|it| it["element"] == name.as_str());
    let found = found.unwrap_or_else(|| panic!("{field} on {day}: {calendar}"));
    let word = |key: &str| found[key].as_str().unwrap_or_default().to_owned();
    (word("next_phase"), word("next_on"))
}

fn pair(phase: &str, day: &str) -> (String, String) {
    (phase.to_owned(), day.to_owned())
}

#[test]
fn the_third_release_after_a_deprecation_removes_the_element() {
    calendar(|world| {
        for (day, phase, starts) in [
            ("2026-02-11", "warned", "2026-03-31"),
            ("2026-04-01", "disallowed", "2026-06-30"),
            ("2026-07-01", "removed", "2026-09-30"),
        ] {
            assert_eq!(next(world, day, "age"), pair(phase, starts), "{world}");
        }
    });
}

#[test]
fn a_deprecated_element_is_refused_three_to_six_months_later() {
    calendar(|world| {
        // From the first warning: deprecated a day after a release, and a day before the next.
        for (since, refused) in [("2026-01-01", "2026-06-30"), ("2026-03-30", "2026-06-30")] {
            let text = world.read(USER);
            world.put(USER, &text.replace("2026-02-10", since));
            assert_eq!(next(world, "2026-04-01", "age"), pair("disallowed", refused), "{world}");
            world.put(USER, &text);
        }
    });
}

#[test]
fn elements_without_equivalent_are_warned_about_for_two_releases() {
    calendar(|world| {
        assert_eq!(next(world, "2026-04-01", "nick"), pair("disallowed", "2026-09-30"));
        assert_eq!(next(world, "2026-10-01", "nick"), pair("removed", "2026-12-31"));
    });
}

#[test]
fn elements_without_replacement_are_warned_about_for_a_year() {
    calendar(|world| {
        assert_eq!(next(world, "2026-04-01", "motto"), pair("disallowed", "2027-03-31"));
        assert_eq!(next(world, "2027-04-01", "motto"), pair("removed", "2027-06-30"));
    });
}

#[test]
fn clients_of_the_policy_are_released_each_quarter() {
    calendar(|world| {
        for (day, release) in [
            ("2026-01-01", "2026-03-31"),
            ("2026-04-01", "2026-06-30"),
            ("2026-09-29", "2026-09-30"),
            ("2026-10-01", "2026-12-31"),
        ] {
            assert_eq!(on(world, day)["client_release"], release, "{world}");
        }
    });
}

#[test]
fn the_api_is_released_once_a_year() {
    calendar(|world| {
        for (day, release, may_rise) in [
            ("2026-01-01", "2026-06-30", false),
            ("2026-06-15", "2026-06-30", true),
            ("2026-07-01", "2027-06-30", false),
        ] {
            let calendar = on(world, day);
            assert_eq!(calendar["api_release"], release, "{world}");
            assert_eq!(calendar["major_may_rise"], may_rise, "{world} on {day}");
        }
    });
}

#[test]
fn a_deprecated_feature_is_served_for_one_to_two_years() {
    calendar(|world| {
        let text = world.read(USER);
        for (since, until) in [("2026-06-29", "2027-06-30"), ("2026-07-01", "2028-06-30")] {
            world.put(USER, &text.replace("2026-02-10", since));
            let calendar = on(world, since);
            for found in calendar["deprecations"].as_array().unwrap() {
                assert_eq!(found["served_until"], until, "{world}: since {since}");
            }
            assert_eq!(calendar["deprecations"].as_array().unwrap().len(), 3, "{world}");
        }
    });
}
