//! The engine: every rule over a tree, and what policy makes of the findings.

use std::borrow::Cow;
use std::collections::BTreeMap;

use abide_change::{Diff, Holder, Surface};
use abide_schema::{Element, File, FileId, Message, Part, Place, Problem, Tree};
use abide_syntax::Span;
use abide_upgrade::Generated;
use jiff::civil::Date;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::accepted::Accepted;
use crate::bump::{self, Records, Released};
use crate::finding::{Finding, Label, Location, Severity};
use crate::level::Bump;
use crate::lock::Ledger;
use crate::policy::Policy;
use crate::reuse;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};
use crate::rules::{self, DEPRECATED_TYPE, RULES, UPGRADE_RULES};
use crate::waiver::Waivers;

/// What a run knows besides the tree and the policy.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The day to judge on.
    pub as_of: Date,
    /// Which rules run.
    pub scope: Scope,
    /// The old tree, where there is one to compare with.
    pub baseline: Option<&'a Tree>,
    /// The old tree that the bump is counted from, where that is another one.
    pub bump_baseline: Option<&'a Tree>,
    /// Whether changes that are notes are reported, and not only counted.
    pub changes: bool,
    /// The surfaces that count; empty: every one.
    pub surfaces: &'a [Surface],
    /// Findings that are accepted.
    pub accepted: Option<&'a Accepted>,
    /// What is recorded of versions; `None` asks nothing of them.
    pub records: Option<Records<'a>>,
    /// Whether only a part of a tree is judged: then nobody can tell whether a
    /// waiver of `abide.toml` or a line of `abide.accepted` is stale.
    pub partial: bool,
}

impl Options<'_> {
    /// A tree judged by itself on a day.
    pub fn on(as_of: Date) -> Self {
        Options {
            as_of,
            scope: Scope::Everything,
            baseline: None,
            bump_baseline: None,
            changes: false,
            surfaces: &[],
            accepted: None,
            records: None,
            partial: false,
        }
    }
}

/// Which rules of the policy run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All that apply.
    Everything,
    /// Those about changes, with what the compiler refuses.
    Changes,
}

impl Scope {
    fn has(self, rule: &Rule) -> bool {
        match self {
            Scope::Everything => true,
            Scope::Changes => {
                matches!(rule.group, Group::Compatibility | Group::Policy)
                    || matches!(rule.check, Check::Linker)
            }
        }
    }
}

/// What a run found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The findings, in the order of paths, places and rules.
    pub findings: Vec<Finding>,
    /// How many files were judged.
    pub files: usize,
    /// How many packages were judged.
    pub packages: usize,
    /// How many findings are errors.
    pub errors: usize,
    /// How many findings are warnings.
    pub warnings: usize,
    /// How many findings are notes.
    pub notes: usize,
    /// How many findings a waiver took away. A break among them still counts for
    /// the bump.
    pub waived: usize,
    /// How many findings were accepted before.
    pub accepted: usize,
    /// The bump that the changes need, where there is a baseline: the highest of
    /// any package. A break is a major where it is refused; where a waiver, the
    /// policy or `abide.accepted` allows it, and in alphas and betas, a minor.
    pub required_bump: Option<Bump>,
    /// Whether it would be a major, but for a waiver or `abide.accepted`.
    pub waives_breaks: bool,
    /// What a waiver took away, with the severities that the policy gave it.
    pub spared: Vec<Finding>,
}

