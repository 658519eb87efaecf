//! The types of instances that do not come with one: said in the text, or
//! recognised by their keys.

use abide_schema::value::{JsonKind, JsonNode};
use abide_schema::{File, MessageId, Tree, format_api_name};

/// Messages that files hold on their own, by the names of their APIs and their own:
/// what Envoy's `-c` takes, what management servers send, and what they send in it.
const WHOLE_FILES: &[(&[&str], &str)] = &[
    (&["envoy.config.bootstrap.*"], "Bootstrap"),
    (&["envoy.service.discovery.*", "envoy.api.*"], "DiscoveryResponse"),
    (&["envoy.config.listener.*", "envoy.api.*"], "Listener"),
    (&["envoy.config.cluster.*", "envoy.api.*"], "Cluster"),
    (&["envoy.config.route.*", "envoy.api.*"], "RouteConfiguration"),
    (&["envoy.config.endpoint.*", "envoy.api.*"], "ClusterLoadAssignment"),
    (&["envoy.extensions.transport_sockets.tls.*"], "Secret"),
    (&["envoy.service.runtime.*"], "Runtime"),
];

/// The knowledge about the type of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentType {
    /// A comment before it, or its key `@type`, names a type.
    Said(MessageId),
    /// They name a type that the tree does not declare.
    Unknown(String),
    /// Its keys speak for a type.
    Recognised(MessageId),
    /// Nothing speaks for any type.
    Nothing,
}

impl DocumentType {
    /// The type, if there is one.
    pub fn ty(&self) -> Option<MessageId> {
        match self {
            DocumentType::Said(ty) | DocumentType::Recognised(ty) => Some(*ty),
            DocumentType::Unknown(_) | DocumentType::Nothing => None,
        }
    }

    /// The type with this name, which may be a URL.
    pub(crate) fn from_name(tree: &Tree, url: &str) -> DocumentType {
        let (_, name) = url.rsplit_once('/').unwrap_or(("", url));
        match tree.message_named(name) {
            Some(message) => DocumentType::Said(message.id),
            None => DocumentType::Unknown(name.to_owned()),
        }
    }
}

/// The type of a document: what its `@type` names, else the message among those that files hold
/// on their own which has most of its keys, in the newest major that the tree has. One key that
/// all kinds of resources have, `name`, speaks for none.
pub fn detect_document_type(tree: &Tree, node: &JsonNode<'_>) -> DocumentType {
    let JsonKind::Object(members) = &node.kind else { return DocumentType::Nothing };
    if let Some(member) = members.iter().find(|member| member.key == "@type") {
        return match &member.value.kind {
            JsonKind::String(url) => DocumentType::from_name(tree, url),
            _ => DocumentType::Nothing,
        };
    }
    let mut found: Option<(usize, MessageId)> = None;
    for versions in collect_candidates(tree) {
        let known = |message: &MessageId| {
            let message = tree.message(*message);
            let known =
                members.iter().filter(|it| message.find_field_by_json_name(&it.key).is_some());
            if known.clone().all(|it| it.key == "name") { 0 } else { known.count() }
        };
        // Keys that only an older major has are what is wrong with the document.
        let most = versions.iter().map(known).max().unwrap_or(0);
        if let Some(&newest) = versions.first()
            && most * 2 > members.len()
            && most > found.map_or(0, |(most, _)| most)
        {
            found = Some((most, newest));
        }
    }
    found.map_or(DocumentType::Nothing, |(_, message)| DocumentType::Recognised(message))
}

/// The messages of the tree that files hold on their own, in the order of [`WHOLE_FILES`]: the
/// versions of each, the newest first.
fn collect_candidates(tree: &Tree) -> Vec<Vec<MessageId>> {
    let versions = WHOLE_FILES.iter().map(|(apis, name)| {
        let is_near =
            |name: &str| apis.iter().any(|api| name.starts_with(api.trim_end_matches('*')));
        let mut packages: Vec<_> = tree
            .packages()
            .filter(|it| is_near(it.name()))
            .filter(|it| format_api_name(it.name()).is_some_and(|api| apis.contains(&&*api)))
            .collect();
        packages.sort_by_key(|package| std::cmp::Reverse(package.version()));
        let named = packages.iter().filter_map(|package| {
            tree.message_named(&format!("{}.{name}", package.name())).map(|it| it.id)
        });
        named.collect()
    });
    versions.collect()
}

/// Reads the name in a comment after `proto-message:`.
/// Source: "Text Format Language Specification" of the protobuf documentation.
pub(crate) fn read_named_type(comment: &[u8]) -> Option<&str> {
    read_after(comment, b"proto-message:")
}

/// Reads the text of a comment after a word, without the sign of the comment.
fn read_after<'c>(comment: &'c [u8], word: &[u8]) -> Option<&'c str> {
    let comment = comment.trim_ascii().strip_prefix(b"#")?.trim_ascii_start();
    std::str::from_utf8(comment.strip_prefix(word)?.trim_ascii()).ok()
}

/// The type that the comments at the head of a text name: by its full name, or as the file sees it
/// that another of them names after `proto-file:`.
pub(crate) fn read_header_type(tree: &Tree, text: &[u8]) -> DocumentType {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let comments = lines.take_while(|line| line.is_empty() || line.starts_with(b"#"));
    let comments: Vec<&[u8]> = comments.collect();
    let said = |word| comments.iter().find_map(|comment| read_after(comment, word));
    let Some(name) = said(b"proto-message:") else { return DocumentType::Nothing };
    let file = said(b"proto-file:").and_then(|path| find_file(tree, path));
    let package = file.map(|file| file.package().name()).filter(|it| !it.is_empty());
    let seen = package.map(|package| DocumentType::from_name(tree, &format!("{package}.{name}")));
    match seen {
        Some(kind @ DocumentType::Said(_)) => kind,
        _ => DocumentType::from_name(tree, name),
    }
}

/// The file that ends the path, as the path may count from the top of a repository.
fn find_file<'t>(tree: &'t Tree, path: &str) -> Option<File<'t>> {
    let ends = |file: &File<'_>| {
        path.strip_suffix(file.path()).is_some_and(|it| it.is_empty() || it.ends_with('/'))
    };
    tree.files().filter(ends).max_by_key(|file| file.path().len())
}
