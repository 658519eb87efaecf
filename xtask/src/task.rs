//! What tasks are given, and how they end.

use std::path::PathBuf;

use clap::Args;

/// What goes wrong here is for the person at the terminal; words are enough.
pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Where things are that are not part of the repository.
#[derive(Args)]
pub(crate) struct Place {
    /// The binary to judge, instead of building this workspace's own.
    #[arg(long, value_name = "FILE")]
    pub(crate) abide: Option<PathBuf>,
    /// The folder that holds `corpora/`; by default it lies beside the workspace.
    #[arg(long, value_name = "DIR")]
    pub(crate) shared: Option<PathBuf>,
    /// An installed google-proto-files, instead of installing it under `target/`.
    #[arg(long, value_name = "DIR")]
    pub(crate) googleapis: Option<PathBuf>,
}
