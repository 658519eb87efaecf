//! The number of connections the system lets this process have.

use rustix::process::{Resource, getrlimit, setrlimit};

/// The number that files, watches, listeners and the admin port need besides the connections of
/// clients.
const OTHERS: u64 = 256;

/// Asks the system for as many file descriptors as it gives, and returns how many of them are left
/// for connections of clients: a quarter at least.
pub(crate) fn raise_fd_limit() -> usize {
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current < limit.maximum || limit.maximum.is_none() {
        let wanted = rustix::process::Rlimit { current: limit.maximum, maximum: limit.maximum };
        // Without more, fewer clients can come.
        if setrlimit(Resource::Nofile, wanted).is_ok() {
            limit = getrlimit(Resource::Nofile);
        }
    }
    let all = limit.current.unwrap_or(u64::MAX);
    usize::try_from(all.saturating_sub(OTHERS).max(all / 4)).unwrap_or(usize::MAX)
}
