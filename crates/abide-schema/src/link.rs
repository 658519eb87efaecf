//! Links the declarations of many files into one [`Tree`].
//!
//! The stages are imports, packages, names, visibility, references, features,
//! options, and the checks that need all of these. Each runs files in parallel
//! where files do not depend on each other.

mod features;
mod imports;
mod options;
mod packages;
mod references;
mod symbols;
mod visibility;

use std::sync::Arc;

use rayon::prelude::*;

use crate::annotation::Known;
use crate::decl::FileDecl;
use crate::problem::Problem;
use crate::resolve::NameResolver;
use crate::symbol::Symbols;
use crate::tables::FullNames;
use crate::tree::{LinkedFile, Tree};
use imports::{add_well_known, drop_duplicates, import_cycles, public_importers, resolve_imports};
use packages::packages;
use references::link_file;
use symbols::{insert_symbols, nested_names};
use visibility::visibility;

pub use imports::missing_imports;

impl Tree {
    /// Links files into a tree. The order of `files` does not matter.
    pub fn link(mut files: Vec<Arc<FileDecl>>) -> Tree {
        add_well_known(&mut files);
        files.par_sort_by(|a, b| (a.root, &a.path).cmp(&(b.root, &b.path)));
        let mut problems = Vec::new();
        drop_duplicates(&mut files, &mut problems);

        let nested = files.par_iter().enumerate().map(|(index, file)| nested_names(index, file));
        let mut symbols = Symbols::new(nested.collect(), files.len() * 8);
        let (nodes, (imports, (packages, package_of))) = rayon::join(
            || insert_symbols(&files, &mut symbols),
            || {
                let imports = resolve_imports(&files, &mut problems);
                import_cycles(&files, &imports, &mut problems);
                (imports, packages(&files))
            },
        );
        let visible = visibility(&files, &imports, &nodes, &symbols);

        let names =
            NameResolver { files: &files, nodes: &nodes, symbols: &symbols, visible: &visible };
        let linked: Vec<(LinkedFile, Vec<Problem>)> = (0..files.len())
            .into_par_iter()
            .map(|index| link_file(&names, index, package_of[index], &imports[index]))
            .collect();
        let mut tree = Tree {
            files: Vec::with_capacity(linked.len()),
            packages,
            problems,
            known: Known::default(),
            public_importers: public_importers(&files),
            full_names: FullNames::default(),
        };
        for (file, found) in linked {
            tree.files.push(file);
            tree.problems.extend(found);
        }
        options::interpret(&mut tree, &names);
        let found = crate::validate::validate(&tree, &names);
        tree.problems.extend(found);
        tree.problems
            .sort_by(|a, b| (a.place, a.kind, &a.message).cmp(&(b.place, b.kind, &b.message)));
        tree.problems.dedup();
        tree
    }
}
