//! The days of packages, as the history knows them.

use std::collections::BTreeMap;

use jiff::civil::Date;

use crate::args::{Global, HistoryArgs, TreeArgs};
use crate::error::Error;
use crate::history::{Judgement, day, walk};
use crate::progress::Progress;
use crate::render::HISTORIES;
use crate::settings::Settings;
use crate::terminal::say;

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
        say(&format!("note: {note}"));
    }
    if let Some(loss) = history.losses.first() {
        return Err(Error::Usage(format!("the history is not whole: {loss}")));
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
