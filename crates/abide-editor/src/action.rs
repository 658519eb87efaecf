//! Edits that an editor offers at a place: fixes of findings, waivers, candidates.

use std::collections::BTreeMap;

use abide_lint::{Finding, Fix};
use abide_schema::{FileDecl, FileKey, ProblemKind, Tree};
use abide_syntax::{DeclId, DeclKind, Span};
use abide_upgrade::UpgradeOptions;

use crate::analysis::TreeAnalysis;
use crate::project::{Project, get_key};
use crate::text_edit::{
    FileEdits, TextEdit, add_import, detect_line_end, find_line_start, read_indent,
};

/// The purpose of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionKind {
    /// It mends a finding.
    Fix,
    /// It records that a finding is accepted, and why.
    Waive,
}

/// The reason that the author of a waiver replaces.
const WAIVER_REASON: &str = "TODO: say why";

/// An edit that is offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditorAction {
    /// The effect, as a user reads it.
    pub title: String,
    /// The purpose.
    pub kind: ActionKind,
    /// The finding that it is about, counted among those of the file.
    pub finding: usize,
    /// The edits, by file.
    pub edits: Vec<FileEdits>,
}

impl Project {
    /// Collects the actions for the findings that touch a span of a file.
    pub fn collect_actions(&mut self, key: &FileKey, span: Span) -> Vec<EditorAction> {
        self.analyze();
        let (Some(analysis), Some(decl)) = (self.last_analysis(), self.file(key)) else {
            return Vec::new();
        };
        let mut actions = Vec::new();
        let touches = |it: Span| it.start <= span.end && span.start <= it.end;
        let touched =
            |(_, it): &(usize, &Finding)| it.location.place().is_some_and(|it| touches(it.span));
        let touched: Vec<(usize, &Finding)> =
            analysis.iter_findings_in(key).enumerate().filter(touched).collect();
        let mut fixes = self.filter_harmless_fixes(analysis, &touched).into_iter().peekable();
        for (index, finding) in touched {
            let mut offer = |title: String, kind, edits: Vec<FileEdits>| {
                actions.push(EditorAction { title, kind, finding: index, edits });
            };
            let here = |edit: TextEdit| vec![FileEdits { file: key.clone(), edits: vec![edit] }];
            if let Some((title, edit)) = put_back(analysis, decl, finding) {
                offer(title, ActionKind::Fix, here(edit));
            }
            while let Some((_, fix)) = fixes.next_if(|(of, _)| *of == index) {
                if let Some(edits) = collect_fix_edits(analysis, fix) {
                    offer(capitalize(&fix.title), ActionKind::Fix, edits);
                }
            }
            if finding.fixes.is_empty() {
                for (title, edit) in self.suggest_imports(decl, finding) {
                    offer(title, ActionKind::Fix, here(edit));
                }
            }
            let place = finding.location.place().map(|it| analysis.tree.file(it.file));
            let waiver = place
                .and_then(|file| abide_lint::waive_in_comment(file, finding, None, WAIVER_REASON));
            if let Some((waiver, edits)) =
                waiver.as_ref().and_then(|it| Some((it, collect_fix_edits(analysis, it)?)))
            {
                offer(capitalize(&waiver.title), ActionKind::Waive, edits);
            }
        }
        actions
    }

