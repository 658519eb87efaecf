//! The well-known formats of strings and bytes.
//!
//! Formats that a regular expression can state exactly are expressions
//! ([`regular`]). The others are checked by code and compared by name.

use super::acceptance::Acceptance;
use super::dialect::Dialect;

/// A format that is checked by code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StringFormat {
    /// RFC 5322 with display names, as in protoc-gen-validate.
    Email,
    Hostname,
    /// As in protoc-gen-validate: the last label may be a number.
    LooseHostname,
    Ip,
    Ipv6,
    Address,
    LooseAddress,
    Uri,
    UriRef,
    Prefix {
        version: Option<u8>,
        network: bool,
    },
    HostAndPort,
}

/// The email addresses of HTML 5, as in protovalidate.
const EMAIL: &str = concat!(
    r"\A[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?",
    r"(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*\z"
);

const IPV4: &str = concat!(
    r"\A(?:(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])\.){3}",
    r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])\z"
);

/// The regular expression of a format, if it has one.
pub(crate) fn find_regular_format(dialect: Dialect, key: &str) -> Option<&'static str> {
    Some(match key {
        "email" if dialect == Dialect::Buf => EMAIL,
        "ipv4" => IPV4,
        "uuid" => {
            r"\A[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\z"
        }
        "tuuid" => r"\A[0-9a-fA-F]{32}\z",
        "ulid" => r"\A[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}\z",
        "protobuf_fqn" => r"\A[A-Za-z_][A-Za-z_0-9]*(?:\.[A-Za-z_][A-Za-z_0-9]*)*\z",
        "protobuf_dot_fqn" => r"\A(?:\.[A-Za-z_][A-Za-z_0-9]*)+\z",
        _ => return None,
    })
}

/// The regular expression of `well_known_regex`.
pub(crate) fn find_header_format(
    dialect: Dialect,
    name: &str,
    strict: bool,
) -> Option<&'static str> {
    let name = name.strip_prefix("KNOWN_REGEX_").unwrap_or(name);
    Some(match (name, strict, dialect) {
        ("HTTP_HEADER_NAME", true, _) => r"\A:?[0-9a-zA-Z!#$%\&'*+,\-.^_|\~`]+\z",
        ("HTTP_HEADER_VALUE", true, _) => r"\A[^\x00-\x08\x0A-\x1F\x7F]*\z",
        ("HTTP_HEADER_NAME", false, Dialect::Buf) => r"\A[^\x00\x0A\x0D]+\z",
        ("HTTP_HEADER_NAME" | "HTTP_HEADER_VALUE", false, _) => r"\A[^\x00\x0A\x0D]*\z",
        _ => return None,
    })
}

/// The expressions for the formats of `bytes`, which fix the number of bytes.
pub(crate) fn find_size_format(key: &str) -> Option<&'static str> {
    Some(match key {
        "ip" => r"(?s-u)\A(?:.{4}|.{16})\z",
        "ipv4" => r"(?s-u)\A.{4}\z",
        "ipv6" | "uuid" => r"(?s-u)\A.{16}\z",
        _ => return None,
    })
}

impl StringFormat {
    /// The format that a rule of strings names.
    pub(crate) fn named(dialect: Dialect, key: &str) -> Option<StringFormat> {
        let prefix = |version, network| StringFormat::Prefix { version, network };
        let buf = dialect == Dialect::Buf;
        Some(match key {
            "email" => StringFormat::Email,
            "hostname" if buf => StringFormat::Hostname,
            "hostname" => StringFormat::LooseHostname,
            "ip" => StringFormat::Ip,
            "ipv6" => StringFormat::Ipv6,
            "address" if buf => StringFormat::Address,
            "address" => StringFormat::LooseAddress,
            "uri" => StringFormat::Uri,
            "uri_ref" => StringFormat::UriRef,
            "ip_with_prefixlen" => prefix(None, false),
            "ipv4_with_prefixlen" => prefix(Some(4), false),
            "ipv6_with_prefixlen" => prefix(Some(6), false),
            "ip_prefix" => prefix(None, true),
            "ipv4_prefix" => prefix(Some(4), true),
            "ipv6_prefix" => prefix(Some(6), true),
            "host_and_port" => StringFormat::HostAndPort,
            _ => return None,
        })
    }

