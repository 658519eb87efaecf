//! The edge of Abide: reading trees, rendering reports and writing files.
#![allow(clippy::disallowed_methods)] // This crate is the one that does I/O.

pub mod source;
pub mod write;
