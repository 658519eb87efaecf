//! The language server, driven over pipes as an editor drives it.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // Tests set up a world; helpers are tests too.

mod client;
mod diagnostics;
mod features;
mod law;
mod protocol;
#[path = "../cli/run.rs"]
#[allow(dead_code, reason = "the tests of the command line need more of it")]
mod run;
