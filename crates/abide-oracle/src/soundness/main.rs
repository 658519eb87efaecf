//! `cargo xtask soundness`: checks that verdicts on changes are true.
//!
//! Random schemas are edited at random, and Abide checks each pair. Then the Python
//! runtime of protobuf, which is independent of Abide, passes random values between
//! the two sides. It is a failure if a value is lost, changed or rejected although
//! the pair was called compatible, or if a witness does not misbehave.
//!
//! What is written and what is found in generated code have laws of their own, which are tried on
//! generated files: `laws`; and so have lives of packages under every command, `versions`, carrying
//! values to another major, `carried`, writing itself, `kills`, and kept reports, `cached`.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a program at the edge: it runs others, reads and writes files, and prints"
)]

mod cached;
mod carried;
#[path = "../../../abide-instance/tests/translate/carrying.rs"]
mod carrying;
#[path = "../../../abide-instance/tests/translate/homes.rs"]
mod homes;
mod kills;
mod laws;
mod lives;
#[path = "../../../abide-instance/tests/translate/notations.rs"]
mod notations;
mod sabotages;
#[path = "../../../abide-lint/tests/schemas/mod.rs"]
mod schemas;
mod sequences;
mod values;
#[path = "../../../abide-cli/tests/version_lives/mod.rs"]
mod version_lives;
mod versions;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;

use abide_change::{Diff, Direction, Surface};
use abide_harness::programs::workspace;
use abide_harness::{Result, exit_code};
use abide_lint::{Config, Options, RuleScope};
use abide_schema::value::Codec;
use abide_schema::{FileDecl, Message, SourceFile, Tree, encode_set};
use base64::Engine;
use base64::prelude::BASE64_STANDARD as BASE64;
use clap::Parser;
use fastrand::Rng;
use serde_json::{Value, json};

use self::schemas::Schema;

/// Check random pairs of schemas, and pass random values between them with another runtime. Try
/// the laws of layouts, fixes, damage and generated code on random files.
#[derive(Parser)]
struct Arguments {
    /// The number of pairs to try.
    #[arg(long, default_value_t = 2000)]
    pairs: u64,
    /// The number of the first pair. With a single pair, the whole pair is printed.
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// The number of files to lay out, with comments and options at any place.
    #[arg(long, default_value_t = 100_000)]
    placements: u64,
    /// The number of trees to fix.
    #[arg(long, default_value_t = 1000)]
    fixes: u64,
    /// The number of pairs whose generated code is compared.
    #[arg(long, default_value_t = 20_000)]
    symbols: u64,
    /// The number of damages to do to files of trees.
    #[arg(long, default_value_t = 10_000)]
    damages: u64,
    /// The number of lives of clients of xDS, among servers that change, end and begin anew.
    #[arg(long, default_value_t = 100_000)]
    lives: u64,
    /// The number of lives of packages, from first versions over upgrades, releases and merges. Half
    /// of them begin with parts of the trees beside the workspace, if these are there.
    #[arg(long, default_value_t = 1000)]
    versions: u64,
    /// The number of lives in which a law of these lives has to be seen to fail, for each law, when the
    /// binary lies about it.
    #[arg(long, default_value_t = 60)]
    sabotages: u64,
    /// The number of values of Envoy's older API to carry to the newer one and back. This needs the
    /// trees beside the workspace.
    #[arg(long, default_value_t = 10_000)]
    carried: u64,
    /// The number of runs that write, to end at a random system call and to repeat. This needs
    /// strace.
    #[arg(long, default_value_t = 0)]
    kills: u64,
    /// The number of changes to repositories after which a run that may use a kept report is compared
    /// with one that keeps nothing.
    #[arg(long, default_value_t = 0)]
    cached: u64,
    /// The random seed: the same seed gives the same pairs, files, trees, damages and ends.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Run this binary instead of building the one of this workspace.
    #[arg(long, value_name = "FILE")]
    abide: Option<PathBuf>,
}

fn main() -> ExitCode {
    exit_code("soundness", try_laws(&Arguments::parse()))
}

/// Tries every law on as much random input as asked for; true if none is broken.
fn try_laws(arguments: &Arguments) -> Result<bool> {
    let seed = arguments.seed;
    let parts = [
        try_pairs(arguments.pairs, arguments.first, seed),
        laws::try_placements(arguments.placements, seed),
        laws::try_fixes(arguments.fixes, seed),
        laws::try_symbols(arguments.symbols, seed),
        laws::try_damages(arguments.damages, seed),
        lives::try_lives(arguments.lives, seed),
        versions::try_versions(arguments.versions, seed, arguments.abide.as_deref()),
        sabotages::try_sabotages(arguments.sabotages, seed, arguments.abide.as_deref()),
        carried::try_carrying(arguments.carried, seed),
        kills::try_kills(arguments.kills, seed, arguments.abide.as_deref()),
        cached::try_cached(arguments.cached, seed, arguments.abide.as_deref()),
    ];
    parts.into_iter().try_fold(true, |sound, part| Ok(sound & part?))
}

