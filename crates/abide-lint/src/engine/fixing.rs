//! Applies fixes to a tree, and none that would do harm.

mod blame;
mod guard;
mod proposal;
mod trial;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use abide_schema::{File, Tree};
use abide_syntax::{Lexer, TokenKind};
use abide_upgrade::Edit;
use rustc_hash::FxHashSet;

use super::pipeline::check;
use crate::finding::{Applied, Finding, Fix, Location, Origin};
use crate::inputs::Options;
use crate::policy::Policy;
use blame::HarmSuspects;
use guard::{HarmCheck, is_linker_error};
use proposal::{ProposedFix, Renames};
use trial::FixTrial;

/// How often fixes are applied to what earlier fixes left. Each round ends with fewer findings, and
/// few texts need a third.
const MAX_ROUNDS: usize = 64;

/// What to fix.
#[derive(Clone, Copy)]
pub struct FixRequest<'a> {
    /// Whether a finding is to be fixed.
    pub wants: &'a dyn Fn(&Finding) -> bool,
    /// Whether a file may be edited.
    pub may_edit: &'a dyn Fn(File<'_>) -> bool,
}

/// What fixes made of a tree.
#[derive(Debug, Default)]
pub struct FixResult {
    /// The tree afterwards, if it changed.
    pub tree: Option<Tree>,
    /// The new texts of the files that changed, by the name that reports use.
    pub texts: BTreeMap<Arc<str>, Vec<u8>>,
    /// What changes in `abide.accepted`.
    pub accepted: Vec<Edit>,
    /// How many findings were fixed.
    pub findings: usize,
    /// Fixes that would have done harm.
    pub refused: Vec<RefusedFix>,
}

/// A fix that was not applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedFix {
    /// The file, by the name that reports use.
    pub path: Arc<str>,
    /// What it does.
    pub title: String,
    /// The full name of the element that it is for, or the path of a file.
    pub element: String,
    /// Why not.
    pub why: String,
}

/// Fixes what a run finds in a tree, until nothing is left that can be fixed.
///
/// The result has no finding that the tree did not have, and compared with the tree, or with the
/// baseline of the run, no break that the policy forbids: fixes that would cause one are refused.
pub fn fix(
    tree: &Tree,
    policy: &Policy,
    options: Options<'_>,
    request: FixRequest<'_>,
) -> FixResult {
    let mut fixing = FixRun {
        guard: HarmCheck::new(tree, policy, options),
        request,
        refused: BTreeSet::new(),
        renames: Renames::default(),
        fixed: FixResult::default(),
    };
    for _ in 0..MAX_ROUNDS {
        let now = fixing.fixed.tree.take();
        let at = now.as_ref().unwrap_or(tree);
        let findings = check(at, policy, options).findings;
        let next = fixing.apply_round(at, &findings);
        let is_done = next.is_none();
        if is_done {
            fixing.fixed.accepted = remove_stale_lines(&findings, request);
            fixing.fixed.findings += fixing.fixed.accepted.len();
        }
        fixing.fixed.tree = next.or(now);
        if is_done {
            return fixing.fixed;
        }
    }
    debug_assert!(false, "fixes undo each other");
    fixing.fixed
}

/// Returns what speaks against each of some fixes, applied to the tree by itself: the reasons for
/// which [`fix()`] refuses it. One that is only applied when a person chooses it may change what is
/// found, but the tree has to link as before.
pub fn find_objections(
    tree: &Tree,
    policy: &Policy,
    options: Options<'_>,
    fixes: &[(&Finding, &Fix)],
) -> Vec<Option<String>> {
    if fixes.is_empty() {
        return Vec::new();
    }
    let guard = HarmCheck::new(tree, policy, options);
    let quoted = OnceCell::new();
    let objection = |&(finding, fix): &(_, _)| {
        let proposal = ProposedFix { finding, fix };
        if fix.applied == Applied::IfCompatible {
            let quoted = quoted.get_or_init(|| collect_quoted_words(tree));
            if let Some(name) = proposal.simple_name().filter(|it| quoted.contains(it)) {
                return Some(describe_quoted_name(name));
            }
        }
        let trial = FixTrial::of(tree, std::iter::once(proposal));
        let harm = guard.find_harm(&trial, &Renames::default());
        let counts = |it: &&Finding| fix.applied != Applied::Never || is_linker_error(it);
        harm.iter().find(counts).map(describe_harm)
    };
    fixes.iter().map(objection).collect()
}

