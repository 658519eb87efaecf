//! `abide deprecate`.

use std::collections::BTreeMap;

use abide_lint::{DeprecationAnswer, DeprecationNotice, Fix, Lock, backtick, find_nearest};
use abide_schema::{Element, Tree};
use abide_source::LoadedTree;
use abide_upgrade::{Edit, FileRole, FileRoles, UpgradeOptions, apply};

use super::edited_tree::EditedTree;
use super::file_changes::{Changes, FileChange, render_patch};
use super::outcome::CommandOutcome;
use super::preconditions::read_errors;
use super::predicted_tree::PlannedChange;
use crate::args::{DeprecateArgs, Global};
use crate::error::Error;
use crate::settings::{read_lock, today};
use crate::terminal::{eprint_line, use_error_color};

pub(super) fn deprecate(global: &Global, args: &DeprecateArgs) -> Result<CommandOutcome, Error> {
    let edited = EditedTree::open(global, &args.tree, args.target.write)?;
    if let Some(refused) = edited.refuse_unparsed(global) {
        return Ok(refused);
    }
    let EditedTree { settings, source, loaded, progress, .. } = &edited;
    let lock = read_lock(source, "", use_error_color(global))?;
    let tree = &loaded.tree;
    let element = find_element(tree, &args.element)?;
    if args.target.check {
        progress.finish();
        return Ok(describe_state(element, loaded));
    }
    check_editable(element, &FileRoles::from_tree(tree, &settings.config.policy.upgrade))?;
    let fix = abide_lint::deprecate(
        element,
        DeprecationNotice {
            answer: read_answer(element, args)?,
            since: args.date.or(global.as_of).unwrap_or_else(today),
            version: &find_version(element, lock.as_ref()),
        },
    )
    .map_err(|error| Error::Usage(format!("{}: {error}", backtick(element.full_name()))))?;
    let text = edit_text(element, fix)?;
    let decl = element.file().decl();
    let change = FileChange::edit(decl.source_text(), &text);
    let changes = Changes::from([(decl.display.to_string(), change)]);
    let planned = PlannedChange { global, settings, source, loaded, lock: lock.as_ref(), progress };
    let predicted = planned.predict(&changes, &BTreeMap::new())?;
    progress.finish();
    if !predicted.errors.findings.is_empty() {
        planned.report_errors(&predicted);
        eprint_line("note: nothing was written");
        return Ok(CommandOutcome::nothing(true));
    }
    let troubles = read_errors(loaded);
    if args.target.diff {
        let patch = render_patch(&changes, &settings.prefix(&args.tree));
        return Ok(CommandOutcome { troubles, ..CommandOutcome::verbatim(patch) });
    }
    edited.write(&changes)?;
    if !global.quiet {
        let is_made = settings.config.policy.upgrade_settings();
        let rises = abide_upgrade::upgrade(&predicted.tree, is_made, &UpgradeOptions::default())
            .is_ok_and(|it| !it.files.is_empty());
        suggest_next(args, lock.is_some(), rises).iter().for_each(|it| eprint_line(it));
    }
    Ok(CommandOutcome { troubles, ..CommandOutcome::nothing(false) })
}

/// The lines that say what is left to do.
fn suggest_next(args: &DeprecateArgs, is_recorded: bool, rises: bool) -> Vec<String> {
    let mut lines = Vec::new();
    if args.replaced_by.is_none() && args.dropped.is_none() {
        lines.push(
            "note: say in the comment what to use instead, or name it with `--replaced-by` or \
             `--dropped`"
                .to_owned(),
        );
    }
    let bump = "`abide bump --write` records the version of the package";
    let upgrade = "`abide upgrade --write` makes the next major version without the element";
    match (is_recorded, rises) {
        (true, true) => lines.push(format!("next: {bump}, and {upgrade}")),
        (true, false) => lines.push(format!("next: {bump}")),
        (false, true) => lines.push(format!("next: {upgrade}")),
        (false, false) => {}
    }
    lines
}

