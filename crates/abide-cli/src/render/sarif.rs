//! SARIF 2.1.0 for code scanning: one run with its results, and its rules with their pages.

use std::collections::BTreeMap;
use std::fmt::Write;

use abide_lint::{Exception, ExceptionKind, Finding, Fix, FixEdit, Origin, Report, Severity};
use abide_source::printable::escape_unprintable;
use serde_json::{Map, Value, json};

use super::context::{RenderContext, TextPlace, list_concerned};
use super::json_lines;
use super::json_object::insert;
use super::rule_page::strip_marks;

pub(super) fn render(report: &Report, context: &RenderContext) -> Vec<u8> {
    // Code scanning counts what is suppressed as closed; what is left out, as fixed.
    let findings: Vec<&Finding> =
        context.visible_findings(report).chain(&report.exempted).collect();
    let mut rules: BTreeMap<&str, usize> =
        findings.iter().map(|finding| (finding.rule, 0)).collect();
    for (index, at) in rules.values_mut().enumerate() {
        *at = index;
    }
    // Every finding's rule is a key.
    let results: Vec<Value> = findings
        .iter()
        .map(|finding| build_result(finding, rules[finding.rule], context))
        .collect();
    let rules: Vec<Value> = rules.keys().map(|id| build_descriptor(report, id)).collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "abide",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
            "properties": json_lines::count_findings(report),
        }],
    });
    format!("{log}\n").into_bytes()
}

/// A rule as SARIF's reporting descriptor.
fn build_descriptor(report: &Report, id: &str) -> Value {
    let own = || report.own_rules.iter().copied().find(|it| it.id == id);
    let Some(rule) = abide_lint::find_rule(id).or_else(own) else { return json!({ "id": id }) };
    let mut properties = Map::from_iter([("tags".to_owned(), json!([rule.group.name()]))]);
    if !rule.aliases.is_empty() {
        properties.insert("aliases".to_owned(), rule.aliases.into());
    }
    let page = strip_marks(rule.page);
    json!({
        "id": rule.id,
        "shortDescription": { "text": rule.summary },
        "help": { "text": page, "markdown": page },
        "defaultConfiguration": {
            "enabled": rule.severity.is_some(),
            "level": rule.severity.unwrap_or(Severity::Error).word(),
        },
        "properties": properties,
    })
}

fn build_result(finding: &Finding, rule: usize, context: &RenderContext) -> Value {
    let mut text = escape_unprintable(&finding.message);
    for (since, names) in list_concerned(finding) {
        let _ = write!(text, "\n{}", escape_unprintable(&format!("{since}: {names}")));
    }
    for part in [&finding.why, &finding.help].into_iter().flatten() {
        let _ = write!(text, "\n{}", escape_unprintable(part));
    }
    let mut place = build_location(&context.locate(&finding.location));
    if !finding.element.is_empty() {
        let element = json!([{ "fullyQualifiedName": finding.element }]);
        place.insert("logicalLocations".to_owned(), element);
    }
    let mut properties = Map::new();
    if !finding.package.is_empty() {
        properties.insert("package".to_owned(), finding.package.as_str().into());
    }
    if let Some(old) = finding.change.as_ref().and_then(|change| change.old) {
        // A property and not a related location, because its lines are those of the old tree.
        properties.insert("old".to_owned(), json_lines::build_place(&context.locate(&old)).into());
    }
    properties.extend(json_lines::collect_details(finding));
    let mut object = Map::new();
    insert(&mut object, "ruleId", finding.rule.into());
    insert(&mut object, "ruleIndex", rule.into());
    insert(&mut object, "level", finding.severity.word().into());
    insert(&mut object, "message", build_message(&text));
    insert(&mut object, "locations", json!([place]));
    let related: Vec<Value> = finding
        .labels
        .iter()
        .enumerate()
        .map(|(index, label)| {
            let mut place = build_location(&context.locate(&label.location));
            place.insert("id".to_owned(), (index + 1).into());
            place.insert("message".to_owned(), build_message(&escape_unprintable(&label.message)));
            place.into()
        })
        .collect();
    if !related.is_empty() {
        insert(&mut object, "relatedLocations", related.into());
    }
    let fixes: Vec<Value> = finding.fixes.iter().map(|it| build_fix(it, context)).collect();
    if !fixes.is_empty() {
        insert(&mut object, "fixes", fixes.into());
    }
    insert(&mut object, "partialFingerprints", json!({ "abide/v1": finding.fingerprint() }));
    if let Some(state) = find_baseline_state(finding, context) {
        insert(&mut object, "baselineState", state.into());
    }
    if let Some(exception) = &finding.exception {
        insert(&mut object, "suppressions", json!([build_suppression(exception)]));
    }
    if !properties.is_empty() {
        insert(&mut object, "properties", properties.into());
    }
    object.into()
}

