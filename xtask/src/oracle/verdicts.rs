//! What protoc refuses or warns about, and on which line, against what
//! `abide check` says of the same file.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::corpora::{fresh, write};
use crate::tools::{Protoc, output, workspace};
use crate::Result;

/// How bad a compiler thinks something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Severity {
    Warning,
    Error,
}

/// The first thing that protoc says of a file: an error if there is one.
#[derive(Debug, PartialEq, Eq)]
struct Verdict {
    severity: Severity,
    /// Where, when protoc names a line.
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

/// Judges every file of `testdata/protoc/invalid`; true when all agree.
///
/// Files in its folder `imports` are there to be imported.
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
    let (mut agreed, mut stale) = (0, 0);
    for case in &cases {
        let name = case.file_name().and_then(|name| name.to_str()).ok_or("a name in UTF-8")?;
        let bytes = fs::read(case)?;
        let root = fresh("verdict")?;
        write(&root.join(name), &bytes)?;

        let said = output(protoc.command(&[&root, &helpers]).args(["-o", "/dev/null", name]))?;
        let said = String::from_utf8_lossy(&said.stderr).into_owned();
        let verdict = protoc_verdict(&said, name);
        let promised = String::from_utf8_lossy(&bytes);
        let promised = promised.lines().next().unwrap_or_default().trim_start_matches('\u{feff}');
        let Some(verdict) = verdict.filter(|verdict| verdict.to_string() == promised) else {
            stale += 1;
            println!("  {name}: promises `{promised}`, but protoc says:\n{said}");
            continue;
        };

        let mut check = Command::new(abide);
        check.args(["check", "--format", "json"]).arg(&root);
        check.arg("-I").arg(&helpers).arg("-I").arg(&protoc.include);
        let checked = output(&mut check)?;
        let findings = findings(&String::from_utf8_lossy(&checked.stdout), name)?;
        let agrees = findings.iter().any(|finding| {
            finding.severity >= Some(verdict.severity)
                && verdict.line.is_none_or(|line| finding.line == Some(line))
        });
        if agrees {
            agreed += 1;
            println!("  {name}: agree");
            continue;
        }
        println!("  {name}: DIFFER, `abide check` ended with {}", checked.status);
        for line in said.lines() {
            println!("    protoc: {line}");
        }
        for finding in &findings {
            println!("    abide: {}", finding.text);
        }
        for line in String::from_utf8_lossy(&checked.stderr).lines().take(5) {
            println!("    abide: {line}");
        }
    }
    println!("verdicts: {agreed} of {} agree; {stale} promise what protoc does not say", cases.len());
    Ok(agreed == cases.len())
}

/// The worst and first of what protoc says of that file.
fn protoc_verdict(said: &str, file: &str) -> Option<Verdict> {
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
    line: Option<u64>,
    text: String,
}

/// The findings of a JSON Lines report that lie in that file.
fn findings(report: &str, file: &str) -> Result<Vec<Finding>> {
    let mut out = Vec::new();
    for line in report.lines() {
        let object: Value = serde_json::from_str(line)?;
        if object["kind"] != "finding" || object["path"] != file {
            continue;
        }
        let line = object["start"]["line"].as_u64();
        out.push(Finding {
            severity: match object["severity"].as_str() {
                Some("error") => Some(Severity::Error),
                Some("warning") => Some(Severity::Warning),
                _ => None,
            },
            line,
            text: format!(
                "{}: {} [{}]",
                line.unwrap_or_default(),
                object["message"].as_str().unwrap_or_default(),
                object["rule"].as_str().unwrap_or_default(),
            ),
        });
    }
    Ok(out)
}
