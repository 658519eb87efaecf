//! A simulation of the calendar: for people and as JSON Lines. `page.rs` makes a page of it.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::Range;

use abide_lint::{
    DerivationStep, LifeState, LifetimeBound, MajorTrack, Simulation, Timeline, TimelineEvent,
    TimelineOf, TimelinePeriod,
};
use abide_source::printable::escape_unprintable;
use jiff::civil::Date;
use serde_json::{Map, Value, json};

use super::context::{Style, write_styled};

mod page;

pub(super) use page::render_html;

/// A simulation, with the life of one element or package if that was asked for.
pub(crate) struct SimulationReport<'a> {
    /// The simulation.
    pub(crate) simulation: &'a Simulation,
    /// The life.
    pub(crate) life: Option<&'a Timeline>,
}

impl SimulationReport<'_> {
    /// The first line: what the fleet needs.
    fn render_headline(&self) -> String {
        let Simulation { scenario, majors: (least, most), .. } = self.simulation;
        let need = match (least, most) {
            (1, 1) => "1 major".to_owned(),
            (least, most) if least == most => format!("{most} majors at once"),
            (least, most) => format!("at most {most} majors at once, and at least {least}"),
        };
        match scenario.notice {
            0 => format!("a fleet that is updated together needs {need}"),
            1 => format!("a fleet with 1 month of notice needs {need}"),
            months => format!("a fleet with {months} months of notice needs {need}"),
        }
    }

    fn lanes(&self) -> Vec<&MajorTrack> {
        self.life.map(|it| &it.lane).into_iter().chain(&self.simulation.lanes).collect()
    }

    /// The name of a lane.
    fn format_name(&self, of: &TimelineOf) -> String {
        match of {
            TimelineOf::Named(name) => escape_unprintable(name),
            TimelineOf::Major(at) => format_major(*at),
        }
    }

    /// The majors of a fleet.
    fn join_majors(&self, majors: impl Iterator<Item = i64>) -> String {
        majors.map(format_major).collect::<Vec<_>>().join(", ")
    }
}

/// A major, where vN is the newest one on the first day.
fn format_major(at: i64) -> String {
    match at {
        0 => "vN".to_owned(),
        1.. => format!("v(N+{at})"),
        _ => format!("v(N{at})"),
    }
}

/// A number of days in months of average length, with one decimal where it is not zero.
fn format_months(days: u32) -> String {
    let tenths = (u64::from(days) * 1_200_000 + 1_826_212) / 3_652_425;
    match tenths % 10 {
        0 => format!("{}", tenths / 10),
        rest => format!("{}.{rest}", tenths / 10),
    }
}

fn format_keys(step: &DerivationStep) -> String {
    if step.keys.is_empty() { String::new() } else { format!("  ({})", step.keys.join(", ")) }
}

/// The span of a bound, in months.
fn format_span(bound: &LifetimeBound) -> String {
    let (least, most) = (format_months(bound.least), format_months(bound.most));
    match (&*least, least == most) {
        ("1", true) => "1 month".to_owned(),
        (_, true) => format!("{least} months"),
        (_, false) => {
            format!("{least} to {most} months, {} on average", format_months(bound.average))
        }
    }
}