/// The number of values in each direction for each pair.
const VALUES: usize = 12;

/// Runs a check for each number below `count`, on all threads. Returns what the failures say.
fn run_in_parallel(
    count: u64,
    check: impl Fn(u64) -> Option<String> + Sync,
) -> Result<Vec<String>> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let check = &check;
    let failures = std::thread::scope(|scope| {
        let each = |worker: u64| (worker..count).step_by(workers).filter_map(check).collect();
        let threads: Vec<_> = (0..workers as u64)
            .map(|worker| scope.spawn(move || -> Vec<String> { each(worker) }))
            .collect();
        threads.into_iter().map(|thread| thread.join().map_err(|_| "a worker ended")).collect()
    });
    let failures: std::result::Result<Vec<Vec<String>>, &str> = failures;
    Ok(failures?.concat())
}

/// Checks this many pairs; true if there is no failure.
fn try_pairs(pairs: u64, first: u64, seed: u64) -> Result<bool> {
    if pairs == 0 {
        return Ok(true);
    }
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let share = |worker: u64| (first + worker..first + pairs).step_by(workers);
    let outcomes: Vec<std::result::Result<Tally, String>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers as u64)
            .map(|worker| {
                scope.spawn(move || {
                    judge_pairs(seed, share(worker)).map_err(|error| error.to_string())
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err("a worker ended".into())))
            .collect()
    });
    let mut total = Tally::default();
    for outcome in outcomes {
        let outcome = outcome?;
        for (name, count) in outcome.counts {
            *total.counts.entry(name).or_default() += count;
        }
        total.failures.extend(outcome.failures);
        total.edits += outcome.edits;
        total.compatible += outcome.compatible;
    }
    total.failures.sort_by_key(|failure| failure["pair"].as_u64());
    for failure in &total.failures {
        println!("{failure}");
        if let Some(id) = failure["pair"].as_u64() {
            let (old, new) = generate_pair(seed, id);
            match pairs {
                1 => print!("{}{}", print_schema(&old), print_schema(&new)),
                _ => print!("{}", list_changed_lines(&print_schema(&old), &print_schema(&new))),
            }
        }
    }
    let count = |name: &str| total.counts.get(name).copied().unwrap_or_default();
    println!(
        "soundness: seed {seed}, {} pairs of {} edits tried ({} compatible on every encoding), \
         {} values in {} crossings, {} witnesses, {} not readable by Python: {} failures",
        count("pairs"),
        total.edits,
        total.compatible,
        count("values"),
        count("crossings"),
        count("witnesses"),
        count("unreadable"),
        total.failures.len(),
    );
    if count("values") == 0 || count("witnesses") == 0 {
        return Err("nothing was tried".into());
    }
    Ok(total.failures.is_empty())
}

/// All files of a schema, one after the other.
fn print_schema(schema: &Schema) -> String {
    let files = schema.files().into_iter();
    files.map(|(path, text)| format!("// {path}\n{text}")).collect()
}

/// The lines that only one of two texts has.
fn list_changed_lines(old: &str, new: &str) -> String {
    let without = |text: &str, other: &str, mark: &str| -> String {
        let lines = text.lines().filter(|line| !other.lines().any(|it| it == *line));
        lines.map(|line| format!("{mark} {line}\n")).collect()
    };
    without(old, new, "-") + &without(new, old, "+")
}

#[derive(Default)]
struct Tally {
    counts: BTreeMap<String, u64>,
    failures: Vec<Value>,
    edits: u64,
    compatible: u64,
}

/// The pair with this number; always the same for a seed.
fn generate_pair(seed: u64, id: u64) -> (Schema, Schema) {
    let mut rng = Rng::with_seed(seed.wrapping_mul(0x9e37_79b9).wrapping_add(id));
    let old = Schema::random(&mut rng);
    let mut new = old.edited(&mut rng);
    if rng.u8(..3) == 0 {
        new = new.edited(&mut rng);
    }
    (old, new)
}

fn judge_pairs(seed: u64, ids: impl Iterator<Item = u64>) -> Result<Tally> {
    let mut reader = start_reader()?;
    let mut input = reader.stdin.take().ok_or("the reader has no input")?;
    let output = BufReader::new(reader.stdout.take().ok_or("the reader has no output")?);
    // It writes output while it still reads input.
    let listener = std::thread::spawn(move || -> Vec<String> {
        output.lines().map_while(std::result::Result::ok).collect()
    });
    let policy = Config::parse("", None).map_err(|_| "an empty policy is not valid")?.policy;
    let mut outcome = Tally::default();
    for id in ids {
        outcome.edits += 1;
        let (old, new) = generate_pair(seed, id);
        if !old.has_clear_extensions() || !new.has_clear_extensions() {
            continue;
        }
        let (old, new) = (link(&old), link(&new));
        let sound = |tree: &Tree| !tree.problems().iter().any(|it| it.kind.is_error());
        if sound(&old) && sound(&new) {
            let line = judge_pair(seed, id, &old, &new, &policy, &mut outcome);
            writeln!(input, "{line}")?;
        }
    }
    drop(input);
    let lines = listener.join().map_err(|_| "the output of the reader was lost")?;
    if !reader.wait()?.success() {
        return Err("the reader failed: `pip install protobuf`?".into());
    }
    for line in lines {
        let line: Value = serde_json::from_str(&line)?;
        match line["counts"].as_object() {
            Some(counts) => outcome.counts.extend(
                counts.iter().map(|(name, count)| (name.clone(), count.as_u64().unwrap_or(0))),
            ),
            None => outcome.failures.push(line),
        }
    }
    Ok(outcome)
}

