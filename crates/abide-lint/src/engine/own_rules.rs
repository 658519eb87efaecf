//! Runs the rules that `abide.toml` declares.
//!
//! Every one has a budget of steps, which do not depend on the machine. A rule that takes more
//! reports nothing but that: what is left of its findings would depend on the order of threads.

use std::sync::atomic::{AtomicUsize, Ordering};

use abide_change::{Change, Comparison};
use abide_schema::{Element, File, Package, Part};
use rayon::prelude::*;

use crate::finding::{Bump, Finding, Location};
use crate::own_rules::{FactSubject, FactTree, Failure, OwnRule, SubjectKind, Verdict, is_written};
use crate::rule::{Check, Context, Rule, Sink};
use crate::rules::OWN_RULE_FAILED;
use crate::wording::pluralize;

/// The most steps of one rule in one run.
const MAX_STEPS: usize = 200_000_000;
/// The most steps of all of them: each has an equal part, at most `MAX_STEPS`.
const MAX_STEPS_OF_ALL: usize = 2_000_000_000;

/// A rule in a run.
struct OwnRun {
    rule: &'static Rule,
    own: &'static OwnRule,
    /// The steps that it may still take.
    left: AtomicUsize,
}

/// What a rule said somewhere.
enum Said {
    Finding(Box<Finding>),
    Failure(Location, String, Failure),
}

/// Runs those of the rules that a configuration declares.
pub(super) fn run_own_rules(context: &Context<'_>, rules: &[&'static Rule]) -> Vec<Finding> {
    let count = rules.iter().filter(|it| matches!(it.check, Check::Own(_))).count();
    if count == 0 {
        return Vec::new();
    }
    let budget = MAX_STEPS.min(MAX_STEPS_OF_ALL / count);
    let run = |rule: &&'static Rule| match rule.check {
        Check::Own(own) => Some(OwnRun { rule, own, left: AtomicUsize::new(budget) }),
        _ => None,
    };
    let runs: Vec<OwnRun> = rules.iter().filter_map(run).collect();
    if runs.iter().any(|it| it.own.looks_everywhere()) {
        context.everywhere();
    }
    let facts = FactTree::new(context.tree);
    let (of_changes, of_tree): (Vec<&OwnRun>, Vec<&OwnRun>) =
        runs.iter().partition(|it| it.own.on.is_change);
    let mut said = judge_packages(context, &facts, &of_tree);
    said.extend(judge_files(context, &facts, &of_tree));
    if let (Some(diff), false) = (context.diff(), of_changes.is_empty()) {
        let old = FactTree::new(diff.old);
        for run in of_changes {
            said.extend(judge_changes(context, diff, [&old, &facts], run));
        }
    }
    collect_findings(&runs, said)
}

/// Sorts what was said by rule: the findings of each, or why it failed.
fn collect_findings(runs: &[OwnRun], said: Vec<(&'static str, Said)>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut failures = Vec::new();
    for run in runs.iter().filter(|it| it.is_exhausted()) {
        findings.push(report_exhausted(run));
    }
    for (id, said) in said {
        let run = runs.iter().find(|it| it.rule.id == id);
        let Some(run) = run.filter(|it| !it.is_exhausted()) else { continue };
        match said {
            Said::Finding(finding) => findings.push(*finding),
            Said::Failure(location, element, failure) => {
                failures.push((run, location, element, failure));
            }
        }
    }
    for run in runs {
        let mut of_rule = failures.iter().filter(|it| std::ptr::eq(it.0, run));
        if let Some((_, location, element, failure)) = of_rule.next() {
            findings.push(report_failure(run, *location, element, failure, of_rule.count()));
        }
    }
    findings
}

fn report_exhausted(run: &OwnRun) -> Finding {
    let mut sink = Sink::of(OWN_RULE_FAILED);
    let message = format!("`{}` takes too long for this tree", run.rule.id);
    sink.report(Location::config(run.own.when_span), "", run.rule.id, message)
        .why("a rule has a budget of steps; nothing that this one found is reported")
        .help("ask the cheap questions first, and look at fewer elements in `all` and `exists`");
    sink.into_findings().remove(0)
}

fn report_failure(
    run: &OwnRun,
    location: Location,
    element: &str,
    Failure(reason): &Failure,
    more: usize,
) -> Finding {
    let mut sink = Sink::of(OWN_RULE_FAILED);
    let others = match more {
        0 => String::new(),
        more => format!(", nor {}", pluralize(more, "other element")),
    };
    let message = format!("`{}` could not judge `{element}`{others}: {reason}", run.rule.id);
    sink.report(location, "", element, message)
        .label(Location::config(run.own.when_span), "the condition of the rule")
        .help("ask first if a value is there: `\"NAME\" in this.options`, `has(this.NAME)`")
        .fact(run.rule.id);
    sink.into_findings().remove(0)
}

impl OwnRun {
    fn is_exhausted(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }

    /// Takes steps; `left` stays 0 once there are too few.
    fn take(&self, steps: usize) {
        let take = |left: usize| Some(left.saturating_sub(steps));
        // It always gives a value.
        let _ = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
    }

    /// Judges one element of a tree.
    fn judge<'t>(
        &self,
        subject: FactSubject<'t>,
        facts: &'t FactTree<'t>,
        location: impl Fn() -> Location,
        package: &str,
    ) -> Option<(&'static str, Said)> {
        if self.is_exhausted() {
            return None;
        }
        let (verdict, steps) = self.own.judge(subject.into_value(facts), None);
        self.take(steps);
        let said = match verdict {
            Verdict::Silent => return None,
            Verdict::Failed(failure) => Said::Failure(location(), subject.full_name(), failure),
            Verdict::Reported { message, help } => {
                let mut sink = Sink::of(self.rule);
                let finding = sink.report(location(), package, subject.full_name(), message);
                finding.help = help;
                Said::Finding(Box::new(sink.into_findings().remove(0)))
            }
        };
        Some((self.rule.id, said))
    }
}

