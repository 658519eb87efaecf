//! The loop: messages in their order, answers, and findings whenever nothing waits.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, TryRecvError, never, select, tick};
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::InitializeParams;
use serde_json::Value;

use super::answer::{build_error, find_cancelled};
use super::client::ClientAbilities;
use super::requests::list_capabilities;
use super::session::ServerSession;
use super::transport::{IncomingMessage, report_malformed};
use crate::args::Global;

/// The time between looks at files outside of the editor, and at whether the editor still lives.
const TICK: Duration = Duration::from_secs(2);

/// The messages that wait, without requests that the client no longer wants.
struct MessageQueue<'c> {
    incoming: &'c Receiver<IncomingMessage>,
    waiting: VecDeque<Message>,
    is_closed: bool,
}

impl MessageQueue<'_> {
    /// Takes all that came.
    fn take_incoming(&mut self, outgoing: &Sender<Message>) {
        loop {
            match self.incoming.try_recv() {
                Ok(it) => self.add(it, outgoing),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    self.is_closed = true;
                    break;
                }
            }
        }
    }

    fn add(&mut self, incoming: IncomingMessage, outgoing: &Sender<Message>) {
        let message = match incoming {
            IncomingMessage::Message(message) => message,
            IncomingMessage::Malformed(why) => {
                let _ = outgoing.send(report_malformed(&why));
                return;
            }
        };
        let Some(id) = find_cancelled(&message) else {
            self.waiting.push_back(message);
            return;
        };
        match self
            .waiting
            .iter()
            .position(|it: &Message| matches!(it, Message::Request(it) if it.id == id))
        {
            Some(at) => {
                self.waiting.remove(at);
                let _ = outgoing.send(build_error(id, ErrorCode::RequestCanceled, "cancelled"));
            }
            // It may wait for the tree to be read.
            None => self.waiting.push_back(message),
        }
    }
}

/// Answers until the client leaves. Returns whether it asked for the end before.
pub(super) fn serve(
    global: &Global,
    against: Option<&str>,
    incoming: &Receiver<IncomingMessage>,
    outgoing: Sender<Message>,
) -> bool {
    let Some((id, given, params)) = wait_for_initialize(incoming, &outgoing) else { return false };
    let parent = params.process_id;
    let client = ClientAbilities::read(&params, &given);
    let mut session = ServerSession::new(global.clone(), against, client, params, outgoing.clone());
    let answer = serde_json::to_value(list_capabilities(&session)).unwrap_or_default();
    let _ = outgoing.send(Message::Response(Response::new_ok(id, answer)));

    let mut queue = MessageQueue { incoming, waiting: VecDeque::new(), is_closed: false };
    let ticks = tick(TICK);
    let mut is_shut_down = false;
    loop {
        queue.take_incoming(&outgoing);
        while let Ok(event) = session.events().try_recv() {
            run_guarded(&mut session, |it| it.receive(event));
        }
        if let Some(message) = queue.waiting.pop_front() {
            match message {
                Message::Notification(it) if it.method == "exit" => return is_shut_down,
                Message::Request(it) if is_shut_down => {
                    let _ =
                        outgoing.send(build_error(it.id, ErrorCode::InvalidRequest, "shut down"));
                }
                Message::Request(it) if it.method == "shutdown" => {
                    is_shut_down = true;
                    let done = Response::new_ok(it.id, Value::Null);
                    let _ = outgoing.send(Message::Response(done));
                }
                message => handle(&mut session, message),
            }
            continue;
        }
        if queue.is_closed {
            return is_shut_down;
        }
        let has_work = run_guarded(&mut session, ServerSession::update_diagnostics);
        if has_work == Some(true) {
            continue;
        }
        let due = session.due().map_or_else(never, crossbeam_channel::at);
        select! {
            recv(incoming) -> found => match found {
                Ok(it) => queue.add(it, &outgoing),
                Err(_) => queue.is_closed = true,
            },
            recv(session.events().clone()) -> event => {
                if let Ok(event) = event {
                    run_guarded(&mut session, |it| it.receive(event));
                }
            }
            recv(due) -> _ => {}
            recv(ticks) -> _ => {
                if parent.is_some_and(|it| !lives(it)) {
                    return false;
                }
                run_guarded(&mut session, ServerSession::reread_changed);
            }
        }
    }
}

/// Waits for the first request: its parameters as they came, and understood. Before it, nothing
/// else is answered.
fn wait_for_initialize(
    incoming: &Receiver<IncomingMessage>,
    outgoing: &Sender<Message>,
) -> Option<(RequestId, Value, InitializeParams)> {
    for found in incoming {
        match found {
            IncomingMessage::Malformed(why) => {
                let _ = outgoing.send(report_malformed(&why));
            }
            IncomingMessage::Message(Message::Request(Request { id, method, params })) => {
                if method != "initialize" {
                    let why = "`initialize` comes first";
                    let _ = outgoing.send(build_error(id, ErrorCode::ServerNotInitialized, why));
                    continue;
                }
                match serde_json::from_value(params.clone()) {
                    Ok(understood) => return Some((id, params, understood)),
                    Err(why) => {
                        let why = why.to_string();
                        let _ = outgoing.send(build_error(id, ErrorCode::InvalidParams, &why));
                    }
                }
            }
            IncomingMessage::Message(Message::Notification(Notification { method, .. })) => {
                if method == "exit" {
                    return None;
                }
            }
            IncomingMessage::Message(Message::Response(_)) => {}
        }
    }
    None
}

fn handle(session: &mut ServerSession, message: Message) {
    let id = match &message {
        Message::Request(it) => Some(it.id.clone()),
        Message::Response(_) | Message::Notification(_) => None,
    };
    let done = run_guarded(session, |session| match message {
        Message::Request(it) => session.handle_request(it),
        Message::Notification(it) => session.handle_notification(it),
        // Nothing depends on the answers to what is asked of a client.
        Message::Response(_) => {}
    });
    if let (None, Some(id)) = (done, id) {
        let why = "abide has an error of its own; its standard error says where";
        session.send(build_error(id, ErrorCode::InternalError, why));
    }
}

/// Does a piece of work. If it panics, which is an error of Abide, the trees are read anew: the
/// user keeps the server.
fn run_guarded<T>(
    session: &mut ServerSession,
    work: impl FnOnce(&mut ServerSession) -> T,
) -> Option<T> {
    let done = catch_unwind(AssertUnwindSafe(|| work(session)));
    if done.is_err() {
        session.restart();
    }
    done.ok()
}

/// Returns true if a process still lives.
#[cfg(unix)]
fn lives(process: u32) -> bool {
    let id = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw);
    // Only a process that is not there is known to have ended.
    id.is_none_or(|it| rustix::process::test_kill_process(it) != Err(rustix::io::Errno::SRCH))
}

/// Returns true: here the end of the input tells that the editor ended.
#[cfg(not(unix))]
fn lives(_process: u32) -> bool {
    true
}
