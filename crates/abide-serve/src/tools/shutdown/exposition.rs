//! Reads one metric out of the Prometheus text format, version 0.0.4, as it arrives.
//!
//! The libraries for it either skip lines that they cannot read, or refuse metrics
//! whose samples differ in their labels, as those of proxies do. A proxy of many
//! clusters sends a hundred megabytes, so nothing is kept but the line at hand.

use std::collections::BTreeMap;
use std::fmt;

/// A line may not be longer. Those of Envoy are some hundred bytes.
const MAX_LINE: usize = 1 << 20;

/// Sums the samples of metrics whose label has one of some values. Metrics that have the same value
/// count the same things: the largest one is taken.
#[derive(Debug)]
pub(super) struct Sum<'a> {
    /// Each metric with its label.
    metrics: &'a [(&'a str, &'a str)],
    values: &'a [String],
    line: Vec<u8>,
    number: usize,
    /// By the number of the value, then by that of the metric.
    sums: BTreeMap<usize, BTreeMap<usize, f64>>,
}

/// A text that is not in the format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Malformed {
    /// The line, from 1.
    pub(super) line: usize,
    reason: &'static str,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} of the metrics is malformed: {}", self.line, self.reason)
    }
}

impl<'a> Sum<'a> {
    /// Of the samples of some metrics, each with a label that is one of `values`.
    pub(super) fn of(metrics: &'a [(&'a str, &'a str)], values: &'a [String]) -> Sum<'a> {
        Sum { metrics, values, line: Vec::new(), number: 0, sums: BTreeMap::new() }
    }

    /// Takes the next bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        let mut lines = bytes.split(|byte| *byte == b'\n');
        let last = lines.next_back().unwrap_or_default();
        for line in lines {
            self.line.extend_from_slice(line);
            self.end_line()?;
        }
        self.line.extend_from_slice(last);
        if self.line.len() > MAX_LINE {
            return Err(Malformed {
                line: self.number + 1,
                reason: "it is longer than a megabyte",
            });
        }
        Ok(())
    }

    /// The sum of what was taken; `None` if there was no such sample.
    pub(super) fn finish(mut self) -> Result<Option<u64>, Malformed> {
        self.end_line()?;
        let largest = |it: &BTreeMap<usize, f64>| it.values().copied().fold(0.0, f64::max);
        let sum: f64 = self.sums.values().map(largest).sum();
        // Counts of connections are whole.
        Ok((!self.sums.is_empty()).then_some(sum as u64))
    }

    fn end_line(&mut self) -> Result<(), Malformed> {
        self.number += 1;
        let line = std::mem::take(&mut self.line);
        let failed = |reason| Malformed { line: self.number, reason };
        let text = std::str::from_utf8(&line).map_err(|_| failed("it is not UTF-8"))?.trim();
        if text.is_empty() || text.starts_with('#') {
            return Ok(());
        }
        let sample = Sample::read(text).map_err(failed)?;
        let is_count = |it: f64| it.is_finite() && it >= 0.0;
        let Some(metric) = self.metrics.iter().position(|it| it.0 == sample.name) else {
            return Ok(());
        };
        let label = self.metrics[metric].1;
        let labels = sample.labels.iter().filter(|(name, _)| *name == label);
        let asked = |(_, value): &(&str, String)| self.values.iter().position(|it| it == value);
        if let Some(value) = labels.filter_map(asked).next() {
            if !is_count(sample.value) {
                return Err(failed("its value is no number of connections"));
            }
            *self.sums.entry(value).or_default().entry(metric).or_default() += sample.value;
        }
        Ok(())
    }
}

/// A line of the format: `name{label="value",…} number [time]`.
struct Sample<'t> {
    name: &'t str,
    labels: Vec<(&'t str, String)>,
    value: f64,
}

impl<'t> Sample<'t> {
    fn read(text: &'t str) -> Result<Sample<'t>, &'static str> {
        let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == ':';
        let end = text.find(|it| !is_name(it)).ok_or("it has no value")?;
        let (name, mut rest) = text.split_at(end);
        if name.is_empty() || name.starts_with(|it: char| it.is_ascii_digit()) {
            return Err("it does not begin with the name of a metric");
        }
        let mut labels = Vec::new();
        rest = rest.trim_start();
        if let Some(inside) = rest.strip_prefix('{') {
            rest = inside.trim_start();
            while !rest.starts_with('}') {
                let (label, after) = rest.split_once('=').ok_or("a label has no value")?;
                let quoted = after.trim_start().strip_prefix('"');
                let (value, after) = unquote(quoted.ok_or("the value of a label is not quoted")?)?;
                labels.push((label.trim(), value));
                rest = after.trim_start();
                match rest.strip_prefix(',') {
                    Some(next) => rest = next.trim_start(),
                    None if rest.starts_with('}') => {}
                    None => return Err("its labels do not end"),
                }
            }
            rest = &rest[1..];
        }
        let mut words = rest.split_whitespace();
        let value = words.next().ok_or("it has no value")?;
        let value = value.parse().map_err(|_| "its value is not a number")?;
        let is_time = |it: &str| it.parse::<i64>().is_ok();
        if !words.next().is_none_or(is_time) || words.next().is_some() {
            return Err("something follows its value");
        }
        Ok(Sample { name, labels, value })
    }
}

