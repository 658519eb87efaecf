//! The policy that a tree is checked against: severities and settings.

use std::collections::BTreeMap;

use abide_change::{Direction, Effects, Surface};
use abide_schema::{Element, Glob, PackageVersion, Stability};
use abide_syntax::Span;
use abide_upgrade::{UpgradePolicy, UpgradeSettings, collect_names_in_paths};
use jiff::civil::Date;

use super::check_plugin::CheckPlugin;
use super::compatibility::Compatibility;
use super::deprecation_policy::{DeprecationPolicy, Removal};
use super::lint_policy::LintPolicy;
use super::severities::{Choice, FindingScope, JudgedChange, Layer, Layers, Levels, RuleSettings};
use crate::calendar::{Calendar, Phases};
use crate::finding::{Finding, Impact, RuleDefaults, Severity};
use crate::own_rules::OwnRuleId;

/// Everything that decides how a tree is checked: a preset with the changes of
/// `abide.toml`.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// The version scheme of packages: `[packages]`.
    pub packages: PackagePolicy,
    /// Which package may depend on which: `[dependencies]`.
    pub dependencies: DependencyPolicy,
    /// Clocks and windows: `[calendar]`.
    pub calendar: Calendar,
    /// When deprecated elements may be removed: `[deprecation]`.
    pub deprecation: DeprecationPolicy,
    /// Which changes are more than notes: `[breaking]`.
    pub breaking: BreakingPolicy,
    /// Names and comments that rules about one tree ask for: `[lint]`.
    pub lint: LintPolicy,
    /// Named options of the upgrade: `[upgrade]`.
    pub upgrade: UpgradePolicy,
    /// Which changes of custom options are breaks, by the full name of the
    /// option or of a field in its value: `[options]`.
    pub options: BTreeMap<String, Vec<OptionOrder>>,
    /// The keys of `[options]` in `abide.toml`, with their places.
    pub option_keys: Vec<(String, Span)>,
    /// The rules that `abide.toml` declares: `[[rule]]`.
    pub own_rules: Vec<OwnRuleId>,
    /// The programs that check as plugins of buf do: `[[plugin]]`.
    pub plugins: Vec<CheckPlugin>,
    /// Reasoned exceptions: `[[waiver]]`.
    pub waivers: Vec<ConfigWaiver>,
    /// Which changes are security fixes: `[[security-fix]]`.
    pub security_fixes: Vec<SecurityFix>,
    /// The patterns of `abide.toml` that are meant to match packages of the tree.
    pub package_patterns: Vec<ConfigPattern>,
    /// Those that are meant to match elements.
    pub element_patterns: Vec<ConfigPattern>,
    /// The lists of files and folders in `abide.toml`.
    pub file_lists: Vec<ConfigFiles>,
    /// Severities: `[rules]` and `[[override]]`.
    pub(crate) layers: Layers,
}

/// The version scheme of packages.
#[derive(Clone, Debug, Default)]
pub struct PackagePolicy {
    /// The form of the names of versioned packages; `vN` stands for the version
    /// component.
    pub pattern: Option<Glob>,
    /// The stabilities that a version may have; if empty, all of them.
    pub stabilities: Vec<Stability>,
    /// The forms that a version may have, of `PackageVersion::FORMS`; if empty,
    /// all of them.
    pub versions: Vec<&'static str>,
    /// Folders before the path of a package that are not part of its name.
    pub folder_prefixes: Vec<String>,
    /// Prefixes of package names that folders leave out.
    pub path_prefixes: Vec<String>,
    /// Packages outside the scheme, which need no version.
    pub unversioned: Vec<Glob>,
    /// The first major from which a version must be `vN`, `vNalpha` or `vNbeta`,
    /// without another number.
    pub plain_from: Option<u32>,
    /// How many majors of one API may exist that are not frozen.
    pub max_majors: Option<u32>,
}

impl PackagePolicy {
    /// Returns true if the scheme applies to the package: `unversioned` does not name it.
    pub fn concerns(&self, package: &str) -> bool {
        !self.unversioned.iter().any(|glob| glob.matches(package))
    }

