//! The report about translated files.

use abide_instance::ConvertedText;
use abide_lint::Report;
use abide_source::printable::count_line_and_column;
use serde_json::{Map, Value, json};

use super::context::RenderContext;
use super::json_object::insert;
use super::{json_lines, snippets};

/// Files after a translation.
pub(crate) struct TranslationReport<'a> {
    /// The results, in the order of the files.
    pub(crate) files: &'a [ConvertedText],
    /// The findings about them.
    pub(crate) findings: &'a Report,
    /// For each, true if its text differs now.
    pub(crate) changed: &'a [bool],
    /// The names of types.
    pub(crate) name: &'a dyn Fn(abide_schema::MessageId) -> String,
}

pub(super) fn render_human(report: &TranslationReport<'_>, context: &RenderContext) -> Vec<u8> {
    if report.findings.findings.is_empty() {
        return Vec::new();
    }
    snippets::render(report.findings, context)
}

pub(super) fn render_json(report: &TranslationReport<'_>, context: &RenderContext) -> Vec<u8> {
    let mut out = String::new();
    for ((carried, changed), file) in report.files.iter().zip(report.changed).zip(context.instances)
    {
        for (number, document) in (1_u32..).zip(&carried.documents) {
            let mut line = Map::new();
            insert(&mut line, "kind", "translation".into());
            insert(&mut line, "path", file.name.as_str().into());
            insert(&mut line, "document", number.into());
            insert(&mut line, "old_type", (report.name)(document.old).into());
            insert(&mut line, "new_type", (report.name)(document.new).into());
            insert(&mut line, "changed", (*changed).into());
            let changes = document.changes.iter().map(|it| {
                let mut change = Map::new();
                if !it.span.is_empty() && !file.text.is_empty() {
                    change.insert("start".to_owned(), build_position(&file.text, it.span.start));
                }
                if !it.old.is_empty() {
                    change.insert("old".to_owned(), it.old.as_str().into());
                }
                if !it.new.is_empty() {
                    change.insert("new".to_owned(), it.new.as_str().into());
                }
                Value::Object(change)
            });
            let changes: Vec<Value> = changes.collect();
            if !changes.is_empty() {
                insert(&mut line, "changes", changes.into());
            }
            let notes = carried.notes.iter().filter(|(span, _)| {
                (document.span.start..=document.span.end).contains(&span.start)
            });
            let notes: Vec<Value> = notes
                .map(|(span, text)| {
                    json!({ "start": build_position(&file.text, span.start), "message": text })
                })
                .collect();
            if !notes.is_empty() {
                insert(&mut line, "notes", notes.into());
            }
            out.push_str(&format!("{}\n", Value::Object(line)));
        }
    }
    let mut out = out.into_bytes();
    out.extend(json_lines::render(report.findings, context));
    out
}

fn build_position(text: &str, at: u32) -> Value {
    let (line, column) = count_line_and_column(text, at);
    json!({ "line": line, "column": column })
}
