//! Responses as bytes. What many clients are sent is encoded once, and its bytes are shared by all
//! streams that they are on their way in.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll, ready};

use abide_xds::{Resource, Response};
use bytes::{BufMut, Bytes, BytesMut};
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use hyper::body::{Body, Frame};
use prost::Message;
use tokio::sync::mpsc;
use tonic::Status;
use tonic::metadata::GRPC_CONTENT_TYPE;

use abide_xds::wire::{DeltaDiscoveryResponse, DiscoveryResponse};

/// The number of encodings that are remembered at most: a few for each type that clients ask for.
const MAX_KNOWN: usize = 32;

/// The number of bytes that stand before a message of gRPC: a flag, and its length.
pub(crate) const HEAD: usize = 5;

/// Up to how many shared bytes are copied for each client. A frame of their own would cost more.
const MAX_COPIED: usize = 4096;

/// The encodings of what was sent lately.
#[derive(Debug, Default)]
pub struct EncodingCache(Mutex<VecDeque<Known>>);

/// The bytes of what clients share.
#[derive(Debug)]
struct Known {
    resources: Weak<[Arc<Resource>]>,
    removed: Weak<[Arc<str>]>,
    type_url: Arc<str>,
    is_delta: bool,
    bytes: Bytes,
}

impl Known {
    fn is_of(&self, response: &Response) -> bool {
        let is_same = |old: *const (), new: *const ()| std::ptr::eq(old, new);
        is_same(self.resources.as_ptr().cast(), Arc::as_ptr(&response.resources).cast())
            && is_same(self.removed.as_ptr().cast(), Arc::as_ptr(&response.removed).cast())
            && self.type_url == response.type_url
            && self.is_delta == response.is_delta
    }

    /// Returns true if somebody may be sent it again.
    fn is_alive(&self) -> bool {
        self.resources.strong_count() > 0 && self.removed.strong_count() > 0
    }
}

/// A message of gRPC, in parts: what is for its client alone, and what is shared.
#[derive(Clone, Debug)]
pub struct EncodedMessage {
    own: Bytes,
    shared: Bytes,
}

impl EncodedMessage {
    /// A message that is for its client alone.
    pub fn of(message: &impl Message) -> EncodedMessage {
        EncodedMessage::join(&message.encode_to_vec(), Bytes::new())
    }

    fn join(own: &[u8], shared: Bytes) -> EncodedMessage {
        let length = own.len() + shared.len();
        let (copied, shared) = match shared.len() <= MAX_COPIED {
            true => (shared, Bytes::new()),
            false => (Bytes::new(), shared),
        };
        let mut head = BytesMut::with_capacity(HEAD + own.len() + copied.len());
        head.put_u8(0); // It is not compressed.
        head.put_u32(length as u32);
        head.put_slice(own);
        head.put_slice(&copied);
        EncodedMessage { own: head.freeze(), shared }
    }
}

impl EncodingCache {
    /// The bytes of a response. Fields of protobuf may come in any order, so that its parts are
    /// encoded one by one.
    pub fn encode(&self, response: &Response) -> EncodedMessage {
        let shared = self.encode_shared(response);
        let own = match response.is_delta {
            true => DeltaDiscoveryResponse::head(response).encode_to_vec(),
            false => DiscoveryResponse::head(response).encode_to_vec(),
        };
        EncodedMessage::join(&own, shared)
    }

    fn encode_shared(&self, response: &Response) -> Bytes {
        // Whoever comes meanwhile waits for the bytes, and does not make them again.
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.iter().find(|it| it.is_of(response)) {
            return known.bytes.clone();
        }
        let bytes: Bytes = match response.is_delta {
            true => DeltaDiscoveryResponse::content(response).encode_to_vec(),
            false => DiscoveryResponse::content(response).encode_to_vec(),
        }
        .into();
        known.retain(Known::is_alive);
        known.truncate(MAX_KNOWN - 1);
        known.push_front(Known {
            resources: Arc::downgrade(&response.resources),
            removed: Arc::downgrade(&response.removed),
            type_url: Arc::clone(&response.type_url),
            is_delta: response.is_delta,
            bytes: bytes.clone(),
        });
        bytes
    }
}

/// The body of an answer over gRPC: messages as they come, and the status at the end.
#[derive(Debug)]
pub struct MessageBody {
    incoming: mpsc::Receiver<Result<EncodedMessage, Status>>,
    /// The rest of a message whose first part is on its way.
    rest: Option<Bytes>,
    is_over: bool,
}

impl MessageBody {
    /// The body of these messages. It ends well when nobody sends any more.
    pub fn new(incoming: mpsc::Receiver<Result<EncodedMessage, Status>>) -> MessageBody {
        MessageBody { incoming, rest: None, is_over: false }
    }

    /// The answer that they are the body of.
    pub fn into_response(self) -> http::Response<tonic::body::Body> {
        let mut response = http::Response::new(tonic::body::Body::new(self));
        response.headers_mut().insert(CONTENT_TYPE, GRPC_CONTENT_TYPE);
        response
    }
}

