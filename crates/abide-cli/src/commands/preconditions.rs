//! Checks that a tree is complete enough for a command, and reports what is missing.

use std::collections::{HashMap, HashSet};

use abide_lint::{Check, DivergedCopy, Lock, Report, Rule, RuleScope, Severity, pluralize};
use abide_schema::{File, FileDecl, Problem, Tree};
use abide_source::printable::escape_unprintable;
use abide_source::{LOCK, LoadedTree, Progress};
use abide_upgrade::UpgradeRefusal;

use super::outcome::CommandOutcome;
use crate::args::Global;
use crate::error::Error;
use crate::render::{HUMAN, RenderContext};
use crate::settings::{Settings, today};
use crate::terminal::{eprint_block, eprint_line, error_style};

/// Refuses a tree with link errors or unreadable files: reports them, and says that nothing was
/// written. `None` if the tree is fine.
pub(super) fn refuse_unlinked(
    global: &Global,
    settings: &Settings,
    loaded: &LoadedTree,
    progress: &Progress,
) -> Option<CommandOutcome> {
    let errors = find_link_errors(global, settings, &loaded.tree);
    let troubles = read_errors(loaded);
    if errors.is_none() && troubles.is_empty() {
        return None;
    }
    progress.finish();
    errors.iter().for_each(|text| eprint_block(text));
    eprint_line("note: nothing was written");
    Some(CommandOutcome { troubles, ..CommandOutcome::nothing(errors.is_some()) })
}

/// Refuses a tree with a file that does not parse: reports what is wrong with the tree, and says
/// that nothing was written. `None` if every judged file parses.
pub(super) fn refuse_unparsed(
    global: &Global,
    settings: &Settings,
    loaded: &LoadedTree,
    progress: &Progress,
) -> Option<CommandOutcome> {
    match loaded.tree.files().all(|it| it.parses() || it.is_imported()) {
        true => None,
        false => refuse_unlinked(global, settings, loaded, progress),
    }
}

/// Reports why the work on a tree was refused. Errors of the language come before the refusal: they
/// may be its reason. `nothing` says what was not done.
pub(super) fn report_refusal(
    global: &Global,
    settings: &Settings,
    tree: &Tree,
    refusal: &UpgradeRefusal,
    nothing: &str,
) -> Result<CommandOutcome, Error> {
    match find_link_errors(global, settings, tree) {
        Some(errors) => eprint_block(&errors),
        None if refusal.is_of_tree() => eprint_line(&format!("error: {refusal}")),
        None => return Err(Error::Usage(refusal.to_string())),
    }
    eprint_line(&format!("note: {nothing}"));
    Ok(CommandOutcome::nothing(true))
}

/// Renders what protoc would refuse in the judged files of a tree; `None` if the tree is valid.
pub(super) fn find_link_errors(
    global: &Global,
    settings: &Settings,
    tree: &Tree,
) -> Option<String> {
    let as_of = global.as_of.unwrap_or_else(today);
    let options =
        abide_lint::Options { scope: RuleScope::Changes, ..abide_lint::Options::on(as_of) };
    let mut report = abide_lint::check(tree, &settings.config.policy, options);
    report.findings.retain(|finding| {
        finding.severity == Severity::Error
            && abide_lint::find_rule(finding.rule)
                .is_some_and(|rule: &Rule| matches!(rule.check, Check::Linker))
    });
    if report.findings.is_empty() {
        return None;
    }
    Some(render_findings(global, tree, &report))
}

/// Renders findings that kept a command from doing its work.
pub(super) fn render_findings(global: &Global, tree: &Tree, report: &Report) -> String {
    render_findings_since(global, tree, None, report)
}

/// Renders findings about a tree and an old one.
pub(super) fn render_findings_since(
    global: &Global,
    tree: &Tree,
    old: Option<&Tree>,
    report: &Report,
) -> String {
    let context = RenderContext::of_trees(tree, old, error_style(global));
    let text = (HUMAN.write)(report, &context);
    String::from_utf8_lossy(&text).trim_end().to_owned()
}

