//! The server as its clients and operators meet it, over real sockets.
#![allow(clippy::disallowed_methods, reason = "tests start programs and write files")]
#![allow(clippy::print_stdout, reason = "they say what they measured")]

mod access;
mod admin;
mod alerts;
mod citizen;
mod conformance;
mod drain;
mod endpoints;
mod expected;
mod exposition;
mod fleet;
mod folder;
mod git;
mod health;
mod hostile;
mod initialising;
mod logs;
mod majors;
mod negotiation;
mod roll_back;
mod runtime;
mod server;
mod streams;
mod types;
mod versions;
#[path = "../../../abide-cli/tests/cli/waiting.rs"]
mod waiting;
