//! The declaration of a rule, and what a rule can see and report.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use abide_change::option::OptionSetting;
use abide_change::{Change, ComparedTexts, Comparison, Effects, OptionOwner};
use abide_instance::{Dialect, Document, WalkItem};
use abide_schema::value::ReadErrorKind;
use abide_schema::{
    DependencyGraph, Element, Enum, EnumValue, Field, File, Message, Method, Oneof, Package,
    PackageId, Part, Place, Service, Tree, format_api_name,
};
use abide_syntax::Span;
use abide_upgrade::{
    CandidateSources, FileRole, FileRoles, UpgradeInputs, find_candidate_packages,
};
use abide_validate::Evaluator;
use jiff::civil::Date;

use super::carried_by_calls::CarriedByCalls;
use crate::finding::{Bump, ChangeFacts, Finding, Gone, Location, RuleDefaults, Severity, aliases};
use crate::inputs::{
    FeatureFile, InstanceOptions, InstanceSet, Options, Overrides, RuleScope, Usage,
};
use crate::lifecycle::{PackageDays, Retirement, apis, deprecation, is_deprecated};
use crate::lock::Records;
use crate::own_rules::OwnRule;
use crate::policy::Policy;

pub(crate) use crate::finding::Group;

/// A rule, declared in one place: `rules/<id>.rs`, with its page
/// `rules/<id>.md` and a line in `rules.rs`.
#[derive(Debug)]
pub struct Rule {
    /// Its permanent name: the defect as a noun phrase that reads well after
    /// "allow".
    pub id: &'static str,
    /// One phrase in lower case, without a full stop.
    pub summary: &'static str,
    /// Its group.
    pub group: Group,
    /// Its default severity; `None` if it is off by default.
    pub severity: Option<Severity>,
    /// The version of Abide that added it.
    pub since: &'static str,
    /// The rules of other tools that report the same defect: `buf:ID`,
    /// `aip:NUMBER`.
    pub aliases: &'static [&'static str],
    /// The rules of other tools that fire on some of what it finds: each finding
    /// names its own.
    pub aliases_by_case: &'static [&'static [&'static str]],
    /// True if it ignores elements that are work in progress.
    pub spares_work_in_progress: bool,
    /// Its page.
    pub page: &'static str,
    /// What it subscribes to, and its function.
    pub check: Check,
}

impl Rule {
    /// Returns true if it compares with an old tree.
    pub fn needs_baseline(&self) -> bool {
        match self.check {
            Check::Own(own) => own.on.is_change,
            _ => matches!(self.check, Check::Baseline(_) | Check::Change(_)),
        }
    }

    /// The rules of other tools that fire on anything that it finds.
    pub fn all_aliases(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.defaults().all_aliases()
    }

    /// Returns what policy asks of it.
    pub const fn defaults(&self) -> RuleDefaults {
        RuleDefaults {
            id: self.id,
            group: self.group,
            severity: self.severity,
            aliases: self.aliases,
            aliases_by_case: self.aliases_by_case,
        }
    }
}

