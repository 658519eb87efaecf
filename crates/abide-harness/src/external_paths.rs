//! Binaries and folders that a program of this workspace may be given, instead of finding them.

use std::path::PathBuf;

use clap::Args;

/// Binaries and folders to use instead of those that are built, installed or found.
#[derive(Args, Default)]
pub struct ExternalPaths {
    /// Test this binary instead of building the one of this workspace.
    #[arg(long, value_name = "FILE")]
    pub abide: Option<PathBuf>,
    /// Test this `abide-serve` instead of building the one of this workspace.
    #[arg(long, value_name = "FILE")]
    pub abide_serve: Option<PathBuf>,
    /// Test this `abide-remote` instead of building the one of this workspace.
    #[arg(long, value_name = "FILE")]
    pub abide_remote: Option<PathBuf>,
    /// The folder with `corpora/`; by default beside the workspace.
    #[arg(long, value_name = "DIR")]
    pub shared: Option<PathBuf>,
    /// Use this google-proto-files instead of installing it under `target/`.
    #[arg(long, value_name = "DIR")]
    pub googleapis: Option<PathBuf>,
}
