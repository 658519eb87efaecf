//! The facts of a certificate that operators look at.

use std::net::{Ipv4Addr, Ipv6Addr};

use abide_xds::wire::truncate;
use tokio_rustls::rustls::pki_types::CertificateDer;
use x509_parser::extensions::GeneralName;

/// The number of other names that are kept of a certificate.
const MAX_NAMES: usize = 20;

/// The facts of a certificate that operators look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFacts {
    /// Such as `CN=edge, O=Acme`.
    pub subject: String,
    /// Its other names: hosts, URIs, addresses.
    pub names: Vec<String>,
    /// When it ends, in seconds since 1970.
    pub end: i64,
}

impl CertificateFacts {
    /// Reads them; `None` of what is no certificate.
    pub fn read(certificate: &CertificateDer<'_>) -> Option<CertificateFacts> {
        let (_, parsed) = x509_parser::parse_x509_certificate(certificate).ok()?;
        let names = parsed.subject_alternative_name().ok().flatten();
        let names = names.iter().flat_map(|it| &it.value.general_names);
        Some(CertificateFacts {
            subject: truncate(&parsed.subject().to_string()).to_owned(),
            names: names.filter_map(show_name).take(MAX_NAMES).collect(),
            end: parsed.validity().not_after.timestamp(),
        })
    }
}

/// Renders a name of a kind that clients have.
fn show_name(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(text) | GeneralName::URI(text) | GeneralName::RFC822Name(text) => {
            Some(truncate(text).to_owned())
        }
        GeneralName::IPAddress(bytes) => match bytes.len() {
            4 => <[u8; 4]>::try_from(*bytes).ok().map(|it| Ipv4Addr::from(it).to_string()),
            16 => <[u8; 16]>::try_from(*bytes).ok().map(|it| Ipv6Addr::from(it).to_string()),
            _ => None,
        },
        _ => None,
    }
}
