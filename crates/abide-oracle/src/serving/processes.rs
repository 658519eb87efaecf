//! Programs that end with the part that started them.

use std::fs::File;
use std::io::ErrorKind;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};

/// Programs that run. Dropping this ends them.
#[derive(Default)]
pub(crate) struct Processes(Vec<Child>);

impl Processes {
    /// Starts a program whose output goes to a file.
    pub(crate) fn start(&mut self, command: &mut Command, log: &Path) -> std::io::Result<()> {
        let log = File::create(log)?;
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        self.0.push(command.spawn()?);
        Ok(())
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The first port that is given, and how many there are: below those that a system gives to
/// connections (32,768 and above on Linux), so that no connection takes one before its program
/// listens.
const FIRST_PORT: u16 = 20_000;
const PORTS: u16 = 12_000;

/// A port that nobody listens at now. Each is given once.
pub(crate) fn free_port() -> std::io::Result<u16> {
    static GIVEN: AtomicU16 = AtomicU16::new(0);
    // Where a process begins, so that two that run at once seldom try the same.
    let begin = std::process::id() % u32::from(PORTS);
    loop {
        let given = GIVEN.fetch_add(1, Ordering::Relaxed);
        let port = FIRST_PORT + ((begin + u32::from(given)) % u32::from(PORTS)) as u16;
        match TcpListener::bind(("127.0.0.1", port)) {
            Err(error) if error.kind() == ErrorKind::AddrInUse && given < PORTS => {}
            bound => return bound.map(|_| port),
        }
    }
}
