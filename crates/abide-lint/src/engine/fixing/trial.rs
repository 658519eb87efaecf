//! A tree with fixes applied, to see what they do.

use std::collections::BTreeMap;

use abide_schema::{FileId, Tree};
use abide_upgrade::{Edit, apply};

use super::proposal::ProposedFix;
use crate::engine::changed_texts::link_with_texts;
use crate::finding::with_blank_line;

/// A tree with fixes applied.
pub(super) struct FixTrial<'f> {
    pub(super) edits: FixEdits<'f>,
    /// The texts that changed.
    pub(super) texts: BTreeMap<FileId, Vec<u8>>,
    pub(super) tree: Tree,
}

impl<'f> FixTrial<'f> {
    pub(super) fn of(
        tree: &Tree,
        proposals: impl Iterator<Item = ProposedFix<'f>>,
    ) -> FixTrial<'f> {
        let edits = FixEdits::of(proposals);
        let texts = edits.apply_edits(tree);
        let tree = link_with_texts(tree, &texts);
        FixTrial { edits, texts, tree }
    }
}

/// The edits of fixes that can be made at once.
pub(super) struct FixEdits<'f> {
    by_file: BTreeMap<FileId, Vec<Edit>>,
    /// The fixes that they are of.
    pub(super) made: Vec<ProposedFix<'f>>,
}

impl<'f> FixEdits<'f> {
    /// Leaves out fixes that edit what another one edits: they have their turn in a later round.
    fn of(proposals: impl Iterator<Item = ProposedFix<'f>>) -> FixEdits<'f> {
        let mut edits = FixEdits { by_file: BTreeMap::new(), made: Vec::new() };
        for proposal in proposals {
            let own: Vec<(FileId, Edit)> = proposal
                .fix
                .edits
                .iter()
                .filter_map(|it| {
                    let place = it.location.place()?;
                    Some((place.file, Edit::replace(place.span, it.text.as_str())))
                })
                .collect();
            let made = |file: &FileId| edits.by_file.get(file).map_or(&[][..], Vec::as_slice);
            if own.iter().any(|(file, edit)| made(file).iter().any(|it| has_clash(it, edit))) {
                continue;
            }
            edits.made.push(proposal);
            for (file, edit) in own {
                let made = edits.by_file.entry(file).or_default();
                if !made.contains(&edit) {
                    made.push(edit);
                }
            }
        }
        edits
    }

    fn apply_edits(&self, tree: &Tree) -> BTreeMap<FileId, Vec<u8>> {
        let edited = |(&id, edits): (&FileId, &Vec<Edit>)| {
            let text = tree.file(id).decl().source_text()?;
            Some((id, apply(text, join_edits(text, edits.clone())).ok()?))
        };
        self.by_file.iter().filter_map(edited).collect()
    }
}

/// Returns true if two edits cannot be made at once. The same edit twice is one.
fn has_clash(a: &Edit, b: &Edit) -> bool {
    let (first, second) = if a.span.start <= b.span.start { (a, b) } else { (b, a) };
    // A block that a blank line sets apart is to be one.
    let opens_block = |it: &Edit| it.text.starts_with("\n\n") || it.text.starts_with("\r\n\r\n");
    let meet = match (first.span.is_empty(), second.span.is_empty()) {
        (true, true) if first.span == second.span => opens_block(first) || opens_block(second),
        (true, _) => first.span.start > second.span.start,
        (false, true) => first.span.start < second.span.start && second.span.start < first.span.end,
        (false, false) => second.span.start < first.span.end,
    };
    meet && a != b
}

/// Edits in the order of their places; insertions at one place in the order of their texts.
/// Removed lines that lie together go as one, with the blank line below if one stands above.
fn join_edits(text: &[u8], mut edits: Vec<Edit>) -> Vec<Edit> {
    edits.sort_by(|a, b| (a.span, &a.text).cmp(&(b.span, &b.text)));
    let is_removal = |edit: &Edit| edit.text.is_empty() && !edit.span.is_empty();
    let mut out: Vec<Edit> = Vec::with_capacity(edits.len());
    for edit in edits {
        match out.last_mut() {
            Some(last)
                if is_removal(last) && is_removal(&edit) && last.span.end == edit.span.start =>
            {
                last.span = last.span.to(edit.span);
            }
            _ => out.push(edit),
        }
    }
    for edit in out.iter_mut().filter(|it| is_removal(it)) {
        edit.span = with_blank_line(text, edit.span);
    }
    out
}