    /// The names that the folder of a package may follow, the shortest first.
    pub fn names_in_paths<'n>(&self, package: &'n str) -> Vec<&'n str> {
        collect_names_in_paths(&self.path_prefixes, package)
    }

    /// Returns true if the name of a versioned package has the form of `pattern`.
    pub fn has_form(&self, package: &str) -> bool {
        let (Some(pattern), Some(version)) = (&self.pattern, PackageVersion::from_package(package))
        else {
            return true;
        };
        let mut components: Vec<&str> = package.split('.').collect();
        components[version.position] = "vN";
        pattern.matches(&components.join("."))
    }

    /// Returns true if a version has no number but its major, if `plain_from` requires
    /// that.
    pub fn is_plain(&self, version: &PackageVersion) -> bool {
        let numbered = version.minor.is_some() || version.revision.is_some();
        !numbered || self.plain_from.is_none_or(|from| version.major < from)
    }

    /// Returns true if `versions` has the form of a version.
    pub fn has_version_form(&self, version: &PackageVersion) -> bool {
        self.versions.is_empty()
            || self.versions.iter().any(|form| *form == version.version_pattern())
    }

    /// Returns true if a version may have this stability.
    pub fn allows(&self, stability: Stability) -> bool {
        self.stabilities.is_empty() || self.stabilities.contains(&stability)
    }
}

/// A pattern of `abide.toml` that is meant to match something in the tree.
#[derive(Clone, Debug)]
pub struct ConfigPattern {
    /// The pattern.
    pub glob: Glob,
    /// Its place in `abide.toml`.
    pub span: Span,
}

/// A list of files and folders in `abide.toml`.
#[derive(Clone, Debug)]
pub struct ConfigFiles {
    /// The paths, relative to the folder of `abide.toml`.
    pub paths: Vec<String>,
    /// The place of the list.
    pub span: Span,
}

/// Which package may depend on which.
#[derive(Clone, Debug, Default)]
pub struct DependencyPolicy {
    /// Edges that are allowed even if `deny` names them.
    pub allow: Vec<Edge>,
    /// Edges that are not allowed.
    pub deny: Vec<Edge>,
    /// How many packages a chain of dependencies of a package may have.
    pub max_depth: Option<u32>,
}

impl DependencyPolicy {
    /// The entry of `deny` that forbids a package to depend on another; `None` if it may.
    pub fn denial(&self, from: &str, to: &str) -> Option<&Edge> {
        let denied = self.deny.iter().find(|edge| edge.matches(from, to))?;
        let is_allowed = self.allow.iter().any(|edge| edge.matches(from, to));
        (!is_allowed).then_some(denied)
    }
}

/// Edges between packages: `"FROM -> TO"`, two globs.
#[derive(Clone, Debug)]
pub struct Edge {
    /// The packages that depend on others.
    pub from: Glob,
    /// The packages that they depend on.
    pub to: Glob,
    /// Its place in `abide.toml`.
    pub span: Span,
}

impl Edge {
    /// Returns true if it names the edge between two packages.
    pub fn matches(&self, from: &str, to: &str) -> bool {
        self.from.matches(from) && self.to.matches(to)
    }
}

/// Which changes are more than notes.
#[derive(Clone, Debug)]
pub struct BreakingPolicy {
    /// The stabilities of the packages that must not break; `None` are packages
    /// without a version. Everything in other packages may change.
    pub stabilities: Vec<Option<Stability>>,
    /// True if validation must not change at all, not even to accept more.
    pub strict_annotations: bool,
    /// If not empty, a change is an error if one of these rules of other tools would
    /// report it, whomever it breaks, and a note otherwise.
    pub aliases: Vec<String>,
    /// If not empty, only changes that break one of these surfaces, in one of the `directions`, are
    /// more than notes.
    pub surfaces: Vec<Surface>,
    /// The directions whose breaks are more than notes.
    pub directions: Vec<Direction>,
    /// The mode that the directions are those of, if one is named.
    pub compatibility: Option<Compatibility>,
    /// The lightest changes that are more than notes.
    pub lightest: Impact,
}

impl Default for BreakingPolicy {
    /// Alphas and betas may change. A package without a version may not, since it
    /// has no next major version.
    fn default() -> Self {
        let stabilities = vec![Some(Stability::Stable), None];
        BreakingPolicy {
            stabilities,
            strict_annotations: false,
            aliases: Vec::new(),
            surfaces: Vec::new(),
            directions: vec![Direction::Backward],
            compatibility: None,
            lightest: Impact::Options,
        }
    }
}

