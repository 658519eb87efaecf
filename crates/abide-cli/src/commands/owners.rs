//! `abide owners`.

use abide_source::{Progress, load, load_old};

use super::outcome::CommandOutcome;
use super::preconditions::{baseline_read_errors, check_baseline_links, has_texts, read_errors};
use crate::args::{Global, OwnersArgs};
use crate::error::Error;
use crate::owners_file::{OwnersFile, find_package_owners};
use crate::render::OwnerReport;
use crate::settings::Settings;
use crate::terminal::{eprint_line, style, use_error_color};

pub(super) fn owners(global: &Global, args: &OwnersArgs) -> Result<CommandOutcome, Error> {
    let settings = Settings::read(global, args.tree.source.as_deref(), use_error_color(global))?;
    if args.tree.source.as_deref() == Some("-") && args.against.as_deref() == Some("-") {
        let message = "standard input can be read only once: use `-` for one source";
        return Err(Error::Usage(message.to_owned()));
    }
    let progress = Progress::new(global.quiet);
    let source = settings.open_source(&args.tree)?;
    let against = args.against.as_deref().map(|spec| settings.open_baseline(spec, &args.tree));
    let loaded = load(&source, &progress)?;
    if !has_texts(&loaded.tree) {
        let message = "a descriptor set says nothing about the files of a repository: name a \
                       folder, a revision or an archive";
        return Err(Error::Usage(message.to_owned()));
    }
    let old = match against.transpose()? {
        Some(old) => Some(load_old(&old, &source, &loaded.tree, &progress)?),
        None => None,
    };
    let mut notes = loaded.notes.clone();
    let files = match &old {
        Some(old) => {
            notes.extend(check_baseline_links(old)?);
            notes.extend(old.notes.iter().cloned());
            abide_lint::touched_files(&old.tree, &loaded.tree)
        }
        None => abide_lint::all_files(&loaded.tree),
    };
    let file = OwnersFile::find(&source, &settings)?;
    let packages = find_package_owners(&files, file.as_ref(), &source, &settings, &args.tree);
    progress.finish();
    let problems = file.as_ref().map(OwnersFile::list_problems).unwrap_or_default();
    for note in notes.iter().filter(|_| !global.quiet) {
        eprint_line(&format!("note: {note}"));
    }
    for problem in problems.iter().filter(|_| !global.quiet) {
        eprint_line(&format!("warning: {problem}"));
    }
    let report = OwnerReport {
        packages: &packages,
        file: file.as_ref().map(|it| it.path.as_str()),
        is_change: old.is_some(),
        is_check: args.check,
    };
    let text = (args.format.write)(&report, style(global, args.format.is_styled));
    let failed = args.check && packages.iter().any(|it| !it.unowned().is_empty());
    let troubles =
        read_errors(&loaded).into_iter().chain(old.iter().flat_map(baseline_read_errors)).collect();
    Ok(CommandOutcome { failed, troubles, ..CommandOutcome::of(text) })
}
