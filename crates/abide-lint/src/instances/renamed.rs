//! What a name that a message does not have was in other releases, or in an older major.

use abide_schema::{Cardinality, Element, Enum, Field, Message, Type};

use crate::rule::InstanceContext;

/// Names of Envoy's first API, which was JSON without protos: the message or enum that lacks one,
/// the name, and what to write instead. Its SDS found endpoints; since then EDS does, and SDS finds
/// secrets.
const FIRST_SDS: &[(&str, &str, &str)] = &[
    (".Cluster.DiscoveryType", "SDS", "use `EDS`"),
    (".Cluster.DiscoveryType", "sds", "use `EDS`"),
    (".Cluster", "sds_cluster_config", "use `eds_cluster_config`"),
    (".Cluster.EdsClusterConfig", "sds_config", "use `eds_config`"),
    (
        ".ClusterManager",
        "sds",
        "say in `eds_cluster_config` of each cluster where its endpoints are",
    ),
    (
        ".Bootstrap.DynamicResources",
        "sds_config",
        "say in `eds_cluster_config` of each cluster where its endpoints are, and in \
         `SdsSecretConfig` where a secret is",
    ),
];

/// What a name was.
pub(crate) struct Past {
    /// Where it was and where it went, for a reader.
    pub(crate) why: String,
    /// What to write instead.
    pub(crate) help: String,
}

impl Past {
    /// Returns what a key was that a message does not have.
    pub(crate) fn of_field(
        context: &InstanceContext<'_>,
        message: Message<'_>,
        name: &str,
    ) -> Option<Past> {
        let owner = message.full_name();
        for release in context.options.releases {
            let there = release.tree.message_named(&owner);
            if let Some(field) = there.and_then(|it| it.find_field_by_json_name(name)) {
                let kind = format!("it is a field in {}", release.name);
                return Some(Past::told(context, kind, Element::Field(field)));
            }
        }
        let mut older = previous(context, message);
        // Annotations may form a circle.
        for _ in 0..16 {
            let Some(before) = older else { break };
            if let Some(field) = before.find_field_by_json_name(name) {
                let kind = format!("`{}` of the older major had it", before.full_name());
                return Some(Past::told(context, kind, Element::Field(field)));
            }
            older = previous(context, before);
        }
        let is_reserved = message.reserves_name(name);
        Past::of_first_sds(&owner, name).or_else(|| {
            is_reserved.then(|| Past {
                why: "an earlier version had it: the name is reserved".to_owned(),
                help: "remove it, or check against the release that still has it".to_owned(),
            })
        })
    }

    /// Returns what a name was in the first API of Envoy, if it is one of those that mean something
    /// else now.
    fn of_first_sds(owner: &str, name: &str) -> Option<Past> {
        let is_it = |(end, known, _): &&(&str, &str, &str)| {
            *known == name && owner.starts_with("envoy.") && owner.ends_with(end)
        };
        let (_, _, help) = FIRST_SDS.iter().find(is_it)?;
        let why = "SDS found endpoints in the first API of Envoy; since the second, EDS does, and SDS finds secrets";
        Some(Past { why: why.to_owned(), help: (*help).to_owned() })
    }

    /// Returns what a value was that an enum does not have.
    pub(crate) fn of_enum_value(
        context: &InstanceContext<'_>,
        item: Enum<'_>,
        name: &str,
    ) -> Option<Past> {
        let owner = item.full_name();
        for release in context.options.releases {
            let there = release.tree.element_named(&owner);
            let Some(Element::Enum(there)) = there else { continue };
            if let Some(value) = there.values().find(|it| it.name() == name) {
                let kind = format!("it is a value in {}", release.name);
                return Some(Past::told(context, kind, Element::EnumValue(value)));
            }
        }
        let is_reserved = item.is_reserved_name(name);
        Past::of_first_sds(&owner, name).or_else(|| {
            is_reserved.then(|| Past {
                why: "an earlier version had it: the name is reserved".to_owned(),
                help: "use another value".to_owned(),
            })
        })
    }

    fn told(context: &InstanceContext<'_>, mut why: String, was: Element<'_>) -> Past {
        if let Element::Field(field) = was {
            why += &format!(", as {}", type_of(field));
        }
        if was.deprecated().is_some() {
            let since = was.deprecated_since();
            why += &since
                .map_or(", deprecated".to_owned(), |(it, _)| format!(", deprecated since {it}"));
        }
        let replacement = was.replacement().map(Element::full_name);
        let known = replacement.filter(|it| context.tree.element_named(it).is_some());
        let help = match known {
            Some(name) => format!("use `{name}`"),
            None => "remove it: no setting makes a reader of this API take it".to_owned(),
        };
        Past { why, help }
    }
}

fn previous<'t>(context: &InstanceContext<'t>, message: Message<'_>) -> Option<Message<'t>> {
    context.tree.message_named(message.previous_type()?.0)
}

fn type_of(field: Field<'_>) -> String {
    let repeated = match field.cardinality() {
        Cardinality::Singular => "",
        Cardinality::Repeated => "repeated ",
        Cardinality::Map => return "a map".to_owned(),
    };
    let name = match field.ty() {
        Type::Scalar(scalar) => scalar.keyword().to_owned(),
        Type::Message(id) => field.tree.message(id).full_name(),
        Type::Enum(id) => field.tree.enumeration(id).full_name(),
        Type::Unresolved => return "a type that is not known".to_owned(),
    };
    format!("`{repeated}{name}`")
}
