//! `abide edition`.

use std::collections::HashSet;

use abide_lint::{EditionObstacle, EditionRequest, EditionResult, Lock, Options, Records};
use abide_lint::{carry_to_edition, pluralize};
use abide_schema::{File, Tree};
use abide_source::printable::escape_unprintable;
use abide_source::{Progress, load};

use super::file_changes::{
    Changes, ContentAuthor, FileChange, expect_folder, open_folder, render_patch, write_changes,
};
use super::folder_lock::lock_exclusively;
use super::outcome::CommandOutcome;
use super::preconditions::{read_errors, refuse_unparsed};
use crate::args::{EditionArgs, Global};
use crate::error::Error;
use crate::settings::{Settings, read_lock, today};
use crate::terminal::{eprint_line, use_error_color};

pub(super) fn edition(global: &Global, args: &EditionArgs) -> Result<CommandOutcome, Error> {
    let color = use_error_color(global);
    let settings = Settings::read(global, args.tree.source.as_deref(), color)?;
    let progress = Progress::new(global.quiet);
    let source = settings.open_source(&args.tree)?;
    let folder = if args.target.write { Some(expect_folder(source.folder())?) } else { None };
    let _guard = folder.map(|folder| lock_exclusively(folder, global)).transpose()?;
    let loaded = load(&source, &progress)?;
    if let Some(refused) = refuse_unparsed(global, &settings, &loaded, &progress) {
        return Ok(refused);
    }
    let lock = read_lock(&source, "", color)?;
    let generated: HashSet<&str> = lock.iter().flat_map(Lock::made_paths).collect();
    let records = Records {
        version_in: settings.config.version_in,
        lock: lock.as_ref(),
        ..Records::default()
    };
    let options = Options { records, ..Options::on(global.as_of.unwrap_or_else(today)) };
    let request = EditionRequest {
        edition: args.to,
        may_edit: &|file| !generated.contains(&*file.decl().display),
    };
    progress.begin_step(format!("carrying to {}", args.to));
    let tree = &loaded.tree;
    let carried = carry_to_edition(tree, &settings.config.policy, options, request);
    progress.finish();
    for obstacle in &carried.obstacles {
        eprint_line(&describe_obstacle(tree, obstacle));
    }
    let changes = collect_changes(tree, &carried);
    if !global.quiet {
        describe_outcome(tree, args, &carried, generated.len())
            .iter()
            .for_each(|it| eprint_line(it));
    }
    let failed = !carried.obstacles.is_empty() || args.target.check && !changes.is_empty();
    let outcome = if let Some(folder) = folder {
        write_changes(&open_folder(folder)?, &changes, None)?;
        CommandOutcome::nothing(failed)
    } else if args.target.diff {
        let patch = render_patch(&changes, &settings.prefix(&args.tree));
        CommandOutcome { failed, ..CommandOutcome::verbatim(patch) }
    } else {
        let names = changes.keys().map(|it| format!("{}\n", escape_unprintable(it)));
        CommandOutcome { failed, ..CommandOutcome::verbatim(names.collect::<String>()) }
    };
    Ok(CommandOutcome { troubles: read_errors(&loaded), ..outcome })
}

fn collect_changes<'a>(tree: &Tree, carried: &'a EditionResult) -> Changes<'a> {
    let change = |file: File<'_>, text: &'a [u8]| FileChange {
        old: file.decl().source_text().map(<[u8]>::to_vec),
        new: Some(text),
        last: false,
        author: ContentAuthor::Abide,
    };
    let texts = carried.texts.iter().map(|(id, text)| (tree.file(*id), text));
    texts.map(|(file, text)| (file.decl().display.to_string(), change(file, text))).collect()
}

fn describe_obstacle(tree: &Tree, obstacle: &EditionObstacle) -> String {
    let decl = tree.file(obstacle.place.file).decl();
    let path = escape_unprintable(&decl.display);
    let position = decl.line_range(obstacle.place.span).map(|it| it.0);
    let at = position.map(|it| format!(":{}:{}", it.line, it.column)).unwrap_or_default();
    format!("error: {path}{at}: {}", obstacle.reason)
}

/// The notes that sum up a run.
fn describe_outcome(
    tree: &Tree,
    args: &EditionArgs,
    carried: &EditionResult,
    generated: usize,
) -> Vec<String> {
    let mut notes = Vec::new();
    if generated > 0 {
        let files = pluralize(generated, "file");
        notes.push(format!("note: left out {files} that `abide upgrade` wrote: run it afterwards"));
    }
    let all = pluralize(tree.files().filter(|it| it.is_judged()).count(), "file");
    let (edition, changed) = (args.to, carried.texts.len());
    match changed {
        0 => {}
        _ if args.target.write => {
            notes.push(format!("note: carried {changed} of {all} to {edition}"));
        }
        _ => notes.push(format!("note: {changed} of {all} can be carried to {edition}")),
    }
    let kept: HashSet<_> = carried.obstacles.iter().map(|it| it.place.file).collect();
    if !kept.is_empty() {
        notes.push(format!("note: left {} as they were", pluralize(kept.len(), "file")));
    }
    notes
}
