//! Messages and file descriptors over a unix-domain socket.

use std::io::{self, ErrorKind, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};

use prost::Message;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use tokio::io::Interest;
use tokio::net::UnixStream;

/// The number of bytes a message may have.
const MAX_MESSAGE: usize = 64 << 10;
/// The number of file descriptors that may come with a message.
const MAX_FDS: usize = 16;
/// The bytes of the length before a message.
const LENGTH: usize = 4;

/// One end of the conversation.
pub(super) struct Channel {
    stream: UnixStream,
    /// The bytes that were read, and are no whole message yet.
    read: Vec<u8>,
    /// The file descriptors that came with them.
    fds: Vec<OwnedFd>,
}

impl Channel {
    pub(super) fn new(stream: UnixStream) -> Channel {
        Channel { stream, read: Vec::new(), fds: Vec::new() }
    }

    /// Sends a message and file descriptors, which come with its first byte.
    ///
    /// # Errors
    /// If the other side is gone.
    pub(super) async fn send(
        &self,
        message: &impl Message,
        fds: &[BorrowedFd<'_>],
    ) -> io::Result<()> {
        let body = message.encode_to_vec();
        let length = u32::try_from(body.len()).map_err(|_| ErrorKind::FileTooLarge)?;
        let bytes = [&length.to_be_bytes()[..], &body].concat();
        let mut sent = 0;
        while sent < bytes.len() {
            let write = || {
                let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
                let mut with = SendAncillaryBuffer::new(&mut space);
                if sent == 0 && !fds.is_empty() && !with.push(SendAncillaryMessage::ScmRights(fds))
                {
                    return Err(ErrorKind::ArgumentListTooLong.into());
                }
                let slices = [IoSlice::new(&bytes[sent..])];
                Ok(sendmsg(&self.stream, &slices, &mut with, SendFlags::NOSIGNAL)?)
            };
            sent += self.stream.async_io(Interest::WRITABLE, write).await?;
        }
        Ok(())
    }

    /// Waits for the next message, with the file descriptors that came with it; `None` if the
    /// other side is gone. What was read is kept if this is not waited for to its end.
    ///
    /// # Errors
    /// What is no message, or too long for one.
    pub(super) async fn receive<M>(&mut self) -> io::Result<Option<(M, Vec<OwnedFd>)>>
    where
        M: Message + Default,
    {
        loop {
            if let Some(message) = self.take()? {
                return Ok(Some((message, std::mem::take(&mut self.fds))));
            }
            let (stream, read, fds) = (&self.stream, &mut self.read, &mut self.fds);
            let count = stream.async_io(Interest::READABLE, || read_some(stream, read, fds)).await;
            match count {
                Ok(0) => return Ok(None),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }

    /// A message out of what was read, if it is whole.
    fn take<M: Message + Default>(&mut self) -> io::Result<Option<M>> {
        let Some((length, rest)) = self.read.split_first_chunk::<LENGTH>() else {
            return Ok(None);
        };
        let length = u32::from_be_bytes(*length) as usize;
        if length > MAX_MESSAGE {
            return Err(io::Error::new(ErrorKind::InvalidData, "a message is too long"));
        }
        let Some(body) = rest.get(..length) else { return Ok(None) };
        let message = M::decode(body).map_err(|it| io::Error::new(ErrorKind::InvalidData, it))?;
        self.read.drain(..LENGTH + length);
        Ok(Some(message))
    }
}

/// Reads what is there. Returns how many bytes.
fn read_some(stream: &UnixStream, read: &mut Vec<u8>, fds: &mut Vec<OwnedFd>) -> io::Result<usize> {
    let mut bytes = [0; 4096];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
    let mut with = RecvAncillaryBuffer::new(&mut space);
    let mut slices = [IoSliceMut::new(&mut bytes)];
    let said = recvmsg(stream, &mut slices, &mut with, RecvFlags::CMSG_CLOEXEC)?;
    for message in with.drain() {
        if let RecvAncillaryMessage::ScmRights(more) = message {
            fds.extend(more);
        }
    }
    if said.flags.contains(ReturnFlags::CTRUNC) || fds.len() > MAX_FDS {
        let why = "file descriptors were lost: there are too many";
        return Err(io::Error::new(ErrorKind::InvalidData, why));
    }
    read.extend_from_slice(&bytes[..said.bytes]);
    Ok(said.bytes)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read, Seek, Write};
    use std::os::fd::AsFd;

    use tokio::io::AsyncWriteExt;

    use super::*;
    use crate::restart::messages::Handshake;

    #[tokio::test]
    async fn messages_come_in_order_with_their_files() {
        let (one, other) = UnixStream::pair().unwrap();
        let (one, mut other) = (Channel::new(one), Channel::new(other));
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"kept").unwrap();
        let long = Handshake { program_version: "x".repeat(40_000), ..Handshake::default() };
        let send = async {
            one.send(&Handshake::of(1), &[file.as_fd(), file.as_fd()]).await.unwrap();
            one.send(&long, &[]).await.unwrap();
        };
        let receive = async {
            let (hello, fds) = other.receive::<Handshake>().await.unwrap().unwrap();
            assert_eq!((hello.epoch, fds.len()), (1, 2));
            let mut file = File::from(fds.into_iter().next().unwrap());
            let mut text = String::new();
            file.rewind().unwrap();
            file.read_to_string(&mut text).unwrap();
            assert_eq!(text, "kept");
            assert_eq!(other.receive::<Handshake>().await.unwrap().unwrap().0, long);
        };
        tokio::join!(send, receive);
        drop(one);
        assert!(other.receive::<Handshake>().await.unwrap().is_none());
    }

    #[tokio::test]
    async fn what_is_no_message_is_refused() {
        for bytes in [&b"\xff\xff\xff\xff"[..], b"\0\0\0\x02\x08\xff", b"GET / HTTP/1.1\r\n\r\n"] {
            let (mut one, other) = UnixStream::pair().unwrap();
            one.write_all(bytes).await.unwrap();
            assert!(Channel::new(other).receive::<Handshake>().await.is_err(), "{bytes:?}");
        }
        // Half a message is nobody's.
        let (mut one, other) = UnixStream::pair().unwrap();
        one.write_all(b"\0\0\0\x09\x08").await.unwrap();
        drop(one);
        assert!(Channel::new(other).receive::<Handshake>().await.unwrap().is_none());
    }
}
