//! The release calendar: the examples of the policy, and bounds that hold for
//! every day.

use std::sync::Arc;

use abide_lint::{
    AnnualDates, Calendar, Config, Phase, PhaseFreeze, Preset, Replacement, Status, Window,
};
use abide_schema::{FileDecl, SourceFile, Tree};
use jiff::civil::{Date, date};
use jiff::{ToSpan, Unit};

/// The policy of the preset `envoy`: clients each quarter, the API each year.
fn calendar() -> Calendar {
    Config::of_preset(Preset::Envoy).policy.calendar
}

fn clock(days: &[(i8, i8)]) -> AnnualDates {
    AnnualDates::new(days.iter().copied()).expect("each is a day of every year")
}

/// Every day of eight years, two leap years among them.
fn days() -> impl Iterator<Item = Date> {
    date(2024, 1, 1).series(1.day()).take_while(|day| day.year() < 2032)
}

fn months(since: Date, until: Date) -> i32 {
    since.until((Unit::Month, until)).expect("the days lie close together").get_months()
}

#[test]
fn clients_are_released_at_the_end_of_each_quarter() {
    let releases = calendar().client_releases;
    for (after, next, previous) in [
        (date(2026, 1, 1), date(2026, 3, 31), date(2025, 12, 31)),
        (date(2026, 3, 30), date(2026, 3, 31), date(2025, 12, 31)),
        (date(2026, 3, 31), date(2026, 6, 30), date(2026, 3, 31)),
        (date(2026, 10, 1), date(2026, 12, 31), date(2026, 9, 30)),
        (date(2026, 12, 31), date(2027, 3, 31), date(2026, 12, 31)),
    ] {
        assert_eq!(releases.next(after), Some(next), "after {after}");
        assert_eq!(releases.find_previous(after), Some(previous), "until {after}");
    }
    let count = days().filter(|day| releases.find_previous(*day) == Some(*day)).count();
    assert_eq!(count, 4 * 8);
}

#[test]
fn the_api_is_released_once_a_year_at_the_end_of_the_second_quarter() {
    let releases = calendar().api_releases;
    let on: Vec<Date> = days().filter(|day| releases.find_previous(*day) == Some(*day)).collect();
    assert_eq!(on.len(), 8);
    assert!(on.iter().all(|day| (day.month(), day.day()) == (6, 30)));
}

#[test]
fn nothing_is_released_without_a_clock_and_after_the_end_of_the_calendar() {
    let never = AnnualDates::default();
    assert!(!never.is_set());
    assert_eq!(never.next(date(2026, 1, 1)), None);
    assert_eq!(never.find_previous(date(2026, 1, 1)), None);
    let yearly = clock(&[(6, 30)]);
    assert_eq!(yearly.next(Date::MAX), None);
    assert_eq!(yearly.find_previous(Date::MIN), None);
    assert_eq!(AnnualDates::new([(2, 29)]), None);
    let eager = Calendar { alpha_max_releases: Some(u32::MAX), ..calendar() };
    assert_eq!(eager.alpha_end(date(2026, 1, 1)), None);
    assert_eq!(Calendar::default().major_window(date(2026, 1, 1)), None);
    assert_eq!(Calendar::default().phases(date(2026, 1, 1), Replacement::Equivalent), None);
}

#[test]
fn majors_rise_in_the_window_before_an_api_release_only() {
    let calendar = calendar();
    let window = Window { opens: date(2026, 5, 31), closes: date(2026, 6, 30) };
    for (day, open) in [
        (date(2026, 1, 15), false),
        (date(2026, 5, 30), false),
        (date(2026, 5, 31), true),
        (date(2026, 6, 30), true),
    ] {
        assert_eq!(calendar.major_window(day), Some(window), "on {day}");
        assert_eq!(window.contains(day), open, "on {day}");
    }
    let next = calendar.major_window(date(2026, 7, 1)).map(|it| it.closes);
    assert_eq!(next, Some(date(2027, 6, 30)));
    let short = Calendar { major_window_days: Some(1), ..calendar };
    let open = days().filter(|day| short.major_window(*day).is_some_and(|it| it.contains(*day)));
    assert_eq!(open.count(), 2 * 8);
}

