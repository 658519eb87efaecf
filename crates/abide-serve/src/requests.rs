//! The requests of one stream, as they come. Source: "Requests" of gRPC over HTTP/2: each message has
//! a flag and its length before it.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Body;
use prost::Message;
use tokio::time::{Instant, timeout_at};
use tonic::Status;

use crate::encoding::HEAD;
use crate::room::{Room, Taken, Waiting};

/// The requests of one stream. No more of them is in memory than the one that is read; its bytes
/// are gone when it is decoded.
pub(crate) struct Requests<B, R> {
    body: B,
    /// What came and was not read yet.
    rest: Bytes,
    part: Part,
    /// When the client must have sent the whole of a request.
    deadline: Option<Instant>,
    limits: ReadLimits,
    room: Arc<Room>,
    of: PhantomData<fn() -> R>,
}

/// How requests are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadLimits {
    /// How many bytes one may have.
    pub(crate) bytes: usize,
    /// How long a client may take to send its first one, or any that it began.
    pub(crate) patience: Duration,
}

/// The part of a request that comes next.
enum Part {
    /// A flag and a length.
    Head(Vec<u8>),
    /// So many bytes, for which there is no room yet.
    Turn(usize, Waiting),
    /// So many bytes in all.
    Content(usize, Vec<u8>, Taken),
}

/// A request that was read, and the room that it takes.
pub(crate) struct Read<R> {
    pub(crate) request: R,
    pub(crate) room: Taken,
}

impl<B, R> Requests<B, R>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::fmt::Display,
    R: Message + Default,
{
    pub(crate) fn new(body: B, limits: ReadLimits, room: Arc<Room>) -> Requests<B, R> {
        let deadline = Some(Instant::now() + limits.patience);
        let (rest, part) = (Bytes::new(), Part::Head(Vec::new()));
        Requests { body, rest, part, deadline, limits, room, of: PhantomData }
    }

    /// The next request; `None` when the client sends no more. Nothing is lost if this is dropped
    /// while it waits.
    ///
    /// # Errors
    /// What is no request, is too large, or does not come.
    pub(crate) async fn next(&mut self) -> Result<Option<Read<R>>, Status> {
        loop {
            match &mut self.part {
                Part::Head(head) => {
                    fill(head, HEAD, &mut self.rest);
                    if head.len() == HEAD {
                        let length = length(head, self.limits.bytes)?;
                        self.part = Part::Turn(length, self.room.take(length));
                        continue;
                    }
                    let has_begun = !head.is_empty();
                    if has_begun {
                        self.deadline.get_or_insert(Instant::now() + self.limits.patience);
                    }
                    if !self.more().await? {
                        return if has_begun { Err(broken_off()) } else { Ok(None) };
                    }
                }
                Part::Turn(length, turn) => {
                    let room = turn.as_mut().await;
                    // What it waited for others does not count.
                    self.deadline = Some(Instant::now() + self.limits.patience);
                    self.part = Part::Content(*length, Vec::new(), room);
                }
                Part::Content(length, content, _) => {
                    if content.is_empty() {
                        content.reserve_exact(*length);
                    }
                    fill(content, *length, &mut self.rest);
                    if content.len() < *length {
                        if !self.more().await? {
                            return Err(broken_off());
                        }
                        continue;
                    }
                    self.deadline = None;
                    let part = std::mem::replace(&mut self.part, Part::Head(Vec::new()));
                    let Part::Content(_, content, room) = part else { continue };
                    let request = R::decode(&*content).map_err(|error| {
                        Status::internal(format!("a request cannot be read: {error}"))
                    })?;
                    return Ok(Some(Read { request, room }));
                }
            }
        }
    }

    /// Waits for more bytes. Returns whether there are any.
    async fn more(&mut self) -> Result<bool, Status> {
        loop {
            let frame = self.body.frame();
            let frame = match self.deadline {
                Some(deadline) => timeout_at(deadline, frame).await.map_err(|_| {
                    Status::deadline_exceeded("no request came, or only a part of one")
                })?,
                None => frame.await,
            };
            let Some(frame) = frame else { return Ok(false) };
            let frame = frame.map_err(|error| Status::cancelled(error.to_string()))?;
            // Clients have no trailers.
            if let Ok(data) = frame.into_data() {
                self.rest = data;
                return Ok(true);
            }
        }
    }
}

