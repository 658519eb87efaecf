//! `abide history`.

use abide_source::Progress;

use super::outcome::CommandOutcome;
use crate::args::{Global, HistoryArgs};
use crate::error::Error;
use crate::history::{HistoryRequest, walk_commits};
use crate::settings::Settings;
use crate::terminal::{eprint_line, style, use_error_color};

pub(super) fn history(global: &Global, args: &HistoryArgs) -> Result<CommandOutcome, Error> {
    let progress = Progress::new(global.quiet);
    let on_disk = args.path.as_deref().filter(|path| std::path::Path::new(path).exists());
    let settings = Settings::read(global, on_disk, use_error_color(global))?;
    let (timeline, focus) = settings.open_timeline(args)?;
    let judgement = HistoryRequest {
        policy: &settings.config.policy,
        as_of: global.as_of,
        focus: focus.as_deref(),
        fields: args.fields,
    };
    let history = walk_commits(&timeline, &judgement, &progress)?;
    progress.begin_step("writing the report");
    let text = (args.format.write)(&history, style(global, args.format.is_styled));
    progress.finish();
    let timings = if global.verbose { progress.format_timings() } else { Vec::new() };
    for note in history.notes.iter().chain(&timings).filter(|_| !global.quiet) {
        eprint_line(&format!("note: {note}"));
    }
    Ok(CommandOutcome { troubles: history.losses, ..CommandOutcome::of(text) })
}