/// "After release 1.5.0 all deprecations made between 1.3.0 and 1.4.0 go."
#[test]
fn what_was_deprecated_between_two_releases_goes_after_the_one_that_follows() {
    let [first, second, third] = [date(2026, 3, 31), date(2026, 6, 30), date(2026, 9, 30)];
    let calendar = calendar();
    let between = first.series(1.day()).take_while(|day| *day < second);
    for deprecated in between {
        let phases = calendar.phases(deprecated, Replacement::Equivalent).expect("it is set");
        assert_eq!(phases.warned, second, "deprecated on {deprecated}");
        assert_eq!(phases.disallowed, Some(third), "deprecated on {deprecated}");
        assert_eq!(phases.removed, Some(date(2026, 12, 31)), "deprecated on {deprecated}");
    }
}

#[test]
fn phases_follow_each_other_by_release() {
    let since = date(2026, 2, 10);
    let cases: [(Replacement, &[(Phase, Date)]); 3] = [
        (
            Replacement::Equivalent,
            &[
                (Phase::Warned, date(2026, 3, 31)),
                (Phase::Disallowed, date(2026, 6, 30)),
                (Phase::Removed, date(2026, 9, 30)),
            ],
        ),
        (
            Replacement::NoEquivalent,
            &[
                (Phase::Warned, date(2026, 3, 31)),
                (Phase::Disallowed, date(2026, 9, 30)),
                (Phase::Removed, date(2026, 12, 31)),
            ],
        ),
        (
            Replacement::Nothing,
            &[
                (Phase::Warned, date(2026, 3, 31)),
                (Phase::Disallowed, date(2027, 3, 31)),
                (Phase::Removed, date(2027, 6, 30)),
            ],
        ),
    ];
    for (replacement, expected) in cases {
        let phases = calendar().phases(since, replacement).expect("it is set");
        assert_eq!(phases.on(since), Phase::Deprecated);
        let mut day = since;
        for (phase, starts) in expected {
            assert_eq!(phases.next(day), Some((*phase, *starts)), "{replacement:?}");
            assert!(phases.on(starts.yesterday().expect("it is not the first")) < *phase);
            assert_eq!(phases.on(*starts), *phase, "{replacement:?}");
            day = *starts;
        }
        assert_eq!(phases.next(day), None);
    }
}

/// A freeze delays the release that refuses, and what follows it, and nothing else.
#[test]
fn a_freeze_holds_back_what_falls_into_it() {
    let clock = calendar().client_releases;
    let freeze = PhaseFreeze { from: Some(date(2026, 1, 1)), until: Some(date(2026, 12, 31)) };
    let open = PhaseFreeze { until: None, ..freeze };
    for since in days() {
        let plain = calendar().phases(since, Replacement::Equivalent).expect("it is set");
        assert_eq!(plain.held_back(&clock, &[]), plain);
        let held = plain.held_back(&clock, &[freeze]);
        let [was, is] = [plain.disallowed, held.disallowed].map(|it| it.expect("it ends"));
        assert_eq!(is, if freeze.contains(was) { date(2027, 3, 31) } else { was }, "{since}");
        let gone = held.removed.expect("it ends");
        assert!(is < gone && !freeze.contains(gone), "{since}");
        assert_eq!(held.last_warning.and_then(|it| clock.next(it)), Some(is), "{since}");
        assert_eq!(held.held_back(&clock, &[freeze]), held, "once is enough");
        let never = plain.held_back(&clock, &[freeze, open]);
        assert_eq!(never.disallowed, Some(was).filter(|it| !open.contains(*it)), "{since}");
    }
}

