//! The reasons why an API could not be read. Each is one phrase that says what to do.

use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use abide_transport::TransportError;
use tonic::{Code, Status};

use crate::file_set::FileSetError;

/// An error that ends the run with exit status 2.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RemoteError {
    /// A variable of the environment that cannot be right.
    #[error("the environment variable {name} is not usable: {reason}")]
    Variable { name: &'static str, reason: String },
    /// Options of TLS without TLS.
    #[error("--ca, --cert, --key and --server-name are for servers that speak TLS: add --tls")]
    TlsNotAsked,
    #[error(transparent)]
    Tls(#[from] TransportError),
    #[error("cannot start: {0}")]
    Start(io::Error),
    /// Nobody listens, or the other side speaks another language.
    #[error("cannot connect to {address}: {reason}{advice}")]
    Connect { address: String, reason: String, advice: &'static str },
    #[error(
        "{address} did not answer within {limit:?}: give it more time with --timeout, or \
         ABIDE_REMOTE_TIMEOUT"
    )]
    Timeout { address: String, limit: Duration },
    #[error(
        "{address} does not offer reflection: register grpc.reflection.v1.ServerReflection in the \
         server, or build a descriptor set of its protos and name that"
    )]
    NoReflection { address: String },
    #[error("{address} refuses: {reason}{}", advise_on_status(*code))]
    Refused { address: String, code: Code, reason: String },
    /// An answer to another question, or none.
    #[error("{address} does not keep to the protocol of reflection: {reason}")]
    Protocol { address: String, reason: String },
    #[error("{address} names no service, so its API is not known")]
    NoServices { address: String },
    #[error("{address} has no descriptors of any service that it names ({services})")]
    NoDescriptors { address: String, services: String },
    #[error("{address} sent files that cannot be used: {error}")]
    Files { address: String, error: FileSetError },
    #[error("cannot write `{}`: {error}", path.display())]
    Write { path: PathBuf, error: io::Error },
    #[error("cannot write to standard output: {0}")]
    Output(io::Error),
}

/// A server that is asked, for errors about it.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    /// `HOST:PORT`.
    pub(crate) address: String,
    /// True if it is asked over TLS.
    pub(crate) has_tls: bool,
}

impl Peer {
    /// The error of a connection that failed.
    pub(crate) fn describe_lost_connection(&self, error: &(dyn Error + 'static)) -> RemoteError {
        let reason = find_root_cause(error);
        let advice = advise_on_connection(&reason, self.has_tls);
        RemoteError::Connect { address: self.address.clone(), reason, advice }
    }

    /// The error of a call that failed.
    pub(crate) fn describe_status(&self, status: &Status) -> RemoteError {
        if let Some(error) = status.source() {
            return self.describe_lost_connection(error);
        }
        let address = self.address.clone();
        let reason = match status.message() {
            "" => status.code().description().to_owned(),
            message => printable(message),
        };
        match status.code() {
            Code::Unimplemented => RemoteError::NoReflection { address },
            code => RemoteError::Refused { address, code, reason },
        }
    }

    /// The error of a server that does something else than it was asked for.
    pub(crate) fn describe_violation(&self, reason: &str) -> RemoteError {
        RemoteError::Protocol { address: self.address.clone(), reason: reason.to_owned() }
    }
}

/// The error at the bottom: those above it say only that something failed.
fn find_root_cause(error: &(dyn Error + 'static)) -> String {
    let mut root = error;
    while let Some(reason) = root.source() {
        root = reason;
    }
    printable(&root.to_string())
}

/// Says what to do about a connection that failed, given the reason.
fn advise_on_connection(reason: &str, has_tls: bool) -> &'static str {
    if reason.contains("refused") {
        "; is the server running, and is that the port of its gRPC?"
    } else if reason.contains("UnknownIssuer") {
        "; name the authority of its certificate with --ca, or ABIDE_REMOTE_CA"
    } else if reason.contains("certificate") && reason.contains("not valid for name") {
        "; say which name its certificate has with --server-name"
    } else if has_tls && reason.contains("InvalidContentType") {
        "; if it does not speak TLS, leave --tls out (`grpc://`)"
    } else if !has_tls && !reason.contains("lookup") {
        "; if it speaks TLS, use --tls (`grpcs://`)"
    } else {
        ""
    }
}

/// Says what to do about a status.
fn advise_on_status(code: Code) -> &'static str {
    match code {
        Code::Unauthenticated | Code::PermissionDenied => {
            "; show who you are with --header 'authorization: Bearer TOKEN', or --cert and --key"
        }
        Code::OutOfRange | Code::ResourceExhausted => "; allow more with --max-size",
        _ => "",
    }
}

/// A text of a server, short and without control characters: it may be written to a terminal.
pub(crate) fn printable(text: &str) -> String {
    const LONGEST: usize = 300;
    let mut shown: String =
        text.chars().take(LONGEST).map(|it| if it.is_control() { ' ' } else { it }).collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    shown
}