/// What keeps candidates from being made of these files: errors of the
/// language, and migrations that no compiler would take. Neither a waiver nor a
/// severity nor work in progress lets one pass.
pub fn hindrances(tree: &Tree, policy: &Policy, as_of: Date, made: &[Generated]) -> Report {
    let by_source: BTreeMap<FileId, &Generated> = made.iter().map(|it| (it.from, it)).collect();
    let holds = |outer: Span, inner: Span| outer.start <= inner.start && inner.end <= outer.end;
    let scope = Scope::Changes;
    let context = Context::new(tree, policy, as_of, None, scope);
    let rules = UPGRADE_RULES;
    let mut findings = linker_findings(tree, policy, scope);
    apply_severities(policy, as_of, &mut findings);
    findings.retain(|it| it.severity == Severity::Error);
    findings.extend(run(&context, rules));
    findings.retain(|finding| {
        let Some(place) = finding.location.place() else { return false };
        let Some(made) = by_source.get(&place.file) else { return false };
        // What is deprecated elsewhere does not go.
        finding.rule != DEPRECATED_TYPE.id || made.dangling.iter().any(|it| holds(place.span, *it))
    });
    for made in made {
        let file = tree.file(made.from);
        for &span in &made.dangling {
            let told = |it: &Finding| {
                let place = it.location.place();
                place.is_some_and(|it| it.file == file.id && holds(it.span, span))
            };
            if !findings.iter().any(told) {
                let location = Location::Tree(Place { file: file.id, span });
                let package = file.package().name();
                let message = "this type is deprecated, and the next version does not have it";
                findings.push(Finding::new(
                    DEPRECATED_TYPE.id,
                    location,
                    package,
                    package,
                    message,
                ));
            }
        }
    }
    sort(&context, &mut findings);
    findings.dedup();
    for finding in &mut findings {
        finding.severity = Severity::Error;
        finding.severity_reason = Some("it keeps a candidate from being made".to_owned());
    }
    Report { files: made.len(), errors: findings.len(), findings, ..Report::default() }
}

/// Judges a tree. The result depends on nothing but the arguments: not on
/// threads, not on the order in which the files were found.
pub fn check<'t>(tree: &'t Tree, policy: &'t Policy, options: Options<'t>) -> Report {
    // A fingerprint may be that of a change, and that of any other finding.
    let is_whole = options.baseline.is_some() && options.scope == Scope::Everything;
    judge_tree(tree, policy, options, is_whole)
}

/// The same, where `fingerprints` tells whether a waiver by fingerprint alone
/// is stale if it matches nothing.
fn judge_tree<'t>(
    tree: &'t Tree,
    policy: &'t Policy,
    options: Options<'t>,
    fingerprints: bool,
) -> Report {
    let mut context = Context::new(tree, policy, options.as_of, options.baseline, options.scope);
    context.partial = options.partial;
    let rules: Vec<&'static Rule> =
        RULES.iter().copied().filter(|it| options.scope.has(it) && policy.runs(it)).collect();

    let mut findings = run(&context, &rules);
    findings.extend(linker_findings(tree, policy, options.scope));
    if let Some(records) = options.records {
        // A line that somebody took out of the lock still stands in that of the release.
        let [released, lock] = [records.released, records.lock].map(|lock| {
            let renames = bump::renames(&findings);
            lock.map(|lock| {
                renames.fold(Cow::Borrowed(lock), |mut lock, [package, was, is]| {
                    lock.to_mut().carry(package, was, is);
                    lock
                })
            })
        });
        let ledger = Ledger::of(released.as_deref(), lock.as_deref());
        let reused = reuse::findings(tree, &ledger, &findings);
        findings.extend(reused.into_iter().filter(|it| runs(policy, it)));
    }
    spare_work_in_progress(&context, &mut findings);
    narrow(options.surfaces, &mut findings);
    sort(&context, &mut findings);
    findings.dedup();

    let mut report = Report {
        files: tree.files().filter(|file| file.is_judged()).count(),
        packages: tree.packages().filter(|package| package.is_judged()).count(),
        ..Report::default()
    };
    let mut waivers = Waivers::of(&context);
    report.spared = waivers.take(&context, &mut findings);
    report.waived = report.spared.len();
    apply_severities(policy, options.as_of, &mut findings);
    apply_severities(policy, options.as_of, &mut report.spared);
    let since = options.bump_baseline.map(|old| (old, since_release(tree, policy, options, old)));
    let released = |tree, [changes, spared]: [_; 2]| Released { tree, changes, spared };
    let bump_from = match &since {
        Some((old, since)) => Some(released(*old, [&*since.findings, &*since.spared])),
        None => options.baseline.map(|old| released(old, [&*findings, &*report.spared])),
    };
    if let Some(released) = &bump_from {
        let are_all = options.surfaces.is_empty();
        let (bump, waives) = bump::required(tree, policy, options.accepted, released, are_all);
        (report.required_bump, report.waives_breaks) = (Some(bump), waives);
    }
    let asks_versions = options.scope == Scope::Everything
        && !options.partial
        && options.records.is_some_and(|it| it.exist(tree));
    if asks_versions {
        let early = findings.iter().filter(|it| it.rule == rules::EARLY_MAJOR.id);
        let early: Vec<Finding> = early.cloned().collect();
        let plan = bump::plan_since(tree, policy, options, bump_from, &early);
        let mut unrecorded = bump::findings(tree, &plan);
        unrecorded.retain(|it| runs(policy, it));
        report.waived += waivers.take(&context, &mut unrecorded).len();
        apply_severities(policy, options.as_of, &mut unrecorded);
        findings.extend(unrecorded);
    }
    let ran = |rule: &Rule| {
        options.scope.has(rule)
            && policy.runs(rule)
            && (options.baseline.is_some() || !rule.needs_baseline())
            && (asks_versions || rule.id != bump::RULE)
    };
    let mut about_waivers = waivers.findings(&context, &ran, fingerprints);
    apply_severities(policy, options.as_of, &mut about_waivers);
    findings.extend(about_waivers);
    if let Some((_, since)) = &since {
        findings.retain(|it| it.rule != "waiver-unused" || is_unused_in(since, it));
    }
    if !options.changes {
        findings.retain(|it| it.change.is_none() || it.severity > Severity::Note);
    }
    if options.partial {
        findings.retain(|finding| {
            finding.rule != "waiver-unused" || finding.location.place().is_some()
        });
    }
    if let Some(accepted) = options.accepted {
        let could_match = |rule: &str| !options.partial && Rule::find(rule).is_none_or(ran);
        report.accepted = accept(accepted, &mut findings, &could_match);
        apply_severities(policy, options.as_of, &mut findings);
    }
    sort(&context, &mut findings);

    let count = |severity| findings.iter().filter(|it| it.severity == severity).count();
    report.errors = count(Severity::Error);
    report.warnings = count(Severity::Warning);
    report.notes = count(Severity::Note);
    report.findings = findings;
    report
}