/// How long users have until what they use is refused.
#[test]
fn the_time_to_migrate_is_bounded() {
    let calendar = calendar();
    for (replacement, least, most) in [
        (Replacement::Equivalent, 3, 6),
        (Replacement::NoEquivalent, 6, 9),
        (Replacement::Nothing, 12, 15),
    ] {
        for since in days() {
            let phases = calendar.phases(since, replacement).expect("it is set");
            let disallowed = phases.disallowed.expect("nothing holds it back");
            let left = months(since, disallowed);
            assert!((least..=most).contains(&left), "{replacement:?} since {since}: {left} months");
            // Within a quarter its use warns.
            assert!(months(since, phases.warned) <= 3, "{replacement:?} since {since}");
            assert!(phases.last_warning < phases.disallowed);
            assert!(phases.disallowed < phases.removed);
        }
    }
}

/// Removal is coupled to majors, and the major before is supported for a year:
/// features live for one to two years, one and a half on average.
#[test]
fn a_deprecated_feature_lives_for_one_to_two_years() {
    let calendar = calendar();
    let (mut sum, mut count) = (0.0, 0.0);
    for since in days() {
        let end = calendar.life_end(since).expect("it is set");
        let one = since + 1.year();
        assert!(one < end && end <= since + 2.years(), "{since} to {end}");
        sum += f64::from(since.until((Unit::Day, end)).expect("it is close").get_days());
        count += 1.0;
    }
    let average = sum / count / 365.25;
    assert!((1.45..1.55).contains(&average), "{average}");
}

/// A field is deprecated in v3; the next API release brings v4 without it, the
/// one after that v5 and the end of v3.
#[test]
fn the_story_of_a_deprecated_field() {
    let (calendar, deprecated) = (calendar(), date(2026, 2, 10));
    let v4 = calendar.api_releases.next(deprecated).expect("it is set");
    let v5 = calendar.api_releases.next(v4).expect("it is set");
    assert_eq!((v4, v5), (date(2026, 6, 30), date(2027, 6, 30)));
    assert_eq!(calendar.support_end(v4), Some(v5));
    assert_eq!(calendar.life_end(deprecated), Some(v5));
}

/// How many majors somebody has to serve who supports each until it ends.
fn majors_at_once(calendar: &Calendar, day: Date) -> usize {
    let releases = std::iter::successors(calendar.api_releases.next(day - 5.years()), |release| {
        calendar.api_releases.next(*release)
    });
    // The current one, and each whose successor came not long enough ago.
    let ended = releases.take_while(|release| *release <= day);
    1 + ended.filter(|it| calendar.support_end(*it).is_some_and(|end| day <= end)).count()
}

#[test]
fn a_year_of_notice_takes_two_yearly_majors_and_more_quarterly_ones() {
    let yearly = calendar();
    let quarterly = Calendar { api_releases: yearly.client_releases.clone(), ..yearly.clone() };
    for day in days().filter(|day| yearly.api_releases.find_previous(*day) != Some(*day)) {
        assert_eq!(majors_at_once(&yearly, day), 2, "{day}");
        assert!(majors_at_once(&quarterly, day) >= 4, "{day}");
    }
}

#[test]
fn an_alpha_is_audited_at_the_earlier_limit() {
    let since = date(2025, 1, 20);
    let by_releases = calendar();
    let end = |calendar: &Calendar| calendar.alpha_end(since);
    assert_eq!(end(&by_releases), Some((date(2026, 6, 30), "2 API releases".to_owned())));
    let both = Calendar { alpha_max_months: Some(12), ..by_releases };
    assert_eq!(end(&both), Some((date(2026, 1, 20), "12 months".to_owned())));
    assert_eq!(end(&Calendar::default()), None);
}

#[test]
fn months_are_those_of_the_calendar() {
    let calendar = Calendar { previous_major_months: Some(1), ..Calendar::default() };
    assert_eq!(calendar.support_end(date(2024, 1, 31)), Some(date(2024, 2, 29)));
    let year = Calendar { previous_major_months: Some(12), ..Calendar::default() };
    assert_eq!(year.support_end(date(2024, 2, 29)), Some(date(2025, 2, 28)));
    for since in days() {
        let end = year.support_end(since).expect("it is set");
        assert!(end <= since + 366.days());
    }
}

