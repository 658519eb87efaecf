//! A run: its stages, one after the other.

use std::collections::BTreeSet;

use abide_change::{ComparedTexts, Sides};
use abide_schema::{Package, Tree};

use super::accepted_findings::accept;
use super::annotation_advice::add_annotation_advice;
use super::candidate_findings::SourceFindings;
use super::changed_scope::ChangedScope;
use super::frozen_changes::check_frozen;
use super::imported_types::{check_imported_types, require_catching_up};
use super::last_release::LastRelease;
use super::linker_findings::check_linked;
use super::missing_imports::join_missing_imports;
use super::older_trees::{OlderReports, is_about_unused_waiver};
use super::order::sort;
use super::removals::add_removal_digests;
use super::repeated_roots::join_repeated_roots;
use super::severity::{apply_severities, is_rule_on, limit_to_surfaces};
use super::unknown_options::drop_unknown_options;
use super::walk::run_rules;
use super::work_in_progress::exempt_work_in_progress;
use crate::exceptions::{Waivers, describe_merged};
use crate::finding::{Bump, Finding, Group, Location, Severity};
use crate::inputs::{Options, RuleScope};
use crate::policy::Policy;
use crate::rule::{Check, Context, Report, Rule};
use crate::rules;
use crate::rules::{RULES, find_rule_of, rules_of};
use crate::versions::{ReleasedState, compute_required, number_reuse, plan_since, unrecorded};

/// Checks a tree. The result only depends on the arguments, not on threads or on
/// the order of the files.
pub fn check<'t>(tree: &'t Tree, policy: &'t Policy, options: Options<'t>) -> Report {
    // A fingerprint may belong to a change or to any other finding.
    let is_whole = options.baseline.is_some() && options.scope == RuleScope::Everything;
    let texts = ComparedTexts::default();
    let options = Options { texts: Some(&texts), ..options };
    let mut report = run_pipeline(tree, policy, options, is_whole);
    if let Some(usage) = options.usage {
        for finding in report.findings.iter_mut().chain(&mut report.exempted) {
            finding.users = usage.find_users(&finding.element);
        }
    }
    report
}

