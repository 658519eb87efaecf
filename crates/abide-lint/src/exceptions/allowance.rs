//! What a waiver in a comment allows: `abide:allow(RULE, KEY = "VALUE", …): REASON`.

use abide_schema::ProblemKind;
use abide_syntax::Span;
use jiff::civil::Date;

use super::waiver_defect::WaiverDefect;
use crate::calendar::parse_date;
use crate::checks::MARKER;
use crate::finding::{Finding, Group, Origin, is_fingerprint};
use crate::policy::Policy;
use crate::rule::Rule;
use crate::rules::{WAIVER_INVALID, find_rule, find_rule_of, rules_of};
use crate::wording::suggest;

/// What the comment of a waiver says.
#[derive(Clone, Debug)]
pub(crate) struct WaiverText {
    pub(crate) rule: &'static Rule,
    /// The last day.
    pub(crate) until: Option<Date>,
    pub(crate) change: NamedChange,
    pub(crate) reason: String,
}

/// The only change that a waiver is for; any, as far as nothing is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NamedChange {
    /// What it was before.
    from: Option<String>,
    /// What it is now.
    to: Option<String>,
    fingerprint: Option<String>,
}

impl NamedChange {
    /// Returns true if it names one at all.
    pub(crate) fn is_named(&self) -> bool {
        *self != NamedChange::default()
    }

    /// Returns true if a finding is about it.
    pub(crate) fn is_of(&self, finding: &Finding) -> bool {
        let values = finding.change.as_ref().and_then(|it| it.values.as_ref());
        let is = |named: &Option<String>, at: usize| {
            named.as_ref().is_none_or(|it| values.is_some_and(|values| values[at] == *it))
        };
        let is_fingerprint = |it: &String| *it == finding.fingerprint();
        is(&self.from, 0) && is(&self.to, 1) && self.fingerprint.as_ref().is_none_or(is_fingerprint)
    }
}

const SHAPE: &str = "write `abide:allow(RULE): REASON` or `abide:allow(RULE, until = \"2027-06-30\"): \
                     REASON`; `from`, `to` and `fingerprint` are written like `until`";

/// Returns true if a waiver can cover a finding: not an error of the compiler, and not what is wrong
/// with waivers and settings themselves.
pub fn is_waivable(finding: &Finding) -> bool {
    let is_of_tool = matches!(finding.location.origin, Origin::Config | Origin::Accepted);
    let is_compiler_error = || {
        ProblemKind::ALL
            .iter()
            .any(|kind: &ProblemKind| kind.is_error() && kind.id() == finding.rule)
    };
    let rule = find_rule(finding.rule);
    rule.is_none_or(|it| it.group != Group::Policy) && !is_of_tool && !is_compiler_error()
}

/// The beginning of a waiver that names the change of a finding, and its last day: all but its
/// reason.
pub fn format_waiver(finding: &Finding, until: Option<Date>) -> String {
    let rule = finding.rule;
    let value = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let is_plain = |text: &String| !text.is_empty() && !text.chars().any(char::is_control);
    let what = match finding.change.as_ref().map(|it| &it.values) {
        None => String::new(),
        Some(Some([from, to])) if is_plain(from) && is_plain(to) => {
            format!(", from = \"{}\", to = \"{}\"", value(from), value(to))
        }
        Some(_) => format!(", fingerprint = \"{}\"", finding.fingerprint()),
    };
    let until = until.map(|it| format!(", until = \"{it}\"")).unwrap_or_default();
    format!("{MARKER}({rule}{what}{until}): ")
}

/// Reads a waiver. An error has the bytes of `words` that it is about.
pub(crate) fn parse(policy: &Policy, words: &str) -> Result<WaiverText, (Span, WaiverDefect)> {
    let at = |part: &str| {
        // Every part is a slice of `words`.
        let start = part.as_ptr() as usize - words.as_ptr() as usize;
        Span::new(start as u32, (start + part.len()) as u32)
    };
    let invalid = |part: &str, message: String, help: &str| {
        let defect = WaiverDefect {
            rule: WAIVER_INVALID.id,
            message,
            at: None,
            help: help.to_owned(),
            fact: words.to_owned(),
        };
        (at(part), defect)
    };
    let malformed = || invalid(words, "the waiver is malformed".to_owned(), SHAPE);
    let rest = words.strip_prefix(MARKER).unwrap_or(words).trim_start();
    let rest = rest.strip_prefix('(').ok_or_else(malformed)?;
    let parts = split(rest).ok_or_else(malformed)?;
    let (id, keys) = parts.inside.split_first().ok_or_else(malformed)?;
    let Some(rule) = find_rule_of(policy, id) else {
        let help = suggest(id, rules_of(policy).map(|rule| rule.id))
            .unwrap_or_else(|| "`abide rules` lists every rule".to_owned());
        return Err(invalid(id, format!("the waiver names an unknown rule `{id}`"), &help));
    };
    if rule.group == Group::Policy {
        let message = format!("`{id}` is about waivers and cannot be waived");
        return Err(invalid(id, message, "set it to `off` in `[rules]` instead"));
    }
    let (until, change, reason) = (None, NamedChange::default(), String::new());
    let mut allowance = WaiverText { rule, until, change, reason };
    for part in keys {
        let (key, quoted) = part.split_once('=').ok_or_else(malformed)?;
        let (key, quoted) = (key.trim(), quoted.trim());
        let change = &mut allowance.change;
        let slot = match key {
            "until" => {
                let date = quoted.trim_matches('"');
                let Some(day) = parse_date(date) else {
                    let message =
                        format!("the waiver of `{id}` ends on `{date}`, which is not a date");
                    return Err(invalid(date, message, "write it as `until = \"2027-06-30\"`"));
                };
                allowance.until = Some(day);
                continue;
            }
            "from" => &mut change.from,
            "to" => &mut change.to,
            "fingerprint" => &mut change.fingerprint,
            _ => return Err(malformed()),
        };
        if slot.is_some() {
            return Err(malformed());
        }
        *slot = Some(unquoted(quoted).ok_or_else(malformed)?);
    }
    if allowance.change.fingerprint.as_ref().is_some_and(|it| !is_fingerprint(it)) {
        return Err(malformed());
    }
    let reason = parts.behind.trim_start().strip_prefix(':').unwrap_or_default().trim();
    if reason.is_empty() {
        let message = format!("the waiver of `{id}` has no reason");
        return Err(invalid(words, message, SHAPE));
    }
    allowance.reason = reason.to_owned();
    Ok(allowance)
}

/// What stands in parentheses, part by part, and behind them.
struct Parts<'a> {
    inside: Vec<&'a str>,
    behind: &'a str,
}

/// Splits a text behind its opening parenthesis. What is quoted may hold commas and parentheses.
fn split(text: &str) -> Option<Parts<'_>> {
    let (mut inside, mut start) = (Vec::new(), 0);
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, character) in text.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            ',' | ')' if !is_quoted => {
                inside.push(text[start..at].trim());
                start = at + 1;
                if character == ')' {
                    return Some(Parts { inside, behind: &text[start..] });
                }
            }
            _ => {}
        }
    }
    None
}

fn unquoted(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    let mut value = String::new();
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => value.push(characters.next()?),
            '"' => return None,
            _ => value.push(character),
        }
    }
    Some(value)
}
