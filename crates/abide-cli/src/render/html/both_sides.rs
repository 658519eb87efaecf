//! The lines that a change replaced, of both sides.

use std::collections::BTreeMap;
use std::ops::Range;

use abide_lint::{Finding, Origin};
use abide_schema::FileId;
use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices};

use crate::render::context::RenderContext;

/// The lines shown around what changed.
const AROUND: usize = 2;
/// With more lines than these, a difference hides what it is about.
const MOST: usize = 40;
/// In larger files, to compare takes long.
const LARGEST: usize = 400_000;

/// A line of a difference, with the number that it has on its side.
pub(super) struct DiffLine<'a> {
    /// ` `, `-` or `+`.
    pub(super) mark: char,
    pub(super) number: usize,
    pub(super) text: &'a str,
}

/// The two files of a change, line by line.
struct FilePair<'a> {
    old: Vec<&'a str>,
    new: Vec<&'a str>,
    ops: Vec<DiffOp>,
}

/// The differences between the files of both sides, each computed once.
#[derive(Default)]
pub(super) struct BothSides<'a> {
    pairs: BTreeMap<(FileId, FileId), Option<FilePair<'a>>>,
}

impl<'a> BothSides<'a> {
    /// The lines of both sides around what a finding is about; empty, if its change is in no text or
    /// too large.
    pub(super) fn find_lines(
        &mut self,
        finding: &Finding,
        context: &RenderContext<'a>,
    ) -> Vec<DiffLine<'a>> {
        let Some(old) = finding.change.as_ref().and_then(|it| it.old) else { return Vec::new() };
        let (Origin::Tree(new_file), Origin::Old(old_file)) = (finding.location.origin, old.origin)
        else {
            return Vec::new();
        };
        let lines_of = |location| {
            let (start, end) = context.locate(location).range?;
            Some(start.line as usize - 1..(end.line as usize).max(start.line as usize))
        };
        let (Some(old_lines), Some(new_lines)) = (lines_of(&old), lines_of(&finding.location))
        else {
            return Vec::new();
        };
        let pair = self
            .pairs
            .entry((old_file, new_file))
            .or_insert_with(|| FilePair::compare(context, old.origin, finding.location.origin));
        // Of what was removed, the place on the new side is only the container.
        let is_gone = finding.change.as_ref().is_some_and(|it| it.gone.is_some());
        let new_lines = if is_gone { 0..0 } else { new_lines };
        pair.as_ref().map_or_else(Vec::new, |it| it.select_lines(old_lines, new_lines))
    }
}

impl<'a> FilePair<'a> {
    fn compare(context: &RenderContext<'a>, old: Origin, new: Origin) -> Option<FilePair<'a>> {
        let text_of = |origin| {
            let bytes = context.find_text(origin)?.bytes()?;
            std::str::from_utf8(bytes).ok().filter(|it| it.len() <= LARGEST)
        };
        let (old, new): (Vec<&str>, Vec<&str>) =
            (text_of(old)?.lines().collect(), text_of(new)?.lines().collect());
        let ops = capture_diff_slices(Algorithm::Myers, &old, &new);
        Some(FilePair { old, new, ops })
    }

    /// The changed lines that touch these, with those around them.
    fn select_lines(&self, old: Range<usize>, new: Range<usize>) -> Vec<DiffLine<'a>> {
        let touches = |a: &Range<usize>, b: &Range<usize>| a.start < b.end && b.start < a.end;
        let is_touching = |it: &DiffOp| {
            it.tag() != DiffTag::Equal
                && (touches(&it.old_range(), &old) || touches(&it.new_range(), &new))
        };
        let Some(first) = self.ops.iter().position(is_touching) else { return Vec::new() };
        let last = self.ops.iter().rposition(is_touching).unwrap_or(first);
        let mut lines = Vec::new();
        if let Some(before) = first.checked_sub(1).and_then(|at| self.ops.get(at)) {
            let end = before.new_range().end;
            self.push_equal(
                &mut lines,
                end.saturating_sub(AROUND).max(before.new_range().start)..end,
            );
        }
        for op in &self.ops[first..=last] {
            if op.tag() == DiffTag::Equal {
                self.push_equal(&mut lines, op.new_range());
                continue;
            }
            let line = |mark, number: usize, text| DiffLine { mark, number: number + 1, text };
            lines.extend(op.old_range().map(|at| line('-', at, self.old[at])));
            lines.extend(op.new_range().map(|at| line('+', at, self.new[at])));
        }
        if let Some(after) = self.ops.get(last + 1) {
            let range = after.new_range();
            self.push_equal(&mut lines, range.start..(range.start + AROUND).min(range.end));
        }
        if lines.len() > MOST { Vec::new() } else { lines }
    }

    fn push_equal(&self, lines: &mut Vec<DiffLine<'a>>, range: Range<usize>) {
        lines.extend(range.map(|at| DiffLine { mark: ' ', number: at + 1, text: self.new[at] }));
    }
}
