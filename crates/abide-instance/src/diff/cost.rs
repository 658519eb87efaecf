//! Costs of changes for a server: facts about resources, as data.
//!
//! Seen on Envoy 1.40 in its statistics; `cargo xtask oracle --only runtime` makes the
//! changes of `testdata/instances/costs` there.

use abide_schema::MessageId;
use abide_schema::{Tree, format_api_name};

/// The cost of a change for a server, the cheapest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeCost {
    /// Nothing: it means the same.
    Nothing,
    /// It takes effect at once. No connection is closed.
    Live,
    /// The cluster is warmed again and takes the place of the old one, whose
    /// connections drain.
    WarmsCluster,
    /// The listener stays. The connections of its changed filter chains drain.
    DrainsFilterChain,
    /// The listener is replaced, and all its connections drain.
    DrainsListener,
    /// Only a new process takes it.
    HotRestart,
}

impl ChangeCost {
    /// Its name in reports for programs.
    pub const fn name(self) -> &'static str {
        match self {
            ChangeCost::Nothing => "nothing",
            ChangeCost::Live => "live",
            ChangeCost::WarmsCluster => "warms-cluster",
            ChangeCost::DrainsFilterChain => "drains-filter-chain",
            ChangeCost::DrainsListener => "drains-listener",
            ChangeCost::HotRestart => "hot-restart",
        }
    }

    /// Describes the cost, as a phrase that ends a sentence about a change.
    pub const fn phrase(self) -> &'static str {
        match self {
            ChangeCost::Nothing => "changes nothing",
            ChangeCost::Live => "takes effect live",
            ChangeCost::WarmsCluster => "warms the cluster again",
            ChangeCost::DrainsFilterChain => "drains the filter chain",
            ChangeCost::DrainsListener => "drains the listener",
            ChangeCost::HotRestart => "needs a hot restart",
        }
    }
}

/// The costs of changes of a message.
#[derive(Debug)]
pub(super) struct MessageCosts {
    /// The API of the message, and its name in the package.
    api: &'static str,
    message: &'static str,
    /// The discovery service that sends it, if it is a resource.
    pub(super) service: Option<&'static str>,
    /// The cost of a change of a field; `None` where what is inside decides.
    changed: Option<ChangeCost>,
    /// The cost of one that was added, and of one that was removed.
    pub(super) added: ChangeCost,
    pub(super) removed: ChangeCost,
    /// Fields that cost something else.
    fields: &'static [(&'static str, Option<ChangeCost>)],
    /// Lists whose order means nothing.
    pub(super) unordered: &'static [&'static str],
    /// Lists in which an element that was added, or that moved as it is, costs no more than this.
    kept_elements: &'static [(&'static str, ChangeCost)],
    /// The cost of what is equal but for the order of a list or a default that is written out, apart from
    /// fields of their own cost.
    pub(super) equivalent_inside: Option<ChangeCost>,
}

/// A resource of which every change takes effect live.
const fn new_live(service: &'static str, api: &'static str, message: &'static str) -> MessageCosts {
    MessageCosts {
        api,
        message,
        service: Some(service),
        changed: Some(ChangeCost::Live),
        added: ChangeCost::Live,
        removed: ChangeCost::Live,
        fields: &[],
        unordered: &["virtual_hosts"],
        kept_elements: &[],
        equivalent_inside: None,
    }
}

/// A part of a file that is no resource.
const fn new_part(
    api: &'static str,
    message: &'static str,
    changed: Option<ChangeCost>,
    unordered: &'static [&'static str],
) -> MessageCosts {
    let cost = ChangeCost::HotRestart;
    MessageCosts {
        api,
        message,
        service: None,
        changed,
        added: cost,
        removed: cost,
        fields: &[],
        unordered,
        kept_elements: &[],
        equivalent_inside: None,
    }
}

const fn new_listener(api: &'static str) -> MessageCosts {
    const IN_PLACE: Option<ChangeCost> = Some(ChangeCost::DrainsFilterChain);
    MessageCosts {
        api,
        message: "Listener",
        service: Some("LDS"),
        changed: Some(ChangeCost::DrainsListener),
        added: ChangeCost::Live,
        removed: ChangeCost::DrainsListener,
        fields: &[
            ("filter_chains", IN_PLACE),
            ("default_filter_chain", IN_PLACE),
            // It chooses among chains for connections to come.
            ("filter_chain_matcher", Some(ChangeCost::Live)),
        ],
        unordered: &[],
        kept_elements: &[
            ("filter_chains", ChangeCost::Live),
            ("default_filter_chain", ChangeCost::Live),
        ],
        // Envoy compares all but the filter chains as sets without defaults, and updates the listener in
        // place.
        equivalent_inside: Some(ChangeCost::Live),
    }
}

