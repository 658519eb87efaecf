//! The keys below a prefix at one revision, and what changes of them mean.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::wire::{Event, KeyValue};
use crate::error::Error;
use crate::resources::source::{Listing, ResourceFile, is_resource};

/// How many bytes one value may have. etcd itself takes 1.5 MiB unless it is told otherwise.
pub(super) const MAX_VALUE: usize = 4 << 20;
/// How many bytes all paths and values may have together.
pub(super) const MAX_BYTES: usize = 256 << 20;

/// What the kind of an event says where a key was deleted.
const DELETED: i32 = 1;

/// The keys below a prefix, as files, at one revision of the store.
#[derive(Debug)]
pub(super) struct Keys {
    prefix: Arc<[u8]>,
    /// Which store it is: one that was set up anew counts its revisions from the start.
    pub(super) cluster: u64,
    /// Everything up to this revision is in here.
    pub(super) revision: i64,
    /// When one of the files changed last.
    changed: i64,
    files: BTreeMap<String, Arc<[u8]>>,
    /// A path that is not read, since its ending says nothing about its notation.
    unread: Option<String>,
    /// Of all paths and values.
    bytes: usize,
}

impl Keys {
    /// No key, at a revision.
    pub(super) fn new(prefix: Arc<[u8]>, cluster: u64, revision: i64) -> Keys {
        let files = BTreeMap::new();
        Keys { prefix, cluster, revision, changed: revision, files, unread: None, bytes: 0 }
    }

    /// A path below the prefix that is not read, if there was one.
    pub(super) fn unread(&self) -> Option<&str> {
        self.unread.as_deref()
    }

    /// The path of a key below the prefix, if it is the name of a file with resources. Hidden
    /// files and folders are left out, as they are on disk.
    fn path<'k>(&self, key: &'k [u8]) -> Option<&'k str> {
        let path = std::str::from_utf8(key.strip_prefix(&*self.prefix)?).ok()?;
        let is_plain = |part: &str| !part.is_empty() && !part.starts_with('.');
        (path.split('/').all(is_plain) && is_resource(path)).then_some(path)
    }

    /// Takes in that a key has a value.
    ///
    /// # Errors
    /// More than is taken.
    pub(super) fn put(&mut self, kv: &KeyValue) -> Result<(), Error> {
        let Some(path) = self.path(&kv.key) else {
            let rest = kv.key.strip_prefix(&*self.prefix).unwrap_or_default();
            self.unread.get_or_insert_with(|| String::from_utf8_lossy(rest).into_owned());
            return Ok(());
        };
        let size = kv.value.len();
        if size > MAX_VALUE {
            return Err(Error::unavailable(format_args!(
                "the value of `{path}` has {size} bytes, at most {MAX_VALUE} are read"
            )));
        }
        let old = self.files.insert(path.to_owned(), kv.value.as_ref().into());
        self.bytes += size;
        match old {
            Some(old) => self.bytes -= old.len(),
            None => self.bytes += path.len(),
        }
        if self.bytes > MAX_BYTES {
            return Err(Error::unavailable(format_args!(
                "the keys and values have more than {MAX_BYTES} bytes together"
            )));
        }
        Ok(())
    }

    /// Takes in all events of one response, which has whole transactions.
    ///
    /// # Errors
    /// More than is taken.
    pub(super) fn apply(&mut self, events: &[Event]) -> Result<(), Error> {
        for event in events {
            let Some(kv) = &event.kv else { continue };
            self.revision = self.revision.max(kv.mod_revision);
            let Some(path) = self.path(&kv.key) else {
                if event.kind != DELETED {
                    self.put(kv)?;
                }
                continue;
            };
            self.changed = self.changed.max(kv.mod_revision);
            if event.kind == DELETED {
                if let Some(old) = self.files.remove(path) {
                    self.bytes -= old.len() + path.len();
                }
            } else {
                self.put(kv)?;
            }
        }
        Ok(())
    }

    /// What there is to serve.
    pub(super) fn listing(&self) -> Listing {
        let files = self.files.iter();
        let files =
            files.filter_map(|(path, bytes)| ResourceFile::of(path.clone(), Arc::clone(bytes)));
        Listing {
            files: files.collect(),
            notes: Vec::new(),
            revision: Some(format!("revision {}", self.changed).into()),
        }
    }
}

