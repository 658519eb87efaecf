//! Serialised descriptors: files of a tree to FileDescriptorProtos and back.

mod encode;
pub(crate) mod number;

pub use encode::{encode_file, encode_set};
