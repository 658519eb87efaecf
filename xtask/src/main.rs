//! Automation of this workspace: tasks that need outside programs (protoc, buf) or
//! long runs, and so are not part of `cargo test`.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "xtask is an outermost crate: it runs programs, reads and writes files, and prints"
)]

mod api;
mod book;
mod hooks;
mod packages;
mod programs;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use abide_harness::exit_code;
use clap::{Args, Parser, Subcommand};

#[derive(Parser)]
#[command(about = "Automation of this workspace")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Check that Abide agrees with protoc, buf, code generators and other libraries.
    #[command(disable_help_flag = true)]
    Oracle(Forwarded),
    /// Check random pairs of schemas, and pass random values between them with another runtime. Try
    /// the laws of layouts, fixes, damage and generated code on random files.
    #[command(disable_help_flag = true)]
    Soundness(Forwarded),
    /// Compare speed and memory with buf and protoc, side by side.
    #[command(disable_help_flag = true)]
    Bench(Forwarded),
    /// Record the versions of our own protos, as `abide bump --write` does.
    ApiBump {
        /// Only check whether they are recorded.
        #[arg(long)]
        check: bool,
        /// The tree that versions count from while there is no release.
        #[arg(long, value_name = "SOURCE", default_value = "git:HEAD")]
        against: String,
        /// Run this binary instead of building the one of this workspace.
        #[arg(long, value_name = "FILE")]
        abide: Option<PathBuf>,
    },
    /// Test the hooks of `.pre-commit-hooks.yaml` with the real pre-commit on commits of a small
    /// repository.
    Hooks {
        /// Build the hooks that are built from source, instead of handing them the binary.
        #[arg(long)]
        from_source: bool,
        /// Also test the hooks that install a wheel, with the one in this folder.
        #[arg(long, value_name = "DIR")]
        wheels: Option<PathBuf>,
        /// Run this binary instead of building the one of this workspace.
        #[arg(long, value_name = "FILE")]
        abide: Option<PathBuf>,
    },
    /// Build the book for users with mdBook, from the pages of this repository and the help of each
    /// command.
    Book {
        /// Run this binary instead of building the one of this workspace.
        #[arg(long, value_name = "FILE")]
        abide: Option<PathBuf>,
    },
    /// Use the packages that `.ci/package` made, as their users do: the wheel, the binary, the
    /// completions and the manual pages.
    Packages,
}

/// The arguments of a program of this workspace that is built when it is asked for, so that no
/// other task waits for it.
#[derive(Args)]
struct Forwarded {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().task {
        Task::Oracle(Forwarded { arguments }) => return programs::run("abide-oracle", &arguments),
        Task::Soundness(Forwarded { arguments }) => {
            return programs::run("abide-soundness", &arguments);
        }
        Task::Bench(Forwarded { arguments }) => return programs::run("abide-bench", &arguments),
        Task::ApiBump { check, against, abide } => api::bump(check, &against, abide.as_deref()),
        Task::Hooks { from_source, wheels, abide } => {
            hooks::run(from_source, wheels.as_deref(), abide.as_deref())
        }
        Task::Book { abide } => book::run(abide.as_deref()),
        Task::Packages => packages::run(),
    };
    exit_code("xtask", outcome)
}
