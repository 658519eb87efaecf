//! Messages over two pipes: a header with a length, an empty line, JSON.

use std::io::{self, BufRead, BufReader, Read, Write};

use crossbeam_channel::{Receiver, Sender, bounded};
use lsp_server::{ErrorCode, Message};

/// A message may be this long: a file of the largest size that is read, escaped.
const MAX_MESSAGE: u64 = 256 << 20;
/// The number of messages that may wait in each direction before the other side has to wait.
const WAITING: usize = 4096;

/// A message from the client, or bytes that are none.
pub(super) enum IncomingMessage {
    Message(Message),
    /// Bytes that are no message, and why.
    Malformed(String),
}

/// Starts a thread for each pipe. The receiver is disconnected at the end of the input.
pub(super) fn start(
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
) -> (Receiver<IncomingMessage>, Sender<Message>) {
    let (sender, incoming) = bounded(WAITING);
    std::thread::spawn(move || {
        let mut input = BufReader::new(input);
        while let Ok(Some(found)) = read(&mut input) {
            if sender.send(found).is_err() {
                break;
            }
        }
    });
    let (outgoing, receiver) = bounded::<Message>(WAITING);
    std::thread::spawn(move || {
        let mut output = output;
        // An editor that reads no more has ended; so does its input.
        let _ = receiver.into_iter().try_for_each(|it| it.write(&mut output));
    });
    (incoming, outgoing)
}

/// Reads one message; `None` at the end. After a malformed one, reading goes on at the next line
/// that can be a header.
fn read(input: &mut impl BufRead) -> io::Result<Option<IncomingMessage>> {
    let mut length: Option<u64> = None;
    loop {
        let mut line = Vec::new();
        if input.by_ref().take(4096).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end();
        if line.is_empty() {
            match length {
                Some(_) => break,
                // Blank lines between messages.
                None => continue,
            }
        }
        let value = line.split_once(':').filter(|it| it.0.eq_ignore_ascii_case("content-length"));
        match value {
            Some((_, value)) => length = value.trim().parse().ok(),
            None if line.to_ascii_lowercase().starts_with("content-") => {}
            None => {
                return Ok(Some(IncomingMessage::Malformed("a header was expected".to_owned())));
            }
        }
        if length.is_none() {
            return Ok(Some(IncomingMessage::Malformed("a length was expected".to_owned())));
        }
    }
    let length = length.unwrap_or_default();
    let mut body = input.by_ref().take(length);
    if length > MAX_MESSAGE {
        io::copy(&mut body, &mut io::sink())?;
        let why = format!("a message may have at most {MAX_MESSAGE} bytes");
        return Ok(Some(IncomingMessage::Malformed(why)));
    }
    let mut text = Vec::new();
    if (body.read_to_end(&mut text)? as u64) < length {
        return Ok(None);
    }
    Ok(Some(match serde_json::from_slice(&text) {
        Ok(message) => IncomingMessage::Message(message),
        Err(error) => IncomingMessage::Malformed(error.to_string()),
    }))
}

/// The answer to bytes that are no message.
pub(super) fn report_malformed(why: &str) -> Message {
    // JSON-RPC asks for the id null here, which the type of responses does not have.
    let method = "window/logMessage".to_owned();
    let text = format!("{:?}: {why}", ErrorCode::ParseError);
    let params = serde_json::json!({ "type": 2, "message": text });
    Message::Notification(lsp_server::Notification { method, params })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_a_malformed_message_is_read() {
        let note = |method: &str| format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\"}}");
        let framed = |body: &str| format!("Content-Length: {}\r\n\r\n{body}", body.len());
        let input = [
            framed("{\"method\":"),
            "garbage\r\n".to_owned(),
            "Content-Length: many\r\n".to_owned(),
            framed(&note("one")),
            framed("[1, 2]"),
            format!("Content-Type: x\r\n{}", framed(&note("two"))),
            "Content-Length: 900\r\n\r\n{\"cut".to_owned(),
        ];
        let mut input = io::Cursor::new(input.concat());
        let mut read_all = Vec::new();
        while let Some(found) = read(&mut input).expect("it is read from memory") {
            read_all.push(match found {
                IncomingMessage::Message(Message::Notification(it)) => it.method,
                IncomingMessage::Message(other) => format!("{other:?}"),
                IncomingMessage::Malformed(_) => "malformed".to_owned(),
            });
        }
        let malformed = |it: &&String| *it == "malformed";
        // A line that is no header is told, and so is the blank line behind it.
        assert_eq!(read_all.iter().filter(malformed).count(), 5, "{read_all:?}");
        let understood: Vec<&String> = read_all.iter().filter(|it| !malformed(it)).collect();
        assert_eq!(understood, ["one", "two"], "{read_all:?}");
    }
}
