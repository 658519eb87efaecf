//! Counts the instructions of commands: a measure that other work on the machine does not change, so
//! that a slower command is caught in CI.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use abide_harness::Result;
use abide_harness::programs::{output, workspace};

use super::growth::{KINDS, Kind};
use super::timing::{Bench, Tool, name_verdict};

/// The inputs that are counted, by the names that `growth` gives them: each is another command, or
/// another part of one.
const COUNTED: [&str; 8] = [
    "fields",
    "options",
    "package graph",
    "findings as json",
    "retyped fields",
    "bumped packages",
    "hashed messages",
    "built messages",
];

/// The share that a count may rise.
const MOST: f64 = 1.03;

/// The share below which a count should be recorded anew, so that what was gained is not lost again.
const GAINED: f64 = 0.97;

/// The counts that were recorded, from the top of the workspace.
const RECORDED: &str = "crates/abide-bench/instructions.txt";

/// The first lines of that file.
const HEAD: &str = "\
# Instructions of a release build, in thousands. Whoever raises a count records it, and says in the\n\
# commit why: cargo xtask bench --only instructions --record\n";

impl Bench {
    /// Counts, and compares with what was recorded, or records.
    pub(super) fn instructions(&self, report: &mut String, records: bool) -> Result<bool> {
        let before = read_recorded()?;
        let mut counts = BTreeMap::new();
        for name in COUNTED {
            let kind = KINDS.iter().find(|it| it.name == name).ok_or("no such input")?;
            eprintln!("instructions: {name}");
            counts.insert(name, count_instructions(&self.tool(kind, kind.start)?)? / 1000);
        }
        if records {
            let lines = counts.iter().map(|(name, count)| format!("{name}\t{count}\n"));
            fs::write(find_record()?, HEAD.to_owned() + &lines.collect::<String>())?;
        }
        writeln!(report, "\n## Instructions\n")?;
        writeln!(report, "| input | command | thousands | recorded | ratio |")?;
        writeln!(report, "|---|---|---|---|---|")?;
        let mut met = true;
        for (name, count) in &counts {
            let recorded = if records { Some(count) } else { before.get(*name) };
            let recorded =
                recorded.ok_or(format!("`{RECORDED}` lacks `{name}`: add `--record`"))?;
            let ratio = *count as f64 / *recorded as f64;
            met &= ratio <= MOST;
            let command = KINDS.iter().find(|it: &&Kind| it.name == *name).map(|it| it.command);
            let command = command.unwrap_or_default();
            writeln!(report, "| {name} | `{command}` | {count} | {recorded} | {ratio:.3} |")?;
            if ratio < GAINED {
                writeln!(report, "\n- `{name}` became cheaper: record it with `--record`\n")?;
            }
        }
        writeln!(
            report,
            "\n- no count is above {MOST} times the recorded one: {}",
            name_verdict(met)
        )?;
        Ok(met)
    }
}

fn find_record() -> Result<PathBuf> {
    Ok(workspace()?.join(RECORDED))
}

/// The recorded counts; none if there is no file yet.
fn read_recorded() -> Result<BTreeMap<String, u64>> {
    let text = fs::read_to_string(find_record()?).unwrap_or_default();
    let lines = text.lines().filter(|it| !it.starts_with('#'));
    let parse = |line: &str| -> Result<(String, u64)> {
        let (name, count) = line.split_once('\t').ok_or("a line has a name and a count")?;
        Ok((name.to_owned(), count.parse()?))
    };
    lines.map(parse).collect()
}

/// Counts the instructions of a command, as valgrind's cachegrind does.
fn count_instructions(tool: &Tool) -> Result<u64> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]);
    let ran = output(valgrind.args(&tool.command).current_dir(&tool.folder))?;
    let said = String::from_utf8_lossy(&ran.stderr);
    let line = said.lines().find(|it| it.contains(" refs:"));
    let count = line.and_then(|it| it.rsplit_once(':')).map(|(_, it)| it.trim().replace(',', ""));
    let is_done = ran.status.code().is_some_and(|code| tool.done.contains(&code));
    match count.filter(|_| is_done) {
        Some(count) => Ok(count.parse()?),
        None => Err(format!("valgrind counted nothing: {said}").into()),
    }
}