impl BreakingPolicy {
    /// Returns true if a package must not break.
    pub fn binds(&self, package: &str) -> bool {
        let stability = PackageVersion::from_package(package).map(|version| version.stability);
        self.stabilities.contains(&stability)
    }

    /// Has breaks in the directions of a mode count, and no others.
    pub fn ask_for(&mut self, mode: Compatibility) {
        self.directions = mode.directions().to_vec();
        self.compatibility = Some(mode);
    }

    /// Returns true if only the newest of several old trees is compared.
    pub fn compares_newest_only(&self) -> bool {
        self.compatibility.is_some_and(|it| !it.is_transitive())
    }

    /// Returns true if breaks in this direction are more than notes.
    pub(crate) fn counts(&self, direction: Direction) -> bool {
        self.directions.contains(&direction)
    }

    /// Returns what it says about a change. `leaves_out` says which aliases do not count for this
    /// finding.
    fn choose(&self, finding: &Finding, leaves_out: impl Fn(&str) -> bool) -> Choice {
        let effects = finding.effects();
        if Impact::of(finding) > self.lightest || !self.is_on_surfaces(effects) {
            return Choice::LeftOut;
        }
        let is_off = |alias: &&str| leaves_out(alias);
        if self.aliases.is_empty() {
            let is_off = finding.aliases.iter().any(is_off);
            return if is_off { Choice::LeftOut } else { Choice::ByEffects };
        }
        let is_listed = |alias: &&str| self.aliases.iter().any(|it| it == alias);
        let named = finding.aliases.iter().copied().find(|it| is_listed(it) && !is_off(it));
        named.map_or(Choice::LeftOut, Choice::Named)
    }

    fn is_on_surfaces(&self, effects: Effects) -> bool {
        self.surfaces.is_empty()
            || effects.on(&self.surfaces).directions().any(|direction| self.counts(direction))
    }
}

/// How much a change of a custom option matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionOrder {
    /// Not reported.
    Ignore,
    /// Reported as a note, as is every change of an option that is not listed.
    Note,
    /// Any change is a break.
    AnyChange,
    /// A larger number is a break.
    Raise,
    /// A smaller number is a break.
    Lower,
    /// Becoming true is a break.
    True,
    /// No longer being true is a break.
    False,
    /// Being set for the first time is a break.
    Addition,
    /// No longer being set is a break.
    Removal,
}

impl OptionOrder {
    /// Every kind, with its word in configuration.
    pub const ALL: &[(&str, OptionOrder)] = &[
        ("ignore", OptionOrder::Ignore),
        ("note", OptionOrder::Note),
        ("any-change", OptionOrder::AnyChange),
        ("raise", OptionOrder::Raise),
        ("lower", OptionOrder::Lower),
        ("true", OptionOrder::True),
        ("false", OptionOrder::False),
        ("addition", OptionOrder::Addition),
        ("removal", OptionOrder::Removal),
    ];
}

/// A waiver of `abide.toml`.
#[derive(Clone, Debug)]
pub struct ConfigWaiver {
    /// The id of the rule that it waives; `None` only for a fingerprint.
    pub rule: Option<&'static str>,
    /// What it covers.
    pub target: WaiverTarget,
    /// Why.
    pub reason: String,
    /// The last day on which it holds.
    pub until: Option<Date>,
    /// Where it stands in `abide.toml`.
    pub span: Span,
}

/// What a waiver of `abide.toml` covers.
#[derive(Clone, Debug)]
pub enum WaiverTarget {
    /// The elements whose full names match, and what is inside them.
    Element(Glob),
    /// One finding.
    Fingerprint(String),
}

/// A change that is a security fix and only needs a patch version.
#[derive(Clone, Debug)]
pub struct SecurityFix {
    /// What it covers.
    pub target: WaiverTarget,
    /// Why.
    pub reason: String,
}

