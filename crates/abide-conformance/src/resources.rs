//! The resources that scenarios speak of, and how they are told to a server.

use std::fmt;

use abide_xds::{Kind, ResourceType, Types};
use serde_json::{Value, json};

use crate::error::LineProblem;

/// The types that scenarios name.
const WORDS: &[(&str, Kind)] = &[
    ("cds", Kind::CLUSTER),
    ("eds", Kind::ENDPOINTS),
    ("lds", Kind::LISTENER),
    ("rds", Kind::ROUTES),
    ("vhds", Kind::VIRTUAL_HOST),
];

/// The endpoints that say which change a server serves: a client of the runner follows them.
pub(crate) const MARK: &str = "conformance-mark";

/// A type of resources, in the third major.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Type(Kind);

impl Type {
    /// The type of endpoints.
    pub(crate) const ENDPOINTS: Type = Type(Kind::ENDPOINTS);

    /// The type that a word of a scenario means.
    pub(crate) fn named(word: &str) -> Result<Type, LineProblem> {
        let found = WORDS.iter().find(|(name, _)| *name == word);
        found.map(|(_, kind)| Type(*kind)).ok_or_else(|| {
            let known = WORDS.iter().map(|(name, _)| *name).collect();
            LineProblem::Type { word: word.to_owned(), known }
        })
    }

    /// The type that a type URL names, if scenarios speak of it.
    pub(crate) fn of_url(url: &str) -> Option<Type> {
        WORDS.iter().map(|(_, kind)| Type(*kind)).find(|it| it.url() == url)
    }

    /// Returns the facts that the protocol knows about it.
    pub(crate) fn resource_type(self) -> ResourceType {
        Types::default().get(self.0).cloned().expect("every kind with a word is built in")
    }

    /// Its type URL.
    pub(crate) fn url(self) -> String {
        let url = self.resource_type().type_url(3);
        url.expect("every kind with a word has a third major").to_string()
    }

    /// Returns true if an answer in the state of the world has to hold all resources.
    pub(crate) fn is_whole(self) -> bool {
        self.resource_type().entry.is_whole
    }

    #[cfg(test)]
    pub(crate) fn kind(self) -> Kind {
        self.0
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = WORDS.iter().find(|(_, kind)| *kind == self.0);
        f.write_str(found.map_or("?", |(word, _)| word))
    }
}

/// A resource, as a scenario writes it: `NAME=ALIAS@CONTENT>TYPE/NAME`. All but the name may be
/// left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServedResource {
    pub(crate) ty: Type,
    pub(crate) name: String,
    pub(crate) aliases: Vec<String>,
    /// The number that tells one version from another.
    pub(crate) content: u16,
    /// References to other resources: endpoints of a cluster, routes of a listener, clusters of
    /// routes.
    pub(crate) references: Vec<(Type, String)>,
}

impl ServedResource {
    /// Reads a resource of a scenario.
    ///
    /// # Errors
    /// A text that is no resource.
    pub(crate) fn read(ty: Type, text: &str) -> Result<ServedResource, LineProblem> {
        let mut parts = text.split('>');
        let head = parts.next().unwrap_or_default();
        let (names, content) = head.split_once('@').unwrap_or((head, "0"));
        let content = content.parse().map_err(|_| LineProblem::Content(text.to_owned()))?;
        let mut names = names.split('=').map(str::to_owned);
        let name = names.next().filter(|it| !it.is_empty());
        let name = name.ok_or_else(|| LineProblem::Unnamed(text.to_owned()))?;
        let references = parts.map(|it| {
            let parts = it.split_once('/');
            let (word, name) = parts.ok_or_else(|| LineProblem::Reference(it.to_owned()))?;
            let to = Type::named(word)?;
            let can_refer = matches!(
                (ty.0, to.0),
                (Kind::CLUSTER, Kind::ENDPOINTS)
                    | (Kind::LISTENER, Kind::ROUTES)
                    | (Kind::ROUTES, Kind::CLUSTER)
            );
            match can_refer {
                true => Ok((to, name.to_owned())),
                false => Err(LineProblem::Refers { resource: text.to_owned(), from: ty, to }),
            }
        });
        let references = references.collect::<Result<_, LineProblem>>()?;
        Ok(ServedResource { ty, name, aliases: names.collect(), content, references })
    }

