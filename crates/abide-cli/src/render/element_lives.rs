//! Renders since which version elements exist, are deprecated, are disallowed by default, and are
//! gone.

use abide_lint::{ElementHistory, HistoryPoint};
use abide_source::printable::escape_unprintable;
use serde_json::{Map, Value};
use unicode_width::UnicodeWidthStr;

use super::context::{Style, write_styled};
use super::json_object::insert;
use super::markup::{HtmlPage, escape};

const BODY: &str = include_str!("element_lives/body.html");
const STYLE: &str = include_str!("element_lives/page.css");

/// The events in the life of an element after it appeared, in order: the word for each, the key in
/// JSON, and the moment.
fn list_phases(life: &ElementHistory) -> [(&'static str, &'static str, Option<&HistoryPoint>); 3] {
    [
        ("deprecated", "deprecated", life.deprecated.as_ref()),
        ("disallowed", "disallowed", life.disallowed.as_ref()),
        ("removed", "removed", life.removed.as_ref()),
    ]
}

/// A table for people, by package. `unknown` stands for the moment of what is known to be so, but
/// not since when.
pub(super) fn render_human(lives: &[ElementHistory], unknown: &str, style: Style) -> String {
    let mut out = String::new();
    for package in lives.chunk_by(|a, b| a.package == b.package) {
        write_styled(&mut out, style.color, "1", &package_name(&package[0]));
        out.push('\n');
        let titles: Vec<String> = package.iter().map(format_title).collect();
        let column = titles.iter().map(|it| it.width()).max().unwrap_or(0);
        let since: Vec<String> =
            package.iter().map(|it| format_moment(&it.appeared, unknown)).collect();
        let days = since.iter().map(|it| it.width()).max().unwrap_or(0);
        for ((life, title), since) in package.iter().zip(titles).zip(since) {
            let [title_gap, since_gap] =
                [column - title.width(), days - since.width()].map(|it| " ".repeat(it));
            let mut line = format!("  {title}{title_gap}");
            if days > 0 {
                line.push_str(&format!("  {since}{since_gap}"));
            }
            for (word, _, moment) in list_phases(life) {
                if let Some(moment) = moment {
                    line.push_str(&format!("  {word} {}", format_moment(moment, unknown)));
                    line.truncate(line.trim_end().len());
                }
            }
            let is_gone = life.removed.is_some();
            write_styled(&mut out, style.color && is_gone, "2", line.trim_end());
            out.push('\n');
        }
    }
    out
}

/// The lines for machines: an object for each element, as in `HistoryElement` of
/// `abide.report.v1`.
pub(super) fn render_json(lives: &[ElementHistory]) -> String {
    let mut out = String::new();
    for life in lives {
        let mut object = Map::new();
        insert(&mut object, "kind", "element".into());
        insert(&mut object, "package", life.package.as_str().into());
        insert(&mut object, "element", life.id.name.as_str().into());
        insert(&mut object, "noun", life.id.noun.into());
        if let Some(number) = life.id.number {
            insert(&mut object, "number", number.into());
        }
        if life.appeared != HistoryPoint::default() {
            insert(&mut object, "appeared", build_moment(&life.appeared));
        }
        for (_, key, happened) in list_phases(life) {
            if let Some(happened) = happened {
                insert(&mut object, key, build_moment(happened));
            }
        }
        out.push_str(&Value::Object(object).to_string());
        out.push('\n');
    }
    out
}

fn build_moment(moment: &HistoryPoint) -> Value {
    let mut object = Map::new();
    let known = [
        ("version", moment.version.as_ref().map(ToString::to_string)),
        ("day", moment.day.map(|it| it.to_string())),
        ("commit", moment.revision.as_ref().map(ToString::to_string)),
    ];
    for (key, text) in known {
        if let Some(text) = text {
            object.insert(key.to_owned(), text.into());
        }
    }
    Value::Object(object)
}

/// A page with a table for each package.
pub(super) fn render_html(lives: &[ElementHistory], title: &str) -> Vec<u8> {
    let mut tables = String::new();
    for package in lives.chunk_by(|a, b| a.package == b.package) {
        tables.push_str(&format!(
            "<h2>{}</h2>\n<table>\n<tr><th>Element</th><th>Since</th><th>Deprecated</th>\
             <th>Disallowed</th><th>Removed</th></tr>\n",
            escape(&package_name(&package[0]))
        ));
        for life in package {
            let class = if life.removed.is_some() { " class=\"gone\"" } else { "" };
            let cells: String = list_phases(life)
                .iter()
                .map(|(_, _, moment)| render_moment_cell(*moment))
                .collect();
            let name = escape(&self::format_title(life));
            let since = render_moment_cell(Some(&life.appeared));
            tables.push_str(&format!("<tr{class}><td>{name}</td>{since}{cells}</tr>\n"));
        }
        tables.push_str("</table>\n");
    }
    let page = HtmlPage { title, style: STYLE, script: None, body: BODY };
    page.fill(|mark| match mark {
        "tables" => tables.clone(),
        _ => String::new(),
    })
}

fn render_moment_cell(moment: Option<&HistoryPoint>) -> String {
    let text = moment.map(|it| escape(&format_moment(it, EARLIER))).unwrap_or_default();
    format!("<td>{text}</td>")
}

fn package_name(life: &ElementHistory) -> String {
    if life.package.is_empty() {
        "(no package)".to_owned()
    } else {
        escape_unprintable(&life.package)
    }
}

/// Names an element without its package: `field User.name = 2`.
fn format_title(life: &ElementHistory) -> String {
    let name = life.id.name.strip_prefix(&*life.package).unwrap_or(&life.id.name);
    let number = life.id.number.map(|it| format!(" = {it}")).unwrap_or_default();
    format!("{} {}{number}", life.id.noun, escape_unprintable(name.trim_start_matches('.')))
}

/// The word for the time before the first revision of a history.
pub(super) const EARLIER: &str = "earlier";

/// A version and a day, as far as they are known.
fn format_moment(moment: &HistoryPoint, unknown: &str) -> String {
    let version = moment.version.as_ref().map(ToString::to_string);
    let day = moment.day.map(|it| it.to_string());
    match (version, day) {
        (Some(version), Some(day)) => format!("{version} ({day})"),
        (Some(version), None) => version,
        (None, Some(day)) if moment.unreleased => format!("unreleased ({day})"),
        (None, Some(day)) => day,
        (None, None) => unknown.to_owned(),
    }
}
