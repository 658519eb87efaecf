//! `abide-serve check`: what a server would say, without serving.

use std::io::Write;
use std::process::ExitCode;

use super::args::Inputs;
use super::logs::say;
use super::{read_judge, today};
use crate::error::Error;
use crate::resources::{Overrides, open_source};

pub(super) fn check(inputs: &Inputs) -> Result<ExitCode, Error> {
    let (judge, notes) = read_judge(inputs)?;
    let listing = open_source(&inputs.source)?.read()?;
    for note in notes.iter().chain(&listing.notes) {
        say(&format!("note: {note}"));
    }
    let verdict = judge.judge(today(), &listing.files, &Overrides::default());
    for line in &verdict.warnings {
        say(&format!("warning: {line}"));
    }
    for line in verdict.errors.iter().chain(&verdict.stopped) {
        say(&format!("error: {line}"));
    }
    let served = verdict.served.as_ref().filter(|_| verdict.stopped.is_empty());
    let Some(served) = served else { return Ok(ExitCode::FAILURE) };
    let mut report = String::new();
    for (audience, snapshot) in served.audiences() {
        for (url, collection) in snapshot.types() {
            report.push_str(&format!("{audience}: {} of {url}\n", collection.len()));
        }
    }
    let written = std::io::stdout().lock().write_all(report.as_bytes());
    written.map_err(Error::Output)?;
    Ok(ExitCode::SUCCESS)
}
