//! `abide-serve check`: what a server would say, without serving.

use std::io::Write;
use std::process::ExitCode;

use super::args::Inputs;
use super::logs::say;
use super::{judge_of, today};
use crate::resources::open_source;

pub(super) fn check(inputs: &Inputs) -> Result<ExitCode, String> {
    let (judge, notes) = judge_of(inputs)?;
    let listing = open_source(&inputs.source)?.read()?;
    for note in notes.iter().chain(&listing.notes) {
        say(&format!("note: {note}"));
    }
    let verdict = judge.judge(today(), &listing.files);
    for line in &verdict.warnings {
        say(&format!("warning: {line}"));
    }
    for line in &verdict.errors {
        say(&format!("error: {line}"));
    }
    let Some(served) = &verdict.served else { return Ok(ExitCode::FAILURE) };
    let mut report = String::new();
    for (audience, snapshot) in served.audiences() {
        for (url, collection) in snapshot.types() {
            report.push_str(&format!("{audience}: {} of {url}\n", collection.len()));
        }
    }
    let written = std::io::stdout().lock().write_all(report.as_bytes());
    written.map_err(|error| format!("cannot write to standard output: {error}"))?;
    Ok(ExitCode::SUCCESS)
}