fn start_reader() -> Result<Child> {
    let script = workspace()?.join("crates/abide-oracle/src/soundness/reader.py");
    let mut python = Command::new("python3");
    python.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped());
    Ok(python.spawn().map_err(|error| format!("cannot run python3: {error}"))?)
}

fn link(schema: &Schema) -> Tree {
    let files = schema.files().into_iter().map(|(path, text)| {
        let path: Arc<str> = path.into();
        let (display, text) = (path.clone(), text.into_bytes().into());
        let file = SourceFile { path, display, root: 0, imported: false, text };
        Arc::new(FileDecl::parse(file))
    });
    Tree::link(files.collect())
}

/// The input of the reader for a pair: both schemas, the verdict, values and
/// witnesses.
fn judge_pair(
    seed: u64,
    id: u64,
    old: &Tree,
    new: &Tree,
    policy: &abide_lint::Policy,
    outcome: &mut Tally,
) -> Value {
    let options = Options {
        scope: RuleScope::Changes,
        baseline: Some(old),
        changes: true,
        ..Options::on(jiff::civil::date(2026, 1, 1))
    };
    let report = abide_lint::check(new, policy, options);
    let diff = Diff::of(old, new);
    let mut broken = Vec::new();
    for finding in &report.findings {
        broken.extend(finding.effects().iter());
    }
    let notation = |surface: Surface| Surface::NOTATIONS.contains(&surface);
    broken.retain(|&(surface, _)| notation(surface));
    broken.sort();
    broken.dedup();
    outcome.compatible += u64::from(broken.is_empty());

    let messages = old.files().flat_map(|file| file.all_messages());
    let messages = messages.filter(|it| !it.is_map_entry());
    let messages = messages.filter_map(|it| Some((it, diff.new_message(it)?)));
    // Calls carry messages whatever their types are called.
    let methods = old.files().flat_map(|file| file.services()).flat_map(|it| it.methods());
    let methods = methods.filter_map(|it| Some((it, diff.new_method(it)?)));
    let calls = methods.flat_map(|(old, new)| {
        [old.input().zip(new.input()), old.output().zip(new.output())].into_iter().flatten()
    });
    let calls = calls.filter(|(old, new)| diff.new_message(*old) != Some(*new));
    let roots: Vec<(Message<'_>, Message<'_>, &[Surface])> = messages
        .map(|(old, new)| (old, new, Surface::NOTATIONS))
        .chain(calls.map(|(old, new)| (old, new, &[Surface::Wire][..])))
        .collect();
    let mut rng = Rng::with_seed(seed ^ id.rotate_left(32));
    let mut values = Vec::new();
    for &direction in Direction::ALL {
        for _ in 0..VALUES {
            if roots.is_empty() {
                break;
            }
            let (before, after, surfaces) = roots[rng.usize(..roots.len())];
            let (tree, wrote, reads) = match direction {
                Direction::Backward => (old, before, after),
                Direction::Forward => (new, after, before),
            };
            if let Some(value) = values::generate_message(&mut rng, tree, wrote.id, 0) {
                let bytes = BASE64.encode(Codec::new(tree).encode(&value));
                let names = (wrote.full_name(), reads.full_name());
                let surfaces: Vec<&str> = surfaces.iter().map(|it| it.name()).collect();
                values.push(json!([direction.name(), names.0, names.1, bytes, surfaces]));
            }
        }
    }
    let witnesses: Vec<Value> = report
        .findings
        .iter()
        .filter_map(|finding| {
            let witness = finding.change.as_ref()?.witness.as_ref()?;
            notation(witness.surface).then(|| {
                json!([
                    finding.rule,
                    witness.surface.name(),
                    witness.direction.name(),
                    witness.message,
                    witness.reader,
                    BASE64.encode(&witness.bytes),
                ])
            })
        })
        .collect();
    let set = |tree: &Tree| {
        let files: Vec<_> = tree.files().map(|file| file.id).collect();
        BASE64.encode(encode_set(tree, &files, true, false))
    };
    json!({
        "id": id,
        "old": set(old),
        "new": set(new),
        "broken": broken.iter().map(|(s, d)| json!([s.name(), d.name()])).collect::<Vec<_>>(),
        "values": values,
        "witnesses": witnesses,
    })
}
