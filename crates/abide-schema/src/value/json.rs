//! The JSON notation. Source: "ProtoJSON Format" of the protobuf
//! documentation, and where that leaves a choice, the C++ runtime.

mod read;
pub(crate) mod syntax;
mod wellknown;
mod write;
