//! Sequences of the xDS protocol, one test each. `script.rs` explains the notation.

mod ads;
mod delta;
mod laws;
mod script;
mod state_of_the_world;
mod traps;
