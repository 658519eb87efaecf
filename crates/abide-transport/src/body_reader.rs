//! Reads bodies of clients, in pieces, as far as there is room and time for them.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderValue;
use http_body_util::BodyExt;
use hyper::body::Body;
use tokio::time::{Instant, timeout_at};

use crate::memory_budget::{MemoryBudget, Reservation, SMALL, Waiting};

/// The time that a client may take for each [`SMALL`] bytes while others wait for the room that it
/// has. When a fleet comes again at once, a client may have to wait for a processor for a second
/// or two.
const CONTENDED_READ_TIMEOUT: Duration = Duration::from_secs(5);

/// The limits on requests.
#[derive(Clone, Copy, Debug)]
pub struct ReadLimits {
    /// The number of bytes one may have.
    pub bytes: usize,
    /// The time that a client may take to send its first one, or any that it began.
    pub patience: Duration,
}

/// An error of a body that does not come.
#[derive(Debug)]
pub enum BodyError {
    /// It takes too long.
    Late,
    /// The connection broke: why.
    Broken(String),
}

/// A body, as it comes.
pub struct BodyReader<B> {
    body: B,
    /// Bytes that came and were not asked for yet.
    rest: Bytes,
    /// The time that a client may take to send what it began.
    patience: Duration,
    /// The time at which the whole of it must be there, if it began.
    deadline: Option<Instant>,
    room: Arc<MemoryBudget>,
}

/// Explains why a body is not read that is encoded as its head says, if so: one phrase.
pub fn explain_compression(encoding: Option<&HeaderValue>) -> Option<String> {
    let plain = |it: &HeaderValue| it.is_empty() || it.as_bytes().eq_ignore_ascii_case(b"identity");
    let encoding = encoding.filter(|it| !plain(it))?;
    Some(format!("requests may not be compressed, as by {encoding:?}"))
}

/// So many bytes of a body, as far as they came.
#[derive(Default)]
pub struct PartialBody {
    /// The bytes that came so far.
    pub bytes: Vec<u8>,
    room: PartialReservation,
}

#[derive(Default)]
enum PartialReservation {
    /// There are few bytes yet.
    #[default]
    None,
    Waiting(Waiting),
    /// With how many bytes there were when, a whole [`SMALL`] after the one before.
    Taken(Reservation, usize, Instant),
}

impl PartialBody {
    /// The bytes, and the room that they take.
    pub fn into_whole(self) -> (Vec<u8>, Reservation) {
        match self.room {
            PartialReservation::Taken(room, ..) => (self.bytes, room),
            PartialReservation::None | PartialReservation::Waiting(_) => {
                (self.bytes, Reservation::default())
            }
        }
    }
}

impl<B> BodyReader<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::fmt::Display,
{
    /// A body whose begin must be there in this time.
    pub fn new(body: B, patience: Duration, room: Arc<MemoryBudget>) -> BodyReader<B> {
        let deadline = Some(Instant::now() + patience);
        BodyReader { body, rest: Bytes::new(), patience, deadline, room }
    }

    /// Something began, and must be there in time.
    pub fn begin(&mut self) {
        self.deadline.get_or_insert(Instant::now() + self.patience);
    }

    /// Records that what began is there; the client may be silent.
    pub fn end(&mut self) {
        self.deadline = None;
    }

    /// Reads on until a part has `length` bytes; false if the body ends before. Nothing is lost if
    /// this is dropped while it waits, and goes on later with the same part and length.
    ///
    /// # Errors
    /// What is not there in time; the time that a part waits for room does not count. While others
    /// wait for room, a client that has some may not be slow.
    pub async fn fill(&mut self, part: &mut PartialBody, length: usize) -> Result<bool, BodyError> {
        loop {
            let free =
                if matches!(part.room, PartialReservation::Taken(..)) { length } else { SMALL };
            let missing = length.min(free).saturating_sub(part.bytes.len()).min(self.rest.len());
            part.bytes.extend_from_slice(&self.rest.split_to(missing));
            if part.bytes.len() >= length {
                return Ok(true);
            }
            match &mut part.room {
                PartialReservation::None if part.bytes.len() >= SMALL => {
                    part.room = PartialReservation::Waiting(self.room.take(length));
                }
                PartialReservation::Waiting(turn) => {
                    let room = turn.as_mut().await;
                    let now = Instant::now();
                    self.deadline = Some(now + self.patience);
                    part.bytes.reserve_exact(length - part.bytes.len());
                    part.room = PartialReservation::Taken(room, part.bytes.len(), now);
                }
                PartialReservation::None if !self.read_more(None).await? => return Ok(false),
                PartialReservation::Taken(_, before, since) => {
                    if part.bytes.len() >= *before + SMALL {
                        (*before, *since) = (part.bytes.len(), Instant::now());
                    }
                    if !self.read_more(Some(*since + CONTENDED_READ_TIMEOUT)).await? {
                        return Ok(false);
                    }
                }
                PartialReservation::None => {}
            }
        }
    }

    /// Waits for more bytes. Returns whether there are any.
    async fn read_more(&mut self, mut hurry: Option<Instant>) -> Result<bool, BodyError> {
        loop {
            let until = [self.deadline, hurry].into_iter().flatten().min();
            let frame = match until {
                Some(until) => timeout_at(until, self.body.frame()).await,
                None => Ok(self.body.frame().await),
            };
            let Ok(frame) = frame else {
                let now = Instant::now();
                if self.deadline.is_some_and(|it| it <= now) || self.room.has_waiters() {
                    return Err(BodyError::Late);
                }
                // Nobody waits now. Whoever comes waits no longer than this.
                hurry = Some(now + CONTENDED_READ_TIMEOUT);
                continue;
            };
            let Some(frame) = frame else { return Ok(false) };
            let frame = frame.map_err(|error| BodyError::Broken(error.to_string()))?;
            // Clients have no trailers.
            if let Ok(data) = frame.into_data() {
                self.rest = data;
                return Ok(true);
            }
        }
    }
}
