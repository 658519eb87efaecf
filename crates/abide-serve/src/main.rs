//! `abide-serve`.
#![allow(clippy::disallowed_methods)]

mod shutdown;

use std::process::ExitCode;

use clap::Parser;

#[derive(Parser)]
enum Command {
    ShutdownManager(shutdown::ManagerArgs),
    Shutdown(shutdown::ShutdownArgs),
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    match Command::parse() {
        Command::ShutdownManager(args) => shutdown::manage(&args).await,
        Command::Shutdown(args) => shutdown::shutdown(&args).await,
    }
}
