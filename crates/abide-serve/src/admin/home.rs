//! The fleet as a page for browsers: one file that loads nothing but numbers of this server.

use std::sync::LazyLock;

use axum::http::HeaderName;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::response::IntoResponse;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

const BODY: &str = include_str!("home.html");
const STYLE: &str = include_str!("home.css");
const SCRIPT: &str = include_str!("home.js");

/// The page, and what a browser may do with it.
static HOME: LazyLock<(String, String)> = LazyLock::new(|| {
    let page = BODY.replace("{{style}}", STYLE).replace("{{script}}", SCRIPT);
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text));
    let policy = format!(
        "default-src 'none'; connect-src 'self'; style-src 'sha256-{}'; script-src 'sha256-{}'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        hash(STYLE),
        hash(SCRIPT)
    );
    (page, policy)
});

/// The page. It asks for `/clients` and `/ready` again and again.
pub(super) async fn home() -> impl IntoResponse {
    let (page, policy) = &*HOME;
    let headers: [(HeaderName, &str); 5] = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CONTENT_SECURITY_POLICY, policy),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-store"),
    ];
    (headers, page.as_str())
}
