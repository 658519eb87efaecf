//! `cargo xtask bench`: compares Abide with buf and protoc in one run.
//!
//! The tools take turns, so that changes in the load of the machine affect all of
//! them. What counts are ratios of medians.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program at the edge: it runs others, reads and writes files, and prints"
)]

mod editor;
mod growth;
mod history;
mod hook;
mod instances;
mod instructions;
mod lived;
mod releases;
mod serving;
mod timing;

use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use abide_harness::corpora::{self, Corpus};
use abide_harness::programs::{Protoc, abide, output};
use abide_harness::{ExternalPaths, Result, exit_code};
use clap::{Parser, Subcommand};

use self::growth::{KINDS, Kind};
use self::timing::{Bench, Sample, Tool, median, name_verdict};

/// Compare speed and memory with buf and protoc, side by side.
#[derive(Parser)]
#[command(args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    task: Option<Task>,
    #[command(flatten)]
    paths: ExternalPaths,
    /// The number of runs of each tool. The medians are reported.
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Also write the report to this file, as Markdown.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Measure only these parts: `check`, `breaking`, `flatness`, `hash`, `history`, `editor`,
    /// `releases`, `instances`, `serving`, `growth`, `instructions`, or the name of a kind of input
    /// that `growth` doubles.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Record the instructions that are counted, for later runs to compare with.
    #[arg(long)]
    record: bool,
}

#[derive(Subcommand)]
enum Task {
    /// Run one command and print its seconds, peak memory in KiB and exit code.
    #[command(hide = true)]
    Measure {
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<OsString>,
    },
}

fn main() -> ExitCode {
    let Arguments { task, paths, runs, out, only, record } = Arguments::parse();
    let outcome = match task {
        Some(Task::Measure { command }) => timing::measure(&command).map(|()| true),
        None => run_parts(&paths, runs, out.as_deref(), &only, record),
    };
    exit_code("bench", outcome)
}

/// The number of copies of googleapis in the largest tree.
const COPIES: u32 = 4;

/// The smallest tree has one of so many folders: about 700 files.
const SLICE: usize = 12;

/// The largest ratio of costs per file that still counts as flat.
const FLAT: f64 = 1.25;

/// The most that hashing may add to reading.
const HASHING: f64 = 0.5;

/// The parts that compare Abide with other tools.
const COMPARED: [&str; 3] = ["check", "build", "breaking"];

/// The parts that measure Abide alone. `growth` can also be named by its kinds of input.
const ALONE: [&str; 10] = [
    "flatness",
    "hash",
    "hook",
    "history",
    "releases",
    "editor",
    "instances",
    "serving",
    "instructions",
    "growth",
];

/// Measures the named parts, or all, and prints the report; true if every goal is met.
fn run_parts(
    paths: &ExternalPaths,
    runs: usize,
    out: Option<&Path>,
    only: &[String],
    records: bool,
) -> Result<bool> {
    if runs == 0 {
        return Err("at least one run".into());
    }
    let known = |name: &str| {
        COMPARED.contains(&name)
            || ALONE.contains(&name)
            || KINDS.iter().any(|kind| kind.name == name)
    };
    if let Some(name) = only.iter().find(|name| !known(name)) {
        let kinds: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
        let (parts, kinds) = ([&COMPARED[..], &ALONE].concat().join(", "), kinds.join(", "));
        return Err(format!("no part `{name}`: {parts}; or a kind of input: {kinds}").into());
    }
    let wanted = |name: &str| only.is_empty() || only.iter().any(|part| part == name);
    let compares = COMPARED.into_iter().any(wanted);
    let bench = Bench {
        abide: abide(paths.abide.as_deref())?,
        protoc: warn_on_error(Protoc::find()).filter(|_| compares),
        buf: compares
            && warn_on_error(output(Command::new("buf").arg("--version")).map(|_| ())).is_some(),
        runs,
    };
    let mut report = format!("Medians of {runs} runs, in turn, after one warm-up.\n");
    let met = bench.parts(&mut report, paths, &wanted, records)?;
    println!("{report}");
    if let Some(out) = out {
        std::fs::write(out, &report)?;
    }
    Ok(met)
}