/// Checks a tree. `fingerprints` says whether a waiver with only a fingerprint
/// is stale if it matches nothing.
fn run_pipeline<'t>(
    tree: &'t Tree,
    policy: &'t Policy,
    options: Options<'t>,
    fingerprints: bool,
) -> Report {
    let is_incomplete = is_incomplete(tree, options);
    // What is missing may be in a file that does not parse.
    let options = Options { partial: options.partial || is_incomplete, ..options };
    let context = Context::new(tree, policy, options);
    let rules: Vec<&'static Rule> =
        rules_of(policy).filter(|it| options.scope.has(it) && policy.runs(it.defaults())).collect();

    let sides = options.baseline.map(|old| Sides::of(old, tree));
    let mut findings = run_on_sides(&context, &rules, options, sides.as_ref());
    add_removal_digests(&context, &mut findings);
    drop_unknown_options(tree, options.baseline, &mut findings);
    findings.extend(check_linked(tree, policy, options.scope));
    join_repeated_roots(tree, &mut findings);
    join_missing_imports(tree, &mut findings);
    if options.versions {
        let reused = number_reuse::check_reuse(tree, policy, options.records, &findings);
        findings.extend(reused.into_iter().filter(|it| is_rule_on(policy, it)));
    }
    if options.scope == RuleScope::Everything {
        let thawed = check_frozen(&context, &findings);
        findings.extend(thawed.into_iter().filter(|it| is_rule_on(policy, it)));
    }
    findings.extend(check_imported_types(&context, options));
    // They compare what this run compares; one without changes has none of them.
    findings.extend(options.plugins.into_iter().flatten().cloned());
    let trees = options.baseline.zip(options.bump_baseline);
    let mut release = trees.map(|(old, released)| LastRelease::of(old, released));
    exempt_work_in_progress(&context, release.as_mut(), &mut findings);
    if let Some(release) = &mut release {
        release.limit_deprecations(&context, &mut findings);
    }
    limit_to_surfaces(options.surfaces, &mut findings);
    sort(&context, &[], &mut findings);
    findings.dedup();

    let reached = ChangedScope::new(tree, options);
    let counts = |package: Package<'_>| reached.has_package(package.name());
    let files = tree.files().filter(|it| it.is_judged() && counts(it.package()));
    let packages = tree.packages().filter(|it| it.is_judged() && counts(*it));
    let mut report = Report {
        files: files.count(),
        packages: packages.count(),
        depends_on_everything: context.depends_on_everything(),
        own_rules: rules_of(policy).filter(|it| it.group == Group::Own).collect(),
        not_judged: tree.unknown_packages().map(str::to_owned).collect(),
        ..Report::default()
    };
    let sources = SourceFindings::of(&context, &findings);
    let mut waivers = Waivers::of(&context);
    report.exempted = waivers.take(&context, &mut findings);
    if let Some(sources) = &sources {
        sources.drop_repeated(&context, &mut findings);
    }
    apply_severities(&context, &mut findings);
    apply_severities(&context, &mut report.exempted);
    let since =
        options.bump_baseline.map(|old| (old, check_since_release(tree, policy, options, old)));
    let accepted = options.accepted;
    let released =
        |tree, [changes, spared]: [_; 2]| ReleasedState { tree, changes, spared, accepted };
    let bump_from = match &since {
        Some((old, since)) => Some(released(*old, [&*since.findings, &*since.exempted])),
        None => options.baseline.map(|old| released(old, [&*findings, &*report.exempted])),
    };
    if let Some(released) = bump_from.as_ref().filter(|_| options.counts_bump) {
        let are_all = options.surfaces.is_empty();
        let (bump, waives) = compute_required(tree, policy, released, are_all);
        let bump = bump.max(require_catching_up([released.changes, released.spared]));
        // Only the highest is certain, whatever else may have changed.
        let is_certain = !is_incomplete || bump == Bump::Major;
        (report.required_bump, report.waives_breaks) = (is_certain.then_some(bump), waives);
    }
    let asks_versions = options.scope == RuleScope::Everything
        && !options.partial
        && options.versions
        && options.records.exist(tree);
    if asks_versions {
        let blocking = findings.iter().filter(|it| blocks(it.rule));
        let blocking: Vec<Finding> = blocking.cloned().collect();
        let records = (options.records, options.as_of);
        let plan = plan_since(tree, policy, records, bump_from, &blocking);
        let (before, is_whole) = (options.baseline, reached.is_everything());
        let mut unrecorded =
            unrecorded::check_recorded(tree, before, is_whole, &plan, options.bump_command);
        unrecorded.retain(|it| is_rule_on(policy, it));
        let mut waived = waivers.take(&context, &mut unrecorded);
        apply_severities(&context, &mut unrecorded);
        apply_severities(&context, &mut waived);
        report.exempted.extend(waived);
        findings.extend(unrecorded);
    }
    let ran = |rule: &Rule| {
        options.scope.has(rule)
            && policy.runs(rule.defaults())
            && !matches!(rule.check, Check::Instance(_))
            && (options.plugins.is_some() || !matches!(rule.check, Check::Plugin))
            && (options.baseline.is_some() || !rule.needs_baseline())
            && (asks_versions || rule.id != rules::VERSION_NOT_BUMPED.id)
    };
    let mut about_waivers = waivers.report_defects(&context, &ran, fingerprints);
    apply_severities(&context, &mut about_waivers);
    let mut older = (!options.older.is_empty()).then(|| OlderReports::check(tree, policy, options));
    if let Some(older) = &older {
        about_waivers.retain(|it| {
            !is_about_unused_waiver(it)
                || older.are_without(|since| is_unused_in(policy, since, it))
        });
    }
    findings.extend(about_waivers);
    if let Some((_, since)) = &since {
        let since = since.findings.iter().map(|it| (it.rule, &it.location)).collect();
        let waivers = findings.extract_if(.., |it| {
            it.rule == rules::WAIVER_UNUSED.id && !is_unused_in(policy, &since, it)
        });
        let merged: Vec<Finding> = waivers.filter_map(describe_merged).collect();
        findings.extend(merged);
    }
    if !options.changes {
        findings.retain(|it| it.change.is_none() || it.severity > Severity::Note);
    }
    if options.partial {
        findings.retain(|finding| {
            finding.rule != rules::WAIVER_UNUSED.id
                || finding.location.place().is_some() && !is_incomplete
        });
    }
    findings.retain(|it| reached.has(it));
    report.exempted.retain(|it| reached.has(it));
    if let Some(older) = &mut older {
        older.add_to(&mut findings, &mut report.exempted);
    }
    sort(&context, options.older, &mut report.exempted);
    if let Some(accepted) = options.accepted {
        let is_whole = !options.partial && reached.is_everything();
        let could_match = |rule: &str| is_whole && find_rule_of(policy, rule).is_none_or(ran);
        let (taken, mut about_lines) = accept(accepted, &mut findings, &could_match);
        report.exempted.extend(taken);
        apply_severities(&context, &mut about_lines);
        findings.extend(about_lines);
    }
    if let Some(older) = &older {
        older.join(&mut findings);
        older.join(&mut report.exempted);
    }
    sort(&context, options.older, &mut findings);
    add_annotation_advice(tree, &mut findings);

    report.findings = findings;
    report.count();
    report
}

