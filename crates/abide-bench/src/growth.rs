//! Measures whether any cost grows faster than its input: doubles each kind of input.

mod inputs;
mod kinds;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use abide_harness::Result;
use abide_harness::corpora;
use abide_harness::programs::output;
use abide_harness::repository::build_repository;

use self::inputs::Files;
use self::kinds::Input;
pub(super) use self::kinds::{KINDS, Kind};
use super::timing::{Bench, Sample, Tool, name_verdict};

/// The most that twice the input may cost.
const MOST: f64 = 2.6;

/// A run of so many seconds shows how its cost grows; the start of the process does not count.
const SHOWS: f64 = 0.1;

/// The size at which doubling ends even if a run is shorter, as a multiple of the first size.
const LARGEST: usize = 64;

/// After a run of so many seconds, nothing is doubled again.
const LONG: f64 = 5.0;

/// How often the input is doubled at sizes where the cost shows.
const DOUBLINGS: usize = 2;

/// The configuration beside a tree.
const CONFIG: &str = "abide.toml";

/// The archives of one tree, and of an old tree and a newer one.
const TREE: &str = "tree.tar";
const OLD: &str = "old.tar";
const NEW: &str = "new.tar";

/// The measurements of one kind at one size.
struct Measured {
    size: usize,
    cost: Sample,
}

impl Bench {
    /// Measures these kinds.
    pub(super) fn growth(&self, report: &mut String, kinds: &[&Kind]) -> Result<bool> {
        writeln!(report, "\n## Twice the input\n")?;
        writeln!(report, "Processor time of one thread, the least of {} runs.\n", self.runs)?;
        writeln!(
            report,
            "| input | command | size | seconds | MiB | time ratios | memory ratios | at most {MOST} |"
        )?;
        writeln!(report, "|---|---|---|---|---|---|---|---|")?;
        let mut missed = Vec::new();
        for kind in kinds {
            eprintln!("growth: {}", kind.name);
            let met = self.row(report, kind)?;
            missed.extend((!met).then_some(kind.name));
        }
        let (all, met) = (kinds.len(), kinds.len() - missed.len());
        writeln!(
            report,
            "\n- kinds that cost at most {MOST} times as much for a doubling: {met} of {all}: {}",
            name_verdict(missed.is_empty())
        )?;
        if !missed.is_empty() {
            writeln!(report, "- missed by: {}", missed.join(", "))?;
        }
        Ok(missed.is_empty())
    }

    /// Measures one kind and adds its row; true if it grows no faster than its input.
    fn row(&self, report: &mut String, kind: &Kind) -> Result<bool> {
        let sizes = self.doubled(kind)?;
        let ratios = |cost: fn(&Sample) -> f64| -> Vec<f64> {
            sizes.windows(2).map(|pair| cost(&pair[1].cost) / cost(&pair[0].cost)).collect()
        };
        let (times, memory) = (ratios(|it| it.processor), ratios(|it| it.mebibytes));
        let words = |ratios: &[f64]| {
            ratios.iter().map(|it| format!("{it:.2}")).collect::<Vec<_>>().join(", ")
        };
        let last = sizes.last().ok_or("nothing was measured")?;
        let met = !times.is_empty() && times.iter().chain(&memory).all(|it| *it <= MOST);
        writeln!(
            report,
            "| {} | `{}` | {} | {:.2} | {:.0} | {} | {} | {} |",
            kind.name,
            kind.command,
            last.size,
            last.cost.processor,
            last.cost.mebibytes,
            words(&times),
            words(&memory),
            name_verdict(met),
        )?;
        Ok(met)
    }

    /// The costs at sizes where they show, each twice the one before.
    fn doubled(&self, kind: &Kind) -> Result<Vec<Measured>> {
        let mut size = kind.start;
        let mut measured = Vec::new();
        loop {
            let tool = self.tool(kind, size)?;
            let first = tool.sample()?;
            // What is too short to count is not measured again.
            if first.processor >= SHOWS || size >= kind.start * LARGEST {
                let mut samples = vec![first];
                let again = if first.processor > LONG { 1 } else { self.runs };
                for _ in 1..again {
                    samples.push(tool.sample()?);
                }
                measured.push(Measured { size, cost: find_least(&samples) });
                if measured.len() > DOUBLINGS || first.processor > LONG && measured.len() > 1 {
                    return Ok(measured);
                }
            }
            size *= 2;
        }
    }

    /// The command over an input of some size.
    pub(super) fn tool(&self, kind: &Kind, size: usize) -> Result<Tool> {
        let folder = folder(kind, size)?;
        if let Input::Prepared(_, prepare) = kind.input {
            let mut command = Command::new(&self.abide);
            let said = output(command.args(prepare.split(' ')).current_dir(&folder))?;
            if said.status.code().is_none_or(|code| code >= 2) {
                let text = String::from_utf8_lossy(&said.stderr).into_owned();
                return Err(format!("`abide {prepare}` failed: {text}").into());
            }
        }
        let mut command: Vec<OsString> = vec![self.abide.clone().into()];
        command.extend(kind.command.split(' ').map(OsString::from));
        if let Input::Tree(_) = kind.input {
            command.insert(2, TREE.into());
        }
        command.extend(["--jobs".into(), "1".into()]);
        let checks = String::new();
        Ok(Tool { name: "abide", command, folder, done: &[0, 1], checks })
    }
}

/// The least cost of several runs: the load of the machine only adds.
fn find_least(samples: &[Sample]) -> Sample {
    let least = |cost: fn(&Sample) -> f64| samples.iter().map(cost).fold(f64::INFINITY, f64::min);
    Sample {
        seconds: least(|it| it.seconds),
        processor: least(|it| it.processor),
        mebibytes: least(|it| it.mebibytes),
    }
}

/// Writes an input into a fresh folder.
fn folder(kind: &Kind, size: usize) -> Result<PathBuf> {
    if let Input::Commits(commits) = kind.input {
        return build_repository("growth", &commits(size), 1);
    }
    let folder = corpora::make_fresh_folder("growth")?;
    // Without it, a folder further up could have one that counts.
    fs::write(folder.join(CONFIG), "")?;
    match kind.input {
        Input::Tree(files) => write_archive(&folder, TREE, files(size))?,
        Input::Sides(sides) => {
            for (name, files) in [OLD, NEW].into_iter().zip(sides(size)) {
                write_archive(&folder, name, files)?;
            }
        }
        Input::Prepared(files, _) => {
            for (path, text) in files(size) {
                corpora::write(&folder.join(path), text.as_bytes())?;
            }
        }
        Input::Commits(_) => {}
    }
    Ok(folder)
}

/// Writes a tree as one archive, with its configuration beside it: to write thousands of small
/// files takes many times longer than to check them.
fn write_archive(folder: &Path, name: &str, files: Files) -> Result<()> {
    let mut archive = tar::Builder::new(BufWriter::new(File::create(folder.join(name))?));
    for (path, text) in files {
        if path == CONFIG {
            fs::write(folder.join(path), text)?;
            continue;
        }
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, path, text.as_bytes())?;
    }
    archive.into_inner()?.flush()?;
    Ok(())
}
