//! Sequences of the xDS protocol, one test each. `script.rs` explains the notation.

mod ads;
mod delta;
mod initialisation;
mod interleavings;
mod laws;
mod lives;
mod observer;
mod script;
mod state_of_the_world;
mod traps;
