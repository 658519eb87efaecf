//! Commands measured in turn.

use std::ffi::OsString;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use abide_harness::Result;
use abide_harness::programs::{Protoc, output};
use nix::sys::resource::{UsageWho, getrusage};
use serde_json::Value;

/// A command to measure.
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) command: Vec<OsString>,
    pub(super) folder: PathBuf,
    /// Exit codes that mean "done": findings are not a failure here.
    pub(super) done: &'static [i32],
    /// What the tool does with the tree.
    pub(super) checks: String,
}

/// One run of a tool.
#[derive(Clone, Copy)]
pub(super) struct Sample {
    pub(super) seconds: f64,
    /// The seconds of processor time that the tool itself took, of all its threads.
    pub(super) processor: f64,
    pub(super) mebibytes: f64,
}

/// Runs the command without input or output, and prints its times and memory.
///
/// Each measurement has its own process, because the kernel keeps one peak for all
/// children of a process.
pub(crate) fn measure(command: &[OsString]) -> Result<()> {
    let (program, arguments) = command.split_first().ok_or("nothing to measure")?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let status = command.status()?;
    let seconds = start.elapsed().as_secs_f64();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let user = usage.user_time();
    let processor = user.tv_sec() as f64 + user.tv_usec() as f64 / 1e6;
    let code = status.code().unwrap_or(-1);
    println!("{seconds} {processor} {} {code}", usage.max_rss());
    Ok(())
}

/// The tools, and how often each runs.
pub(super) struct Bench {
    pub(super) abide: PathBuf,
    pub(super) protoc: Option<Protoc>,
    pub(super) buf: bool,
    pub(super) runs: usize,
}

impl Bench {
    /// The median time and memory of each tool. Also adds what each tool reports
    /// about its work in the warm-up.
    pub(super) fn medians(&self, tools: &mut [Tool]) -> Result<Vec<Sample>> {
        for tool in tools.iter_mut() {
            let mut command = Command::new(&tool.command[0]);
            let said = output(command.args(&tool.command[1..]).current_dir(&tool.folder))?;
            if !said.status.code().is_some_and(|code| tool.done.contains(&code)) {
                let text = String::from_utf8_lossy(&said.stderr);
                let start: Vec<&str> = text.lines().take(10).collect();
                return Err(format!(
                    "`{}` failed, {}: {}",
                    tool.name,
                    said.status,
                    start.join("\n")
                )
                .into());
            }
            if tool.name.starts_with("abide") && tool.name != "abide build" {
                tool.checks.push_str(&summarize_report(&said.stdout)?);
            } else if matches!(tool.name, "buf lint" | "buf breaking") {
                write!(
                    tool.checks,
                    ": {} findings",
                    said.stdout.split(|byte| *byte == b'\n').count() - 1
                )?;
            }
        }
        let mut samples = vec![Vec::new(); tools.len()];
        for _ in 0..self.runs {
            for (tool, samples) in tools.iter().zip(&mut samples) {
                samples.push(tool.sample()?);
            }
        }
        Ok(samples
            .iter()
            .map(|samples| Sample {
                seconds: median(samples.iter().map(|sample| sample.seconds).collect()),
                processor: median(samples.iter().map(|sample| sample.processor).collect()),
                mebibytes: median(samples.iter().map(|sample| sample.mebibytes).collect()),
            })
            .collect())
    }
}

impl Tool {
    pub(super) fn sample(&self) -> Result<Sample> {
        let mut measure = Command::new(std::env::current_exe()?);
        measure.arg("measure").arg("--").args(&self.command).current_dir(&self.folder);
        let said = abide_harness::programs::stdout(&mut measure)?;
        let mut numbers = said.split_whitespace().map(str::parse::<f64>);
        let mut next = || numbers.next().ok_or("no measurement");
        let (seconds, processor) = (next()??, next()??);
        let (kibibytes, code) = (next()??, next()?? as i32);
        if !self.done.contains(&code) {
            return Err(format!("`{}` ended with {code} while it was measured", self.name).into());
        }
        Ok(Sample { seconds, processor, mebibytes: kibibytes / 1024.0 })
    }
}

pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

pub(super) fn name_verdict(met: bool) -> &'static str {
    if met { "met" } else { "NOT MET" }
}

/// The counts in the summary of a JSON Lines report.
fn summarize_report(report: &[u8]) -> Result<String> {
    let last = report.split(|byte| *byte == b'\n').rfind(|line| !line.is_empty());
    let summary: Value = serde_json::from_slice(last.ok_or("`abide check` printed no summary")?)?;
    let counts = ["files", "packages", "errors", "warnings", "notes"]
        .map(|name| format!("{} {name}", summary[name].as_u64().unwrap_or_default()));
    Ok(format!(": {}", counts.join(", ")))
}
