//! Applies fixes to a tree, and none that would do harm.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use abide_schema::{File, FileDecl, FileId, ProblemKind, SourceFile, Tree};
use abide_syntax::{Lexer, TokenKind};
use abide_upgrade::{Edit, apply};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::finding::{Finding, Severity};
use crate::fix::source_text::with_blank_line;
use crate::fix::{Applied, Fix, FixEdit};
use crate::group::Group;
use crate::location::Origin;
use crate::options::{Options, RuleScope};
use crate::policy::Policy;
use crate::rules::{AFTER_FIXES, find_rule};

use super::judging::check;

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
pub struct Fixed {
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
pub fn fix(tree: &Tree, policy: &Policy, options: Options<'_>, request: FixRequest<'_>) -> Fixed {
    let mut fixing = Fixing {
        guard: Guard::of(tree, policy, options),
        request,
        refused: BTreeSet::new(),
        fixed: Fixed::default(),
    };
    for _ in 0..MAX_ROUNDS {
        let now = fixing.fixed.tree.take();
        let at = now.as_ref().unwrap_or(tree);
        let findings = check(at, policy, options).findings;
        let next = fixing.round(at, &findings);
        let is_done = next.is_none();
        if is_done {
            fixing.fixed.accepted = stale_lines(&findings, request);
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

/// The fixes of a tree under way.
struct Fixing<'a> {
    guard: Guard<'a>,
    request: FixRequest<'a>,
    /// Which fixes do harm: the fingerprint of the finding, and the title.
    refused: BTreeSet<(String, String)>,
    fixed: Fixed,
}

/// A fix of a finding.
#[derive(Clone, Copy)]
struct Proposal<'f> {
    finding: &'f Finding,
    fix: &'f Fix,
}

impl Proposal<'_> {
    /// The full name that it gives to the element, if it is a rename.
    fn renamed(&self) -> Option<String> {
        let name = self.fix.edits.first().filter(|_| self.fix.applied == Applied::IfCompatible)?;
        let (scope, _) = self.finding.element.rsplit_once('.')?;
        Some(format!("{scope}.{}", name.text))
    }
}

impl Fixing<'_> {
    /// Applies as many fixes as can be applied at once. `None` if there are none.
    fn round(&mut self, tree: &Tree, findings: &[Finding]) -> Option<Tree> {
        for applied in [Applied::Always, Applied::IfCompatible] {
            let mut proposals = self.proposals(tree, findings, applied);
            if applied == Applied::IfCompatible && !proposals.is_empty() {
                self.keep_quoted_names(tree, &mut proposals);
            }
            while !proposals.is_empty() {
                let edits = Edits::of(&proposals);
                let texts = edits.texts(tree);
                let next = relinked(tree, &texts);
                let harm = self.guard.harm(&next);
                if harm.is_empty() {
                    self.fixed.findings += edits.proposals;
                    let named = |(id, text)| (Arc::clone(&tree.file(id).decl().display), text);
                    self.fixed.texts.extend(texts.into_iter().map(named));
                    return Some(next);
                }
                self.refuse(tree, &next, &mut proposals, &harm);
            }
        }
        None
    }