/// The first key after all those that begin with `prefix`, as etcd wants it: the prefix with its
/// last byte that can grow grown; `\0` stands for the end of all keys.
pub(super) fn prefix_end(prefix: &[u8]) -> Vec<u8> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if let Some(next) = last.checked_add(1) {
            end.push(next);
            return end;
        }
    }
    vec![0]
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn kv(key: &str, revision: i64, value: &str) -> KeyValue {
        KeyValue {
            key: Bytes::copy_from_slice(key.as_bytes()),
            mod_revision: revision,
            value: Bytes::copy_from_slice(value.as_bytes()),
        }
    }

    fn keys() -> Keys {
        Keys::new(b"acme/".as_slice().into(), 7, 10)
    }

    fn shown(keys: &Keys) -> Vec<String> {
        let files = keys.listing().files.into_iter();
        files.map(|it| format!("{}={}", it.path, String::from_utf8_lossy(&it.bytes))).collect()
    }

    #[test]
    fn events_change_the_files_and_only_those_below_the_prefix() {
        let mut keys = keys();
        keys.put(&kv("acme/a.yaml", 3, "1")).expect("it fits");
        keys.put(&kv("acme/node/one/b.json", 4, "2")).expect("it fits");
        let put = |key, revision, value| Event { kind: 0, kv: Some(kv(key, revision, value)) };
        let gone = |key, revision| Event { kind: 1, kv: Some(kv(key, revision, "")) };
        let events = [put("acme/a.yaml", 11, "3"), gone("acme/node/one/b.json", 11)];
        keys.apply(&events).expect("it fits");
        assert_eq!(shown(&keys), ["a.yaml=3"]);
        assert_eq!((keys.revision, keys.bytes), (11, "a.yaml3".len()));
        for other in ["acme/.a.yaml", "acme/x/../a.yaml", "acme//a.yaml", "acme/a.txt", "b.yaml"] {
            keys.apply(&[put(other, 12, "no")]).expect("it is left out");
        }
        assert_eq!(keys.unread(), Some(".a.yaml"));
        keys.apply(&[gone("acme/never.yaml", 12)]).expect("nothing happens");
        assert_eq!(shown(&keys), ["a.yaml=3"]);
        assert_eq!(keys.revision, 12, "it goes on from there all the same");
    }

    #[test]
    fn a_revision_is_the_name_of_the_last_change_of_a_file() {
        let mut keys = keys();
        keys.apply(&[Event { kind: 0, kv: Some(kv("acme/a.yaml", 12, "1")) }]).expect("it fits");
        keys.apply(&[Event { kind: 0, kv: Some(kv("acme/a.lock", 15, "1")) }]).expect("it fits");
        assert_eq!(keys.listing().revision.as_deref(), Some("revision 12"));
    }

    #[test]
    fn values_and_all_together_have_an_end() {
        let mut keys = keys();
        let large = "x".repeat(MAX_VALUE);
        let error = keys.put(&kv("acme/a.yaml", 1, &(large.clone() + "x"))).expect_err("too much");
        let error = error.to_string();
        assert!(error.contains("`a.yaml` has 4194305 bytes"), "{error}");
        let mut fits = 0;
        let refused = (0..100).find_map(|number| {
            let outcome = keys.put(&kv(&format!("acme/{number}.yaml"), 1, &large));
            fits += usize::from(outcome.is_ok());
            outcome.err()
        });
        assert!(refused.is_some_and(|it| it.to_string().contains("together")), "{fits} fit");
        assert_eq!(fits, MAX_BYTES / MAX_VALUE - 1, "paths count, too");
        let mut keys = self::keys();
        for _ in 0..100 {
            keys.put(&kv("acme/a.yaml", 1, &large)).expect("one value takes the place of another");
        }
    }

    #[test]
    fn the_end_of_a_prefix_is_after_all_its_keys() {
        assert_eq!(prefix_end(b"acme/"), b"acme0");
        assert_eq!(prefix_end(b"a\xff\xff"), b"b");
        assert_eq!(prefix_end(b"\xff"), b"\0");
        assert_eq!(prefix_end(b""), b"\0");
    }
}
