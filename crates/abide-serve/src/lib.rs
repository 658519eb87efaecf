//! An xDS management server: reads resources, judges them, and hands them to clients.
//!
//! What is sent and when is decided in `abide_xds`; this crate has the sockets, the
//! files and the clock.
#![allow(clippy::disallowed_methods)] // This crate does I/O.

mod admin;
mod checksum;
mod clients;
mod commands;
mod duration;
mod error;
mod limits;
mod listeners;
mod resources;
mod restart;
mod streams;
mod tools;

use std::process::ExitCode;

use clap::Parser;

/// Runs the command line of this process and returns its exit status.
pub fn main() -> ExitCode {
    let args = commands::Args::parse();
    match commands::run(args) {
        Ok(status) => status,
        Err(error) => {
            commands::say(&format!("error: {error}"));
            ExitCode::from(2)
        }
    }
}