    /// Returns true if every value that has this format in one library has the other format
    /// in the other library.
    pub(crate) fn implies(self, own: Dialect, other: StringFormat, by: Dialect) -> bool {
        use StringFormat::{
            Address, Hostname, Ip, Ipv6, LooseAddress, LooseHostname, Prefix, Uri, UriRef,
        };
        let shared = match (own, by) {
            (Dialect::Pgv, Dialect::Buf) => !matches!(self, Uri | UriRef),
            // Only protovalidate accepts zones of addresses.
            (Dialect::Buf, Dialect::Pgv) => !matches!(self, Ip | Ipv6 | Address),
            _ => true,
        };
        let within = match (self, other) {
            (Ipv6, Ip | Address | LooseAddress)
            | (Ip | Hostname, Address | LooseAddress)
            | (Hostname, LooseHostname)
            | (LooseHostname | Address, LooseAddress)
            | (Uri, UriRef) => true,
            (Prefix { version: a, network: m }, Prefix { version: b, network: n }) => {
                (b.is_none() || a == b) && (m || !n)
            }
            _ => self == other,
        };
        shared && within
    }

    /// An expression that every value of the format matches, and some others.
    pub(crate) fn outline(self, dialect: Dialect) -> Option<&'static str> {
        Some(match (self, dialect) {
            (StringFormat::Email, _) => "@",
            (StringFormat::Hostname | StringFormat::LooseHostname, _) => concat!(
                r"\A[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?",
                r"(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*\.?\z"
            ),
            (StringFormat::Ip, _) => r"(?s)\A[0-9a-fA-F]*[.:][0-9a-fA-F.:]+(?:%.+)?\z",
            (StringFormat::Ipv6, _) => r"(?s)\A[0-9a-fA-F]*:[0-9a-fA-F.:]+(?:%.+)?\z",
            (StringFormat::Address | StringFormat::LooseAddress, _) => {
                r"(?s)\A[a-zA-Z0-9:][a-zA-Z0-9.:-]*(?:%.+)?\z"
            }
            // url.Parse of Go takes more than the RFC does.
            (StringFormat::Uri | StringFormat::UriRef, Dialect::Pgv) => return None,
            (StringFormat::Uri, Dialect::Buf) => {
                r"\A[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9._~!$\&'()*+,;=:@/?#\[\]%-]*\z"
            }
            (StringFormat::UriRef, Dialect::Buf) => r"\A[A-Za-z0-9._~!$\&'()*+,;=:@/?#\[\]%-]*\z",
            (StringFormat::Prefix { .. }, _) => r"\A[0-9a-fA-F.:]+/[0-9]{1,3}\z",
            (StringFormat::HostAndPort, _) => r"(?s)\A.+:[0-9]{1,5}\z",
        })
    }

    /// Values that have the format, shortest first.
    pub(crate) fn samples(self) -> &'static [&'static str] {
        match self {
            StringFormat::Email => &["a@a", "a@a.a"],
            StringFormat::Hostname => &["a", "b", "aa", "a.a", "a.aa", "a-a"],
            StringFormat::LooseHostname => &["a", "0", "b", "aa", "a.a"],
            StringFormat::Ip | StringFormat::Address | StringFormat::LooseAddress => {
                &["::", "::1", "0.0.0.0", "1.1.1.1"]
            }
            StringFormat::Ipv6 => &["::", "::1", "1::"],
            StringFormat::Uri => &["a:", "a:a", "a://a", "http://a/a"],
            StringFormat::UriRef => &["", "a", "a/a", "/", "a:a"],
            StringFormat::Prefix { version: Some(4), .. } => {
                &["0.0.0.0/0", "0.0.0.0/1", "10.0.0.0/8"]
            }
            StringFormat::Prefix { version: Some(_), .. } => &["::/0", "::/1"],
            StringFormat::Prefix { version: None, .. } => &["::/0", "::/1", "0.0.0.0/0"],
            StringFormat::HostAndPort => &["a:0", "a:1", "b:0", "[::]:0"],
        }
    }

    /// Decides whether a string has the format.
    pub(crate) fn evaluate(self, dialect: Dialect, text: &str) -> Acceptance {
        let said = match self {
            // If the two readings of RFC 5322 differ, nothing is claimed.
            StringFormat::Email => {
                let plain = text.split_once('@').is_some_and(|(local, host)| {
                    text.len() <= 254
                        && (1..=64).contains(&local.len())
                        && local.bytes().all(|it| {
                            it.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~.".contains(&it)
                        })
                        && !local.starts_with('.')
                        && !local.ends_with('.')
                        && !local.contains("..")
                        && is_hostname(host, false)
                });
                if !plain && text.contains('@') {
                    return Acceptance::Unknown("whether this is an email address".to_owned());
                }
                plain
            }
            StringFormat::Hostname => is_hostname(text, true),
            StringFormat::LooseHostname => is_hostname(text, false),
            StringFormat::Ip => parse_ipv4(text).is_some() || parse_ipv6(dialect, text).is_some(),
            StringFormat::Ipv6 => parse_ipv6(dialect, text).is_some(),
            StringFormat::Address => {
                is_hostname(text, true)
                    || parse_ipv4(text).is_some()
                    || parse_ipv6(dialect, text).is_some()
            }
            StringFormat::LooseAddress => {
                is_hostname(text, false)
                    || parse_ipv4(text).is_some()
                    || parse_ipv6(dialect, text).is_some()
            }
            // url.Parse of Go takes more than the RFC does.
            StringFormat::Uri | StringFormat::UriRef
                if dialect == Dialect::Pgv && !is_uri(text, self == StringFormat::UriRef) =>
            {
                return Acceptance::Unknown("whether this is a URI".to_owned());
            }
            StringFormat::Uri => is_uri(text, false),
            StringFormat::UriRef => is_uri(text, true),
            StringFormat::Prefix { version, network } => is_ip_prefix(version, network, text),
            StringFormat::HostAndPort => is_host_and_port(text),
        };
        Acceptance::when(said)
    }
}