/// Runs every rule that is no problem of the linker. Files are judged in
/// parallel, each by every rule, so that its declarations are in the cache.
fn run<'t>(context: &Context<'t>, rules: &[&'static Rule]) -> Vec<Finding> {
    let whole_tree = || -> Vec<Finding> {
        let each = rules.par_iter().map(|rule| {
            let mut sink = Sink::of(rule);
            match rule.check {
                Check::Tree(check) => check(context, &mut sink),
                Check::Baseline(check) => {
                    if let Some(old) = context.baseline {
                        check(context, old, &mut sink);
                    }
                }
                Check::Package(check) => {
                    for package in context.tree.packages().filter(|it| it.is_judged()) {
                        check(context, package, &mut sink);
                    }
                }
                Check::Linker
                | Check::Engine
                | Check::Change(_)
                | Check::File(_)
                | Check::Element(_)
                | Check::Annotated(_) => {}
            }
            sink.findings
        });
        let mut findings: Vec<Finding> = each.flatten().collect();
        if let Some(diff) = context.diff() {
            findings.extend(changes(context, diff, rules, false));
        }
        findings
    };
    let file_rules: Vec<&'static Rule> = rules
        .iter()
        .copied()
        .filter(|rule| {
            matches!(rule.check, Check::File(_) | Check::Element(_) | Check::Annotated(_))
        })
        .collect();
    let files: Vec<File<'t>> = context.tree.files().filter(|file| file.is_judged()).collect();
    let by_file = || -> Vec<Finding> {
        files
            .par_iter()
            .with_min_len(16)
            .flat_map_iter(|&file| judge(context, &file_rules, file))
            .collect()
    };
    let (mut findings, more) = rayon::join(whole_tree, by_file);
    findings.extend(more);
    findings
}

