//! The errors of a run of scenarios: a table that cannot be read, and nobody to play with.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use crate::resources::Type;

/// A table of scenarios that cannot be read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct TableError {
    /// The first line that cannot be read, from 1 on.
    pub line: usize,
    /// What is wrong with it.
    pub problem: LineProblem,
}

/// A line that says nothing that scenarios know.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineProblem {
    /// The head of a scenario has other cells.
    #[error("a scenario begins `{0}`")]
    Head(&'static str),
    /// A way that does not exist.
    #[error("`{0}` is none of ads, separate, rest")]
    Way(String),
    /// A type that no scenario speaks of.
    #[error("`{word}` is no type; there are {}", known.join(", "))]
    Type {
        /// The word.
        word: String,
        /// All words for types.
        known: Vec<&'static str>,
    },
    /// A step before the first head.
    #[error("`{0}` stands before a scenario")]
    BeforeScenario(String),
    /// A second scenario of one name.
    #[error("there is another scenario `{0}`")]
    Twice(String),
    /// A verb that does not exist.
    #[error("`{0}` is no step")]
    Step(String),
    /// A number that is missing.
    #[error("`{0}` has no number")]
    NoNumber(String),
    /// A time that is none.
    #[error("`{0}` is no time in seconds")]
    Time(String),
    /// A word of a request that says nothing.
    #[error("what is `{0}`?")]
    Word(String),
    /// A resource before its type.
    #[error("`{0}` stands before a type")]
    BeforeType(String),
    /// The content of a resource that is no number.
    #[error("the content of `{0}` is no number below 65536")]
    Content(String),
    /// A resource without a name.
    #[error("`{0}` has no name")]
    Unnamed(String),
    /// A reference that names no type.
    #[error("`>{0}` is no TYPE/NAME")]
    Reference(String),
    /// A reference between types that have none.
    #[error("`{resource}`: {from} does not refer to {to}")]
    Refers {
        /// The resource, as it is written.
        resource: String,
        /// Its type.
        from: Type,
        /// The type that it refers to.
        to: Type,
    },
}

/// A server or client that no scenario can be played with.
#[derive(Debug, thiserror::Error)]
pub enum ConformanceError {
    /// An address that is none.
    #[error("`{address}` is not an address: {reason}")]
    Address {
        /// The address.
        address: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Threads that the system does not give.
    #[error("cannot start: {0}")]
    Start(io::Error),
    /// No socket for the client under test.
    #[error("cannot listen: {0}")]
    Listen(io::Error),
    /// Nobody speaks xDS there.
    #[error("no xDS server answered at `{address}` without TLS: {absence}")]
    NoServer {
        /// The address.
        address: String,
        /// What happened instead.
        absence: Absence,
    },
    /// The client under test does not start.
    #[error("cannot start the client: {0}")]
    Client(io::Error),
    /// The client's command, which the system does not start.
    #[error("cannot start the client: `{program}`: {error}")]
    ClientProgram {
        /// The program.
        program: String,
        /// What the system says.
        error: io::Error,
    },
    /// No command is given for the client.
    #[error("cannot start the client: no command")]
    NoCommand,
}

/// The reason why a server is none that scenarios can be played with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Absence {
    /// It says nothing for so long.
    Silent(Duration),
    /// It closes the connection.
    Closes,
    /// It cannot be connected to or read from: what the system says.
    Broken(String),
    /// What it says is not HTTP/2.
    NotHttp2,
    /// It speaks gRPC and has no such service: what it says.
    Unimplemented(String),
}

impl fmt::Display for Absence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Absence::Silent(time) => write!(f, "nothing came in {time:?}"),
            Absence::Closes => f.write_str("it closes the connection"),
            Absence::NotHttp2 => f.write_str("it does not answer in HTTP/2"),
            Absence::Broken(reason) | Absence::Unimplemented(reason) => f.write_str(reason),
        }
    }
}

/// A change that a server under test could not be told of.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ChangeError {
    /// The file in its folder.
    #[error("cannot write `{}`: {error}", place.display())]
    File { place: PathBuf, error: io::Error },
    /// The command that the system does not run.
    #[error("the change command `{command}`: {error}")]
    Command { command: String, error: io::Error },
    /// The command that ended without success.
    #[error("the change command `{command}`: {status}")]
    Failed { command: String, status: ExitStatus },
    /// The command that ended before it had read all.
    #[error("the change command `{command}`: it read nothing: {error}")]
    Unread { command: String, error: io::Error },
}