/// Moves bytes over until there are so many, as far as they came.
fn fill(part: &mut Vec<u8>, length: usize, from: &mut Bytes) {
    let missing = (length - part.len()).min(from.len());
    part.extend_from_slice(&from.split_to(missing));
}

/// The length of a request, by what stands before it.
fn length(head: &[u8], most: usize) -> Result<usize, Status> {
    let &[flag, a, b, c, d] = head else { return Err(broken_off()) };
    if flag != 0 {
        return Err(Status::unimplemented("requests may not be compressed"));
    }
    let length = u32::from_be_bytes([a, b, c, d]) as usize;
    match length <= most {
        true => Ok(length),
        false => {
            let message = format!("a request has {length} bytes, and may have at most {most}");
            Err(Status::out_of_range(message))
        }
    }
}

fn broken_off() -> Status {
    Status::internal("the stream ended within a request")
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use http_body_util::StreamBody;
    use hyper::body::Frame;
    use tokio::sync::mpsc;
    use tokio::time::{sleep, timeout};
    use tokio_stream::wrappers::ReceiverStream;
    use tonic::Code;

    use super::*;
    use crate::wire::DiscoveryRequest;

    const PATIENCE: Duration = Duration::from_secs(30);

    type Frames = ReceiverStream<Result<Frame<Bytes>, Infallible>>;
    type Stream = Requests<StreamBody<Frames>, DiscoveryRequest>;

    /// The other end of a stream.
    struct Client(mpsc::Sender<Result<Frame<Bytes>, Infallible>>);

    impl Client {
        async fn send(&self, bytes: &[u8]) {
            let frame = Frame::data(Bytes::copy_from_slice(bytes));
            self.0.send(Ok(frame)).await.expect("the stream is open");
        }
    }

    fn stream(room: &Arc<Room>) -> (Client, Stream) {
        let (sender, frames) = mpsc::channel(1000);
        let limits = ReadLimits { bytes: 1 << 20, patience: PATIENCE };
        let body = StreamBody::new(ReceiverStream::new(frames));
        (Client(sender), Requests::new(body, limits, Arc::clone(room)))
    }

    fn room() -> Arc<Room> {
        Arc::new(Room::new(1 << 20))
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
        second.send(&large[..100]).await;
        let held = one.next().await.expect("good").expect("one");
        assert!(timeout(2 * PATIENCE, two.next()).await.is_err(), "there is no room");
        let (third, mut three) = stream(&room);
        third.send(&framed("small", 60_000)).await;
        assert_eq!(nonce(&mut three).await, "small");
        drop(held);
        assert!(timeout(PATIENCE / 2, two.next()).await.is_err(), "its waiting does not count");
        second.send(&large[100..]).await;
        assert_eq!(nonce(&mut two).await, "large");
    }

    #[tokio::test(start_paused = true)]
    async fn room_is_not_kept_for_a_client_that_sends_nothing_more() {
        let room = room();
        let large = framed("large", 1_000_000);
        let ((slow, mut one), (fast, mut two)) = (stream(&room), stream(&room));
        slow.send(&large[..100]).await;
        fast.send(&large).await;
        let slow = tokio::spawn(async move {
            let ended = one.next().await.err().expect("it never comes").code();
            drop(slow);
            ended
        });
        sleep(Duration::from_millis(1)).await;
        assert_eq!(nonce(&mut two).await, "large");
        assert_eq!(slow.await.expect("it ran"), Code::DeadlineExceeded);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_may_be_silent_between_requests_and_not_before_the_first() {
        let (client, mut stream) = stream(&room());
        client.send(&framed("a", 1)).await;
        assert_eq!(nonce(&mut stream).await, "a");
        assert!(timeout(10 * PATIENCE, stream.next()).await.is_err(), "it may be silent");
        client.send(&[0]).await;
        assert_eq!(stream.next().await.err().expect("no rest").code(), Code::DeadlineExceeded);
        let (_client, mut stream) = self::stream(&room());
        assert_eq!(stream.next().await.err().expect("nothing").code(), Code::DeadlineExceeded);
    }
}
