//! The clients that the operator expects. Others are served alike, but do not go unnoticed: what a
//! client says about its program decides nothing about what it gets.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Mutex, PoisonError};

use abide_schema::Glob;
use clap::Args as Group;
use semver::VersionReq;
use sha2::{Digest, Sha256};

use abide_xds::wire::Node;

use crate::error::Error;

/// The number of unexpected clients that are remembered, so that each is warned about once.
const MAX_WARNED: usize = 10_000;

/// Which clients are expected. Without any of these, all are.
#[derive(Clone, Debug, Default, Group)]
pub(crate) struct ExpectArgs {
    /// The program of clients that are expected: its name, which may be a glob, and its versions, which
    /// may be left out: `envoy`, `'envoy >=1.36, <1.41'` (repeatable)
    ///
    /// Others are served all the same. The log warns about each of them once, `/clients` marks them, and
    /// `/stats` counts them.
    #[arg(long, value_name = "AGENT", value_parser = ExpectedAgent::parse)]
    pub(crate) expect_agent: Vec<ExpectedAgent>,
    /// The cluster of the nodes that are expected, which may be a glob: `edge-*` (repeatable)
    #[arg(long, value_name = "CLUSTER", value_parser = Glob::new)]
    pub(crate) expect_cluster: Vec<Glob>,
}

/// A kind of program.
#[derive(Clone, Debug)]
pub(crate) struct ExpectedAgent {
    name: Glob,
    /// The versions of it that are expected; `None`: any, and clients that say none.
    versions: Option<VersionReq>,
}

impl ExpectedAgent {
    fn parse(text: &str) -> Result<ExpectedAgent, Error> {
        let text = text.trim();
        let (name, versions) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        if name.is_empty() {
            return Err(Error::Argument("expected the name of a program".to_owned()));
        }
        let versions = match versions.trim() {
            "" => None,
            versions => Some(VersionReq::parse(versions).map_err(|error| {
                Error::Argument(format!(
                    "`{versions}` is not a requirement of a version, such as `>=1.36, <1.41`: {error}"
                ))
            })?),
        };
        let name = Glob::new(name).map_err(Error::Argument)?;
        Ok(ExpectedAgent { name, versions })
    }

    fn matches(&self, node: &Node) -> bool {
        let is_of_version = |it: &VersionReq| node.version().is_some_and(|own| it.matches(&own));
        self.name.matches(&node.user_agent_name) && self.versions.as_ref().is_none_or(is_of_version)
    }
}

/// The clients that are expected, and those that came all the same.
#[derive(Debug, Default)]
pub(crate) struct ExpectedClients {
    args: ExpectArgs,
    warned: Mutex<WarnedClients>,
}

#[derive(Debug, Default)]
struct WarnedClients {
    /// Hashes of what clients say about themselves: their number is bounded, and so is each.
    clients: BTreeSet<[u8; 16]>,
    /// The first to come is the first to be forgotten.
    order: VecDeque<[u8; 16]>,
}

impl ExpectedClients {
    pub(crate) fn new(args: ExpectArgs) -> ExpectedClients {
        ExpectedClients { args, warned: Mutex::default() }
    }

    /// Explains why a client is not expected: one phrase. Warns about it when it comes first.
    pub(crate) fn check_expected(&self, node: &Node) -> Option<String> {
        let why = self.find_mismatch(node)?;
        let mut hash = Sha256::new();
        for part in [&*node.id, &node.cluster, &node.user_agent()] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        let mut client = [0; 16];
        client.copy_from_slice(&hash.finalize()[..16]);
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        if warned.clients.insert(client) {
            warned.order.push_back(client);
            if warned.order.len() > MAX_WARNED
                && let Some(oldest) = warned.order.pop_front()
            {
                warned.clients.remove(&oldest);
            }
            drop(warned);
            tracing::warn!(
                node = node.id,
                cluster = node.cluster,
                "a client is not expected: {why}"
            );
        }
        Some(why)
    }

    fn find_mismatch(&self, node: &Node) -> Option<String> {
        let ExpectArgs { expect_agent: agents, expect_cluster: clusters } = &self.args;
        if !agents.is_empty() && !agents.iter().any(|it| it.matches(node)) {
            let agent = node.user_agent();
            return Some(match agent.is_empty() {
                true => "it names no user agent".to_owned(),
                false => format!("no `--expect-agent` fits its user agent `{agent}`"),
            });
        }
        if !clusters.is_empty() && !clusters.iter().any(|it| it.matches(&node.cluster)) {
            return Some(match node.cluster.is_empty() {
                true => "it names no cluster".to_owned(),
                false => format!("no `--expect-cluster` fits its cluster `{}`", node.cluster),
            });
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected(agents: &[&str], clusters: &[&str]) -> ExpectedClients {
        ExpectedClients::new(ExpectArgs {
            expect_agent: agents.iter().map(|it| ExpectedAgent::parse(it).expect(it)).collect(),
            expect_cluster: clusters.iter().map(|it| Glob::new(it).expect(it)).collect(),
        })
    }

    fn node(agent: &str, version: &str, cluster: &str) -> Node {
        Node {
            id: "one".to_owned(),
            cluster: cluster.to_owned(),
            user_agent_name: agent.to_owned(),
            user_agent_version: version.to_owned(),
            ..Node::default()
        }
    }

    #[test]
    fn clients_are_expected_by_program_version_and_cluster() {
        let none = expected(&[], &[]);
        assert_eq!(none.check_expected(&Node::default()), None, "all are expected");
        let both = expected(&["envoy >=1.36, <1.41", "grpc-*"], &["edge-*", "core"]);
        for (agent, version, cluster, why) in [
            ("envoy", "1.36.0", "core", None),
            ("envoy", "1.40.2", "edge-a", None),
            ("grpc-c++", "anything", "core", None),
            (
                "envoy",
                "1.41.0",
                "core",
                Some("no `--expect-agent` fits its user agent `envoy 1.41.0`"),
            ),
            ("envoy", "", "core", Some("no `--expect-agent` fits its user agent `envoy`")),
            ("", "", "core", Some("it names no user agent")),
            ("grpc-go", "1", "lab", Some("no `--expect-cluster` fits its cluster `lab`")),
            ("grpc-go", "1", "", Some("it names no cluster")),
        ] {
            let found = both.check_expected(&node(agent, version, cluster));
            assert_eq!(found.as_deref(), why, "{agent} {version} {cluster}");
        }
    }

    #[test]
    fn what_is_no_pattern_says_so() {
        let said = |text: &str| ExpectedAgent::parse(text).expect_err(text).to_string();
        assert_eq!(said(" "), "expected the name of a program");
        assert!(said("envoy 1.x.y.z").starts_with("`1.x.y.z` is not a requirement of a version"));
        ExpectedAgent::parse("[").expect_err("no glob");
    }

    #[test]
    fn the_number_of_clients_that_are_remembered_has_an_end() {
        let expected = expected(&["envoy"], &[]);
        for number in 0..MAX_WARNED + 10 {
            let node = Node { id: number.to_string(), ..node("other", "", "") };
            for _ in 0..2 {
                assert!(expected.check_expected(&node).is_some());
            }
        }
        let warned = expected.warned.lock().expect("nobody panics");
        assert_eq!((warned.clients.len(), warned.order.len()), (MAX_WARNED, MAX_WARNED));
    }
}
