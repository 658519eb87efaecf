//! The server as its clients and operators meet it, over real sockets.
#![allow(clippy::disallowed_methods, reason = "tests start programs and write files")]

mod admin;
mod folder;
mod hostile;
mod logs;
mod runtime;
mod server;
mod streams;
mod versions;
#[path = "../../src/wire.rs"]
#[allow(dead_code, unreachable_pub, reason = "the client speaks the same messages")]
mod wire;
