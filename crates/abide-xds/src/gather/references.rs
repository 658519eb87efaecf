//! What a resource refers to.

use abide_instance::{Met, walk};
use abide_schema::Tree;
use abide_schema::value::Message;
use abide_syntax::Span;

use crate::kind::Kind;
use crate::resource::Reference;

/// Fields of Envoy's API that name a resource: the message in its package, the field,
/// the kind, and whether configuration cannot work without it. Facts of the API, the
/// same in its majors 2 and 3.
const FIELDS: &[(&str, &str, Kind, bool)] = &[
    ("RouteAction", "cluster", Kind::Cluster, true),
    ("WeightedCluster.ClusterWeight", "name", Kind::Cluster, true),
    ("RouteAction.RequestMirrorPolicy", "cluster", Kind::Cluster, false),
    ("TcpProxy", "cluster", Kind::Cluster, true),
    ("TcpProxy.WeightedCluster.ClusterWeight", "name", Kind::Cluster, true),
    ("GrpcService.EnvoyGrpc", "cluster_name", Kind::Cluster, false),
    ("HttpUri", "cluster", Kind::Cluster, false),
    ("Rds", "route_config_name", Kind::Routes, true),
    ("ScopedRouteConfiguration", "route_configuration_name", Kind::Routes, true),
    ("SdsSecretConfig", "name", Kind::Secret, false),
];

/// The resources that a value refers to, with what is in each Any of it.
pub(super) fn references(tree: &Tree, message: &Message) -> Vec<Reference> {
    let mut found = Vec::new();
    walk(tree, message, Span::default(), &mut |visit| {
        let Met::Message(message) = visit.met else { return };
        let view = tree.message(message.ty);
        let package = view.file().package();
        if !package.name().starts_with("envoy.") {
            return;
        }
        let full_name = view.full_name();
        let local = full_name.strip_prefix(package.name()).unwrap_or(&full_name);
        let local = local.trim_start_matches('.');
        for (holder, field, kind, is_required) in FIELDS {
            if *holder == local
                && let Some(name) = message.str(tree, field).filter(|it| !it.is_empty())
            {
                let is_required = *is_required;
                found.push(Reference { kind: *kind, name: name.into(), is_required });
            }
        }
        if local == "Cluster"
            && message.enum_name(tree, "type") == Some("EDS")
            && let Some(name) = endpoints_of(tree, message)
        {
            found.push(Reference::optional(Kind::Endpoints, name));
        }
    });
    found
}

/// The name of the endpoints of a cluster.
fn endpoints_of<'m>(tree: &Tree, cluster: &'m Message) -> Option<&'m str> {
    let eds = cluster.message(tree, "eds_cluster_config");
    let service = eds.and_then(|eds| eds.str(tree, "service_name")).filter(|it| !it.is_empty());
    service.or_else(|| cluster.str(tree, "name"))
}
