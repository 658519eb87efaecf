//! Structured logs, on standard error.

use std::io::{IsTerminal, Write};

use tracing_subscriber::EnvFilter;

/// How much of a text that a client sent is logged, in bytes.
const MAX_TEXT: usize = 1024;

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

/// The head of a text that a client sent. Both formats escape what is in a field, so it stays on
/// its line.
pub(crate) fn brief(text: &str) -> &str {
    let end = (0..=MAX_TEXT.min(text.len())).rev().find(|&at| text.is_char_boundary(at));
    &text[..end.unwrap_or(0)]
}

/// Writes one line to standard error. One that nobody reads is no error.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
