//! TLS as a client speaks it to a server.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args as Group;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::ServerName;

use crate::error::TransportError;
use crate::tls::{read_certificates, read_key, read_roots};

/// TLS to a server.
#[derive(Clone, Debug, Default, Group)]
pub struct ClientTlsArgs {
    /// A file with the authorities that may have signed the certificate of the server
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// A file with a certificate to show
    #[arg(long, value_name = "FILE", requires = "key")]
    cert: Option<PathBuf>,
    /// A file with the key of that certificate
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,
    /// The name in the certificate of the server, if that is not its host
    #[arg(long, value_name = "NAME")]
    server_name: Option<String>,
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
    /// Reads the files that the arguments name.
    ///
    /// # Errors
    /// A file that cannot be read, or is not what it should be, and a missing authority.
    pub fn open(args: &ClientTlsArgs) -> Result<ClientTls, TransportError> {
        let Some(ca) = &args.ca else {
            let message = "name who signed the certificate of the server: `--ca FILE`";
            return Err(TransportError::Options(message.to_owned()));
        };
        let roots = read_roots(ca)?;
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
            _ => config.with_no_client_auth(),
        };
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
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
