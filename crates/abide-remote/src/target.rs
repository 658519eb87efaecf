//! The address of a server, as people write it.

use std::str::FromStr;

/// The address of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// `HOST:PORT`.
    pub(crate) address: String,
    /// True if it was written as a URL that means TLS.
    pub(crate) has_tls: bool,
}

/// A text that is not the address of a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}: write it as HOST:PORT, such as `localhost:50051` or `[::1]:50051`")]
pub(crate) struct TargetError {
    reason: &'static str,
}

impl FromStr for Target {
    type Err = TargetError;

    /// Reads `HOST:PORT`, also as a URL without a path.
    fn from_str(text: &str) -> Result<Target, TargetError> {
        let fail = |reason| Err(TargetError { reason });
        let (scheme, address) = text.split_once("://").unwrap_or(("grpc", text));
        let has_tls = match scheme.to_ascii_lowercase().as_str() {
            "grpc" | "http" => false,
            "grpcs" | "https" => true,
            _ => return fail("no such scheme of a server"),
        };
        let address = address.strip_suffix('/').unwrap_or(address);
        if address.contains(['/', '?', '#', '@']) || address.contains(char::is_whitespace) {
            return fail("an address has no path and no user");
        }
        let Some((host, port)) = address.rsplit_once(':') else { return fail("it has no port") };
        let is_bracketed = host.starts_with('[') && host.ends_with(']');
        match port.parse::<u16>() {
            Ok(0) | Err(_) => fail("it has no port"),
            Ok(_) if host.is_empty() => fail("it has no host"),
            Ok(_) if host.contains(':') && !is_bracketed => {
                fail("an address of IPv6 stands in brackets")
            }
            Ok(_) => Ok(Target { address: address.to_owned(), has_tls }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_with_and_without_a_scheme() {
        for (text, address, has_tls) in [
            ("localhost:50051", "localhost:50051", false),
            ("grpc://localhost:50051", "localhost:50051", false),
            ("GRPCS://api.example.com:443/", "api.example.com:443", true),
            ("[::1]:50051", "[::1]:50051", false),
        ] {
            let wanted = Target { address: address.to_owned(), has_tls };
            assert_eq!(text.parse(), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn what_is_no_address_says_how_one_is_written() {
        for (text, reason) in [
            ("localhost", "it has no port"),
            ("localhost:http", "it has no port"),
            ("localhost:0", "it has no port"),
            (":50051", "it has no host"),
            ("::1:50051", "an address of IPv6 stands in brackets"),
            ("localhost:50051/path", "an address has no path and no user"),
            ("ftp://localhost:50051", "no such scheme of a server"),
        ] {
            let error = text.parse::<Target>().expect_err(text);
            assert_eq!(error, TargetError { reason }, "{text}");
            assert!(error.to_string().contains("HOST:PORT"));
        }
    }
}
