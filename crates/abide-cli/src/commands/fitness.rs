//! Whether a tree is fit for what a command does with it, and what is said where it is not.

use std::collections::HashSet;

use abide::{Check, Report, Rule, RuleScope, Severity};
use abide_schema::Tree;
use abide_upgrade::Refusal;

use super::outcome::Outcome;
use crate::args::Global;
use crate::error::Error;
use crate::load::Loaded;
use crate::progress::Progress;
use crate::render::{HUMAN, Scene};
use crate::settings::{Settings, today};
use crate::source::ReadProblem;
use crate::terminal::{look_of_errors, say, say_rendered};

/// Refuses a tree with link errors or unreadable files: reports them, and says that nothing was
/// written. `None` if the tree is fine.
pub(super) fn unless_linked(
    global: &Global,
    settings: &Settings,
    loaded: &Loaded,
    progress: &Progress,
) -> Option<Outcome> {
    let errors = link_errors(global, settings, &loaded.tree);
    let troubles = troubles(loaded);
    if errors.is_none() && troubles.is_empty() {
        return None;
    }
    progress.finish();
    errors.iter().for_each(|text| say_rendered(text));
    say("note: nothing was written");
    Some(Outcome { troubles, ..Outcome::nothing(errors.is_some()) })
}

/// What a refusal of the work on a tree comes to. Errors of the language come before it: they may be
/// why. `nothing` says what was not done.
pub(super) fn refused(
    global: &Global,
    settings: &Settings,
    tree: &Tree,
    refusal: &Refusal,
    nothing: &str,
) -> Result<Outcome, Error> {
    match link_errors(global, settings, tree) {
        Some(errors) => say_rendered(&errors),
        None if refusal.is_of_tree() => say(&format!("error: {refusal}")),
        None => return Err(Error::Usage(refusal.to_string())),
    }
    say(&format!("note: {nothing}"));
    Ok(Outcome::nothing(true))
}

/// What protoc would refuse in the judged files of a tree, rendered for people; `None` if the tree
/// is valid.
pub(super) fn link_errors(global: &Global, settings: &Settings, tree: &Tree) -> Option<String> {
    let as_of = global.as_of.unwrap_or_else(today);
    let options = abide::Options { scope: RuleScope::Changes, ..abide::Options::on(as_of) };
    let mut report = abide::check(tree, &settings.config.policy, options);
    report.findings.retain(|finding| {
        let linker = |rule: &Rule| matches!(rule.check, Check::Linker);
        finding.severity == Severity::Error && abide::find_rule(finding.rule).is_some_and(linker)
    });
    if report.findings.is_empty() {
        return None;
    }
    Some(for_people(global, tree, &report))
}

/// Renders findings that kept a command from doing its work.
pub(super) fn for_people(global: &Global, tree: &Tree, report: &Report) -> String {
    let scene = Scene {
        tree,
        old: None,
        config: None,
        accepted: None,
        features: &[],
        instances: &[],
        are_only_instances: false,
        touched: &[],
        prefix: "",
        config_prefix: "",
        look: look_of_errors(global),
    };
    let text = (HUMAN.write)(report, &scene);
    String::from_utf8_lossy(&text).trim_end().to_owned()
}

/// A note about an old tree with link errors, which is compared as far as it links. An old tree
/// without a single element that can be read is an error.
pub(super) fn unlinked(old: &Loaded) -> Result<Option<String>, Error> {
    let judged = |id| old.tree.file(id).is_judged();
    let problems = old.tree.problems().iter();
    let mut errors = problems.filter(|it| it.kind.is_error() && judged(it.place.file));
    let Some(first) = errors.next() else { return Ok(None) };
    let file = old.tree.file(first.place.file);
    let line = file.decl().lines(first.place.span).map(|(start, _)| format!(":{}", start.line));
    let place = format!("{}{}", file.decl().display, line.unwrap_or_default());
    let mut files = old.tree.files().filter(|file| file.is_judged());
    if files.all(|file| file.elements().next().is_none()) {
        return Err(Error::Usage(format!(
            "nothing in the baseline `{}` can be read: {place}: {}",
            old.name, first.message
        )));
    }
    let more = match errors.count() {
        0 => String::new(),
        1 => ", and 1 more error".to_owned(),
        more => format!(", and {more} more errors"),
    };
    Ok(Some(format!(
        "the baseline `{}` has link errors and is compared as far as it links: {place}: {}{more}",
        old.name, first.message
    )))
}

/// A note about an old tree that has no path and no package in common with the new one.
pub(super) fn foreign(new: &Loaded, old: &Loaded) -> Option<String> {
    let names = |tree| {
        let files = abide_schema::Tree::files(tree).filter(|file| file.is_judged());
        files.flat_map(|file| [file.path(), file.package().name()])
    };
    let before: HashSet<&str> = names(&old.tree).collect();
    let mut after = names(&new.tree).peekable();
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

/// Whether a tree was read from texts, which lie in a repository, and not from descriptors.
pub(super) fn has_texts(tree: &Tree) -> bool {
    let mut files = tree.files().filter(|file| file.is_judged());
    files.any(|file| file.decl().source_text().is_some())
}

/// Files that could not be read. The rest is judged, but the exit status is 2.
pub(super) fn troubles(loaded: &Loaded) -> Vec<String> {
    loaded.unreadable.iter().map(ToString::to_string).collect()
}

/// Files of an old tree that its repository has lost. The rest is compared, but the exit status is 2.
pub(super) fn losses(old: &Loaded) -> impl Iterator<Item = String> + '_ {
    old.unreadable.iter().filter(|it| it.is_lost).map(in_baseline)
}

/// Files of an old tree that are not there to be read, such as links to nowhere: no more than notes.
pub(super) fn left_out(old: &Loaded) -> impl Iterator<Item = String> + '_ {
    old.unreadable.iter().filter(|it| !it.is_lost).map(in_baseline)
}

fn in_baseline(problem: &ReadProblem) -> String {
    format!("in the baseline, {problem}")
}
