//! References from one resource to others.

use abide_instance::{Item, config_source, is_other_source, walk};
use abide_schema::Tree;
use abide_schema::value::Message;
use abide_syntax::Span;

use crate::kind::{Kind, Types};
use crate::resource::Reference;

/// The resources that a value refers to, with what is in each Any of it.
pub(super) fn collect_references(types: &Types, tree: &Tree, message: &Message) -> Vec<Reference> {
    let mut found = Vec::new();
    walk(tree, message, Span::default(), &mut |visit| {
        let Item::Message(message) = visit.met else { return };
        let view = tree.message(message.ty);
        let full_name = view.full_name();
        let is_served_here = |kind| match config_source(tree, message) {
            Some(source) => !is_other_source(tree, source),
            // Without a source, a secret is one of the bootstrap.
            None => kind != Kind::SECRET,
        };
        for referring in types.referring(&full_name).filter(|it| is_served_here(it.kind)) {
            let names = message.get_all(tree, &referring.field);
            let names = names.filter_map(|it| it.value.as_str()).filter(|it| !it.is_empty());
            found.extend(names.map(|name| Reference {
                kind: referring.kind,
                name: name.into(),
                is_required: referring.is_required,
            }));
        }
        if full_name.starts_with("envoy.") && takes_scopes(tree, message) {
            found.push(Reference::optional(Kind::SCOPED_ROUTES, Reference::ANY));
        }
        if full_name.starts_with("envoy.")
            && let Some(name) = find_discovered_filter(tree, message)
        {
            found.push(Reference::optional(Kind::EXTENSION, name));
        }
        let is_cluster =
            |it: &str| it == "envoy.config.cluster.v3.Cluster" || it == "envoy.api.v2.Cluster";
        if is_cluster(&full_name)
            && message.get_enum_name(tree, "type") == Some("EDS")
            && let Some(name) = find_endpoints(tree, message)
        {
            found.push(Reference::optional(Kind::ENDPOINTS, name));
        }
    });
    found
}

/// Returns true if a listener takes its scopes of routes from here, whatever their names.
fn takes_scopes(tree: &Tree, message: &Message) -> bool {
    let source = message.get_message(tree, "scoped_rds_config_source");
    source.is_some_and(|it| !is_other_source(tree, it))
}

/// The name of a filter whose configuration clients ask for, and cannot do without.
fn find_discovered_filter<'m>(tree: &Tree, filter: &'m Message) -> Option<&'m str> {
    let discovery = filter.get_message(tree, "config_discovery")?;
    let source = config_source(tree, discovery)?;
    let is_needed =
        !is_other_source(tree, source) && discovery.get(tree, "default_config").is_none();
    filter.get_str(tree, "name").filter(|it| is_needed && !it.is_empty())
}

/// The name of the endpoints of a cluster.
fn find_endpoints<'m>(tree: &Tree, cluster: &'m Message) -> Option<&'m str> {
    let eds = cluster.get_message(tree, "eds_cluster_config");
    let source = eds.and_then(|eds| config_source(tree, eds));
    if source.is_some_and(|it| is_other_source(tree, it)) {
        return None;
    }
    let service = eds.and_then(|eds| eds.get_str(tree, "service_name")).filter(|it| !it.is_empty());
    service.or_else(|| cluster.get_str(tree, "name"))
}
