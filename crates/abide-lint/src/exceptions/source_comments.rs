//! The waivers in the comments of a text.

use abide_schema::{File, Place};
use abide_syntax::Span;
use memchr::memmem;

use super::allowance::{NamedChange, WaiverText, parse};
use super::descriptor_comments;
use super::linter_comments::LinterComments;
use super::security_fixes::{SECURITY_MARKER, gives_reason};
use super::waiver::{WaivedRules, Waiver, WaiverReach};
use super::waiver_defect::WaiverDefect;
use crate::checks::{BUF_MARKER, CommentScopes, MARKER, collect_comments, ignored_by, split_lines};
use crate::finding::{Finding, Location};
use crate::rule::Context;
use crate::rules::WAIVER_INVALID;

/// How [`MARKER`] and [`SECURITY_MARKER`] begin.
const OWN_PREFIX: &str = "abide:";

/// The waivers in the comments of a file. Only a file with a marker costs more
/// than one search.
pub(super) fn collect_waivers<'t>(
    context: &Context<'_>,
    file: File<'t>,
) -> Option<(File<'t>, Vec<Waiver>, Vec<Finding>)> {
    let decl = file.decl();
    let Some(text) = decl.source_text() else {
        return descriptor_comments::collect_waivers(context, file);
    };
    let marked = |marker: &str| memmem::find(text, marker.as_bytes()).is_some();
    // One search tells most texts without a comment of any linter.
    let may_lint = marked("lint");
    let of_linters = may_lint && LinterComments::marked(text, &context.policy.lint);
    let of_buf = may_lint && marked(BUF_MARKER);
    let is_ours = || marked(OWN_PREFIX) && (marked(MARKER) || marked(SECURITY_MARKER));
    if !of_linters && !of_buf && !is_ours() {
        return None;
    }
    let ast = decl.ast()?;
    let scopes = CommentScopes::of(ast, text);
    let (mut waivers, mut findings) = (Vec::new(), Vec::new());
    let mut linters = LinterComments::of(&scopes, text, &context.policy.lint);
    for (comment, token_end) in collect_comments(text) {
        let covers = scopes.find_covered(comment, token_end);
        for line in split_lines(text, comment.span) {
            let words = line.str(text);
            let place = Place { file: file.id, span: line };
            if words.starts_with(MARKER) {
                match parse(context.policy, words) {
                    Ok(WaiverText { rule, until, change, reason }) => waivers.push(Waiver {
                        allows: WaivedRules::Rule(rule),
                        until,
                        change,
                        reason,
                        reach: WaiverReach::Whole(covers),
                        place,
                        comment: comment.span,
                        used: false,
                    }),
                    Err((at, defect)) => {
                        let start = line.start + at.start;
                        let span = Span::new(start, line.start + at.end);
                        let location = Location::tree(Place { span, ..place });
                        let package = file.package().name();
                        findings.push(defect.finding(location, file.path(), package));
                    }
                }
            } else if gives_reason(words) == Some(false) {
                let defect = WaiverDefect {
                    rule: WAIVER_INVALID.id,
                    message: "the security fix has no reason".to_owned(),
                    at: None,
                    help: format!("write `{SECURITY_MARKER}: REASON`"),
                    fact: words.to_owned(),
                };
                let package = file.package().name();
                findings.push(defect.finding(Location::tree(place), file.path(), package));
            } else if context.policy.lint.of(file).buf_comments
                && let Some(id) = words.strip_prefix(BUF_MARKER)
                && let Some(id) = id.strip_prefix(' ')
                && scopes.leads(comment, token_end)
            {
                waivers.extend(ignored_by(id).map(|alias| {
                    let covers =
                        scopes.find_covered_for_buf(comment, covers, context.policy.follows(alias));
                    let (allows, reach) = (WaivedRules::Alias(alias), WaiverReach::Whole(covers));
                    let (until, change) = (None, NamedChange::default());
                    let (comment, reason) = (comment.span, words.to_owned());
                    Waiver { allows, until, change, reason, reach, place, comment, used: false }
                }));
            } else if of_linters {
                linters.read(comment, token_end, line);
            }
        }
    }
    waivers.extend(linters.finish().into_iter().map(|(alias, line, reach)| {
        let place = Place { file: file.id, span: line };
        Waiver {
            allows: WaivedRules::Alias(alias),
            until: None,
            change: NamedChange::default(),
            reason: line.str(text).to_owned(),
            reach,
            place,
            comment: place.span,
            used: false,
        }
    }));
    Some((file, waivers, findings))
}
