//! What the tests of `abide-xds` play: its lives are tried here in larger numbers.
#![allow(dead_code, unused_imports, reason = "the tests use the rest")]

#[path = "../../../abide-xds/tests/sequences/laws.rs"]
pub(crate) mod laws;
#[path = "../../../abide-xds/tests/sequences/lives.rs"]
pub(crate) mod lives;
#[path = "../../../abide-xds/tests/sequences/observer.rs"]
pub(crate) mod observer;
#[path = "../../../abide-xds/tests/sequences/script.rs"]
pub(crate) mod script;
