//! Reads descriptor sets, and Buf's images, as JSON and as text.

use std::sync::Arc;

use crate::decl::{FileDecl, SourceFile};
use crate::dynamic::{Entry, Message, Value};
use crate::ids::MessageId;
use crate::protobuf::descriptor_number::file_set::FILE;
use crate::tree::Tree;
use crate::value::codec::Codec;
use crate::value::error::{DecodeError, UndeclaredPolicy};
use crate::value::json::{JsonMapping, syntax as json};
use crate::value::reading::ReadError;
use crate::value::{JsonNode, text};

/// The additions of Buf's images to the descriptor of a file, in field 8042. Source:
/// `buf.alpha.image.v1.ImageFile` of Buf.
const IMAGE: &str = r#"syntax = "proto2";
package image;
message Set {
  repeated File file = 1;
}
message File {
  optional Extension buf_extension = 8042;
}
message Extension {
  optional bool is_import = 1;
  optional bool is_syntax_unspecified = 2;
}
"#;

/// Serialises a FileDescriptorSet in JSON, for [`FileDecl::from_descriptor_set`].
/// Custom options are keys such as `[full.name]`, which the set itself must
/// define. Undefined keys are skipped, like unknown fields.
///
/// # Errors
/// Text that is not JSON and values that do not fit descriptor.proto.
pub fn read_descriptor_set_json(text: &[u8]) -> Result<Vec<u8>, DecodeError> {
    read_descriptor_set_value(&json::parse(text, JsonMapping::Strict))
}

/// The same of a value of JSON that was read from another notation, and what is malformed in it.
///
/// # Errors
/// Whatever is malformed, and values that do not fit descriptor.proto.
pub fn read_descriptor_set_value(
    parsed: &(Option<JsonNode<'_>>, Vec<ReadError>),
) -> Result<Vec<u8>, DecodeError> {
    convert_to_bytes(|codec, ty| {
        codec.read_parsed_json(ty, parsed, UndeclaredPolicy::Ignore).into_result()
    })
}

/// Serialises a FileDescriptorSet in text format, for
/// [`FileDecl::from_descriptor_set`]. Custom options and undefined keys are
/// treated as in [`read_descriptor_set_json`].
///
/// # Errors
/// Malformed text and values that do not fit descriptor.proto.
pub fn read_descriptor_set_text(text: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let node = text::parse(text);
    convert_to_bytes(|codec, ty| {
        codec.read_text_node(ty, &node, UndeclaredPolicy::Ignore).into_result()
    })
}

/// Reads the set with the built-in descriptor.proto, and then again with the
/// custom options that the set defines.
fn convert_to_bytes(
    read: impl Fn(Codec<'_>, MessageId) -> Result<Message, DecodeError>,
) -> Result<Vec<u8>, DecodeError> {
    // A tree always has descriptor.proto.
    let tree = Tree::link(Vec::new());
    let plain = Codec::new(&tree);
    let structure = read_as(plain, "google.protobuf.FileDescriptorSet", &read)?;
    let files = FileDecl::from_descriptor_set(&plain.encode(&structure).into())?;
    let tree = Tree::link(files.into_iter().map(Arc::new).collect());
    let codec = Codec::new(&tree);
    let mut set = read_as(codec, "google.protobuf.FileDescriptorSet", &read)?;

    let image = Tree::link(vec![Arc::new(FileDecl::parse(SourceFile {
        path: "image.proto".into(),
        display: "image.proto".into(),
        root: 0,
        imported: true,
        text: IMAGE.as_bytes().into(),
    }))]);
    let image = Codec::new(&image);
    let more = read_as(image, "image.Set", &read)?;
    let is_file = |entry: &&mut Entry| tree.field(entry.field).number() == FILE as i32;
    for (file, more) in set.entries.iter_mut().filter(is_file).zip(&more.entries) {
        if let (Value::Message(file), Value::Message(more)) = (&mut file.value, &more.value) {
            file.unknown = [&*file.unknown, &image.encode(more)].concat().into();
        }
    }
    Ok(codec.encode(&set))
}

fn read_as(
    codec: Codec<'_>,
    name: &str,
    read: impl Fn(Codec<'_>, MessageId) -> Result<Message, DecodeError>,
) -> Result<Message, DecodeError> {
    match codec.tree().message_named(name) {
        Some(message) => read(codec, message.id),
        None => {
            let message = format!("the descriptor.proto of the set does not declare `{name}`");
            Err(DecodeError { offset: 0, message })
        }
    }
}
