//! An xDS management server: reads resources, judges them, and hands them to clients.
//!
//! What is sent and when is decided in `abide_xds`; this crate has the sockets, the
//! files and the clock.
#![allow(clippy::disallowed_methods)] // This crate does I/O.

mod admin;
mod admin_address;
mod apis;
mod args;
mod arriving;
mod bootstrap;
mod client;
mod commands;
mod conformance;
mod descriptors;
mod drain;
mod duration;
mod encoding;
mod expected;
mod file_out;
mod fleet;
mod follow;
mod groups;
mod grpc;
mod health;
mod judge;
mod listeners;
mod logs;
mod overrides;
mod place;
mod polled;
mod requests;
mod rest;
mod restart;
mod restarter;
mod room;
mod served;
mod shutdown;
mod source;
mod talk;
mod tls;
mod tokens;
mod traffic;
mod types_file;
mod unix_socket;
mod usage;
mod wire;

use std::process::ExitCode;

use clap::Parser;

/// Runs the command line of this process and returns its exit status.
pub fn main() -> ExitCode {
    let args = args::Args::parse();
    match commands::run(args) {
        Ok(status) => status,
        Err(message) => {
            logs::say(&format!("error: {message}"));
            ExitCode::from(2)
        }
    }
}