fn tree(files: &[(&str, &str)]) -> Tree {
    let parse = |(path, text): &(&str, &str)| {
        let path: Arc<str> = (*path).into();
        let display = Arc::clone(&path);
        let text = text.as_bytes().into();
        Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported: false, text }))
    };
    let lifecycle = include_str!("../../../api/abide/annotations/v1/lifecycle.proto");
    let path: Arc<str> = "abide/annotations/v1/lifecycle.proto".into();
    let annotations = Arc::new(FileDecl::parse(SourceFile {
        display: Arc::clone(&path),
        path,
        root: 0,
        imported: true,
        text: lifecycle.as_bytes().into(),
    }));
    Tree::link(files.iter().map(parse).chain([annotations]).collect())
}

const USER: &str = r#"
syntax = "proto3";
package acme.user.v1;
import "abide/annotations/v1/lifecycle.proto";
message User {
  string a = 1 [deprecated = true, (abide.annotations.v1.field_policy).deprecated_at = "2026-02-10"];
  string b = 2 [deprecated = true, (abide.annotations.v1.field_policy).deprecated_at = "1.4"];
  string c = 3 [deprecated = true, (abide.annotations.v1.field_policy).deprecated_at = "1.5"];
  string d = 4 [deprecated = true];
  string e = 5 [deprecated = true, (abide.annotations.v1.field_policy).deprecated_at = "2024-01-01"];
}
"#;

const NEXT: &str = "syntax = \"proto3\";\npackage acme.user.v2;\nmessage User {}\n";

#[test]
fn the_status_says_what_happens_next() {
    let text = r#"
        preset = "envoy"
        [calendar]
        stable-since = { "acme.user.v2" = 2025-06-30 }
        version-dates = { "1.4" = 2025-11-05 }
        [deprecation]
        dropped = ["acme.user.v1.User.a"]
    "#;
    let policy = Config::parse(text, None).expect("it is well-formed").policy;
    let tree = tree(&[("acme/user/v1/user.proto", USER), ("acme/user/v2/user.proto", NEXT)]);
    let status = Status::of(&tree, &policy, None, date(2026, 4, 1));
    assert_eq!(status.client_release, Some(date(2026, 6, 30)));
    assert_eq!(status.api_release, Some(date(2026, 6, 30)));
    assert!(!status.major_may_rise());
    let next: Vec<String> = status
        .deprecations
        .iter()
        .filter_map(|it| {
            let (phase, day) = it.phases.next(status.as_of)?;
            Some(format!("{} {} {day}", it.element.full_name(), phase.words()))
        })
        .collect();
    assert_eq!(
        next,
        [
            "acme.user.v1.User.b removed 2026-06-30",
            "acme.user.v1.User.a disallowed by default 2027-03-31",
        ]
    );
    let last = status.deprecations.last().map(|it| it.element.full_name());
    assert_eq!(last.as_deref(), Some("acme.user.v1.User.e"), "it is past its removal, and served");
    let ends: Vec<Option<Date>> = status.deprecations.iter().map(|it| it.served_until).collect();
    assert_eq!(ends, [Some(date(2026, 6, 30)); 3], "their package ends before the next major");
    let after = Status::of(&tree, &policy, None, date(2026, 7, 1));
    assert!(after.deprecations.is_empty(), "nobody serves them any more");
    let [retirement] = status.retirements[..] else { panic!("{:?}", status.retirements) };
    assert_eq!(retirement.package.name(), "acme.user.v1");
    assert_eq!(retirement.successor.name(), "acme.user.v2");
    assert_eq!(retirement.end, date(2026, 6, 30));

    assert!(Status::of(&tree, &policy, None, date(2026, 6, 30)).major_may_rise());
    let standard = Config::of_preset(Preset::Standard).policy;
    let silent = Status::of(&tree, &standard, None, date(2026, 4, 1));
    assert!(silent.major_may_rise() && !silent.is_configured() && status.is_configured());
    assert!(silent.deprecations.is_empty() && silent.retirements.is_empty());
    assert_eq!((silent.client_release, silent.api_release), (None, None));
}
