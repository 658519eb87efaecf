//! The JSON notation. Source: "ProtoJSON Format" of the protobuf
//! documentation; where it leaves a choice, the C++ runtime.

mod lenient;
mod mapping;
mod read;
mod scalars;
pub(crate) mod syntax;
mod well_known;
mod write;

pub use mapping::JsonMapping;