/// Two releases of the Envoy API with all their imports.
fn envoy_types() -> Result<[Corpus; 2]> {
    let releases = corpora::envoy_types(&["0.5.5", "0.7.7"])?;
    let whole: Vec<Corpus> =
        releases.iter().map(corpora::join_with_imports).collect::<Result<_>>()?;
    <[Corpus; 2]>::try_from(whole).map_err(|_| "two releases".into())
}

/// Prints a warning for a missing tool.
fn warn_on_error<T>(found: Result<T>) -> Option<T> {
    found.map_err(|error| eprintln!("WARNING: not compared: {error}")).ok()
}

/// Writes a workspace in which buf checks the tree, with the rest as dependencies.
fn write_workspace(tree: &Corpus) -> Result<()> {
    let mut config = format!("version: v2\nmodules:\n  - path: {}\n", tree.name);
    for import in &tree.imports {
        let name = import.file_name().unwrap_or_default().display();
        // It has one file under two names, which buf refuses to build.
        std::fs::remove_file(import.join("metrics.proto"))?;
        writeln!(config, "  - path: {name}")?;
    }
    Ok(std::fs::write(corpora::stage()?.join("buf.yaml"), config)?)
}

fn buf_build(tree: &Corpus) -> Result<Tool> {
    let arguments = ["build", "-o", "/dev/null"];
    buf_tool("buf build", &arguments, "parsed, linked, options", tree)
}

/// A command of buf on a tree.
fn buf_tool(name: &'static str, arguments: &[&str], checks: &str, tree: &Corpus) -> Result<Tool> {
    let mut command: Vec<OsString> = vec!["buf".into()];
    command.extend(arguments.iter().map(OsString::from));
    command.push(tree.root.clone().into());
    let folder = corpora::stage()?;
    Ok(Tool { name, command, folder, done: &[0, 100], checks: checks.into() })
}

impl Bench {
    fn parts(
        &self,
        report: &mut String,
        paths: &ExternalPaths,
        wanted: &dyn Fn(&str) -> bool,
        records: bool,
    ) -> Result<bool> {
        let mut met = true;
        if wanted("check") {
            met &= self.checks(report, paths)?;
        }
        if wanted("build") {
            met &= self.builds(report, paths)?;
        }
        if wanted("breaking") {
            met &= self.breaks(report, paths)?;
        }
        if wanted("flatness") {
            let googleapis = corpora::googleapis(paths)?;
            let slice = corpora::slice_tree(&googleapis, SLICE)?;
            let multiplied = corpora::multiply_tree(&googleapis, COPIES)?;
            met &= self.flatness(report, &[&slice, &googleapis, &multiplied])?;
        }
        if wanted("hash") {
            met &= self.hashing(report, &corpora::googleapis(paths)?)?;
        }
        if wanted("hook") {
            met &= self.hook(report, &corpora::googleapis(paths)?)?;
        }
        if wanted("history") {
            met &= self.history(report, &envoy_types()?[1], &corpora::googleapis(paths)?)?;
        }
        if wanted("releases") {
            met &= self.releases(report, &envoy_types()?[1])?;
        }
        if wanted("editor") {
            met &= self.editor(report, &corpora::googleapis(paths)?)?;
        }
        if wanted("instances") {
            met &= self.instances(report)?;
        }
        if wanted("serving") {
            met &= serving::run(report, paths)?;
        }
        if wanted("instructions") {
            met &= self.instructions(report, records)?;
        }
        let all = wanted("growth");
        let kinds: Vec<&Kind> = KINDS.iter().filter(|kind| all || wanted(kind.name)).collect();
        if !kinds.is_empty() {
            met &= self.growth(report, &kinds)?;
        }
        Ok(met)
    }