/// For people: the answer, its derivation, the bounds, the timeline.
pub(super) fn render_human(report: &SimulationReport<'_>, style: Style) -> Vec<u8> {
    let simulation = report.simulation;
    let mut text = String::new();
    write_styled(&mut text, style.color, "1", &report.render_headline());
    text.push('\n');
    for (index, step) in simulation.steps.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {}. {}{}", index + 1, step.text, format_keys(step));
    }
    for conflict in &simulation.conflicts {
        text.push_str("  ");
        write_styled(&mut text, style.color, "33;1", "but");
        let _ = writeln!(text, " {}{}", conflict.text, format_keys(conflict));
    }
    write_title(&mut text, style, "majors in the fleet, where vN is the newest on the first day");
    for fleet in &simulation.fleets {
        let _ = writeln!(
            text,
            "  from {}: {}",
            fleet.day,
            report.join_majors(fleet.majors.iter().copied())
        );
    }
    if !simulation.bounds.is_empty() {
        write_title(&mut text, style, "bounds of the policy");
        for bound in &simulation.bounds {
            let _ = writeln!(text, "  {}: {}", bound.what, format_span(bound));
            let _ =
                writeln!(text, "    {}{}", bound.derivation.text, format_keys(&bound.derivation));
        }
    }
    if let Some(life) = report.life {
        write_title(&mut text, style, &format!("life of {}", escape_unprintable(&life.name)));
        for event in &life.events {
            let _ = writeln!(
                text,
                "  {}  {}{}",
                event.day,
                escape_unprintable(&event.step.text),
                format_keys(&event.step)
            );
        }
    }
    write_title(&mut text, style, "timeline");
    text += &render_timeline(report, style.width);
    text.into_bytes()
}

fn write_title(text: &mut String, style: Style, title: &str) {
    text.push('\n');
    write_styled(text, style.color, "1", title);
    text.push('\n');
}

/// The letter that draws a state.
const fn letter(state: LifeState) -> char {
    match state {
        LifeState::Newest => '#',
        LifeState::Supported => '=',
        LifeState::Usable => '+',
        LifeState::Deprecated => 'd',
        LifeState::Warned => 'w',
        LifeState::Disallowed => 'x',
        LifeState::Served => '.',
    }
}

/// A row of letters for each lane, a letter for each month or for each quarter.
fn render_timeline(report: &SimulationReport<'_>, width: usize) -> String {
    let (from, until) = compute_extent(report);
    let lanes = report.lanes();
    let names: Vec<String> = lanes.iter().map(|it| report.format_name(&it.of)).collect();
    let column = names.iter().map(|it| it.chars().count()).max().unwrap_or(0);
    let months = month_number(until) - month_number(from) + 1;
    let room = i64::try_from(width.saturating_sub(column + 4)).unwrap_or(0);
    let step = if months <= room { 1 } else { 3 };
    let columns = (months + step - 1) / step;
    let mut text = String::new();
    let mut years = String::new();
    for at in 0..columns {
        // A year that only just ends has no room for its number.
        let is_first =
            at == 0 && (1..6).all(|next| find_january(months_of(from, step, next)).is_none());
        let january = find_january(months_of(from, step, at));
        if let Some(month) = january.or(is_first.then_some(month_number(from))) {
            let written = years.chars().count();
            years.extend(std::iter::repeat_n(' ', (at as usize).saturating_sub(written)));
            years += &(month / 12).to_string();
        }
    }
    let _ = writeln!(text, "  {:column$}  {years}", "");
    let mut drawn = BTreeSet::new();
    for (name, lane) in names.iter().zip(&lanes) {
        let row = (0..columns).map(|at| {
            let months = months_of(from, step, at);
            let state = lane.stretches.iter().rev().find(|it| {
                let (first, last) = (month_number(it.from), month_number(last_day(it)));
                first < months.end && last >= months.start
            });
            state.map_or(' ', |it| letter(it.state))
        });
        let row: String = row.collect();
        drawn.extend(row.chars());
        let _ = writeln!(text, "  {name:column$}  {}", row.trim_end());
    }
    let legend: Vec<String> = LifeState::ALL
        .iter()
        .filter(|state| drawn.contains(&letter(**state)))
        .map(|state| format!("{} {}", letter(*state), state.word()))
        .collect();
    let unit = if step == 1 { "month" } else { "quarter" };
    let _ = writeln!(text, "  each letter is a {unit}: {}", legend.join(", "));
    text
}

fn last_day(stretch: &TimelinePeriod) -> Date {
    stretch.until.yesterday().unwrap_or(Date::MIN)
}

