//! `/runtime` and `/runtime_modify`, as Envoy has them.

use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

use super::page::{MAX_BODY, Pages, page};

/// The values of each layer, lowest first, and the final ones: what everyone gets, or what
/// `?audience=` gets, such as `node-cluster/NAME`. Layers stand in the order of their names.
pub(super) async fn show(State(fleet): Pages, uri: Uri) -> Response {
    let asked = pairs(uri.query().unwrap_or_default().as_bytes());
    let audience = asked.into_iter().find(|it| it.0 == "audience").map(|it| it.1);
    let Some(runtime) = fleet.runtime(audience.as_deref().unwrap_or("everyone")) else {
        let message = "nothing is served to this audience alone: `/config_dump` has all of them\n";
        return (StatusCode::NOT_FOUND, message).into_response();
    };
    let snapshot = runtime.snapshot();
    let layers: Vec<&str> = snapshot.layers().iter().map(|it| &*it.name).collect();
    let entries = snapshot.keys().map(|key| {
        let texts = snapshot.iter_by_layer(key).map(|it| it.map_or("", |it| &it.text));
        let texts: Vec<&str> = texts.collect();
        let last = snapshot.get_text(key).unwrap_or_default();
        (key.to_owned(), json!({"layer_values": texts, "final_value": last}))
    });
    let entries: Map<String, Value> = entries.collect();
    page(&json!({"layers": layers, "entries": entries})).into_response()
}

/// Sets the keys of the query, or of a form.
pub(super) async fn modify(
    State(fleet): Pages,
    uri: Uri,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> (StatusCode, String) {
    let body = match body {
        Ok(body) => body,
        Err(error) => return (error.status(), unread(error.status())),
    };
    if let Err(status) = is_form(&headers, &body) {
        let message = "expected a form, such as `KEY=VALUE&KEY=VALUE`: nothing was set\n";
        return (status, message.to_owned());
    }
    let mut asked = pairs(uri.query().unwrap_or_default().as_bytes());
    asked.extend(pairs(&body));
    if asked.is_empty() {
        let usage = "say what to set: /runtime_modify?KEY=VALUE&KEY=VALUE, or the same as a form; an \
                     empty value takes back what was set\n";
        return (StatusCode::BAD_REQUEST, usage.to_owned());
    }
    // Whoever is served is served anew.
    match tokio::task::block_in_place(|| fleet.modify_runtime(&asked)) {
        Ok(()) => (StatusCode::OK, "OK\n".to_owned()),
        Err(error) => (StatusCode::BAD_REQUEST, format!("{error}\n")),
    }
}

/// Explains why the body of a request was not read.
fn unread(status: StatusCode) -> String {
    match status {
        StatusCode::PAYLOAD_TOO_LARGE => {
            format!("a form may have at most {} KiB\n", MAX_BODY >> 10)
        }
        _ => "the request ended before its form did\n".to_owned(),
    }
}

/// Returns true if a body is a form, or empty. Most programs say that it is one, whatever it is, or
/// nothing.
///
/// # Errors
/// The status to refuse it with.
fn is_form(headers: &HeaderMap, body: &[u8]) -> Result<(), StatusCode> {
    let ty = headers.get(CONTENT_TYPE).map(|it| it.to_str().unwrap_or_default());
    let ty = ty.and_then(|it| it.split(';').next()).map(str::trim);
    let is_other =
        ty.is_some_and(|it| !it.eq_ignore_ascii_case("application/x-www-form-urlencoded"));
    match body.trim_ascii_start().first() {
        Some(_) if is_other => Err(StatusCode::UNSUPPORTED_MEDIA_TYPE),
        // JSON has no key of its own here.
        Some(b'{' | b'[' | b'"') => Err(StatusCode::BAD_REQUEST),
        _ => Ok(()),
    }
}

fn pairs(form: &[u8]) -> Vec<(String, String)> {
    form_urlencoded::parse(form).into_owned().collect()
}
