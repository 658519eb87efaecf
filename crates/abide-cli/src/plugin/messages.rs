//! The messages of the protocols of plugins: read by the names of their fields, written from JSON.

use std::sync::Arc;

use abide_schema::value::{Codec, Message, UndeclaredPolicy};
use abide_schema::{
    FileDecl, FileText, MessageId, SourceFile, Tree, find_missing_imports, find_well_known,
};
use serde_json::Value;

/// The files that declare the messages.
const FILES: &[(&str, &str)] = &[
    ("check.proto", include_str!("protocol/check.proto")),
    ("compiler.proto", include_str!("protocol/compiler.proto")),
    ("info.proto", include_str!("protocol/info.proto")),
    ("pluginrpc.proto", include_str!("protocol/pluginrpc.proto")),
];

/// The type of a file in a request.
const FILE: &str = "google.protobuf.FileDescriptorProto";

/// The messages of all protocols, with files as bytes: a request has thousands of them, and the
/// reader of descriptors takes bytes.
pub(super) struct ProtocolMessages {
    tree: Tree,
}

impl ProtocolMessages {
    /// Links the protocols.
    pub(super) fn new() -> ProtocolMessages {
        ProtocolMessages { tree: tree(|text| text.replace(FILE, "bytes")) }
    }

    /// The tree that declares the messages, by which their fields are read.
    pub(super) fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Reads a serialised message of this type.
    pub(super) fn decode(&self, ty: &str, bytes: &[u8]) -> Result<Message, String> {
        let message = Codec::new(&self.tree).decode(find_type(&self.tree, ty), bytes);
        message.map_err(|error| format!("not a {ty}: {error}"))
    }

    /// Serialises a message that Abide wrote in JSON.
    pub(super) fn serialise(&self, ty: &str, json: &Value) -> Vec<u8> {
        serialise(&self.tree, ty, json.to_string().as_bytes())
            .expect("Abide writes only what the protocols declare")
    }
}

/// Serialises a message in JSON, in which files are written as the messages that they are.
pub(super) fn serialize_json(ty: &str, json: &[u8]) -> Result<Vec<u8>, String> {
    serialise(&tree(str::to_owned), ty, json)
}

fn serialise(tree: &Tree, ty: &str, json: &[u8]) -> Result<Vec<u8>, String> {
    let codec = Codec::new(tree);
    let message =
        codec.read_json(find_type(tree, ty), json, UndeclaredPolicy::Ignore).into_result();
    let message = message.map_err(|error| format!("not a {ty} in JSON: {error}"))?;
    Ok(codec.encode(&message))
}

/// A type of the protocols.
fn find_type(tree: &Tree, ty: &str) -> MessageId {
    tree.message_named(ty).expect("the files of the protocols declare it").id
}

/// The protocols, and what they import of the well-known types.
fn tree(written: impl Fn(&str) -> String) -> Tree {
    let mut files: Vec<_> =
        FILES.iter().map(|(path, text)| parse_file(path, &written(text))).collect();
    let missing = find_missing_imports(&files);
    files.extend(missing.iter().filter_map(|path| Some(parse_file(path, find_well_known(path)?))));
    Tree::link(files)
}

fn parse_file(path: &str, text: &str) -> Arc<FileDecl> {
    Arc::new(FileDecl::parse(SourceFile {
        path: path.into(),
        display: path.into(),
        root: 0,
        imported: false,
        text: FileText::from(text.as_bytes()),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_protocols_link() {
        for tree in [ProtocolMessages::new().tree, tree(str::to_owned)] {
            let errors: Vec<_> = tree.problems().iter().filter(|it| it.kind.is_error()).collect();
            assert!(errors.is_empty(), "{errors:?}");
        }
    }

    /// The declaration of protoc itself is built in: ours has the same numbers.
    #[test]
    fn what_is_sent_to_protoc_is_what_protoc_declares() {
        let messages = ProtocolMessages::new();
        let real =
            find_well_known("google/protobuf/compiler/plugin.proto").expect("it is built in");
        for name in ["CodeGeneratorRequest", "CodeGeneratorResponse"] {
            let ours = messages.tree.message_named(&format!("google.protobuf.compiler.{name}"));
            for field in ours.expect("it is declared").fields() {
                let (field, number) = (field.name(), field.number());
                let found = real.contains(&format!(" {field} = {number};"));
                assert!(found, "{name}.{field} = {number}");
            }
        }
    }

    #[test]
    fn a_file_is_the_same_bytes_in_both_formats() {
        let messages = ProtocolMessages::new();
        let json = json!({"proto_file": [{"name": "a.proto", "messageType": [{"name": "M"}]}]});
        let ty = "google.protobuf.compiler.CodeGeneratorRequest";
        let read = serialize_json(ty, json.to_string().as_bytes()).expect("it is valid");
        let read = messages.decode(ty, &read).expect("it is valid");
        let file = read.get(&messages.tree, "proto_file").expect("it is set");
        assert_eq!(file.value.as_bytes(), Some(&b"\n\x07a.proto\"\x03\n\x01M"[..]));
    }
}