impl Body for MessageBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut MessageBody>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if let Some(rest) = self.rest.take() {
            return Poll::Ready(Some(Ok(Frame::data(rest))));
        }
        if self.is_over {
            return Poll::Ready(None);
        }
        let status = match ready!(self.incoming.poll_recv(context)) {
            Some(Ok(message)) => {
                self.rest = Some(message.shared).filter(|it| !it.is_empty());
                return Poll::Ready(Some(Ok(Frame::data(message.own))));
            }
            Some(Err(status)) => status,
            None => Status::ok(""),
        };
        self.is_over = true;
        let mut trailers = HeaderMap::new();
        status.add_header(&mut trailers)?;
        Poll::Ready(Some(Ok(Frame::trailers(trailers))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CDS: &str = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

    fn response(resources: &Arc<[Arc<Resource>]>, nonce: &str, is_delta: bool) -> Response {
        Response {
            type_url: CDS.into(),
            version: "7".into(),
            nonce: nonce.into(),
            resources: Arc::clone(resources),
            removed: [Arc::from("gone")].into(),
            unresolved: Arc::default(),
            is_delta,
        }
    }

    fn resources() -> Arc<[Arc<Resource>]> {
        let alias = Resource::new("b", "two").known_as(&["c"]);
        [Resource::new("a", "one"), alias].map(Arc::new).into()
    }

    /// The message without what stands before it.
    fn joined(encoded: &EncodedMessage) -> Vec<u8> {
        let all = [&*encoded.own, &*encoded.shared].concat();
        let length = u32::from_be_bytes([all[1], all[2], all[3], all[4]]) as usize;
        assert_eq!((all[0], length), (0, all.len() - HEAD));
        all[HEAD..].to_vec()
    }

    #[test]
    fn the_parts_together_are_the_response() -> Result<(), prost::DecodeError> {
        let resources = resources();
        let encodings = EncodingCache::default();
        let delta = encodings.encode(&response(&resources, "3", true));
        let read = DeltaDiscoveryResponse::decode(&*joined(&delta))?;
        let names: Vec<(&str, &[String])> =
            read.resources.iter().map(|it| (&*it.name, &*it.aliases)).collect();
        assert_eq!(names, [("a", &[][..]), ("b", &["c".to_owned()][..])]);
        assert_eq!((&*read.nonce, &*read.system_version_info, &*read.type_url), ("3", "7", CDS));
        assert_eq!(read.removed_resources, ["gone"]);
        let whole = encodings.encode(&response(&resources, "4", false));
        let read = DiscoveryResponse::decode(&*joined(&whole))?;
        let bodies: Vec<&[u8]> = read.resources.iter().map(|it| &*it.value).collect();
        assert_eq!(bodies, [b"one", b"two"]);
        assert_eq!((&*read.nonce, &*read.version_info, &*read.type_url), ("4", "7", CDS));
        Ok(())
    }

    #[test]
    fn a_name_that_stands_for_nothing_is_an_entry_with_it_as_its_alias() {
        let mut asked = response(&resources(), "3", true);
        asked.unresolved = [Arc::from("routes/four.example")].into();
        let read =
            DeltaDiscoveryResponse::decode(&*joined(&EncodingCache::default().encode(&asked)));
        let read = read.expect("a response");
        let entry = &read.resources[0];
        assert_eq!(
            (&*entry.name, &*entry.aliases),
            ("routes/four.example", &["routes/four.example".to_owned()][..])
        );
        assert_eq!((&entry.resource, read.resources.len()), (&None, 3), "beside what there is");
    }

    #[test]
    fn what_clients_share_is_encoded_once() {
        let resources = resources();
        let encodings = EncodingCache::default();
        let mut first = response(&resources, "1", true);
        let mut second = response(&resources, "2", true);
        second.removed = Arc::clone(&first.removed);
        let bytes = |response: &Response| encodings.encode_shared(response).as_ptr();
        assert_eq!(bytes(&first), bytes(&second));
        second.is_delta = false;
        assert_ne!(bytes(&first), bytes(&second), "the variants differ");
        first.removed = [Arc::from("gone")].into();
        assert_ne!(bytes(&first), bytes(&response(&resources, "3", true)), "another list");
    }

    #[test]
    fn only_what_is_large_has_a_frame_of_its_own() {
        for (size, is_shared) in [(MAX_COPIED - 200, false), (MAX_COPIED + 1, true)] {
            let resources: Arc<[_]> = [Arc::new(Resource::new("a", vec![1; size]))].into();
            let encoded = EncodingCache::default().encode(&response(&resources, "1", true));
            assert_eq!(!encoded.shared.is_empty(), is_shared, "{size} bytes");
            let read = DeltaDiscoveryResponse::decode(&*joined(&encoded)).expect("a response");
            let any = read.resources[0].resource.as_ref().expect("a payload");
            assert_eq!((any.value.len(), &*read.nonce), (size, "1"));
        }
    }

    #[test]
    fn what_nobody_has_any_more_is_forgotten() {
        let encodings = EncodingCache::default();
        for number in 0..2 * MAX_KNOWN {
            encodings.encode(&response(&resources(), &number.to_string(), true));
        }
        let known = encodings.0.lock().unwrap_or_else(PoisonError::into_inner).len();
        assert_eq!(known, 1, "each was forgotten when the next one came");
        let kept: Vec<_> = (0..2 * MAX_KNOWN).map(|_| response(&resources(), "1", true)).collect();
        kept.iter().for_each(|it| drop(encodings.encode(it)));
        let known = encodings.0.lock().unwrap_or_else(PoisonError::into_inner).len();
        assert_eq!(known, MAX_KNOWN, "there is an end to what is remembered");
    }
}
