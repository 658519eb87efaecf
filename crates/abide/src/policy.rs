//! What a tree is judged by: severities and settings.

use std::collections::BTreeMap;

use abide_change::Surface;
use abide_schema::{Element, Glob, PackageVersion, Stability};
use abide_syntax::Span;
use abide_upgrade::{UpgradePolicy, UpgradeSettings};
use jiff::civil::Date;

use crate::calendar::{Calendar, Replacement};
use crate::dates::months_after;
use crate::finding::{ChangeFacts, Finding, Gone, Severity};
use crate::group::RuleDefaults;
use crate::severities::{self, Layers};

/// Everything that decides how a tree is judged: a preset with what
/// `abide.toml` changes in it.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// The version scheme of packages: `[packages]`.
    pub packages: PackagePolicy,
    /// Which package may depend on which: `[dependencies]`.
    pub dependencies: DependencyPolicy,
    /// Clocks and windows: `[calendar]`.
    pub calendar: Calendar,
    /// When what is deprecated may go: `[deprecation]`.
    pub deprecation: DeprecationPolicy,
    /// Which changes count at all: `[breaking]`.
    pub breaking: BreakingPolicy,
    /// Named options of the upgrade: `[upgrade]`.
    pub upgrade: UpgradePolicy,
    /// Which changes of custom options are breaks, by the full name of the
    /// option or of a field in its value: `[options]`.
    pub options: BTreeMap<String, Vec<OptionOrder>>,
    /// Reasoned exceptions: `[[waiver]]`.
    pub waivers: Vec<ConfigWaiver>,
    /// Which changes only mend a hole: `[[security-fix]]`.
    pub security_fixes: Vec<SecurityFix>,
    /// Severities: `[rules]` and `[[override]]`.
    pub(crate) layers: Layers,
}

/// The version scheme of packages.
#[derive(Clone, Debug, Default)]
pub struct PackagePolicy {
    /// What names of versioned packages look like; `vN` stands for the version
    /// component.
    pub pattern: Option<Glob>,
    /// Which stabilities a version may have; empty: every one.
    pub stabilities: Vec<Stability>,
    /// Folders that stand before the path of a package without being part of
    /// its name.
    pub folder_prefixes: Vec<String>,
    /// Packages outside of the scheme, which need no version.
    pub unversioned: Vec<Glob>,
    /// From which major on a version is `vN`, `vNalpha` or `vNbeta`, without
    /// another number.
    pub plain_from: Option<u32>,
    /// How many majors of one API may be alive.
    pub max_majors: Option<u32>,
}

impl PackagePolicy {
    /// Whether the scheme holds for the package: `unversioned` does not name it.
    pub fn concerns(&self, package: &str) -> bool {
        !self.unversioned.iter().any(|glob| glob.matches(package))
    }

    /// Whether the name of a versioned package has the form that `pattern`
    /// asks for.
    pub fn has_form(&self, package: &str) -> bool {
        let (Some(pattern), Some(version)) = (&self.pattern, PackageVersion::of_package(package))
        else {
            return true;
        };
        let mut components: Vec<&str> = package.split('.').collect();
        components[version.position] = "vN";
        pattern.matches(&components.join("."))
    }

    /// Whether a version has no number but its major where `plain_from` asks for
    /// that.
    pub fn is_plain(&self, version: &PackageVersion) -> bool {
        let numbered = version.minor.is_some() || version.revision.is_some();
        !numbered || self.plain_from.is_none_or(|from| version.major < from)
    }

    /// Whether the stability may stand in a version.
    pub fn allows(&self, stability: Stability) -> bool {
        self.stabilities.is_empty() || self.stabilities.contains(&stability)
    }
}

/// Which package may depend on which.
#[derive(Clone, Debug, Default)]
pub struct DependencyPolicy {
    /// Edges that are allowed although `deny` names them.
    pub allow: Vec<Edge>,
    /// Edges that are not allowed.
    pub deny: Vec<Edge>,
    /// How many packages a chain of dependencies may hold below a package.
    pub max_depth: Option<u32>,
}

/// Edges between packages: `"FROM -> TO"`, two globs.
#[derive(Clone, Debug)]
pub struct Edge {
    /// The packages that depend.
    pub from: Glob,
    /// The packages that they depend on.
    pub to: Glob,
    /// Where it stands in `abide.toml`.
    pub span: Span,
}

impl Edge {
    /// Whether it names the edge between two packages.
    pub fn matches(&self, from: &str, to: &str) -> bool {
        self.from.matches(from) && self.to.matches(to)
    }
}

/// When what is deprecated may go.
#[derive(Clone, Debug, Default)]
pub struct DeprecationPolicy {
    /// What may be removed from a package that is no alpha.
    pub removal: Removal,
    /// How many months an element must have been deprecated, counted from the
    /// day that its `deprecated_at` names. Where that is not known the window
    /// is open never.
    pub window_months: Option<u32>,
    /// Elements that something replaces that is no equivalent.
    pub without_equivalent: Vec<Glob>,
    /// Elements that nothing replaces.
    pub dropped: Vec<Glob>,
}

