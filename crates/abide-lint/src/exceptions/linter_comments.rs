//! The comments of protolint and of api-linter that turn off their rules. Each counts for the
//! findings that have the rule as an alias, where it counts for its tool.

use abide_syntax::{Comment, Span};
use memchr::memmem;

use super::waiver::WaiverReach;
use crate::checks::{CommentScopes, Covers};
use crate::other_linters::{api_linter_rules, protolint_rule};
use crate::policy::LintPolicy;

const PROTOLINT: &str = "protolint:";
const API_LINTER: &str = "api-linter:";

/// An alias that a line of a comment turns off, that line, and how far that reaches.
type TurnedOff = (&'static str, Span, WaiverReach);

/// Reads the comments of a text in their order.
pub(super) struct LinterComments<'a> {
    scopes: &'a CommentScopes<'a>,
    text: &'a [u8],
    policy: &'a LintPolicy,
    /// Rules that `protolint:disable` turned off and nothing turned on again.
    open: Vec<(&'static str, Span)>,
    found: Vec<TurnedOff>,
}

impl<'a> LinterComments<'a> {
    /// Returns true if a text may have such comments.
    pub(super) fn marked(text: &[u8], policy: &LintPolicy) -> bool {
        let has = |marker: &str| memmem::find(text, marker.as_bytes()).is_some();
        policy.protolint_comments && has(PROTOLINT) || policy.api_linter_comments && has(API_LINTER)
    }

    pub(super) fn of(
        scopes: &'a CommentScopes<'a>,
        text: &'a [u8],
        policy: &'a LintPolicy,
    ) -> LinterComments<'a> {
        LinterComments { scopes, text, policy, open: Vec::new(), found: Vec::new() }
    }

    /// Reads a line of a comment; `token_end` is where the token before the comment ends.
    pub(super) fn read(&mut self, comment: Comment, token_end: u32, line: Span) {
        let words = line.str(self.text);
        if self.policy.protolint_comments
            && let Some((_, command)) = words.split_once(PROTOLINT)
        {
            self.protolint(comment, line, command);
        }
        if self.policy.api_linter_comments
            && let Some((_, setting)) = words.split_once(API_LINTER)
        {
            self.api_linter(comment, token_end, line, setting);
        }
    }

    /// `disable A B` counts until `enable A`, `disable:next` for the statement below without what
    /// is in it, and `disable:this` for the line of the comment.
    fn protolint(&mut self, comment: Comment, line: Span, command: &str) {
        let Some((command, ids)) = command.split_once(' ') else { return };
        for rule in ids.split(' ').filter_map(protolint_rule) {
            match command {
                "disable" => self.open.push((rule, line)),
                "enable" => self.close(rule, line.start),
                "disable:this" => {
                    let before = self.scopes.line_before(comment);
                    self.found.push((rule, line, WaiverReach::Beginnings(before)));
                }
                "disable:next" => {
                    let head = self.scopes.head_below(comment);
                    self.found.extend(head.map(|it| (rule, line, WaiverReach::Beginnings(it))));
                }
                _ => {}
            }
        }
    }

    fn close(&mut self, rule: &str, end: u32) {
        let closed = self.open.extract_if(.., |(open, _)| *open == rule);
        self.found.extend(
            closed.map(|(rule, line)| {
                (rule, line, WaiverReach::Beginnings(Span::new(line.start, end)))
            }),
        );
    }

    /// `core::0140::uri=disabled` counts for the statement below with all that is in it, and above
    /// `syntax` or `package` for the file.
    fn api_linter(&mut self, comment: Comment, token_end: u32, line: Span, setting: &str) {
        let Some((name, value)) = setting.split_once('=') else { return };
        let covers = self.scopes.find_covered(comment, token_end);
        let counts = self.scopes.leads(comment, token_end) || matches!(covers, Covers::File);
        if counts && value.trim_start().starts_with("disabled") {
            self.found.extend(
                api_linter_rules(name.trim()).map(|rule| (rule, line, WaiverReach::Whole(covers))),
            );
        }
    }

    /// Returns what the comments turn off.
    pub(super) fn finish(mut self) -> Vec<TurnedOff> {
        let end = self.text.len() as u32 + 1;
        let open = std::mem::take(&mut self.open);
        self.found.extend(
            open.into_iter().map(|(rule, line)| {
                (rule, line, WaiverReach::Beginnings(Span::new(line.start, end)))
            }),
        );
        self.found
    }
}
