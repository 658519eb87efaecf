//! Servers that speak TLS, with authorities and certificates of the test alone.

use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tempfile::TempDir;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

use crate::server::{Behaviour, Server};
use crate::{names, read, run, run_with, shown, tree};

/// The files of an authority and of two that it signed for.
struct Certificates {
    folder: TempDir,
}

impl Certificates {
    fn make() -> Certificates {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, text: String| {
            std::fs::write(folder.path().join(name), text).unwrap();
        };
        let mut authority = CertificateParams::new(Vec::new()).unwrap();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let authority = CertifiedIssuer::self_signed(authority, key).unwrap();
        put("ca.pem", authority.pem());
        for (name, host) in [("server", "127.0.0.1"), ("client", "client.test")] {
            let key = KeyPair::generate().unwrap();
            let params = CertificateParams::new(vec![host.to_owned()]).unwrap();
            put(&format!("{name}.pem"), params.signed_by(&key, &authority).unwrap().pem());
            put(&format!("{name}.key"), key.serialize_pem());
        }
        Certificates { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().expect("text").to_owned()
    }

    /// A server with the certificate, which may ask clients for theirs.
    fn serve(&self, asks: bool) -> Server {
        let chain = CertificateDer::pem_file_iter(self.path("server.pem")).unwrap();
        let chain: Vec<_> = chain.map(|it| it.unwrap()).collect();
        let key = PrivateKeyDer::from_pem_file(self.path("server.key")).unwrap();
        let provider = Arc::new(default_provider());
        let config = ServerConfig::builder_with_provider(Arc::clone(&provider));
        let config = config.with_safe_default_protocol_versions().unwrap();
        let config = if asks {
            let mut roots = RootCertStore::empty();
            let authority = CertificateDer::from_pem_file(self.path("ca.pem")).unwrap();
            roots.add(authority).unwrap();
            let roots = Arc::new(roots);
            let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider).build();
            config.with_client_cert_verifier(verifier.unwrap())
        } else {
            config.with_no_client_auth()
        };
        let mut config = config.with_single_cert(chain, key).unwrap();
        config.alpn_protocols = vec![b"h2".to_vec()];
        Server::start(Behaviour { tls: Some(Arc::new(config)), ..Behaviour::of_files(tree()) })
    }
}

#[test]
fn a_server_is_checked_by_the_authority_that_is_named() {
    let certificates = Certificates::make();
    let server = certificates.serve(false);
    let (address, ca) = (&server.address, certificates.text("ca.pem"));
    let secure = format!("grpcs://{address}");
    let asked = [
        run(&["reflect", address, "--tls", "--ca", &ca]),
        run(&["reflect", &secure, "--ca", &ca]),
        run_with(&["reflect", &secure], &[("ABIDE_REMOTE_CA", &ca)]),
    ];
    for ran in asked {
        assert_eq!(names(&read(&ran).expect("it is read")), shown());
    }
    let nowhere = certificates.text("no.pem");
    let error = read(&run(&["reflect", &secure, "--ca", &nowhere])).expect_err("no file");
    assert!(error.contains("cannot use"), "{error}");
    let other = Certificates::make();
    let stranger = ["reflect", &secure, "--ca", &other.text("ca.pem")];
    let error = read(&run(&stranger)).expect_err("a stranger");
    assert!(error.contains("certificate"), "{error}");
    let name = ["reflect", &secure, "--ca", &ca, "--server-name", "other.test"];
    let error = read(&run(&name)).expect_err("another name");
    assert!(error.contains("--server-name"), "{error}");
    let error = read(&run(&["reflect", address])).expect_err("it speaks TLS");
    assert!(error.contains("use --tls"), "{error}");
}

#[test]
fn a_client_shows_its_certificate() {
    let certificates = Certificates::make();
    let server = certificates.serve(true);
    let secure = format!("grpcs://{}", server.address);
    let [ca, cert, key] = ["ca.pem", "client.pem", "client.key"].map(|it| certificates.text(it));
    let ran = run(&["reflect", &secure, "--ca", &ca, "--cert", &cert, "--key", &key]);
    assert_eq!(names(&read(&ran).expect("it is read")), shown());
    let variables =
        [("ABIDE_REMOTE_CA", &*ca), ("ABIDE_REMOTE_CERT", &*cert), ("ABIDE_REMOTE_KEY", &*key)];
    assert_eq!(names(&read(&run_with(&["reflect", &secure], &variables)).unwrap()), shown());
    let half = read(&run_with(&["reflect", &secure], &variables[..2])).expect_err("no key");
    assert!(half.contains("belong together"), "{half}");
    read(&run(&["reflect", &secure, "--ca", &ca])).expect_err("it shows nothing");
}

#[test]
fn a_server_without_tls_says_so() {
    let server = Server::start(Behaviour::of_files(tree()));
    let certificates = Certificates::make();
    let ran = run(&["reflect", &server.address, "--tls", "--ca", &certificates.text("ca.pem")]);
    let error = read(&ran).expect_err("no TLS");
    assert!(error.contains("leave --tls out") || error.contains("cannot connect"), "{error}");
}
