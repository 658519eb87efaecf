//! `abide-serve`.
#![allow(clippy::disallowed_methods)]

mod bootstrap;
mod duration;
mod restarter;
mod shutdown;

use std::process::ExitCode;

use clap::Parser;

#[derive(Parser)]
enum Command {
    Bootstrap(bootstrap::BootstrapArgs),
    Restarter(restarter::RestarterArgs),
    ShutdownManager(shutdown::ManagerArgs),
    Shutdown(shutdown::ShutdownArgs),
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    match Command::parse() {
        Command::Bootstrap(args) => bootstrap::bootstrap(&args),
        Command::Restarter(args) => restarter::restart(&args).await,
        Command::ShutdownManager(args) => shutdown::manage(&args).await,
        Command::Shutdown(args) => shutdown::shutdown(&args).await,
    }
}
