//! TLS as a client speaks it to a server.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args as Group;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::error::TransportError;
use crate::tls::{read_certificates, read_key, read_roots};

/// TLS to a server.
#[derive(Clone, Debug, Default, Group)]
pub struct ClientTlsArgs {
    /// A file with the authorities that may have signed the certificate of the server
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// A file with a certificate to show
    #[arg(long, value_name = "FILE", requires = "key")]
    pub cert: Option<PathBuf>,
    /// A file with the key of that certificate
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub key: Option<PathBuf>,
    /// The name in the certificate of the server, if that is not its host
    #[arg(long, value_name = "NAME")]
    pub server_name: Option<String>,
}

impl ClientTlsArgs {
    /// Returns true if there is any.
    pub fn is_given(&self) -> bool {
        self.ca.is_some() || self.cert.is_some() || self.server_name.is_some()
    }
}

/// TLS to a server, with the certificates to show and to trust.
pub struct ClientTls {
    config: Arc<ClientConfig>,
    server_name: Option<String>,
}

impl ClientTls {
    /// Reads the files that the arguments name, to speak `protocol` inside: `h2` or `http/1.1`. If no
    /// authority is named, those of the system count.
    ///
    /// # Errors
    /// A file that cannot be read, or is not what it should be, and a missing authority.
    pub fn open(
        args: &ClientTlsArgs,
        protocol: &'static [u8],
    ) -> Result<ClientTls, TransportError> {
        let roots = args.ca.as_deref().map_or_else(read_system_roots, read_roots)?;
        let config = ClientConfig::builder_with_provider(Arc::new(default_provider()));
        let config = config.with_safe_default_protocol_versions();
        let config = config.map_err(|error| TransportError::Tls(error.to_string()))?;
        let config = config.with_root_certificates(roots);
        let mut config = match (&args.cert, &args.key) {
            (Some(cert), Some(key)) => {
                let shown = read_certificates(cert)?;
                let own = read_key(key)?;
                let config = config.with_client_auth_cert(shown, own);
                config.map_err(|error| TransportError::cannot_use(cert, error))?
            }
            (None, None) => config.with_no_client_auth(),
            _ => {
                let message = "a certificate and its key belong together: name both";
                return Err(TransportError::Options(message.to_owned()));
            }
        };
        config.alpn_protocols = vec![protocol.to_vec()];
        Ok(ClientTls { config: Arc::new(config), server_name: args.server_name.clone() })
    }

    /// Introduces both sides to one another; the server is at `HOST:PORT`.
    ///
    /// # Errors
    /// A server that is not the one that was meant, or does not want this client.
    pub async fn connect(
        &self,
        address: &str,
        stream: TcpStream,
    ) -> io::Result<TlsStream<TcpStream>> {
        let host = address.rsplit_once(':').map_or(address, |it| it.0);
        let host = host.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(host);
        let name = self.server_name.as_deref().unwrap_or(host).to_owned();
        let name = ServerName::try_from(name).map_err(io::Error::other)?;
        TlsConnector::from(Arc::clone(&self.config)).connect(name, stream).await
    }
}

/// Reads the authorities that the system trusts.
fn read_system_roots() -> Result<RootCertStore, TransportError> {
    let mut roots = RootCertStore::empty();
    // Systems have some that nobody can read any more.
    let _ = roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        let message = "this system trusts no authority: name who signed the certificate of the \
                       server with `--ca FILE`";
        return Err(TransportError::Options(message.to_owned()));
    }
    Ok(roots)
}