/// Source: RFC 1034, section 3.5, and RFC 1123; a strict name does not end in
/// a label of digits.
fn is_hostname(text: &str, strict: bool) -> bool {
    if text.len() > 253 {
        return false;
    }
    let text = text.strip_suffix('.').unwrap_or(text);
    let last = text.rsplit('.').next().unwrap_or_default();
    text.split('.').all(is_label) && !(strict && has_digits(last))
}

/// Returns true if a text may be one part of a host name.
fn is_label(text: &str) -> bool {
    (1..=63).contains(&text.len())
        && !text.starts_with('-')
        && !text.ends_with('-')
        && text.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-')
}

fn parse_ipv4(text: &str) -> Option<u32> {
    text.parse::<std::net::Ipv4Addr>().ok().map(u32::from)
}

/// protovalidate allows a zone after `%`.
fn parse_ipv6(dialect: Dialect, text: &str) -> Option<u128> {
    let address = match text.split_once('%') {
        Some((address, zone)) if dialect == Dialect::Buf => {
            (!zone.is_empty() && !zone.contains('\0')).then_some(address)?
        }
        _ => text,
    };
    address.parse::<std::net::Ipv6Addr>().ok().map(u128::from)
}

fn is_ip_prefix(version: Option<u8>, network: bool, text: &str) -> bool {
    let Some((address, length)) = text.rsplit_once('/') else { return false };
    let canonical = length == "0" || !length.starts_with('0');
    if !canonical || !length.bytes().all(|it| it.is_ascii_digit()) {
        return false;
    }
    let Ok(length) = length.parse::<u32>() else { return false };
    let four = parse_ipv4(address)
        .filter(|_| version != Some(6) && length <= 32)
        .is_some_and(|bits| !network || bits.checked_shl(length).unwrap_or(0) == 0);
    let six = || {
        let bits = address.parse::<std::net::Ipv6Addr>().ok().map(u128::from);
        bits.filter(|_| version != Some(4) && length <= 128)
            .is_some_and(|bits| !network || bits.checked_shl(length).unwrap_or(0) == 0)
    };
    four || six()
}

