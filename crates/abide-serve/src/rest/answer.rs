//! What polls are answered: JSON that is made once for all who get the same, and that is sent in
//! pieces, for as long as its client reads them.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll, ready};
use std::thread::available_parallelism;

use abide_schema::Tree;
use abide_xds::Collection;
use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::sync::{OnceCell, Semaphore, oneshot};
use tokio::task::block_in_place;
use tokio::time::{Sleep, sleep};

use super::json;
use crate::fleet::{Fleet, Guest, count};

/// How many texts are remembered at most: a few for each type that clients poll for.
const MAX_KNOWN: usize = 32;

/// How many bytes they have at most, all together.
const MAX_BYTES: usize = 64 << 20;

/// How many bytes a client is sent before it is seen whether it reads.
const PIECE: usize = 64 << 10;

/// The JSON of what was answered lately.
pub(super) struct Texts {
    known: Mutex<VecDeque<Known>>,
    /// For making others. It takes a multiple of a text, so that not all may do it at once.
    makers: Semaphore,
}

/// A text, or that it is being made, or why it cannot be.
type Text = Arc<OnceCell<Result<Bytes, String>>>;

struct Known {
    type_url: Arc<str>,
    version: Arc<str>,
    /// What it was made from. A part of that is another content with another version.
    source: Weak<Collection>,
    text: Text,
}

/// How many bytes it has by now.
fn size(text: &Text) -> usize {
    text.get().and_then(|it| it.as_ref().ok()).map_or(0, Bytes::len)
}

impl Default for Texts {
    fn default() -> Texts {
        let makers = available_parallelism().map_or(1, usize::from);
        Texts { known: Mutex::default(), makers: Semaphore::new(makers) }
    }
}

impl Texts {
    /// The JSON of content that is all or a part of `source`.
    ///
    /// # Errors
    /// A resource that JSON has no notation for: one phrase.
    pub(super) async fn of(
        &self,
        tree: &Tree,
        type_url: &str,
        source: &Arc<Collection>,
        content: &Collection,
    ) -> Result<Bytes, String> {
        let text = self.known(type_url, source, content.version());
        // Whoever comes meanwhile waits for the text, and does not make it again.
        let made = || async {
            let _turn = self.makers.acquire().await; // It is never closed.
            let text = block_in_place(|| json(tree, type_url, content))?;
            Ok(text.into_bytes().into_boxed_slice().into())
        };
        text.get_or_init(made).await.clone()
    }

    /// Where the text of such content is, or will be. A version is a hash of all that is in it.
    fn known(&self, type_url: &str, source: &Arc<Collection>, version: &Arc<str>) -> Text {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |it: &Known| it.version == *version && *it.type_url == *type_url;
        let found = known.iter().position(is_it).and_then(|at| known.remove(at));
        let text = found.map(|it| it.text).unwrap_or_default();
        let mut bytes = size(&text);
        known.retain(|it| {
            bytes += size(&it.text);
            it.source.strong_count() > 0 && bytes <= MAX_BYTES
        });
        known.truncate(MAX_KNOWN - 1);
        known.push_front(Known {
            type_url: type_url.into(),
            version: Arc::clone(version),
            source: Arc::downgrade(source),
            text: Arc::clone(&text),
        });
        text
    }
}

/// The body of an answer. Its client is one of the fleet until it has all but the last byte: a body
/// is let go when hyper has the whole of it, which may be long before its client reads.
pub(super) struct Pieces {
    rest: Bytes,
    /// The piece that is on its way, and until when it may be.
    before: Option<(oneshot::Receiver<()>, Pin<Box<Sleep>>)>,
    fleet: Arc<Fleet>,
    _guest: Guest,
}

/// A piece that is on its way. When it is dropped, the system has it.
struct Piece {
    bytes: Bytes,
    _written: oneshot::Sender<()>,
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Pieces {
    /// The body that sends a text to a client.
    pub(super) fn new(text: Bytes, fleet: &Arc<Fleet>, guest: Guest) -> Pieces {
        Pieces { rest: text, before: None, fleet: Arc::clone(fleet), _guest: guest }
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = &'static str;

    fn poll_frame(
        mut self: Pin<&mut Pieces>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, &'static str>>> {
        if let Some((written, late)) = &mut self.before {
            // Nothing is ever sent: it is dropped.
            if Pin::new(written).poll(context).is_pending() {
                ready!(late.as_mut().poll(context));
                count(&self.fleet.counters.streams_stalled);
                return Poll::Ready(Some(Err("the client does not read")));
            }
            self.before = None;
        }
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        let size = (self.rest.len() - 1).clamp(1, PIECE);
        let bytes = self.rest.split_to(size);
        let (sender, written) = oneshot::channel();
        self.before = Some((written, Box::pin(sleep(self.fleet.limits.stall))));
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_owner(Piece { bytes, _written: sender })))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.before.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use abide_xds::Resource;

    use super::*;

    const TYPE: &str = "type.googleapis.com/acme.Nothing";

    fn content(name: &str) -> Arc<Collection> {
        Arc::new(Collection::of([Arc::new(Resource::new(name, Vec::new()))]))
    }

    /// Where the texts of these contents are, made of a text of some bytes.
    fn text(texts: &Texts, content: &Arc<Collection>, bytes: usize) -> Text {
        let text = texts.known(TYPE, content, content.version());
        let _ = text.set(Ok(vec![b'x'; bytes].into()));
        text
    }

    #[tokio::test]
    async fn who_is_answered_the_same_shares_one_text() {
        let texts = Texts::default();
        let (one, same) = (content("a"), content("a"));
        let made = AtomicUsize::new(0);
        let make = |content: &Arc<Collection>| {
            let text = texts.known(TYPE, content, content.version());
            let made = &made;
            async move {
                let make = || async {
                    tokio::task::yield_now().await;
                    made.fetch_add(1, Ordering::Relaxed);
                    Ok("text".into())
                };
                text.get_or_init(make).await.clone().expect("it is made").as_ptr()
            }
        };
        let (first, second) = tokio::join!(make(&one), make(&same));
        assert_eq!((first, made.load(Ordering::Relaxed)), (second, 1));
        let other = texts.known("type.googleapis.com/acme.Other", &one, one.version());
        assert!(other.get().is_none(), "another type has another text");
    }

    #[test]
    fn what_is_remembered_has_an_end() {
        let texts = Texts::default();
        let count = || texts.known.lock().unwrap_or_else(PoisonError::into_inner).len();
        for number in 0..2 * MAX_KNOWN {
            text(&texts, &content(&number.to_string()), 1);
        }
        assert_eq!(count(), 1, "each was forgotten when the next one came");
        let all: Vec<_> = (0..2 * MAX_KNOWN).map(|it| content(&it.to_string())).collect();
        for one in &all {
            text(&texts, one, 1);
            // What is asked for again and again stays.
            assert!(texts.known(TYPE, &all[0], all[0].version()).get().is_some());
        }
        assert_eq!(count(), MAX_KNOWN);
        let large = [content("large"), content("larger")];
        let kept = text(&texts, &large[0], MAX_BYTES / 2);
        text(&texts, &large[1], MAX_BYTES / 2 + 1);
        let again = texts.known(TYPE, &large[1], large[1].version());
        assert!(again.get().is_some() && !Arc::ptr_eq(&kept, &again));
        let again = texts.known(TYPE, &large[0], large[0].version());
        assert!(!Arc::ptr_eq(&kept, &again), "there was no room for both");
    }
}
