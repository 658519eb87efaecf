//! The imports of a candidate.

use std::collections::BTreeSet;

use abide_schema::{File, FileId, Import, Part};
use abide_syntax::{DeclKind, ImportKind, Span};

use super::annotation_names::{DEPRECATED_AT, MIGRATIONS};
use super::rewriter::{FileRewriter, RewriteMode};
use crate::edit::Edit;
use crate::plan::{ImportOrder, ReleaseStage, collect_provided_files, is_imported};

/// An import as written.
struct ImportLine {
    path: String,
    text: String,
    /// True if it is imported for its types, not for annotations.
    types: bool,
}

/// Imports without a blank line between them.
struct ImportBlock {
    lines: Vec<ImportLine>,
    sorted: bool,
}

impl<'t> FileRewriter<'_, 't> {
    /// Edits the imports after everything else is known, and returns the files that
    /// the candidate imports.
    pub(crate) fn rewrite_imports(&mut self) -> Vec<FileId> {
        let computed =
            self.plan.policy.imports == ImportOrder::Computed && self.mode == RewriteMode::Upgrade;
        let mut runs: Vec<ImportBlock> = Vec::new();
        let mut kept: Vec<(Span, Option<String>)> = Vec::new();
        let mut seen = BTreeSet::new();
        let mut imported: Vec<FileId> = Vec::new();
        let mut apart = true;
        let mut whole: Option<Span> = None;
        let mut plain = true;
        let file = self.file;
        for import in file.imports() {
            let span = file.place_of(import.decl.node, Part::Whole).span;
            let path_span = file.place_of(import.decl.node, Part::Name).span;
            if let Some(before) = whole {
                let gap = Span::new(before.end, span.start).of(self.text);
                plain &= gap.iter().all(u8::is_ascii_whitespace);
                apart = gap.iter().filter(|it| **it == b'\n').count() > 1;
            }
            whole = Some(whole.map_or(span, |whole| whole.to(span)));
            if apart {
                runs.push(ImportBlock { lines: Vec::new(), sorted: true });
            }
            let passed_on = self.is_reexported_unchanged(import);
            let path = match import.file.filter(|_| !passed_on) {
                Some(target) => self.plan.resolve_path(target).to_owned(),
                None => (*import.decl.path).to_owned(),
            };
            let keep = match import.file {
                Some(target) if computed => self.is_computed_import_kept(target, import),
                Some(target) => self.is_needed(target, import),
                None => true,
            };
            if !keep || !seen.insert(path.clone()) {
                kept.push((span, None));
                continue;
            }
            imported.extend(import.file.filter(|_| !passed_on).map(|target| target.id));
            let text = span.str(self.text);
            let (before, after) = text.split_at((path_span.start - span.start) as usize);
            let after = &after[(path_span.end - path_span.start) as usize..];
            let text = format!("{before}\"{path}\"{after}");
            kept.push((path_span, Some(path.clone())));
            if let Some(run) = runs.last_mut() {
                let types = import.file.is_some_and(is_for_types);
                run.lines.push(ImportLine { path, text, types });
            }
        }
        self.record_order(&mut runs);
        let mut added: Vec<ImportLine> = Vec::new();
        let tree = self.plan.tree;
        let provided = collect_provided_files(self.plan, imported.iter().copied());
        let needed = self.needs.types.iter().chain(&self.needs.options);
        for id in needed.filter(|id| **id != file.id && !provided.contains(*id)) {
            let target = tree.file(*id);
            imported.push(*id);
            let path = self.plan.resolve_path(target).to_owned();
            if seen.insert(path.clone()) {
                let text = format!("import \"{path}\";");
                added.push(ImportLine { path, text, types: is_for_types(target) });
            }
        }
        for path in &self.needs.added {
            if seen.insert(path.clone()) {
                let text = format!("import \"{path}\";");
                added.push(ImportLine { path: path.clone(), text, types: false });
            }
        }
        match whole {
            Some(whole) if plain => {
                for line in added {
                    insert_import(&mut runs, line);
                }
                runs.retain(|run| !run.lines.is_empty());
                for run in runs.iter_mut().filter(|run| run.sorted || computed) {
                    run.lines.sort_by(|a, b| a.path.cmp(&b.path));
                }
                let text = |run: &ImportBlock| {
                    let lines: Vec<&str> =
                        run.lines.iter().map(|line| line.text.as_str()).collect();
                    lines.join("\n")
                };
                let text: Vec<String> = runs.iter().map(text).collect();
                match text.is_empty() {
                    true => {
                        let start = self.find_start_without_removed(whole.start);
                        self.edits.push(Edit::delete(Span::new(start, whole.end)));
                    }
                    false => self.edits.push(Edit::replace(whole, text.join("\n\n"))),
                }
            }
            Some(whole) => {
                for (span, path) in kept {
                    self.edits.push(match path {
                        Some(path) => Edit::replace(span, format!("\"{path}\"")),
                        None => Edit::delete(self.find_line(span)),
                    });
                }
                let text: String = added.iter().map(|line| format!("\n{}", line.text)).collect();
                self.edits.push(Edit::insert(whole.end, text));
            }
            None if !added.is_empty() => {
                let decl = file.decl();
                let node = decl.package.map(|it| it.node).or(decl.syntax.map(|it| it.node));
                let Some(node) = node else { return imported };
                let text: String = added.iter().map(|line| format!("\n{}", line.text)).collect();
                self.edits.push(Edit::insert(self.find_end(node.0), format!("\n{text}")));
            }
            None => {}
        }
        imported
    }

    /// Returns true if an import has the same use as in the source.
    fn is_needed(&self, target: File<'t>, import: Import<'t>) -> bool {
        !import.used
            || import.decl.kind == ImportKind::Public
            || collect_provided_files(self.plan, [target.id].into_iter())
                .iter()
                .any(|it| self.needs.contains_file(*it))
    }

    /// Returns true if a file that stays imports for others what gets a next version: they may be
    /// frozen, so they go on seeing the old one.
    fn is_reexported_unchanged(&self, import: Import<'t>) -> bool {
        self.mode == RewriteMode::UpdateReferences
            && import.decl.kind == ImportKind::Public
            && import.file.is_some_and(|it| self.plan.next(it.id).is_some())
            && is_imported(self.file)
    }

    /// Returns true if a candidate with computed imports keeps an import of its source.
    fn is_computed_import_kept(&self, target: File<'t>, import: Import<'t>) -> bool {
        if is_for_types(target) {
            return import.decl.kind != ImportKind::Public && self.needs.types.contains(&target.id);
        }
        if self.plan.stage == ReleaseStage::Stable {
            return self.is_needed(target, import);
        }
        let declares =
            |name: &str| target.extensions().any(|extension| extension.full_name() == name);
        if MIGRATIONS.iter().any(|name| declares(name)) {
            return false;
        }
        !declares(DEPRECATED_AT) || self.needs.options.contains(&target.id)
    }

    /// Records which runs were sorted in the source.
    fn record_order(&self, runs: &mut [ImportBlock]) {
        let mut paths: Vec<Vec<&str>> = Vec::new();
        let mut end: Option<u32> = None;
        for import in self.file.imports() {
            let span = self.file.place_of(import.decl.node, Part::Whole).span;
            let gap = end.map(|end| Span::new(end, span.start).of(self.text));
            let apart = gap.is_none_or(|it| it.iter().filter(|it| **it == b'\n').count() > 1);
            if apart {
                paths.push(Vec::new());
            }
            if let Some(paths) = paths.last_mut() {
                paths.push(&import.decl.path);
            }
            end = Some(span.end);
        }
        for (run, paths) in runs.iter_mut().zip(paths) {
            run.sorted = paths.is_sorted();
        }
    }

    /// The end of the text before an offset, without white space and without the statements there
    /// that are removed with what follows them.
    fn find_start_without_removed(&self, offset: u32) -> u32 {
        let is_removed_up_to =
            |it: &&Edit, end: u32| it.text.is_empty() && it.span.start < end && it.span.end == end;
        let mut start = offset;
        while let Some(removed) = self.edits.iter().find(|it| is_removed_up_to(it, start)) {
            start = removed.span.start;
        }
        self.find_end_before(start)
    }

    /// The line of a statement that is alone on it, or else the statement.
    fn find_line(&self, span: Span) -> Span {
        let ast = self.ast;
        let at = ast
            .decls
            .iter()
            .position(|decl| decl.span == span && matches!(decl.kind, DeclKind::Import { .. }));
        match at {
            Some(at) => Span::new(self.find_end_before(span.start), self.find_end(at as u32)),
            None => span,
        }
    }
}

/// Returns true if a file is imported for its types: it is in the tree and declares no
/// annotations.
fn is_for_types(file: File<'_>) -> bool {
    file.is_judged() && file.extensions().len() == 0
}

/// Adds a line to the run of the most similar lines.
fn insert_import(runs: &mut Vec<ImportBlock>, line: ImportLine) {
    let shared =
        |path: &str| path.split('/').zip(line.path.split('/')).take_while(|(a, b)| a == b).count();
    let likeness = |run: &ImportBlock| {
        let same = run.lines.iter().filter(|it| it.types == line.types);
        same.map(|it| 1 + shared(&it.path)).max().unwrap_or(0)
    };
    let best = runs.iter().map(likeness).max().unwrap_or(0);
    match runs.iter_mut().find(|run| best > 0 && likeness(run) == best) {
        Some(run) => run.lines.push(line),
        None => {
            let at = if line.types { 0 } else { runs.len() };
            runs.insert(at, ImportBlock { lines: vec![line], sorted: true });
        }
    }
}
