//! Who may come: TLS and certificates of clients, and the admin port with tokens or as a socket.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use tempfile::TempDir;
use tonic::client::Grpc;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Identity};

use crate::server::{CDS, Server, Whole, ask_with, cluster, node, refused, run};
use crate::waiting::wait;

/// An authority that certifies for one test.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new(name: &str) -> Authority {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        Authority(CertifiedIssuer::self_signed(params, key).expect("an authority"))
    }

    fn pem(&self) -> String {
        self.0.pem()
    }

    /// A certificate for this machine and its key, and its serial number.
    fn certify(&self, serial: u64) -> (String, String) {
        self.certify_until(serial, 4096)
    }

    /// The same for a certificate that ends at the begin of a year.
    fn certify_until(&self, serial: u64, year: i32) -> (String, String) {
        let names = vec!["127.0.0.1".to_owned(), "localhost".to_owned()];
        let mut params = CertificateParams::new(names).expect("names");
        params.serial_number = Some(serial.into());
        params.not_after = rcgen::date_time_ymd(year, 1, 1);
        params.distinguished_name.push(DnType::CommonName, format!("host {serial}"));
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.0).expect("a certificate");
        (certificate.pem(), key.serialize_pem())
    }
}

/// The certificates of a server, in a folder.
struct Files(TempDir);

impl Files {
    fn new(authority: &Authority, clients: &Authority) -> Files {
        let files = Files(tempfile::tempdir().expect("a folder"));
        files.put("clients.pem", &clients.pem());
        files.renew(authority, 1);
        files
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    fn put(&self, name: &str, text: &str) {
        std::fs::write(self.path("beside"), text).expect("a file");
        std::fs::rename(self.path("beside"), self.path(name)).expect("a move");
    }

    fn renew(&self, authority: &Authority, serial: u64) {
        let (certificate, key) = authority.certify(serial);
        self.put("server.pem", &certificate);
        self.put("server.key", &key);
    }

    fn serve(&self, flags: &[&str]) -> Server {
        let (cert, key) = (self.path("server.pem"), self.path("server.key"));
        let tls = ["--tls-cert", &cert, "--tls-key", &key];
        Server::start(&[("a.yaml", &cluster("a", 1))], &[&tls[..], flags].concat())
    }
}

/// Whether a client that trusts this authority, and shows this certificate, is served clusters.
async fn is_served(
    server: &Server,
    trusted: &Authority,
    shown: Option<(String, String)>,
) -> Result<(), String> {
    let said = |error: &dyn std::error::Error| {
        let mut whole = error.to_string();
        let mut next = error.source();
        while let Some(error) = next {
            whole.push_str(&format!(": {error}"));
            next = error.source();
        }
        whole
    };
    let mut tls = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(trusted.pem()));
    if let Some((certificate, key)) = shown {
        tls = tls.identity(Identity::from_pem(certificate, key));
    }
    let channel = Channel::from_shared(format!("https://{}", server.grpc)).expect("a URL");
    let channel = channel.tls_config(tls).expect("certificates");
    let mut grpc = Grpc::new(channel.connect().await.map_err(|it| said(&it))?);
    grpc.ready().await.map_err(|it| said(&it))?;
    let mut client = Whole::over(grpc, "v3", node("one", "", "")).await.map_err(|it| said(&it))?;
    client.ask(CDS, &[]).await;
    let response = client.next().await.map_err(|it| said(&it))?;
    assert_eq!(response.resources.len(), 1);
    Ok(())
}