fn is_host_and_port(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else { return false };
    let port = !port.is_empty()
        && port.bytes().all(|it| it.is_ascii_digit())
        && (port == "0" || !port.starts_with('0'))
        && port.parse::<u16>().is_ok();
    let bracketed = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    port && match bracketed {
        Some(address) => parse_ipv6(Dialect::Buf, address).is_some(),
        None => is_hostname(host, true) || parse_ipv4(host).is_some(),
    }
}

/// Source: RFC 3986, appendix A.
fn is_uri(text: &str, relative: bool) -> bool {
    let (rest, fragment) = text.split_once('#').map_or((text, None), |(a, b)| (a, Some(b)));
    let (rest, query) = rest.split_once('?').map_or((rest, None), |(a, b)| (a, Some(b)));
    if [fragment, query].into_iter().flatten().any(|it| !has_only_characters(it, ":@/?")) {
        return false;
    }
    let scheme = rest.split_once(':').filter(|(scheme, _)| {
        scheme.starts_with(|it: char| it.is_ascii_alphabetic())
            && scheme.bytes().all(|it| it.is_ascii_alphanumeric() || b"+-.".contains(&it))
    });
    let path = match scheme {
        Some((_, rest)) => rest,
        None if relative => {
            // The first segment of a relative path has no colon.
            if rest.split('/').next().is_some_and(|first| first.contains(':')) {
                return false;
            }
            rest
        }
        None => return false,
    };
    match path.strip_prefix("//") {
        Some(rest) => {
            let end = rest.find('/').unwrap_or(rest.len());
            is_authority(&rest[..end]) && has_only_characters(&rest[end..], ":@/")
        }
        None => has_only_characters(path, ":@/"),
    }
}

/// Returns true if a text has only digits, or nothing.
fn has_digits(text: &str) -> bool {
    text.bytes().all(|it| it.is_ascii_digit())
}

fn is_authority(text: &str) -> bool {
    let host = match text.rsplit_once('@') {
        Some((user, host)) if has_only_characters(user, ":") => host,
        Some(_) => return false,
        None => text,
    };
    if let Some(literal) = host.strip_prefix('[') {
        let Some((literal, port)) = literal.split_once(']') else { return false };
        let port = port.is_empty() || port.strip_prefix(':').is_some_and(has_digits);
        return port && is_ip_literal(literal);
    }
    let (name, port) = host.split_once(':').unwrap_or((host, ""));
    has_digits(port) && has_only_characters(name, "") && decodes_to_utf8(name)
}

fn is_ip_literal(text: &str) -> bool {
    if let Some(future) = text.strip_prefix(['v', 'V']) {
        return future.split_once('.').is_some_and(|(version, rest)| {
            !version.is_empty()
                && version.bytes().all(|it| it.is_ascii_hexdigit())
                && !rest.is_empty()
                && !rest.contains('%')
                && has_only_characters(rest, ":")
        });
    }
    // RFC 6874: a zone follows an escaped percent sign.
    let (address, zone) = match text.split_once("%25") {
        Some((address, zone)) => (address, Some(zone)),
        None => (text, None),
    };
    let zone = zone.is_none_or(|zone| {
        let plain = zone.bytes().all(|it| it.is_ascii_alphanumeric() || b"-._~%".contains(&it));
        !zone.is_empty() && plain && has_only_characters(zone, "") && decodes_to_utf8(zone)
    });
    zone && address.parse::<std::net::Ipv6Addr>().is_ok()
}