fn judge_packages<'t>(
    context: &Context<'t>,
    facts: &FactTree<'t>,
    runs: &[&OwnRun],
) -> Vec<(&'static str, Said)> {
    let runs: Vec<_> = runs.iter().filter(|it| it.own.on.kind == SubjectKind::Package).collect();
    let counts = |it: &Package<'_>| it.is_judged() && context.reports_in(*it);
    let mut said = Vec::new();
    for package in context.tree.packages().filter(counts) {
        let Some(file) = package.files().find(|it| it.is_judged()) else { continue };
        let place = || Location::tree(file.package_place());
        let subject = FactSubject::Package(package);
        said.extend(runs.iter().filter_map(|it| it.judge(subject, facts, place, package.name())));
    }
    said
}

fn judge_files<'t>(
    context: &Context<'t>,
    facts: &FactTree<'t>,
    runs: &[&OwnRun],
) -> Vec<(&'static str, Said)> {
    let of_files: Vec<&&OwnRun> =
        runs.iter().filter(|it| it.own.on.kind == SubjectKind::File).collect();
    let counts = |it: &File<'_>| it.is_judged() && context.reports_in(it.package());
    let files: Vec<File<'t>> = context.tree.files().filter(counts).collect();
    let judge = |&file: &File<'t>| {
        let package = file.package().name();
        let place = || Location::tree(file.package_place());
        let subject = FactSubject::File(file);
        let found = of_files.iter().filter_map(|it| it.judge(subject, facts, place, package));
        let mut said: Vec<_> = found.collect();
        for element in file.elements().filter(|it| is_written(*it)) {
            let kind = find_kind(element);
            let place = || Location::tree(element.place(Part::Name));
            let interested = runs.iter().filter(|it| it.own.on.kind == kind);
            said.extend(
                interested.filter_map(|it| it.judge(element.into(), facts, place, package)),
            );
        }
        said
    };
    files.par_iter().with_min_len(16).flat_map_iter(judge).collect()
}

fn find_kind(element: Element<'_>) -> SubjectKind {
    match element {
        Element::Message(_) => SubjectKind::Message,
        Element::Field(it) if it.is_extension() => SubjectKind::Extension,
        Element::Field(_) => SubjectKind::Field,
        Element::Oneof(_) => SubjectKind::Oneof,
        Element::Enum(_) => SubjectKind::Enum,
        Element::EnumValue(_) => SubjectKind::EnumValue,
        Element::Service(_) => SubjectKind::Service,
        Element::Method(_) => SubjectKind::Method,
    }
}