/// Every change, each offered to every rule that subscribes to its kind. Of one
/// kind after the other, for large trees have many of each. Of elements those
/// that are settled, which find nothing, or those that are not.
fn changes<'t>(
    context: &Context<'t>,
    diff: &Diff<'t>,
    rules: &[&'static Rule],
    settled: bool,
) -> Vec<Finding> {
    let subscribed: Vec<(&'static Rule, ChangeCheck)> = rules
        .iter()
        .filter_map(|rule| match rule.check {
            Check::Change(check) => Some((*rule, check)),
            _ => None,
        })
        .collect();
    let mut findings = Vec::new();
    macro_rules! offer {
        ($changes:expr, $($kind:ident as $view:expr),*) => {{
            let found = $changes.into_par_iter().with_min_len(64).flat_map_iter(|change| {
                let mut findings = Vec::new();
                for (rule, check) in &subscribed {
                    let mut sink = Sink::of(rule);
                    match check {
                        $(ChangeCheck::$kind(check) => {
                            check(context, diff, change.map($view), &mut sink);
                        })*
                        _ => {}
                    }
                    findings.extend(sink.findings);
                }
                findings
            });
            findings.par_extend(found);
        }};
    }
    macro_rules! offer_elements {
        ($kind:ident, $changes:expr) => {
            offer!(
                $changes,
                $kind as std::convert::identity,
                Element as Element::$kind,
                Holder as |it| Holder::Element(Element::$kind(it))
            )
        };
    }
    if !settled {
        offer!(diff.package_changes(), Package as std::convert::identity);
        offer!(diff.file_changes(), File as std::convert::identity, Holder as Holder::File);
    }
    offer_elements!(Message, diff.messages_that_are(settled));
    offer_elements!(Field, diff.fields_that_are(settled));
    offer_elements!(Oneof, diff.oneofs_that_are(settled));
    offer_elements!(Enum, diff.enums_that_are(settled));
    offer_elements!(EnumValue, diff.values_that_are(settled));
    offer_elements!(Service, diff.services_that_are(settled));
    offer_elements!(Method, diff.methods_that_are(settled));
    told_once(&mut findings);
    findings
}

/// Gathers what was found about a field in whose place another stands: that is
/// one defect, however many facts of the two differ.
fn told_once(findings: &mut Vec<Finding>) {
    let (mut whole, parts): (Vec<Finding>, Vec<Finding>) =
        std::mem::take(findings).into_iter().partition(|it| it.rule == rules::REPLACED.id);
    let at: FxHashMap<String, usize> =
        whole.iter().enumerate().map(|(at, it)| (it.element.clone(), at)).collect();
    for part in parts {
        // What is no comparison of the two is told on its own.
        let compares = part.change.as_ref().is_some_and(|it| it.old.is_some() && it.gone.is_none());
        match at.get(&part.element).filter(|_| compares) {
            Some(&at) => whole[at].absorb(part),
            None => findings.push(part),
        }
    }
    findings.append(&mut whole);
}

/// What remains of each finding on these surfaces; without a surface there, a
/// change that breaks somebody is no finding.
fn narrow(surfaces: &[Surface], findings: &mut Vec<Finding>) {
    if surfaces.is_empty() {
        return;
    }
    findings.retain_mut(|finding| {
        let Some(change) = &mut finding.change else { return true };
        let before = change.effects;
        change.effects = before.on(surfaces);
        change.symbols.retain(|it| surfaces.contains(&it.surface));
        change.witness = change.witness.take().filter(|it| surfaces.contains(&it.surface));
        before.is_empty() || !change.effects.is_empty()
    });
}

/// Whether the rule of a finding is not switched off everywhere.
fn runs(policy: &Policy, finding: &Finding) -> bool {
    Rule::find(finding.rule).is_none_or(|rule| policy.runs(rule))
}

/// What changed since the last release, for the bump.
pub(crate) fn since_release<'t>(
    tree: &'t Tree,
    policy: &'t Policy,
    options: Options<'t>,
    released: &'t Tree,
) -> Report {
    let since = Options {
        scope: Scope::Changes,
        baseline: Some(released),
        bump_baseline: None,
        changes: true,
        accepted: None,
        ..options
    };
    judge_tree(tree, policy, since, true)
}

