//! `abide history`.

use abide_source::{Progress, Source};

use super::outcome::CommandOutcome;
use crate::args::{Global, HistoryArgs, TreeArgs};
use crate::error::Error;
use crate::history::{HistoryRequest, TreeHistory, judge_releases, walk_commits};
use crate::settings::Settings;
use crate::terminal::{eprint_line, style, use_error_color};

pub(super) fn history(global: &Global, args: &HistoryArgs) -> Result<CommandOutcome, Error> {
    let progress = Progress::new(global.quiet);
    if let Some(pattern) = &args.every {
        return history_of_releases(global, args, pattern, &progress);
    }
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

/// Judges each release against all before it.
fn history_of_releases(
    global: &Global,
    args: &HistoryArgs,
    pattern: &str,
    progress: &Progress,
) -> Result<CommandOutcome, Error> {
    if args.format.name == "html" {
        let message = "the page shows commits: use `--format human` or `json` with `--every`";
        return Err(Error::Usage(message.to_owned()));
    }
    let tree = TreeArgs { source: args.path.clone(), import_path: args.import_path.clone() };
    let settings = Settings::read(global, args.path.as_deref(), use_error_color(global))?;
    let specs = settings.list_old_trees(&[format!("git:every({pattern})")]);
    let sources = specs.iter().map(|spec| settings.open_baseline(spec, &tree));
    let sources: Vec<Source> = sources.collect::<Result<_, _>>()?;
    let policy = &settings.config.policy;
    let releases = judge_releases(&sources, policy, global.as_of, progress)?;
    progress.finish();
    let history = TreeHistory::of_releases(releases);
    Ok(CommandOutcome::of((args.format.write)(&history, style(global, args.format.is_styled))))
}
