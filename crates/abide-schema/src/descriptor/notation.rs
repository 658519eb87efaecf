//! Descriptor sets as JSON and as text, and Buf's images in these notations.

use std::sync::Arc;

use crate::decl::{FileDecl, SourceFile};
use crate::descriptor_number::file_set::FILE;
use crate::dynamic::{Entry, Message, Value};
use crate::ids::MessageId;
use crate::tree::Tree;
use crate::value::codec::Codec;
use crate::value::error::{DecodeError, Undeclared};
use crate::value::json::syntax as json;
use crate::value::text;

/// What Buf's images say about a file besides its descriptor, which stands
/// behind number 8042. Source: `buf.alpha.image.v1.ImageFile` of Buf.
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

/// A FileDescriptorSet in JSON, serialised: what [`FileDecl::from_descriptor_set`]
/// reads. Custom options are keys such as `[full.name]`, whose definitions are
/// looked for in the set itself; keys that nothing defines are passed over, as
/// unknown fields are.
///
/// # Errors
/// Text that is not JSON and values that do not fit descriptor.proto.
pub fn descriptor_set_from_json(text: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let parsed = json::parse(text);
    serialise(|codec, ty| codec.read_parsed_json(ty, &parsed, Undeclared::Ignore).into_result())
}

/// A FileDescriptorSet in text format, serialised: what
/// [`FileDecl::from_descriptor_set`] reads. Custom options and keys that nothing
/// defines are treated as in [`descriptor_set_from_json`].
///
/// # Errors
/// Malformed text and values that do not fit descriptor.proto.
pub fn descriptor_set_from_text(text: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let node = text::parse(text);
    serialise(|codec, ty| codec.read_text_node(ty, &node, Undeclared::Ignore).into_result())
}

/// Reads the set with what is built in, and again with the custom options that
/// it is then known to define.
fn serialise(
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
