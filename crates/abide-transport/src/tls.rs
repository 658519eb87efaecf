//! TLS of the listeners: a certificate to show, and whose certificates clients have to show.
//!
//! Certificates are replaced while a server runs. Files are looked at when somebody connects, and
//! read again if they changed; if what is there then is no good, the last good one stays.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use clap::Args as Group;
use jiff::Timestamp;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};
use tokio_rustls::server::TlsStream;

use crate::certificate::CertificateFacts;
use crate::error::TransportError;

/// The time that a client may take to introduce itself.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// The shortest time between two looks at the files.
const RELOAD_INTERVAL: Duration = Duration::from_secs(1);

/// TLS for clients.
#[derive(Clone, Debug, Default, Group)]
pub struct TlsArgs {
    /// Serve clients over TLS: a file with the certificate, and those between it and its authority
    ///
    /// It is read again when it changes, as are the two files below.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// A file with the key of that certificate
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Serve only clients with a certificate of one of the authorities in this file
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    client_ca: Option<PathBuf>,
}

/// TLS with files that may change.
pub struct ReloadingTls {
    files: CertificateFiles,
    /// The protocol that is spoken inside: `h2` or `http/1.1`.
    protocol: &'static [u8],
    current: Mutex<Current>,
}

#[derive(Clone, Debug)]
struct CertificateFiles {
    cert: PathBuf,
    key: PathBuf,
    client_ca: Option<PathBuf>,
}

struct Current {
    config: Arc<ServerConfig>,
    /// When the certificate ends, in seconds since 1970, if it says so.
    end: Option<i64>,
    /// Since when what is in the files cannot be used.
    refused_since: Option<Instant>,
    looks: Vec<FileStamp>,
    looked: Instant,
}

/// The facts that tell a file from one that took its place.
#[derive(Debug, PartialEq, Eq)]
struct FileStamp {
    modified: Option<SystemTime>,
    len: u64,
}

impl ReloadingTls {
    /// TLS around this protocol, if the arguments ask for it.
    ///
    /// # Errors
    /// A file that cannot be read, or is not what it should be.
    pub fn open(
        args: &TlsArgs,
        protocol: &'static [u8],
    ) -> Result<Option<ReloadingTls>, TransportError> {
        let (Some(cert), Some(key)) = (&args.tls_cert, &args.tls_key) else { return Ok(None) };
        let (cert, key, client_ca) = (cert.clone(), key.clone(), args.client_ca.clone());
        let files = CertificateFiles { cert, key, client_ca };
        let looks = files.read_stamps();
        let (config, end) = files.read(protocol)?;
        if has_ended(end) {
            tracing::warn!(certificate = %files.cert.display(), "the certificate has ended");
        }
        let looked = Instant::now();
        let current = Mutex::new(Current { config, end, refused_since: None, looks, looked });
        Ok(Some(ReloadingTls { files, protocol, current }))
    }

    /// Returns the time at which the certificate ends, in seconds since 1970, if it says so.
    pub fn certificate_end(&self) -> Option<i64> {
        self.look().end
    }

    /// Returns the time since when what is in the files cannot be used, if it cannot.
    pub fn refused_since(&self) -> Option<Instant> {
        self.look().refused_since
    }

    /// Reads the files again if they changed.
    fn look(&self) -> MutexGuard<'_, Current> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.looked.elapsed() >= RELOAD_INTERVAL {
            current.looked = Instant::now();
            let looks = self.files.read_stamps();
            if looks != current.looks {
                let read =
                    self.files.read(self.protocol).and_then(|(config, end)| match has_ended(end) {
                        true => Err(TransportError::cannot_use(
                            &self.files.cert,
                            "the certificate has ended",
                        )),
                        false => Ok((config, end)),
                    });
                match read {
                    Ok((config, end)) => {
                        tracing::info!("the certificates changed");
                        (current.config, current.end, current.refused_since) = (config, end, None);
                    }
                    // A certificate and its key are two files: the second one is about to come.
                    Err(error) => {
                        tracing::error!("{error}; the certificates before stay");
                        current.refused_since.get_or_insert_with(Instant::now);
                    }
                }
                current.looks = looks;
            }
        }
        current
    }

    /// Introduces both sides to one another.
    ///
    /// # Errors
    /// A client that does not, or that is not wanted.
    pub async fn accept<S>(&self, stream: S) -> io::Result<TlsStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let config = tokio::task::block_in_place(|| Arc::clone(&self.look().config));
        let accepted = timeout(HANDSHAKE_TIMEOUT, TlsAcceptor::from(config).accept(stream)).await;
        accepted.map_err(|_| io::Error::from(ErrorKind::TimedOut))?
    }
}

impl CertificateFiles {
    fn all(&self) -> impl Iterator<Item = &Path> {
        [&self.cert, &self.key].into_iter().chain(&self.client_ca).map(PathBuf::as_path)
    }

    fn read_stamps(&self) -> Vec<FileStamp> {
        let look = |path: &Path| match path.metadata() {
            Ok(data) => FileStamp { modified: data.modified().ok(), len: data.len() },
            Err(_) => FileStamp { modified: None, len: 0 },
        };
        self.all().map(look).collect()
    }

    /// The configuration that the files make, and when its certificate ends.
    fn read(&self, protocol: &[u8]) -> Result<(Arc<ServerConfig>, Option<i64>), TransportError> {
        let shown = read_certificates(&self.cert)?;
        // A chain is as good as its first certificate that ends.
        let end = shown.iter().filter_map(|it| Some(CertificateFacts::read(it)?.end)).min();
        let key = read_key(&self.key)?;
        let provider = Arc::new(default_provider());
        let config = ServerConfig::builder_with_provider(Arc::clone(&provider));
        let config = config.with_safe_default_protocol_versions();
        let config = config.map_err(|error| TransportError::Tls(error.to_string()))?;
        let config = match &self.client_ca {
            None => config.with_no_client_auth(),
            Some(path) => {
                let roots = read_roots(path)?;
                let verifier =
                    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
                let verifier = verifier.map_err(|error| TransportError::cannot_use(path, error))?;
                config.with_client_cert_verifier(verifier)
            }
        };
        let config = config.with_single_cert(shown, key);
        let mut config = config.map_err(|error| TransportError::cannot_use(&self.cert, error))?;
        config.alpn_protocols = vec![protocol.to_vec()];
        Ok((Arc::new(config), end))
    }
}

/// Returns true if a certificate that ends at this time, in seconds since 1970, has ended.
fn has_ended(end: Option<i64>) -> bool {
    end.is_some_and(|end| end < Timestamp::now().as_second())
}

/// Reads the key of a file.
pub(crate) fn read_key(path: &Path) -> Result<PrivateKeyDer<'static>, TransportError> {
    PrivateKeyDer::from_pem_file(path).map_err(|error| TransportError::cannot_use(path, error))
}

/// Reads the certificates of a file as those of authorities.
pub(crate) fn read_roots(path: &Path) -> Result<RootCertStore, TransportError> {
    let mut roots = RootCertStore::empty();
    for authority in read_certificates(path)? {
        roots.add(authority).map_err(|error| TransportError::cannot_use(path, error))?;
    }
    Ok(roots)
}

/// Reads the certificates of a file, of which there must be one at least.
pub(crate) fn read_certificates(
    path: &Path,
) -> Result<Vec<CertificateDer<'static>>, TransportError> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let read = read.map_err(|error| TransportError::cannot_use(path, error))?;
    match read.is_empty() {
        true => Err(TransportError::cannot_use(path, "it has no certificate")),
        false => Ok(read),
    }
}