/// What a rule subscribes to. The engine walks over the tree once and offers only
/// checked files, their packages and their elements.
#[derive(Clone, Copy, Debug)]
pub enum Check {
    /// The linker finds it; the rule only names and documents it.
    Linker,
    /// The engine finds it while it applies policy.
    Engine,
    /// The old tree and the new one, once, if there is an old one.
    Baseline(for<'t> fn(&Context<'t>, &'t Tree, &mut Sink)),
    /// Every change of one kind of element, if there is an old tree.
    Change(ChangeCheck),
    /// The tree as a whole, once.
    Tree(for<'t> fn(&Context<'t>, &mut Sink)),
    /// Every package with a checked file.
    Package(for<'t> fn(&Context<'t>, Package<'t>, &mut Sink)),
    /// Every checked file.
    File(for<'t> fn(&Context<'t>, File<'t>, &mut Sink)),
    /// Every element of a checked file.
    Element(for<'t> fn(&Context<'t>, Element<'t>, &mut Sink)),
    /// Every element of a checked file that has an option.
    Annotated(for<'t> fn(&Context<'t>, Element<'t>, &mut Sink)),
    /// Instances of the messages of the tree.
    Instance(InstanceCheck),
    /// A program finds it, which `abide.toml` names.
    Plugin,
    /// What an expression of `abide.toml` is about.
    Own(&'static OwnRule),
}

/// What of instances a rule subscribes to.
#[derive(Clone, Copy, Debug)]
pub enum InstanceCheck {
    /// The reader finds it: problems of these kinds. The rule only names and
    /// documents it.
    Problem(&'static [ReadErrorKind]),
    /// Every document.
    Document(for<'t> fn(&InstanceContext<'t>, &Document, &mut Sink)),
    /// What a translation to another version has no place for. The rule only names and documents
    /// it.
    Loss,
    /// Everything that a document of a known type holds.
    Visit(for<'t> fn(&InstanceContext<'t>, WalkItem<'t, '_>, &mut Sink)),
    /// All files of the run together, once.
    Run(for<'t> fn(&InstanceContext<'t>, &'t InstanceSet<'t>, &mut Sink)),
}

/// What a rule about instances can see.
#[derive(Clone, Copy)]
pub struct InstanceContext<'t> {
    /// The tree that declares the messages.
    pub tree: &'t Tree,
    /// The policy that instances are checked against.
    pub policy: &'t Policy,
    /// The inputs of the run.
    pub options: InstanceOptions<'t>,
    /// The number of the file in the run.
    pub file: u32,
    /// What operators decide about deprecated elements of the document.
    pub overrides: &'t Overrides,
    /// True if its reader asks for those decisions only inside of an Any.
    pub is_bootstrap: bool,
    /// Whose reading it is.
    pub dialect: Dialect,
    /// Checks values by the annotations of the tree, which it reads once for the run.
    pub(crate) evaluator: &'t Evaluator<'t>,
}

impl InstanceContext<'_> {
    /// A place in the file.
    pub(crate) fn at(&self, span: Span) -> Location {
        Location::instance(self.file, span)
    }
}

/// Which changes a rule subscribes to. Changes are only offered if the two files
/// differ. Unchanged pairs of elements are left out, and so are fields, oneofs,
/// enum values and methods that are added or removed with their container. An
/// unchanged pair may still be offered if proving it unchanged is costly.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "each is named after the element it holds")]
pub enum ChangeCheck {
    /// Every element of a file.
    Element(for<'t> fn(&Context<'t>, &Comparison<'t>, Change<Element<'t>>, &mut Sink)),
    Package(for<'t> fn(&Context<'t>, &Comparison<'t>, Change<Package<'t>>, &mut Sink)),
    File(for<'t> fn(&Context<'t>, &Comparison<'t>, Change<File<'t>>, &mut Sink)),
    Message(for<'t> fn(&Context<'t>, &Comparison<'t>, Change<Message<'t>>, &mut Sink)),
    Field(for<'t> fn(&Context<'t>, &Comparison<'t>, Change<Field<'t>>, &mut Sink)),
    Oneof(for<'t> fn(&Context<'t>, &Comparison<'t>, Change<Oneof<'t>>, &mut Sink)),
    Enum(for<'t> fn(&Context<'t>, &Comparison<'t>, Change<Enum<'t>>, &mut Sink)),
    EnumValue(for<'t> fn(&Context<'t>, &Comparison<'t>, Change<EnumValue<'t>>, &mut Sink)),
    Service(for<'t> fn(&Context<'t>, &Comparison<'t>, Change<Service<'t>>, &mut Sink)),
    Method(for<'t> fn(&Context<'t>, &Comparison<'t>, Change<Method<'t>>, &mut Sink)),
    /// Files and elements of every kind, for rules about options of all of them.
    Holder(for<'t> fn(&Context<'t>, &Comparison<'t>, Change<OptionOwner<'t>>, &mut Sink)),
}

