//! How an upgrade is made: what `[upgrade]` of a configuration can say.

use std::collections::BTreeMap;

use abide_schema::Glob;

/// What an upgrade knows of the policy of a tree.
#[derive(Clone, Copy, Debug)]
pub struct UpgradeSettings<'p> {
    /// How vN becomes v(N+1)alpha.
    pub policy: &'p UpgradePolicy,
    /// Folders that stand before the path of a package without being part of
    /// its name.
    pub folder_prefixes: &'p [String],
}

/// Named options of the upgrade: how vN becomes v(N+1)alpha.
#[derive(Clone, Debug)]
pub struct UpgradePolicy {
    /// What is upgraded together with a package.
    pub closure: Closure,
    /// What makes a package need its next major version.
    pub reasons: Vec<UpgradeReason>,
    /// Packages that are upgraded whatever they hold.
    pub always: Vec<Glob>,
    /// The next name of single packages, for which no version tells it.
    pub packages: BTreeMap<String, String>,
    /// The version that follows all versions of a major, instead of the alpha
    /// of the next.
    pub majors: BTreeMap<u32, String>,
    /// Whether active alphas and betas are upgraded too.
    pub unstable: bool,
    /// Whether a service drags its package along when the types of its methods
    /// are upgraded.
    pub services: bool,
    /// Whether a file moves at once to the package that is named for it, where
    /// that is a stable one; else its candidate is an alpha until it is released.
    pub stable_moves: bool,
    /// The only major whose HTTP routes follow; `None`: those of every major.
    pub http_major: Option<u32>,
    /// File options that are not carried over.
    pub dropped_options: Vec<String>,
    /// Which imports a candidate has.
    pub imports: ImportOrder,
    /// How the text of a candidate is laid out.
    pub layout: CandidateLayout,
    /// Whether comments that belong to no element go with the one that follows
    /// them.
    pub drop_detached_comments: bool,
    /// How comments link to elements.
    pub links: LinkPolicy,
    /// Whether folders in which files are made get a BUILD file of Bazel, as
    /// Envoy's conventions want it.
    pub build_files: bool,
    /// The label of what lies outside of the tree, by how the paths of imports
    /// begin: one that ends with `//` is followed by the folder and `:pkg`, an
    /// empty one means that none is needed.
    pub build_labels: BTreeMap<String, String>,
}

impl Default for UpgradePolicy {
    fn default() -> UpgradePolicy {
        UpgradePolicy {
            closure: Closure::Package,
            reasons: vec![
                UpgradeReason::Deprecated,
                UpgradeReason::Moved,
                UpgradeReason::Renamed,
                UpgradeReason::Promoted,
            ],
            always: Vec::new(),
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

/// What makes a package need its next major version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpgradeReason {
    /// A field or enum value is deprecated, or a type that nothing keeps.
    Deprecated,
    /// The zero of an enum is deprecated, and already bears the name that says
    /// so.
    Unavailable,
    /// A file moves to another package.
    Moved,
    /// An element gets another name.
    Renamed,
    /// A field becomes a member of a oneof.
    Promoted,
}

impl UpgradeReason {
    /// Every reason, with its name in configuration.
    pub const ALL: &[(&str, UpgradeReason)] = &[
        ("deprecated", UpgradeReason::Deprecated),
        ("unavailable", UpgradeReason::Unavailable),
        ("moved", UpgradeReason::Moved),
        ("renamed", UpgradeReason::Renamed),
        ("promoted", UpgradeReason::Promoted),
    ];
}

/// Which imports a candidate has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportOrder {
    /// Those of its source, without what the upgrade left unused.
    Kept,
    /// Those of the files whose types it names, and no public ones; those from
    /// outside of the tree as they were.
    Computed,
}

/// How the text of a candidate is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CandidateLayout {
    /// As its source, where that is still there.
    Source,
    /// As every other one: see [`canonical_layout`](crate::canonical_layout).
    Canonical,
}

impl CandidateLayout {
    /// Every layout, with its name in configuration.
    pub const ALL: &[(&str, CandidateLayout)] =
        &[("source", CandidateLayout::Source), ("canonical", CandidateLayout::Canonical)];
}

/// How comments link to elements.
#[derive(Clone, Debug, Default)]
pub struct LinkPolicy {
    /// What the labels of links begin with, as `acme_api` in
    /// `acme_api_msg_config.v1.User`; without it, links are full names in
    /// brackets.
    pub label: Option<String>,
    /// The packages that such a label leaves out, by preference.
    pub roots: Vec<String>,
    /// Whether links keep the old names of members that are renamed.
    pub stale_members: bool,
    /// The names that links to single members get, whatever these are called.
    pub members: BTreeMap<String, String>,
}

/// What is upgraded together with a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Closure {
    /// The packages whose types refer to upgraded types.
    Type,
    /// The packages that depend on upgraded packages.
    Package,
    /// Every active package.
    All,
}

impl Closure {
    /// Every closure, with its name in configuration.
    pub const ALL: &[(&str, Closure)] =
        &[("type", Closure::Type), ("package", Closure::Package), ("all", Closure::All)];
}