/// The majors that rise above those of the last release at a time when none may,
/// but for those that are waived or accepted.
pub(crate) fn early_majors(
    tree: &Tree,
    policy: &Policy,
    options: Options<'_>,
    released: &Tree,
) -> Vec<Finding> {
    let context = Context::new(tree, policy, options.as_of, Some(released), Scope::Everything);
    let rules = RULES.iter().copied();
    let rules: Vec<&'static Rule> =
        rules.filter(|it| it.id == rules::EARLY_MAJOR.id && policy.runs(it)).collect();
    let mut findings = run(&context, &rules);
    Waivers::of(&context).take(&context, &mut findings);
    findings.retain(|it| !options.accepted.is_some_and(|accepted| accepted.holds(it)));
    apply_severities(policy, options.as_of, &mut findings);
    findings
}

/// Whether a waiver that matched nothing matched nothing since the last
/// release either, if it is for changes.
fn is_unused_in(since: &Report, unused: &Finding) -> bool {
    let rule = unused.facts.first().and_then(|what| Rule::find(what));
    rule.is_some_and(|rule| !rule.needs_baseline())
        || since
            .findings
            .iter()
            .any(|it| (it.rule, &it.location) == (unused.rule, &unused.location))
}

fn judge<'t>(context: &Context<'t>, rules: &[&'static Rule], file: File<'t>) -> Vec<Finding> {
    let mut sink = Sink::default();
    let elements: Vec<Element<'t>> = file.elements().collect();
    let annotated: Vec<Element<'t>> =
        elements.iter().copied().filter(|it| it.options().is_some()).collect();
    for rule in rules {
        (sink.rule, sink.aliases) = (rule.id, rule.aliases);
        match rule.check {
            Check::File(check) => check(context, file, &mut sink),
            Check::Element(check) => {
                for &element in &elements {
                    check(context, element, &mut sink);
                }
            }
            Check::Annotated(check) => {
                for &element in &annotated {
                    check(context, element, &mut sink);
                }
            }
            Check::Linker
            | Check::Engine
            | Check::Tree(_)
            | Check::Package(_)
            | Check::Baseline(_)
            | Check::Change(_) => {}
        }
    }
    sink.findings
}

/// Problems of judged files, and those of imported files: as they are where
/// they keep a judged file from linking, as notes elsewhere.
fn linker_findings(tree: &Tree, policy: &Policy, scope: Scope) -> Vec<Finding> {
    let mut needed: Option<Vec<bool>> = None;
    let mut findings = Vec::new();
    // What a compiler only warns of says nothing about a change.
    let told = |it: &&Problem| scope == Scope::Everything || it.kind.is_error();
    for problem in tree.problems().iter().filter(told) {
        let file = tree.file(problem.place.file);
        let mut finding = linker_finding(file, problem);
        if !file.is_judged() {
            if !problem.kind.is_error() {
                continue;
            }
            let needed = needed.get_or_insert_with(|| needed_by_judged(tree));
            if !needed[file.id.0 as usize] {
                finding.severity = Severity::Note;
                finding.severity_reason = Some("no judged file needs this file".to_owned());
            }
        }
        let id = finding.rule;
        debug_assert!(Rule::find(id).is_some(), "a test compares kinds and rules");
        if runs(policy, &finding) {
            findings.push(finding);
        }
    }
    findings
}

fn linker_finding(file: File<'_>, problem: &Problem) -> Finding {
    let element = problem.element.clone().unwrap_or_else(|| file.full_name());
    let package = file.package().name();
    let location = Location::Tree(problem.place);
    let mut finding =
        Finding::new(problem.kind.id(), location, package, element, problem.message.clone());
    let labels = problem.labels.iter();
    finding.labels =
        labels.map(|(place, message)| Label { place: *place, message: message.clone() }).collect();
    finding.help = problem.help.clone();
    finding.facts = vec![problem.message.clone()];
    finding.aliases = Rule::find(finding.rule).map_or_else(Vec::new, |it| it.aliases.to_vec());
    finding
}

