//! JSON Lines: one object per finding, then the summary.

use abide_change::{Direction, Surface, Witness};
use abide_lint::{Dependent, ElementUser, Finding, Fix, FixEdit, Report};
use base64::Engine;
use base64::prelude::BASE64_STANDARD as BASE64;
use rayon::prelude::*;
use serde_json::{Map, Value, json};

use super::context::{RenderContext, TextPlace};
use super::json_object::insert;

pub(super) fn render(report: &Report, context: &RenderContext) -> Vec<u8> {
    let exempted = context.visible_exempted(report);
    let findings: Vec<&Finding> = context.visible_findings(report).chain(exempted).collect();
    let lines: Vec<String> = findings
        .into_par_iter()
        .map(|finding| format_line(&build_finding(finding, context)))
        .collect();
    (lines.concat() + &render_summary(report)).into_bytes()
}

/// The last line.
pub(super) fn render_summary(report: &Report) -> String {
    let mut summary = Map::from_iter([("kind".to_owned(), "summary".into())]);
    summary.extend(count_findings(report));
    format_line(&Value::Object(summary))
}

/// The totals of a report.
pub(super) fn count_findings(report: &Report) -> Map<String, Value> {
    let mut counts = Map::new();
    insert(&mut counts, "files", report.files.into());
    insert(&mut counts, "packages", report.packages.into());
    insert(&mut counts, "errors", report.errors.into());
    insert(&mut counts, "warnings", report.warnings.into());
    insert(&mut counts, "notes", report.notes.into());
    insert(&mut counts, "waived", report.waived.into());
    insert(&mut counts, "accepted", report.accepted.into());
    if let Some(bump) = report.required_bump {
        insert(&mut counts, "required_bump", bump.name().into());
    }
    if !report.not_judged.is_empty() {
        insert(&mut counts, "not_judged", report.not_judged.as_slice().into());
    }
    for (key, names) in [
        ("unknown_services", &report.unknown_services),
        ("hidden_packages", &report.hidden_packages),
    ] {
        if !names.is_empty() {
            insert(&mut counts, key, names.as_slice().into());
        }
    }
    counts
}

fn format_line(value: &Value) -> String {
    format!("{value}\n")
}

fn build_finding(finding: &Finding, context: &RenderContext) -> Value {
    let mut object = Map::new();
    insert(
        &mut object,
        "kind",
        if finding.exception.is_some() { "waived" } else { "finding" }.into(),
    );
    insert(&mut object, "rule", finding.rule.into());
    insert(&mut object, "severity", finding.severity.word().into());
    insert(&mut object, "message", finding.message.as_str().into());
    if !finding.package.is_empty() {
        insert(&mut object, "package", finding.package.as_str().into());
    }
    if !finding.element.is_empty() {
        insert(&mut object, "element", finding.element.as_str().into());
    }
    for (key, value) in build_place(&context.locate(&finding.location)) {
        insert(&mut object, &key, value);
    }
    if let Some(old) = finding.change.as_ref().and_then(|change| change.old) {
        insert(&mut object, "old", Value::Object(build_place(&context.locate(&old))));
    }
    let labels: Vec<Value> = finding
        .labels
        .iter()
        .map(|label| {
            let mut object = build_place(&context.locate(&label.location));
            object.insert("message".to_owned(), label.message.as_str().into());
            Value::Object(object)
        })
        .collect();
    if !labels.is_empty() {
        insert(&mut object, "labels", labels.into());
    }
    object.extend(collect_details(finding));
    let fixes: Vec<Value> = finding.fixes.iter().map(|it| build_fix(it, context)).collect();
    if !fixes.is_empty() {
        object.insert("fixes".to_owned(), fixes.into());
    }
    object.insert("fingerprint".to_owned(), finding.fingerprint().into());
    if let Some(exception) = &finding.exception {
        insert(&mut object, "by", exception.kind.word().into());
        insert(&mut object, "reason", exception.reason.as_str().into());
    }
    Value::Object(object)
}

