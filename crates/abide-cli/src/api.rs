//! Trees for other programs of this workspace, from the sources that `abide` takes.

use std::path::Path;

use abide_schema::Tree;

use crate::load::load;
use crate::progress::Progress;
use crate::source::{Source, SourceOptions};

/// An API: the messages that a server hands out, or that a client understands.
pub struct Api {
    /// What it declares.
    pub tree: Tree,
    /// What the user should know about it, one phrase each.
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
                abide::counted(broken, "error")
            ));
        }
        Ok(Api { tree: loaded.tree, notes })
    }
}
