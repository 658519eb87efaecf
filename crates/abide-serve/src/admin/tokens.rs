//! Tokens without which the admin port shows nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::error::Error;

/// The number of bytes a file of tokens may have.
const MAX_FILE: u64 = 1 << 20;

/// A file with tokens, one a line. It is read whenever somebody asks, so that one can be added or
/// taken away.
#[derive(Clone)]
pub(crate) struct Tokens(Arc<Path>);

impl Tokens {
    /// The tokens of a file.
    ///
    /// # Errors
    /// A file that cannot be read, or has none.
    pub(crate) fn open(path: PathBuf) -> Result<Tokens, Error> {
        let tokens = Tokens(path.into());
        match tokens.read_digests()?.is_empty() {
            true => Err(Error::NoToken(tokens.0.to_path_buf())),
            false => Ok(tokens),
        }
    }

    /// Reads the digest of each: how long a comparison of those takes says nothing about the tokens.
    fn read_digests(&self) -> Result<Vec<[u8; 32]>, Error> {
        let metadata = self.0.metadata().map_err(|error| Error::cannot_read(&self.0, error))?;
        if metadata.len() > MAX_FILE {
            return Err(Error::cannot_read(&self.0, "it has more than 1 MiB"));
        }
        let text = std::fs::read_to_string(&self.0);
        let text = text.map_err(|error| Error::cannot_read(&self.0, error))?;
        let lines = text.lines().map(str::trim);
        let lines = lines.filter(|it| !it.is_empty() && !it.starts_with('#'));
        Ok(lines.map(|it| Sha256::digest(it).into()).collect())
    }

    fn admit(&self, headers: &HeaderMap) -> Result<bool, Error> {
        let Some(given) = parse_token(headers) else { return Ok(false) };
        let given: [u8; 32] = Sha256::digest(given).into();
        Ok(self.read_digests()?.contains(&given))
    }
}

/// Reads the token that a request has: as such, or as the password of a browser.
fn parse_token(headers: &HeaderMap) -> Option<Vec<u8>> {
    let (scheme, rest) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(rest.trim().as_bytes().to_vec());
    }
    let pair = STANDARD.decode(rest.trim()).ok()?;
    let colon = pair.iter().position(|&it| it == b':')?;
    scheme.eq_ignore_ascii_case("basic").then(|| pair[colon + 1..].to_vec())
}

/// Lets a request through that has a token. Without one, `/ready` says whether clients may come
/// and nothing else: what looks after a process has no secrets.
pub(crate) async fn guard(State(tokens): State<Tokens>, request: Request, next: Next) -> Response {
    let admitted = tokio::task::block_in_place(|| tokens.admit(request.headers()));
    match admitted {
        Ok(true) => next.run(request).await,
        Ok(false) if request.method() == Method::GET && request.uri().path() == "/ready" => {
            let status = next.run(request).await.status();
            (status, if status.is_success() { "LIVE\n" } else { "NOT READY\n" }).into_response()
        }
        Ok(false) => {
            let challenges = [
                (WWW_AUTHENTICATE, "Bearer realm=\"abide-serve\""),
                (WWW_AUTHENTICATE, "Basic realm=\"abide-serve\""),
            ];
            let message = "send a token of --admin-token-file, as `authorization: Bearer TOKEN` or as a \
                           password\n";
            let mut response = (StatusCode::UNAUTHORIZED, message).into_response();
            for (name, challenge) in challenges {
                response
                    .headers_mut()
                    .append(name, axum::http::HeaderValue::from_static(challenge));
            }
            response
        }
        Err(error) => {
            tracing::error!("{error}; nobody is let in");
            (StatusCode::INTERNAL_SERVER_ERROR, "the tokens cannot be read: see the log\n")
                .into_response()
        }
    }
}
