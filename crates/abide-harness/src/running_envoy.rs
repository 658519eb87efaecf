//! A started Envoy, asked by its admin interface.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::Result;
use crate::envoys::Envoy;

/// Longer than a start takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// A started Envoy. It ends when this value does.
pub struct RunningEnvoy {
    child: Child,
    /// Where its admin interface listens.
    admin: String,
}

/// What came of a start.
pub enum Started {
    /// It runs.
    Running(RunningEnvoy),
    /// It refused its bootstrap, and said this.
    Refused(String),
}

impl RunningEnvoy {
    /// Starts a bootstrap whose admin interface listens on a free port of the loopback, and waits
    /// until that answers. `folder` takes what it writes.
    pub fn start(envoy: &Envoy, bootstrap: &Path, args: &[&str], folder: &Path) -> Result<Started> {
        let (address, log) = (folder.join("admin-address"), folder.join("envoy.log"));
        let _ = std::fs::remove_file(&address);
        let mut command = Command::new(&envoy.program);
        command.arg("-c").arg(bootstrap).arg("--admin-address-path").arg(&address).args(args);
        // Without shared memory nothing is left behind, and nobody else's is touched.
        command.args(["--disable-hot-restart", "--concurrency", "1", "-l", "error"]);
        command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null());
        let child = command.stderr(std::fs::File::create(&log)?).spawn()?;
        let mut started = RunningEnvoy { child, admin: String::new() };
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            if started.child.try_wait()?.is_some() {
                let said = std::fs::read(&log)?;
                return Ok(Started::Refused(String::from_utf8_lossy(&said).into_owned()));
            }
            if let Ok(admin) = std::fs::read_to_string(&address)
                && !admin.is_empty()
            {
                started.admin = admin.trim().to_owned();
                return Ok(Started::Running(started));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Err(format!("Envoy did not start in {} seconds", PATIENCE.as_secs()).into())
    }

    /// The answer of the admin interface.
    pub fn get(&self, path: &str) -> Result<String> {
        self.ask("GET", path)
    }

    /// The answer of the admin interface to a request that changes something.
    pub fn post(&self, path: &str) -> Result<String> {
        self.ask("POST", path)
    }

    /// Where the admin interface listens.
    pub fn admin(&self) -> &str {
        &self.admin
    }

    fn ask(&self, method: &str, path: &str) -> Result<String> {
        Ok(ask(&self.admin, method, path)?.1)
    }

    /// Tells it to end, as a supervisor does.
    pub fn terminate(&self) -> Result<()> {
        let pid = self.child.id().to_string();
        let status = Command::new("kill").args(["-s", "TERM", &pid]).status()?;
        if status.success() { Ok(()) } else { Err("Envoy cannot be told to end".into()) }
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }

    /// The statistics whose names match, with their values.
    pub fn statistics(&self, pattern: &str) -> Result<Vec<(String, String)>> {
        let text = self.get(&format!("/stats?filter={pattern}"))?;
        let pairs = text.lines().filter_map(|line| line.split_once(": "));
        Ok(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }
}

impl Drop for RunningEnvoy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a request without a body. Returns the status and the body of the answer.
pub fn ask(address: &str, method: &str, path: &str) -> Result<(u16, String)> {
    let (head, body) = answer(address, method, path, "")?;
    let status = head.split(' ').nth(1).and_then(|it| it.parse().ok()).ok_or("no status")?;
    match head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
        true => Ok((status, join_chunks(&body).ok_or("the chunks of the answer are malformed")?)),
        false => Ok((status, body)),
    }
}

/// Sends a request without a body and with these header lines. Returns the head of the answer and
/// its body as it came.
pub fn answer(address: &str, method: &str, path: &str, headers: &str) -> Result<(String, String)> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}content-length: \
         0\r\n\r\n"
    )?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let answer = String::from_utf8_lossy(&answer);
    let (head, body) = answer.split_once("\r\n\r\n").ok_or("the answer has no end of its head")?;
    Ok((head.to_owned(), body.to_owned()))
}

/// The body of an answer that was sent in chunks. Source: RFC 9112, section 7.1.
fn join_chunks(mut body: &str) -> Option<String> {
    let mut whole = String::new();
    loop {
        let (size, rest) = body.split_once("\r\n")?;
        let size = usize::from_str_radix(size.trim(), 16).ok()?;
        if size == 0 {
            return Some(whole);
        }
        whole.push_str(rest.get(..size)?);
        body = rest.get(size..)?.strip_prefix("\r\n")?;
    }
}
