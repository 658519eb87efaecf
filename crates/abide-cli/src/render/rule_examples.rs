//! What the examples of one's own rules showed.

use abide_lint::{ExampleResult, pluralize};
use abide_syntax::{LineIndex, Position};
use serde_json::json;

use super::context::TextFile;

/// The name of `abide.toml`, and where an example stands in it.
fn locate<'f>(file: Option<&'f TextFile>, result: &ExampleResult) -> (&'f str, Position) {
    match file {
        Some(TextFile { name, text }) => {
            let index = LineIndex::new(text.as_bytes());
            (name, index.position(text.as_bytes(), result.span.start))
        }
        None => ("abide.toml", Position { line: 1, column: 1 }),
    }
}

pub(super) fn render_human(results: &[ExampleResult], file: Option<&TextFile>) -> String {
    let mut out = String::new();
    for result in results.iter().filter(|it| !it.passed()) {
        let (path, Position { line, column }) = locate(file, result);
        let ExampleResult { rule, number, .. } = result;
        out.push_str(&format!("{path}:{line}:{column}: example {number} of `{}` fails\n", rule.id));
        for error in &result.errors {
            out.push_str(&format!("  {error}\n"));
        }
        for element in &result.missing {
            out.push_str(&format!("  it should report `{element}`, and does not\n"));
        }
        for element in &result.unexpected {
            out.push_str(&format!("  it should not report `{element}`\n"));
        }
    }
    let failed = results.iter().filter(|it| !it.passed()).count();
    out.push_str(&format!("{}, {failed} failed\n", pluralize(results.len(), "example")));
    out
}

pub(super) fn render_json(results: &[ExampleResult], file: Option<&TextFile>) -> String {
    let mut out = String::new();
    for result in results {
        let (path, Position { line, column }) = locate(file, result);
        let mut line = json!({
            "kind": "example",
            "rule": result.rule.id,
            "example": result.number,
            "passed": result.passed(),
            "path": path,
            "start": { "line": line, "column": column },
        });
        let lists = [
            ("errors", &result.errors),
            ("missing", &result.missing),
            ("unexpected", &result.unexpected),
        ];
        for (key, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            line[key] = list.as_slice().into();
        }
        out.push_str(&format!("{line}\n"));
    }
    let failed = results.iter().filter(|it| !it.passed()).count();
    let summary = json!({ "kind": "summary", "examples": results.len(), "failed": failed });
    out.push_str(&format!("{summary}\n"));
    out
}