/// Unreserved characters, sub-delimiters, percent escapes and `more`.
fn has_only_characters(text: &str, more: &str) -> bool {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte == b'%' {
            let escape = bytes.get(at + 1..at + 3);
            if !escape.is_some_and(|it| it.iter().all(u8::is_ascii_hexdigit)) {
                return false;
            }
            at += 3;
        } else if byte.is_ascii_alphanumeric()
            || b"-._~!$&'()*+,;=".contains(&byte)
            || more.as_bytes().contains(&byte)
        {
            at += 1;
        } else {
            return false;
        }
    }
    true
}

/// The escapes of a registered name are UTF-8. Source: RFC 3986, section 3.2.2.
fn decodes_to_utf8(text: &str) -> bool {
    let mut decoded = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        let hex = tail.get(..2).and_then(|it| std::str::from_utf8(it).ok());
        match hex.and_then(|it| u8::from_str_radix(it, 16).ok()).filter(|_| byte == b'%') {
            Some(value) => {
                decoded.push(value);
                rest = &tail[2..];
            }
            None => {
                decoded.push(byte);
                rest = tail;
            }
        }
    }
    std::str::from_utf8(&decoded).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sets::Pattern;

    const TEXTS: &[&str] = &[
        "",
        "a",
        "b",
        "ab",
        "ba",
        "aa",
        "bb",
        "\u{e9}",
        "abb",
        "aab",
        "c",
        "caa",
        "bab",
        "::",
        "::1",
        "1.1.1.1",
        "a.b",
        "a.1",
        "1",
        "fe80::1%a",
        "a:b",
        "a@b",
        "a b",
        "%zz",
        "_",
        "123e4567-e89b-12d3-a456-426614174000",
    ];

    /// What a format is compared by, where it is more than an expression.
    #[test]
    fn outlines_and_samples_of_formats_are_true() {
        let names = [
            "email",
            "hostname",
            "ip",
            "ipv6",
            "address",
            "uri",
            "uri_ref",
            "ip_with_prefixlen",
            "ipv4_with_prefixlen",
            "ipv6_with_prefixlen",
            "ip_prefix",
            "ipv4_prefix",
            "ipv6_prefix",
            "host_and_port",
        ];
        let more = [
            "0.0.0.0/0",
            "::1/128",
            "1::/16",
            "a:1",
            "[::1%x]:2",
            "a.b.",
            "%41",
            "http://[::1]/?q#f",
        ];
        let mut accepted = 0;
        for dialect in Dialect::ALL {
            let formats =
                names.map(|name| StringFormat::named(dialect, name).expect("it is known"));
            for format in formats {
                for sample in format.samples() {
                    assert_eq!(
                        format.evaluate(dialect, sample),
                        Acceptance::Accepted,
                        "{format:?} {sample}"
                    );
                }
                let outline =
                    format.outline(dialect).map(|it| Pattern::new(it).expect("it compiles"));
                for text in TEXTS.iter().chain(&more).chain(format.samples()) {
                    if format.evaluate(dialect, text) != Acceptance::Accepted {
                        continue;
                    }
                    accepted += 1;
                    if let Some(outline) = &outline {
                        assert!(outline.is_match(text.as_bytes()), "{format:?} {text}");
                    }
                    // And what is said to be implied is.
                    for by in Dialect::ALL {
                        for other in
                            names.map(|name| StringFormat::named(by, name).expect("it is known"))
                        {
                            if format.implies(dialect, other, by) {
                                let judged = other.evaluate(by, text);
                                assert_eq!(
                                    judged,
                                    Acceptance::Accepted,
                                    "{text}: {format:?} {other:?}"
                                );
                            }
                        }
                    }
                }
            }
        }
        assert!(accepted > 100, "{accepted}");
    }
}