/// The fixes of a tree under way.
struct FixRun<'a> {
    guard: HarmCheck<'a>,
    request: FixRequest<'a>,
    /// Which fixes do harm: the fingerprint of the finding, and the title.
    refused: BTreeSet<(String, String)>,
    /// Those that were applied.
    renames: Renames,
    fixed: FixResult,
}

impl FixRun<'_> {
    /// Applies as many fixes as can be applied at once. `None` if there are none.
    fn apply_round(&mut self, tree: &Tree, findings: &[Finding]) -> Option<Tree> {
        for applied in [Applied::Always, Applied::IfCompatible] {
            let mut proposals = self.collect_proposals(tree, findings, applied);
            if applied == Applied::IfCompatible && !proposals.is_empty() {
                self.remove_quoted_renames(tree, &mut proposals);
            }
            if let Some(trial) = self.apply_harmless(tree, proposals) {
                self.fixed.findings += trial.edits.made.len();
                let named = |(id, text)| (Arc::clone(&tree.file(id).decl().display), text);
                self.fixed.texts.extend(trial.texts.into_iter().map(named));
                self.renames.extend(trial.edits.made.iter().filter_map(ProposedFix::rename));
                return Some(trial.tree);
            }
        }
        None
    }

    /// Applies all fixes that do no harm. Each of the others is refused, for what it would cause
    /// itself. `None` if there are none.
    ///
    /// All of them are tried at once. If that does harm, those that it does not speak against come
    /// first, then a half of each set of suspects, then the other halves, each beside what is known
    /// to do none. So all sets are searched at once, and none costs more trials than the largest.
    fn apply_harmless<'f>(
        &mut self,
        tree: &Tree,
        proposals: Vec<ProposedFix<'f>>,
    ) -> Option<FixTrial<'f>> {
        let mut harmless: Option<FixTrial<'f>> = None;
        let mut groups = vec![proposals];
        while let Some(mut group) = groups.pop() {
            if group.is_empty() {
                continue;
            }
            let known = harmless.iter().flat_map(|it| it.edits.made.iter().copied());
            let trial = FixTrial::of(tree, known.chain(group.iter().copied()));
            let harm = self.guard.find_harm(&trial, &self.renames);
            if harm.is_empty() {
                harmless = Some(trial);
                continue;
            }
            if let [proposal] = group[..] {
                self.report_harm(tree, proposal, &harm[0]);
                continue;
            }
            let blame = HarmSuspects::of(tree, &group, &trial, &harm);
            let count = group.len();
            group = self.remove_harmful(tree, group, &blame);
            if group.len() < count {
                groups.push(group);
                continue;
            }
            let [cleared, first, second] = self.split_group(tree, group, &blame);
            groups.extend([second, first, cleared]);
        }
        harmless
    }

    /// The fixes of findings that are asked for, and not refused.
    fn collect_proposals<'f>(
        &mut self,
        tree: &Tree,
        findings: &'f [Finding],
        applied: Applied,
    ) -> Vec<ProposedFix<'f>> {
        let wanted = findings.iter().filter(|it| (self.request.wants)(it));
        let first = wanted.filter_map(|finding| {
            let fix = finding.fixes.iter().find(|fix| {
                fix.applied == applied
                    && !self.refused.contains(&(finding.fingerprint(), fix.title.clone()))
            })?;
            fix.edits
                .iter()
                .all(|it| it.location.place().is_some())
                .then_some(ProposedFix { finding, fix })
        });
        let all: Vec<ProposedFix<'f>> = first.collect();
        let may_edit = |location: &Location| {
            location.place().is_some_and(|it| (self.request.may_edit)(tree.file(it.file)))
        };
        let mut proposals = Vec::with_capacity(all.len());
        let mut elsewhere = Vec::new();
        for proposal in all {
            let mut places = proposal.fix.edits.iter().map(|it| &it.location);
            match places.find(|it| !may_edit(it)) {
                None => proposals.push(proposal),
                Some(place) if may_edit(&proposal.finding.location) => {
                    elsewhere.push((proposal, place));
                }
                Some(_) => {}
            }
        }
        for (proposal, location) in elsewhere {
            let path = location.place().map_or("", |it| &*tree.file(it.file).decl().display);
            let why = format!("`{path}` would have to change, and is not edited");
            self.report_refused(tree, proposal, why);
        }
        proposals
    }

    /// Takes out the renames of what strings may name, as routes and resource patterns do: nothing
    /// would follow there.
    fn remove_quoted_renames(&mut self, tree: &Tree, proposals: &mut Vec<ProposedFix<'_>>) {
        let quoted = collect_quoted_words(tree);
        let is_quoted =
            |it: &mut ProposedFix<'_>| it.simple_name().is_some_and(|it| quoted.contains(it));
        let refused: Vec<ProposedFix<'_>> = proposals.extract_if(.., is_quoted).collect();
        for proposal in refused {
            let name = proposal.simple_name().unwrap_or_default();
            self.report_refused(tree, proposal, describe_quoted_name(name));
        }
    }

    /// Takes out the fixes that are known to do harm.
    fn remove_harmful<'f>(
        &mut self,
        tree: &Tree,
        group: Vec<ProposedFix<'f>>,
        blame: &HarmSuspects<'_>,
    ) -> Vec<ProposedFix<'f>> {
        let mut kept = Vec::new();
        for (proposal, harm) in group.into_iter().zip(&blame.guilty) {
            match harm {
                Some(harm) => self.report_harm(tree, proposal, harm),
                None => kept.push(proposal),
            }
        }
        kept
    }

    /// Those of a group that harm does not speak against, and two halves of the others. Whoever is
    /// the only suspect for a harm is refused.
    fn split_group<'f>(
        &mut self,
        tree: &Tree,
        mut group: Vec<ProposedFix<'f>>,
        blame: &HarmSuspects<'_>,
    ) -> [Vec<ProposedFix<'f>>; 3] {
        if blame.suspects.is_empty() {
            let second = group.split_off(group.len() / 2);
            return [Vec::new(), group, second];
        }
        let (mut first, mut second) = (Vec::new(), Vec::new());
        let mut is_suspected = vec![false; group.len()];
        for (suspects, harm) in &blame.suspects {
            suspects.iter().for_each(|it| is_suspected[*it] = true);
            if let [alone] = suspects[..] {
                self.report_harm(tree, group[alone], harm);
                continue;
            }
            let halves = suspects.split_at(suspects.len() / 2);
            first.extend(halves.0.iter().map(|it| group[*it]));
            second.extend(halves.1.iter().map(|it| group[*it]));
        }
        let mut is_suspected = is_suspected.into_iter();
        group.retain(|_| is_suspected.next() == Some(false));
        [group, first, second]
    }

    fn report_harm(&mut self, tree: &Tree, proposal: ProposedFix<'_>, harm: &Finding) {
        self.report_refused(tree, proposal, describe_harm(harm));
    }

    fn report_refused(
        &mut self,
        tree: &Tree,
        ProposedFix { finding, fix }: ProposedFix<'_>,
        why: String,
    ) {
        self.refused.insert((finding.fingerprint(), fix.title.clone()));
        self.fixed.refused.extend(finding.location.place().map(|place| RefusedFix {
            path: Arc::clone(&tree.file(place.file).decl().display),
            title: fix.title.clone(),
            element: finding.element.clone(),
            why,
        }));
    }
}

