//! What tasks are given, and how they end.

use std::path::PathBuf;

use clap::Args;

/// Errors are only for the person at the terminal, so a text is enough.
pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Places outside the repository.
#[derive(Args)]
pub(crate) struct Place {
    /// Test this binary instead of building the one of this workspace.
    #[arg(long, value_name = "FILE")]
    pub(crate) abide: Option<PathBuf>,
    /// Test this `abide-serve` instead of building the one of this workspace.
    #[arg(long, value_name = "FILE")]
    pub(crate) abide_serve: Option<PathBuf>,
    /// The folder with `corpora/`; by default beside the workspace.
    #[arg(long, value_name = "DIR")]
    pub(crate) shared: Option<PathBuf>,
    /// Use this google-proto-files instead of installing it under `target/`.
    #[arg(long, value_name = "DIR")]
    pub(crate) googleapis: Option<PathBuf>,
}