    /// The message, in the JSON mapping.
    pub(crate) fn json(&self) -> Value {
        let ads = json!({"ads": {}, "resource_api_version": "V3"});
        let content = self.content;
        let address =
            |port: u16| json!({"socket_address": {"address": "127.0.0.1", "port_value": port}});
        let mut message = match self.ty.0 {
            Kind::CLUSTER => {
                let mut cluster = json!({
                    "name": self.name, "connect_timeout": format!("{}s", content + 1), "type": "STATIC",
                });
                if let Some((_, endpoints)) = self.references.first() {
                    cluster["type"] = "EDS".into();
                    cluster["eds_cluster_config"] =
                        json!({"service_name": endpoints, "eds_config": ads});
                }
                cluster
            }
            Kind::ENDPOINTS => json!({
                "cluster_name": self.name,
                "endpoints": [{"lb_endpoints": [{"endpoint": {"address": address(10_000 + content)}}]}],
            }),
            Kind::LISTENER => {
                let chains = self.references.iter().map(|(_, routes)| {
                    let config = json!({
                        "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
                        "stat_prefix": routes,
                        "rds": {"route_config_name": routes, "config_source": ads},
                    });
                    json!({"filters": [{"name": "http", "typed_config": config}]})
                });
                let chains: Vec<Value> = chains.collect();
                json!({"name": self.name, "address": address(10_000 + content), "filter_chains": chains})
            }
            Kind::ROUTES => {
                let routes = self.references.iter().map(
                    |(_, cluster)| json!({"match": {"prefix": "/"}, "route": {"cluster": cluster}}),
                );
                let routes: Vec<Value> = routes.collect();
                let host =
                    json!({"name": format!("v{content}"), "domains": ["*"], "routes": routes});
                json!({"name": self.name, "virtual_hosts": [host]})
            }
            _ => json!({"name": self.name, "domains": [format!("v{content}.example")]}),
        };
        message["@type"] = self.ty.url().into();
        if self.aliases.is_empty() {
            return message;
        }
        json!({
            "@type": "type.googleapis.com/envoy.service.discovery.v3.Resource",
            "name": self.name, "aliases": self.aliases, "resource": message,
        })
    }
}

/// All that is served at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Served(pub(crate) Vec<ServedResource>);

impl Served {
    /// Reads a list of resources.
    ///
    /// # Errors
    /// A text that is none.
    pub(crate) fn read(text: &str) -> Result<Served, LineProblem> {
        let mut ty = None;
        let mut served = Vec::new();
        for word in text.split_whitespace() {
            match word.strip_suffix(':') {
                Some(word) => ty = Some(Type::named(word)?),
                None => {
                    let ty = ty.ok_or_else(|| LineProblem::BeforeType(word.to_owned()))?;
                    served.push(ServedResource::read(ty, word)?);
                }
            }
        }
        Ok(Served(served))
    }

    /// The resource with this name.
    pub(crate) fn get(&self, ty: Type, name: &str) -> Option<&ServedResource> {
        self.0.iter().find(|it| it.ty == ty && it.name == name)
    }
}

/// A scenario's resources and a mark, for a server: its messages in the JSON mapping.
pub(crate) fn render_messages(served: &Served, mark: u16) -> Vec<Value> {
    let mark = ServedResource {
        ty: Type::ENDPOINTS,
        name: MARK.to_owned(),
        aliases: Vec::new(),
        content: mark,
        references: Vec::new(),
    };
    served.0.iter().chain([&mark]).map(ServedResource::json).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_are_read_or_refused() {
        let read =
            |text| Served::read(text).map(|it| it.0.len()).map_err(|error| error.to_string());
        assert_eq!(read("cds: a@2>eds/e b eds: e=f=g"), Ok(3));
        assert_eq!(read("a"), Err("`a` stands before a type".to_owned()));
        assert!(read("xds: a").is_err_and(|it| it.contains("there are cds, eds")));
        assert_eq!(read("eds: e>cds/c"), Err("`e>cds/c`: eds does not refer to cds".to_owned()));
        assert!(read("cds: a@b").is_err());
        assert!(read("cds: @1").is_err());
        assert!(read("cds: a>e").is_err());
    }
}
