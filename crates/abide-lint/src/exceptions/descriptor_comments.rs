//! The waivers in comments of a file that was read from a descriptor: its source info has the
//! comments, each with the element that protoc attached it to.

use abide_schema::{File, FileOrigin, Place};
use abide_syntax::Span;

use super::allowance::{NamedChange, WaiverText, parse};
use super::waiver::{WaivedRules, Waiver, WaiverReach};
use crate::checks::{BUF_MARKER, Covers, MARKER, ignored_by};
use crate::finding::{Finding, Location};
use crate::rule::Context;

/// The waivers of a file, and what is wrong with them.
pub(super) fn collect_waivers<'t>(
    context: &Context<'_>,
    file: File<'t>,
) -> Option<(File<'t>, Vec<Waiver>, Vec<Finding>)> {
    let FileOrigin::Descriptor(locations) = &file.decl().origin else { return None };
    let of_buf =
        locations.contains_in_comments(BUF_MARKER) && context.policy.lint.of(file).buf_comments;
    if !of_buf && !locations.contains_in_comments(MARKER) {
        return None;
    }
    let (mut waivers, mut findings) = (Vec::new(), Vec::new());
    for (span, comments) in locations.iter_comments() {
        let covers = span.map_or(Covers::File, Covers::Span);
        let place = Place { file: file.id, span: span.unwrap_or_default() };
        let waiver = |allows, until, change, reason| {
            let (reach, comment) = (WaiverReach::Whole(covers), Span::default());
            Waiver { allows, until, change, reason, reach, place, comment, used: false }
        };
        let of_buf = of_buf.then_some(comments.leading.as_ref()).flatten();
        for line in of_buf.into_iter().flat_map(|it| lines(&it.text)) {
            let id = line.strip_prefix(BUF_MARKER).and_then(|it| it.strip_prefix(' '));
            let aliases = id.into_iter().flat_map(ignored_by);
            waivers.extend(
                aliases
                    .map(|alias| (WaivedRules::Alias(alias), NamedChange::default()))
                    .map(|(allows, change)| waiver(allows, None, change, line.to_owned())),
            );
        }
        let all = comments.detached.iter().chain(&comments.leading).chain(&comments.trailing);
        for line in all.flat_map(|it| lines(&it.text)).filter(|it| it.starts_with(MARKER)) {
            match parse(context.policy, line) {
                Ok(WaiverText { rule, until, change, reason }) => {
                    waivers.push(waiver(WaivedRules::Rule(rule), until, change, reason));
                }
                Err((_, defect)) => {
                    let package = file.package().name();
                    findings.push(defect.finding(Location::tree(place), file.path(), package));
                }
            }
        }
    }
    Some((file, waivers, findings))
}

/// The lines of a comment, from which protoc removed the marks but not always the space.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .map(|line| line.trim_matches(|it: char| matches!(it, '/' | '*') || it.is_whitespace()))
}
