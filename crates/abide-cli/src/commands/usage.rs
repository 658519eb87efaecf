//! `abide usage`.

use std::collections::BTreeSet;

use abide_change::{CodeNames, CodeUse, Language};
use abide_schema::Tree;
use abide_source::{Progress, load};

use super::outcome::CommandOutcome;
use super::preconditions::{find_link_errors, read_errors};
use crate::args::{Global, UsageArgs};
use crate::code_files::{CodeFile, read_code};
use crate::error::Error;
use crate::render::{FileUses, UsesReport};
use crate::settings::Settings;
use crate::terminal::{eprint_block, eprint_line, style, use_error_color};

pub(super) fn usage(global: &Global, args: &UsageArgs) -> Result<CommandOutcome, Error> {
    let settings = Settings::read(global, args.tree.as_deref(), use_error_color(global))?;
    let progress = Progress::new(global.quiet);
    let code = read_code(&args.files)?;
    let source = settings.open_source(&args.tree())?;
    let loaded = load(&source, &progress)?;
    let errors = find_link_errors(global, &settings, &loaded.tree);
    progress.begin_step(format!("reading {} files of code", code.len()));
    let files = find_uses(&loaded.tree, &code, args.client.as_deref());
    progress.finish();
    if let Some(errors) = &errors {
        eprint_block(errors);
        eprint_line("note: the tree is not valid, so uses may be missing");
    }
    for note in loaded.notes.iter().filter(|_| !global.quiet) {
        eprint_line(&format!("note: {note}"));
    }
    let report = UsesReport { files: &files, release: args.release.as_deref(), last: args.last };
    let text = (args.format.write)(&report, style(global, args.format.is_styled));
    let failed = errors.is_some();
    Ok(CommandOutcome { failed, troubles: read_errors(&loaded), ..CommandOutcome::of(text) })
}

/// The uses in each file, in the order of the paths.
fn find_uses<'c>(tree: &Tree, code: &'c [CodeFile], client: Option<&'c str>) -> Vec<FileUses<'c>> {
    let mut found: Vec<BTreeSet<CodeUse>> = vec![BTreeSet::new(); code.len()];
    for language in Language::ALL {
        let of_language = |at: &usize| code[*at].language == language;
        let places: Vec<usize> = (0..code.len()).filter(of_language).collect();
        if places.is_empty() {
            continue;
        }
        let texts: Vec<&str> = places.iter().map(|at| code[*at].text.as_str()).collect();
        let uses = CodeNames::of(tree, language).find_uses(&texts);
        places.into_iter().zip(uses).for_each(|(at, uses)| found[at] = uses);
    }
    let name = |file: &'c CodeFile| client.unwrap_or_else(|| shorten(&file.named));
    let files = code.iter().zip(found);
    files.map(|(file, uses)| FileUses { path: &file.path, client: name(file), uses }).collect()
}

/// The name of a file or folder without what leads there.
fn shorten(named: &str) -> &str {
    let name = named.trim_end_matches('/').rsplit('/').next().unwrap_or(named);
    if matches!(name, "" | "." | "..") { named } else { name }
}
