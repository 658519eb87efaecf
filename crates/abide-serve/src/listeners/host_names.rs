//! Host names that requests may come by.

use std::net::{IpAddr, SocketAddr};

use http::HeaderMap;
use http::header::HOST;
use http::uri::Authority;

/// By which names the pages may be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AllowedHosts {
    /// By those of this machine. A page of another site can have its own name lead here, and is then
    /// no other site to a browser (DNS rebinding).
    OfThisMachine,
    Any,
}

impl AllowedHosts {
    /// Those for pages at an address.
    pub(crate) fn for_address(address: SocketAddr) -> AllowedHosts {
        if address.ip().to_canonical().is_loopback() {
            AllowedHosts::OfThisMachine
        } else {
            AllowedHosts::Any
        }
    }

    /// Returns true if a request asks by one of them, or by none.
    pub(crate) fn admit(self, headers: &HeaderMap) -> bool {
        self == AllowedHosts::Any
            || headers.get_all(HOST).iter().all(|it| it.to_str().is_ok_and(is_of_this_machine))
    }

    /// Returns true if a client of long polling asks by one of them, or by a name of its own configuration:
    /// Envoy asks by that of the cluster. One without a dot is none that a site can have.
    pub(crate) fn admit_client(self, headers: &HeaderMap) -> bool {
        let is_single = |it: &str| !it.contains(['.', '[', '@']);
        self == AllowedHosts::Any
            || headers
                .get_all(HOST)
                .iter()
                .all(|it| it.to_str().is_ok_and(|it| is_single(it) || is_of_this_machine(it)))
    }
}

/// Returns true if a `host` is the name or address of the machine itself, with or without a port.
fn is_of_this_machine(host: &str) -> bool {
    let Ok(authority) = host.parse::<Authority>() else { return false };
    // Nobody has a port that is no number, or a user.
    let rest = host
        .strip_prefix(authority.host())
        .and_then(|it| if it.is_empty() { Some(it) } else { it.strip_prefix(':') });
    if !rest.is_some_and(|port| port.bytes().all(|it| it.is_ascii_digit())) {
        return false;
    }
    let name = authority.host().to_ascii_lowercase();
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    let name = name.strip_suffix('.').unwrap_or(&name);
    address.map_or_else(
        |_| name == "localhost" || name.ends_with(".localhost"),
        |it| it.to_canonical().is_loopback(),
    )
}
