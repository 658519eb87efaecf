//! Streams on which each request has one answer.

use std::pin::pin;

use hyper::body::Incoming;
use prost::Message;
use tokio::sync::mpsc;
use tonic::Status;

use crate::listeners::DrainSignal;
use abide_transport::{EncodedMessage, ReadRequest, RequestStream};

/// Answers so many requests at most, until either side ends the stream.
pub(super) async fn answer_each<I, R>(
    at_most: usize,
    mut incoming: RequestStream<Incoming, I>,
    outgoing: &mpsc::Sender<Result<EncodedMessage, Status>>,
    leave: Option<DrainSignal>,
    mut answer: impl FnMut(I) -> Result<R, Status>,
) -> Result<(), Status>
where
    I: Message + Default + 'static,
    R: Message,
{
    let mut told = pin!(DrainSignal::wait_for_drain(leave));
    for _ in 0..at_most {
        let read = tokio::select! {
            next = incoming.next() => next?,
            () = outgoing.closed() => return Ok(()),
            () = &mut told => return Ok(()),
        };
        // The room of a request is its own until it is answered.
        let Some(ReadRequest { request, room: _room }) = read else { return Ok(()) };
        let response = tokio::task::block_in_place(|| answer(request))?;
        if outgoing.send(Ok(EncodedMessage::of(&response))).await.is_err() {
            return Ok(());
        }
    }
    Ok(())
}
