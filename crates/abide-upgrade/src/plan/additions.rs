//! Additions to candidates: elements that people declare as parts of the next major
//! version alone. An upgrade carries them along.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use abide_schema::{Element, File, FileDecl, FileId, SourceFile, value};
use abide_syntax::{DeclId, DeclKind, Span};
use rustc_hash::FxHashSet;

use super::file_elements::find_field_type;
use super::public_imports::collect_visible_files;
use super::upgrade_policy::UpgradePolicy;
use crate::edit::{Edit, FileOutline, StatementKey, apply_to_proto};

/// Returns true if an element of a candidate is declared as an addition.
fn is_addition(policy: &UpgradePolicy, element: Element<'_>) -> bool {
    element.next_major_only().is_some()
        || !policy.additions.is_empty() && {
            let name = element.full_name();
            policy.additions.iter().any(|it| it.matches(&name))
        }
}

/// The additions of a candidate.
pub(crate) struct CandidateAdditions<'t> {
    file: File<'t>,
    /// Those that are not inside another one.
    elements: Vec<Element<'t>>,
}

impl<'t> CandidateAdditions<'t> {
    /// `None` if it has none.
    pub(crate) fn find(
        policy: &UpgradePolicy,
        candidate: File<'t>,
    ) -> Option<CandidateAdditions<'t>> {
        let is_inner = |it: Element<'t>| {
            std::iter::successors(it.parent(), |it| it.parent()).any(|it| is_addition(policy, it))
        };
        let elements: Vec<Element<'t>> =
            candidate.elements().filter(|it| is_addition(policy, *it) && !is_inner(*it)).collect();
        (!elements.is_empty()).then_some(CandidateAdditions { file: candidate, elements })
    }

    /// The additions.
    pub(crate) fn into_elements(self) -> Vec<Element<'t>> {
        self.elements
    }

    /// Returns true if everything in the file is an addition, so that no other file makes
    /// it.
    pub(crate) fn is_whole_file(&self) -> bool {
        self.file.members().all(|it| self.elements.contains(&it))
    }

    /// A candidate that was made without them, with them: each where it stands now,
    /// after the same statement.
    pub(crate) fn insert_into(&self, made: Vec<u8>) -> Vec<u8> {
        let decl = self.file.decl();
        let made = parse_file(decl.path.clone(), &made);
        let (Some(theirs), Some(ours)) = (FileOutline::new(decl), FileOutline::new(&made)) else {
            return made.source_text().unwrap_or_default().to_vec();
        };
        let mut carried = self.find_statements(theirs);
        let needed = self.find_needed_files();
        for import in self.file.imports() {
            let provides = |id: FileId| {
                collect_visible_files(self.file.tree, [id].into_iter())
                    .iter()
                    .any(|it| needed.contains(it))
            };
            if import.file.is_some_and(|it| provides(it.id))
                && made.imports.iter().all(|it| it.path != import.decl.path)
            {
                carried.insert(import.decl.node.0);
            }
        }
        let mut carrier = StatementCopier { theirs, ours, copied: carried, edits: Vec::new() };
        carrier.copy_body(None, None);
        let text = ours.text;
        apply_to_proto(text, carrier.edits).unwrap_or_else(|_| text.to_vec())
    }

    /// The statements that declare them, each by the keys of those around it and its
    /// own.
    pub(crate) fn collect_paths(&self) -> BTreeSet<Vec<StatementKey>> {
        let mut paths = BTreeSet::new();
        if let Some(outline) = FileOutline::new(self.file.decl()) {
            let wanted = self.find_statements(outline);
            let mut open: Vec<(Option<DeclId>, Vec<StatementKey>)> = vec![(None, Vec::new())];
            while let Some((parent, path)) = open.pop() {
                for id in outline.children(parent) {
                    let path = [&path[..], &[outline.build_key(id)]].concat();
                    match wanted.contains(&id) {
                        true => drop(paths.insert(path)),
                        false => open.push((Some(id), path)),
                    }
                }
            }
        }
        paths
    }

    /// The statements that declare them.
    fn find_statements(&self, outline: FileOutline<'_>) -> FxHashSet<DeclId> {
        let mut found: FxHashSet<DeclId> = self.elements.iter().map(|it| it.node().0).collect();
        for id in 0..outline.ast.decls.len() as DeclId {
            if let DeclKind::Extend { .. } = outline.ast.decls[id as usize].kind
                && outline.ast.children_of(Some(id)).all(|it| found.contains(&it))
            {
                found.insert(id);
            }
        }
        found
    }

    /// The files that declare what the additions use.
    fn find_needed_files(&self) -> BTreeSet<FileId> {
        let mut needed = BTreeSet::new();
        let mut open = self.elements.clone();
        while let Some(element) = open.pop() {
            open.extend(element.members());
            match element {
                Element::Field(field) => {
                    let extendee = field.extendee().map(Element::Message);
                    let used = find_field_type(field).into_iter().chain(extendee);
                    needed.extend(used.map(|it| it.file().id));
                }
                Element::Method(method) => {
                    let used = [method.input(), method.output()].into_iter().flatten();
                    needed.extend(used.map(|it| it.file().id));
                }
                _ => {}
            }
            let mut values: Vec<&value::Message> = element.options().into_iter().collect();
            while let Some(value) = values.pop() {
                for entry in &value.entries {
                    let field = self.file.tree.field(entry.field);
                    if field.is_extension() {
                        needed.insert(field.file().id);
                    }
                    values.extend(entry.value.as_message());
                }
            }
        }
        needed
    }
}

