//! Reasoned exceptions, in comments and in `abide.toml`.
//!
//! A comment `// abide:allow(RULE): REASON` covers the statement before it on the
//! same line, or else the statement below it, with everything inside. Above
//! `syntax`, `edition` or `package` it covers the file, and the package itself.
//! The comments of buf, `// buf:lint:ignore ID`, count for the findings that have
//! the alias `buf:ID`, where they count for buf: above `package`, only for findings
//! about the statement itself. [`linter_comments`] has those of other linters.

use abide_schema::File;
use jiff::civil::Date;
use rayon::prelude::*;

use super::source_comments::collect_waivers;
use super::target_index::TargetIndex;
use super::waiver::{WaivedRules, Waiver};
use super::waiver_defect::find_defect;
use super::waiver_scopes::WaiverScopes;
use crate::finding::{ExceptionKind, Finding, Location, without_comment_line};
use crate::policy::WaiverTarget;
use crate::rule::{Context, Rule};
use crate::rules::{WAIVER_UNUSED, find_rule_of};

/// The fact of an unused waiver that names its change.
const NAMED: &str = "named";

/// Says of a waiver in a comment that only matches what changed since the last release that its
/// change is merged: the next change of the kind would be waived, too. `None` if it may stay, since
/// it names its change, or stands in `abide.toml`, which is reviewed as the policy that it is.
pub(crate) fn describe_merged(mut unused: Finding) -> Option<Finding> {
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
            .filter_map(|it| collect_waivers(context, it))
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
                let place = finding.location.place();
                let covering = |it| self.scopes.find_covering(context.tree, finding, it);
                for number in place.map_or_else(Vec::new, covering) {
                    let waiver = self.in_comments.get_mut(number);
                    let is_meant = |it: &&mut Waiver| holds(it.until) && it.change.is_of(finding);
                    if let Some(waiver) = waiver.filter(is_meant) {
                        waiver.used = true;
                        finding.except(ExceptionKind::Comment, &waiver.reason);
                    }
                }
                for number in self.in_config.find_covering(finding) {
                    let waiver = &context.policy.waivers[number];
                    let rule = waiver.rule.is_none_or(|rule| rule == finding.rule);
                    if rule && holds(waiver.until) {
                        self.used[number] = true;
                        finding.except(ExceptionKind::Waiver, &waiver.reason);
                    }
                }
                finding.exception.is_some()
            })
            .collect()
    }

    /// The findings about the waivers themselves. `ran` says whether a rule could
    /// have found something in this run; `fingerprints`, whether every rule
    /// could.
    pub(crate) fn report_defects(
        self,
        context: &Context<'_>,
        ran: &dyn Fn(&Rule) -> bool,
        fingerprints: bool,
    ) -> Vec<Finding> {
        let mut findings = self.invalid;
        // A waiver is only checked if its rule could have matched it.
        for waiver in &self.in_comments {
            let WaivedRules::Rule(rule) = waiver.allows else { continue };
            let file = context.tree.file(waiver.place.file);
            let package = file.package().name();
            let location = Location::tree(waiver.place);
            let found =
                find_defect(rule.id, waiver.until, context.as_of, waiver.used || !ran(rule));
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
            let silent = used
                || !waiver
                    .rule
                    .and_then(|it| find_rule_of(context.policy, it))
                    .map_or(fingerprints, ran);
            let what = waiver.rule.unwrap_or(name);
            let found = find_defect(what, waiver.until, context.as_of, silent);
            let location = Location::config(waiver.span);
            findings.extend(found.map(|it| it.finding(location, name, "")));
        }
        findings
    }
}
