//! Serialised descriptors: converts files of a tree to FileDescriptorProtos and back.

mod decode;
mod embedded;
mod encode;
mod notation;
mod option_path;
mod source_info;
mod stripped;

pub use embedded::EmbeddedFiles;
pub use encode::{encode_file, encode_pieces, encode_set, set_files};
pub use notation::{read_descriptor_set_json, read_descriptor_set_text, read_descriptor_set_value};

/// The types of `FieldDescriptorProto.Type` that are not scalars.
const TYPE_GROUP: i32 = 10;
const TYPE_MESSAGE: i32 = 11;
const TYPE_ENUM: i32 = 14;
