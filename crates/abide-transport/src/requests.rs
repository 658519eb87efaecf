//! The requests of one stream, as they come. Source: "Requests" of gRPC over HTTP/2: each message has
//! a flag and its length before it.

use std::marker::PhantomData;
use std::sync::Arc;

use bytes::Bytes;
use hyper::body::Body;
use prost::Message;
use tonic::Status;

use crate::body_reader::{BodyError, BodyReader, PartialBody, ReadLimits};
use crate::encoding::HEAD;
use crate::memory_budget::{MemoryBudget, Reservation};

/// The requests of one stream. No more of them is in memory than the one that is read; its bytes
/// are gone when it is decoded.
pub struct RequestStream<B, R> {
    arriving: BodyReader<B>,
    head: PartialBody,
    /// The content after the head, once that is there: its length, and what came of it.
    content: Option<(usize, PartialBody)>,
    /// The number of bytes a request may have.
    most: usize,
    of: PhantomData<fn() -> R>,
}

/// A request that was read, and the room that it takes.
pub struct ReadRequest<R> {
    /// The request, decoded.
    pub request: R,
    /// The memory that it takes until it is dropped.
    pub room: Reservation,
}

impl<B, R> RequestStream<B, R>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::fmt::Display,
    R: Message + Default,
{
    /// Begins to read the requests of a body, within these limits and this memory.
    pub fn new(body: B, limits: ReadLimits, room: Arc<MemoryBudget>) -> RequestStream<B, R> {
        let arriving = BodyReader::new(body, limits.patience, room);
        let (head, most) = (PartialBody::default(), limits.bytes);
        RequestStream { arriving, head, content: None, most, of: PhantomData }
    }

    /// The next request; `None` when the client sends no more. Nothing is lost if this is dropped
    /// while it waits.
    ///
    /// # Errors
    /// What is no request, is too large, or does not come.
    pub async fn next(&mut self) -> Result<Option<ReadRequest<R>>, Status> {
        let RequestStream { arriving, head, content, most, .. } = self;
        if content.is_none() {
            // Between requests a client may be silent.
            if !arriving.fill(head, 1).await.map_err(report_missing)? {
                return Ok(None);
            }
            arriving.begin();
            if !arriving.fill(head, HEAD).await.map_err(report_missing)? {
                return Err(report_broken_off());
            }
            *content = Some((parse_length(&head.bytes, *most)?, PartialBody::default()));
        }
        let Some((length, part)) = content else { return Err(report_broken_off()) };
        if !arriving.fill(part, *length).await.map_err(report_missing)? {
            return Err(report_broken_off());
        }
        arriving.end();
        self.head = PartialBody::default();
        let whole = self.content.take().map(|(_, part)| part.into_whole());
        let (bytes, room) = whole.unwrap_or_default();
        let request = R::decode(&*bytes)
            .map_err(|error| Status::internal(format!("a request cannot be read: {error}")))?;
        Ok(Some(ReadRequest { request, room }))
    }
}

fn report_missing(why: BodyError) -> Status {
    match why {
        BodyError::Late => Status::deadline_exceeded("no request came, or only a part of one"),
        BodyError::Broken(why) => Status::cancelled(why),
    }
}

/// The length of a request, by what stands before it.
fn parse_length(head: &[u8], most: usize) -> Result<usize, Status> {
    let &[flag, a, b, c, d] = head else { return Err(report_broken_off()) };
    if flag != 0 {
        return Err(Status::unimplemented("requests may not be compressed"));
    }
    let length = u32::from_be_bytes([a, b, c, d]) as usize;
    match length <= most {
        true => Ok(length),
        false => {
            let message = format!(
                "a request has {length} bytes, and may have at most {most}: `--max-request`"
            );
            Err(Status::out_of_range(message))
        }
    }
}