/// Returns why a fix that does this harm is refused.
fn describe_harm(harm: &Finding) -> String {
    format!("it would cause `{}`: {}", harm.rule, harm.message)
}

/// Returns why a rename is refused.
fn describe_quoted_name(name: &str) -> String {
    format!("a string may name `{name}`")
}

/// The words in the strings of the checked files.
fn collect_quoted_words(tree: &Tree) -> FxHashSet<&str> {
    let is_word = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let mut words = FxHashSet::default();
    for text in tree.files().filter(|it| it.is_judged()).filter_map(|it| it.decl().source_text()) {
        let mut lexer = Lexer::new(text, 0);
        loop {
            let token = lexer.next_token();
            match token.kind {
                TokenKind::End => break,
                TokenKind::String => {
                    words.extend(token.span.str(text).split(|it: char| !is_word(it)));
                }
                _ => {}
            }
        }
    }
    words
}

/// The fixes of `abide.accepted`. What accepts nothing in the tree that is left can go.
fn remove_stale_lines(findings: &[Finding], request: FixRequest<'_>) -> Vec<Edit> {
    let wanted = findings.iter().filter(|it| (request.wants)(it));
    let fixes = wanted.flat_map(|it| &it.fixes).filter(|it| it.applied == Applied::Always);
    let edits = fixes.flat_map(|it| &it.edits);
    let of_accepted = edits.filter(|it| it.location.origin == Origin::Accepted);
    of_accepted.map(|it| Edit::replace(it.location.span, it.text.as_str())).collect()
}
