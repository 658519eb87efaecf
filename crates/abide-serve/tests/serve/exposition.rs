//! A linter for the text format of Prometheus, with the rules of its documentation: "Exposition
//! formats", "Metric and label naming" and "Writing exporters".

use std::collections::{BTreeMap, BTreeSet};

/// The samples of a text, by name and labels as they are written.
pub(crate) type Samples = BTreeMap<String, f64>;

/// Units that are not the base units that names have.
const OTHER_UNITS: &[&str] = &[
    "milliseconds",
    "ms",
    "millis",
    "microseconds",
    "us",
    "nanoseconds",
    "ns",
    "sec",
    "secs",
    "minutes",
    "hours",
    "days",
    "kilobytes",
    "kb",
    "kib",
    "megabytes",
    "mb",
    "mib",
    "bits",
    "percent",
    "percentage",
    "fahrenheit",
];

/// Base units, which stand at the end of a name, before `_total`.
const UNITS: &[&str] = &["seconds", "bytes", "ratio"];

/// Words that mean a time or a size, so that a unit has to follow.
const MEASURED: &[&str] = &["uptime", "age", "duration", "latency", "time", "memory", "size"];

/// Words that say of a metric what its type says.
const TYPES: &[&str] = &["counter", "gauge", "histogram", "summary", "metric"];

/// A metric, as its head has it.
#[derive(Clone, Debug, PartialEq)]
struct Head<'t> {
    name: &'t str,
    help: &'t str,
    kind: &'t str,
}

/// Reads a text, and lists everything that is wrong with it.
pub(crate) fn lint(text: &str) -> (Samples, Vec<String>) {
    let (mut samples, mut faults) = (Samples::new(), Vec::new());
    let mut seen = BTreeSet::new();
    let mut current: Option<Head<'_>> = None;
    if !text.ends_with('\n') {
        faults.push("the last line has no end".to_owned());
    }
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').unwrap_or((rest, ""));
            current = Some(Head { name, help, kind: "" });
            if !seen.insert(name) {
                faults.push(format!("{name} is there twice"));
            }
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap_or((rest, ""));
            match &mut current {
                Some(head) if head.name == name => {
                    head.kind = kind;
                    faults.extend(lint_name(head));
                }
                _ => faults.push(format!("{name} has no help before its type")),
            }
        } else if !line.starts_with('#') {
            faults.extend(read_sample(line, current.as_ref(), &mut samples).err());
        }
    }
    faults.extend(lint_histograms(&samples));
    (samples, faults)
}

/// The samples of a text that nothing is wrong with.
pub(crate) fn samples(text: &str) -> Samples {
    let (samples, faults) = lint(text);
    assert_eq!(faults, Vec::<String>::new(), "{text}");
    samples
}

/// The name, the help and the type of a metric.
fn lint_name(head: &Head<'_>) -> Vec<String> {
    let Head { name, help, kind } = *head;
    let mut faults = Vec::new();
    let mut fault = |holds: bool, text: &str| {
        if holds {
            faults.push(format!("{name} {text}"));
        }
    };
    fault(!is_snake_case(name), "is not in snake case");
    fault(help.is_empty(), "has no help");
    fault(!help.ends_with(['.', '1']), "has a help that is no sentence");
    fault(!["counter", "gauge", "histogram"].contains(&kind), "has no type");
    fault((kind == "counter") != name.ends_with("_total"), "is a counter, or ends in `_total`");
    let words: Vec<&str> = name.strip_suffix("_total").unwrap_or(name).split('_').collect();
    let has = |list: &[&str]| words.iter().any(|it| list.contains(it));
    fault(has(OTHER_UNITS), "has another unit than a base unit");
    fault(has(TYPES), "has its type in its name");
    let last = words.last().copied().unwrap_or_default();
    let inner = &words[..words.len().saturating_sub(1)];
    fault(inner.iter().any(|it| UNITS.contains(it)), "has a unit that is not its end");
    let is_event = name.ends_with("_since_process_start");
    fault(has(MEASURED) && !UNITS.contains(&last) && !is_event, "measures, and has no unit");
    fault(
        ["_count", "_sum", "_bucket"].iter().any(|it| name.ends_with(it)),
        "ends as a histogram's parts",
    );
    faults
}

fn is_snake_case(name: &str) -> bool {
    name.starts_with(|it: char| it.is_ascii_lowercase())
        && name.chars().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_')
        && !name.contains("__")
        && !name.ends_with('_')
}