#[test]
fn a_client_certificate_is_wanted_and_others_are_refused() {
    run(async {
        let (authority, clients) = (Authority::new("servers"), Authority::new("clients"));
        let files = Files::new(&authority, &clients);
        let server = files.serve(&["--client-ca", &files.path("clients.pem")]);
        is_served(&server, &authority, Some(clients.certify(7))).await.expect("it is one of them");
        let none = is_served(&server, &authority, None).await;
        assert!(none.is_err(), "it has none");
        let other = is_served(&server, &authority, Some(authority.certify(7))).await;
        assert!(other.is_err(), "it is of another authority");
        server.logged(|line| {
            line.contains("refused a connection")
                && line.contains("UnknownIssuer")
                && line.contains("127.0.0.1:")
        });
        let misled = is_served(&server, &clients, Some(clients.certify(7))).await;
        assert!(misled.expect_err("it trusts somebody else").contains("UnknownIssuer"));
        // Without TLS nobody is served, and nobody else suffers.
        assert!(std::panic::catch_unwind(|| server.poll("/v3/discovery:clusters", "{}")).is_err());
        is_served(&server, &authority, Some(clients.certify(8))).await.expect("as before");
    });
}

#[test]
fn a_client_is_shown_with_its_certificate() {
    run(async {
        let (authority, clients) = (Authority::new("servers"), Authority::new("clients"));
        let files = Files::new(&authority, &clients);
        let server = files.serve(&["--client-ca", &files.path("clients.pem")]);
        let identity = clients.certify_until(7, 2999);
        let trusted = Certificate::from_pem(authority.pem());
        let tls = ClientTlsConfig::new().ca_certificate(trusted);
        let tls = tls.identity(Identity::from_pem(&identity.0, &identity.1));
        let channel = Channel::from_shared(format!("https://{}", server.grpc)).expect("a URL");
        let channel = channel.tls_config(tls).expect("certificates");
        let mut grpc = Grpc::new(channel.connect().await.expect("it listens"));
        grpc.ready().await.expect("it is");
        let mut client = Whole::over(grpc, "v3", node("one", "", "")).await.expect("a stream");
        client.ask(CDS, &[]).await;
        client.next().await.expect("a response");
        let shown = server.clients()[0]["certificate"].clone();
        assert!(shown["subject"].as_str().expect("text").contains("CN=host 7"), "{shown}");
        assert_eq!(shown["names"], serde_json::json!(["127.0.0.1", "localhost"]));
        assert_eq!(shown["end"], "2999-01-01T00:00:00Z");
        // What a client gets is asked for with the same certificates, over REST.
        files.put("edge.pem", &identity.0);
        files.put("edge.key", &identity.1);
        files.put("servers.pem", &authority.pem());
        let target = format!("https://{}", server.http);
        let ask = |flags: &[&str]| {
            let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_abide-serve"));
            command.args(["ask", "--target", &target]).args(flags);
            let output = command.output().expect("it runs");
            let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
            (output.status.code(), text(output.stdout), text(output.stderr))
        };
        let (ca, own) = (files.path("servers.pem"), files.path("edge.pem"));
        let key = files.path("edge.key");
        let whole = ["--ca", &ca, "--cert", &own, "--key", &key];
        let (code, out, err) = ask(&whole);
        assert_eq!(code, Some(0), "{err}");
        assert!(out.contains("\"name\": \"a\""), "{out}");
        for (flags, why) in [
            (vec![], "name who signed the certificate of the server: `--ca FILE`"),
            (whole[..2].to_vec(), "ertificate"),
            (vec!["--ca", &own, "--cert", &own, "--key", &key], "ertificate"),
            ([&whole[..], &["--server-name", "other.example"]].concat(), "other.example"),
        ] {
            let (code, _, err) = ask(&flags);
            assert_eq!(code, Some(2), "{flags:?}: {err}");
            assert!(err.contains(why), "{flags:?}: {err}");
        }
    });
}

