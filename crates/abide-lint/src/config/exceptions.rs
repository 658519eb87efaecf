//! `[[waiver]]` and `[[security-fix]]`: reasoned exceptions.

use abide_schema::Glob;
use abide_syntax::Span;
use toml_edit::{Item, TableLike};

use super::toml_reader::{TomlReader, entries, span};
use crate::finding::{Group, is_fingerprint};
use crate::policy::{ConfigWaiver, SecurityFix, WaiverTarget};
use crate::rule::Rule;

impl TomlReader<'_> {
    pub(super) fn waiver(&mut self, table: &dyn TableLike, at: Span) -> Option<ConfigWaiver> {
        const KEYS: &[&str] = &["rule", "element", "fingerprint", "reason", "until"];
        let before = self.errors.len();
        let (mut rule, mut element, mut fingerprint) = (None, None, None);
        let (mut reason, mut until) = (None, None);
        for entry in entries(table) {
            let item = entry.item;
            match entry.key {
                "rule" => {
                    rule = self.string(item).and_then(|id| self.waived(&id, span(item)));
                }
                "element" => {
                    element = self.string(item).and_then(|text| self.glob(&text, span(item)));
                }
                "fingerprint" => fingerprint = self.fingerprint(item),
                "reason" => reason = self.reason(item, "a waiver"),
                "until" => until = self.date(item),
                _ => self.unknown_key(&entry, "`[[waiver]]`", KEYS),
            }
        }
        let target = target(element, fingerprint);
        if self.errors.len() > before {
            return None;
        }
        let complaint = match (&target, rule, &reason) {
            (None, ..) => "a waiver needs either `element` or `fingerprint`",
            (Some(WaiverTarget::Element(_)), None, _) => "a waiver needs `rule`",
            (.., None) => "a waiver needs `reason`",
            _ => "",
        };
        if !complaint.is_empty() {
            self.error(at, complaint, None);
            return None;
        }
        Some(ConfigWaiver {
            rule: rule.map(|it| it.id),
            target: target?,
            reason: reason?,
            until,
            span: at,
        })
    }

    /// The rule that a waiver names.
    fn waived(&mut self, id: &str, at: Span) -> Option<&'static Rule> {
        let rule = self.rule(id, at, std::iter::empty())?;
        if rule.group == Group::Policy {
            let message = format!("`{id}` is about waivers and cannot be waived");
            self.error(at, message, Some("set it to `off` in `[rules]` instead".to_owned()));
            return None;
        }
        Some(rule)
    }

    fn fingerprint(&mut self, item: &Item) -> Option<String> {
        let text = self.string(item)?;
        if !is_fingerprint(&text) {
            let help = "copy it from a report: 16 digits of `0` to `9` and `a` to `f`";
            self.error(span(item), format!("`{text}` is not a fingerprint"), Some(help.to_owned()));
        }
        Some(text)
    }

    fn reason(&mut self, item: &Item, of: &str) -> Option<String> {
        let reason = self.string(item);
        if reason.as_deref().is_some_and(|reason| reason.trim().is_empty()) {
            self.error(span(item), format!("the reason of {of} is empty"), None);
        }
        reason
    }

    pub(super) fn security_fix(&mut self, table: &dyn TableLike, at: Span) -> Option<SecurityFix> {
        const KEYS: &[&str] = &["element", "fingerprint", "reason"];
        let before = self.errors.len();
        let (mut element, mut fingerprint, mut reason) = (None, None, None);
        for entry in entries(table) {
            let item = entry.item;
            match entry.key {
                "element" => {
                    element = self.string(item).and_then(|text| self.glob(&text, span(item)));
                }
                "fingerprint" => fingerprint = self.fingerprint(item),
                "reason" => reason = self.reason(item, "a security fix"),
                _ => self.unknown_key(&entry, "`[[security-fix]]`", KEYS),
            }
        }
        let fix = target(element, fingerprint).zip(reason);
        if fix.is_none() && self.errors.len() == before {
            let message = "a security fix needs `reason`, and either `element` or `fingerprint`";
            self.error(at, message, None);
        }
        fix.map(|(target, reason)| SecurityFix { target, reason })
    }
}

/// Returns what a waiver covers, if it names exactly one thing.
fn target(element: Option<Glob>, fingerprint: Option<String>) -> Option<WaiverTarget> {
    match (element, fingerprint) {
        (None, Some(fingerprint)) => Some(WaiverTarget::Fingerprint(fingerprint)),
        (Some(element), None) => Some(WaiverTarget::Element(element)),
        _ => None,
    }
}