/// A text as a file of its own.
fn parse_file(path: Arc<str>, text: &[u8]) -> FileDecl {
    let (display, text) = (Arc::clone(&path), text.into());
    FileDecl::parse(SourceFile { path, display, root: 0, imported: false, text })
}

/// A text without the statements at these paths, and without imports, which may be
/// there for those statements alone.
pub(crate) fn remove_statements_at(text: &[u8], paths: &BTreeSet<Vec<StatementKey>>) -> Vec<u8> {
    let decl = parse_file("".into(), text);
    let Some(outline) = FileOutline::new(&decl) else { return text.to_vec() };
    let mut edits = Vec::new();
    let mut open: Vec<(Option<DeclId>, Vec<StatementKey>)> = vec![(None, Vec::new())];
    while let Some((parent, path)) = open.pop() {
        let mut end = parent.map_or(0, |id| outline.find_head_end(id));
        for id in outline.children(parent) {
            let tail = outline.find_end(id);
            let span = outline.ast.decls[id as usize].span;
            if let DeclKind::Import { .. } = outline.ast.decls[id as usize].kind {
                edits.push(Edit::delete(span));
            } else if !paths.is_empty() {
                let path = [&path[..], &[outline.build_key(id)]].concat();
                match paths.contains(&path) {
                    true => edits.push(Edit::delete(Span::new(end, tail))),
                    false => open.push((Some(id), path)),
                }
            }
            end = tail;
        }
    }
    apply_to_proto(text, edits).unwrap_or_else(|_| text.to_vec())
}

/// Returns true if no file makes a candidate because everything in it is an addition.
pub(crate) fn is_addition_only(policy: &UpgradePolicy, candidate: File<'_>) -> bool {
    CandidateAdditions::find(policy, candidate).is_some_and(|it| it.is_whole_file())
}

/// Copies statements from one text into another.
struct StatementCopier<'a> {
    /// The text with the additions, and the one without them.
    theirs: FileOutline<'a>,
    ours: FileOutline<'a>,
    copied: FxHashSet<DeclId>,
    edits: Vec<Edit>,
}

impl StatementCopier<'_> {
    fn copy_body(&mut self, theirs: Option<DeclId>, ours: Option<DeclId>) {
        let own: BTreeMap<_, DeclId> =
            self.ours.children(ours).into_iter().map(|id| (self.ours.build_key(id), id)).collect();
        let mut end = theirs.map_or(0, |id| self.theirs.find_head_end(id));
        let head = ours.map_or(0, |id| self.ours.find_head_end(id));
        let mut at = head;
        // Whether the additions so far are the first statements.
        let mut is_first = false;
        for id in self.theirs.children(theirs) {
            let tail = self.theirs.find_end(id);
            let counterpart = own.get(&self.theirs.build_key(id)).copied();
            let is_carried = self.copied.contains(&id);
            if is_first && !is_carried {
                self.copy_space(end, at);
            }
            is_first = is_carried && at == head;
            if is_carried {
                let text = Span::new(end, tail).str(self.theirs.text);
                self.edits.push(Edit::insert(at, text));
            } else if let Some(counterpart) = counterpart {
                at = self.ours.find_end(counterpart);
                self.copy_body(Some(id), Some(counterpart));
            }
            end = tail;
        }
    }

    /// Gives what follows the first additions of a body the distance that it has from
    /// them now.
    fn copy_space(&mut self, theirs: u32, ours: u32) {
        let space = |text: &[u8], from: u32| {
            let rest = text.get(from as usize..).unwrap_or_default();
            let length = rest.iter().take_while(|it| it.is_ascii_whitespace()).count();
            Span::new(from, from + length as u32)
        };
        let theirs = space(self.theirs.text, theirs).str(self.theirs.text);
        let ours = space(self.ours.text, ours);
        let closes = self.ours.text.get(ours.end as usize).is_none_or(|it| *it == b'}');
        if !theirs.is_empty() && !ours.is_empty() && !closes {
            self.edits.push(Edit::replace(ours, theirs));
        }
    }
}