/// What a rule can see.
pub struct Context<'t> {
    /// The tree.
    pub tree: &'t Tree,
    /// The policy that it is checked against.
    pub policy: &'t Policy,
    /// The day of the check.
    pub as_of: Date,
    /// The old tree, if the run has one.
    pub baseline: Option<&'t Tree>,
    /// The day of its commit, if it is one of git.
    pub baseline_day: Option<Date>,
    /// True if only a part of a tree is judged.
    pub partial: bool,
    /// The lists of features.
    pub features: &'t [FeatureFile],
    /// Who uses which element, if files say so.
    pub usage: Option<&'t Usage>,
    records: Records<'t>,
    reached: Option<&'t BTreeSet<Box<str>>>,
    diff: Option<Comparison<'t>>,
    graph: Option<DependencyGraph<'t>>,
    apis: OnceLock<BTreeMap<String, Vec<Package<'t>>>>,
    frozen: OnceLock<Vec<bool>>,
    standings: OnceLock<FileRoles>,
    carried_by_calls: CarriedByCalls,
    candidate_sources: OnceLock<CandidateSources>,
    /// The packages that candidates of the packages that count are made from.
    reached_sources: OnceLock<BTreeSet<PackageId>>,
    /// True if a finding may depend on every file of the tree.
    looked_everywhere: AtomicBool,
}

impl<'t> Context<'t> {
    pub(crate) fn new(tree: &'t Tree, policy: &'t Policy, options: Options<'t>) -> Context<'t> {
        let Options { as_of, baseline, baseline_day, partial, features, records, reached, .. } =
            options;
        let (apis, frozen, standings) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        // Not computed on first use: that is done in parallel, and a thread that
        // waits for a part of it could start another rule that needs it too.
        let graph = (options.scope == RuleScope::Everything).then(|| tree.build_graph());
        let alone = ComparedTexts::default();
        let texts = options.texts.unwrap_or(&alone);
        let diff = baseline.map(|old| Comparison::with_texts(old, tree, texts));
        Context {
            tree,
            policy,
            as_of,
            baseline,
            baseline_day,
            partial,
            features,
            usage: options.usage,
            records,
            reached,
            diff,
            graph,
            apis,
            frozen,
            standings,
            carried_by_calls: CarriedByCalls::default(),
            candidate_sources: OnceLock::new(),
            reached_sources: OnceLock::new(),
            looked_everywhere: AtomicBool::new(false),
        }
    }

    /// The tree, for a finding that depends on all of its files, be they near or far.
    pub(crate) fn everywhere(&self) -> &'t Tree {
        self.looked_everywhere.store(true, Ordering::Relaxed);
        self.tree
    }

    /// Returns true if findings may depend on every file of the tree, and not only on those that
    /// the files which they are in stand on.
    pub(crate) fn depends_on_everything(&self) -> bool {
        self.looked_everywhere.load(Ordering::Relaxed)
            || self.diff.as_ref().is_some_and(|it| it.has_weighed_shapes())
    }

    /// Returns true if the tree has only the files that decide what is found in some packages.
    pub(crate) fn is_slice(&self) -> bool {
        self.reached.is_some()
    }

    /// Returns true if findings in a package are reported.
    pub(crate) fn reports_in(&self, package: Package<'_>) -> bool {
        let Some(reached) = self.reached else { return true };
        // A finding in a candidate is reported at its source if that has it too.
        reached.contains(package.name()) || self.reached_sources(reached).contains(&package.id)
    }

