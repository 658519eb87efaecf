//! Programs that end with the part that started them.

use std::fs::File;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Programs that run. Dropping this ends them.
#[derive(Default)]
pub(in crate::oracle) struct Processes(Vec<Child>);

impl Processes {
    /// Starts a program whose output goes to a file.
    pub(in crate::oracle) fn start(
        &mut self,
        command: &mut Command,
        log: &Path,
    ) -> std::io::Result<()> {
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

/// A port that nobody listens at now.
pub(in crate::oracle) fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}