/// Which files judged files reach by imports, themselves included.
fn needed_by_judged(tree: &Tree) -> Vec<bool> {
    let mut needed = vec![false; tree.files().len()];
    let mut open: Vec<FileId> =
        tree.files().filter(|file| file.is_judged()).map(|file| file.id).collect();
    while let Some(id) = open.pop() {
        if !std::mem::replace(&mut needed[id.0 as usize], true) {
            open.extend(tree.file(id).imports().filter_map(|it| it.file).map(|file| file.id));
        }
    }
    needed
}

/// Drops findings of rules that spare work in progress, where it is. A change
/// of what was work in progress stays, as a note.
fn spare_work_in_progress(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let spares = |finding: &Finding| {
        Rule::find(finding.rule).is_some_and(|rule| rule.spares_work_in_progress)
    };
    let (mut old_spans, mut spans) = (Unready::default(), Unready::default());
    findings.retain_mut(|finding| {
        if let (Some(change), Some(old)) = (&mut finding.change, context.baseline) {
            let before = change.old.or_else(|| {
                let breaks = change.effects.breaks_backward();
                breaks.then(|| holder_before(context, finding.location.place()?)).flatten()
            });
            if before.is_some_and(|place| old_spans.contains(old, place)) {
                finding.severity = Severity::Note;
                finding.severity_reason = Some("it was work in progress".to_owned());
                change.bump = change.bump.min(Bump::Minor);
            }
            return true;
        }
        match finding.location.place() {
            Some(place) if spares(finding) => !spans.contains(context.tree, place),
            _ => true,
        }
    });
}

/// Where the message was that something new is added to.
fn holder_before(context: &Context<'_>, added: Place) -> Option<Place> {
    let holds = |message: &Message<'_>| {
        let Place { span, .. } = Element::Message(*message).place(Part::Whole);
        span.start <= added.span.start && added.span.end <= span.end
    };
    // Messages stand behind those that enclose them.
    let holder = context.tree.file(added.file).all_messages().rev().find(holds)?;
    let before = context.diff()?.old_message(holder)?;
    Some(Element::Message(before).place(Part::Whole))
}

/// Where work in progress stands, by file; found when first asked for.
#[derive(Default)]
struct Unready(FxHashMap<FileId, Vec<Span>>);

impl Unready {
    /// Whether a place lies in a file or an element that is work in progress.
    fn contains(&mut self, tree: &Tree, place: Place) -> bool {
        let file = tree.file(place.file);
        let spans = self.0.entry(place.file).or_insert_with(|| {
            let unready = file.elements().filter(|it| it.work_in_progress().is_some());
            unready.map(|it| it.place(Part::Whole).span).collect()
        });
        file.work_in_progress().is_some()
            || spans.iter().any(|it| it.start <= place.span.start && place.span.end <= it.end)
    }
}

/// Takes away findings that are accepted, and notes lines that accept nothing although this run
/// could have matched them.
fn accept(
    accepted: &Accepted,
    findings: &mut Vec<Finding>,
    could_match: &dyn Fn(&str) -> bool,
) -> usize {
    let lines = accepted.lines();
    let mut used = vec![false; lines.len()];
    let before = findings.len();
    findings.retain(|finding| {
        // Rules of the policy watch over the bookkeeping itself.
        let fingerprint = finding.fingerprint();
        let mut found = false;
        for (line, used) in lines.iter().zip(&mut used) {
            if line.rule == finding.rule && line.fingerprint == fingerprint {
                *used = true;
                found = true;
            }
        }
        !found
    });
    let count = before - findings.len();
    let stale = lines.iter().zip(used).filter(|(line, used)| !used && could_match(&line.rule));
    for (line, _) in stale {
        let message = format!("nothing is left to accept of `{}` in `{}`", line.rule, line.element);
        let location = Location::Accepted(line.span);
        let mut finding = Finding::new("accepted-stale", location, "", &line.element, message);
        finding.severity = Severity::Note;
        finding.help("delete the line, or run `abide check --accept`").fact(&line.fingerprint);
        findings.push(finding);
    }
    count
}