    fn reached_sources(&self, reached: &BTreeSet<Box<str>>) -> &BTreeSet<PackageId> {
        self.reached_sources.get_or_init(|| {
            let counts = |it: &File<'_>| reached.contains(it.package().name());
            let candidates = self.standings().iter_candidates(self.tree).filter(counts);
            let source = |it: File<'_>| self.candidate_sources().find_source_file(it.id);
            candidates.filter_map(source).map(|it| self.tree.file(it).package().id).collect()
        })
    }

    /// Returns what candidates are made from.
    pub(crate) fn candidate_sources(&self) -> &CandidateSources {
        self.candidate_sources.get_or_init(|| CandidateSources::find(self.upgrade_basis()))
    }

    /// The old tree and this one with their elements paired.
    pub(crate) fn diff(&self) -> Option<&Comparison<'t>> {
        self.diff.as_ref()
    }

    /// The dependencies between files and packages.
    pub fn graph(&self) -> &DependencyGraph<'t> {
        self.graph.as_ref().expect("rules that need it run with everything")
    }

    /// Returns what is recorded about this tree and about the released one.
    pub fn records(&self) -> Records<'t> {
        self.records
    }

    /// Returns where the days of packages are known from.
    pub(crate) fn days(&self) -> PackageDays<'t> {
        PackageDays { calendar: &self.policy.calendar, lock: self.records.lock }
    }

    /// The day since which a package exists: by the policy, by an annotation, or
    /// by what is recorded.
    pub fn introduced(&self, package: Package<'t>) -> Option<Date> {
        self.days().introduced(package)
    }

    /// Returns true if a package of the tree is frozen: by the status of its files, or by
    /// what is recorded.
    pub fn is_frozen(&self, package: Package<'t>) -> bool {
        let all = || self.tree.packages().map(|it| self.days().is_frozen(it)).collect();
        self.frozen.get_or_init(all)[package.id.0 as usize]
    }

    /// Returns when the support of a package ends because a later major version of its API
    /// is stable.
    pub(crate) fn retirement(&self, package: Package<'t>) -> Option<Retirement<'t>> {
        let versions = self.apis().get(&format_api_name(package.name())?)?;
        Retirement::of(package, versions, self.days())
    }

    /// Returns true if rules about names spare an element, since it is not worth a new name: one
    /// that is deprecated or in a frozen package. Nothing is spared what a rule of another tool
    /// reports if the policy follows that one.
    pub(crate) fn exempts(&self, element: Element<'t>, aliases: &[&str]) -> bool {
        (self.is_frozen(element.package()) || is_deprecated(element))
            && !self.policy.follows_any(aliases)
    }

    /// The files of a package at which a finding about the package is reported: the first one, or,
    /// as buf does, all of them.
    pub(crate) fn find_reporting_files(&self, package: Package<'t>, alias: &str) -> Vec<File<'t>> {
        let mut files: Vec<File<'t>> = package.files().filter(|it| it.is_judged()).collect();
        if !self.policy.follows(alias) {
            files.truncate(1);
        }
        files
    }

    /// The messages that calls carry, whichever files have the services.
    pub(crate) fn carried_by_calls(&self) -> &CarriedByCalls {
        self.everywhere();
        &self.carried_by_calls
    }

    /// The role of each file in an upgrade.
    pub(crate) fn standings(&self) -> &FileRoles {
        self.standings.get_or_init(|| FileRoles::from_tree(self.tree, &self.policy.upgrade))
    }

    /// Returns true if an upgrade made a package and nobody has released it yet, whatever its name
    /// says: Envoy's first candidates were named `v3`.
    pub(crate) fn is_candidate(&self, package: Package<'_>) -> bool {
        package.files().any(|it| self.standings().get(it) == FileRole::Candidate)
    }

    /// Returns true if the tree has a candidate of a package.
    pub(crate) fn has_candidate(&self, package: Package<'t>) -> bool {
        let policy = &self.policy.upgrade;
        let candidates = find_candidate_packages(policy, self.standings(), package);
        let mut found = candidates.iter().filter_map(|it| self.tree.package_named(it));
        found.any(|it| self.is_candidate(it))
    }

    /// Returns what an upgrade of the tree is planned from.
    pub(crate) fn upgrade_basis(&self) -> UpgradeInputs<'_, 't> {
        let settings = self.policy.upgrade_settings();
        let graph = self.graph.as_ref();
        UpgradeInputs { tree: self.tree, settings, roles: self.standings(), graph }
    }

    /// The versioned packages by API, in the order of their versions. Imported
    /// packages are included.
    pub fn apis(&self) -> &BTreeMap<String, Vec<Package<'t>>> {
        self.apis.get_or_init(|| apis(self.tree))
    }
}

