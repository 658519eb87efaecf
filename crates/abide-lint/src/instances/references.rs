//! Names by which resources refer to each other, where all of them are in the files given.

use std::collections::BTreeSet;

use abide_instance::{Item, config_source, is_other_source, walk};
use abide_schema::value::Message;
use abide_schema::{Element, Tree};

use crate::finding::Location;
use crate::inputs::{InstanceSet, bootstrap_of};

/// What is referred to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResourceKind {
    Cluster,
    RouteTable,
    Endpoints,
}

impl ResourceKind {
    pub(crate) fn noun(self) -> &'static str {
        match self {
            ResourceKind::Cluster => "cluster",
            ResourceKind::RouteTable => "route table",
            ResourceKind::Endpoints => "load assignment",
        }
    }
}

/// The fields that name another resource: their message without its package, and the field.
const FIELDS: &[(&str, &str, ResourceKind)] = &[
    ("RouteAction", "cluster", ResourceKind::Cluster),
    ("RouteAction.RequestMirrorPolicy", "cluster", ResourceKind::Cluster),
    ("WeightedCluster.ClusterWeight", "name", ResourceKind::Cluster),
    ("TcpProxy", "cluster", ResourceKind::Cluster),
    ("TcpProxy.WeightedCluster.ClusterWeight", "name", ResourceKind::Cluster),
    ("GrpcService.EnvoyGrpc", "cluster_name", ResourceKind::Cluster),
    ("HttpUri", "cluster", ResourceKind::Cluster),
    ("Rds", "route_config_name", ResourceKind::RouteTable),
];

/// The names of all messages that name a resource, by themselves or for another.
const NAMES: &[&str] = &[
    "Cluster",
    "ClusterLoadAssignment",
    "ClusterWeight",
    "EnvoyGrpc",
    "HttpUri",
    "Rds",
    "RequestMirrorPolicy",
    "RouteAction",
    "RouteConfiguration",
    "TcpProxy",
];

/// The messages whose names of clusters are looked up when a bootstrap is read.
const CHECKED: &[&str] = &["RouteAction", "WeightedCluster.ClusterWeight"];

/// A name that one resource has for another.
pub(crate) struct Reference {
    pub(crate) kind: ResourceKind,
    pub(crate) name: String,
    pub(crate) location: Location,
    pub(crate) package: String,
    pub(crate) element: String,
    /// True if the reader of a bootstrap refuses it if nothing has the name.
    pub(crate) is_checked: bool,
}

/// The resources of a run by name, and the names by which they are used.
#[derive(Default)]
pub(crate) struct References {
    pub(crate) uses: Vec<Reference>,
    clusters: BTreeSet<String>,
    routes: BTreeSet<String>,
    endpoints: BTreeSet<String>,
    /// True if a bootstrap is among the files.
    has_bootstrap: bool,
    /// True if some clusters come from elsewhere.
    sends_clusters: bool,
    has_cluster_files: bool,
}

impl References {
    /// The names of all resources of a kind; `None` if they are not all in the files.
    pub(crate) fn declared(&self, kind: ResourceKind) -> Option<&BTreeSet<String>> {
        match kind {
            ResourceKind::Cluster => {
                let is_static = self.has_bootstrap && !self.sends_clusters;
                Some(&self.clusters).filter(|_| is_static || self.has_cluster_files)
            }
            ResourceKind::RouteTable => Some(&self.routes).filter(|it| !it.is_empty()),
            ResourceKind::Endpoints => Some(&self.endpoints).filter(|it| !it.is_empty()),
        }
    }
}

/// Finds them in the files of a run.
pub(crate) fn references(tree: &Tree, set: &InstanceSet<'_>) -> References {
    let mut all = References::default();
    for (file, document) in set.documents() {
        let Some(message) = document.message() else { continue };
        let bootstrap = bootstrap_of(tree, document);
        if let Some(bootstrap) = bootstrap {
            all.has_bootstrap = true;
            let dynamic = bootstrap.get_message(tree, "dynamic_resources");
            all.sends_clusters |= dynamic.is_some_and(|it| it.get(tree, "cds_config").is_some());
        }
        // A route table may say that its clusters come later. What is in it follows it.
        let mut validates = true;
        walk(tree, message, document.span, &mut |visit| {
            let Item::Message(message) = visit.met else { return };
            let ty = tree.message(message.ty);
            let package = ty.file().package().name();
            if !package.starts_with("envoy.") || !NAMES.contains(&ty.name()) {
                return;
            }
            let name = ty.full_name();
            let own = name.strip_prefix(package).unwrap_or_default().trim_start_matches('.');
            all.declare(tree, own, message, bootstrap.is_some());
            if own == "RouteConfiguration" {
                let wanted = message.get_message(tree, "validate_clusters");
                validates = wanted.is_none_or(|it| it.get_bool(tree, "value") == Some(true));
            }
            // What is in a file of the reader, or comes from another server, is not among the resources.
            let is_here =
                |it: &Message| !config_source(tree, it).is_some_and(|it| is_other_source(tree, it));
            let fields = FIELDS.iter().filter(|(owner, ..)| *owner == own && is_here(message));
            for (_, field, kind) in fields {
                if let Some(entry) = message.get(tree, field)
                    && let Some(used) = entry.value.as_str().filter(|it| !it.is_empty())
                {
                    all.uses.push(Reference {
                        kind: *kind,
                        name: used.to_owned(),
                        location: Location::instance(file, entry.span),
                        package: package.to_owned(),
                        element: Element::Field(tree.field(entry.field)).full_name(),
                        is_checked: bootstrap.is_some() && validates && CHECKED.contains(&own),
                    });
                }
            }
            if own == "Cluster" && message.get_enum_name(tree, "type") == Some("EDS") {
                let eds = message.get_message(tree, "eds_cluster_config");
                let service = eds.and_then(|it| it.get(tree, "service_name"));
                let entry = service.or_else(|| message.get(tree, "name"));
                let entry = entry.filter(|_| eds.is_none_or(is_here));
                if let Some((entry, used)) = entry.and_then(|it| Some((it, it.value.as_str()?))) {
                    all.uses.push(Reference {
                        kind: ResourceKind::Endpoints,
                        name: used.to_owned(),
                        location: Location::instance(file, entry.span),
                        package: package.to_owned(),
                        element: name,
                        is_checked: false,
                    });
                }
            }
        });
    }
    all
}

impl References {
    fn declare(&mut self, tree: &Tree, own: &str, message: &Message, in_bootstrap: bool) {
        let name = |field| message.get_str(tree, field).unwrap_or_default().to_owned();
        match own {
            "Cluster" => {
                self.has_cluster_files |= !in_bootstrap;
                self.clusters.insert(name("name"));
            }
            // Those of a bootstrap lie inside of their listener and are not referred to.
            "RouteConfiguration" if !in_bootstrap => {
                self.routes.insert(name("name"));
            }
            "ClusterLoadAssignment" if !in_bootstrap => {
                self.endpoints.insert(name("cluster_name"));
            }
            _ => {}
        }
    }
}