    /// Compares `abide check` with other tools on Envoy and googleapis.
    fn checks(&self, report: &mut String, paths: &ExternalPaths) -> Result<bool> {
        let mut met = self.buf && self.protoc.is_some();
        let trees = corpora::unpack_archives(paths)?;
        match trees.iter().find(|tree| tree.name == "envoy-head") {
            Some(envoy) => {
                write_workspace(envoy)?;
                met &= self.compare(report, envoy, "envoy", 20.0, None)?;
            }
            None => met = false,
        }
        let googleapis = corpora::googleapis(paths)?;
        std::fs::write(googleapis.root.join("buf.yaml"), "version: v2\n")?;
        Ok(met & self.compare(report, &googleapis, "google", 30.0, Some(1.0 / 8.0))?)
    }

    /// Compares `abide build` with `buf build` and protoc on googleapis, with source info.
    fn builds(&self, report: &mut String, paths: &ExternalPaths) -> Result<bool> {
        let googleapis = corpora::googleapis(paths)?;
        std::fs::write(googleapis.root.join("buf.yaml"), "version: v2\n")?;
        let mut command: Vec<OsString> = vec![self.abide.clone().into(), "build".into()];
        command.extend([googleapis.root.clone().into(), "-o".into(), "/dev/null".into()]);
        let mut tools = vec![Tool {
            name: "abide build",
            command,
            folder: googleapis.root.clone(),
            done: &[0],
            checks: "parsed, linked, protoc's checks, source info written".into(),
        }];
        tools.extend(self.buf.then(|| buf_build(&googleapis)).transpose()?);
        tools.extend(self.protoc_build(&googleapis)?);
        let title = format!("Descriptors of {}: {} files", googleapis.name, googleapis.files.len());
        self.judge(report, &title, tools, 10.0, Some(1.0 / 5.0))
    }

    /// Compares `abide breaking` with `buf breaking` on releases of Envoy and googleapis.
    fn breaks(&self, report: &mut String, paths: &ExternalPaths) -> Result<bool> {
        let [old, new] = envoy_types()?;
        let met = self.breaking(report, [&old, &new], "envoy", 20.0, None)?;
        let (before, after) = (corpora::googleapis_before()?, corpora::googleapis(paths)?);
        for tree in [&before, &after] {
            std::fs::write(tree.root.join("buf.yaml"), "version: v2\n")?;
        }
        let pair = [&before, &after];
        Ok(met & self.breaking(report, pair, "google", 30.0, Some(1.0 / 8.0))?)
    }

    fn abide(&self, tree: &Corpus, preset: &str) -> Tool {
        let mut command: Vec<OsString> = vec![self.abide.clone().into(), "check".into()];
        command.extend([tree.root.clone().into(), "--preset".into(), preset.into()]);
        for import in &tree.imports {
            command.extend(["-I".into(), import.clone().into()]);
        }
        // Every run judges the whole tree.
        command.extend(["--format".into(), "json".into(), "--no-cache".into()]);
        Tool {
            name: "abide check",
            command,
            folder: tree.root.clone(),
            done: &[0, 1],
            checks: "parsed, linked, protoc's checks, options, version policy".into(),
        }
    }

    /// What protoc does with a tree, if it is there.
    fn protoc_build(&self, tree: &Corpus) -> Result<Option<Tool>> {
        let Some(protoc) = &self.protoc else { return Ok(None) };
        let mut protoc = protoc.command(&tree.roots());
        protoc.args(["--include_imports", "--include_source_info", "-o", "/dev/null"]);
        protoc.arg(format!("@{}", tree.list()?.display()));
        let program = [protoc.get_program()].into_iter();
        Ok(Some(Tool {
            name: "protoc",
            command: program.chain(protoc.get_args()).map(OsString::from).collect(),
            folder: tree.root.clone(),
            done: &[0],
            checks: "parsed, linked, its own checks, options, source info written".into(),
        }))
    }

