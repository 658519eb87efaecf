//! The command-line contract, proven on the built binary.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // Tests set up a world; helpers are tests too.

mod baseline;
mod book;
mod breaking;
mod bump;
mod changed;
mod contract;
mod determinism;
mod first_hour;
mod format;
mod formats;
mod hash;
mod history;
mod hostile;
mod init;
mod interrupted;
mod links;
mod live;
mod lost_objects;
mod majors;
mod packaging;
mod policy;
mod release;
mod repeated_roots;
mod run;
mod snapshots;
mod stories;
mod upgrade;
mod verdicts;
