//! Replays the witnesses of findings with libraries that are independent of Abide.
//!
//! The Python runtime of protobuf must lose, change or reject a value on the wire,
//! in JSON or in text. For a witness about validation, protoc-gen-validate or
//! protovalidate must reject the value on one side and accept it on the other.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

use abide_harness::Result;
use serde_json::{Value, json};

use crate::judged_pairs::JudgedPair;

/// Known cases that the Python packages cannot show: a prefix of the rule, a part of
/// their output, and the reason.
const EXPLAINED: &[(&str, &str, &str)] = &[
    ("field-renamed", SWAPPED, "another field has the name now, so nothing differs by name"),
    (
        "field-json-name-changed",
        SWAPPED,
        "another field has the name now, so nothing differs by name",
    ),
    (
        "enum-value-json-name-changed",
        "Invalid enum value",
        "the Python package of protobuf 7.36 reads enum values by their own names alone",
    ),
    ("message-set-changed", "nothing goes wrong", "extensions are not compared here"),
    (
        "constraint-",
        "error invalid syntax",
        "the Python package of protoc-gen-validate cannot compile patterns with quotation marks",
    ),
];

const SWAPPED: &str = "the same by name, another field by number";

/// Replays all witnesses; true if each misbehaves as claimed, or has a reason why
/// these libraries cannot show it.
pub(crate) fn run(pairs: &[JudgedPair], show: usize) -> Result<bool> {
    let mut tried = Vec::new();
    let mut lines = String::new();
    for pair in pairs {
        let mut witnesses = Vec::new();
        for finding in &pair.findings {
            let witness = &finding["witness"];
            if witness.is_object() {
                let parts = ["surface", "direction", "type", "reader", "bytes"];
                witnesses.push(parts.map(|part| &witness[part]));
                tried.push((&pair.name, finding));
            }
        }
        if !witnesses.is_empty() {
            let [old, new] = &pair.sets;
            lines += &json!({ "old": old, "new": new, "witnesses": witnesses }).to_string();
            lines.push('\n');
        }
    }
    let mut confirmed: BTreeMap<&str, usize> = BTreeMap::new();
    let mut explained: BTreeMap<&str, usize> = BTreeMap::new();
    let mut wrong = 0;
    let faults = replay_witnesses(lines)?;
    if faults.len() != tried.len() {
        return Err(format!("{} answers to {} witnesses", faults.len(), tried.len()).into());
    }
    for ((pair, finding), fault) in tried.iter().zip(&faults) {
        let surface = finding["witness"]["surface"].as_str().unwrap_or_default();
        let Some(fault) = fault else {
            *confirmed.entry(surface).or_default() += 1;
            continue;
        };
        let rule = finding["rule"].as_str().unwrap_or_default();
        let known = EXPLAINED.iter().find(|it| rule.starts_with(it.0) && fault.contains(it.1));
        if let Some((_, _, why)) = known {
            *explained.entry(why).or_default() += 1;
            continue;
        }
        wrong += 1;
        if wrong <= show.max(1) {
            let message = &finding["message"];
            println!("  {pair}: {rule}: {message}: {}: {fault}", finding["witness"]);
        }
    }
    for (why, count) in &explained {
        println!("  {count} witnesses cannot be replayed: {why}");
    }
    println!(
        "witnesses: {}, confirmed {}, cannot be replayed {}, wrong {wrong}",
        tried.len(),
        confirmed
            .iter()
            .map(|(name, count)| format!("{name} {count}"))
            .collect::<Vec<_>>()
            .join(" "),
        explained.values().sum::<usize>(),
    );
    Ok(wrong == 0 && !confirmed.is_empty())
}

/// Why each witness shows nothing; `None` for those that show the break.
fn replay_witnesses(lines: String) -> Result<Vec<Option<String>>> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/src/runtimes/witnesses.py");
    let mut python = Command::new("python3");
    python.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut python = python.spawn().map_err(|error| format!("cannot run python3: {error}"))?;
    let mut input = python.stdin.take().ok_or("python3 has no input")?;
    // It writes output while it still reads input.
    let speaker = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let said = python.wait_with_output()?;
    if !said.status.success() {
        return Err("`pip install protobuf protovalidate protoc-gen-validate`?".into());
    }
    speaker.join().map_err(|_| "the input of python3 was lost")??;
    let answer = |line: &str| -> Result<Option<String>> {
        let line: Value = serde_json::from_str(line)?;
        Ok(line.as_str().map(str::to_owned))
    };
    String::from_utf8(said.stdout)?.lines().map(answer).collect()
}
