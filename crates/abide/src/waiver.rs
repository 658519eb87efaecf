//! Reasoned exceptions, in comments and in `abide.toml`.
//!
//! A comment `// abide:allow(RULE): REASON` covers the statement before it on the
//! same line, or else the statement below it, with everything inside. Above
//! `syntax`, `edition` or `package` it covers the file, and the package itself.
//! The comments of buf, `// buf:lint:ignore ID`, count for the findings that have
//! the alias `buf:ID`, where they count for buf: above `package`, only for findings
//! about the statement itself. [`linter_comments`] has those of other linters.

mod descriptor_comments;
mod linter_comments;
mod scopes;

use abide_schema::{File, Place};
use abide_syntax::Span;
use jiff::civil::Date;
use memchr::memmem;
use rayon::prelude::*;

use crate::buf_lint::ignored_by;
use crate::comment_scope::{CommentScopes, comments, lines};
use crate::dates::parse_date;
use crate::finding::Finding;
use crate::fix::comments::without_comment_line;
use crate::location::Location;
use crate::policy::WaiverTarget;
use crate::rule::{Context, Group, Rule};
use crate::rules::{RULES, WAIVER_EXPIRED, WAIVER_INVALID, WAIVER_UNUSED, find_rule};
use crate::security_fixes::{SECURITY_MARKER, gives_reason};
use crate::suggestion::did_you_mean;
use crate::target_index::TargetIndex;

use self::linter_comments::LinterComments;
use self::scopes::{Reach, WaiverScopes};

/// The text that marks a comment as a waiver.
pub(crate) const MARKER: &str = "abide:allow";
/// How [`MARKER`] and [`SECURITY_MARKER`] begin.
const OWN_PREFIX: &str = "abide:";
/// The text that marks a comment as one of buf's.
pub(crate) const BUF_MARKER: &str = "buf:lint:ignore";

/// A waiver in a comment.
struct Waiver {
    allows: Allows,
    until: Option<Date>,
    reach: Reach,
    /// From the marker to the end of its line.
    place: Place,
    /// The comment that it is in.
    comment: Span,
    used: bool,
}

