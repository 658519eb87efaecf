//! Serialised descriptors: files of a tree to FileDescriptorProtos and back.

mod encode;
pub(crate) mod number;
pub(crate) mod option_path;

pub use encode::{encode_file, encode_set};
