//! The days and versions of packages, as the history knows them.

use std::collections::BTreeMap;

use abide_lint::PackagePast;
use abide_source::Progress;

use crate::args::{Global, HistoryArgs, TreeArgs};
use crate::error::Error;
use crate::history::{HistoryRequest, convert_to_day, walk_commits};
use crate::render::HISTORIES;
use crate::settings::Settings;
use crate::terminal::eprint_line;

/// The first day of each package in the history of `HEAD`, and its version there.
pub(super) fn from_history(
    global: &Global,
    settings: &Settings,
    tree: &TreeArgs,
    progress: &Progress,
) -> Result<BTreeMap<String, PackagePast>, Error> {
    let args = HistoryArgs {
        since: None,
        path: tree.source.clone(),
        import_path: tree.import_path.clone(),
        fields: false,
        every: None,
        format: &HISTORIES[0],
    };
    let (timeline, focus) = settings.open_timeline(&args)?;
    let judgement = HistoryRequest {
        policy: &settings.config.policy,
        as_of: global.as_of,
        focus: focus.as_deref(),
        fields: false,
    };
    let history = walk_commits(&timeline, &judgement, progress)?;
    for note in history.notes.iter().filter(|_| !global.quiet) {
        eprint_line(&format!("note: {note}"));
    }
    if let Some(loss) = history.losses.first() {
        return Err(Error::Usage(format!("the history is not whole: {loss}")));
    }
    let mut past: BTreeMap<String, PackagePast> = BTreeMap::new();
    for commit in &history.commits {
        let first = convert_to_day(commit.seconds);
        for row in &commit.packages {
            let known =
                past.entry(row.package.clone()).or_insert(PackagePast { first, last: None });
            known.first = first.min(known.first);
            known.last = row.to.clone().zip(row.after);
        }
    }
    Ok(past)
}
