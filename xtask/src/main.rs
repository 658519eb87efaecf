//! Automation of this workspace: tasks that need outside programs (protoc, buf) or
//! long runs, and so are not part of `cargo test`.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "xtask is an outermost crate: it runs programs, reads and writes files, and prints"
)]

mod api;
mod bench;
mod book;
mod corpora;
mod envoys;
mod hooks;
mod oracle;
mod packages;
mod repository;
mod running_envoy;
mod soundness;
mod task;
mod tools;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use self::task::Place;

#[derive(Parser)]
#[command(about = "Automation of this workspace")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Check that Abide agrees with protoc, buf, code generators and other libraries.
    Oracle {
        #[command(flatten)]
        place: Place,
        /// Run only these parts, such as `hash` or `instances`, or the trees of these names: `own`,
        /// `googleapis`, or an archive. An unknown name lists all parts
        #[arg(long, value_delimiter = ',')]
        only: Vec<String>,
        /// The number of differences to print for each file.
        #[arg(long, default_value_t = 5)]
        show: usize,
    },
    /// Check random pairs of schemas, and pass random values between them with another runtime. Try
    /// the laws of layouts, fixes, damage and generated code on random files.
    Soundness {
        /// The number of pairs to try.
        #[arg(long, default_value_t = 2000)]
        pairs: u64,
        /// The number of the first pair. With a single pair, the whole pair is printed.
        #[arg(long, default_value_t = 0)]
        first: u64,
        /// The number of files to lay out, with comments and options at any place.
        #[arg(long, default_value_t = 100_000)]
        placements: u64,
        /// The number of trees to fix.
        #[arg(long, default_value_t = 1000)]
        fixes: u64,
        /// The number of pairs whose generated code is compared.
        #[arg(long, default_value_t = 20_000)]
        symbols: u64,
        /// The number of damages to do to files of trees.
        #[arg(long, default_value_t = 10_000)]
        damages: u64,
        /// The number of runs that write, to end at a random system call and to repeat. This needs
        /// strace.
        #[arg(long, default_value_t = 0)]
        kills: u64,
        /// The random seed: the same seed gives the same pairs, files, trees, damages and ends.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Run this binary instead of building the one of this workspace.
        #[arg(long, value_name = "FILE")]
        abide: Option<PathBuf>,
    },
    /// Compare speed and memory with buf and protoc, side by side.
    Bench {
        #[command(flatten)]
        place: Place,
        /// The number of runs of each tool. The medians are reported.
        #[arg(long, default_value_t = 5)]
        runs: usize,
        /// Also write the report to this file, as Markdown.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// Measure only these parts: `check`, `breaking`, `flatness`, `hash`, `history`, `editor`,
        /// `instances`, `serving`, `growth`, or the name of a kind of input that `growth` doubles.
        #[arg(long, value_delimiter = ',')]
        only: Vec<String>,
    },
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
    /// Run one command and print its seconds, peak memory in KiB and exit code.
    #[command(hide = true)]
    Measure {
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<OsString>,
    },
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().task {
        Task::Oracle { place, only, show } => oracle::run(&place, &only, show),
        Task::Soundness {
            pairs,
            first,
            placements,
            fixes,
            symbols,
            damages,
            kills,
            seed,
            abide,
        } => {
            let parts = [
                soundness::run(pairs, first, seed),
                soundness::laws::placements(placements, seed),
                soundness::laws::fixes(fixes, seed),
                soundness::laws::symbols(symbols, seed),
                soundness::laws::damages(damages, seed),
                soundness::kills::kills(kills, seed, abide.as_deref()),
            ];
            parts.into_iter().try_fold(true, |sound, part| Ok(sound & part?))
        }
        Task::Bench { place, runs, out, only } => bench::run(&place, runs, out.as_deref(), &only),
        Task::ApiBump { check, against, abide } => api::bump(check, &against, abide.as_deref()),
        Task::Hooks { from_source, wheels, abide } => {
            hooks::run(from_source, wheels.as_deref(), abide.as_deref())
        }
        Task::Book { abide } => book::run(abide.as_deref()),
        Task::Packages => packages::run(),
        Task::Measure { command } => bench::measure(&command).map(|()| true),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::from(2)
        }
    }
}