fn report_broken_off() -> Status {
    Status::internal("the stream ended within a request")
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use std::time::Duration;

    use http_body_util::StreamBody;
    use hyper::body::Frame;
    use tokio::sync::mpsc;
    use tokio::time::{Instant, sleep, timeout};
    use tokio_stream::wrappers::ReceiverStream;
    use tonic::Code;

    use super::*;
    use abide_xds::wire::DiscoveryRequest;

    const STALL_TIMEOUT: Duration = Duration::from_secs(30);

    type Frames = ReceiverStream<Result<Frame<Bytes>, Infallible>>;
    type Stream = RequestStream<StreamBody<Frames>, DiscoveryRequest>;

    /// The other end of a stream.
    struct Client(mpsc::Sender<Result<Frame<Bytes>, Infallible>>);

    impl Client {
        async fn send(&self, bytes: &[u8]) {
            let frame = Frame::data(Bytes::copy_from_slice(bytes));
            self.0.send(Ok(frame)).await.expect("the stream is open");
        }
    }

    fn stream(room: &Arc<MemoryBudget>) -> (Client, Stream) {
        let (sender, frames) = mpsc::channel(1000);
        let limits = ReadLimits { bytes: 1 << 20, patience: STALL_TIMEOUT };
        let body = StreamBody::new(ReceiverStream::new(frames));
        (Client(sender), RequestStream::new(body, limits, Arc::clone(room)))
    }

    fn room() -> Arc<MemoryBudget> {
        Arc::new(MemoryBudget::new(1 << 20))
    }

    /// A request with this nonce, and so many bytes more, as it is sent.
    fn framed(nonce: &str, bytes: usize) -> Vec<u8> {
        let request = DiscoveryRequest {
            response_nonce: nonce.to_owned(),
            version_info: "x".repeat(bytes),
            ..DiscoveryRequest::default()
        };
        let content = request.encode_to_vec();
        let length = u32::try_from(content.len()).expect("it is small");
        [&[0][..], &length.to_be_bytes(), &content].concat()
    }

    async fn nonce(stream: &mut Stream) -> String {
        let read = stream.next().await.expect("it is good").expect("there is one");
        read.request.response_nonce
    }

    async fn code(sent: &[u8]) -> Code {
        let (client, mut stream) = stream(&room());
        client.send(sent).await;
        drop(client);
        stream.next().await.err().expect("it is bad").code()
    }

    #[tokio::test]
    async fn requests_come_in_any_pieces_and_nothing_of_them_is_lost() {
        let empty = [0; HEAD];
        let all = [&framed("a", 7)[..], &empty, &framed("b", 70), &framed("c", 0)].concat();
        for size in 1..=all.len() {
            let (client, mut stream) = stream(&room());
            let mut nonces = Vec::new();
            for piece in all.chunks(size) {
                client.send(piece).await;
                // What waits is dropped over and over again.
                while let Ok(read) = timeout(Duration::ZERO, stream.next()).await {
                    nonces.push(read.expect("good").expect("one").request.response_nonce);
                }
            }
            assert_eq!(nonces, ["a", "", "b", "c"], "pieces of {size}");
            drop(client);
            assert!(stream.next().await.expect("it ended well").is_none());
        }
    }

    #[tokio::test]
    async fn what_is_no_request_ends_the_stream() {
        assert_eq!(code(&[1, 0, 0, 0, 0]).await, Code::Unimplemented, "compressed");
        assert_eq!(code(&[0, 0, 16, 0, 1]).await, Code::OutOfRange, "a byte too many");
        assert_eq!(code(&[0, 0xff, 0xff, 0xff, 0xff]).await, Code::OutOfRange);
        assert_eq!(code(&[0, 0, 0, 0, 2, 0xff, 0xff]).await, Code::Internal, "no protobuf");
        assert_eq!(code(&[0, 0, 0]).await, Code::Internal, "half of a head");
        assert_eq!(code(&framed("a", 7)[..9]).await, Code::Internal, "half of a request");
    }

    #[tokio::test(start_paused = true)]
    async fn large_requests_wait_for_room_and_small_ones_do_not() {
        let room = room();
        let large = framed("large", 700_000);
        let ((first, mut one), (second, mut two)) = (stream(&room), stream(&room));
        first.send(&large).await;
        second.send(&large[..40_000]).await;
        let held = one.next().await.expect("good").expect("one");
        assert!(timeout(2 * STALL_TIMEOUT, two.next()).await.is_err(), "there is no room");
        let (third, mut three) = stream(&room);
        third.send(&framed("small", 30_000)).await;
        assert_eq!(nonce(&mut three).await, "small");
        drop(held);
        assert!(
            timeout(STALL_TIMEOUT / 2, two.next()).await.is_err(),
            "its waiting does not count"
        );
        second.send(&large[40_000..]).await;
        assert_eq!(nonce(&mut two).await, "large");
    }

    #[tokio::test(start_paused = true)]
    async fn a_length_alone_takes_no_room() {
        let room = room();
        let large = framed("large", 1_000_000);
        let mut waiting = Vec::new();
        for _ in 0..100 {
            let (client, mut stream) = stream(&room);
            client.send(&large[..HEAD]).await;
            waiting.push((
                client,
                tokio::spawn(async move { stream.next().await.err().map(|it| it.code()) }),
            ));
        }
        sleep(Duration::from_millis(1)).await;
        let (client, mut stream) = stream(&room);
        client.send(&large).await;
        let come = timeout(Duration::from_millis(1), stream.next()).await;
        assert!(come.expect("at once").expect("good").is_some());
        for (_client, ended) in waiting {
            assert_eq!(ended.await.expect("it ran"), Some(Code::DeadlineExceeded));
        }
    }

    /// Sends pieces of this size every 100 ms while another client waits for the room; says how the
    /// sender ended, and how long the other one waited.
    async fn keeps_waiting(piece: usize) -> (Option<Code>, Duration) {
        let room = room();
        let large = framed("large", 1_000_000);
        let ((slow, mut one), (fast, mut two)) = (stream(&room), stream(&room));
        slow.send(&large[..40_000]).await;
        let all = large.clone();
        let sender = tokio::spawn(async move {
            for piece in all[40_000..].chunks(piece) {
                sleep(Duration::from_millis(100)).await;
                let frame = Frame::data(Bytes::copy_from_slice(piece));
                if slow.0.send(Ok(frame)).await.is_err() {
                    return;
                }
            }
        });
        let slow = tokio::spawn(async move { one.next().await.err().map(|it| it.code()) });
        sleep(Duration::from_millis(1)).await;
        fast.send(&large).await;
        let begin = Instant::now();
        assert_eq!(nonce(&mut two).await, "large");
        let waited = begin.elapsed();
        let ended = slow.await.expect("it ran");
        sender.await.expect("it ran");
        (ended, waited)
    }

    #[tokio::test(start_paused = true)]
    async fn who_has_room_that_others_wait_for_may_not_be_slow() {
        let (ended, waited) = keeps_waiting(100).await;
        assert_eq!(ended, Some(Code::DeadlineExceeded));
        assert!(waited < Duration::from_secs(6), "it took {waited:?}");
        let (ended, waited) = keeps_waiting(10_000).await;
        assert_eq!(ended, None, "it was fast enough");
        assert!(waited > Duration::from_secs(9), "it took {waited:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_may_be_silent_between_requests_and_not_before_the_first() {
        let (client, mut stream) = stream(&room());
        client.send(&framed("a", 1)).await;
        assert_eq!(nonce(&mut stream).await, "a");
        assert!(timeout(10 * STALL_TIMEOUT, stream.next()).await.is_err(), "it may be silent");
        client.send(&[0]).await;
        assert_eq!(stream.next().await.err().expect("no rest").code(), Code::DeadlineExceeded);
        let (_client, mut stream) = self::stream(&room());
        assert_eq!(stream.next().await.err().expect("nothing").code(), Code::DeadlineExceeded);
    }
}
