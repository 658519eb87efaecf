//! Files of the import paths that nobody imports, and that declare what was not found.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use abide_schema::{FileDecl, Problem, ProblemKind, Tree, find_missing_imports, is_built_in};
use abide_syntax::join_dotted_name;

use super::{KnownFiles, LoadedTree, with_imports};
use crate::error::LoadError;
use crate::source::Source;

/// Looked into at most so many files: a folder may hold thousands.
const MOST: usize = 500;

/// Adds what the import paths have of the names that were not found, so that the errors say what to
/// import. Only a tree with such errors is linked again.
pub(super) fn with_declaring(
    source: &Source,
    mut loaded: LoadedTree,
) -> Result<LoadedTree, LoadError> {
    let missing = MissingNames::of(&loaded.tree);
    let known: HashSet<&str> = loaded.tree.files().map(|it| it.path()).collect();
    let paths: BTreeSet<String> =
        missing.folders.iter().flat_map(|it| source.list_importable(it)).collect();
    let mut declaring = Vec::new();
    for path in paths.iter().filter(|it| !known.contains(it.as_str())).take(MOST) {
        let Some(file) = source.find_import(path)? else { continue };
        let file = FileDecl::parse(file);
        if file.problems.is_empty() && missing.may_be_in(&file) {
            declaring.push(Arc::new(file));
        }
    }
    if declaring.is_empty() {
        return Ok(loaded);
    }
    let known: Vec<Arc<FileDecl>> =
        loaded.tree.files().map(|it| it.shared_decl()).cloned().collect();
    let declaring =
        with_imports(source, [known.clone(), declaring].concat(), &KnownFiles::of(&known))?;
    // What cannot be linked itself would only add errors.
    let absent: HashSet<Box<str>> = find_missing_imports(&declaring).into_iter().collect();
    let is_whole = |file: &Arc<FileDecl>| {
        let mut imports = file.imports.iter().map(|it| &*it.path);
        known.iter().any(|it| Arc::ptr_eq(it, file))
            || imports.all(|it| !absent.contains(it) || is_built_in(it))
    };
    let files = declaring.into_iter().filter(is_whole).collect();
    loaded.tree = Tree::link_beside(files, &loaded.tree);
    Ok(loaded)
}

/// The names that were not found in judged files.
#[derive(Default)]
struct MissingNames {
    /// Their components.
    words: HashSet<String>,
    /// The folders of the packages that may declare them.
    folders: BTreeSet<String>,
    /// Packages, each with the names around the last components that were looked up there.
    added: HashSet<(String, String)>,
}

/// The number of parts that protoc takes of a package.
const MAX_PARTS: usize = 101;

impl MissingNames {
    fn of(tree: &Tree) -> MissingNames {
        let mut missing = MissingNames::default();
        let is_about_a_name = |it: &&Problem| {
            matches!(it.kind, ProblemKind::NameNotFound | ProblemKind::OptionInvalid)
                && it.missing_import().is_none()
        };
        for problem in tree.problems().iter().filter(is_about_a_name) {
            let file = tree.file(problem.place.file);
            let Some(text) = file.decl().source_text().filter(|_| file.is_judged()) else {
                continue;
            };
            let span = problem.place.span;
            let written = join_dotted_name(text, span).unwrap_or_else(|| span.str(text).to_owned());
            // A key in brackets, or the last part of a type URL in them.
            let name = written.trim_matches(['[', ']', '.']).rsplit('/').next().unwrap_or_default();
            missing.add(file.package().name(), name);
        }
        missing
    }

    /// A name that is looked up in a package and in all around it.
    fn add(&mut self, package: &str, name: &str) {
        let around: Vec<&str> = package.split('.').filter(|it| !it.is_empty()).collect();
        let components: Vec<&str> = name.split('.').collect();
        self.words.extend(components.iter().map(|it| (*it).to_owned()));
        let before = name.rsplit_once('.').map_or("", |(before, _)| before);
        let mut is_known = || !self.added.insert((package.to_owned(), before.to_owned()));
        // No file declares a package of more parts.
        if around.len() > MAX_PARTS || components.len() > MAX_PARTS || is_known() {
            return;
        }
        for outer in 0..=around.len() {
            for inner in 0..components.len() {
                let parts = around.iter().take(outer).chain(components.iter().take(inner));
                let parts: Vec<&str> = parts.copied().collect();
                if !parts.is_empty() {
                    self.folders.insert(parts.join("/"));
                }
            }
        }
    }

    /// Returns true if a file declares a type or an extension that is called like a component.
    fn may_be_in(&self, file: &FileDecl) -> bool {
        let messages = file.messages.iter().map(|it| it.name);
        let enums = file.enums.iter().map(|it| it.name);
        let extensions = file.fields.iter().filter(|it| it.extendee().is_some()).map(|it| it.name);
        messages.chain(enums).chain(extensions).any(|it| self.words.contains(file.str(it)))
    }
}