    /// The fixes of some findings that `abide lint --fix` would not refuse, each with the number of
    /// its finding.
    fn filter_harmless_fixes<'a>(
        &self,
        analysis: &'a TreeAnalysis,
        findings: &[(usize, &'a Finding)],
    ) -> Vec<(usize, &'a Fix)> {
        let judge = self.judge();
        let of_finding = |&(index, finding): &(usize, &'a Finding)| {
            finding.fixes.iter().map(move |fix| (index, (finding, fix)))
        };
        let (of, fixes): (Vec<usize>, Vec<(&'a Finding, &'a Fix)>) =
            findings.iter().flat_map(of_finding).unzip();
        let options = judge.build_options(analysis.old.as_ref(), None, self.reached());
        let policy = &judge.config.policy;
        let objections = abide_lint::find_objections(&analysis.tree, policy, options, &fixes);
        let all = of.into_iter().zip(fixes).zip(objections);
        all.filter(|(_, why)| why.is_none()).map(|((of, (_, fix)), _)| (of, fix)).collect()
    }

    /// The package whose statement a span touches.
    pub fn find_package(&self, key: &FileKey, span: Span) -> Option<String> {
        let decl = self.file(key)?;
        let ast = decl.ast()?;
        let is_it = |it: &&abide_syntax::Decl| matches!(it.kind, DeclKind::Package { .. });
        let statement = ast.decls.iter().find(is_it)?.span;
        let touches = statement.start <= span.end && span.start <= statement.end;
        (touches && !decl.imported).then(|| decl.package_name().to_owned())
    }

    /// Imports of files that may declare a name which was not found. The rules know only those of
    /// the smaller tree.
    fn suggest_imports(&self, decl: &FileDecl, finding: &Finding) -> Vec<(String, TextEdit)> {
        if finding.rule != ProblemKind::NameNotFound.id() {
            return Vec::new();
        }
        let name = finding.location.span.str(decl.source_text().unwrap_or_default());
        let imports = self.find_declaring_files(decl, name).into_iter().filter_map(|path| {
            Some((format!("Add `import \"{path}\";`"), add_import(decl, &path)?))
        });
        imports.collect()
    }

    /// The paths of files that declare a type which a name could mean if they were imported.
    fn find_declaring_files(&self, decl: &FileDecl, name: &str) -> Vec<String> {
        let name = name.trim_start_matches('.');
        let simple = name.rsplit('.').next().unwrap_or(name);
        let mut scopes = vec![String::new()];
        for part in decl.package_name().split('.').filter(|it| !it.is_empty()) {
            let around = scopes.last().map_or("", String::as_str);
            scopes.push(format!("{around}{part}."));
        }
        let wanted: Vec<String> = scopes.iter().map(|it| format!("{it}{name}")).collect();
        let files = self.files().filter(|it| it.declares_type(simple));
        let mut paths: Vec<String> = files
            .filter(|it| {
                crate::completion::iter_declared_types(it).any(|(it, _)| wanted.contains(&it))
            })
            .map(|it| it.path.to_string())
            .collect();
        if name.starts_with("google.protobuf.") {
            let known = abide_schema::well_known_paths().filter(|path| {
                let text = abide_schema::find_well_known(path).unwrap_or_default();
                ["message", "enum"].iter().any(|it| text.contains(&format!("{it} {simple} {{")))
            });
            paths.extend(known.map(str::to_owned));
        }
        paths.dedup();
        paths
    }

    /// The files that an upgrade of a package alone would make: their paths from the folder of the
    /// tree, and their texts; else why there are none.
    pub fn build_candidate(&self, package: &str) -> Result<Vec<(String, String)>, String> {
        let tree = Tree::link(self.files().map(std::sync::Arc::clone).collect());
        let packages = [package.to_owned()];
        let options = UpgradeOptions { packages: &packages, closure: None };
        let settings = self.judge().config.policy.upgrade_settings();
        let made = abide_upgrade::upgrade(&tree, settings, &options);
        let made = made.map_err(|refusal| refusal.to_string())?;
        if made.files.is_empty() {
            return Err(format!("`{package}` has no candidate to make"));
        }
        let file = |it: &abide_upgrade::GeneratedFile| {
            let from = tree.file(it.from).decl();
            let root = from.display.strip_suffix(&*from.path).unwrap_or_default();
            (format!("{root}{}", it.path), String::from_utf8_lossy(&it.text).into_owned())
        };
        Ok(made.files.iter().map(file).collect())
    }
}

/// The innermost declaration around an offset.
fn find_statement(decl: &FileDecl, offset: u32) -> Option<(DeclId, Span)> {
    let ast = decl.ast()?;
    let covers = |it: Span| it.start <= offset && offset < it.end.max(it.start + 1);
    let mut around = ast.decls.iter().enumerate().filter(|(_, it)| covers(it.span));
    around.next_back().map(|(at, it)| (at as DeclId, it.span))
}

/// The edit that puts what was removed back to the end of the block that held it: reserving its
/// number is not enough where policy forbids the removal.
fn put_back(
    analysis: &TreeAnalysis,
    decl: &FileDecl,
    finding: &Finding,
) -> Option<(String, TextEdit)> {
    let change = finding.change.as_deref().filter(|it| it.gone.is_some())?;
    let name = finding.element.rsplit('.').next()?;
    // Its name may live on under another number.
    if analysis.tree.element_named(&finding.element).is_some() {
        return None;
    }
    let place = change.old?.old_place()?;
    let old = analysis.old.as_ref()?.file(place.file).decl().source_text()?;
    let (ast, text) = (decl.ast()?, decl.source_text()?);
    let (holder, _) = find_statement(decl, finding.location.span.start)?;
    let end = ast.body_of(ast.decls.get(holder as usize)?)?.end - 1;
    let (start, removed) = (find_line_start(text, end), place.span.str(old));
    let edit = match Span::new(start, end).str(text).trim() {
        "" => {
            let indent = read_indent(old, place.span.start);
            TextEdit::insert(start, format!("{indent}{removed}{}", detect_line_end(text)))
        }
        _ => TextEdit::insert(end, format!("{removed} ")),
    };
    Some((format!("Put `{name}` back"), edit))
}

/// The edits of a fix by file; none, if it edits more than the tree.
fn collect_fix_edits(analysis: &TreeAnalysis, fix: &Fix) -> Option<Vec<FileEdits>> {
    let mut files: BTreeMap<FileKey, Vec<TextEdit>> = BTreeMap::new();
    for edit in &fix.edits {
        let place = edit.location.place()?;
        let file = get_key(analysis.tree.file(place.file).decl());
        files.entry(file).or_default().push(TextEdit::replace(place.span, edit.text.clone()));
    }
    Some(files.into_iter().map(|(file, edits)| FileEdits { file, edits }).collect())
}

/// A phrase as the title of something to choose.
fn capitalize(phrase: &str) -> String {
    let mut letters = phrase.chars();
    letters.next().map_or_else(String::new, |it| it.to_uppercase().chain(letters).collect())
}
