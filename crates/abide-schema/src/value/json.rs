//! The JSON notation. Source: "ProtoJSON Format" of the protobuf
//! documentation; where it leaves a choice, the C++ runtime.

mod lenient;
mod read;
mod scalars;
pub(crate) mod syntax;
mod wellknown;
mod write;

pub use lenient::JsonMapping;
