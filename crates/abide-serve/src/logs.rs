//! Structured logs, on standard error.

use std::io::{IsTerminal, Write};

use tracing_subscriber::EnvFilter;

/// Starts logging. `RUST_LOG` chooses what is logged, by default what an operator needs.
pub(crate) fn start(format: &str) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match format {
        "json" => logs.json().init(),
        _ => logs.with_ansi(std::io::stderr().is_terminal()).with_target(false).init(),
    }
}

/// Writes one line to standard error. One that nobody reads is no error.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
