//! What it costs a server to take a change: facts about resources, as data.
//!
//! Seen on Envoy 1.40 in its statistics; `cargo xtask oracle --only runtime` checks
//! them there.

use abide_schema::MessageId;
use abide_schema::{Tree, format_api_name};

/// What it costs a server to take a change, the cheapest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cost {
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

impl Cost {
    /// Its name in reports for programs.
    pub const fn name(self) -> &'static str {
        match self {
            Cost::Nothing => "nothing",
            Cost::Live => "live",
            Cost::WarmsCluster => "warms-cluster",
            Cost::DrainsFilterChain => "drains-filter-chain",
            Cost::DrainsListener => "drains-listener",
            Cost::HotRestart => "hot-restart",
        }
    }

    /// What it is, as a phrase that ends a sentence about a change.
    pub const fn phrase(self) -> &'static str {
        match self {
            Cost::Nothing => "changes nothing",
            Cost::Live => "takes effect live",
            Cost::WarmsCluster => "warms the cluster again",
            Cost::DrainsFilterChain => "drains the filter chain",
            Cost::DrainsListener => "drains the listener",
            Cost::HotRestart => "needs a hot restart",
        }
    }
}

/// What changes of a message cost.
#[derive(Debug)]
pub(super) struct Facts {
    /// The API of the message, and its name in the package.
    api: &'static str,
    message: &'static str,
    /// The discovery service that sends it, if it is a resource.
    pub(super) service: Option<&'static str>,
    /// The cost of a change of a field; `None` where what is inside decides.
    changed: Option<Cost>,
    /// The cost of one that was added, and of one that was removed.
    pub(super) added: Cost,
    pub(super) removed: Cost,
    /// Fields that cost something else.
    fields: &'static [(&'static str, Option<Cost>)],
    /// Lists whose order means nothing.
    pub(super) unordered: &'static [&'static str],
}

/// A resource of which every change takes effect live.
const fn live(service: &'static str, api: &'static str, message: &'static str) -> Facts {
    Facts {
        api,
        message,
        service: Some(service),
        changed: Some(Cost::Live),
        added: Cost::Live,
        removed: Cost::Live,
        fields: &[],
        unordered: &["virtual_hosts"],
    }
}

/// A part of a file that is no resource.
const fn part(
    api: &'static str,
    message: &'static str,
    changed: Option<Cost>,
    unordered: &'static [&'static str],
) -> Facts {
    let cost = Cost::HotRestart;
    Facts {
        api,
        message,
        service: None,
        changed,
        added: cost,
        removed: cost,
        fields: &[],
        unordered,
    }
}

const fn listener(api: &'static str) -> Facts {
    const IN_PLACE: Option<Cost> = Some(Cost::DrainsFilterChain);
    Facts {
        api,
        message: "Listener",
        service: Some("LDS"),
        changed: Some(Cost::DrainsListener),
        added: Cost::Live,
        removed: Cost::DrainsListener,
        fields: &[("filter_chains", IN_PLACE), ("default_filter_chain", IN_PLACE)],
        unordered: &[],
    }
}

const fn cluster(api: &'static str) -> Facts {
    Facts {
        api,
        message: "Cluster",
        service: Some("CDS"),
        changed: Some(Cost::WarmsCluster),
        added: Cost::WarmsCluster,
        removed: Cost::Live,
        fields: &[],
        unordered: &[],
    }
}

const fn response(api: &'static str) -> Facts {
    const NOTHING: Option<Cost> = Some(Cost::Nothing);
    Facts {
        fields: &[("version_info", NOTHING), ("nonce", NOTHING), ("control_plane", NOTHING)],
        ..part(api, "DiscoveryResponse", None, &["resources"])
    }
}

/// The messages that cost something, by API and name.
const FACTS: &[Facts] = &[
    part("envoy.config.bootstrap.*", "Bootstrap", Some(Cost::HotRestart), &[]),
    part(
        "envoy.config.bootstrap.*",
        "Bootstrap.StaticResources",
        None,
        &["listeners", "clusters", "secrets"],
    ),
    Facts {
        service: Some("RTDS"),
        fields: &[("static_layer", Some(Cost::Live))],
        ..part("envoy.config.bootstrap.*", "RuntimeLayer", Some(Cost::HotRestart), &[])
    },
    response("envoy.service.discovery.*"),
    response("envoy.api.*"),
    listener("envoy.config.listener.*"),
    listener("envoy.api.*"),
    cluster("envoy.config.cluster.*"),
    cluster("envoy.api.*"),
    live("RDS", "envoy.config.route.*", "RouteConfiguration"),
    live("RDS", "envoy.api.*", "RouteConfiguration"),
    live("SRDS", "envoy.config.route.*", "ScopedRouteConfiguration"),
    live("SRDS", "envoy.api.*", "ScopedRouteConfiguration"),
    live("EDS", "envoy.config.endpoint.*", "ClusterLoadAssignment"),
    live("EDS", "envoy.api.*", "ClusterLoadAssignment"),
    live("SDS", "envoy.extensions.transport_sockets.tls.*", "Secret"),
    live("SDS", "envoy.api.*.auth", "Secret"),
    live("RTDS", "envoy.service.runtime.*", "Runtime"),
    live("RTDS", "envoy.service.discovery.*", "Runtime"),
];

impl Facts {
    /// What is known of a message.
    pub(super) fn of(tree: &Tree, ty: MessageId) -> Option<&'static Facts> {
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

    /// The cost of a change of a field or of something in it.
    pub(super) fn cost_of(&self, field: &str) -> Option<Cost> {
        let own = self.fields.iter().find(|(name, _)| *name == field);
        own.map_or(self.changed, |(_, cost)| *cost)
    }
}
