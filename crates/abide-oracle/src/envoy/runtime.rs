//! Compares the layered runtime with that of a real Envoy: the same bootstraps, folders and
//! overrides, then the layers, keys, values and statistics. Changes of resources must cost what
//! `abide config diff` says.

mod costs;
mod readers;
mod stacks;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use abide_harness::Result;
use abide_harness::corpora;
use abide_harness::envoys::{Envoy, envoys};
use abide_harness::running_envoy::{RunningEnvoy, Started};
use abide_instance::runtime::{
    DeclaredLayers, LayerProblem, Runtime, RuntimeLiteral, RuntimeRefusal, RuntimeValue,
    get_known_bootstrap,
};
use abide_instance::{Instance, Notation, ReadOptions};
use abide_source::runtime_disk::read_layers;
use serde_json::Value;

use self::stacks::Stack;

/// So many of the random stacks are tried; those written by hand are tried all.
const RANDOM: u64 = 40;
/// The random stacks are the same for a seed.
const SEED: u64 = 17;

/// Runs every stack on both sides, and then changes of resources; true if nothing differs.
pub(crate) fn run(abide: &Path) -> Result<bool> {
    let newest = envoys()?.into_iter().next().ok_or("no Envoy is installed")?;
    let folder = corpora::make_fresh_folder("runtime")?;
    let mut stacks = stacks::list_written_stacks();
    let by_hand = stacks.len();
    stacks.extend((0..RANDOM).map(|it| stacks::generate_stack(SEED, it)));
    let (mut differences, mut explained, mut refused) = (0, 0, 0);
    for (at, stack) in stacks.iter().enumerate() {
        let place = folder.join(at.to_string());
        std::fs::create_dir_all(&place)?;
        stack.write(&place)?;
        let theirs = ask_envoy(&newest, stack, &place)?;
        let ours = evaluate_stack(stack, &place)?;
        refused += u32::from(theirs.refused.is_some());
        let found = compare(&ours, &theirs);
        match (found.is_empty(), stack.reason) {
            (true, None) => {}
            (true, Some(reason)) => {
                differences += 1;
                println!("{}: agrees, though it should not: {reason}", stack.name);
            }
            (false, Some(reason)) => {
                explained += 1;
                println!("{}: differs: {reason}", stack.name);
            }
            (false, None) => {
                differences += 1;
                println!("{}: DIFFERS\n{found}  bootstrap:\n{}", stack.name, stack.bootstrap());
            }
        }
    }
    println!(
        "runtime: {} stacks against Envoy {}, {by_hand} by hand and {RANDOM} random (seed {SEED}); \
         {refused} refused by both; {explained} differ for a reason; {differences} differences",
        stacks.len(),
        newest.version
    );
    Ok((differences == 0) & readers::run(&newest)? & costs::run(&newest, abide)?)
}

/// What one side makes of a stack.
#[derive(Debug, Default)]
struct Outcome {
    /// Why it does not start.
    refused: Option<String>,
    layers: Vec<String>,
    /// By key: the text of each layer, and the final one.
    keys: BTreeMap<String, (Vec<String>, String)>,
    statistics: BTreeMap<&'static str, u64>,
    /// For each set of overrides, whether it was taken.
    modified: Vec<bool>,
}

const STATISTICS: &[&str] = &["num_layers", "num_keys", "admin_overrides_active"];
/// Of these only whether they count at all is compared: Envoy makes a snapshot more than once.
const COUNTERS: &[&str] = &["load_error", "override_dir_exists"];