/// Gives every finding the severity that policy wants, and every change its
/// bump; drops findings that are off.
fn apply_severities(policy: &Policy, as_of: Date, findings: &mut Vec<Finding>) {
    findings.retain_mut(|finding| {
        demote(policy, as_of, finding);
        let Some(rule) = Rule::find(finding.rule) else { return true };
        let change = finding.change.as_deref();
        let (severity, reason) = policy.severity(rule, &finding.package, change);
        let Some(severity) = severity else { return false };
        // A finding that was made a note on the way stays one.
        if finding.severity_reason.is_none() {
            finding.severity = severity;
            finding.severity_reason = reason;
            if let Some(change) = &mut finding.change {
                if policy.is_exempt(&finding.package) {
                    change.bump = change.bump.min(Bump::Minor);
                } else if change.effects.breaks_backward() {
                    change.bump = Bump::Major;
                }
            }
        }
        true
    });
}

/// Makes a change a note that the policy allows or does not ask for.
fn demote(policy: &Policy, as_of: Date, finding: &mut Finding) {
    let selected = policy.breaking.selects(finding);
    let Some(change) = &mut finding.change else { return };
    if finding.severity_reason.is_some() {
        return;
    }
    let reason = match &change.gone {
        Some(gone) if policy.deprecation.allows(gone, &policy.calendar, as_of) => {
            change.bump = change.bump.min(Bump::Minor);
            "`[deprecation] removal` allows what was deprecated to go"
        }
        _ if !selected => {
            "`[breaking] aliases` names none of the rules that other tools have for it"
        }
        _ => return,
    };
    finding.severity = Severity::Note;
    finding.severity_reason = Some(reason.to_owned());
}

/// Orders findings by path, place, rule and what else tells them apart.
/// Findings outside of the tree come last.
fn sort(context: &Context<'_>, findings: &mut [Finding]) {
    findings.sort_by(|a, b| {
        let path = |finding: &Finding| match (&finding.location, context.baseline) {
            (Location::Tree(place), _) => {
                Some((&*context.tree.file(place.file).decl().display, *place))
            }
            (Location::Old(place), Some(old)) => {
                Some((&*old.file(place.file).decl().display, *place))
            }
            _ => None,
        };
        let (at_a, at_b) = (path(a), path(b));
        // `None` stands before `Some`, but the tree shall come first.
        at_b.is_some()
            .cmp(&at_a.is_some())
            .then_with(|| at_a.cmp(&at_b))
            .then_with(|| a.location.cmp(&b.location))
            .then_with(|| a.rule.cmp(b.rule))
            .then_with(|| a.element.cmp(&b.element))
            .then_with(|| a.facts.cmp(&b.facts))
            .then_with(|| a.message.cmp(&b.message))
    });
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use abide_schema::{FileDecl, SourceFile, Tree};
    use jiff::civil::date;

    use super::{Scope, changes};
    use crate::config::Config;
    use crate::protos::protos;
    use crate::rule::Context;
    use crate::rules::RULES;

    fn file(path: &str, text: &str, imported: bool) -> Arc<FileDecl> {
        let (path, text): (Arc<str>, _) = (path.into(), text.as_bytes().into());
        let display = Arc::clone(&path);
        Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported, text }))
    }

    /// The examples on the pages of the rules.
    fn examples() -> Vec<String> {
        let mut examples = Vec::new();
        for rule in RULES {
            for block in rule.page.split("\n```").filter(|it| it.starts_with("proto")) {
                let text = block.split_once('\n').map_or("", |(_, text)| text);
                examples.push(format!("{text}\n"));
            }
        }
        examples
    }

    /// What examples have too little of.
    const SHAPES: &str = r#"
