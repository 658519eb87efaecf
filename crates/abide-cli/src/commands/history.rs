//! `abide history`.

use super::outcome::Outcome;
use crate::args::{Global, HistoryArgs};
use crate::error::Error;
use crate::history::{Judgement, walk};
use crate::progress::Progress;
use crate::settings::Settings;
use crate::terminal::{error_color, look, say};

pub(super) fn history(global: &Global, args: &HistoryArgs) -> Result<Outcome, Error> {
    let progress = Progress::new(global.quiet);
    let on_disk = args.path.as_deref().filter(|path| std::path::Path::new(path).exists());
    let settings = Settings::read(global, on_disk, error_color(global))?;
    let (timeline, focus) = settings.timeline(args)?;
    let judgement = Judgement {
        policy: &settings.config.policy,
        as_of: global.as_of,
        focus: focus.as_deref(),
        fields: args.fields,
    };
    let history = walk(&timeline, &judgement, &progress)?;
    progress.step("writing the report");
    let text = (args.format.write)(&history, look(global, args.format.is_styled));
    progress.finish();
    let timings = if global.verbose { progress.timings() } else { Vec::new() };
    for note in history.notes.iter().chain(&timings).filter(|_| !global.quiet) {
        say(&format!("note: {note}"));
    }
    Ok(Outcome { troubles: history.losses, ..Outcome::of(text) })
}