    /// Compares Abide with all other tools on one tree.
    fn compare(
        &self,
        report: &mut String,
        tree: &Corpus,
        preset: &str,
        faster: f64,
        memory: Option<f64>,
    ) -> Result<bool> {
        let mut tools = vec![self.abide(tree, preset)];
        if self.buf {
            let checks = "the same, and the rules of its `STANDARD` category";
            tools.extend([buf_build(tree)?, buf_tool("buf lint", &["lint"], checks, tree)?]);
        }
        tools.extend(self.protoc_build(tree)?);
        let megabytes = tree.bytes()? as f64 / 1e6;
        let title = format!("{}: {} files, {megabytes:.1} MB", tree.name, tree.files.len());
        self.judge(report, &title, tools, faster, memory)
    }

    /// Compares `abide breaking` with `buf breaking` on two trees.
    fn breaking(
        &self,
        report: &mut String,
        [old, new]: [&Corpus; 2],
        preset: &str,
        faster: f64,
        memory: Option<f64>,
    ) -> Result<bool> {
        let mut command: Vec<OsString> = vec![self.abide.clone().into(), "breaking".into()];
        command.extend([new.root.clone().into(), "--against".into(), old.root.clone().into()]);
        command.extend(["--preset".into(), preset.into(), "--format".into(), "json".into()]);
        let mut tools = vec![Tool {
            name: "abide breaking",
            command,
            folder: new.root.clone(),
            done: &[0, 1],
            checks: "both trees linked with protoc's checks, changes on every surface".into(),
        }];
        if self.buf {
            let against = "--against".into();
            tools.push(Tool {
                name: "buf breaking",
                command: vec![
                    "buf".into(),
                    "breaking".into(),
                    new.root.clone().into(),
                    against,
                    old.root.clone().into(),
                ],
                folder: corpora::stage()?,
                done: &[0, 100],
                checks: "both trees linked, the rules of its category `FILE`".into(),
            });
        }
        let title = format!(
            "{} ({} files) against {} ({} files)",
            new.name,
            new.files.len(),
            old.name,
            old.files.len()
        );
        self.judge(report, &title, tools, faster, memory)
    }

    /// Measures the tools; the first one is Abide.
    fn judge(
        &self,
        report: &mut String,
        title: &str,
        mut tools: Vec<Tool>,
        faster: f64,
        memory: Option<f64>,
    ) -> Result<bool> {
        let medians = self.medians(&mut tools)?;
        let ours = medians[0];
        writeln!(report, "\n## {title}\n")?;
        writeln!(
            report,
            "| tool | seconds | peak MiB | time ratio | memory ratio | what it did |"
        )?;
        writeln!(report, "|---|---|---|---|---|---|")?;
        for (tool, median) in tools.iter().zip(&medians) {
            writeln!(
                report,
                "| {} | {:.3} | {:.0} | {:.1} | {:.1} | {} |",
                tool.name,
                median.seconds,
                median.mebibytes,
                median.seconds / ours.seconds,
                median.mebibytes / ours.mebibytes,
                tool.checks,
            )?;
        }
        let buf: Vec<&Sample> = tools
            .iter()
            .zip(&medians)
            .filter_map(|(tool, median)| tool.name.starts_with("buf").then_some(median))
            .collect();
        writeln!(report)?;
        if buf.is_empty() {
            writeln!(report, "buf is missing: no goal is checked.")?;
            return Ok(false);
        }
        let least = |value: fn(&Sample) -> f64| {
            buf.iter().map(|sample| value(sample)).fold(f64::INFINITY, f64::min)
        };
        let ratio = least(|sample| sample.seconds) / ours.seconds;
        let mut met = ratio >= faster;
        let goal =
            format!("at least {faster} times faster than the fastest run of buf: {ratio:.1}");
        writeln!(report, "- {goal}: {}", name_verdict(ratio >= faster))?;
        if let Some(memory) = memory {
            let share = ours.mebibytes / least(|sample| sample.mebibytes);
            met &= share <= memory;
            let goal = format!("at most {memory} of the smallest memory of buf: {share:.3}");
            writeln!(report, "- {goal}: {}", name_verdict(share <= memory))?;
        }
        Ok(met)
    }