/// A note about an old tree with link errors, which is compared as far as it links. An old tree
/// without a single element that can be read is an error.
pub(super) fn check_baseline_links(old: &LoadedTree) -> Result<Option<String>, Error> {
    let problems = old.tree.problems().iter();
    let errors =
        problems.filter(|it| it.kind.is_error() && !old.tree.file(it.place.file).is_imported());
    let errors: Vec<&Problem> = errors.collect();
    let [first, rest @ ..] = &*errors else { return Ok(describe_unknown_edition(old)) };
    let file = old.tree.file(first.place.file);
    let line =
        file.decl().line_range(first.place.span).map(|(start, _)| format!(":{}", start.line));
    let place = format!("{}{}", file.decl().display, line.unwrap_or_default());
    let mut files = old.tree.files().filter(|file| !file.is_imported());
    if files.all(|file| file.elements().next().is_none()) {
        return Err(Error::Usage(format!(
            "nothing in the baseline `{}` can be read: {place}: {}",
            old.name, first.message
        )));
    }
    if !file.parses() {
        // Files that do not parse are named one by one.
        return Ok(None);
    }
    let more = match rest.len() {
        0 => String::new(),
        1 => ", and 1 more error".to_owned(),
        more => format!(", and {more} more errors"),
    };
    Ok(Some(format!(
        "the baseline `{}` has link errors and is compared as far as it links: {place}: {}{more}",
        old.name, first.message
    )))
}

/// Notes about old trees: what of them is not compared, and why.
pub(super) fn collect_old_notes<'t>(
    new: &LoadedTree,
    old: impl IntoIterator<Item = &'t LoadedTree>,
) -> Result<Vec<String>, Error> {
    let mut notes = Vec::new();
    for old in old {
        notes.extend(check_baseline_links(old)?);
        notes.extend(find_unrelated_baseline(new, old));
        notes.extend(old.notes.iter().cloned());
        notes.extend(find_missing_roots(old));
    }
    Ok(notes)
}

/// A note about an old tree that has a file in an edition that is not known.
fn describe_unknown_edition(old: &LoadedTree) -> Option<String> {
    let file = find_unknown_edition(&old.tree)?;
    Some(format!(
        "the features that the baseline `{}` leaves to its edition are not compared: `{}` is in {}, \
         which is not known",
        old.name,
        escape_unprintable(&file.display),
        file.edition
    ))
}

/// A note about the hashes of a tree that has a file in an edition that is not known.
pub(super) fn describe_unknown_hashes(tree: &Tree) -> Option<String> {
    let file = find_unknown_edition(tree)?;
    let path = escape_unprintable(&file.display);
    let edition = file.edition;
    Some(format!(
        "`{path}` is in {edition}, which is not known, so its hashes may change once it is"
    ))
}

/// The first file in an edition that is not known.
fn find_unknown_edition(tree: &Tree) -> Option<&FileDecl> {
    let mut judged = tree.files().filter(|it| !it.is_imported()).map(File::decl);
    judged.find(|it| !it.edition.is_known())
}

/// Notes about the packages that were not judged, because a file of theirs does not parse.
pub(super) fn find_unjudged_packages(tree: &Tree) -> Option<String> {
    let packages: Vec<String> = tree
        .unknown_packages()
        .filter(|it| !it.is_empty())
        .map(|it| format!("`{}`", escape_unprintable(it)))
        .collect();
    let unread: Vec<File<'_>> =
        tree.files().filter(|it| !it.parses() && !it.is_imported()).collect();
    let first = unread.first()?;
    let file = format!("`{}`", escape_unprintable(&first.decl().display));
    let why = match unread.len() {
        1 if first.decl().has_unknown_edition() => format!("{file} has an unknown edition"),
        1 => format!("{file} does not parse"),
        count => format!("{file} and {} do not parse", pluralize(count - 1, "other file")),
    };
    let subject = match packages.as_slice() {
        [] => "the files without a package were".to_owned(),
        [one] => format!("the package {one} was"),
        [first, rest @ ..] => {
            let others = pluralize(rest.len(), "other");
            format!("the package {first} and {others} were")
        }
    };
    Some(format!("{subject} not judged: {why}"))
}

/// A note about an old tree that has no path and no package in common with the new one.
pub(super) fn find_unrelated_baseline(new: &LoadedTree, old: &LoadedTree) -> Option<String> {
    let before: HashSet<&str> = judged_names(&old.tree).collect();
    let mut after = judged_names(&new.tree).peekable();
    let both = !before.is_empty() && after.peek().is_some();
    let strange = both && !after.any(|name| before.contains(name));
    strange.then(|| {
        format!(
            "the baseline `{}` has no path and no package in common with this tree: check that it \
             is the same tree, with the same roots",
            old.name
        )
    })
}