const fn new_cluster(api: &'static str) -> MessageCosts {
    MessageCosts {
        api,
        message: "Cluster",
        service: Some("CDS"),
        changed: Some(ChangeCost::WarmsCluster),
        added: ChangeCost::WarmsCluster,
        removed: ChangeCost::Live,
        fields: &[],
        unordered: &[],
        kept_elements: &[],
        equivalent_inside: None,
    }
}

const fn new_response(api: &'static str) -> MessageCosts {
    const NOTHING: Option<ChangeCost> = Some(ChangeCost::Nothing);
    MessageCosts {
        fields: &[("version_info", NOTHING), ("nonce", NOTHING), ("control_plane", NOTHING)],
        ..new_part(api, "DiscoveryResponse", None, &["resources"])
    }
}

/// The messages that cost something, by API and name.
const FACTS: &[MessageCosts] = &[
    new_part("envoy.config.bootstrap.*", "Bootstrap", Some(ChangeCost::HotRestart), &[]),
    new_part(
        "envoy.config.bootstrap.*",
        "Bootstrap.StaticResources",
        None,
        &["listeners", "clusters", "secrets"],
    ),
    MessageCosts {
        service: Some("RTDS"),
        fields: &[("static_layer", Some(ChangeCost::Live))],
        ..new_part("envoy.config.bootstrap.*", "RuntimeLayer", Some(ChangeCost::HotRestart), &[])
    },
    new_response("envoy.service.discovery.*"),
    new_response("envoy.api.*"),
    new_listener("envoy.config.listener.*"),
    new_listener("envoy.api.*"),
    new_cluster("envoy.config.cluster.*"),
    new_cluster("envoy.api.*"),
    new_live("RDS", "envoy.config.route.*", "RouteConfiguration"),
    new_live("RDS", "envoy.api.*", "RouteConfiguration"),
    new_live("SRDS", "envoy.config.route.*", "ScopedRouteConfiguration"),
    new_live("SRDS", "envoy.api.*", "ScopedRouteConfiguration"),
    new_live("EDS", "envoy.config.endpoint.*", "ClusterLoadAssignment"),
    new_live("EDS", "envoy.api.*", "ClusterLoadAssignment"),
    new_live("SDS", "envoy.extensions.transport_sockets.tls.*", "Secret"),
    new_live("SDS", "envoy.api.*.auth", "Secret"),
    new_live("RTDS", "envoy.service.runtime.*", "Runtime"),
    new_live("RTDS", "envoy.service.discovery.*", "Runtime"),
];

impl MessageCosts {
    /// Finds the known costs of a message.
    pub(super) fn find(tree: &Tree, ty: MessageId) -> Option<&'static MessageCosts> {
        let message = tree.message(ty);
        let package = message.package().name();
        // Nearly all messages of other APIs end here.
        if !package.starts_with("envoy.") {
            return None;
        }
        let (api, full_name) = (format_api_name(package)?, message.full_name());
        let name = full_name.strip_prefix(package)?.strip_prefix('.')?;
        FACTS.iter().find(|it| it.api == api && it.message == name)
    }

    /// Returns true if changes of a field cost something else than those of other fields.
    pub(super) fn has_own_cost(&self, field: &str) -> bool {
        self.fields.iter().any(|(name, _)| *name == field)
    }

    /// The cost of an element that was added to a field, or that moved as it is; `None` where it
    /// costs what a change does.
    pub(super) fn cost_of_kept_elements(&self, field: &str) -> Option<ChangeCost> {
        self.kept_elements.iter().find(|(name, _)| *name == field).map(|(_, cost)| *cost)
    }

    /// The cost of a change of a field or of something in it.
    pub(super) fn cost_of(&self, field: &str) -> Option<ChangeCost> {
        let own = self.fields.iter().find(|(name, _)| *name == field);
        own.map_or(self.changed, |(_, cost)| *cost)
    }
}
