//! Descriptor sets as JSON and as text, and Buf's images in these notations.

use std::sync::Arc;

use crate::decl::{FileDecl, SourceFile};
use crate::descriptor_number::file_set::FILE;
use crate::dynamic::{Entry, Message, Value};
use crate::ids::MessageId;
use crate::tree::Tree;
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
    let node = json::parse(text)?;
    serialise(|tree, ty| Message::from_json_node(tree, ty, &node, Undeclared::Ignore))
}

/// A FileDescriptorSet in text format, serialised: what
/// [`FileDecl::from_descriptor_set`] reads. Custom options and keys that nothing
/// defines are treated as in [`descriptor_set_from_json`].
///
/// # Errors
/// Malformed text and values that do not fit descriptor.proto.
pub fn descriptor_set_from_text(text: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let node = text::parse(text)?;
    serialise(|tree, ty| Message::from_text_node(tree, ty, &node, Undeclared::Ignore))
}

/// Reads the set with what is built in, and again with the custom options that
/// it is then known to define.
fn serialise(
    read: impl Fn(&Tree, MessageId) -> Result<Message, DecodeError>,
) -> Result<Vec<u8>, DecodeError> {
    // A tree always has descriptor.proto.
    let plain = Tree::link(Vec::new());
    let structure = read_as(&plain, "google.protobuf.FileDescriptorSet", &read)?;
    let files = FileDecl::from_descriptor_set(&structure.encode(&plain).into())?;
    let tree = Tree::link(files.into_iter().map(Arc::new).collect());
    let mut set = read_as(&tree, "google.protobuf.FileDescriptorSet", &read)?;

    let image = Tree::link(vec![Arc::new(FileDecl::parse(SourceFile {
        path: "image.proto".into(),
        display: "image.proto".into(),
        root: 0,
        imported: true,
        text: IMAGE.as_bytes().into(),
    }))]);
    let more = read_as(&image, "image.Set", &read)?;
    let is_file = |entry: &&mut Entry| tree.field(entry.field).number() == FILE as i32;
    for (file, more) in set.entries.iter_mut().filter(is_file).zip(&more.entries) {
        if let (Value::Message(file), Value::Message(more)) = (&mut file.value, &more.value) {
            file.unknown = [&*file.unknown, &more.encode(&image)].concat().into();
        }
    }
    Ok(set.encode(&tree))
}

fn read_as(
    tree: &Tree,
    name: &str,
    read: impl Fn(&Tree, MessageId) -> Result<Message, DecodeError>,
) -> Result<Message, DecodeError> {
    let mut messages = tree.files().flat_map(|file| file.messages());
    match messages.find(|message| message.full_name() == name) {
        Some(message) => read(tree, message.id),
        None => {
            let message = format!("the descriptor.proto of the set does not declare `{name}`");
            Err(DecodeError { offset: 0, message })
        }
    }
}
