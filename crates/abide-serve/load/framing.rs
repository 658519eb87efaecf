//! Messages of gRPC as bytes.

use std::convert::Infallible;

use bytes::{BufMut, Bytes, BytesMut};
use http_body_util::StreamBody;
use hyper::body::Frame;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

/// A body that is sent part by part.
pub(crate) type Body = StreamBody<ReceiverStream<std::result::Result<Frame<Bytes>, Infallible>>>;

/// Where the parts of a body go.
#[derive(Clone)]
pub(crate) struct Parts(mpsc::Sender<std::result::Result<Frame<Bytes>, Infallible>>);

/// A body, and where its parts go.
pub(crate) fn body() -> (Parts, Body) {
    let (sender, receiver) = mpsc::channel(8);
    (Parts(sender), StreamBody::new(ReceiverStream::new(receiver)))
}

impl Parts {
    /// Sends one message; false if nobody takes it any more.
    pub(crate) async fn send(&self, message: Bytes) -> bool {
        let mut head = BytesMut::with_capacity(5);
        head.put_u8(0);
        head.put_u32(message.len() as u32);
        for part in [head.freeze(), message] {
            if self.0.send(Ok(Frame::data(part))).await.is_err() {
                return false;
            }
        }
        true
    }
}