/// Returns true if a file of one of the trees does not parse.
fn is_incomplete(tree: &Tree, options: Options<'_>) -> bool {
    let trees = [Some(tree), options.baseline, options.bump_baseline];
    trees.into_iter().flatten().any(|it| it.unknown_packages().len() > 0)
}

/// Runs the rules: those about one tree on the whole tree, and those that compare it with an old
/// one on what both sides can know.
pub(super) fn run_on_sides<'s, 't: 's>(
    context: &Context<'t>,
    rules: &[&'static Rule],
    options: Options<'s>,
    sides: Option<&'s Sides<'s>>,
) -> Vec<Finding> {
    let Some(sides) = sides.filter(|it| it.are_reduced()) else { return run_rules(context, rules) };
    let (comparing, others): (Vec<_>, Vec<_>) = rules.iter().partition(|it| it.needs_baseline());
    let compared = Options { baseline: Some(sides.old_tree()), ..options };
    let mut findings = run_rules(context, &others);
    findings
        .extend(run_rules(&Context::new(sides.new_tree(), context.policy, compared), &comparing));
    findings
}

/// The changes since the last release, for the bump.
pub(super) fn check_since_release<'t>(
    tree: &'t Tree,
    policy: &'t Policy,
    options: Options<'t>,
    released: &'t Tree,
) -> Report {
    let since = Options {
        baseline_day: None,
        bump_baseline: None,
        counts_bump: false,
        reached: None,
        changes: true,
        accepted: None,
        plugins: None,
        ..options
    };
    check_since(tree, policy, since, released)
}

/// The changes since one old tree alone.
pub(super) fn check_since<'t>(
    tree: &'t Tree,
    policy: &'t Policy,
    options: Options<'t>,
    old: &'t Tree,
) -> Report {
    let since = Options { scope: RuleScope::Changes, baseline: Some(old), older: &[], ..options };
    run_pipeline(tree, policy, since, true)
}

/// Returns true if a rule reports what no version may be recorded for.
fn blocks(rule: &str) -> bool {
    [rules::EARLY_MAJOR.id, rules::FROZEN_CHANGED.id].contains(&rule)
}

/// The findings about packages that no version may be recorded for: new majors since
/// the last release outside the window, and changes of frozen packages. Waived and
/// accepted ones are left out.
pub(super) fn find_blocking<'t>(
    tree: &'t Tree,
    policy: &'t Policy,
    options: Options<'t>,
    released: Option<&'t Tree>,
) -> Vec<Finding> {
    let since =
        Options { scope: RuleScope::Everything, baseline: released, partial: false, ..options };
    let context = Context::new(tree, policy, since);
    let rules = RULES.iter().copied();
    let rules: Vec<&'static Rule> =
        rules.filter(|it| blocks(it.id) && policy.runs(it.defaults())).collect();
    let sides = released.map(|old| Sides::of(old, tree));
    let mut findings = run_on_sides(&context, &rules, since, sides.as_ref());
    let thawed = check_frozen(&context, &findings);
    findings.extend(thawed.into_iter().filter(|it| is_rule_on(policy, it)));
    Waivers::of(&context).take(&context, &mut findings);
    findings.retain(|it| !options.accepted.is_some_and(|accepted| accepted.holds(it)));
    apply_severities(&context, &mut findings);
    findings
}

/// Returns true if a waiver that matched nothing is unused: a waiver for changes must also
/// match nothing since the last release.
fn is_unused_in(policy: &Policy, since: &BTreeSet<(&str, &Location)>, unused: &Finding) -> bool {
    let rule = unused.facts.first().and_then(|what| find_rule_of(policy, what));
    rule.is_some_and(|rule| !rule.needs_baseline())
        || since.contains(&(unused.rule, &unused.location))
}
