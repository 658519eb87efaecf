//! Answers to polls. Their text is made once for all who get the same.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll};

use abide_schema::Tree;
use abide_schema::value::Codec;
use abide_xds::{Collection, TYPE_URL_PREFIX};
use axum::body::{Body, Bytes};
use hyper::body::Frame;
use serde_json::{Value, json};

use crate::clients::ClientHandle;
use crate::error::Error;

/// The number of texts that are remembered at most, for as long as one of their readers is there.
const MAX_KNOWN: usize = 32;

/// The number of bytes of a text that a client is given at once.
const PIECE: usize = 64 << 10;

/// The texts that were made lately.
#[derive(Debug, Default)]
pub(super) struct AnswerCache(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    texts: VecDeque<(Key, Weak<Vec<u8>>)>,
    /// The last one stays: others are about to ask for the same.
    last: Option<Arc<Vec<u8>>>,
}

/// The type, and the version of its resources.
type Key = (Arc<str>, Arc<str>);

impl AnswerCache {
    /// The text with these resources.
    ///
    /// # Errors
    /// As of [`render_json`].
    pub(super) fn text(
        &self,
        tree: &Tree,
        type_url: &str,
        content: &Collection,
    ) -> Result<Arc<Vec<u8>>, Error> {
        // Whoever comes meanwhile waits, and does not make it again.
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |(ty, version): &Key| **ty == *type_url && version == content.version();
        let same = known.texts.iter().find(|(key, _)| is_it(key));
        if let Some(text) = same.and_then(|(_, text)| text.upgrade()) {
            return Ok(text);
        }
        known.last = None;
        let text = Arc::new(render_json(tree, type_url, content)?.into_bytes());
        known.texts.retain(|(key, text)| !is_it(key) && text.strong_count() > 0);
        known.texts.truncate(MAX_KNOWN - 1);
        let key = (type_url.into(), Arc::clone(content.version()));
        known.texts.push_front((key, Arc::downgrade(&text)));
        known.last = Some(Arc::clone(&text));
        Ok(text)
    }
}

/// A text on its way to a client, which is one of the fleet until it has taken it.
pub(super) struct AnswerBody {
    rest: Bytes,
    guest: ClientHandle,
}

impl AnswerBody {
    /// The body of an answer to this client.
    pub(super) fn body(text: Arc<Vec<u8>>, guest: ClientHandle) -> Body {
        /// A text that several bodies share.
        struct Shared(Arc<Vec<u8>>);
        impl AsRef<[u8]> for Shared {
            fn as_ref(&self) -> &[u8] {
                &self.0
            }
        }
        Body::new(AnswerBody { rest: Bytes::from_owner(Shared(text)), guest })
    }
}

impl hyper::body::Body for AnswerBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut AnswerBody>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = self.rest.len().min(PIECE);
        let piece = self.rest.split_to(piece);
        Poll::Ready((!piece.is_empty()).then(|| Ok(Frame::data(piece))))
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        hyper::body::SizeHint::with_exact(self.rest.len() as u64)
    }
}

impl Drop for AnswerBody {
    fn drop(&mut self) {
        if !self.rest.is_empty() {
            self.guest.count_stalled();
        }
    }
}

/// A discovery response, in the JSON mapping.
///
/// # Errors
/// A resource that JSON has no notation for.
pub(crate) fn render_json(
    tree: &Tree,
    type_url: &str,
    content: &Collection,
) -> Result<String, Error> {
    let codec = Codec::new(tree);
    let name = type_url.strip_prefix(TYPE_URL_PREFIX).unwrap_or(type_url);
    let ty = tree.message_named(name);
    let resources = content.iter().map(|resource| {
        let failed = |error: &dyn std::fmt::Display| {
            Error::Render(format!("the {name} `{}`: {error}", resource.name))
        };
        let ty = ty.ok_or_else(|| Error::Render(format!("the API has no `{name}`")))?;
        let message = codec.decode(ty.id, &resource.body).map_err(|error| failed(&error))?;
        let text = codec.to_json(&message).map_err(|error| failed(&error))?;
        let value: Value = serde_json::from_str(&text).map_err(|error| failed(&error))?;
        let mut any = serde_json::Map::from_iter([("@type".to_owned(), json!(type_url))]);
        match value {
            Value::Object(members) => any.extend(members),
            value => drop(any.insert("value".to_owned(), value)),
        }
        Ok(Value::Object(any))
    });
    let resources = resources.collect::<Result<Vec<Value>, Error>>()?;
    let version = &**content.version();
    Ok(json!({"versionInfo": version, "resources": resources, "typeUrl": type_url}).to_string())
}

#[cfg(test)]
mod tests {
    use abide_schema::{FileDecl, SourceFile};
    use abide_xds::Resource;

    use super::*;

    fn content(name: &str) -> Collection {
        Collection::of([Arc::new(Resource::new(name, Vec::new()))])
    }

    #[test]
    fn a_text_is_made_once_for_all_who_get_the_same() {
        let path: Arc<str> = "a.proto".into();
        let text = b"syntax = \"proto3\"; package a.v1; message A { }"[..].into();
        let display = Arc::clone(&path);
        let file = SourceFile { path, display, root: 0, imported: false, text };
        let tree = Tree::link(vec![Arc::new(FileDecl::parse(file))]);
        let url = "type.googleapis.com/a.v1.A";
        let answers = AnswerCache::default();
        let text =
            |content: &Collection| answers.text(&tree, url, content).expect("it has a notation");
        let first = text(&content("a"));
        assert!(Arc::ptr_eq(&first, &text(&content("a"))), "the same resources");
        let other = text(&content("b"));
        assert!(!Arc::ptr_eq(&first, &other));
        assert!(Arc::ptr_eq(&first, &text(&content("a"))), "somebody still reads it");
        drop(first);
        let known = || answers.0.lock().unwrap_or_else(PoisonError::into_inner).texts.len();
        for number in 0..2 * MAX_KNOWN {
            text(&content(&number.to_string()));
        }
        assert_eq!(known(), 2, "what nobody reads is forgotten, but for the last");
    }
}