    /// Measures only Abide, on trees of growing size.
    fn flatness(&self, report: &mut String, trees: &[&Corpus]) -> Result<bool> {
        let mut tools: Vec<Tool> = trees.iter().map(|tree| self.abide(tree, "google")).collect();
        let medians = self.medians(&mut tools)?;
        writeln!(report, "\n## abide check on growing trees\n")?;
        writeln!(
            report,
            "| tree | files | MB | seconds | peak MiB | µs per file | ms per MB | found |"
        )?;
        writeln!(report, "|---|---|---|---|---|---|---|---|")?;
        let mut costs = Vec::new();
        for ((tree, median), tool) in trees.iter().zip(&medians).zip(&tools) {
            let megabytes = tree.bytes()? as f64 / 1e6;
            let cost = median.seconds * 1e6 / tree.files.len() as f64;
            writeln!(
                report,
                "| {} | {} | {megabytes:.1} | {:.3} | {:.0} | {cost:.1} | {:.2} | {} |",
                tree.name,
                tree.files.len(),
                median.seconds,
                median.mebibytes,
                median.seconds * 1e3 / megabytes,
                tool.checks,
            )?;
            costs.push(cost);
        }
        let dearest = costs.iter().copied().fold(0.0, f64::max);
        let growth = dearest / costs.first().copied().ok_or("no tree")?;
        let met = growth <= FLAT;
        writeln!(
            report,
            "\n- a file costs at most {FLAT} times what it costs in the smallest tree: {growth:.2}: {}",
            name_verdict(met),
        )?;
        Ok(met)
    }

    /// What `abide hash` adds to reading a tree, by its own clock. Reading is what every command
    /// does with a tree, including whether protoc would accept it.
    fn hashing(&self, report: &mut String, tree: &Corpus) -> Result<bool> {
        writeln!(report, "\n## abide hash on {}: {} files\n", tree.name, tree.files.len())?;
        writeln!(report, "| report | read, parse, link, check: ms | hash and write: ms | adds |")?;
        writeln!(report, "|---|---|---|---|")?;
        let formats = [("human", "packages and files"), ("json", "also every message, as JSON")];
        let mut shares = Vec::new();
        for (format, what) in formats {
            let [reading, hashing] = self.hash_times(tree, format)?;
            let share = hashing / reading;
            writeln!(report, "| {what} | {reading:.0} | {hashing:.0} | {:.0} % |", share * 100.0)?;
            shares.push(share);
        }
        let met = shares[0] <= HASHING;
        let percent = HASHING * 100.0;
        writeln!(
            report,
            "\n- hashing, with the report of packages and files, adds at most {percent:.0} % to reading: {:.0} %: {}",
            shares[0] * 100.0,
            name_verdict(met)
        )?;
        Ok(met)
    }

    /// The medians of reading and of hashing, in milliseconds.
    fn hash_times(&self, tree: &Corpus, format: &str) -> Result<[f64; 2]> {
        let mut times = [Vec::new(), Vec::new()];
        // The first run warms up.
        for run in 0..=self.runs {
            let mut command = Command::new(&self.abide);
            command.arg("hash").arg(&tree.root).args(["--format", format, "--verbose"]);
            let said = output(command.current_dir(&tree.root).stdout(Stdio::null()))?;
            let said = String::from_utf8_lossy(&said.stderr).into_owned();
            // Each step is printed as `note: STEP took N ms`.
            let mut sums = [0.0; 2];
            for (step, time) in said.lines().filter_map(|line| line.split_once(" took ")) {
                let adds = step.contains("hash");
                sums[usize::from(adds)] += time.trim_end_matches(" ms").parse::<f64>()?;
            }
            if sums.contains(&0.0) {
                return Err("`abide hash --verbose` printed no times".into());
            }
            if run > 0 {
                times.iter_mut().zip(sums).for_each(|(times, sum)| times.push(sum));
            }
        }
        Ok(times.map(median))
    }
}
