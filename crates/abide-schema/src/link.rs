//! Links the declarations of many files into one [`Tree`].
//!
//! The stages are imports, packages, names, visibility, references, features,
//! options, and the checks that need all of these. Each runs files in parallel
//! where files do not depend on each other.

mod common_features;
mod features;
mod imports;
mod known_sources;
mod missing_names;
mod options;
mod packages;
mod references;
mod resolve;
mod reused;
mod symbol;
mod symbols;
mod unread;
mod validate;
mod visibility;

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use abide_syntax::Span;
use rayon::prelude::*;

use crate::decl::FileDecl;
use crate::ids::ElementId;
use crate::link::resolve::NameResolver;
use crate::link::symbol::{Scope, SymbolTable};
use crate::problem::Problem;
use crate::protobuf::BUILT_IN;
use crate::tree::{FullNames, KnownAnnotations, LinkedFile, Tree};
use imports::{
    add_well_known, drop_duplicates, find_public_importers, import_cycles, resolve_imports,
};
use packages::collect_packages;
use references::link_file;
use reused::has_files;
use symbols::{collect_nested_names, insert_symbols};
use unread::{find_unknown_packages, find_unreadable};
use visibility::compute_visibility;

pub use imports::find_missing_imports;
pub use known_sources::{KnownSource, find_known_repository, find_known_source};
pub(crate) use missing_names::MissingImports;
pub(crate) use reused::ReusedFiles;

/// The files in which what protoc refuses is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CheckScope {
    All,
    /// Those that are not only imported.
    Judged,
}

/// Resolves the names in the options of each file of a tree, in the order of files. A tree keeps
/// no table of its names, so it is made again.
pub(crate) fn resolve_option_names(tree: &Tree) -> Vec<Vec<(Span, ElementId)>> {
    let files: Vec<Arc<FileDecl>> = tree.files.iter().map(|it| Arc::clone(&it.decl)).collect();
    let nested =
        files.par_iter().enumerate().map(|(index, file)| collect_nested_names(index, file));
    let mut symbols = SymbolTable::new(nested.collect(), files.len() * 8);
    let nodes = insert_symbols(&files, &mut symbols);
    let targets = |file: &Arc<LinkedFile>| file.imports.iter().map(|it| it.file).collect();
    let imports: Vec<_> = tree.files.iter().map(targets).collect();
    let visible = compute_visibility(&files, &imports, &nodes, &symbols);
    let unreadable = find_unreadable(&files, &imports);
    let names = NameResolver {
        files: &files,
        nodes: &nodes,
        symbols: &symbols,
        visible: &visible,
        unreadable: &unreadable,
    };
    options::resolve_names(tree, &names)
}

impl Tree {
    /// Links files into a tree. The order of `files` does not matter.
    pub fn link(files: Vec<Arc<FileDecl>>) -> Tree {
        let unknown = find_unknown_packages(files.iter());
        Tree::link_files(files, None, unknown, CheckScope::All)
    }

    /// The tree that [`Tree::link`] makes of these files, which is compared with `other`: packages
    /// that are not known there are not judged here, either. What the two have in common is shared
    /// and not linked again: files that are the same, with all that they import.
    pub fn link_beside(files: Vec<Arc<FileDecl>>, other: &Tree) -> Tree {
        let others = other.files.iter().map(|it| &it.decl);
        let mut unknown = find_unknown_packages(files.iter().chain(others));
        unknown.extend(other.unknown_packages.iter().cloned());
        Tree::link_files(files, Some(other), unknown, CheckScope::All)
    }

    /// The tree that [`Tree::link`] makes of these files. What an earlier state of the same tree has
    /// in common with it is shared and not linked again.
    pub fn link_again(files: Vec<Arc<FileDecl>>, last: &Tree) -> Tree {
        let unknown = find_unknown_packages(files.iter());
        Tree::link_files(files, Some(last), unknown, CheckScope::All)
    }

    /// Links a tree and an older one at the same time: beside each other, or on all threads if so
    /// many files came or went that they share nothing.
    pub fn link_both(new: Vec<Arc<FileDecl>>, old: Vec<Arc<FileDecl>>) -> (Tree, Tree) {
        Tree::link_pair(new, old, CheckScope::All)
    }

