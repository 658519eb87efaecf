//! Applies fixes to a tree, and none that would do harm.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use abide_schema::{EnumValue, File, FileDecl, FileId, ProblemKind, SourceFile, Tree};
use abide_syntax::{Lexer, TokenKind};
use abide_upgrade::{Edit, apply};
use petgraph::unionfind::UnionFind;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::finding::{Finding, Severity};
use crate::fix::source_text::with_blank_line;
use crate::fix::{Applied, Fix};
use crate::group::Group;
use crate::location::{Location, Origin};
use crate::options::{Options, RuleScope};
use crate::policy::Policy;
use crate::rule::Check;
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
        renames: Renames::default(),
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

/// What speaks against each of some fixes, applied to the tree by itself: the reasons for which
/// [`fix()`] refuses it. One that is only applied when a person chooses it may change what is found,
/// but the tree has to link as before.
pub fn objections(
    tree: &Tree,
    policy: &Policy,
    options: Options<'_>,
    fixes: &[(&Finding, &Fix)],
) -> Vec<Option<String>> {
    if fixes.is_empty() {
        return Vec::new();
    }
    let guard = Guard::of(tree, policy, options);
    let quoted = OnceCell::new();
    let objection = |&(finding, fix): &(_, _)| {
        let proposal = Proposal { finding, fix };
        if fix.applied == Applied::IfCompatible {
            let quoted = quoted.get_or_init(|| quoted_words(tree));
            if let Some(name) = proposal.simple_name().filter(|it| quoted.contains(it)) {
                return Some(may_be_named(name));
            }
        }
        let trial = Trial::of(tree, std::iter::once(proposal));
        let harm = guard.harm(&trial, &Renames::default());
        let counts = |it: &&Finding| fix.applied != Applied::Never || is_linker_error(it);
        harm.iter().find(counts).map(would_cause)
    };
    fixes.iter().map(objection).collect()
}

/// The fixes of a tree under way.
struct Fixing<'a> {
    guard: Guard<'a>,
    request: FixRequest<'a>,
    /// Which fixes do harm: the fingerprint of the finding, and the title.
    refused: BTreeSet<(String, String)>,
    /// Those that were applied.
    renames: Renames,
    fixed: Fixed,
}

/// The names of elements that were renamed, with those that they have since.
type Renames = FxHashMap<String, String>;

/// A fix of a finding.
#[derive(Clone, Copy)]
struct Proposal<'f> {
    finding: &'f Finding,
    fix: &'f Fix,
}

