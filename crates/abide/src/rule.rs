//! What a rule is.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use abide_schema::{
    Element, File, Graph, Package, PackageVersionStatus, Part, Place, Tree, api_name,
};
use jiff::civil::Date;

use crate::finding::{Finding, Label, Location, Severity};
use crate::policy::Policy;
use crate::rules::RULES;

/// The families of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// What the compiler refuses.
    Language,
    /// Names and layout of packages and files.
    Layout,
    /// Which package may depend on which.
    Dependencies,
    /// How packages and elements live and die.
    Lifecycle,
    /// The tool's own bookkeeping: waivers and configuration.
    Policy,
}

impl Group {
    /// Every family.
    pub const ALL: &[Group] =
        &[Group::Language, Group::Layout, Group::Dependencies, Group::Lifecycle, Group::Policy];

    /// Its name in configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Group::Language => "language",
            Group::Layout => "layout",
            Group::Dependencies => "dependencies",
            Group::Lifecycle => "lifecycle",
            Group::Policy => "policy",
        }
    }
}

/// A rule, declared in one place: `rules/<id>.rs`, with its page
/// `rules/<id>.md` and a line in `rules.rs`.
#[derive(Debug)]
pub struct Rule {
    /// Its permanent name: the defect as a noun phrase that reads well after
    /// "allow".
    pub id: &'static str,
    /// One sentence, lower case, without a full stop.
    pub summary: &'static str,
    /// Its family.
    pub group: Group,
    /// Its severity unless policy says otherwise; `None`: off by default.
    pub severity: Option<Severity>,
    /// The version of Abide that brought it.
    pub since: &'static str,
    /// The rules of other tools that fire on the same defect: `buf:ID`,
    /// `aip:NUMBER`.
    pub aliases: &'static [&'static str],
    /// Whether it says nothing about elements that are work in progress.
    pub spares_work_in_progress: bool,
    /// Its page.
    pub page: &'static str,
    /// What it looks at.
    pub check: Check,
}

impl Rule {
    /// The rule with this id.
    pub fn find(id: &str) -> Option<&'static Rule> {
        RULES.binary_search_by(|rule| rule.id.cmp(id)).ok().map(|at| RULES[at])
    }
}

/// What a rule subscribes to. The walk over the tree is written once, in the
/// engine; only judged files, their packages and their elements are offered.
#[derive(Clone, Copy, Debug)]
pub enum Check {
    /// The linker finds it; the rule only names and documents it.
    Linker,
    /// The engine finds it while it applies policy.
    Engine,
    /// The old tree against the new one, once, where there is an old one.
    Baseline(for<'t> fn(&Context<'t>, &'t Tree, &mut Sink)),
    /// The tree as a whole, once.
    Tree(for<'t> fn(&Context<'t>, &mut Sink)),
    /// Every package that has a judged file.
    Package(for<'t> fn(&Context<'t>, Package<'t>, &mut Sink)),
    /// Every judged file.
    File(for<'t> fn(&Context<'t>, File<'t>, &mut Sink)),
    /// Every element of a judged file.
    Element(for<'t> fn(&Context<'t>, Element<'t>, &mut Sink)),
}

/// What a rule may look at.
pub struct Context<'t> {
    /// The tree.
    pub tree: &'t Tree,
    /// The settings it is judged by.
    pub policy: &'t Policy,
    /// The day it is judged on.
    pub as_of: Date,
    /// The old tree, where the run has one.
    pub baseline: Option<&'t Tree>,
    graph: Graph<'t>,
    apis: OnceLock<BTreeMap<String, Vec<Package<'t>>>>,
    frozen: OnceLock<Vec<bool>>,
}

impl<'t> Context<'t> {
    pub(crate) fn new(
        tree: &'t Tree,
        policy: &'t Policy,
        as_of: Date,
        baseline: Option<&'t Tree>,
    ) -> Context<'t> {
        let (apis, frozen) = (OnceLock::new(), OnceLock::new());
        // Not made when a rule first asks: it is made in parallel, and a thread
        // that waits for a part of it may take up another rule that asks.
        let graph = tree.graph();
        Context { tree, policy, as_of, baseline, graph, apis, frozen }
    }

    /// Which file and package needs which.
    pub fn graph(&self) -> &Graph<'t> {
        &self.graph
    }

