//! Imports that are duplicated, unused, or of files that may not be imported.

use abide_syntax::ImportKind;

use crate::decl::{FileDecl, Part};
use crate::ids::FileId;
use crate::problem::ProblemKind;
use crate::tree::{File, LinkedFile};

use super::check::FileCheck;

impl<'a> FileCheck<'a> {
    pub(super) fn check_imports(&mut self) {
        let file: &'a FileDecl = self.decl;
        let mut sorted: Vec<(&str, usize)> =
            file.imports.iter().enumerate().map(|(at, import)| (&*import.path, at)).collect();
        sorted.sort_unstable();
        for group in sorted.chunk_by(|a, b| a.0 == b.0) {
            let first = &file.imports[group[0].1];
            for &(path, at) in &group[1..] {
                let span = self.span(file.imports[at].node, Part::Whole);
                let label =
                    (self.place(self.span(first.node, Part::Whole)), "the first import".to_owned());
                let text = format!("`{path}` is imported twice");
                let problem = self.report_file(ProblemKind::ImportInvalid, span, text);
                problem.labels.push(label);
                problem.help = Some("remove one of the imports".to_owned());
            }
        }
        if !is_lite(self.file) {
            self.check_lite_imports();
        }
    }

    /// Source: `DescriptorBuilder::ValidateOptions` for files.
    fn check_lite_imports(&mut self) {
        for (import, link) in self.decl.imports.iter().zip(&self.linked.imports) {
            let Some(target) = link.file else { continue };
            if import.kind != ImportKind::Option && is_lite(self.tree.file(target)) {
                let span = self.span(import.node, Part::Name);
                let text = format!("`{}` is lite and this file is not", import.path);
                self.report_file(ProblemKind::ImportInvalid, span, text).help = Some(
                    "set `optimize_for = LITE_RUNTIME` in both files or in neither".to_owned(),
                );
                return;
            }
        }
    }

    /// Reports unused imports, as protoc does: a public import, and an import
    /// of a file with public imports, always count as used. Source:
    /// `unused_dependency_` of protobuf's `DescriptorBuilder`.
    pub(super) fn check_unused_imports(&mut self) {
        let file: &'a FileDecl = self.decl;
        if file.imported {
            return;
        }
        let linked: &'a LinkedFile = self.linked;
        let has_public = |target: FileId| {
            let target = &self.tree.linked(target).decl;
            target.imports.iter().any(|import| import.kind == ImportKind::Public)
        };
        for (import, link) in file.imports.iter().zip(&linked.imports) {
            let used =
                link.used || import.kind == ImportKind::Public || link.file.is_none_or(has_public);
            if used {
                continue;
            }
            let span = self.span(import.node, Part::Whole);
            let text = format!("the import of `{}` is unused", import.path);
            self.report_file(ProblemKind::ImportUnused, span, text).help =
                Some("remove it".to_owned());
        }
    }
}

/// Source: `IsLite` of protobuf's descriptor.cc.
pub(super) fn is_lite(file: File<'_>) -> bool {
    /// The number of `optimize_for` in `FileOptions`.
    const OPTIMIZE_FOR: i32 = 9;
    const LITE_RUNTIME: i64 = 3;
    let set = file.options().and_then(|options| options.find_by_number(file.tree, OPTIMIZE_FOR));
    set.is_some_and(|set| set.value.as_i64() == Some(LITE_RUNTIME))
}
