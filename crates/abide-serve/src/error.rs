//! The errors of a server. Their texts are what operators and clients read, so each is one phrase
//! that says what to do where somebody can do something.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use abide_conformance::{ConformanceError, TableError};
use abide_transport::TransportError;
use abide_xds::NegotiationError;

/// An error of a server, or of a command beside it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// An argument that cannot be right, whatever happens outside.
    #[error("{0}")]
    Argument(String),
    /// The source of the resources does not exist as it is named. Nobody tries it again.
    #[error("{0}")]
    SourceInvalid(String),
    /// The source of the resources cannot be read now. It is tried again, and what was read before
    /// is served on.
    #[error("{0}")]
    SourceUnavailable(String),
    /// The API, its steps or the table of clients.
    #[error("{0}")]
    Api(String),
    /// The file that describes types of resource: a line for each problem.
    #[error("{0}")]
    TypesFile(String),
    /// The first resources of a process that takes over: a line for each problem.
    #[error("the resources are refused, so nothing is taken over:\n{}", .0.join("\n"))]
    Resources(Vec<String>),
    /// The thread that reads resources ended, which it never does by itself.
    #[error("reading resources ended")]
    ReadingEnded,
    /// Keys of runtime that an operator sets.
    #[error("{0}")]
    RuntimeOverride(String),
    /// A client whose versions cannot be served.
    #[error(transparent)]
    Negotiation(#[from] NegotiationError),
    /// Clients understand so many different things that no more views are made.
    #[error("there are as many kinds of clients as there may be")]
    TooManyGroups,
    /// A resource that JSON has no notation for.
    #[error("{0}")]
    Render(String),
    /// A file that cannot be read.
    #[error("cannot read `{}`: {reason}", path.display())]
    Read { path: PathBuf, reason: String },
    /// A file of tokens that has none.
    #[error("`{}` has no token: write one a line", .0.display())]
    NoToken(PathBuf),
    /// A folder that files cannot be written to.
    #[error("cannot write to `{}`: {error}", folder.display())]
    Write { folder: PathBuf, error: io::Error },
    /// Standard output that cannot be written.
    #[error("cannot write to standard output: {0}")]
    Output(io::Error),
    /// A connection, or TLS that it needs.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// An address that cannot be listened at.
    #[error("cannot listen at {address}: {reason}")]
    Bind { address: String, reason: String },
    /// Threads or timers that the system does not give.
    #[error("cannot start: {0}")]
    Start(io::Error),
    /// Signals that cannot be waited for.
    #[error("cannot wait for signals: {0}")]
    Signals(io::Error),
    /// A hot restart that must not go on.
    #[error("{0}")]
    Restart(String),
    /// A server that is asked and does not answer as it should.
    #[error("{0}")]
    NoAnswer(String),
    /// A report of a running server that cannot be had.
    #[error("cannot read from `{address}`: {reason}")]
    Report { address: String, reason: String },
    /// A text that is not a report of a server.
    #[error("{0}")]
    NotReport(String),
    /// A server or client that conformance cannot be tried on.
    #[error(transparent)]
    Conformance(#[from] ConformanceError),
    /// A table of scenarios.
    #[error(transparent)]
    Scenarios(#[from] TableError),
    /// The shutdown manager.
    #[error("{0}")]
    ShutdownManager(String),
}

impl Error {
    /// Reports a file that cannot be read.
    pub(crate) fn cannot_read(path: &Path, reason: impl Display) -> Error {
        Error::Read { path: path.to_owned(), reason: reason.to_string() }
    }

    /// Reports a source that cannot be read now.
    pub(crate) fn unavailable(reason: impl Display) -> Error {
        Error::SourceUnavailable(reason.to_string())
    }
}
