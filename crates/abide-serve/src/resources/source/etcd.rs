//! Resources in etcd: the keys below a prefix are files. All of them are read at one revision, and
//! changes are watched from the next one on, so that nothing is missed and nothing is seen half.

mod keys;
mod member;
mod wire;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args as Group;
use tokio::runtime::Runtime;
use tokio::time::timeout;

use self::keys::Keys;
use self::member::{EtcdMember, EtcdWatch};
use self::wire::{Event, WatchResponse};
use crate::error::Error;

use super::{Listing, MAX_SETTLE_TIME, SETTLE_TIME, Source};

/// How long it waits after a failure, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// How etcd is reached.
#[derive(Clone, Debug, Default, Group)]
pub(crate) struct EtcdArgs {
    /// Reach etcd over TLS: a file with the certificates of the authorities that it may be
    /// certified by
    #[arg(long, value_name = "FILE")]
    etcd_ca: Option<PathBuf>,
    /// A file with the certificate that etcd is shown
    #[arg(long, value_name = "FILE", requires_all = ["etcd_ca", "etcd_key"])]
    etcd_cert: Option<PathBuf>,
    /// A file with the key of that certificate
    #[arg(long, value_name = "FILE", requires = "etcd_cert")]
    etcd_key: Option<PathBuf>,
    /// The user of etcd to log in as
    #[arg(long, value_name = "NAME", requires = "etcd_password_file")]
    etcd_user: Option<String>,
    /// A file with the password of that user
    #[arg(long, value_name = "FILE", requires = "etcd_user")]
    etcd_password_file: Option<PathBuf>,
}

impl EtcdArgs {
    fn is_secure(&self) -> bool {
        self.etcd_ca.is_some()
    }
}

/// Keys below a prefix, watched.
pub(super) struct Etcd {
    store: Store,
    /// Made on the thread that reads: it cannot be dropped inside of another one.
    runtime: Option<Runtime>,
    /// How long it waits after the next failure.
    pause: Duration,
}

impl Etcd {
    /// Opens `HOST:PORT[,HOST:PORT...]/PREFIX`. No connection is made yet.
    ///
    /// # Errors
    /// A text that is not of this form.
    pub(super) fn open(spec: &str, args: &EtcdArgs) -> Result<Etcd, Error> {
        let wrong = || {
            let hint = "write `etcd:HOST:PORT/PREFIX`";
            Error::SourceInvalid(format!("`etcd:{spec}` is not a source: {hint}"))
        };
        // `etcd://HOST:PORT/PREFIX` is the same, written as a URL.
        let spec = spec.strip_prefix("//").unwrap_or(spec);
        let (members, prefix) = spec.split_once('/').ok_or_else(wrong)?;
        let members: Vec<String> = members.split(',').map(str::to_owned).collect();
        let is_address = |it: &String| {
            let authority = it.parse::<http::uri::Authority>();
            authority.is_ok_and(|it| it.port_u16().is_some() && !it.as_str().contains('@'))
        };
        if !members.iter().all(is_address) {
            return Err(wrong());
        }
        let mut prefix = prefix.to_owned();
        if !prefix.is_empty() && !prefix.ends_with('/') {
            prefix.push('/');
        }
        let prefix = Arc::from(prefix.into_bytes());
        let store =
            Store { members, turn: 0, prefix, args: args.clone(), keys: None, watched: None };
        Ok(Etcd { store, runtime: None, pause: PAUSES.0 })
    }
}

impl Source for Etcd {
    fn read(&mut self) -> Result<Listing, Error> {
        if self.runtime.is_none() {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            self.runtime = Some(runtime.map_err(Error::Start)?);
        }
        if let Some(runtime) = self.runtime.as_ref().filter(|_| self.store.watched.is_none()) {
            runtime.block_on(self.store.connect())?;
            self.pause = PAUSES.0;
        }
        let listing = self.store.keys.as_ref().map(Keys::listing);
        let mut listing = listing.ok_or_else(|| Error::unavailable("nothing was read"))?;
        if let Some(runtime) = self.runtime.as_ref().filter(|_| listing.files.is_empty()) {
            listing.notes.extend(runtime.block_on(self.store.explain_empty()));
        }
        Ok(listing)
    }

