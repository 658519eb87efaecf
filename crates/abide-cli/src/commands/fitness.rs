//! Whether a tree is fit for what a command does with it, and what is said where it is not.

use std::collections::HashSet;

use abide::{Check, Report, Rule, RuleScope, Severity};
use abide_schema::Tree;

use super::outcome::Outcome;
use crate::args::Global;
use crate::error::Error;
use crate::load::Loaded;
use crate::progress::Progress;
use crate::render::{HUMAN, Scene};
use crate::settings::{Settings, today};
use crate::terminal::{look_of_errors, say};

/// What a command says of a tree that does not link, or was not read, in full: of such a tree
/// nothing is written.
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
    errors.iter().for_each(|text| say(text));
    say("note: nothing was written");
    Some(Outcome { troubles, ..Outcome::nothing(errors.is_some()) })
}

/// What is wrong with a tree, for people, where it is no valid one: what protoc refuses of its
/// judged files.
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

/// Findings that are the reason why a command did nothing, as its words to people.
pub(super) fn for_people(global: &Global, tree: &Tree, report: &Report) -> String {
    let scene = Scene {
        tree,
        old: None,
        config: None,
        accepted: None,
        instances: &[],
        prefix: "",
        config_prefix: "",
        look: look_of_errors(global),
    };
    let text = (HUMAN.write)(report, &scene);
    String::from_utf8_lossy(&text).trim_end().to_owned()
}

/// What the user should know of an old tree that does not link in full: it is compared as far as
/// it does. One of which nothing is understood cannot be compared with at all.
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
            "nothing of the baseline `{}` can be read: {place}: {}",
            old.name, first.message
        )));
    }
    let more = match errors.count() {
        0 => String::new(),
        1 => ", and 1 more error".to_owned(),
        more => format!(", and {more} more errors"),
    };
    Ok(Some(format!(
        "the baseline `{}` is compared as far as it links: {place}: {}{more}",
        old.name, first.message
    )))
}

/// What the user should know of an old tree that shares no path and no package with the new one.
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
            "the baseline `{}` has no path and no package in common with this tree: see that it \
             names the same tree, with the same roots",
            old.name
        )
    })
}

/// Files that could not be read: the rest is judged, but the work is not done.
pub(super) fn troubles(loaded: &Loaded) -> Vec<String> {
    loaded.unreadable.iter().map(ToString::to_string).collect()
}
