//! The law of generated code: where a symbol that users of the old tree can write is no longer
//! generated as it was, a finding says that its language breaks.
//!
//! The soundness program tries the same on many more pairs.

use std::collections::BTreeSet;
use std::sync::Arc;

use abide_change::{Direction, Language, list_symbols, list_symbols_of_file};
use abide_lint::{Config, Options, RuleScope, check};
use abide_schema::{FileDecl, SourceFile, Tree};
use fastrand::Rng;
use jiff::civil::date;

use super::schemas::Schema;

/// A pair of generated trees in how many languages loses symbols; an error if no finding says so.
pub(crate) fn try_symbols(rng: &mut Rng) -> Result<usize, String> {
    let old = Schema::random(rng);
    let mut new = old.edited(rng);
    if rng.u8(..4) == 0 {
        new = new.edited(rng);
    }
    if !old.has_clear_extensions() || !new.has_clear_extensions() {
        return Ok(0);
    }
    let texts = [&old, &new].map(Schema::files);
    let [old, new] = texts.each_ref().map(|it| link(it));
    let is_sound = |tree: &Tree| !tree.problems().iter().any(|it| it.kind.is_error());
    if !is_sound(&old) || !is_sound(&new) {
        return Ok(0);
    }
    let policy = Config::parse("", None).map_err(|it| format!("{it:?}"))?.policy;
    let options = Options {
        scope: RuleScope::Changes,
        baseline: Some(&old),
        changes: true,
        ..Options::on(date(2026, 1, 15))
    };
    let report = check(&new, &policy, options);
    let effects: Vec<_> = report.findings.iter().flat_map(|it| it.effects().iter()).collect();
    let mut losing = 0;
    for language in Language::ALL {
        let [before, after] = [&old, &new].map(|tree| generated(language, tree));
        let Some(lost) = before.difference(&after).next() else { continue };
        losing += 1;
        if !effects.contains(&(language.surface(), Direction::Backward)) {
            let found: Vec<_> = report.findings.iter().map(|it| &it.message).collect();
            let [old, new] = texts.map(|files| {
                let texts = files.into_iter().map(|(path, text)| format!("// {path}\n{text}"));
                texts.collect::<String>()
            });
            return Err(format!(
                "{lost:?} of {language:?} is lost, and only this is found: {found:#?}\n--- old\n\
                 {old}\n--- new\n{new}"
            ));
        }
    }
    Ok(losing)
}

/// What users of generated code can write, with what it means to a compiler.
type Symbol = (String, String, Option<String>);

fn generated(language: Language, tree: &Tree) -> BTreeSet<Symbol> {
    let elements = tree.files().flat_map(|file| file.elements());
    let of_elements = elements.flat_map(|it| list_symbols(language, it));
    let of_files = tree.files().flat_map(|it| list_symbols_of_file(language, it));
    let symbol = |it: abide_change::GeneratedSymbol| {
        let oneof = it.oneof().map(str::to_owned);
        (it.name, it.signature, oneof)
    };
    of_elements.chain(of_files).map(symbol).collect()
}

fn link(files: &[(String, String)]) -> Tree {
    let parse = |(path, text): &(String, String)| {
        let path: Arc<str> = path.as_str().into();
        let (display, text) = (Arc::clone(&path), text.as_bytes().into());
        Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported: false, text }))
    };
    Tree::link(files.iter().map(parse).collect())
}