/// Returns how an element of the old side was removed.
fn removal_of<'t>(diff: &Comparison<'t>, old: Element<'t>) -> Gone {
    let (number, name, extensions) = match old {
        Element::Field(field) => {
            let holder = field.containing_message().and_then(|it| diff.new_message(it));
            holder.map_or((false, false, false), |holder| {
                let is_extension = holder.allows_extension(field.number()) && !field.is_extension();
                let number = holder.is_reserved_number(field.number());
                (number, holder.reserves_name(field.name()), is_extension)
            })
        }
        Element::EnumValue(value) => {
            diff.new_enum(value.parent()).map_or((false, false, false), |holder| {
                let number = holder.is_reserved_number(value.number());
                (number, holder.is_reserved_name(value.name()), false)
            })
        }
        Element::Message(_)
        | Element::Oneof(_)
        | Element::Enum(_)
        | Element::Service(_)
        | Element::Method(_) => (true, true, false),
    };
    let has_number = matches!(old, Element::Field(_) | Element::EnumValue(_));
    let (deprecated, deprecated_at) = deprecation(old);
    Gone {
        deprecated,
        deprecated_at,
        reserved: number && name,
        put_back: put_back(diff, old, deprecated, [extensions, has_number && (number || name)]),
    }
}

/// What to do so that an element of the old side is there again, deprecated. The statements that
/// say so keep its number or its name from being used: `extensions` and `reserved`.
fn put_back<'t>(
    diff: &Comparison<'t>,
    old: Element<'t>,
    deprecated: bool,
    [by_extensions, by_reserved]: [bool; 2],
) -> String {
    let comment = "with a comment on what to use instead";
    let then = match old {
        _ if deprecated => String::new(),
        Element::Oneof(_) => format!(" and deprecate its fields, each {comment}"),
        _ => format!(" and deprecate it, {comment}"),
    };
    if let Element::Oneof(oneof) = old
        && oneof.fields().any(|it| diff.new_field(it).is_some())
    {
        return "put it back around its fields".to_owned();
    }
    let name = old.full_name();
    let is_extension = matches!(old, Element::Field(field) if field.is_extension());
    if is_extension && diff.new.extensions_named(&name).next().is_some() {
        return format!("rename the other `{name}`, put it back{then}");
    }
    if let Element::EnumValue(value) = old
        && let Some(holder) = diff.new_enum(value.parent())
        && holder.value_numbered(value.number()).is_some()
        && OptionOwner::Element(Element::Enum(holder)).standard("allow_alias").is_none()
    {
        return format!("put it back with `option allow_alias = true;`{then}");
    }
    match (by_extensions, by_reserved) {
        (false, false) => format!("put it back{then}"),
        (true, false) => format!("take it out of `extensions`, put it back{then}"),
        (false, true) => format!("take it out of `reserved`, put it back{then}"),
        (true, true) => format!("take it out of `extensions` and `reserved`, put it back{then}"),
    }
}

/// Collects the findings of a rule.
#[derive(Debug)]
pub struct Sink {
    /// The rule that runs.
    rule: &'static Rule,
    findings: Vec<Finding>,
}

impl Sink {
    pub(crate) fn of(rule: &'static Rule) -> Sink {
        Sink { rule, findings: Vec::new() }
    }

