//! Structured logs, on standard error.

use std::io::{IsTerminal, Write};

use tracing_subscriber::EnvFilter;

/// Starts logging what an operator needs, unless `RUST_LOG` chooses something else.
pub(crate) fn start(format: &str) {
    start_at(format, "info");
}

/// Starts logging from a level on, unless `RUST_LOG` chooses something else.
pub(crate) fn start_at(format: &str, level: &str) {
    let chosen = match level {
        // Libraries say a lot at these levels, and nothing about clients.
        "debug" | "trace" => format!("info,{}={level}", env!("CARGO_CRATE_NAME")),
        level => level.to_owned(),
    };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(chosen));
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
