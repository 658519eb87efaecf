//! The runtime of a bootstrap: for people and as JSON Lines.

use std::fmt::Write;

use abide_instance::runtime::{
    EffectiveLayer, LayerSource, Runtime, RuntimeLiteral, RuntimeSnapshot, RuntimeValue,
};
use abide_lint::pluralize;
use abide_source::printable::escape_unprintable;
use abide_syntax::Position;
use serde_json::{Map, Value, json};

use super::context::{Style, write_styled};

/// The report of `abide runtime show`.
pub(crate) struct RuntimeReport<'a> {
    /// The file of the bootstrap.
    pub(crate) path: &'a str,
    /// Its runtime.
    pub(crate) runtime: &'a Runtime,
    /// The values that the layers set.
    pub(crate) snapshot: &'a RuntimeSnapshot,
    /// The keys to show.
    pub(crate) keys: &'a [&'a str],
    /// The problems of the layers, by place.
    pub(crate) places: &'a [RuntimePlace],
    /// The service node, if it is named.
    pub(crate) service_node: Option<&'a str>,
}

/// Something wrong with a place of the bootstrap.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RuntimePlace {
    /// Its first position.
    pub(crate) start: Position,
    /// The position after it.
    pub(crate) end: Position,
    /// True if a server refuses the bootstrap for it.
    pub(crate) is_error: bool,
    /// The problem, as one phrase.
    pub(crate) message: String,
}

impl RuntimePlace {
    const fn severity(&self) -> &'static str {
        if self.is_error { "error" } else { "warning" }
    }
}

/// For people: each key with its value and layer, and what that overrides.
pub(super) fn render_human(report: &RuntimeReport<'_>, style: Style) -> String {
    let mut out = String::new();
    for key in report.keys {
        let Some((at, layer, value)) = find_last(report.snapshot, key) else { continue };
        write_styled(&mut out, style.color, "1", &escape_unprintable(key));
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            " = {}  ({})",
            escape_unprintable(&format_value(value)),
            format_name(layer)
        );
        for below in report.snapshot.layers().iter().take(at).rev() {
            if let Some(value) = below.values.get(*key) {
                let (value, name) = (escape_unprintable(&format_value(value)), format_name(below));
                let _ = writeln!(out, "  overrides {value}  ({name})");
            }
        }
    }
    let rest = render_remarks(report, style);
    if !out.is_empty() && !rest.is_empty() {
        out.push('\n');
    }
    out + &rest
}

/// Renders the problems, and the number of keys and layers.
fn render_remarks(report: &RuntimeReport<'_>, style: Style) -> String {
    let mut out = String::new();
    for place in report.places.iter().filter(|it| it.is_error || !style.quiet) {
        let colour = if place.is_error { "31;1" } else { "33;1" };
        write_styled(&mut out, style.color, colour, place.severity());
        let (path, start) = (escape_unprintable(report.path), place.start);
        let _ = writeln!(
            out,
            ": {path}:{}:{}: {}",
            start.line,
            start.column,
            escape_unprintable(&place.message)
        );
    }
    for (name, reason) in list_dropped(report) {
        write_styled(&mut out, style.color, "31;1", "error");
        let _ = writeln!(
            out,
            ": the layer `{}` is left out: {}",
            escape_unprintable(&name),
            escape_unprintable(&reason)
        );
    }
    for (name, path) in report.runtime.list_unspellable_paths() {
        write_styled(&mut out, style.color, "31;1", "error");
        let _ = writeln!(out, ": {}", describe_reserved(name, path));
    }
    if !style.quiet {
        let statistics = report.runtime.statistics();
        let layers = pluralize(statistics.num_layers as usize, "layer");
        let names: Vec<String> = report.snapshot.layers().iter().map(format_name).collect();
        let names =
            if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
        let _ =
            writeln!(out, "{} in {layers}{names}", pluralize(statistics.num_keys as usize, "key"));
    }
    out
}

/// The last layer that has a key, its place among the layers, and the value. Unlike what readers
/// get, this is there for the empty key, too.
fn find_last<'s>(
    snapshot: &'s RuntimeSnapshot,
    key: &str,
) -> Option<(usize, &'s EffectiveLayer, &'s RuntimeValue)> {
    let layers = snapshot.layers().iter().enumerate().rev();
    { layers }.find_map(|(at, layer)| Some((at, layer, layer.values.get(key)?)))
}

/// The name of a layer. The one that comes of an empty list has none.
fn format_name(layer: &EffectiveLayer) -> String {
    match &*layer.name {
        "" => "an admin layer without a name".to_owned(),
        name => escape_unprintable(name),
    }
}

/// The layers that an error left out, and the error.
fn list_dropped(report: &RuntimeReport<'_>) -> Vec<(String, String)> {
    let failed = report.runtime.iter_left_out().filter_map(|(layer, failure)| {
        let LayerSource::Disk(disk) = &layer.source else { return None };
        let folder = disk.folder.trim_matches('/');
        Some((layer.name.to_string(), format!("in `{}/{folder}`, {}", disk.symlink_root, failure?)))
    });
    failed.collect()
}