/// Returns `unchanged` for what was there before, and `new` for what a change brought; `None` in a run
/// that compares with nothing.
fn find_baseline_state(finding: &Finding, context: &RenderContext) -> Option<&'static str> {
    let is_accepted =
        finding.exception.as_ref().is_some_and(|it| it.kind == ExceptionKind::Accepted);
    let is_known = match (finding.location.origin, context.old) {
        _ if is_accepted => true,
        _ if finding.change.is_some() => false,
        (Origin::Tree(file), Some(old)) => {
            let file = context.tree.file(file);
            let text = file.decl().source_text();
            let before = old.files().find(|it| it.path() == file.path());
            before.is_some_and(|it| it.decl().source_text() == text)
        }
        _ => false,
    };
    let has_baseline = context.old.is_some() || context.accepted.is_some();
    has_baseline.then_some(if is_known { "unchanged" } else { "new" })
}

/// An exception as SARIF's suppression, which a reviewer accepted with the change that brought it.
fn build_suppression(exception: &Exception) -> Value {
    let kind = match exception.kind {
        ExceptionKind::Comment => "inSource",
        ExceptionKind::Waiver | ExceptionKind::Accepted => "external",
    };
    let justification = escape_unprintable(&exception.reason);
    json!({ "kind": kind, "status": "accepted", "justification": justification })
}

/// A fix, with the changes of each file together.
fn build_fix(fix: &Fix, context: &RenderContext) -> Value {
    let mut by_file: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for FixEdit { location, text } in &fix.edits {
        let lines = context.locate(location);
        let Some(deleted) = build_region(&lines) else { continue };
        let replacement = json!({ "deletedRegion": deleted, "insertedContent": { "text": text } });
        by_file.entry(format_uri(&lines.full_path())).or_default().push(replacement);
    }
    let changes: Vec<Value> = by_file
        .into_iter()
        .map(|(uri, replacements)| {
            json!({ "artifactLocation": { "uri": uri }, "replacements": replacements })
        })
        .collect();
    json!({ "description": build_message(&escape_unprintable(&fix.title)), "artifactChanges": changes })
}

/// A plain text message, in which nothing is a placeholder or a link (SARIF 2.1.0, sections 3.11.5
/// and 3.11.6): braces are doubled, and where there could be a link, brackets are escaped.
fn build_message(text: &str) -> Value {
    let has_link = text.contains("](");
    let mut escaped = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match (c, rest.peek()) {
            ('{' | '}', _) => escaped.push(c),
            ('[' | ']', _) if has_link => escaped.push('\\'),
            // Else the backslash before a bracket would be one escape with that of the bracket.
            ('\\', Some('\\' | '[' | ']')) if has_link => escaped.push('\\'),
            _ => {}
        }
        escaped.push(c);
    }
    json!({ "text": escaped })
}

fn build_location(lines: &TextPlace) -> Map<String, Value> {
    let artifact = json!({ "uri": format_uri(&lines.full_path()) });
    let mut physical = Map::from_iter([("artifactLocation".to_owned(), artifact)]);
    physical.extend(build_region(lines).map(|region| ("region".to_owned(), region)));
    Map::from_iter([("physicalLocation".to_owned(), physical.into())])
}

fn build_region(lines: &TextPlace) -> Option<Value> {
    let (start, end) = lines.range?;
    Some(json!({
        "startLine": start.line,
        "startColumn": start.column,
        "endLine": end.line,
        "endColumn": end.column,
    }))
}

/// A path as a URI reference (RFC 3986). Every byte that could be more than a part of a name is
/// percent-encoded.
fn format_uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    if path.starts_with('/') {
        uri.push_str("file://");
    }
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(byte.into());
            }
            byte => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}