/// The paths and packages of the judged files.
fn judged_names(tree: &Tree) -> impl Iterator<Item = &str> {
    let files = tree.files().filter(|file| file.is_judged());
    files.flat_map(|file| [file.path(), file.package().name()])
}

/// A note for each package of which several roots have copies that differ.
pub(super) fn find_diverged_copies(tree: &Tree) -> Vec<String> {
    let apart = abide_lint::find_diverged_copies(tree).into_iter();
    apart
        .map(|DivergedCopy { first, other }: DivergedCopy<'_>| {
            let [first, other] = [first, other].map(|it| &it.decl().display);
            format!("two copies of one file have come apart: `{other}` differs from `{first}`")
        })
        .collect()
}

/// Returns true if a tree was read from texts, which lie in a repository, and not from descriptors.
pub(super) fn has_texts(tree: &Tree) -> bool {
    let mut files = tree.files().filter(|file| !file.is_imported());
    files.any(|file| file.decl().source_text().is_some())
}

/// Files that could not be read. The rest is judged, but the exit status is 2.
pub(super) fn read_errors(loaded: &LoadedTree) -> Vec<String> {
    loaded.unreadable.iter().map(ToString::to_string).collect()
}

/// Files of an old tree that could not be read, such as links to nowhere. The rest is compared, but
/// the exit status is 2: whatever changed in them would pass.
pub(super) fn baseline_read_errors(old: &LoadedTree) -> impl Iterator<Item = String> + '_ {
    let unread = old.unreadable.iter().filter(|it| !it.is_absence());
    unread.map(|it| format!("in the baseline, {it}"))
}

/// Notes about the roots that an old tree does not have.
pub(super) fn find_missing_roots(old: &LoadedTree) -> impl Iterator<Item = String> + '_ {
    let absent = old.unreadable.iter().filter(|it| it.is_absence());
    absent.map(|it| {
        format!("the baseline `{}` has no root `{}`, which counts as empty", old.name, it.path)
    })
}

/// Notes about packages that were judged in the old tree, or that `abide.lock` records, and that
/// are now only imported: whoever moves a package to an import path ends its promise.
pub(super) fn find_no_longer_judged(
    new: &Tree,
    old: Option<&Tree>,
    lock: Option<&Lock>,
) -> Vec<String> {
    let gone = new.packages().filter(|it| !it.is_judged()).filter_map(|package| {
        let was_judged = old.is_some_and(|old| {
            old.packages().any(|it| it.name() == package.name() && it.is_judged())
        });
        let is_recorded = lock.is_some_and(|it| it.record(package.name()).is_some());
        let record = match is_recorded {
            true => format!(", and {LOCK} still records it"),
            false => String::new(),
        };
        (was_judged || is_recorded).then(|| {
            format!(
                "the package `{}` is no longer checked, because its files are only imported{record}: \
                 list their folder in `roots` if it is still promised to anybody",
                escape_unprintable(package.name())
            )
        })
    });
    gone.collect()
}

/// A note about imported files that are not as they were: they are not checked, but what is checked
/// depends on them.
pub(super) fn find_changed_imports(new: &Tree, old: &Tree) -> Option<String> {
    let before: HashMap<&str, File<'_>> =
        old.files().filter(|it| it.is_imported()).map(|it| (it.path(), it)).collect();
    let changed = new.files().filter(|it| it.is_imported()).filter(|file| {
        let Some(old) = before.get(file.path()) else { return false };
        // A set has no texts, and nothing is known of its imports but what is used of them.
        let texts = (old.decl().source_text(), file.decl().source_text());
        matches!(texts, (Some(old), Some(new)) if old != new)
    });
    let changed: Vec<File<'_>> = changed.collect();
    let first = format!("`{}`", escape_unprintable(&changed.first()?.decl().display));
    let subject = match changed.len() {
        1 => format!("the imported file {first} changed: what breaks in it is"),
        count => format!(
            "{first} and {} changed: what breaks in them is",
            pluralize(count - 1, "other imported file")
        ),
    };
    Some(format!(
        "{subject} reported where checked files use it, and nothing else; list the folder in `roots` to \
         check it"
    ))
}
