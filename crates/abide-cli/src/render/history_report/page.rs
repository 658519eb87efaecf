//! Renders a history as one self-contained HTML page, without network or framework.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{format_moment, render_total};
use crate::history::{PackageRow, PackageVerdict, TreeHistory};
use crate::render::context::Style;
use crate::render::element_lives;
use crate::render::markup::{HtmlPage, escape};

const BODY: &str = include_str!("body.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The number of reasons of a row that the page contains. It also shows how many there are.
const REASONS: usize = 12;

/// A table of texts, so that each is in the page only once.
#[derive(Default)]
struct TextTable<'h> {
    numbers: BTreeMap<&'h str, usize>,
    texts: Vec<&'h str>,
}

impl<'h> TextTable<'h> {
    fn intern(&mut self, text: &'h str) -> usize {
        *self.numbers.entry(text).or_insert_with(|| {
            self.texts.push(text);
            self.texts.len() - 1
        })
    }
}

/// The page.
pub(in crate::render) fn render_html(history: &TreeHistory, _: Style) -> Vec<u8> {
    let title = match history.folder.as_str() {
        "." => "API history".to_owned(),
        folder => format!("API history of {folder}"),
    };
    if let Some(lives) = &history.lives {
        return element_lives::render_html(lives, &title);
    }
    let mut texts = TextTable::default();
    let mut packages: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for (at, commit) in history.commits.iter().enumerate() {
        for row in &commit.packages {
            packages.entry(&row.package).or_default().push(build_event(at, row, &mut texts));
        }
    }
    let commits: Vec<Value> = history
        .commits
        .iter()
        .map(|commit| json!([super::shorten_id(&commit.id), commit.seconds, commit.subject]))
        .collect();
    let packages: Vec<Value> =
        packages.into_iter().map(|(name, events)| json!([name, events])).collect();
    let span = match (history.commits.first(), history.commits.last()) {
        (Some(first), Some(last)) => {
            format!(
                "{} to {}",
                &format_moment(first.seconds)[..10],
                &format_moment(last.seconds)[..10]
            )
        }
        _ => "no commit".to_owned(),
    };
    let data = json!({
        "verdicts": PackageVerdict::ALL.map(PackageVerdict::word),
        "commits": commits,
        "packages": packages,
        "texts": texts.texts,
    });
    let page = HtmlPage { title: &title, style: STYLE, script: Some(SCRIPT), body: BODY };
    page.fill(|mark| match mark {
        "summary" => escape(render_total(history).trim_end()),
        "span" => escape(&span),
        // No text of the repository may close the element with the data.
        "data" => data.to_string().replace('<', "\\u003c"),
        _ => String::new(),
    })
}

/// The data of one row: commit, verdict, versions, bump, closure hash, reasons, and how many
/// reasons there are.
fn build_event<'h>(commit: usize, row: &'h PackageRow, texts: &mut TextTable<'h>) -> Value {
    let hash = row.after.map_or(Value::Null, |it| {
        let hash = it.closure.to_string();
        hash.rsplit(':').next().and_then(|hex| hex.get(..12)).unwrap_or_default().into()
    });
    let reasons: Vec<Value> = row
        .reasons
        .iter()
        .take(REASONS)
        .map(|it| json!([texts.intern(it.rule), texts.intern(&it.message), u8::from(it.breaks)]))
        .collect();
    json!([
        commit,
        row.verdict as u8,
        version_value(row.from.as_ref()),
        version_value(row.to.as_ref()),
        row.required.name(),
        u8::from(row.recorded),
        hash,
        reasons,
        row.reasons.len(),
    ])
}

fn version_value(version: Option<&semver::Version>) -> Value {
    version.map_or(Value::Null, |version| version.to_string().into())
}
