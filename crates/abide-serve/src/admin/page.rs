//! Parts that all pages of the admin port share.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use serde_json::Value;

use crate::clients::ServerState;

/// The number of bytes a request may have: a form with as much as may be set.
pub(super) const MAX_BODY: usize = 256 << 10;

/// The state that a page reads.
pub(super) type Pages = State<Arc<ServerState>>;

/// A value as JSON, with a line end for terminals.
pub(super) fn page(value: &Value) -> impl IntoResponse + use<> {
    ([(CONTENT_TYPE, "application/json")], format!("{value:#}\n"))
}