fn ask_envoy(envoy: &Envoy, stack: &Stack, place: &Path) -> Result<Outcome> {
    let started = RunningEnvoy::start(envoy, &place.join(stack.file), &stack.args(), place)?;
    let running = match started {
        Started::Running(running) => running,
        Started::Refused(said) => return Ok(Outcome { refused: Some(said), ..Outcome::default() }),
    };
    let mut outcome = Outcome::default();
    for pairs in stack.modify {
        let pairs =
            pairs.iter().map(|(key, value)| format!("{}={}", escape_text(key), escape_text(value)));
        let query = pairs.collect::<Vec<_>>().join("&");
        let said = running.post(&format!("/runtime_modify?{query}"))?;
        outcome.modified.push(said.trim() == "OK");
    }
    let shown: Value = serde_json::from_str(&running.get("/runtime")?)?;
    let texts = |value: &Value| {
        let texts = value.as_array().into_iter().flatten();
        texts.map(|it| it.as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    outcome.layers = texts(&shown["layers"]);
    for (key, entry) in shown["entries"].as_object().ok_or("`/runtime` shows no entries")? {
        let last = entry["final_value"].as_str().unwrap_or_default();
        let layers = texts(&entry["layer_values"]).iter().map(|it| normalize_text(it)).collect();
        outcome.keys.insert(key.clone(), (layers, normalize_text(last)));
    }
    let statistics: BTreeMap<String, String> =
        running.statistics("%5Eruntime")?.into_iter().collect();
    for name in STATISTICS.iter().chain(COUNTERS) {
        let count = statistics.get(&format!("runtime.{name}")).and_then(|it| it.parse().ok());
        outcome.statistics.insert(name, count.ok_or("a statistic is missing")?);
    }
    Ok(outcome)
}

fn evaluate_stack(stack: &Stack, place: &Path) -> Result<Outcome> {
    let (tree, bootstrap) = get_known_bootstrap();
    let file = place.join(stack.file);
    let notation = Notation::from_path(stack.file).ok_or("the file has a notation")?;
    let options = ReadOptions { notation, ty: Some(bootstrap), dialect: None };
    let instance = Instance::read(&tree, &std::fs::read(&file)?, options);
    let reading = instance.documents.first().and_then(|it| it.reading.as_ref());
    let message = &reading.ok_or("a stack is a bootstrap")?.message;
    let layers = match stack.service_cluster {
        Some(cluster) => DeclaredLayers::from_bootstrap_of_cluster(&tree, message, cluster),
        None => DeclaredLayers::from_bootstrap(&tree, message),
    };
    if let Some(problem) = layers.problems().iter().find(|it| LayerProblem::is_refused(it)) {
        return Ok(Outcome { refused: Some(problem.to_string()), ..Outcome::default() });
    }
    let readings = read_layers(&layers, place);
    let mut runtime = Runtime::new(layers, readings);
    let mut outcome = Outcome::default();
    for pairs in stack.modify {
        let taken: std::result::Result<(), RuntimeRefusal> = runtime.modify(pairs.iter().copied());
        outcome.modified.push(taken.is_ok());
    }
    let snapshot = runtime.snapshot();
    outcome.layers = snapshot.layers().iter().map(|it| it.name.to_string()).collect();
    for key in snapshot.keys() {
        let texts =
            snapshot.iter_by_layer(key).map(|it| it.map_or_else(String::new, render_runtime_value));
        let texts: Vec<String> = texts.collect();
        // What `/runtime` of Envoy calls final passes over empty values.
        let last = texts.iter().rev().find(|it| !it.is_empty()).cloned().unwrap_or_default();
        outcome.keys.insert(key.to_owned(), (texts, last));
    }
    let statistics = runtime.statistics();
    outcome.statistics = BTreeMap::from([
        ("num_layers", statistics.num_layers),
        ("num_keys", statistics.num_keys),
        ("admin_overrides_active", u64::from(statistics.admin_overrides_active)),
        ("load_error", statistics.load_error),
        ("override_dir_exists", statistics.override_dir_exists),
    ]);
    Ok(outcome)
}

/// The text of a value as Envoy shows it.
fn render_runtime_value(value: &RuntimeValue) -> String {
    match &value.literal {
        RuntimeLiteral::Struct(_) if *value.text == *value.literal.to_string() => {
            let mut text = String::new();
            write_debug_text(&value.literal, &mut text);
            normalize_text(&format!("{DEBUG_MARK} {text}"))
        }
        _ => value.text.to_string(),
    }
}

/// What begins a text that is a value of C++ made visible, which has no fixed form.
const DEBUG_MARK: &str = "goo.gle/debug";

/// The words of a struct as C++ shows it.
fn write_debug_text(literal: &RuntimeLiteral, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = match literal {
        RuntimeLiteral::Null => write!(out, "null_value: NULL_VALUE "),
        RuntimeLiteral::Bool(value) => write!(out, "bool_value: {value} "),
        RuntimeLiteral::Number(number) => write!(out, "number_value: {number} "),
        RuntimeLiteral::Text(text) => write!(out, "string_value: {text:?} "),
        RuntimeLiteral::List => write!(out, "list_value {{ "),
        RuntimeLiteral::Struct(members) => {
            for member in members {
                let _ = write!(out, "fields {{ key: {:?} value {{ ", member.key);
                if let RuntimeLiteral::Struct(_) = member.value {
                    out.push_str("struct_value { ");
                    write_debug_text(&member.value, out);
                    out.push_str("} ");
                } else {
                    write_debug_text(&member.value, out);
                }
                out.push_str("} } ");
            }
            Ok(())
        }
    };
}

/// Of a struct as C++ shows it, the words in order: neither the order of its keys nor its white
/// space is fixed.
fn normalize_text(text: &str) -> String {
    if !text.starts_with(DEBUG_MARK) {
        return text.to_owned();
    }
    let mut words: Vec<&str> = text.split_ascii_whitespace().skip(1).collect();
    words.sort_unstable();
    format!("{DEBUG_MARK} {}", words.join(" "))
}

/// A part of a query.
fn escape_text(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// What differs, a line each.
fn compare(ours: &Outcome, theirs: &Outcome) -> String {
    let mut found = String::new();
    let mut differ = |what: &str, ours: String, theirs: String| {
        if ours != theirs {
            let _ = writeln!(found, "  {what}: ours {ours}, Envoy {theirs}");
        }
    };
    match (&ours.refused, &theirs.refused) {
        (None, None) => {}
        (Some(_), Some(_)) => return found,
        (ours, theirs) => {
            differ("refused", format!("{ours:?}"), format!("{theirs:?}"));
            return found;
        }
    }
    differ("layers", format!("{:?}", ours.layers), format!("{:?}", theirs.layers));
    for key in ours.keys.keys().chain(theirs.keys.keys().filter(|it| !ours.keys.contains_key(*it)))
    {
        let shown = |it: &Outcome| format!("{:?}", it.keys.get(key));
        differ(&format!("key {key:?}"), shown(ours), shown(theirs));
    }
    let shown = |it: &Outcome, name: &str| it.statistics.get(name).copied().unwrap_or_default();
    for name in STATISTICS {
        differ(name, shown(ours, name).to_string(), shown(theirs, name).to_string());
    }
    for name in COUNTERS {
        let counts = |it: &Outcome| (shown(it, name) > 0).to_string();
        differ(name, counts(ours), counts(theirs));
    }
    differ("overrides", format!("{:?}", ours.modified), format!("{:?}", theirs.modified));
    found
}