    /// The fixes of findings that are asked for, and not refused.
    fn proposals<'f>(
        &self,
        tree: &Tree,
        findings: &'f [Finding],
        applied: Applied,
    ) -> Vec<Proposal<'f>> {
        let wanted = findings.iter().filter(|it| (self.request.wants)(it));
        let first = wanted.filter_map(|finding| {
            let fix = finding.fixes.iter().find(|fix| {
                fix.applied == applied
                    && !self.refused.contains(&(finding.fingerprint(), fix.title.clone()))
            })?;
            let may_edit = |edit: &FixEdit| {
                let place = edit.location.place();
                place.is_some_and(|it| (self.request.may_edit)(tree.file(it.file)))
            };
            fix.edits.iter().all(may_edit).then_some(Proposal { finding, fix })
        });
        first.collect()
    }

    /// Takes out the renames of what strings may name, as routes and resource patterns do: nothing
    /// would follow there.
    fn keep_quoted_names(&mut self, tree: &Tree, proposals: &mut Vec<Proposal<'_>>) {
        let quoted = quoted_words(tree);
        let name = |it: &Proposal<'_>| it.finding.element.rsplit('.').next().map(str::to_owned);
        let is_quoted = |it: &mut Proposal<'_>| name(it).is_some_and(|it| quoted.contains(&*it));
        let refused: Vec<Proposal<'_>> = proposals.extract_if(.., is_quoted).collect();
        for proposal in refused {
            let name = name(&proposal).unwrap_or_default();
            self.refuse_one(tree, proposal, format!("a string may name `{name}`"));
        }
    }

    fn refuse_one(&mut self, tree: &Tree, Proposal { finding, fix }: Proposal<'_>, why: String) {
        self.refused.insert((finding.fingerprint(), fix.title.clone()));
        self.fixed.refused.extend(finding.location.place().map(|place| RefusedFix {
            path: Arc::clone(&tree.file(place.file).decl().display),
            title: fix.title.clone(),
            element: finding.element.clone(),
            why,
        }));
    }

    /// Takes out the fixes to blame for harm.
    fn refuse(
        &mut self,
        tree: &Tree,
        next: &Tree,
        proposals: &mut Vec<Proposal<'_>>,
        harm: &[Finding],
    ) {
        let suspects = Suspects::of(tree, proposals);
        let mut reasons: Vec<Option<&Finding>> = vec![None; proposals.len()];
        let mut seen: FxHashSet<Blamed<'_>> = FxHashSet::default();
        for harm in harm {
            // Whoever is blamed once has a reason already.
            let (whom, blamed) = suspects.of_harm(next, harm);
            if seen.insert(whom) {
                for at in blamed {
                    reasons[at].get_or_insert(harm);
                }
            }
        }
        let mut reasons = reasons.into_iter();
        proposals.retain(|proposal| match reasons.next().flatten() {
            Some(harm) => {
                let why = format!("it would cause `{}`: {}", harm.rule, harm.message);
                self.refuse_one(tree, *proposal, why);
                false
            }
            None => true,
        });
    }
}

/// Which fixes can be to blame for a finding, found without a look at each of them.
struct Suspects<'a> {
    /// By the element that a fix is for.
    by_element: BTreeMap<&'a str, Vec<usize>>,
    /// By the name that a fix gives to its element.
    by_new_name: FxHashMap<String, Vec<usize>>,
    by_file: FxHashMap<&'a str, Vec<usize>>,
    count: usize,
}

/// What the fixes that are to blame for a finding have in common.
#[derive(PartialEq, Eq, Hash)]
enum Blamed<'a> {
    /// This element, or one around it or inside of it.
    Element(&'a str),
    /// This file.
    File(&'a str),
    All,
}

impl<'a> Suspects<'a> {
    fn of(tree: &'a Tree, proposals: &[Proposal<'a>]) -> Suspects<'a> {
        let mut suspects = Suspects {
            by_element: BTreeMap::new(),
            by_new_name: FxHashMap::default(),
            by_file: FxHashMap::default(),
            count: proposals.len(),
        };
        for (at, proposal) in proposals.iter().enumerate() {
            suspects.by_element.entry(&proposal.finding.element).or_default().push(at);
            if let Some(name) = proposal.renamed() {
                suspects.by_new_name.entry(name).or_default().push(at);
            }
            let places = proposal.fix.edits.iter().filter_map(|it| it.location.place());
            let paths: BTreeSet<&str> = places.map(|it| tree.file(it.file).path()).collect();
            for path in paths {
                suspects.by_file.entry(path).or_default().push(at);
            }
        }
        suspects
    }

    /// The fixes to blame for a finding in the tree that they made: those of its own element, or else
    /// of elements around it or inside of it, or else of its file, or else all.
    fn of_harm<'s>(
        &'s self,
        next: &'s Tree,
        harm: &'s Finding,
    ) -> (Blamed<'s>, Box<dyn Iterator<Item = usize> + 's>) {
        let name = harm.element.as_str();
        let of = |name: &str| self.by_element.get(name).into_iter().flatten().copied();
        let renamed = self.by_new_name.get(name).into_iter().flatten().copied();
        let mut own = of(name).chain(renamed).peekable();
        if own.peek().is_some() {
            return (Blamed::Element(name), Box::new(own));
        }
        let inner = format!("{name}.");
        let inside = self.by_element.range::<str, _>((Bound::Included(&*inner), Bound::Unbounded));
        let inside = inside.take_while(move |(it, _)| it.starts_with(&inner));
        let inside = inside.flat_map(|(_, at)| at).copied();
        let around = name.match_indices('.').flat_map(move |(at, _)| of(&name[..at]));
        let mut near = inside.chain(around).peekable();
        if near.peek().is_some() {
            return (Blamed::Element(name), Box::new(near));
        }
        let path = harm.location.place().map(|it| next.file(it.file).path());
        match path.and_then(|path| Some((path, self.by_file.get(path)?))) {
            Some((path, found)) => (Blamed::File(path), Box::new(found.iter().copied())),
            None => (Blamed::All, Box::new(0..self.count)),
        }
    }
}