/// The months that a column of the timeline stands for.
fn months_of(from: Date, step: i64, column: i64) -> Range<i64> {
    let first = month_number(from) + column * step;
    first..first + step
}

fn find_january(mut months: Range<i64>) -> Option<i64> {
    months.find(|month| month % 12 == 0)
}

/// A count of months since the year 0.
fn month_number(day: Date) -> i64 {
    i64::from(day.year()) * 12 + i64::from(day.month()) - 1
}

/// The first and the last day of everything that is drawn.
fn compute_extent(report: &SimulationReport<'_>) -> (Date, Date) {
    let scenario = report.simulation.scenario;
    let life = report.life.into_iter().flat_map(|it| &it.lane.stretches);
    let (mut from, mut until) = (scenario.from, scenario.until());
    for stretch in life {
        from = from.min(stretch.from);
        until = until.max(last_day(stretch));
    }
    (from, until)
}

/// JSON Lines: the simulation, its fleets, its bounds and its lanes.
pub(super) fn render_json(report: &SimulationReport<'_>, _: Style) -> Vec<u8> {
    let simulation = report.simulation;
    let scenario = simulation.scenario;
    let mut head = json!({
        "kind": "simulation",
        "from": scenario.from.to_string(),
        "until": scenario.until().to_string(),
        "notice_months": scenario.notice,
        "least_majors": simulation.majors.0,
        "most_majors": simulation.majors.1,
        "steps": build_steps(&simulation.steps),
    });
    if let Value::Object(head) = &mut head {
        head.extend(scenario.major_every.map(|it| ("major_every_months".to_owned(), it.into())));
        if !simulation.conflicts.is_empty() {
            head.insert("conflicts".to_owned(), build_steps(&simulation.conflicts).into());
        }
    }
    let mut lines = vec![head];
    lines.extend(simulation.fleets.iter().map(|fleet| {
        json!({
            "kind": "fleet",
            "from": fleet.day.to_string(),
            "majors": fleet.majors.iter().map(|it| format_major(*it)).collect::<Vec<_>>(),
            "clients": fleet.clients.iter().map(ToString::to_string).collect::<Vec<_>>(),
        })
    }));
    lines.extend(simulation.bounds.iter().map(|bound| {
        json!({
            "kind": "bound",
            "name": bound.name,
            "what": bound.what,
            "least_days": bound.least,
            "most_days": bound.most,
            "average_days": bound.average,
            "derivation": build_step(&bound.derivation),
        })
    }));
    lines.extend(report.lanes().into_iter().map(|lane| build_lane(report, lane)));
    lines.iter().map(|line| format!("{line}\n")).collect::<String>().into_bytes()
}

fn build_lane(report: &SimulationReport<'_>, lane: &MajorTrack) -> Value {
    let mut object = Map::new();
    object.insert("kind".to_owned(), "life".into());
    object.insert("name".to_owned(), report.format_name(&lane.of).into());
    let stretches: Vec<Value> = lane
        .stretches
        .iter()
        .map(|it: &TimelinePeriod| {
            json!({
                "state": it.state.word(),
                "from": it.from.to_string(),
                "until": last_day(it).to_string(),
            })
        })
        .collect();
    object.insert("stretches".to_owned(), stretches.into());
    if let Some(life) = report.life.filter(|it| std::ptr::eq(&it.lane, lane)) {
        object.insert("events".to_owned(), life.events.iter().map(build_event).collect());
    }
    Value::Object(object)
}

fn build_event(event: &TimelineEvent) -> Value {
    json!({ "day": event.day.to_string(), "step": build_step(&event.step) })
}

fn build_steps(steps: &[DerivationStep]) -> Vec<Value> {
    steps.iter().map(build_step).collect()
}

fn build_step(step: &DerivationStep) -> Value {
    let mut object = Map::from_iter([("text".to_owned(), Value::from(step.text.as_str()))]);
    if !step.keys.is_empty() {
        object.insert("keys".to_owned(), step.keys.as_slice().into());
    }
    Value::Object(object)
}