/// D18: a certificate that has ended is worse than the one before it.
#[test]
fn a_certificate_that_has_ended_replaces_none_and_its_end_is_a_metric() {
    run(async {
        let authority = Authority::new("servers");
        let files = Files::new(&authority, &authority);
        let (certificate, key) = authority.certify_until(5, 2999);
        files.put("server.pem", &certificate);
        files.put("server.key", &key);
        let server = files.serve(&[]);
        let end = "2999-01-01T00:00:00Z".parse::<jiff::Timestamp>().expect("a time").as_second();
        let end = format!("tls.certificate_end_timestamp_seconds: {end}\n");
        let stats = server.get("/stats");
        assert!(stats.contains(&end) && stats.contains("tls.refused_seconds: 0\n"), "{stats}");
        let (certificate, key) = authority.certify_until(6, 2001);
        files.put("server.key", &key);
        files.put("server.pem", &certificate);
        // Whoever looks at the metrics has it look at the files.
        let stats = server.until("/stats", |it| !it.contains("tls.refused_seconds: 0\n"));
        assert!(stats.contains(&end), "{stats}");
        server.logged(|it| it.contains("the certificates before stay"));
        is_served(&server, &authority, None).await.expect("the last good one");
        files.renew(&authority, 7);
        server.until("/stats", |it| it.contains("tls.refused_seconds: 0\n"));
    });
}

#[test]
fn certificates_are_read_again_when_they_change() {
    run(async {
        let (authority, next) = (Authority::new("servers"), Authority::new("next"));
        let files = Files::new(&authority, &authority);
        let server = files.serve(&[]);
        is_served(&server, &authority, None).await.expect("it asks for no certificate");
        // A certificate whose key is another one is not used. Those who come have the server look.
        files.put("server.pem", &next.certify(2).0);
        while !server.log().contains("the certificates before stay") {
            is_served(&server, &authority, None).await.expect("the last good one");
        }
        files.renew(&next, 3);
        while !server.log().contains("the certificates changed") {
            let _ = is_served(&server, &next, None).await;
        }
        is_served(&server, &next, None).await.expect("the certificate of the other authority");
    });
}

#[test]
fn certificates_that_are_none_are_refused_at_the_start() {
    let authority = Authority::new("servers");
    let files = Files::new(&authority, &authority);
    files.put("empty.pem", "");
    let (cert, key) = (files.path("server.pem"), files.path("server.key"));
    let (empty, other) = (files.path("empty.pem"), files.path("clients.pem"));
    let nowhere = files.path("nowhere");
    for (flags, why) in [
        (vec!["--tls-cert", &cert], "--tls-key"),
        (vec!["--tls-cert", &nowhere, "--tls-key", &key], "nowhere"),
        (vec!["--tls-cert", &empty, "--tls-key", &key], "has no certificate"),
        (vec!["--tls-cert", &cert, "--tls-key", &other], "clients.pem"),
        (vec!["--tls-cert", &cert, "--tls-key", &key, "--client-ca", &empty], "empty.pem"),
    ] {
        let said = refused(&flags);
        assert!(said.contains(why), "{flags:?}: {said}");
    }
}