/// The words in the strings of the checked files.
fn quoted_words(tree: &Tree) -> FxHashSet<&str> {
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

/// The edits of fixes that can be made at once.
struct Edits {
    by_file: BTreeMap<FileId, Vec<Edit>>,
    /// How many fixes they are of.
    proposals: usize,
}

impl Edits {
    /// Leaves out fixes that edit what another one edits: they have their turn in a later round.
    fn of(proposals: &[Proposal<'_>]) -> Edits {
        let mut edits = Edits { by_file: BTreeMap::new(), proposals: 0 };
        for proposal in proposals {
            let own: Vec<(FileId, Edit)> = proposal
                .fix
                .edits
                .iter()
                .filter_map(|it| {
                    let place = it.location.place()?;
                    Some((place.file, Edit::replace(place.span, it.text.as_str())))
                })
                .collect();
            let made = |file: &FileId| edits.by_file.get(file).map_or(&[][..], Vec::as_slice);
            if own.iter().any(|(file, edit)| made(file).iter().any(|it| clash(it, edit))) {
                continue;
            }
            edits.proposals += 1;
            for (file, edit) in own {
                let made = edits.by_file.entry(file).or_default();
                if !made.contains(&edit) {
                    made.push(edit);
                }
            }
        }
        edits
    }

    fn texts(&self, tree: &Tree) -> BTreeMap<FileId, Vec<u8>> {
        let edited = |(&id, edits): (&FileId, &Vec<Edit>)| {
            let text = tree.file(id).decl().source_text()?;
            Some((id, apply(text, joined(text, edits.clone())).ok()?))
        };
        self.by_file.iter().filter_map(edited).collect()
    }
}

/// Whether two edits cannot be made at once. The same edit twice is one.
fn clash(a: &Edit, b: &Edit) -> bool {
    let (first, second) = if a.span.start <= b.span.start { (a, b) } else { (b, a) };
    // A block that a blank line sets apart is to be one.
    let opens_block = |it: &Edit| it.text.starts_with("\n\n") || it.text.starts_with("\r\n\r\n");
    let meet = match (first.span.is_empty(), second.span.is_empty()) {
        (true, true) if first.span == second.span => opens_block(first) || opens_block(second),
        (true, _) => first.span.start > second.span.start,
        (false, true) => first.span.start < second.span.start && second.span.start < first.span.end,
        (false, false) => second.span.start < first.span.end,
    };
    meet && a != b
}

/// Edits in the order of their places; insertions at one place in the order of their texts.
/// Removed lines that lie together go as one, with the blank line below if one stands above.
fn joined(text: &[u8], mut edits: Vec<Edit>) -> Vec<Edit> {
    edits.sort_by(|a, b| (a.span, &a.text).cmp(&(b.span, &b.text)));
    let is_removal = |edit: &Edit| edit.text.is_empty() && !edit.span.is_empty();
    let mut out: Vec<Edit> = Vec::with_capacity(edits.len());
    for edit in edits {
        match out.last_mut() {
            Some(last)
                if is_removal(last) && is_removal(&edit) && last.span.end == edit.span.start =>
            {
                last.span = last.span.to(edit.span);
            }
            _ => out.push(edit),
        }
    }
    for edit in out.iter_mut().filter(|it| is_removal(it)) {
        edit.span = with_blank_line(text, edit.span);
    }
    out
}

/// The tree with other texts of some files.
fn relinked(tree: &Tree, texts: &BTreeMap<FileId, Vec<u8>>) -> Tree {
    let file = |file: File<'_>| {
        let decl = file.shared_decl();
        let Some(text) = texts.get(&file.id) else { return Arc::clone(decl) };
        Arc::new(FileDecl::parse(SourceFile {
            path: Arc::clone(&decl.path),
            display: Arc::clone(&decl.display),
            root: decl.root,
            imported: decl.imported,
            text: text.as_slice().into(),
        }))
    };
    Tree::link_again(tree.files().map(file).collect(), tree)
}

/// What keeps fixes from doing harm.
struct Guard<'a> {
    policy: &'a Policy,
    options: Options<'a>,
    /// The tree before any fix.
    tree: &'a Tree,
    /// How often each finding occurs there, by fingerprint.
    before: BTreeMap<String, usize>,
    /// How often each rule reports in each file there.
    by_file: BTreeMap<(&'static str, Arc<str>), usize>,
}

impl<'a> Guard<'a> {
    fn of(tree: &'a Tree, policy: &'a Policy, options: Options<'a>) -> Guard<'a> {
        let options = Options {
            scope: RuleScope::Everything,
            baseline: Some(options.baseline.unwrap_or(tree)),
            bump_baseline: None,
            counts_bump: false,
            changes: false,
            surfaces: &[],
            versions: false,
            ..options
        };
        let (before, by_file) = (BTreeMap::new(), BTreeMap::new());
        let mut guard = Guard { policy, options, tree, before, by_file };
        for finding in guard.findings(tree) {
            *guard.before.entry(finding.fingerprint()).or_default() += 1;
            *guard.by_file.entry(rule_in_file(tree, &finding)).or_default() += 1;
        }
        guard
    }

    /// The findings of a tree that the tree before any fix did not have. A finding that only has
    /// another name or other words since, such as one about an element that was renamed, is not
    /// new: its rule reports no more in its file than before.
    fn harm(&self, tree: &Tree) -> Vec<Finding> {
        let mut left = self.before.clone();
        let mut findings = self.findings(tree);
        let mut by_file: BTreeMap<(&'static str, Arc<str>), usize> = BTreeMap::new();
        for finding in &findings {
            *by_file.entry(rule_in_file(tree, finding)).or_default() += 1;
        }
        findings.retain(|it| {
            if let Some(count) = left.get_mut(&it.fingerprint()).filter(|count| **count > 0) {
                *count -= 1;
                return false;
            }
            let key = rule_in_file(tree, it);
            let has_more = by_file.get(&key) > self.by_file.get(&key);
            has_more && !self.was_hidden(tree, it)
        });
        findings
    }

    /// Whether a finding is about an import that was unused before, and could not be judged while
    /// names of its file were missing.
    fn was_hidden(&self, tree: &Tree, finding: &Finding) -> bool {
        let Some(place) = finding.location.place() else { return false };
        let path = tree.file(place.file).path();
        let mut before = self.tree.files().filter(|file| file.path() == path);
        finding.rule == ProblemKind::ImportUnused.id()
            && before.any(|file| {
                let mut imports = file.decl().imports.iter();
                imports.any(|it| finding.message.contains(&format!("`{}`", it.path)))
            })
    }

    /// What counts as harm where it is new. A change that the policy lets pass does not, nor does
    /// what has to follow a fix anyhow.
    fn findings(&self, tree: &Tree) -> Vec<Finding> {
        let mut findings = check(tree, self.policy, self.options).findings;
        let follows = |id: &str| {
            AFTER_FIXES.iter().any(|it| it.id == id)
                || find_rule(id).is_some_and(|it| it.group == Group::Policy)
        };
        findings.retain(|it| {
            (it.change.is_none() || it.severity > Severity::Note) && !follows(it.rule)
        });
        findings
    }
}

/// A rule, and the file that it reports in.
fn rule_in_file(tree: &Tree, finding: &Finding) -> (&'static str, Arc<str>) {
    let place = finding.location.place();
    let path =
        place.map_or_else(|| Arc::from(""), |it| Arc::clone(&tree.file(it.file).decl().display));
    (finding.rule, path)
}

/// The fixes of `abide.accepted`. What accepts nothing in the tree that is left can go.
fn stale_lines(findings: &[Finding], request: FixRequest<'_>) -> Vec<Edit> {
    let wanted = findings.iter().filter(|it| (request.wants)(it));
    let fixes = wanted.flat_map(|it| &it.fixes).filter(|it| it.applied == Applied::Always);
    let edits = fixes.flat_map(|it| &it.edits);
    let of_accepted = edits.filter(|it| it.location.origin == Origin::Accepted);
    of_accepted.map(|it| Edit::replace(it.location.span, it.text.as_str())).collect()
}
