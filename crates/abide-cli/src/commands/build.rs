//! `abide build`.

use std::path::Path;

use abide::{Check, Rule, Scope, Severity};
use abide_schema::Tree;

use super::check::{today, troubles, width};
use super::{Outcome, error_color, say};
use crate::args::{Format, Global, TreeArgs};
use crate::error::Error;
use crate::load::{Loaded, load};
use crate::progress::Progress;
use crate::render::{Scene, render};
use crate::settings::Settings;

pub(super) fn build(
    global: &Global,
    args: &TreeArgs,
    out: Option<&Path>,
    exclude_imports: bool,
    exclude_source_info: bool,
) -> Result<Outcome, Error> {
    let progress = Progress::new(global.quiet);
    let settings = Settings::read(global, args.source.as_deref(), error_color(global))?;
    let loaded = load(&settings.source(args)?, &progress)?;
    let tree = &loaded.tree;
    if let Some(refused) = unless_linked(global, &settings, &loaded, &progress) {
        return Ok(refused);
    }
    progress.step("writing descriptors");
    let judged: Vec<_> = tree.files().filter(|file| file.is_judged()).map(|file| file.id).collect();
    let bytes = abide_schema::encode_set(tree, &judged, !exclude_imports, !exclude_source_info);
    progress.finish();
    let mut outcome = Outcome::of(bytes);
    outcome.target = out.map(Path::to_owned);
    Ok(outcome)
}

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
    let options = abide::Options { scope: Scope::Changes, ..abide::Options::on(as_of) };
    let mut report = abide::check(tree, &settings.config.policy, options);
    report.findings.retain(|finding| {
        let linker = |rule: &Rule| matches!(rule.check, Check::Linker);
        finding.severity == Severity::Error && Rule::find(finding.rule).is_some_and(linker)
    });
    if report.findings.is_empty() {
        return None;
    }
    let scene = Scene {
        tree,
        old: None,
        config: None,
        accepted: None,
        prefix: "",
        color: error_color(global),
        width: width(global),
        quiet: true,
        verbose: global.verbose,
    };
    let text = render(&report, &scene, Format::Human);
    Some(String::from_utf8_lossy(&text).trim_end().to_owned())
}
