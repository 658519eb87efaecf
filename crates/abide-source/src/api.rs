//! Trees for other programs of this workspace, from the sources that `abide` takes.

use std::collections::BTreeMap;
use std::path::Path;

use abide_lint::Lock;
use abide_schema::Tree;
use semver::Version;

use crate::load::load;
use crate::progress::Progress;
use crate::source::{Source, SourceOptions};

/// An API: the messages that a server hands out, or that a client understands.
pub struct Api {
    /// The declarations.
    pub tree: Tree,
    /// The versions of its packages: as its files say, else as its `abide.lock` does.
    pub versions: BTreeMap<String, Version>,
    /// Notes for the user, one phrase each.
    pub notes: Vec<String>,
}

impl Api {
    /// Reads an API from a source as the command line takes it: a folder, a revision
    /// of git, an archive, a descriptor set, a program.
    ///
    /// # Errors
    /// A source that cannot be read, or in which nothing can be: one phrase.
    pub fn read(source: &str, import_paths: &[String]) -> Result<Api, String> {
        let options = SourceOptions { import_paths, ..SourceOptions::new(Path::new(".")) };
        let source = Source::open(Some(source), &options).map_err(|error| error.to_string())?;
        let loaded = load(&source, &Progress::new(true)).map_err(|error| error.to_string())?;
        let mut notes = loaded.notes;
        notes.extend(loaded.unreadable.iter().map(ToString::to_string));
        let broken = loaded.tree.problems().iter().filter(|it| it.kind.is_error()).count();
        if broken > 0 {
            notes.push(format!(
                "{} does not link everywhere, so some types may not be known: `abide lint` shows \
                 the {}",
                loaded.name,
                abide_lint::pluralize(broken, "error")
            ));
        }
        let lock = source.lock().map_err(|error| error.to_string())?;
        let lock = lock.and_then(|it| Lock::parse(std::str::from_utf8(&it).ok()?).ok());
        let versions = loaded.tree.packages().filter_map(|package| {
            let written = package.files().filter_map(|it| it.released_version());
            let written = written.filter_map(|(text, _)| Version::parse(text).ok()).max();
            let locked = || Some(lock.as_ref()?.record(package.name())?.version.clone());
            Some((package.name().to_owned(), written.or_else(locked)?))
        });
        let versions = versions.collect();
        Ok(Api { tree: loaded.tree, versions, notes })
    }
}