/// Says whether an element is deprecated, as `--check` asks.
fn describe_state(element: Element<'_>, loaded: &LoadedTree) -> CommandOutcome {
    let is_done = element.deprecated().is_some();
    let state = if is_done { "is deprecated" } else { "is not deprecated" };
    let text = format!("{} {state}\n", backtick(element.full_name()));
    let troubles = read_errors(loaded);
    CommandOutcome { failed: !is_done, troubles, ..CommandOutcome::of(text) }
}

fn find_element<'t>(tree: &'t Tree, name: &str) -> Result<Element<'t>, Error> {
    let full_name = name.strip_prefix('.').unwrap_or(name);
    if let Some(element) = tree.element_named(full_name) {
        return Ok(element);
    }
    let judged = tree.files().filter(|it| it.is_judged());
    let names: Vec<String> =
        judged.flat_map(|file| file.elements()).map(Element::full_name).collect();
    let end = format!(".{full_name}");
    let by_end = names.iter().find(|it| it.ends_with(&end)).map(String::as_str);
    let near = by_end.or_else(|| find_nearest(full_name, names.iter().map(String::as_str)));
    let meant = near.map(|it| format!("; did you mean {}?", backtick(it))).unwrap_or_default();
    Err(Error::Usage(format!("no element is named {}{meant}", backtick(full_name))))
}

/// Fails if the file of an element is not for people to edit.
fn check_editable(element: Element<'_>, roles: &FileRoles) -> Result<(), Error> {
    let file = element.file();
    let why = match roles.get(file) {
        _ if !file.is_judged() => "its file is only imported",
        FileRole::Candidate => "its file is generated: deprecate it in the version it is made from",
        FileRole::Frozen => "its package is frozen",
        FileRole::Active | FileRole::HandMaintained | FileRole::Excluded => return Ok(()),
    };
    Err(Error::Usage(format!("{}: {why}", backtick(element.full_name()))))
}

/// What users of the element do instead. A replacement has to exist.
fn read_answer<'a>(
    element: Element<'_>,
    args: &'a DeprecateArgs,
) -> Result<Option<DeprecationAnswer<'a>>, Error> {
    if let Some(reason) = &args.dropped {
        if reason.trim().is_empty() || reason.contains(char::is_control) {
            let message = "`--dropped` needs a reason of one line";
            return Err(Error::Usage(message.to_owned()));
        }
        return Ok(Some(DeprecationAnswer::Dropped(reason.trim())));
    }
    let Some(name) = &args.replaced_by else { return Ok(None) };
    let siblings = element.collect_siblings();
    let tree = element.file().tree;
    let is_found = siblings.iter().any(|it| it.name() == name)
        || tree.element_named(name.strip_prefix('.').unwrap_or(name)).is_some();
    if is_found && *name != element.name() && *name != element.full_name() {
        return Ok(Some(DeprecationAnswer::ReplacedBy(name)));
    }
    let others = siblings.iter().map(|it| it.name()).filter(|it| *it != element.name());
    let meant = find_nearest(name, others).map(|it| format!("; did you mean {}?", backtick(it)));
    Err(Error::Usage(format!(
        "{} is no replacement for {}: name a sibling, or another element by its full name{}",
        backtick(name),
        backtick(element.full_name()),
        meant.unwrap_or_default()
    )))
}

/// The version of an element's package as `MAJOR.MINOR`: the recorded one, else the first of the
/// major in its name.
fn find_version(element: Element<'_>, lock: Option<&Lock>) -> String {
    let package = element.package();
    match lock.and_then(|it| it.record(package.name())) {
        Some(record) => format!("{}.{}", record.version.major, record.version.minor),
        None => format!("{}.0", package.version().map_or(1, |it| it.major)),
    }
}

/// The text of the file of an element with the edits of a fix.
fn edit_text(element: Element<'_>, fix: Fix) -> Result<Vec<u8>, Error> {
    let edits = fix.edits.into_iter().map(|it| Edit::replace(it.location.span, it.text));
    let text = element.file().decl().source_text().unwrap_or_default();
    apply(text, edits.collect()).map_err(|_| {
        let message = "the edits of the element overlap: deprecate it by hand";
        Error::Usage(message.to_owned())
    })
}