impl Policy {
    /// Returns what an upgrade has to know of it.
    pub fn upgrade_settings(&self) -> UpgradeSettings<'_> {
        UpgradeSettings {
            policy: &self.upgrade,
            folder_prefixes: &self.packages.folder_prefixes,
            path_prefixes: &self.packages.path_prefixes,
        }
    }

    /// The severity of a finding of `rule` (`None`: not reported),
    /// and the reason, unless it is the rule's default. `change` is set for a
    /// finding about a change.
    ///
    /// A change has the severity of its worst effect. A break in one of the directions of
    /// `[breaking]` has the severity of its rule, unless its package may break. Every other break,
    /// and a change that breaks nobody, is a note, or what the finding says. What `[breaking]
    /// aliases` has is an error, and every other change then a note.
    ///
    /// A setting replaces the severity of the breaks that count. It replaces that of all others if
    /// it turns the rule off, if an override names the direction, or if `abide.toml` names the rule
    /// or one of its aliases.
    pub fn severity(
        &self,
        rule: RuleDefaults,
        subject: FindingScope<'_>,
        change: Option<JudgedChange<'_>>,
    ) -> (Option<Severity>, Option<String>) {
        self.layers.severity(rule, subject, change)
    }

    /// A finding about a change as `[breaking]` sees it.
    pub(crate) fn judged<'f>(
        &self,
        finding: &'f Finding,
        subject: FindingScope<'_>,
    ) -> Option<JudgedChange<'f>> {
        let facts = finding.change.as_deref()?;
        let choice = self.breaking.choose(finding, |alias| self.layers.leaves_out(alias, subject));
        let counts = Direction::ALL.iter().copied().filter(|it| self.breaking.counts(*it));
        let is_bound = self.is_bound(subject.package);
        Some(JudgedChange { facts, choice, is_bound, counting: counts.collect() })
    }

    /// Returns true if settings turn on what a rule of another tool reports, such as
    /// `buf:ENUM_PASCAL_CASE`. Abide then reports it where that tool does.
    pub fn follows(&self, alias: &str) -> bool {
        self.layers.follows(alias)
    }

    /// The same for any of several rules.
    pub(crate) fn follows_any(&self, aliases: &[&str]) -> bool {
        aliases.iter().any(|alias| self.follows(alias))
    }

    /// Returns what presets and settings say about a rule, in the whole tree and in parts of it.
    pub fn settings(&self, rule: RuleDefaults) -> RuleSettings {
        self.layers.settings(rule)
    }

    /// Returns true if a package must not break: `[breaking] stabilities` has its stability.
    /// What depends on that promise asks here: severities, bumps and the ledger of
    /// numbers and names.
    pub fn is_bound(&self, package: &str) -> bool {
        self.breaking.binds(package)
    }

    /// The phases of an element that is deprecated since a day: as the calendar
    /// counts them, held back by freezes, and without a removal that the policy
    /// forbids. `None` without client releases.
    pub fn phases(&self, element: Element<'_>, since: Date) -> Option<Phases> {
        let replacement = self.deprecation.replacement(&element.full_name());
        let clock = &self.calendar.client_releases;
        let phases = self.calendar.phases(since, replacement)?;
        let phases = phases.held_back(clock, &self.deprecation.freezes);
        let allowed = match self.is_bound(element.package().name()) {
            false => Some(since),
            true => self.deprecation.removable_from(since),
        };
        // Releases happen on days of the clock only.
        let release = |day: Date| clock.next(day.yesterday().ok()?);
        let removed = phases.removed.zip(allowed).and_then(|(due, from)| release(due.max(from)));
        Some(Phases { removed, ..phases })
    }

    /// Returns true if only the next major version may remove a deprecated element.
    pub fn waits_for_major(&self, element: Element<'_>) -> bool {
        self.is_bound(element.package().name()) && self.deprecation.removal == Removal::Never
    }

    /// Turns on the rules that are off in the whole tree, as errors: whoever asks for a rule by
    /// name means it.
    pub fn turn_on(&mut self, rules: impl Iterator<Item = RuleDefaults>) {
        let off = rules.filter(|rule| self.settings(*rule).whole.level.is_none());
        let rules = off.map(|rule| (rule.id, Some(Severity::Error))).collect();
        let levels = Levels { rules, ..Levels::default() };
        self.layers.push(Layer { levels, ..Layer::default() });
    }

    /// Returns true if any finding of the rule can be reported.
    pub fn runs(&self, rule: RuleDefaults) -> bool {
        self.layers.runs(rule)
    }
}