impl<'f> Proposal<'f> {
    /// The name of the element without those around it.
    fn simple_name(&self) -> Option<&'f str> {
        self.finding.element.rsplit('.').next()
    }

    /// The name of the element and the one that it gets, if it is a rename.
    fn rename(&self) -> Option<(String, String)> {
        let name = self.fix.edits.first().filter(|_| self.fix.applied == Applied::IfCompatible)?;
        let (_, old) = self.finding.element.rsplit_once('.')?;
        Some((old.to_owned(), name.text.clone()))
    }

    /// The full name that it gives to the element, if it is a rename.
    fn renamed(&self) -> Option<String> {
        let (scope, _) = self.finding.element.rsplit_once('.')?;
        Some(format!("{scope}.{}", self.rename()?.1))
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
            if let Some(trial) = self.harmless(tree, proposals) {
                self.fixed.findings += trial.edits.made.len();
                let named = |(id, text)| (Arc::clone(&tree.file(id).decl().display), text);
                self.fixed.texts.extend(trial.texts.into_iter().map(named));
                self.renames.extend(trial.edits.made.iter().filter_map(Proposal::rename));
                return Some(trial.tree);
            }
        }
        None
    }

    /// Applies all fixes that do no harm. Each of the others is refused, for what it would cause
    /// itself. `None` if there are none.
    ///
    /// All of them are tried at once. If that does harm, those that it does not speak against come
    /// first, then a half of each set of suspects, then the other halves, each beside what is known to
    /// do none. So all sets are searched at once, and none costs more trials than the largest.
    fn harmless<'f>(&mut self, tree: &Tree, proposals: Vec<Proposal<'f>>) -> Option<Trial<'f>> {
        let mut harmless: Option<Trial<'f>> = None;
        let mut groups = vec![proposals];
        while let Some(mut group) = groups.pop() {
            if group.is_empty() {
                continue;
            }
            let known = harmless.iter().flat_map(|it| it.edits.made.iter().copied());
            let trial = Trial::of(tree, known.chain(group.iter().copied()));
            let harm = self.guard.harm(&trial, &self.renames);
            if harm.is_empty() {
                harmless = Some(trial);
                continue;
            }
            if let [proposal] = group[..] {
                self.refuse(tree, proposal, &harm[0]);
                continue;
            }
            let blame = Blame::of(tree, &group, &trial, &harm);
            let count = group.len();
            group = self.refuse_guilty(tree, group, &blame);
            if group.len() < count {
                groups.push(group);
                continue;
            }
            let [cleared, first, second] = self.divide(tree, group, &blame);
            groups.extend([second, first, cleared]);
        }
        harmless
    }

    /// The fixes of findings that are asked for, and not refused.
    fn proposals<'f>(
        &mut self,
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
            fix.edits
                .iter()
                .all(|it| it.location.place().is_some())
                .then_some(Proposal { finding, fix })
        });
        let all: Vec<Proposal<'f>> = first.collect();
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
            self.refuse_one(tree, proposal, why);
        }
        proposals
    }

    /// Takes out the renames of what strings may name, as routes and resource patterns do: nothing
    /// would follow there.
    fn keep_quoted_names(&mut self, tree: &Tree, proposals: &mut Vec<Proposal<'_>>) {
        let quoted = quoted_words(tree);
        let is_quoted =
            |it: &mut Proposal<'_>| it.simple_name().is_some_and(|it| quoted.contains(it));
        let refused: Vec<Proposal<'_>> = proposals.extract_if(.., is_quoted).collect();
        for proposal in refused {
            let name = proposal.simple_name().unwrap_or_default();
            self.refuse_one(tree, proposal, may_be_named(name));
        }
    }

    /// Takes out the fixes that are known to do harm.
    fn refuse_guilty<'f>(
        &mut self,
        tree: &Tree,
        group: Vec<Proposal<'f>>,
        blame: &Blame<'_>,
    ) -> Vec<Proposal<'f>> {
        let mut kept = Vec::new();
        for (proposal, harm) in group.into_iter().zip(&blame.guilty) {
            match harm {
                Some(harm) => self.refuse(tree, proposal, harm),
                None => kept.push(proposal),
            }
        }
        kept
    }

    /// Those of a group that harm does not speak against, and two halves of the others. Whoever is
    /// the only suspect for a harm is refused.
    fn divide<'f>(
        &mut self,
        tree: &Tree,
        mut group: Vec<Proposal<'f>>,
        blame: &Blame<'_>,
    ) -> [Vec<Proposal<'f>>; 3] {
        if blame.suspects.is_empty() {
            let second = group.split_off(group.len() / 2);
            return [Vec::new(), group, second];
        }
        let (mut first, mut second) = (Vec::new(), Vec::new());
        let mut is_suspected = vec![false; group.len()];
        for (suspects, harm) in &blame.suspects {
            suspects.iter().for_each(|it| is_suspected[*it] = true);
            if let [alone] = suspects[..] {
                self.refuse(tree, group[alone], harm);
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

    fn refuse(&mut self, tree: &Tree, proposal: Proposal<'_>, harm: &Finding) {
        self.refuse_one(tree, proposal, would_cause(harm));
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
}

/// Why a fix that does this harm is refused.
fn would_cause(harm: &Finding) -> String {
    format!("it would cause `{}`: {}", harm.rule, harm.message)
}

/// Why a rename is refused.
fn may_be_named(name: &str) -> String {
    format!("a string may name `{name}`")
}

/// A tree with fixes applied.
struct Trial<'f> {
    edits: Edits<'f>,
    texts: BTreeMap<FileId, Vec<u8>>,
    tree: Tree,
}

impl<'f> Trial<'f> {
    fn of(tree: &Tree, proposals: impl Iterator<Item = Proposal<'f>>) -> Trial<'f> {
        let edits = Edits::of(proposals);
        let texts = edits.texts(tree);
        let tree = relinked(tree, &texts);
        Trial { edits, texts, tree }
    }
}

/// Which fixes of a group the harm that they did speaks against.
struct Blame<'h> {
    /// Those that did it for sure, with the harm: a change of their own element.
    guilty: Vec<Option<&'h Finding>>,
    /// Those of which one may have done it, with a harm. No fix is in two of these sets.
    suspects: Vec<(Vec<usize>, &'h Finding)>,
}

impl<'h> Blame<'h> {
    fn of(
        tree: &Tree,
        group: &[Proposal<'_>],
        trial: &Trial<'_>,
        harm: &'h [Finding],
    ) -> Blame<'h> {
        let suspects = Suspects::of(tree, group);
        let mut guilty = vec![None; group.len()];
        let mut sets = UnionFind::<usize>::new(group.len());
        // By a fix that it speaks against.
        let mut harms: BTreeMap<usize, &Finding> = BTreeMap::new();
        let mut suspected = BTreeSet::new();
        let mut seen: FxHashSet<Blamed<'_>> = FxHashSet::default();
        for harm in harm {
            // Whoever is blamed once need not be blamed again.
            let (whom, found) = suspects.of_harm(&trial.tree, harm);
            if !seen.insert(whom) {
                continue;
            }
            let found: Vec<usize> = found.collect();
            let Some(&first) = found.first() else { continue };
            harms.entry(first).or_insert(harm);
            for &at in &found {
                sets.union(first, at);
            }
            if found.len() == 1 && harm.change.is_some() && matches!(whom, Blamed::Own(_)) {
                guilty[first] = Some(harm);
            }
            suspected.extend(found);
        }
        let mut suspects: BTreeMap<usize, (Vec<usize>, &Finding)> = BTreeMap::new();
        for (&at, &harm) in &harms {
            suspects.entry(sets.find(at)).or_insert_with(|| (Vec::new(), harm));
        }
        for at in suspected {
            if let Some((members, _)) = suspects.get_mut(&sets.find(at)) {
                members.push(at);
            }
        }
        Blame { guilty, suspects: suspects.into_values().collect() }
    }
}

/// Which fixes can be to blame for a finding, found without a look at each of them.
struct Suspects<'a> {
    /// By the element that a fix is for. A value of an enum is found as its sibling, as its full name
    /// has it, and inside of it.
    by_element: BTreeMap<Cow<'a, str>, Vec<usize>>,
    /// By the name that a fix gives to its element.
    by_new_name: FxHashMap<String, Vec<usize>>,
    by_file: FxHashMap<&'a str, Vec<usize>>,
}

/// What the fixes that are to blame for a finding have in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Blamed<'a> {
    /// This element.
    Own(&'a str),
    /// An element around this one or inside of it.
    Near(&'a str),
    /// This file.
    File(&'a str),
    Nothing,
}

impl<'a> Suspects<'a> {
    fn of(tree: &'a Tree, proposals: &[Proposal<'a>]) -> Suspects<'a> {
        let mut suspects = Suspects {
            by_element: BTreeMap::new(),
            by_new_name: FxHashMap::default(),
            by_file: FxHashMap::default(),
        };
        let mut members = Members::default();
        for (at, proposal) in proposals.iter().enumerate() {
            let name = &proposal.finding.element;
            if let Some(member) = members.of(tree, proposal.finding) {
                suspects.by_element.entry(Cow::Owned(member.to_owned())).or_default().push(at);
            }
            suspects.by_element.entry(Cow::Borrowed(name)).or_default().push(at);
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

    /// The fixes to suspect for a finding in the tree that they made: those of its own element, or
    /// else of elements around it or inside of it, or else of its file.
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
            return (Blamed::Own(name), Box::new(own));
        }
        let inner = format!("{name}.");
        let inside = self.by_element.range::<str, _>((Bound::Included(&*inner), Bound::Unbounded));
        let inside = inside.take_while(move |(it, _)| it.starts_with(&inner));
        let inside = inside.flat_map(|(_, at)| at).copied();
        let around = name.match_indices('.').flat_map(move |(at, _)| of(&name[..at]));
        let mut near = inside.chain(around).peekable();
        if near.peek().is_some() {
            return (Blamed::Near(name), Box::new(near));
        }
        let path = harm.location.place().map(|it| next.file(it.file).path());
        match path.and_then(|path| Some((path, self.by_file.get(path)?))) {
            Some((path, found)) => (Blamed::File(path), Box::new(found.iter().copied())),
            None => (Blamed::Nothing, Box::new(std::iter::empty())),
        }
    }
}

/// What the values of enums are called as members of their enums, by their full names.
#[derive(Default)]
struct Members {
    /// Whose values are known.
    files: FxHashSet<FileId>,
    names: FxHashMap<String, String>,
}

impl Members {
    fn of(&mut self, tree: &Tree, finding: &Finding) -> Option<&str> {
        let file = finding.location.place()?.file;
        if self.files.insert(file) {
            for it in tree.file(file).all_enums() {
                let scope = it.full_name();
                let named = |it: EnumValue<'_>| (it.full_name(), format!("{scope}.{}", it.name()));
                self.names.extend(it.values().map(named));
            }
        }
        self.names.get(&finding.element).map(String::as_str)
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
struct Edits<'f> {
    by_file: BTreeMap<FileId, Vec<Edit>>,
    /// The fixes that they are of.
    made: Vec<Proposal<'f>>,
}

impl<'f> Edits<'f> {
    /// Leaves out fixes that edit what another one edits: they have their turn in a later round.
    fn of(proposals: impl Iterator<Item = Proposal<'f>>) -> Edits<'f> {
        let mut edits = Edits { by_file: BTreeMap::new(), made: Vec::new() };
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
            edits.made.push(proposal);
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
    /// What the linker refuses there: the rule, the file and the message.
    errors: Vec<((&'static str, Arc<str>), String)>,
}

/// The words of an error that do not depend on other errors: why a name was not found changes when
/// another file is imported.
fn said<'m>(rule: &str, message: &'m str) -> &'m str {
    match rule == ProblemKind::NameNotFound.id() {
        true => message.split('`').nth(1).unwrap_or(message),
        false => message,
    }
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
        let (before, by_file, errors) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        let mut guard = Guard { policy, options, tree, before, by_file, errors };
        for finding in guard.findings(tree) {
            *guard.before.entry(finding.fingerprint()).or_default() += 1;
            let key = rule_in_file(tree, &finding);
            if is_linker_error(&finding) {
                guard.errors.push((key.clone(), finding.message));
            }
            *guard.by_file.entry(key).or_default() += 1;
        }
        guard
    }

    /// The findings of a tree that the tree before any fix did not have. A finding that only has
    /// another name or other words since, such as one about an element that was renamed, is not
    /// new: its rule reports no more in its file than before. An error of the linker has to have the
    /// same words but for the names, because another one may be gone.
    fn harm(&self, trial: &Trial<'_>, renames: &Renames) -> Vec<Finding> {
        let tree = &trial.tree;
        let mut left = self.before.clone();
        let mut findings = self.findings(tree);
        let mut by_file: BTreeMap<(&'static str, Arc<str>), usize> = BTreeMap::new();
        for finding in &findings {
            *by_file.entry(rule_in_file(tree, finding)).or_default() += 1;
        }
        let mut names = renames.clone();
        names.extend(trial.edits.made.iter().filter_map(Proposal::rename));
        let words = |rule: &str, message: &str| said(rule, &in_names(&names, message)).to_owned();
        let known = self.errors.iter().map(|(key, message)| (key, words(key.0, message)));
        let known: BTreeSet<_> = known.collect();
        findings.retain(|it| {
            if let Some(count) = left.get_mut(&it.fingerprint()).filter(|count| **count > 0) {
                *count -= 1;
                return false;
            }
            let key = rule_in_file(tree, it);
            let has_more = by_file.get(&key) > self.by_file.get(&key);
            let is_known = || known.contains(&(&key, words(it.rule, &it.message)));
            (has_more || is_linker_error(it) && !is_known()) && !self.was_hidden(tree, it)
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

/// Whether a finding is an error of the language.
fn is_linker_error(finding: &Finding) -> bool {
    find_rule(finding.rule).is_some_and(|it| matches!(it.check, Check::Linker))
        && finding.rule != ProblemKind::ImportUnused.id()
}

/// A text with the names that elements have since.
fn in_names(renames: &Renames, text: &str) -> String {
    let is_word = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let length = rest.find(|it| !is_word(it)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(length);
        out.push_str(renames.get(word).map_or(word, String::as_str));
        let between = behind.find(is_word).unwrap_or(behind.len());
        out.push_str(&behind[..between]);
        rest = &behind[between..];
    }
    out
}

/// The fixes of `abide.accepted`. What accepts nothing in the tree that is left can go.
fn stale_lines(findings: &[Finding], request: FixRequest<'_>) -> Vec<Edit> {
    let wanted = findings.iter().filter(|it| (request.wants)(it));
    let fixes = wanted.flat_map(|it| &it.fixes).filter(|it| it.applied == Applied::Always);
    let edits = fixes.flat_map(|it| &it.edits);
    let of_accepted = edits.filter(|it| it.location.origin == Origin::Accepted);
    of_accepted.map(|it| Edit::replace(it.location.span, it.text.as_str())).collect()
}
