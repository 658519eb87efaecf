//! References from one resource to others.

use abide_instance::{Item, walk};
use abide_schema::Tree;
use abide_schema::value::Message;
use abide_syntax::Span;

use crate::kind::{Kind, Types};
use crate::resource::Reference;

/// The resources that a value refers to, with what is in each Any of it.
pub(super) fn references(types: &Types, tree: &Tree, message: &Message) -> Vec<Reference> {
    let mut found = Vec::new();
    walk(tree, message, Span::default(), &mut |visit| {
        let Item::Message(message) = visit.met else { return };
        let view = tree.message(message.ty);
        let full_name = view.full_name();
        for referring in types.referring(&full_name) {
            let name = message.get_str(tree, &referring.field).filter(|it| !it.is_empty());
            found.extend(name.map(|name| Reference {
                kind: referring.kind,
                name: name.into(),
                is_required: referring.is_required,
            }));
        }
        let is_cluster =
            |it: &str| it == "envoy.config.cluster.v3.Cluster" || it == "envoy.api.v2.Cluster";
        if is_cluster(&full_name)
            && message.get_enum_name(tree, "type") == Some("EDS")
            && let Some(name) = endpoints_of(tree, message)
        {
            found.push(Reference::optional(Kind::ENDPOINTS, name));
        }
    });
    found
}

/// The name of the endpoints of a cluster.
fn endpoints_of<'m>(tree: &Tree, cluster: &'m Message) -> Option<&'m str> {
    let eds = cluster.get_message(tree, "eds_cluster_config");
    let service = eds.and_then(|eds| eds.get_str(tree, "service_name")).filter(|it| !it.is_empty());
    service.or_else(|| cluster.get_str(tree, "name"))
}
