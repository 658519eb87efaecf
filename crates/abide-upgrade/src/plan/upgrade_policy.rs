//! The policy of upgrades: all that `[upgrade]` of a configuration can say.

use std::collections::BTreeMap;

use abide_schema::Glob;

/// The part of the policy of a tree that an upgrade knows.
#[derive(Clone, Copy, Debug)]
pub struct UpgradeSettings<'p> {
    /// The way in which vN becomes v(N+1)alpha.
    pub policy: &'p UpgradePolicy,
    /// Folders that stand before the path of a package without being part of
    /// its name.
    pub folder_prefixes: &'p [String],
    /// Prefixes of package names that folders leave out.
    pub path_prefixes: &'p [String],
}

/// Named options of the upgrade: how vN becomes v(N+1)alpha.
#[derive(Clone, Debug)]
pub struct UpgradePolicy {
    /// The packages upgraded together with a package.
    pub closure: UpgradeClosure,
    /// The changes for which a package needs its next major version.
    pub reasons: Vec<UpgradeReason>,
    /// Packages that are always upgraded.
    pub always: Vec<Glob>,
    /// Packages that people maintain as the next major version, besides those that
    /// say so themselves.
    pub by_hand: Vec<Glob>,
    /// Elements of candidates that are additions, besides those that say so
    /// themselves.
    pub additions: Vec<Glob>,
    /// Elements whose values may get lost in the next major version, besides those
    /// that say so themselves.
    pub lossy: Vec<Glob>,
    /// The next name of packages for which it does not follow from a version.
    pub packages: BTreeMap<String, String>,
    /// The version that follows all versions of a major, instead of the alpha of
    /// the next major.
    pub majors: BTreeMap<u32, String>,
    /// True if active alphas and betas are upgraded too.
    pub unstable: bool,
    /// True if the package of a service is upgraded when the types of its
    /// methods are.
    pub services: bool,
    /// True if a file moves directly to the stable package that is named for it.
    /// Otherwise its candidate is an alpha until it is released.
    pub stable_moves: bool,
    /// The only major whose HTTP routes change in candidates; `None` for all. A release
    /// changes those of every major.
    pub http_major: Option<u32>,
    /// File options that candidates do not get.
    pub dropped_options: Vec<String>,
    /// The imports of a candidate.
    pub imports: ImportOrder,
    /// The layout of the text of a candidate.
    pub layout: CandidateLayout,
    /// True if comments that belong to no element are dropped together with the
    /// removed element after them.
    pub drop_detached_comments: bool,
    /// The style of links to elements in comments.
    pub links: LinkPolicy,
    /// True if the folders of generated files get a Bazel BUILD file, in the form
    /// that Envoy uses.
    pub build_files: bool,
    /// The Bazel labels of imports from outside the tree, by the start of their
    /// paths. The folder and `:pkg` are appended to a label that ends with `//`.
    /// An empty label means that none is needed.
    pub build_labels: BTreeMap<String, String>,
}

impl Default for UpgradePolicy {
    fn default() -> UpgradePolicy {
        UpgradePolicy {
            closure: UpgradeClosure::Package,
            reasons: vec![
                UpgradeReason::Deprecated,
                UpgradeReason::DeprecatedType,
                UpgradeReason::DeprecatedService,
                UpgradeReason::DeprecatedMethod,
                UpgradeReason::Moved,
                UpgradeReason::Renamed,
                UpgradeReason::Promoted,
            ],
            always: Vec::new(),
            by_hand: Vec::new(),
            additions: Vec::new(),
            lossy: Vec::new(),
            packages: BTreeMap::new(),
            majors: BTreeMap::new(),
            unstable: false,
            services: true,
            stable_moves: false,
            http_major: None,
            dropped_options: Vec::new(),
            imports: ImportOrder::Kept,
            layout: CandidateLayout::Source,
            drop_detached_comments: false,
            links: LinkPolicy::default(),
            build_files: false,
            build_labels: BTreeMap::new(),
        }
    }
}

/// The changes for which a package needs its next major version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpgradeReason {
    /// A field or an enum value is deprecated.
    Deprecated,
    /// A message or an enum itself is deprecated.
    DeprecatedType,
    /// A service is deprecated.
    DeprecatedService,
    /// A method is deprecated.
    DeprecatedMethod,
    /// The zero value of an enum is deprecated and already has the name that
    /// marks it so.
    Unavailable,
    /// A file moves to another package.
    Moved,
    /// An element is renamed.
    Renamed,
    /// A field becomes a member of a oneof.
    Promoted,
}

impl UpgradeReason {
    /// Every reason, with its name in configuration.
    pub const ALL: &[(&str, UpgradeReason)] = &[
        ("deprecated", UpgradeReason::Deprecated),
        ("deprecated-type", UpgradeReason::DeprecatedType),
        ("deprecated-service", UpgradeReason::DeprecatedService),
        ("deprecated-method", UpgradeReason::DeprecatedMethod),
        ("unavailable", UpgradeReason::Unavailable),
        ("moved", UpgradeReason::Moved),
        ("renamed", UpgradeReason::Renamed),
        ("promoted", UpgradeReason::Promoted),
    ];
}

/// The imports of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportOrder {
    /// Those of its source, without those that the upgrade left unused.
    Kept,
    /// Those of the files whose types it uses, and no public ones. Imports from
    /// outside the tree are unchanged.
    Computed,
}

/// The layout of the text of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CandidateLayout {
    /// Like its source, where the source still exists.
    Source,
    /// In one form for all: see [`format_canonically`](crate::format_canonically).
    Canonical,
}

impl CandidateLayout {
    /// Every layout, with its name in configuration.
    pub const ALL: &[(&str, CandidateLayout)] =
        &[("source", CandidateLayout::Source), ("canonical", CandidateLayout::Canonical)];
}

/// The style of links to elements in comments.
#[derive(Clone, Debug, Default)]
pub struct LinkPolicy {
    /// The prefix of the labels of links, such as `acme_api` in
    /// `acme_api_msg_config.v1.User`. Without it, links are full names in
    /// brackets.
    pub label: Option<String>,
    /// The packages that such a label omits, by preference.
    pub roots: Vec<String>,
    /// True if links keep the old names of renamed members.
    pub stale_members: bool,
    /// The names that links to certain members get, whatever their names are.
    pub members: BTreeMap<String, String>,
}

/// The packages upgraded together with a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UpgradeClosure {
    /// The packages whose types refer to upgraded types.
    Type,
    /// The packages that depend on upgraded packages.
    Package,
    /// Every active package.
    All,
}

impl UpgradeClosure {
    /// Every closure, with its name in configuration.
    pub const ALL: &[(&str, UpgradeClosure)] = &[
        ("type", UpgradeClosure::Type),
        ("package", UpgradeClosure::Package),
        ("all", UpgradeClosure::All),
    ];
}