    fn wait(&mut self) {
        match (&self.runtime, self.store.watched.is_some()) {
            (Some(runtime), true) => {
                if let Err(error) = runtime.block_on(self.store.wait_for_change()) {
                    tracing::warn!(
                        error = error.to_string(),
                        "the watch of etcd ended and begins again"
                    );
                    self.store.lose();
                }
            }
            _ => {
                std::thread::sleep(self.pause);
                self.pause = (self.pause * 2).min(PAUSES.1);
            }
        }
    }
}

/// The store that all members share, and what is known of it.
struct Store {
    members: Vec<String>,
    /// The number of the member to ask next.
    turn: usize,
    prefix: Arc<[u8]>,
    args: EtcdArgs,
    keys: Option<Keys>,
    watched: Option<Watched>,
}

/// A watch that runs.
struct Watched {
    watch: EtcdWatch,
    /// The parts that came so far of a response in parts.
    parts: Vec<Event>,
}

impl Store {
    /// Watches by the first member that lets it, and reads first if it has to.
    ///
    /// # Errors
    /// No member that lets it: what each one said.
    async fn connect(&mut self) -> Result<(), Error> {
        let mut said = Vec::new();
        for _ in 0..self.members.len() {
            let address = self.members[self.turn].clone();
            match self.watch_by(&address).await {
                Ok(()) => return Ok(()),
                Err(error) => said.push(format!("{address}: {error}")),
            }
            self.turn = (self.turn + 1) % self.members.len();
        }
        Err(Error::unavailable(format_args!("etcd: {}", said.join("; "))))
    }

    /// Says which prefix has no keys, and whether the one with or without a leading slash has some.
    async fn explain_empty(&self) -> Vec<String> {
        let prefix = String::from_utf8_lossy(&self.prefix).into_owned();
        let other = match prefix.strip_prefix('/') {
            Some(rest) => rest.to_owned(),
            None => format!("/{prefix}"),
        };
        let mut notes = Vec::new();
        if let Some(unread) = self.keys.as_ref().and_then(Keys::unread) {
            notes.push(format!(
                "`{prefix}{unread}` is not read: the name of a key has to end as that of a file, such as `.yaml`"
            ));
        }
        let address = &self.members[self.turn];
        let found = async {
            let mut member = EtcdMember::connect(address, &self.args).await?;
            member.has_keys(other.as_bytes()).await
        };
        // Who may read the prefix may not be allowed to read the other one.
        let hint = match found.await {
            Ok(true) if !other.is_empty() => {
                format!(", but some begin with `{other}`: write `etcd:{address}/{other}`")
            }
            Ok(_) | Err(_) => String::new(),
        };
        notes.push(format!("no key of etcd that begins with `{prefix}` has resources{hint}"));
        notes
    }

    /// Goes on from what is known if this member can, and else reads all of it.
    async fn watch_by(&mut self, address: &str) -> Result<(), Error> {
        let mut member = EtcdMember::connect(address, &self.args).await?;
        if let Some(keys) = &self.keys {
            let mut watch = member.watch(&self.prefix, keys.revision).await?;
            let first = watch.created().await?;
            let header = first.header.clone().unwrap_or_default();
            // One that was restored from a copy is another store, or an older one.
            let is_it = header.cluster_id == keys.cluster && header.revision >= keys.revision;
            if is_it && !first.canceled {
                self.watched = Some(Watched { watch, parts: Vec::new() });
                return Ok(());
            }
        }
        let keys = member.read(&self.prefix).await?;
        let mut watch = member.watch(&self.prefix, keys.revision).await?;
        let first = watch.created().await?;
        if first.canceled {
            return Err(explain_cancellation(&first));
        }
        self.keys = Some(keys);
        self.watched = Some(Watched { watch, parts: Vec::new() });
        Ok(())
    }