/// The properties of a finding besides its message and its places.
pub(super) fn collect_details(finding: &Finding) -> Map<String, Value> {
    let mut object = Map::new();
    let texts = [("at", &finding.at), ("why", &finding.why), ("help", &finding.help)].into_iter();
    for (key, text) in texts {
        if let Some(text) = text {
            insert(&mut object, key, text.as_str().into());
        }
    }
    if let Some(change) = &finding.change {
        let surfaces: Vec<&str> = change.effects.surfaces().map(Surface::name).collect();
        let directions: Vec<&str> = change.effects.directions().map(Direction::name).collect();
        if !surfaces.is_empty() {
            insert(&mut object, "breaks", change.effects.iter().map(build_break).collect());
            insert(&mut object, "surfaces", surfaces.into());
            insert(&mut object, "directions", directions.into());
        }
        insert(&mut object, "bump", change.bump.name().into());
        if !change.dependents.is_empty() {
            insert(
                &mut object,
                "dependents",
                change
                    .dependents
                    .iter()
                    .map(|it: &Dependent| json!({ "package": it.package, "path": it.path }))
                    .collect(),
            );
        }
        let symbols: Vec<Value> = change
            .symbols
            .iter()
            .map(|lost| json!({ "surface": lost.surface.name(), "symbol": lost.symbol }))
            .collect();
        if !symbols.is_empty() {
            insert(&mut object, "symbols", symbols.into());
        }
    }
    if !finding.aliases.is_empty() {
        insert(&mut object, "aliases", finding.aliases.as_slice().into());
    }
    if !finding.releases.is_empty() {
        insert(&mut object, "releases", finding.releases.as_slice().into());
    }
    if !finding.baselines.is_empty() {
        let names: Vec<&str> = finding.baselines.iter().map(|it| it.name.as_str()).collect();
        insert(&mut object, "baselines", names.into());
    }
    if !finding.users.is_empty() {
        insert(&mut object, "users", finding.users.iter().map(build_user).collect());
    }
    if let Some(behind) = finding.behind {
        insert(&mut object, "behind", behind.name().into());
    }
    if let Some(witness) = finding.change.as_ref().and_then(|change| change.witness.as_ref()) {
        insert(&mut object, "witness", self::build_witness(witness));
    }
    object
}

/// A client that uses an element, as JSON.
pub(super) fn build_user(user: &ElementUser) -> Value {
    let mut object = Map::new();
    insert(&mut object, "client", user.client.as_str().into());
    if !user.releases.is_empty() {
        insert(&mut object, "releases", user.releases.as_slice().into());
    }
    if let Some(last) = user.last {
        insert(&mut object, "last", last.to_string().into());
    }
    if let Some(count) = user.count {
        insert(&mut object, "count", count.into());
    }
    object.into()
}

/// A break as JSON: a surface and a direction.
fn build_break((surface, direction): (Surface, Direction)) -> Value {
    json!({ "surface": surface.name(), "direction": direction.name() })
}

/// A fix as JSON: its edits count in the text as it was read.
fn build_fix(fix: &Fix, context: &RenderContext) -> Value {
    let edits: Vec<Value> = fix
        .edits
        .iter()
        .map(|edit: &FixEdit| {
            let mut object = build_place(&context.locate(&edit.location));
            object.insert("text".to_owned(), edit.text.as_str().into());
            Value::Object(object)
        })
        .collect();
    json!({ "title": fix.title, "applied": fix.applied.word(), "edits": edits })
}

/// The witness as JSON. The key of its value is the side that wrote it, `old` or `new`.
fn build_witness(witness: &Witness) -> Value {
    json!({
        "surface": witness.surface.name(),
        "direction": witness.direction.name(),
        "type": witness.message,
        "reader": witness.reader,
        witness.direction.writer(): witness.value,
        "bytes": BASE64.encode(&witness.bytes),
        "observed": witness.observed,
    })
}

pub(super) fn build_place(lines: &TextPlace) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("path".to_owned(), lines.path.into());
    if let Some((start, end)) = lines.range {
        for (key, position) in [("start", start), ("end", end)] {
            let value = json!({ "line": position.line, "column": position.column });
            object.insert(key.to_owned(), value);
        }
    }
    object
}
