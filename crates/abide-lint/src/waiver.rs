//! Reasoned exceptions, in comments and in `abide.toml`.
//!
//! A comment `// abide:allow(RULE): REASON` covers the statement before it on the
//! same line, or else the statement below it, with everything inside. Above
//! `syntax`, `edition` or `package` it covers the file, and the package itself.
//! The comments of buf, `// buf:lint:ignore ID`, count for the findings that have
//! the alias `buf:ID`, where they count for buf: above `package`, only for findings
//! about the statement itself. [`linter_comments`] has those of other linters.

mod allowance;
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
use crate::finding::Finding;
use crate::fix::comments::without_comment_line;
use crate::location::Location;
use crate::policy::WaiverTarget;
use crate::rule::{Context, Rule};
use crate::rules::{WAIVER_EXPIRED, WAIVER_INVALID, WAIVER_UNUSED, find_rule};
use crate::security_fixes::{SECURITY_MARKER, gives_reason};
use crate::target_index::TargetIndex;

pub use self::allowance::waiver_of;
pub(crate) use self::allowance::{Allowance, NamedChange, parse};
use self::linter_comments::LinterComments;
use self::scopes::{Reach, WaiverScopes};

/// The text that marks a comment as a waiver.
pub(crate) const MARKER: &str = "abide:allow";
/// How [`MARKER`] and [`SECURITY_MARKER`] begin.
const OWN_PREFIX: &str = "abide:";
/// The text that marks a comment as one of buf's.
pub(crate) const BUF_MARKER: &str = "buf:lint:ignore";

/// The fact of an unused waiver that names its change.
const NAMED: &str = "named";

/// Says of a waiver in a comment that only matches what changed since the last release that its
/// change is merged: the next change of the kind would be waived, too. `None` if it may stay, since
/// it names its change, or stands in `abide.toml`, which is reviewed as the policy that it is.
pub(crate) fn merged(mut unused: Finding) -> Option<Finding> {
    let is_comment = unused.location.place().is_some();
    if !is_comment || unused.facts.iter().any(|it| it == NAMED) {
        return None;
    }
    let what = unused.facts.first().cloned().unwrap_or_default();
    unused.message = format!("the change that the waiver of `{what}` is for is merged already");
    unused.fixes.clear();
    unused
        .why("it would also waive the next change of the kind")
        .help("name the change with `from` and `to`, or with `fingerprint`, or delete it");
    Some(unused)
}

/// A waiver in a comment.
struct Waiver {
    allows: Allows,
    until: Option<Date>,
    change: NamedChange,
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
                    let is_meant = |it: &&mut Waiver| holds(it.until) && it.change.is_of(finding);
                    if let Some(waiver) = waiver.filter(is_meant) {
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
                    if waiver.change.is_named() {
                        finding.fact(NAMED);
                    }
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
                    Ok(Allowance { rule, until, change }) => waivers.push(Waiver {
                        allows: Allows::Rule(rule),
                        until,
                        change,
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
                    let (until, change) = (None, NamedChange::default());
                    let comment = comment.span;
                    Waiver { allows, until, change, reach, place, comment, used: false }
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
            change: NamedChange::default(),
            reach,
            place,
            comment: place.span,
            used: false,
        }
    }));
    Some((file, waivers, findings))
}
