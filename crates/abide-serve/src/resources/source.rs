//! Where resources come from: a folder, a revision of a git repository, or keys of etcd.

mod etcd;
mod folder;
mod git;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use abide_instance::Notation;
use clap::Args as Group;

use crate::error::Error;

/// How long a source has to be quiet before it is read: what is written together is judged
/// together.
const SETTLE_TIME: Duration = Duration::from_millis(50);
/// How long changes may follow one another before it is read all the same.
const MAX_SETTLE_TIME: Duration = Duration::from_secs(1);

/// Where resources are read from.
#[derive(Clone, Debug, Group)]
pub(crate) struct SourceArgs {
    /// Where the resources are: a folder, `git:REV[:FOLDER]`, or `etcd:HOST:PORT/PREFIX`
    ///
    /// Its YAML, JSON, text and binary files are read. What is in `node-cluster/NAME/` is for
    /// clients of that cluster, and what is in `node/ID/` for that client; there, a resource takes
    /// the place of the one that all others get.
    ///
    /// With `git:`, the revision is followed; `git:REPO#REV` is of the repository at the path REPO.
    /// With `etcd:`, the keys below the prefix are the files; name all members of a cluster, as
    /// `etcd:HOST:PORT,HOST:PORT/PREFIX`. Keys that begin with a slash have it in the prefix:
    /// `etcd:HOST:PORT//PREFIX`.
    // Optional only for a command, which has its own.
    #[arg(long, value_name = "SOURCE", required = true)]
    pub(crate) resources: Option<PathBuf>,
    /// How many seconds pass before a revision of git is looked up again
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = crate::duration::parse_seconds)]
    pub(crate) poll: Duration,
    #[command(flatten)]
    pub(crate) etcd: etcd::EtcdArgs,
}

/// A place that resources are read from.
///
/// Reading and waiting take turns on a thread of their own. A source that cannot be read now is
/// asked again later: what was read before is served on.
pub(crate) trait Source: Send {
    /// Reads what is there now, all of one moment.
    ///
    /// # Errors
    /// A source that cannot be read now: [`Error::SourceUnavailable`].
    fn read(&mut self) -> Result<Listing, Error>;

    /// Returns once there may be something else to read.
    fn wait(&mut self);
}

/// Opens the source that the arguments name.
///
/// # Errors
/// A name that is wrong, or that no source has.
pub(crate) fn open_source(args: &SourceArgs) -> Result<Box<dyn Source>, Error> {
    let place = args.resources.as_deref().unwrap_or(Path::new("."));
    match place.to_str().and_then(|it| it.split_once(':')) {
        Some(("git", spec)) => Ok(Box::new(git::Git::open(spec, args.poll)?)),
        Some(("etcd", spec)) => Ok(Box::new(etcd::Etcd::open(spec, &args.etcd)?)),
        _ => Ok(Box::new(folder::Folder::open(place)?)),
    }
}

/// What a source has at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listing {
    /// In the order of their paths.
    pub(crate) files: Vec<ResourceFile>,
    /// What the operator should know, one phrase each.
    pub(crate) notes: Vec<String>,
    /// The name that the source has for this moment, if it has one: `commit 1a2b3c`.
    pub(crate) revision: Option<Arc<str>>,
}

/// A file with resources.
#[derive(Clone, Debug)]
pub(crate) struct ResourceFile {
    /// Its path below the top of its source, with `/`.
    pub(crate) path: String,
    /// Who gets its resources.
    pub(crate) audience: Audience,
    pub(crate) notation: Notation,
    pub(crate) bytes: Arc<[u8]>,
}

/// Whether the name of a file, or a path that ends with it, says that it has resources.
fn is_resource(name: &str) -> bool {
    Notation::from_path(name).is_some()
}

impl ResourceFile {
    /// The file at this path, unless its name says that it has no resources.
    pub(crate) fn of(path: String, bytes: Arc<[u8]>) -> Option<ResourceFile> {
        let notation = Notation::from_path(&path)?;
        Some(ResourceFile { audience: Audience::of(&path), path, notation, bytes })
    }
}

/// Who gets resources.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Audience {
    Everyone,
    Cluster(String),
    Node(String),
}

impl Audience {
    fn of(path: &str) -> Audience {
        match *path.split('/').collect::<Vec<_>>() {
            ["node-cluster", name, _, ..] => Audience::Cluster(name.to_owned()),
            ["node", id, _, ..] => Audience::Node(id.to_owned()),
            _ => Audience::Everyone,
        }
    }
}

impl fmt::Display for Audience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Audience::Everyone => f.write_str("everyone"),
            Audience::Cluster(name) => write!(f, "node-cluster/{name}"),
            Audience::Node(id) => write!(f, "node/{id}"),
        }
    }
}
