//! The days of packages: recorded in `abide.lock`, and read from the history.

use std::collections::BTreeMap;
use std::path::Path;

use abide::Lock;
use jiff::civil::Date;

use crate::args::{Global, HistoryArgs, TreeArgs};
use crate::error::Error;
use crate::history::{Judgement, day, walk};
use crate::printable::shown;
use crate::progress::Progress;
use crate::render::HISTORIES;
use crate::settings::{Settings, today};
use crate::source::LOCK;
use crate::terminal::say;
use crate::write;

/// Edits the lock of a tree, after what it describes is written.
pub(super) fn record(folder: &Path, edit: impl FnOnce(&mut Lock)) -> Result<(), Error> {
    let path = folder.join(LOCK);
    let failed = |what: &str, error| Error::File {
        what: format!("cannot {what} `{}`", path.display()),
        error,
    };
    let old = match std::fs::read_to_string(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        old => Some(old.map_err(|error| failed("read", error))?),
    };
    let known = Lock::parse(old.as_deref().unwrap_or("abide-lock 1\n")).map_err(|errors| {
        let first = errors.first().map(|it| it.message.clone()).unwrap_or_default();
        Error::Usage(format!("`{}` cannot be read: {first}", path.display()))
    })?;
    let mut lock = known.clone();
    edit(&mut lock);
    if lock == known {
        return Ok(());
    }
    write::replace(&path, lock.to_string().as_bytes()).map_err(|error| failed("write", error))
}

/// The day of a command.
pub(super) fn as_of(global: &Global) -> Date {
    global.as_of.unwrap_or_else(today)
}

/// The first day of each package in the history of `HEAD`.
pub(super) fn from_history(
    global: &Global,
    settings: &Settings,
    tree: &TreeArgs,
    progress: &Progress,
) -> Result<BTreeMap<String, Date>, Error> {
    let args = HistoryArgs {
        since: None,
        path: tree.source.clone(),
        import_path: tree.import_path.clone(),
        fields: false,
        format: &HISTORIES[0],
    };
    let (timeline, focus) = settings.timeline(&args)?;
    let judgement = Judgement {
        policy: &settings.config.policy,
        as_of: global.as_of,
        focus: focus.as_deref(),
        fields: false,
    };
    let history = walk(&timeline, &judgement, progress)?;
    for note in history.notes.iter().filter(|_| !global.quiet) {
        say(&format!("note: {}", shown(note)));
    }
    let mut days: BTreeMap<String, Date> = BTreeMap::new();
    for commit in &history.commits {
        let on = day(commit.seconds);
        for row in &commit.packages {
            let first = days.entry(row.package.clone()).or_insert(on);
            *first = on.min(*first);
        }
    }
    Ok(days)
}