syntax = "proto3";
package shapes.v1;
import "buf/validate/validate.proto";
message User {
  string name = 1 [(buf.validate.field).string.max_len = 9];
  map<string, string> labels = 2;
  map<int32, string> titles = 3;
  State state = 4 [(buf.validate.field).enum.defined_only = true];
  oneof kind {
    string a = 5;
    GetRequest b = 6;
  }
}
message GetRequest {
  string name = 1;
}
enum State {
  STATE_UNSPECIFIED = 0;
  STATE_ON = 1;
}
service Users {
  rpc Get(GetRequest) returns (User);
  rpc Put(User) returns (User);
  rpc Watch(User) returns (stream GetRequest);
}
"#;

    fn imports() -> Vec<(String, String)> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folders = ["../../testdata/imports", "../../api"];
        folders.iter().flat_map(|it| protos(&root.join(it))).collect()
    }

    /// A few edits of lines and words, most of which still are protobuf.
    fn edited(text: &str, others: &[String], random: &mut fastrand::Rng) -> String {
        const WORDS: &[&[&str]] = &[
            &["optional ", "repeated ", "required ", ""],
            &["string ", "bytes ", "int32 ", "sint64 ", "double "],
            &["true", "false"],
            &["proto2", "proto3"],
            &[" = 1", " = 2", " = 3", " = 7"],
            &["(stream ", "("],
            &["(User)", "(GetRequest)", "(Order)"],
            &["map<string, string>", "map<string, bytes>", "map<int32, string>"],
            &["deprecated", "debug_redact"],
            &["max_len", "min_len"],
        ];
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for _ in 0..random.usize(1..4) {
            if lines.is_empty() {
                break;
            }
            let (at, to) = (random.usize(..lines.len()), random.usize(..lines.len()));
            match random.u8(..9) {
                0 => drop(lines.remove(at)),
                1 => lines.swap(at, to),
                2 => lines.insert(at, lines[to].clone()),
                3 => {
                    let other: Vec<&str> = others[random.usize(..others.len())].lines().collect();
                    if !other.is_empty() {
                        lines[at] = other[random.usize(..other.len())].to_owned();
                    }
                }
                4 => lines[at] = lines[at].replacen(" = ", "_new = ", 1),
                5 if lines[at].contains(" = ") => {
                    lines[at] = format!("oneof o {{ {} }}", lines[at])
                }
                _ => {
                    let words = WORDS[random.usize(..WORDS.len())];
                    let from = |line: &str| words.iter().find(|it| line.contains(**it)).copied();
                    let having = (0..lines.len()).filter(|at| from(&lines[*at]).is_some());
                    let having: Vec<usize> = having.collect();
                    if !having.is_empty() {
                        let line = &mut lines[having[random.usize(..having.len())]];
                        let from = from(line).unwrap_or_default();
                        *line = line.replacen(from, words[random.usize(..words.len())], 1);
                    }
                }
            }
        }
        lines.join("\n") + "\n"
    }

    /// What is left out is what no rule would say anything about, whatever was
    /// edited: the file, the options that it uses, or what it is compared with.
    #[test]
    fn rules_say_nothing_of_what_is_settled() {
        let policy = Config::parse("", None).expect("it is empty").policy;
        let (examples, imports) = (examples(), imports());
        let parsed: Vec<_> = imports.iter().map(|(path, text)| file(path, text, true)).collect();
        let mut random = fastrand::Rng::with_seed(5);
        let mut settled = 0;
        for _ in 0..1000 {
            let texts = (0..2).map(|_| examples[random.usize(..examples.len())].clone());
            let old: Vec<String> = texts.chain([SHAPES.to_owned()]).collect();
            let mut side = |edits: bool| {
                let mut files = parsed.clone();
                if edits && random.u8(..4) == 0 {
                    let at = random.usize(..imports.len());
                    let (path, text) = &imports[at];
                    files[at] = file(path, &edited(text, &examples, &mut random), true);
                }
                for (at, text) in old.iter().enumerate() {
                    let edits = edits && random.u8(..3) > 0;
                    let text = match edits {
                        true => edited(text, &examples, &mut random),
                        false => format!("{text} message OfOneSide {{}}\n"),
                    };
                    files.push(file(&format!("{at}.proto"), &text, false));
                }
                Tree::link(files)
            };
            let (old, new) = (side(false), side(true));
            let scope = Scope::Changes;
            let context = Context::new(&new, &policy, date(2026, 1, 15), Some(&old), scope);
            let diff = context.diff().expect("there is a baseline");
            settled += diff.fields_that_are(true).len();
            let found = changes(&context, diff, RULES, true);
            assert!(found.is_empty(), "{found:#?}");
        }
        assert!(settled > 400, "{settled} fields are settled");
    }
}
