//! Answers to the messages of an editor.

use lsp_server::{ErrorCode, Message, RequestId, Response};
use serde::Serialize;
use serde_json::Value;

/// The command that makes the candidate of a package.
pub(super) const MAKE_CANDIDATE: &str = "abide.makeCandidate";

/// The answer to a request.
pub(super) enum RequestAnswer {
    Value(Value),
    Failed(ErrorCode, String),
}

impl RequestAnswer {
    pub(super) fn of(value: impl Serialize) -> RequestAnswer {
        RequestAnswer::Value(serde_json::to_value(value).unwrap_or_default())
    }

    pub(super) fn refused(why: impl Into<String>) -> RequestAnswer {
        RequestAnswer::Failed(ErrorCode::RequestFailed, why.into())
    }
}

/// The request that a message cancels.
pub(super) fn find_cancelled(message: &Message) -> Option<RequestId> {
    match message {
        Message::Notification(it) if it.method == "$/cancelRequest" => {
            serde_json::from_value(it.params.get("id")?.clone()).ok()
        }
        _ => None,
    }
}

pub(super) fn build_error(id: RequestId, code: ErrorCode, message: &str) -> Message {
    Message::Response(Response::new_err(id, code as i32, message.to_owned()))
}
