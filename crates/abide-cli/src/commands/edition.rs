//! `abide edition`.

use std::collections::HashSet;

use abide_lint::{
    EditionObstacle, EditionObstacleReason, EditionRequest, EditionResult, Lock, Options, Records,
};
use abide_lint::{carry_to_edition, pluralize};
use abide_schema::Tree;
use abide_source::printable::escape_unprintable;

use super::edited_tree::EditedTree;
use super::file_changes::{Changes, FileChange, render_patch};
use super::outcome::CommandOutcome;
use super::preconditions::read_errors;
use crate::args::{EditionArgs, Global};
use crate::error::Error;
use crate::settings::{read_lock, today};
use crate::terminal::{eprint_line, use_error_color};

pub(super) fn edition(global: &Global, args: &EditionArgs) -> Result<CommandOutcome, Error> {
    let edited = EditedTree::open(global, &args.tree, args.target.write)?;
    if let Some(refused) = edited.refuse_unparsed(global) {
        return Ok(refused);
    }
    let EditedTree { settings, source, loaded, progress, .. } = &edited;
    let lock = read_lock(source, "", use_error_color(global))?;
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
    let outcome = if args.target.write {
        edited.write(&changes)?;
        CommandOutcome::nothing(failed)
    } else if args.target.diff {
        let patch = render_patch(&changes, &settings.prefix(&args.tree));
        CommandOutcome { failed, ..CommandOutcome::verbatim(patch) }
    } else {
        let names = changes.keys().map(|it| format!("{}\n", escape_unprintable(it)));
        CommandOutcome { failed, ..CommandOutcome::verbatim(names.collect::<String>()) }
    };
    Ok(CommandOutcome { troubles: read_errors(loaded), ..outcome })
}

fn collect_changes<'a>(tree: &Tree, carried: &'a EditionResult) -> Changes<'a> {
    let texts = carried.texts.iter().map(|(id, text)| (tree.file(*id).decl(), text));
    texts
        .map(|(decl, text)| (decl.display.to_string(), FileChange::edit(decl.source_text(), text)))
        .collect()
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
    if carried.protobuf_copies > 0 {
        let files = pluralize(carried.protobuf_copies, "file");
        notes.push(format!(
            "note: left out {files} of protobuf itself: copy those of a later release"
        ));
    }
    let judged = || tree.files().filter(|it| it.is_judged());
    let unknown = judged().filter(|it| !it.decl().edition.is_known()).count();
    if unknown > 0 {
        let files = pluralize(unknown, "file");
        notes.push(format!("note: left out {files} in an edition that is not known"));
    }
    let all = pluralize(judged().count(), "file");
    let (edition, changed) = (args.to, carried.texts.len());
    match changed {
        0 => {}
        _ if args.target.write => {
            notes.push(format!("note: carried {changed} of {all} to {edition}"));
        }
        _ => notes.push(format!("note: {changed} of {all} can be carried to {edition}")),
    }
    let of_files = carried
        .obstacles
        .iter()
        .filter(|it| !matches!(it.reason, EditionObstacleReason::OldDescriptor(_)));
    let kept: HashSet<_> = of_files.map(|it| it.place.file).collect();
    if !kept.is_empty() {
        notes.push(format!("note: left {} unchanged", pluralize(kept.len(), "file")));
    }
    notes
}
