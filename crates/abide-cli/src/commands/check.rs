//! `abide check` and `abide lint`.

use std::io::IsTerminal;

use abide::{Accepted, Location, Options, Report, Severity};
use abide_schema::Tree;

use super::{Outcome, error_color, say};
use crate::args::{Global, JudgeArgs};
use crate::error::Error;
use crate::load::{Loaded, load};
use crate::progress::Progress;
use crate::render::{Scene, render};
use crate::settings::{ACCEPTED, Settings};
use crate::source::shown;
use crate::write;

/// How wide a report is where no terminal says it.
const WIDTH: usize = 100;

pub(super) fn lint(global: &Global, judge: &JudgeArgs, color: bool) -> Result<Outcome, Error> {
    let settings = Settings::read(global, judge.tree.source.as_deref(), error_color(global))?;
    run(global, judge, &settings, None, false, color)
}

pub(super) fn check(
    global: &Global,
    judge: &JudgeArgs,
    against: Option<&str>,
    accept: bool,
    color: bool,
) -> Result<Outcome, Error> {
    let settings = Settings::read(global, judge.tree.source.as_deref(), error_color(global))?;
    if accept && settings.is_partial() {
        return Err(Error::Usage(format!(
            "`--accept` writes {ACCEPTED} for the whole tree: leave SOURCE out"
        )));
    }
    let against = against.or(settings.config.against.as_deref());
    run(global, judge, &settings, against, accept, color)
}

/// Judges a tree as the user wants it.
pub(super) fn judge(
    global: &Global,
    settings: &Settings,
    tree: &Tree,
    baseline: Option<&Tree>,
    accepted: Option<&Accepted>,
) -> Report {
    let as_of = global.as_of.unwrap_or_else(today);
    let options = Options { as_of, baseline, accepted, partial: settings.is_partial() };
    abide::check(tree, &settings.config.policy, options)
}

fn run(
    global: &Global,
    judge: &JudgeArgs,
    settings: &Settings,
    against: Option<&str>,
    accept: bool,
    color: bool,
) -> Result<Outcome, Error> {
    let progress = Progress::new(global.quiet);
    let loaded = load(&settings.source(&judge.tree)?, &progress)?;
    let baseline = match against {
        Some(spec) => Some(load(&settings.baseline(spec, &judge.tree)?, &progress)?),
        None => None,
    };
    let accepted = if accept { None } else { settings.accepted(error_color(global))? };
    progress.step("judging");
    let old = baseline.as_ref().map(|old| &old.tree);
    let known = accepted.as_ref().map(|(accepted, _)| accepted);
    let mut report = self::judge(global, settings, &loaded.tree, old, known);
    progress.step("writing the report");

    let mut notes = loaded.notes.clone();
    if let Some(old) = &baseline {
        notes.extend(old.notes.iter().cloned());
        let unread = troubles(old).into_iter();
        notes.extend(unread.map(|trouble| format!("in the baseline, {trouble}")));
    }
    if accept {
        if !loaded.unreadable.is_empty() {
            return Err(Error::Usage(format!(
                "nothing was recorded, for the tree is not read in full: {}",
                troubles(&loaded).join("; ")
            )));
        }
        notes.push(record(settings, &mut report)?);
    }
    let scene = Scene {
        tree: &loaded.tree,
        config: settings.file.as_ref(),
        accepted: accepted.as_ref().map(|(_, file)| file),
        prefix: &settings.prefix(&judge.tree),
        color,
        width: width(global),
        quiet: global.quiet,
        verbose: global.verbose,
    };
    let text = render(&report, &scene, judge.format);
    progress.finish();
    if global.verbose {
        notes.extend(progress.timings());
    }
    for note in notes.iter().filter(|_| !global.quiet) {
        say(&format!("note: {}", shown(note)));
    }
    let outcome = Outcome {
        report: Some(text),
        target: None,
        failed: report.errors > 0,
        troubles: troubles(&loaded),
    };
    // The process ends now; taking the trees apart would be for nothing.
    std::mem::forget((loaded, baseline));
    Ok(outcome)
}

/// Writes what was found to `abide.accepted` and takes it out of the report. Syntax and link
/// errors stay: a tree that is not understood cannot be accepted.
fn record(settings: &Settings, report: &mut Report) -> Result<String, Error> {
    let acceptable = |finding: &abide::Finding| {
        finding.severity != Severity::Note
            && matches!(finding.location, Location::Tree(_))
            && abide::RULES
                .iter()
                .any(|rule| rule.id == finding.rule && !matches!(rule.check, abide::Check::Linker))
    };
    let (accepted, rest): (Vec<_>, Vec<_>) =
        std::mem::take(&mut report.findings).into_iter().partition(acceptable);
    let path = settings.accepted_path();
    write::write(Some(&path), Accepted::text(&accepted).as_bytes()).map_err(|error| {
        Error::File { what: format!("cannot write `{}`", path.display()), error }
    })?;
    let count = |severity| rest.iter().filter(|finding| finding.severity == severity).count();
    report.errors = count(Severity::Error);
    report.warnings = count(Severity::Warning);
    report.accepted = accepted.len();
    report.findings = rest;
    Ok(match accepted.len() {
        1 => format!("1 finding recorded in {ACCEPTED}"),
        count => format!("{count} findings recorded in {ACCEPTED}"),
    })
}

/// Files that could not be read: the rest is judged, but the work is not done.
pub(super) fn troubles(loaded: &Loaded) -> Vec<String> {
    loaded.unreadable.iter().map(ToString::to_string).collect()
}

/// How wide lines of a report may be: as the terminal, within what reads well.
pub(super) fn width(global: &Global) -> usize {
    if global.output.is_some() || !std::io::stdout().is_terminal() {
        return WIDTH;
    }
    terminal_size::terminal_size().map_or(WIDTH, |(columns, _)| columns.0.clamp(40, 160).into())
}

fn today() -> jiff::civil::Date {
    jiff::Zoned::now().date()
}
