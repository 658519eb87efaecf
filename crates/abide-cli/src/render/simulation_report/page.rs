//! Renders a simulation as one self-contained HTML page without a script.

use std::fmt::Write;

use abide_lint::{DerivationStep, TimelinePeriod};
use abide_source::printable::escape_unprintable;
use jiff::civil::Date;

use super::{SimulationReport, compute_extent, format_span, last_day};
use crate::render::context::Style;
use crate::render::markup::{HtmlPage, escape};

const BODY: &str = include_str!("body.html");
const STYLE: &str = include_str!("page.css");

/// The page.
pub(in crate::render) fn render_html(report: &SimulationReport<'_>, _: Style) -> Vec<u8> {
    let headline = report.render_headline();
    let title = headline[..1].to_uppercase() + &headline[1..];
    let scenario = report.simulation.scenario;
    let page = HtmlPage { title: &title, style: STYLE, script: None, body: BODY };
    page.fill(|mark| match mark {
        "span" => format!(
            "{} to {}. vN is the newest major on the first day.",
            scenario.from,
            scenario.until()
        ),
        "timeline" => render_timeline(report),
        "life" => render_life(report),
        "steps" => render_steps(report),
        "fleets" => render_fleets(report),
        "bounds" => render_bounds(report),
        _ => String::new(),
    })
}

/// A place on the time axis, in hundredths of a percent.
struct TimeAxis {
    from: Date,
    days: i64,
}

impl TimeAxis {
    fn new(report: &SimulationReport<'_>) -> TimeAxis {
        let (from, until) = compute_extent(report);
        TimeAxis { from, days: i64::from((until - from).get_days()).max(1) + 1 }
    }

    fn locate(&self, day: Date) -> i64 {
        (i64::from((day - self.from).get_days()) * 10_000 / self.days).clamp(0, 10_000)
    }

    fn format_style(&self, from: Date, until: Date) -> String {
        let (left, right) = (self.locate(from), self.locate(until));
        format!("left:{};width:{}", format_percent(left), format_percent(right - left))
    }
}

fn format_percent(hundredths: i64) -> String {
    format!("{}.{:02}%", hundredths / 100, hundredths % 100)
}

fn render_timeline(report: &SimulationReport<'_>) -> String {
    let axis = TimeAxis::new(report);
    let (from, until) = compute_extent(report);
    let mut out =
        String::from("<div class=\"chart\">\n<div class=\"years\"><b></b><div class=\"ticks\">");
    for year in from.year()..=until.year() {
        let day = Date::new(year, 1, 1).unwrap_or(from).max(from);
        let next = Date::new(year.saturating_add(1), 1, 1).unwrap_or(until);
        // A year that only just ends has no room for its number.
        if axis.locate(next) - axis.locate(day) < 500 && next < until {
            continue;
        }
        // Writing to a string cannot fail.
        let _ =
            write!(out, "<span style=\"left:{}\">{year}</span>", format_percent(axis.locate(day)));
    }
    out.push_str("</div></div>\n");
    for lane in report.lanes() {
        let name = escape(&report.format_name(&lane.of));
        let _ = write!(out, "<div class=\"row\"><b><bdi>{name}</bdi></b><div class=\"lane\">");
        for stretch in lane.stretches.iter().filter(|it| it.until > from && it.from <= until) {
            out.push_str(&render_bar(&axis, stretch));
        }
        out.push_str("</div></div>\n");
    }
    out.push_str("</div>\n");
    out
}

fn render_bar(axis: &TimeAxis, stretch: &TimelinePeriod) -> String {
    let word = stretch.state.word();
    format!(
        "<i class=\"{word}\" style=\"{}\" title=\"{word}: {} to {}\">{word}</i>",
        axis.format_style(stretch.from, stretch.until),
        stretch.from,
        last_day(stretch)
    )
}

fn render_phrase(step: &DerivationStep) -> String {
    let keys = match step.keys.is_empty() {
        true => String::new(),
        false => format!(" <span class=\"keys\">{}</span>", escape(&step.keys.join(", "))),
    };
    format!("{}{keys}", escape(&escape_unprintable(&step.text)))
}

fn render_life(report: &SimulationReport<'_>) -> String {
    let Some(life) = report.life else { return String::new() };
    let rows = life.events.iter().map(|event| [event.day.to_string(), render_phrase(&event.step)]);
    let title = format!("Life of <bdi>{}</bdi>", escape(&escape_unprintable(&life.name)));
    format!(
        "<section>\n<h2>{title}</h2>\n{}</section>\n",
        render_table(["day", "what happens"], rows)
    )
}

fn render_steps(report: &SimulationReport<'_>) -> String {
    let mut out = String::from("<ol>\n");
    for step in &report.simulation.steps {
        let _ = writeln!(out, "<li>{}</li>", render_phrase(step));
    }
    out.push_str("</ol>\n");
    for conflict in &report.simulation.conflicts {
        let _ = writeln!(out, "<p><span class=\"but\">But</span> {}</p>", render_phrase(conflict));
    }
    out
}

fn render_fleets(report: &SimulationReport<'_>) -> String {
    let rows = report.simulation.fleets.iter().map(|fleet| {
        [fleet.day.to_string(), escape(&report.join_majors(fleet.majors.iter().copied()))]
    });
    render_table(["from", "majors in the fleet"], rows)
}

fn render_bounds(report: &SimulationReport<'_>) -> String {
    if report.simulation.bounds.is_empty() {
        return String::new();
    }
    let rows = report.simulation.bounds.iter().map(|bound| {
        [escape(bound.what), escape(&format_span(bound)), render_phrase(&bound.derivation)]
    });
    let table = render_table(["what", "how long", "derivation"], rows);
    format!("<section>\n<h2>Bounds of the policy</h2>\n{table}</section>\n")
}

/// A table of cells that are HTML.
fn render_table<const N: usize>(
    head: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
) -> String {
    let head: String = head.iter().map(|it| format!("<th>{it}</th>")).collect();
    let mut out = format!("<table>\n<tr>{head}</tr>\n");
    for row in rows {
        let cells: String = row.iter().map(|it| format!("<td>{it}</td>")).collect();
        let _ = writeln!(out, "<tr>{cells}</tr>");
    }
    out.push_str("</table>\n");
    out
}
