//! What the system says of this process.

use rustix::param::clock_ticks_per_second;
use rustix::process::{Resource, getrlimit};

/// What the system says of this process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ProcessStats {
    pub(super) cpu_seconds: f64,
    pub(super) resident_bytes: u64,
    pub(super) virtual_bytes: u64,
    pub(super) open_fds: usize,
    /// `None`: as many as there are.
    pub(super) max_fds: Option<u64>,
}

impl ProcessStats {
    /// Reads them; `None` where the system has no `/proc`.
    pub(super) fn read() -> Option<ProcessStats> {
        let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        // proc_pid_stat(5): the name of the program ends with the last parenthesis, and the third field
        // comes after it.
        let (_, rest) = stat.rsplit_once(") ")?;
        let fields: Vec<&str> = rest.split(' ').collect();
        let ticks = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        let (user, system) = (ticks(14)?, ticks(15)?);
        let bytes = |key: &str| {
            let line = status.lines().find_map(|it| it.strip_prefix(key)?.strip_prefix(':'))?;
            line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|it| it * 1024)
        };
        Some(ProcessStats {
            cpu_seconds: (user + system) as f64 / clock_ticks_per_second() as f64,
            resident_bytes: bytes("VmRSS")?,
            virtual_bytes: bytes("VmSize")?,
            open_fds: std::fs::read_dir("/proc/self/fd").ok()?.count(),
            max_fds: getrlimit(Resource::Nofile).current,
        })
    }
}