#[test]
fn the_admin_port_shows_nothing_without_a_token() {
    let folder = tempfile::tempdir().expect("a folder");
    let tokens = folder.path().join("tokens");
    std::fs::write(&tokens, "# old\nfirst\n").expect("a file");
    let server = Server::start(
        &[("a.yaml", &cluster("a", 1))],
        &["--admin-token-file", &tokens.display().to_string()],
    );
    let get = |path: &str, given: &str| {
        let given =
            if given.is_empty() { String::new() } else { format!("authorization: {given}\r\n") };
        ask_with(&server.admin, "GET", path, &given)
    };
    wait(|| (get("/ready", "").0 == 200).then_some(()));
    assert_eq!(get("/clients", "").0, 401);
    assert_eq!(get("/nowhere", "").0, 401, "not even what there is");
    assert_eq!(get("/clients", "Bearer # old").0, 401, "a comment is no token");
    assert!(get("/clients", "").1.contains("--admin-token-file"));
    assert_eq!(get("/clients", "Bearer first").0, 200);
    assert_eq!(get("/clients", "bearer first").0, 200);
    assert_eq!(get("/clients", "Basic bWU6Zmlyc3Q=").0, 200, "`me:first`");
    for wrong in ["Bearer second", "Bearer", "Bearer ", "Basic bWU6c2Vjb25k", "Basic !", "first"] {
        assert_eq!(get("/clients", wrong).0, 401, "{wrong}");
    }
    assert_eq!(ask_with(&server.admin, "POST", "/healthcheck/fail", "").0, 401);
    // Whoever looks after the process learns whether it is ready, and no names.
    server.put("a.yaml", "name: [");
    let known = wait(|| Some(get("/ready", "Bearer first").1).filter(|it| it.contains("a.yaml")));
    assert!(known.starts_with("LIVE: "));
    assert_eq!(get("/ready", ""), (200, "LIVE\n".to_owned()));
    // Tokens come and go.
    std::fs::write(&tokens, "second\nthird\n").expect("a file");
    assert_eq!(get("/clients", "Bearer first").0, 401);
    assert_eq!(get("/clients", "Bearer third").0, 200);
    std::fs::remove_file(&tokens).expect("it is there");
    assert_eq!(get("/clients", "Bearer third").0, 500);
    std::fs::write(&tokens, "\n").expect("a file");
    let said = refused(&["--admin-token-file", &tokens.display().to_string()]);
    assert!(said.contains("has no token"), "{said}");
}

/// What a page says over a socket.
fn page(path: &Path) -> std::io::Result<String> {
    let mut stream = UnixStream::connect(path)?;
    stream.write_all(b"GET /ready HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    Ok(text)
}

#[test]
fn the_admin_port_can_be_a_socket_that_only_this_user_opens() {
    let folder = tempfile::tempdir().expect("a folder");
    let socket: PathBuf = folder.path().join("admin");
    let address = format!("unix:{}", socket.display());
    for turn in 0..2 {
        // A socket that another one left behind is no hindrance.
        let server = Server::start(&[("a.yaml", &cluster("a", 1))], &["--admin", &address]);
        let text = wait(|| page(&socket).ok().filter(|it| it.ends_with("LIVE\n")));
        assert!(text.starts_with("HTTP/1.1 200"), "turn {turn}: {text}");
        let mode = socket.metadata().expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let said = refused(&["--admin", &address]);
        assert!(said.contains("another process does"), "{said}");
        page(&socket).expect("it is still there");
        drop(server);
    }
    std::fs::write(folder.path().join("file"), "mine").expect("a file");
    let said = refused(&["--admin", &format!("unix:{}/file", folder.path().display())]);
    assert!(said.contains("it is no socket"), "{said}");
    let said = refused(&["--admin", "unix:"]);
    assert!(said.contains("write a path after `unix:`"), "{said}");
}

#[test]
fn the_admin_port_listens_on_the_loopback_by_default() {
    let help = std::process::Command::new(env!("CARGO_BIN_EXE_abide-serve"))
        .arg("--help")
        .output()
        .expect("it runs");
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    assert!(help.contains("[default: 127.0.0.1:19000]"), "{help}");
    let folder = tempfile::tempdir().expect("a folder");
    let warning = "the admin pages can be reached from outside";
    let tokens = folder.path().join("tokens");
    std::fs::write(&tokens, "first\n").expect("a file");
    let tokens = tokens.display().to_string();
    let said = |flags: &[&str]| Server::start(&[], flags).said.clone();
    assert!(said(&["--admin", "0.0.0.0:0"]).contains(warning));
    assert!(!said(&["--admin", "127.0.0.1:0"]).contains(warning));
    assert!(!said(&["--admin", "[::1]:0"]).contains(warning));
    let guarded = said(&["--admin", "0.0.0.0:0", "--admin-token-file", &tokens]);
    assert!(guarded.contains("tokens are sent in the clear"), "{guarded}");
}