    /// Returns what the rule found. It declares every alias that its findings have.
    pub(crate) fn into_findings(self) -> Vec<Finding> {
        let is_declared = |alias: &&str| self.rule.all_aliases().any(|it| it == *alias);
        for finding in &self.findings {
            let undeclared = finding.aliases.iter().find(|it| !is_declared(it));
            debug_assert_eq!(undeclared, None, "`{}` does not declare it", finding.rule);
        }
        self.findings
    }

    fn push(&mut self, mut finding: Finding) -> &mut Finding {
        finding.aliases = self.rule.aliases.to_vec();
        self.findings.push(finding);
        self.findings.last_mut().expect("one was just pushed")
    }

    /// Reports a finding of the running rule. Optional parts are set on the returned
    /// reference. The policy sets the severity later.
    pub fn report(
        &mut self,
        place: impl Into<Location>,
        package: &str,
        element: impl Into<String>,
        message: impl Into<String>,
    ) -> &mut Finding {
        self.push(Finding::new(self.rule.id, place.into(), package, element, message))
    }

    /// Reports a change of an element at the same part of both sides. A removed
    /// element is reported at its surviving container. The package is that of the
    /// old side, whose users break.
    pub fn change<'t>(
        &mut self,
        diff: &Comparison<'t>,
        change: Change<Element<'t>>,
        part: Part,
        message: impl Into<String>,
    ) -> &mut Finding {
        let old = change.old();
        let location = match change {
            Change::Added(new) | Change::Both { new, .. } => Location::tree(new.place(part)),
            Change::Removed(old) => diff
                .find_container(old)
                .map_or_else(|| Location::old(old.place(Part::Whole)), Location::tree),
        };
        let part = if change.new().is_some() { part } else { Part::Whole };
        let old_place = old.map(|it| it.place(part));
        let named = change.new().or(old).expect("a change has a side");
        let package = old.unwrap_or(named).package().name();
        let always = self.rule.aliases;
        let finding = self.change_at(location, old_place, package, named.full_name(), message);
        if let Some(facts) = &mut finding.change {
            facts.apart = aliases::is_apart(diff, change);
            if let Change::Removed(old) = change {
                facts.gone = Some(removal_of(diff, old));
            }
        }
        // The aliases of the rule itself always apply.
        finding.aliases(always);
        finding
    }

    /// Reports a change of a file or a package, or of something with its own
    /// places.
    pub fn change_at(
        &mut self,
        location: Location,
        old: Option<Place>,
        package: &str,
        element: impl Into<String>,
        message: impl Into<String>,
    ) -> &mut Finding {
        let mut finding = Finding::new(self.rule.id, location, package, element, message);
        finding.change = Some(Box::new(ChangeFacts {
            old: old.map(Location::old),
            effects: Effects::NONE,
            may_break: Effects::NONE,
            values: None,
            bump: Bump::Minor,
            symbols: Vec::new(),
            dependents: Vec::new(),
            witness: None,
            at_least: Severity::Note,
            gone: None,
            is_light: false,
            apart: false,
        }));
        self.push(finding)
    }

    /// Reports a setting at the option of the new side, else at what had it.
    pub(crate) fn setting(
        &mut self,
        setting: &OptionSetting<'_>,
        message: impl Into<String>,
    ) -> &mut Finding {
        let (old, new) = setting.holders;
        let location = Location::tree(new.place(setting.new));
        let package = old.file().package().name();
        let always = self.rule.aliases;
        let before = Some(old.place(setting.old));
        let finding = self.change_at(location, before, package, new.full_name(), message);
        let (was, is) = setting.values();
        finding.between(was, is);
        if let (OptionOwner::Element(old), OptionOwner::Element(new), Some(facts)) =
            (old, new, &mut finding.change)
        {
            facts.apart = aliases::are_apart(old, new);
        }
        finding.aliases(always)
    }
}