    /// The same, where nobody asks for the problems of files that are only imported: what protoc
    /// would refuse in them is not looked for.
    pub fn link_both_as_judged(new: Vec<Arc<FileDecl>>, old: Vec<Arc<FileDecl>>) -> (Tree, Tree) {
        Tree::link_pair(new, old, CheckScope::Judged)
    }

    fn link_pair(
        new: Vec<Arc<FileDecl>>,
        old: Vec<Arc<FileDecl>>,
        checked: CheckScope,
    ) -> (Tree, Tree) {
        let unknown = find_unknown_packages(new.iter().chain(&old));
        let link = |files| Tree::link_files(files, None, unknown.clone(), checked);
        if new.len() != old.len() {
            return rayon::join(|| link(new), || link(old));
        }
        let new = link(new);
        let old = Tree::link_files(old, Some(&new), unknown, checked);
        (new, old)
    }

    fn link_files(
        mut files: Vec<Arc<FileDecl>>,
        other: Option<&Tree>,
        unknown_packages: BTreeSet<Box<str>>,
        checked: CheckScope,
    ) -> Tree {
        add_well_known(&mut files);
        files.par_sort_by(|a, b| (a.root, &a.path).cmp(&(b.root, &b.path)));
        let mut problems = Vec::new();
        drop_duplicates(&mut files, &mut problems);
        let other = other.filter(|it| has_files(it, &files));
        for (file, linked) in files.iter_mut().zip(other.iter().flat_map(|it| &it.files)) {
            // What is built in was parsed once for each tree.
            if file.root == BUILT_IN {
                *file = Arc::clone(&linked.decl);
            }
        }

        let nested =
            files.par_iter().enumerate().map(|(index, file)| collect_nested_names(index, file));
        let mut symbols = SymbolTable::new(nested.collect(), files.len() * 8);
        let (nodes, (imports, (packages, package_of))) = rayon::join(
            || insert_symbols(&files, &mut symbols),
            || {
                let imports = resolve_imports(&files, &mut problems);
                import_cycles(&files, &imports, &mut problems);
                (imports, collect_packages(&files, &unknown_packages))
            },
        );
        let kept = other.map_or_else(ReusedFiles::default, |other| {
            ReusedFiles::find(&files, &imports, (&packages, &package_of), other)
        });
        let repeats_names =
            symbols.find_repeated().any(|(scope, _)| matches!(scope, Scope::Package(_)));
        let visible = compute_visibility(&files, &imports, &nodes, &symbols);

        let unreadable = find_unreadable(&files, &imports);

        let names = NameResolver {
            files: &files,
            nodes: &nodes,
            symbols: &symbols,
            visible: &visible,
            unreadable: &unreadable,
        };
        let linked: Vec<(Arc<LinkedFile>, Vec<Problem>)> = (0..files.len())
            .into_par_iter()
            .map(|index| match kept.get(index) {
                Some(file) => (Arc::clone(file), Vec::new()),
                None => {
                    let package = package_of[index];
                    let (file, problems) = link_file(&names, index, package, &imports[index]);
                    (Arc::new(file), problems)
                }
            })
            .collect();
        let mut tree = Tree {
            files: Vec::with_capacity(linked.len()),
            packages,
            problems,
            known: KnownAnnotations::default(),
            public_importers: find_public_importers(&files),
            unknown_packages,
            repeats_names,
            imported: None,
            full_names: FullNames::default(),
            mentions: OnceLock::new(),
        };
        for (file, found) in linked {
            tree.files.push(file);
            tree.problems.extend(found);
        }
        options::apply_options(&mut tree, &names, &kept);
        // Options that nobody here knows may be right in an edition that nobody here knows.
        let files = &tree.files;
        tree.problems.retain(|it| {
            files[it.place.file.0 as usize].decl.edition.is_known() || it.kind.is_about_names()
        });
        let found = crate::link::validate::validate(&tree, &names, &kept, checked);
        tree.problems.extend(found);
        tree.problems
            .sort_by(|a, b| (a.place, a.kind, &a.message).cmp(&(b.place, b.kind, &b.message)));
        tree.problems.dedup();
        tree
    }
}
