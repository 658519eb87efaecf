//! Reads the APIs of running servers, so that `abide` itself never uses the network.
#![allow(clippy::disallowed_methods)] // This crate is there to use the network.

mod args;
mod connection;
mod error;
mod file_set;
mod output;
mod packaging;
mod reflect;
mod reflection_client;
mod target;

use std::process::ExitCode;

use clap::Parser;

use self::args::{Args, Command};

/// Runs the command line of this process and returns its exit status.
pub fn main() -> ExitCode {
    let args = Args::parse();
    let ran = match &args.command {
        Command::Reflect(args) => reflect::reflect(args),
        Command::Completions(args) => packaging::print_completions(args),
        Command::Man => packaging::print_man_page(),
    };
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::say(&format!("error: {error}"));
            ExitCode::from(2)
        }
    }
}