    /// Begins anew, by the next member.
    fn lose(&mut self) {
        self.watched = None;
        self.turn = (self.turn + 1) % self.members.len();
    }

    /// Waits for a change, and for more until nothing comes for a moment.
    ///
    /// # Errors
    /// A watch that ended.
    async fn wait_for_change(&mut self) -> Result<(), Error> {
        while !self.apply_next().await? {}
        let begin = Instant::now();
        while begin.elapsed() < MAX_SETTLE_TIME {
            match timeout(SETTLE_TIME, self.apply_next()).await {
                Ok(next) => drop(next?),
                Err(_) => break,
            }
        }
        Ok(())
    }

    /// Takes the next response in. Returns true if it changed something.
    async fn apply_next(&mut self) -> Result<bool, Error> {
        let (Some(watched), Some(keys)) = (&mut self.watched, &mut self.keys) else {
            return Err(Error::unavailable("nothing is watched"));
        };
        let response = watched.watch.next().await?;
        if response.canceled {
            let error = explain_cancellation(&response);
            if response.compact_revision > 0 {
                self.keys = None; // What happened since is not known any more.
            }
            return Err(error);
        }
        if response.events.is_empty() && !response.fragment && watched.parts.is_empty() {
            // It says how far it is, and has nothing new.
            keys.revision = keys.revision.max(response.header.unwrap_or_default().revision);
            return Ok(false);
        }
        watched.parts.extend(response.events);
        let size = |it: &Event| it.kv.as_ref().map_or(0, |kv| kv.key.len() + kv.value.len());
        if watched.parts.iter().map(size).sum::<usize>() > keys::MAX_BYTES {
            self.keys = None;
            return Err(Error::unavailable("one change is larger than all that is read"));
        }
        if response.fragment {
            return Ok(false);
        }
        let applied = keys.apply(&std::mem::take(&mut watched.parts));
        if applied.is_err() {
            self.keys = None;
        }
        applied.map(|()| true)
    }
}

/// Explains why etcd ended a watch. It compacts its history: a watch from a revision before that
/// cannot be had any more, and all keys have to be read again (etcd's API, `WatchResponse`).
fn explain_cancellation(response: &WatchResponse) -> Error {
    match response.compact_revision {
        0 => Error::unavailable(format_args!("it ended the watch: {}", response.cancel_reason)),
        revision => {
            Error::unavailable(format_args!("it forgot what was before revision {revision}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_name_members_and_a_prefix() {
        let open = |spec: &str| Etcd::open(spec, &EtcdArgs::default()).map(|it| it.store);
        let store =
            open("127.0.0.1:2379,[::1]:2380,etcd.example:2379/acme/fleet").expect("a source");
        assert_eq!(store.members, ["127.0.0.1:2379", "[::1]:2380", "etcd.example:2379"]);
        assert_eq!(&*store.prefix, b"acme/fleet/", "a prefix is a folder");
        assert_eq!(&*open("a:1//acme/").expect("a source").prefix, b"/acme/");
        assert_eq!(&*open("a:1/").expect("a source").prefix, b"", "all keys");
        for (url, prefix) in [("//a:1/acme", "acme/"), ("//a:1//acme", "/acme/")] {
            let store = open(url).expect("a URL");
            assert_eq!((&*store.members[0], &*store.prefix), ("a:1", prefix.as_bytes()));
        }
        for wrong in ["", "a:1", "a/b", "a:1,/b", "a:x/b", "u@a:1/b", "http://a:1/b"] {
            let error = open(wrong).err().unwrap_or_else(|| panic!("`{wrong}` was taken"));
            assert!(error.to_string().contains("write `etcd:HOST:PORT/PREFIX`"), "{error}");
        }
    }
}