fn describe_reserved(layer: &str, path: &str) -> String {
    format!(
        "the layer `{}` has `{}`: `numerator` and `denominator` are reserved for shares, so no \
         other layer can set this key",
        escape_unprintable(layer),
        escape_unprintable(path)
    )
}

/// A value as people write it.
fn format_value(value: &RuntimeValue) -> String {
    match &value.literal {
        RuntimeLiteral::Text(_) if value.as_number().is_none() => format!("{:?}", value.text),
        RuntimeLiteral::Null | RuntimeLiteral::List if value.text.is_empty() => "\"\"".to_owned(),
        RuntimeLiteral::Null | RuntimeLiteral::List => value.text.trim().to_owned(),
        RuntimeLiteral::Text(_) => value.text.trim().to_owned(),
        literal => literal.to_string(),
    }
}

/// Names the type of a value, as readers of the key see it.
fn describe_type(value: &RuntimeValue) -> &'static str {
    match &value.literal {
        RuntimeLiteral::Bool(_) => "boolean",
        _ if value.as_percent().is_some() => "share",
        _ => match (value.as_number(), value.as_integer()) {
            (Some(number), Some(_)) if number.fract() == 0.0 => "integer",
            (Some(_), _) => "number",
            (None, _) => "text",
        },
    }
}

/// The value in JSON: texts that are no numbers keep their text.
fn convert_to_json(literal: &RuntimeLiteral, text: &str) -> Value {
    match literal {
        RuntimeLiteral::Bool(value) => json!(value),
        RuntimeLiteral::Number(number) if number.fract() == 0.0 && number.abs() < 1e15 => {
            json!(*number as i64)
        }
        RuntimeLiteral::Number(number) => json!(number),
        RuntimeLiteral::Text(_) | RuntimeLiteral::Null | RuntimeLiteral::List => json!(text),
        RuntimeLiteral::Struct(members) => {
            let members = members.iter().map(|it| {
                let text = if let RuntimeLiteral::Text(text) = &it.value { text } else { "" };
                (it.key.to_string(), convert_to_json(&it.value, text))
            });
            Value::Object(members.collect::<Map<_, _>>())
        }
    }
}

/// JSON Lines: `RuntimeKey`, then `RuntimeProblem`, then a `RuntimeSummary`.
pub(super) fn render_json(report: &RuntimeReport<'_>, _: Style) -> String {
    let mut lines = Vec::new();
    for key in report.keys {
        let Some((_, _, value)) = find_last(report.snapshot, key) else { continue };
        let layers = report.snapshot.layers().iter().filter_map(|layer| {
            let value = layer.values.get(*key)?;
            Some(
                json!({"name": *layer.name, "value": convert_to_json(&value.literal, &value.text)}),
            )
        });
        lines.push(json!({
            "kind": "key",
            "key": key,
            "layers": layers.collect::<Vec<_>>(),
            "final": convert_to_json(&value.literal, &value.text),
            "type": describe_type(value),
        }));
    }
    for place in report.places {
        let [start, end] =
            [place.start, place.end].map(|it| json!({"line": it.line, "column": it.column}));
        lines.push(json!({
            "kind": "problem",
            "severity": place.severity(),
            "message": place.message,
            "path": report.path,
            "start": start,
            "end": end,
        }));
    }
    for (layer, path) in report.runtime.list_unspellable_paths() {
        let message = describe_reserved(layer, path);
        let line = json!({"kind": "problem", "severity": "error", "message": message});
        lines.push(line);
    }
    lines.push(build_summary(report));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn build_summary(report: &RuntimeReport<'_>) -> Value {
    let statistics = report.runtime.statistics();
    let names: Vec<&str> = report.snapshot.layers().iter().map(|it| &*it.name).collect();
    let left_out = report.runtime.iter_left_out().map(|(layer, failure)| {
        let reason =
            failure.map_or_else(|| "there is no such folder".to_owned(), ToString::to_string);
        json!({"name": *layer.name, "reason": reason})
    });
    let mut summary = json!({
        "kind": "summary",
        "num_keys": statistics.num_keys,
        "num_layers": statistics.num_layers,
        "load_success": statistics.load_success,
        "load_error": statistics.load_error,
        "override_dir_exists": statistics.override_dir_exists,
        "override_dir_not_exists": statistics.override_dir_not_exists,
        "admin_overrides_active": u32::from(statistics.admin_overrides_active),
        "layers": names,
        "left_out": left_out.collect::<Vec<_>>(),
    });
    let known = [
        ("service_cluster", Some(report.runtime.layers().service_cluster())),
        ("service_node", report.service_node),
    ];
    for (key, name) in known {
        if let Some(name) = name.filter(|it| !it.is_empty()) {
            summary[key] = json!(name);
        }
    }
    summary
}
