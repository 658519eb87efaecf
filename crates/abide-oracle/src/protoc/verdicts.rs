//! Compares what protoc refuses or warns about, and on which line, with the findings
//! of `abide check` for the same file.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use abide_harness::Result;
use abide_harness::corpora::make_fresh_folder;
use abide_harness::programs::{Protoc, output, workspace};
use serde_json::Value;

/// The severity of a compiler message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Severity {
    Warning,
    Error,
}

/// The first message of protoc about a file: an error if there is one.
#[derive(Debug, PartialEq, Eq)]
struct Verdict {
    severity: Severity,
    /// The line, if protoc names one.
    line: Option<u64>,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        match self.line {
            Some(line) => write!(f, "// protoc: {severity} on line {line}"),
            None => write!(f, "// protoc: {severity}"),
        }
    }
}

/// Checks every file of `testdata/protoc/invalid`; true if all agree.
///
/// Files in its folder `imports` are imported by the others.
pub(crate) fn run(protoc: &Protoc, abide: &Path) -> Result<bool> {
    let folder = workspace()?.join("testdata/protoc/invalid");
    let helpers = folder.join("imports");
    let mut cases: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        if path.extension() == Some("proto".as_ref()) {
            cases.push(path);
        }
    }
    cases.sort();
    if cases.is_empty() {
        return Err(format!("no case in `{}`", folder.display()).into());
    }
    let elsewhere = fs::read_to_string(workspace()?.join("testdata/protoc/elsewhere.txt"))?;
    let elsewhere = elsewhere.lines().filter_map(|line| line.split_once(": ")).collect();
    let judge = Judge { protoc, abide, helpers: &helpers, elsewhere };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    // Most of the time is spent starting Python.
    let judged = std::thread::scope(|scope| {
        let share = cases.len().div_ceil(threads);
        let started: Vec<_> = cases
            .chunks(share)
            .map(|cases| {
                let judge = &judge;
                let judged = move |case: &PathBuf| judge.case(case).map_err(|e| e.to_string());
                scope.spawn(move || cases.iter().map(judged).collect::<Vec<_>>())
            })
            .collect();
        let ended = started.into_iter().map(|thread| thread.join().map_err(|_| "a judge panicked"));
        ended.collect::<std::result::Result<Vec<_>, _>>()
    })?;
    let mut agreed = 0;
    for outcome in judged.into_iter().flatten() {
        let (agrees, text) = outcome?;
        agreed += usize::from(agrees);
        println!("  {text}");
    }
    let apart = judge.elsewhere.len();
    println!("verdicts: {agreed} of {} agree, {apart} of them on another line", cases.len());
    Ok(agreed == cases.len())
}

struct Judge<'a> {
    protoc: &'a Protoc,
    abide: &'a Path,
    /// The folder that the cases import from.
    helpers: &'a Path,
    /// The cases that Abide reports on another line than protoc, and why.
    elsewhere: BTreeMap<&'a str, &'a str>,
}

impl Judge<'_> {
    /// Whether both agree on a case, and what to print about it.
    fn case(&self, case: &Path) -> Result<(bool, String)> {
        let name = case.file_name().and_then(|name| name.to_str()).ok_or("a name in UTF-8")?;
        let bytes = fs::read(case)?;
        let root = make_fresh_folder(&format!("verdicts/{name}"))?;
        fs::write(root.join(name), &bytes)?;

        let mut compile = self.protoc.command(&[&root, self.helpers]);
        let said = output(compile.args(["-o", "/dev/null", name]))?.stderr;
        let said = String::from_utf8_lossy(&said);
        let promised = String::from_utf8_lossy(&bytes);
        let promised = promised.lines().next().unwrap_or_default();
        let verdict = parse_protoc_verdict(&said, name);
        let Some(verdict) = verdict.filter(|verdict| verdict.to_string() == promised) else {
            return Ok((false, format!("{name}: STALE, promises `{promised}`; protoc: {said}")));
        };

        let mut check = Command::new(self.abide);
        check.args(["check", "--format", "json"]).arg(&root);
        check.arg("-I").arg(self.helpers).arg("-I").arg(&self.protoc.include);
        let checked = output(&mut check)?;
        let findings = parse_findings(&String::from_utf8_lossy(&checked.stdout), name)?;
        let agrees = findings.iter().any(|finding| {
            finding.severity >= Some(verdict.severity)
                && verdict.line.is_none_or(|line| {
                    self.elsewhere.contains_key(name) || finding.lines.contains(&line)
                })
        });
        if agrees {
            let elsewhere = self.elsewhere.get(name);
            let note = elsewhere.map_or(String::new(), |why| format!(", on another line: {why}"));
            return Ok((true, format!("{name}: agree{note}")));
        }
        let mut text = format!("{name}: DIFFER, `abide check` ended with {}", checked.status);
        for line in said.lines() {
            text.push_str(&format!("\n    protoc: {line}"));
        }
        for finding in &findings {
            text.push_str(&format!("\n    abide: {}", finding.text));
        }
        for line in String::from_utf8_lossy(&checked.stderr).lines().take(5) {
            text.push_str(&format!("\n    abide: {line}"));
        }
        Ok((false, text))
    }
}

/// The first of the most severe messages of protoc about this file.
fn parse_protoc_verdict(said: &str, file: &str) -> Option<Verdict> {
    let mut verdict: Option<Verdict> = None;
    for line in said.lines() {
        let Some((path, rest)) = line.split_once(": ") else { continue };
        // `path:line:column: message`, or `path: message`.
        let mut place = path.rsplitn(3, ':');
        let (last, number, first) = (place.next(), place.next(), place.next());
        let (path, number) = match first {
            Some(path) => (path, number.and_then(|number| number.parse().ok())),
            None => (last.unwrap_or_default(), None),
        };
        if Path::new(path).file_name() != Some(file.as_ref()) {
            continue;
        }
        let severity =
            if rest.starts_with("warning: ") { Severity::Warning } else { Severity::Error };
        if verdict.as_ref().is_none_or(|verdict| verdict.severity < severity) {
            verdict = Some(Verdict { severity, line: number });
        }
    }
    verdict
}

struct Finding {
    severity: Option<Severity>,
    /// Its line, then the lines of its labels.
    lines: Vec<u64>,
    text: String,
}

/// The findings of a JSON Lines report in this file.
fn parse_findings(report: &str, file: &str) -> Result<Vec<Finding>> {
    let mut out = Vec::new();
    for line in report.lines() {
        let object: Value = serde_json::from_str(line)?;
        if object["kind"] != "finding" || object["path"] != file {
            continue;
        }
        let labels = object["labels"].as_array().into_iter().flatten();
        let labels = labels.filter(|label| label["path"] == file);
        let lines: Vec<u64> = [&object]
            .into_iter()
            .chain(labels)
            .filter_map(|it| it["start"]["line"].as_u64())
            .collect();
        out.push(Finding {
            severity: match object["severity"].as_str() {
                Some("error") => Some(Severity::Error),
                Some("warning") => Some(Severity::Warning),
                _ => None,
            },
            text: format!(
                "{}: {} [{}]",
                lines.first().copied().unwrap_or_default(),
                object["message"].as_str().unwrap_or_default(),
                object["rule"].as_str().unwrap_or_default(),
            ),
            lines,
        });
    }
    Ok(out)
}