/// Judges every change of the kind that a rule is about. Comments count as well, so unchanged
/// pairs of changed files are offered, too.
fn judge_changes<'t>(
    context: &Context<'t>,
    diff: &Comparison<'t>,
    facts: [&FactTree<'t>; 2],
    run: &OwnRun,
) -> Vec<(&'static str, Said)> {
    macro_rules! judge_elements {
        ($kind:ident, $changes:ident) => {{
            let both = [false, true].into_iter().flat_map(|it| diff.$changes(it));
            let changes = both.map(|it| it.map(Element::$kind)).chain(diff.commented_elements());
            changes.filter_map(|it| judge_element_change(context, diff, facts, run, it)).collect()
        }};
    }
    match run.own.on.kind {
        SubjectKind::File => judge_file_changes(context, diff, facts, run),
        SubjectKind::Package => judge_package_changes(context, diff, facts, run),
        SubjectKind::Message => judge_elements!(Message, messages_that_are),
        SubjectKind::Field | SubjectKind::Extension => judge_elements!(Field, fields_that_are),
        SubjectKind::Oneof => judge_elements!(Oneof, oneofs_that_are),
        SubjectKind::Enum => judge_elements!(Enum, enums_that_are),
        SubjectKind::EnumValue => judge_elements!(EnumValue, values_that_are),
        SubjectKind::Service => judge_elements!(Service, services_that_are),
        SubjectKind::Method => judge_elements!(Method, methods_that_are),
    }
}

fn judge_file_changes<'t>(
    context: &Context<'t>,
    diff: &Comparison<'t>,
    facts: [&FactTree<'t>; 2],
    run: &OwnRun,
) -> Vec<(&'static str, Said)> {
    let judge = |change: Change<File<'t>>| {
        let file = change.new().or(change.old())?;
        let old = change.old().map(File::package_place);
        let new = change.new().map(File::package_place);
        let subject = change.map(FactSubject::File);
        run.judge_change(context, subject, facts, [old, new], file.package())
    };
    diff.file_changes().into_iter().filter_map(judge).collect()
}

fn judge_package_changes<'t>(
    context: &Context<'t>,
    diff: &Comparison<'t>,
    facts: [&FactTree<'t>; 2],
    run: &OwnRun,
) -> Vec<(&'static str, Said)> {
    let place = |package: Package<'t>| Some(package.files().next()?.package_place());
    let judge = |change: Change<Package<'t>>| {
        let package = change.new().or(change.old())?;
        let places = [change.old().and_then(place), change.new().and_then(place)];
        let subject = change.map(FactSubject::Package);
        run.judge_change(context, subject, facts, places, package)
    };
    diff.package_changes().into_iter().filter_map(judge).collect()
}

fn judge_element_change<'t>(
    context: &Context<'t>,
    diff: &Comparison<'t>,
    facts: [&FactTree<'t>; 2],
    run: &OwnRun,
    change: Change<Element<'t>>,
) -> Option<(&'static str, Said)> {
    let named = change.new().or(change.old())?;
    if find_kind(named) != run.own.on.kind || !is_written(named) {
        return None;
    }
    let old = change.old().map(|it| it.place(Part::Name));
    let container = || diff.find_container(change.old()?);
    let new = change.new().map(|it| it.place(Part::Name)).or_else(container);
    let subject = change.map(FactSubject::from);
    run.judge_change(context, subject, facts, [old, new], named.package())
}

impl OwnRun {
    /// Judges a change. `places` are those of the old and of the new side.
    fn judge_change<'t>(
        &self,
        context: &Context<'t>,
        change: Change<FactSubject<'t>>,
        facts: [&FactTree<'t>; 2],
        places: [Option<abide_schema::Place>; 2],
        package: Package<'t>,
    ) -> Option<(&'static str, Said)> {
        use abide_validate::cel::CelValue::Null;
        if self.is_exhausted() || !context.reports_in(package) {
            return None;
        }
        let side = |subject: Option<FactSubject<'t>>, at: usize| {
            subject.map_or(Null, |it| it.into_value(facts[at]))
        };
        let (old, new) = (side(change.old(), 0), side(change.new(), 1));
        let this = if change.new().is_some() { new.clone() } else { old.clone() };
        let (verdict, steps) = self.own.judge(this, Some([old, new]));
        self.take(steps);
        let name = change.new().or(change.old())?.full_name();
        let [old_place, new_place] = places;
        let location = new_place.map(Location::tree).or(old_place.map(Location::old))?;
        let said = match verdict {
            Verdict::Silent => return None,
            Verdict::Failed(failure) => Said::Failure(location, name, failure),
            Verdict::Reported { message, help } => {
                let mut sink = Sink::of(self.rule);
                let finding = sink.change_at(location, old_place, package.name(), name, message);
                finding.help = help;
                if let Some(facts) = &mut finding.change {
                    // What it says is policy: the version that a change needs is not its matter.
                    facts.bump = Bump::None;
                }
                Said::Finding(Box::new(sink.into_findings().remove(0)))
            }
        };
        Some((self.rule.id, said))
    }
}
