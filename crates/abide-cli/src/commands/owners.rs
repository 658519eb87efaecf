//! `abide owners`.

use super::fitness::{has_texts, losses, troubles, unlinked};
use super::outcome::Outcome;
use crate::args::{Global, OwnersArgs};
use crate::error::Error;
use crate::load::{load, load_old};
use crate::owners_file::{OwnersFile, package_owners};
use crate::progress::Progress;
use crate::render::OwnerReport;
use crate::settings::Settings;
use crate::terminal::{error_color, look, say};

pub(super) fn owners(global: &Global, args: &OwnersArgs) -> Result<Outcome, Error> {
    let settings = Settings::read(global, args.tree.source.as_deref(), error_color(global))?;
    if args.tree.source.as_deref() == Some("-") && args.against.as_deref() == Some("-") {
        let message = "standard input can be read only once: use `-` for one source";
        return Err(Error::Usage(message.to_owned()));
    }
    let progress = Progress::new(global.quiet);
    let source = settings.source(&args.tree)?;
    let against = args.against.as_deref().map(|spec| settings.baseline(spec, &args.tree));
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
            notes.extend(unlinked(old)?);
            notes.extend(old.notes.iter().cloned());
            abide_lint::touched_files(&old.tree, &loaded.tree)
        }
        None => abide_lint::all_files(&loaded.tree),
    };
    let file = OwnersFile::find(&source, &settings)?;
    let packages = package_owners(&files, file.as_ref(), &source, &settings, &args.tree);
    progress.finish();
    let problems = file.as_ref().map(OwnersFile::problems).unwrap_or_default();
    for note in notes.iter().filter(|_| !global.quiet) {
        say(&format!("note: {note}"));
    }
    for problem in problems.iter().filter(|_| !global.quiet) {
        say(&format!("warning: {problem}"));
    }
    let report = OwnerReport {
        packages: &packages,
        file: file.as_ref().map(|it| it.path.as_str()),
        is_change: old.is_some(),
        is_check: args.check,
    };
    let text = (args.format.write)(&report, look(global, args.format.is_styled));
    let failed = args.check && packages.iter().any(|it| !it.unowned().is_empty());
    let troubles = troubles(&loaded).into_iter().chain(old.iter().flat_map(losses)).collect();
    Ok(Outcome { failed, troubles, ..Outcome::of(text) })
}