impl DeprecationPolicy {
    /// What comes after a deprecated element: an equivalent, unless it or what
    /// encloses it is named among those without one.
    pub fn replacement(&self, element: &str) -> Replacement {
        let named = |globs: &[Glob]| globs.iter().any(|glob| glob.covers(element));
        match () {
            () if named(&self.dropped) => Replacement::Nothing,
            () if named(&self.without_equivalent) => Replacement::NoEquivalent,
            () => Replacement::Equivalent,
        }
    }

    /// Whether an element may go that was like this.
    pub fn allows(&self, gone: &Gone, calendar: &Calendar, as_of: Date) -> bool {
        let since = gone.deprecated_at.as_deref().and_then(|text| calendar.day_of(text));
        let long_enough = self.window_months.is_none_or(|months| {
            since.and_then(|since| months_after(since, months)).is_some_and(|end| as_of >= end)
        });
        match self.removal {
            Removal::Never => false,
            Removal::Reserved => gone.reserved,
            Removal::Deprecated => gone.deprecated && gone.reserved && long_enough,
        }
    }
}

/// What may be removed from a package that is no alpha.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Removal {
    /// Nothing.
    #[default]
    Never,
    /// Whatever has its number and name reserved.
    Reserved,
    /// What was deprecated on the old side, for as long as the window says,
    /// and whose number and name are reserved.
    Deprecated,
}

/// Which changes count at all.
#[derive(Clone, Debug, Default)]
pub struct BreakingPolicy {
    /// Where it is not empty, only changes that one of these rules of other
    /// tools would report are more than notes.
    pub aliases: Vec<String>,
    /// Where it is not empty, only these surfaces count for `aliases`.
    pub surfaces: Vec<Surface>,
}

impl BreakingPolicy {
    /// Whether a change is more than a note. A rule of another tool is no
    /// reason where nobody is broken that this policy cares for.
    pub fn selects(&self, finding: &Finding) -> bool {
        let Some(change) = finding.change.as_ref().filter(|_| !self.aliases.is_empty()) else {
            return true;
        };
        let named = finding.aliases.iter().any(|it| self.aliases.iter().any(|name| name == it));
        let surfaces = if self.surfaces.is_empty() { Surface::ALL } else { &self.surfaces };
        named && change.effects.on(surfaces).breaks_backward()
    }
}

/// What a change of a custom option is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionOrder {
    /// Nothing worth a word.
    Ignore,
    /// Worth knowing; so is every change of an option that is not named.
    Note,
    /// A break, whatever it is.
    AnyChange,
    /// A break where a number rises.
    Raise,
    /// A break where a number falls.
    Lower,
    /// A break where it becomes true.
    True,
    /// A break where it is true no more.
    False,
    /// A break where it is set for the first time.
    Addition,
    /// A break where it is not set any more.
    Removal,
}

impl OptionOrder {
    /// Every one, with its word in configuration.
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

impl WaiverTarget {
    pub(crate) fn covers(&self, finding: &Finding) -> bool {
        match self {
            WaiverTarget::Element(glob) => glob.covers(&finding.element),
            WaiverTarget::Fingerprint(text) => *text == finding.fingerprint(),
        }
    }
}

/// A change that mends a hole and asks for a patch only.
#[derive(Clone, Debug)]
pub struct SecurityFix {
    /// What it covers.
    pub target: WaiverTarget,
    /// Why.
    pub reason: String,
}

impl Policy {
    /// What an upgrade has to know of it.
    pub fn upgrade_settings(&self) -> UpgradeSettings<'_> {
        UpgradeSettings { policy: &self.upgrade, folder_prefixes: &self.packages.folder_prefixes }
    }

    /// How much a finding of `rule` in `package` matters (`None`: nothing), and
    /// why, where the rule's own default does not decide. `change` is what it
    /// knows besides, where it is about a change.
    ///
    /// A change matters as much as the worst of its effects: a backward break
    /// as its rule says, unless its package is exempt; a forward break, and a
    /// change that breaks nobody, as a note, or as the finding says. Settings
    /// replace the severity of backward breaks; the others only where an
    /// override names the direction, or where they turn the rule off.
    pub fn severity(
        &self,
        rule: RuleDefaults,
        package: &str,
        change: Option<&ChangeFacts>,
    ) -> (Option<Severity>, Option<String>) {
        self.layers.severity(rule, package, change)
    }

    /// Whether breaking changes of a package are no errors: alphas are there
    /// to be changed.
    pub fn is_exempt(&self, package: &str) -> bool {
        severities::is_exempt(package)
    }

    /// Whether an element may ever be removed from its package: from an alpha,
    /// and elsewhere where `[deprecation] removal` allows it.
    pub(crate) fn may_lose(&self, element: Element<'_>) -> bool {
        self.is_exempt(element.package().name()) || self.deprecation.removal != Removal::Never
    }

    /// Whether any finding of the rule can matter.
    pub fn runs(&self, rule: RuleDefaults) -> bool {
        self.layers.runs(rule)
    }
}