/// A line with a number.
fn read_sample(line: &str, head: Option<&Head<'_>>, samples: &mut Samples) -> Result<(), String> {
    let fault = |text: &str| Err(format!("{text}: {line}"));
    let Some((key, number)) = line.rsplit_once(' ') else { return fault("there is no number") };
    let Ok(number) = number.parse::<f64>() else { return fault("this is no number") };
    let (name, labels) = match key.split_once('{') {
        Some((name, labels)) => match labels.strip_suffix('}') {
            Some(labels) => (name, read_labels(labels)),
            None => return fault("the labels have no end"),
        },
        None => (key, Some(Vec::new())),
    };
    let Some(labels) = labels else { return fault("the labels cannot be read") };
    let Some(head) = head else { return fault("it is of no metric") };
    let ending = name.strip_prefix(head.name);
    let is_part = match head.kind {
        "histogram" => matches!(ending, Some("_bucket" | "_sum" | "_count")),
        _ => ending == Some(""),
    };
    if !is_part {
        return fault("it is not of the metric above it");
    }
    let has_bound = labels.iter().any(|(name, _)| name == "le");
    if has_bound != (ending == Some("_bucket")) {
        return fault("buckets have a bound, and nothing else has");
    }
    let names: BTreeSet<&String> = labels.iter().map(|it| &it.0).collect();
    if names.len() != labels.len() || !names.iter().all(|it| is_snake_case(it)) {
        return fault("a label is there twice, or is not in snake case");
    }
    if head.kind == "counter" && (number < 0.0 || !number.is_finite()) {
        return fault("counters only grow");
    }
    match samples.insert(key.to_owned(), number) {
        None => Ok(()),
        Some(_) => fault("it is there twice"),
    }
}

/// The names and values of labels; `None` if they are not as the format has them.
pub(crate) fn read_labels(text: &str) -> Option<Vec<(String, String)>> {
    let mut labels = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (name, after) = rest.split_once("=\"")?;
        let mut value = String::new();
        let mut chars = after.char_indices();
        let end = loop {
            match chars.next()? {
                (at, '"') => break at,
                (_, '\\') => match chars.next()?.1 {
                    'n' => value.push('\n'),
                    it @ ('\\' | '"') => value.push(it),
                    _ => return None,
                },
                (_, it) => value.push(it),
            }
        };
        labels.push((name.to_owned(), value));
        rest = &after[end + 1..];
        rest = match rest.strip_prefix(',') {
            Some(more) if !more.is_empty() => more,
            Some(_) => return None,
            None if rest.is_empty() => rest,
            None => return None,
        };
    }
    Some(labels)
}

/// Buckets count up, and the last has all.
fn lint_histograms(samples: &Samples) -> Vec<String> {
    let mut buckets: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for (key, count) in samples {
        let Some((name, labels)) = key.split_once("_bucket{") else { continue };
        let bound = labels.split("le=\"").nth(1).and_then(|it| it.split('"').next());
        let bound = bound.and_then(|it| it.replace("+Inf", "inf").parse().ok());
        buckets.entry(name).or_default().push((bound.unwrap_or(f64::NAN), *count));
    }
    let mut faults = Vec::new();
    for (name, mut buckets) in buckets {
        buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
        let grows = buckets.windows(2).all(|it| it[0].1 <= it[1].1);
        let (bound, all) = *buckets.last().expect("there is one");
        if !grows || bound != f64::INFINITY || samples.get(&format!("{name}_count")) != Some(&all) {
            faults.push(format!("the buckets of {name} do not add up: {buckets:?}"));
        }
    }
    faults
}

#[test]
fn the_linter_finds_what_prometheus_would() {
    let metric = |name: &str, kind: &str, samples: &str| {
        lint(&format!("# HELP {name} Some help.\n# TYPE {name} {kind}\n{samples}\n")).1
    };
    for (name, kind) in [
        ("a_seconds", "gauge"),
        ("a_bytes_total", "counter"),
        ("a", "gauge"),
        ("a_end_timestamp_seconds", "gauge"),
    ] {
        assert_eq!(metric(name, kind, &format!("{name} 1")), Vec::<String>::new());
    }
    for (name, kind) in [
        ("a", "counter"),
        ("a_total", "gauge"),
        ("a_ms", "gauge"),
        ("a_uptime", "gauge"),
        ("a_seconds_b", "gauge"),
        ("a_gauge", "gauge"),
        ("aB", "gauge"),
        ("a:b", "gauge"),
        ("a__b", "gauge"),
        ("a_count", "gauge"),
        ("a", "number"),
        ("a_kilobytes_total", "counter"),
    ] {
        assert_eq!(metric(name, kind, &format!("{name} 1")).len(), 1, "{name} {kind}");
    }
    for sample in [
        "b 1",
        "a",
        "a x",
        "a{b=\"c\" 1",
        "a{b=c} 1",
        "a{b=\"c\",} 1",
        "a{b=\"\\x\"} 1",
        "a 1\na 2",
        "a{b=\"1\",b=\"2\"} 1",
        "a{B=\"1\"} 1",
        "a_bucket{le=\"1\"} 1",
    ] {
        assert_eq!(metric("a", "gauge", sample).len(), 1, "{sample}");
    }
    let histogram = "h_bucket{le=\"1\"} 1\nh_bucket{le=\"+Inf\"} 2\nh_sum 3\nh_count 2";
    assert_eq!(metric("h", "histogram", histogram), Vec::<String>::new());
    for (old, new) in [("} 1\n", "} 3\n"), ("+Inf", "9"), ("_count 2", "_count 1")] {
        assert_eq!(metric("h", "histogram", &histogram.replace(old, new)).len(), 1, "{new}");
    }
    assert_eq!(lint("# TYPE a gauge\na 1").1.len(), 3, "no help, no metric, no end");
}