    /// Whether a package of the tree does not change any more.
    pub fn is_frozen(&self, package: Package<'t>) -> bool {
        let frozen = self.frozen.get_or_init(|| self.tree.packages().map(is_frozen).collect());
        frozen[package.id.0 as usize]
    }

    /// The versioned packages by the API they are versions of, in the order of
    /// their versions. Imported packages are among them.
    pub fn apis(&self) -> &BTreeMap<String, Vec<Package<'t>>> {
        self.apis.get_or_init(|| {
            let mut apis: BTreeMap<String, Vec<Package<'t>>> = BTreeMap::new();
            for package in self.tree.packages() {
                if let Some(api) = api_name(package.name()) {
                    apis.entry(api).or_default().push(package);
                }
            }
            for versions in apis.values_mut() {
                versions.sort_by_key(|package| (package.version(), package.id));
            }
            apis
        })
    }
}

/// Where the name in the `package` statement of a file stands, else the first
/// statement of the file.
pub(crate) fn package_name(file: File<'_>) -> Place {
    match file.decl().package {
        Some(package) => file.place_of(package.node, Part::Name),
        None => file.package_place(),
    }
}

/// Where the name of a package is declared: in its first judged file, else in
/// its first.
pub(crate) fn package_place(package: Package<'_>) -> Option<Place> {
    let judged = package.files().find(|file| file.is_judged());
    judged.or_else(|| package.files().next()).map(package_name)
}

/// Whether a package does not change any more: the first of its files that
/// declares a status says so.
pub(crate) fn is_frozen(package: Package<'_>) -> bool {
    let status = package.files().find_map(File::package_version_status);
    status.is_some_and(|(status, _)| status == PackageVersionStatus::Frozen)
}

/// Whether the element or what encloses it is deprecated.
pub(crate) fn is_deprecated(element: Element<'_>) -> bool {
    element.deprecated().is_some() || element.parent().is_some_and(is_deprecated)
}

/// Where a rule puts what it finds.
#[derive(Debug, Default)]
pub struct Sink {
    /// The rule that runs.
    pub(crate) rule: &'static str,
    pub(crate) findings: Vec<Finding>,
}

impl Sink {
    /// Reports a finding of the running rule; the returned reference takes the
    /// optional parts. Its severity is set later, by policy.
    pub fn report(
        &mut self,
        place: Place,
        package: &str,
        element: impl Into<String>,
        message: impl Into<String>,
    ) -> &mut Finding {
        self.findings.push(Finding {
            rule: self.rule,
            severity: Severity::Error,
            message: message.into(),
            location: Location::Tree(place),
            at: None,
            element: element.into(),
            package: package.to_owned(),
            labels: Vec::new(),
            why: None,
            help: None,
            facts: Vec::new(),
            severity_reason: None,
            own_only: false,
        });
        self.findings.last_mut().expect("one was just pushed")
    }
}

impl Finding {
    /// What is read at the place itself.
    pub fn at(&mut self, message: impl Into<String>) -> &mut Finding {
        self.at = Some(message.into());
        self
    }

    /// Another place that explains it.
    pub fn label(&mut self, place: Place, message: impl Into<String>) -> &mut Finding {
        self.labels.push(Label { place, message: message.into() });
        self
    }

    /// Why it matters.
    pub fn why(&mut self, text: impl Into<String>) -> &mut Finding {
        self.why = Some(text.into());
        self
    }

    /// What to do.
    pub fn help(&mut self, text: impl Into<String>) -> &mut Finding {
        self.help = Some(text.into());
        self
    }

    /// A fact that tells it from other findings of its rule and element.
    pub fn fact(&mut self, fact: impl Into<String>) -> &mut Finding {
        self.facts.push(fact.into());
        self
    }
}