/// The value of a label whose opening quotation mark was read, and what follows it.
fn unquote(text: &str) -> Result<(String, &str), &'static str> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => return Ok((value, &text[at + 1..])),
            '\\' => match chars.next() {
                Some((_, 'n')) => value.push('\n'),
                Some((_, escaped)) => value.push(escaped),
                None => break,
            },
            other => value.push(other),
        }
    }
    Err("the value of a label does not end")
}

#[cfg(test)]
mod tests {
    use super::*;

    const METRIC: &str = "envoy_http_downstream_cx_active";
    const LABEL: &str = "envoy_http_conn_manager_prefix";
    const TCP: &str = "envoy_listener_downstream_cx_active";
    const METRICS: &[(&str, &str)] = &[(METRIC, LABEL), (TCP, "envoy_listener_address")];

    fn sum(text: &str, values: &[&str]) -> Result<Option<u64>, Malformed> {
        let values: Vec<String> = values.iter().map(|it| (*it).to_owned()).collect();
        let whole = {
            let mut sum = Sum::of(METRICS, &values);
            sum.push(text.as_bytes()).and_then(|()| sum.finish())
        };
        // However the text is cut on its way.
        for size in [1, 7] {
            let mut sum = Sum::of(METRICS, &values);
            let pushed = text.as_bytes().chunks(size).try_for_each(|it| sum.push(it));
            assert_eq!(pushed.and_then(|()| sum.finish()), whole, "pieces of {size}");
        }
        whole
    }

    fn of_both(text: &str) -> Result<Option<u64>, Malformed> {
        sum(text, &["ingress_http", "ingress_https"])
    }

    fn sample(prefix: &str, value: &str) -> String {
        format!("{METRIC}{{{LABEL}=\"{prefix}\"}} {value}\n")
    }

    #[test]
    fn only_connections_of_the_two_listeners_are_summed() {
        let (http, https) = (sample("ingress_http", "4"), sample("ingress_https", "4"));
        let admin = sample("admin", "1");
        assert_eq!(of_both(&format!("# TYPE {METRIC} gauge\n{admin}{http}")), Ok(Some(4)));
        assert_eq!(of_both(&format!("{admin}{https}")), Ok(Some(4)));
        assert_eq!(of_both(&format!("{http}{admin}{https}")), Ok(Some(8)));
        assert_eq!(sum(&format!("{http}{admin}"), &["admin"]), Ok(Some(1)));
    }

    #[test]
    fn connections_of_tcp_count_and_none_counts_twice() {
        let listener =
            |name: &str, count| format!("{TCP}{{envoy_listener_address=\"{name}\"}} {count}\n");
        let tcp = listener("tcp_in", 3);
        assert_eq!(sum(&tcp, &["tcp_in"]), Ok(Some(3)));
        let http = sample("ingress_http", "4");
        assert_eq!(sum(&format!("{tcp}{http}"), &["tcp_in", "ingress_http"]), Ok(Some(7)));
        let both = format!("{http}{}", listener("ingress_http", 5));
        assert_eq!(of_both(&both), Ok(Some(5)), "they are the same ones");
    }

    #[test]
    fn metric_samples_are_summed_as_integers() {
        let more = format!("{METRIC}{{a=\"1\",{LABEL}=\"ingress_http\",}} 2.0 1700000000\n");
        assert_eq!(
            of_both(&format!("{more}{more}{}", sample("ingress_http", "1e1"))),
            Ok(Some(14))
        );
        assert_eq!(of_both(sample("ingress_http", "3").trim_end()), Ok(Some(3)), "no last newline");
    }

    #[test]
    fn what_is_no_number_of_connections_is_not_zero() {
        for value in ["NaN", "-1", "+Inf", "-Inf"] {
            assert!(of_both(&sample("ingress_http", value)).is_err(), "{value}");
            assert_eq!(of_both(&sample("admin", value)), Ok(None), "nobody asked for it");
        }
        assert_eq!(of_both(&sample("ingress_http", "-0")), Ok(Some(0)));
    }

    #[test]
    fn a_missing_metric_is_an_error_and_not_zero() {
        assert_eq!(of_both(""), Ok(None));
        assert_eq!(of_both(&sample("admin", "1")), Ok(None));
        assert_eq!(of_both(&sample("ingress_http", "0")), Ok(Some(0)));
    }

    #[test]
    fn malformed_metrics_are_an_error() {
        for text in [
            "!!! no metrics !!!",
            "<html>not found</html>",
            "a",
            "a b",
            "a{b=\"c\" 1",
            "a{b=c} 1",
            "a{b=\"c} 1",
            "a 1 2 3",
            "1a 1",
        ] {
            let text = format!("{}{text}\n", sample("ingress_http", "1"));
            assert_eq!(of_both(&text).map_err(|it| it.line), Err(2), "{text}");
        }
        let endless = "a".repeat(MAX_LINE + 2);
        let mut sum = Sum::of(METRICS, &[]);
        assert!(sum.push(endless.as_bytes()).is_err());
    }

    #[test]
    fn labels_may_hold_what_is_escaped() {
        let text = format!("{METRIC}{{x=\"a\\\"b,}}\\n\",{LABEL}=\"ingress_http\"}} 5");
        assert_eq!(of_both(&text), Ok(Some(5)));
    }
}