/// Which rules a comment names.
enum Allows {
    Rule(&'static Rule),
    /// Every finding that has this alias.
    Alias(&'static str),
}

impl Allows {
    /// The id or the alias of the rules.
    fn name(&self) -> &str {
        match self {
            Allows::Rule(rule) => rule.id,
            Allows::Alias(alias) => alias,
        }
    }
}

/// The waivers of a run, in comments and in `abide.toml`.
pub(crate) struct Waivers<'p> {
    /// Those in comments, package by package.
    in_comments: Vec<Waiver>,
    scopes: WaiverScopes,
    /// Those of `abide.toml`.
    in_config: TargetIndex<'p>,
    /// Which waivers of `abide.toml` matched something.
    used: Vec<bool>,
    /// Findings about invalid waivers in comments.
    invalid: Vec<Finding>,
}

impl<'p> Waivers<'p> {
    pub(crate) fn of(context: &Context<'p>) -> Waivers<'p> {
        let files: Vec<File<'_>> = context.tree.files().filter(|file| file.is_judged()).collect();
        let mut found: Vec<_> = files
            .into_par_iter()
            .with_min_len(16)
            .filter_map(|it| in_comments(context, it))
            .collect();
        found.sort_by_key(|(file, ..)| file.package().id);
        let (mut in_comments, mut invalid) = (Vec::new(), Vec::new());
        for (_, waivers, defects) in found {
            in_comments.extend(waivers);
            invalid.extend(defects);
        }
        let config = &context.policy.waivers;
        Waivers {
            scopes: WaiverScopes::of(context.tree, &in_comments),
            in_comments,
            in_config: TargetIndex::of(config.iter().map(|it| &it.target)),
            used: vec![false; config.len()],
            invalid,
        }
    }

    /// Removes the findings that a waiver covers, and returns them.
    pub(crate) fn take(
        &mut self,
        context: &Context<'_>,
        findings: &mut Vec<Finding>,
    ) -> Vec<Finding> {
        let holds = |until: Option<Date>| until.is_none_or(|until| context.as_of <= until);
        findings
            .extract_if(.., |finding| {
                let mut taken = false;
                let place = finding.location.place();
                let covering = |it| self.scopes.covering(context.tree, finding, it);
                for number in place.map_or_else(Vec::new, covering) {
                    let waiver = self.in_comments.get_mut(number);
                    if let Some(waiver) = waiver.filter(|it| holds(it.until)) {
                        waiver.used = true;
                        taken = true;
                    }
                }
                for number in self.in_config.covering(finding) {
                    let waiver = &context.policy.waivers[number];
                    let rule = waiver.rule.is_none_or(|rule| rule == finding.rule);
                    if rule && holds(waiver.until) {
                        self.used[number] = true;
                        taken = true;
                    }
                }
                taken
            })
            .collect()
    }

    /// The findings about the waivers themselves. `ran` says whether a rule could
    /// have found something in this run; `fingerprints`, whether every rule
    /// could.
    pub(crate) fn findings(
        self,
        context: &Context<'_>,
        ran: &dyn Fn(&Rule) -> bool,
        fingerprints: bool,
    ) -> Vec<Finding> {
        let mut findings = self.invalid;
        // A waiver is only checked if its rule could have matched it.
        for waiver in &self.in_comments {
            let Allows::Rule(rule) = waiver.allows else { continue };
            let file = context.tree.file(waiver.place.file);
            let package = file.package().name();
            let location = Location::tree(waiver.place);
            let found = state(rule.id, waiver.until, context.as_of, waiver.used || !ran(rule));
            findings.extend(found.map(|it| {
                let mut finding = it.finding(location, rule.id, package);
                if finding.rule == WAIVER_UNUSED.id {
                    finding.fix(without_comment_line(file, waiver.place.span, waiver.comment));
                }
                finding
            }));
        }
        for (waiver, used) in context.policy.waivers.iter().zip(self.used) {
            let name = match &waiver.target {
                WaiverTarget::Element(glob) => glob.text(),
                WaiverTarget::Fingerprint(text) => text,
            };
            let silent = used || !waiver.rule.and_then(find_rule).map_or(fingerprints, ran);
            let what = waiver.rule.unwrap_or(name);
            let found = state(what, waiver.until, context.as_of, silent);
            let location = Location::config(waiver.span);
            findings.extend(found.map(|it| it.finding(location, name, "")));
        }
        findings
    }
}

/// What is wrong with a waiver.
pub(crate) struct Defect {
    pub(crate) rule: &'static str,
    message: String,
    at: Option<&'static str>,
    help: String,
    fact: String,
}

impl Defect {
    pub(crate) fn finding(self, location: Location, element: &str, package: &str) -> Finding {
        let mut finding = Finding::new(self.rule, location, package, element, self.message);
        finding.at = self.at.map(str::to_owned);
        finding.help(self.help).fact(self.fact);
        finding
    }
}

/// Whether a waiver is expired or matched nothing.
pub(crate) fn state(what: &str, until: Option<Date>, as_of: Date, silent: bool) -> Option<Defect> {
    if let Some(until) = until
        && as_of > until
    {
        return Some(Defect {
            rule: WAIVER_EXPIRED.id,
            message: format!("the waiver of `{what}` expired on {until}"),
            at: None,
            help: "fix what it waives, or give it a later date and a reason".to_owned(),
            fact: until.to_string(),
        });
    }
    (!silent).then(|| Defect {
        rule: WAIVER_UNUSED.id,
        message: format!("the waiver of `{what}` matches nothing"),
        at: None,
        help: "delete it".to_owned(),
        fact: what.to_owned(),
    })
}

/// The waivers in the comments of a file. Only a file with a marker costs more
/// than one search.
fn in_comments<'t>(
    context: &Context<'_>,
    file: File<'t>,
) -> Option<(File<'t>, Vec<Waiver>, Vec<Finding>)> {
    let decl = file.decl();
    let Some(text) = decl.source_text() else {
        return descriptor_comments::waivers(context, file);
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
    for (comment, token_end) in comments(text) {
        let covers = scopes.covered(comment, token_end);
        for line in lines(text, comment.span) {
            let words = line.str(text);
            let place = Place { file: file.id, span: line };
            if words.starts_with(MARKER) {
                match parse(words) {
                    Ok((rule, until)) => waivers.push(Waiver {
                        allows: Allows::Rule(rule),
                        until,
                        reach: Reach::Whole(covers),
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
                let defect = Defect {
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
                    let covers = scopes.buf_covered(comment, covers, context.policy.follows(alias));
                    let (allows, reach) = (Allows::Alias(alias), Reach::Whole(covers));
                    Waiver { allows, until: None, reach, place, comment: comment.span, used: false }
                }));
            } else if of_linters {
                linters.read(comment, token_end, line);
            }
        }
    }
    waivers.extend(linters.finish().into_iter().map(|(alias, line, reach)| {
        let place = Place { file: file.id, span: line };
        Waiver {
            allows: Allows::Alias(alias),
            until: None,
            reach,
            place,
            comment: place.span,
            used: false,
        }
    }));
    Some((file, waivers, findings))
}

/// Reads `abide:allow(RULE, until = "DATE"): REASON`. An error has the bytes of
/// `words` that it is about.
pub(crate) fn parse(words: &str) -> Result<(&'static Rule, Option<Date>), (Span, Defect)> {
    let at = |part: &str| {
        // Every part is a slice of `words`.
        let start = part.as_ptr() as usize - words.as_ptr() as usize;
        Span::new(start as u32, (start + part.len()) as u32)
    };
    let invalid = |part: &str, message: String, help: &str| {
        let defect = Defect {
            rule: WAIVER_INVALID.id,
            message,
            at: None,
            help: help.to_owned(),
            fact: words.to_owned(),
        };
        (at(part), defect)
    };
    let shape =
        "write `abide:allow(RULE): REASON` or `abide:allow(RULE, until = \"2027-06-30\"): REASON`";
    let malformed = || invalid(words, "the waiver is malformed".to_owned(), shape);
    let rest = words.strip_prefix(MARKER).unwrap_or(words).trim_start();
    let (inside, after) =
        rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).ok_or_else(malformed)?;
    let (id, until) = match inside.split_once(',') {
        Some((id, until)) => (id.trim(), Some(until.trim())),
        None => (inside.trim(), None),
    };
    let Some(rule) = find_rule(id) else {
        let help = did_you_mean(id, RULES.iter().map(|rule| rule.id))
            .unwrap_or_else(|| "`abide rules` lists every rule".to_owned());
        return Err(invalid(id, format!("the waiver names an unknown rule `{id}`"), &help));
    };
    if rule.group == Group::Policy {
        let message = format!("`{id}` is about waivers and cannot be waived");
        return Err(invalid(id, message, "set it to `off` in `[rules]` instead"));
    }
    let until = match until {
        None => None,
        Some(text) => {
            let date =
                text.strip_prefix("until").and_then(|text| text.trim_start().strip_prefix('='));
            let date = date.ok_or_else(malformed)?.trim().trim_matches('"');
            let parsed = parse_date(date);
            if parsed.is_none() {
                let message = format!("the waiver of `{id}` ends on `{date}`, which is not a date");
                return Err(invalid(date, message, "write it as `until = \"2027-06-30\"`"));
            }
            parsed
        }
    };
    let reason = after.trim_start().strip_prefix(':').unwrap_or_default().trim();
    if reason.is_empty() {
        let message = format!("the waiver of `{id}` has no reason");
        return Err(invalid(words, message, shape));
    }
    Ok((rule, until))
}
