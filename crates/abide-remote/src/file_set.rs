//! The files that a server sends, within limits, and the set that they make.

use std::collections::{BTreeMap, BTreeSet};

use prost::Message;

use crate::error::printable;

/// The most files of one API: ten times those of the largest public one.
const MAX_FILES: usize = 50_000;

/// The parts of a `FileDescriptorProto` that say how files hang together.
#[derive(Clone, PartialEq, Message)]
struct FileHead {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, repeated, tag = "3")]
    dependency: Vec<String>,
}

/// A `FileDescriptorSet`, of which each file is serialised already.
#[derive(Clone, PartialEq, Message)]
struct SerializedSet {
    #[prost(bytes = "vec", repeated, tag = "1")]
    file: Vec<Vec<u8>>,
}

/// The reason why files make no set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FileSetError {
    #[error("one is not a FileDescriptorProto ({0})")]
    Malformed(String),
    #[error("one has no name")]
    Unnamed,
    #[error("there are two different files with the name `{}`", printable(.0))]
    Ambiguous(String),
    #[error("they have more than {limit} bytes; allow more with --max-size")]
    TooLarge { limit: usize },
    #[error("there are more than {MAX_FILES}")]
    TooMany,
    #[error("they import each other in a circle: {}", .0.join(" -> "))]
    Cyclic(Vec<String>),
}

/// The files of an API.
#[derive(Debug)]
pub(crate) struct FileSet {
    files: BTreeMap<String, ReceivedFile>,
    /// Imports that nobody has asked the server for yet.
    wanted: BTreeSet<String>,
    asked: BTreeSet<String>,
    /// How many bytes may still come.
    left: usize,
    limit: usize,
}

#[derive(Debug)]
struct ReceivedFile {
    bytes: Vec<u8>,
    imports: Vec<String>,
}

impl FileSet {
    /// An empty set that may grow to `limit` bytes.
    pub(crate) fn new(limit: usize) -> FileSet {
        FileSet {
            files: BTreeMap::new(),
            wanted: BTreeSet::new(),
            asked: BTreeSet::new(),
            left: limit,
            limit,
        }
    }

    /// Returns true if there is no file.
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Adds a file. The same file may come more than once.
    ///
    /// # Errors
    /// Bytes that are no file, another file of the same name, and more than the limit.
    pub(crate) fn add(&mut self, bytes: Vec<u8>) -> Result<(), FileSetError> {
        let head = FileHead::decode(&*bytes);
        let head = head.map_err(|error| FileSetError::Malformed(printable(&error.to_string())))?;
        let FileHead { name, dependency: imports } = head;
        if name.is_empty() {
            return Err(FileSetError::Unnamed);
        }
        if let Some(known) = self.files.get(&name) {
            let is_same = known.bytes == bytes;
            return if is_same { Ok(()) } else { Err(FileSetError::Ambiguous(name)) };
        }
        if self.files.len() == MAX_FILES {
            return Err(FileSetError::TooMany);
        }
        // Names of imports are held beside the bytes.
        let names = imports.iter().map(|it| it.len() + size_of::<String>());
        let size = bytes.len() + names.sum::<usize>();
        let left = self.left.checked_sub(size);
        self.left = left.ok_or(FileSetError::TooLarge { limit: self.limit })?;
        let is_new = |it: &&String| !self.files.contains_key(*it) && !self.asked.contains(*it);
        self.wanted.extend(imports.iter().filter(is_new).cloned());
        self.files.insert(name, ReceivedFile { bytes, imports });
        Ok(())
    }

    /// Returns true if a file is there.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.files.contains_key(name)
    }

    /// An import that is not there. Each is returned once.
    pub(crate) fn next_missing(&mut self) -> Option<String> {
        while let Some(name) = self.wanted.pop_first() {
            if !self.files.contains_key(&name) {
                self.asked.insert(name.clone());
                return Some(name);
            }
        }
        None
    }

    /// Serialises the set: each file after its imports, and otherwise by name.
    ///
    /// # Errors
    /// Files that import each other.
    pub(crate) fn encode(mut self) -> Result<Vec<u8>, FileSetError> {
        let order = self.sort_by_imports()?;
        let files = order.iter().filter_map(|name| self.files.remove(name));
        Ok(SerializedSet { file: files.map(|it| it.bytes).collect() }.encode_to_vec())
    }

    /// The names of the files, each after its imports. Nothing recurses: chains may be long.
    fn sort_by_imports(&self) -> Result<Vec<String>, FileSetError> {
        let mut order: Vec<String> = Vec::with_capacity(self.files.len());
        let mut done: BTreeSet<&str> = BTreeSet::new();
        for name in self.files.keys() {
            // The way from `name` down, with the next import to look at.
            let mut way: Vec<(&str, usize)> = vec![(name, 0)];
            let mut on_way: BTreeSet<&str> = BTreeSet::from([&**name]);
            if done.contains(&**name) {
                continue;
            }
            while let Some((current, next)) = way.pop() {
                let imports = self.files.get(current).map_or(&[][..], |it| &it.imports);
                let Some(import) = imports.get(next) else {
                    on_way.remove(current);
                    done.insert(current);
                    order.push(current.to_owned());
                    continue;
                };
                way.push((current, next + 1));
                if on_way.contains(&**import) {
                    let names = way.iter().map(|it| it.0);
                    let circle = names.skip_while(|it| it != import).chain([&**import]);
                    return Err(FileSetError::Cyclic(circle.map(printable).collect()));
                }
                if self.files.contains_key(import) && !done.contains(&**import) {
                    on_way.insert(import);
                    way.push((import, 0));
                }
            }
        }
        Ok(order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, imports: &[&str]) -> Vec<u8> {
        let dependency = imports.iter().map(|it| (*it).to_owned()).collect();
        FileHead { name: name.to_owned(), dependency }.encode_to_vec()
    }

    fn set(files: &[(&str, &[&str])]) -> FileSet {
        let mut set = FileSet::new(1 << 20);
        files.iter().for_each(|(name, imports)| set.add(file(name, imports)).expect("a file"));
        set
    }

    fn names(set: FileSet) -> Result<Vec<String>, FileSetError> {
        let bytes = set.encode()?;
        let set = SerializedSet::decode(&*bytes).expect("a set");
        let name = |it: &Vec<u8>| FileHead::decode(&**it).expect("a file").name;
        Ok(set.file.iter().map(name).collect())
    }

    #[test]
    fn files_stand_after_their_imports_in_whatever_order_they_come() {
        let files: [(&str, &[&str]); 4] =
            [("a", &["c", "d"]), ("b", &["a", "gone"]), ("c", &["d"]), ("d", &[])];
        let wanted = ["d", "c", "a", "b"].map(str::to_owned).to_vec();
        assert_eq!(names(set(&files)), Ok(wanted.clone()));
        let backwards: Vec<_> = files.iter().rev().copied().collect();
        assert_eq!(names(set(&backwards)), Ok(wanted));
        let mut files = set(&files);
        assert_eq!(files.next_missing().as_deref(), Some("gone"));
        assert_eq!(files.add(file("e", &["gone"])), Ok(()));
        assert_eq!(files.next_missing(), None);
    }

    #[test]
    fn circles_are_named() {
        let circle = ["b", "c", "b"].map(str::to_owned).to_vec();
        let files: [(&str, &[&str]); 3] = [("a", &["b"]), ("b", &["c"]), ("c", &["b"])];
        assert_eq!(names(set(&files)), Err(FileSetError::Cyclic(circle)));
        let own = ["a", "a"].map(str::to_owned).to_vec();
        assert_eq!(names(set(&[("a", &["a"])])), Err(FileSetError::Cyclic(own)));
    }

    #[test]
    fn a_long_chain_of_imports_does_not_overflow_the_stack() {
        let mut files = FileSet::new(64 << 20);
        for at in 0..MAX_FILES {
            files.add(file(&format!("{at}"), &[&format!("{}", at + 1)])).expect("a file");
        }
        assert_eq!(files.add(file("x", &[])), Err(FileSetError::TooMany));
        let names = names(files).expect("no circle");
        assert_eq!((names.len(), &*names[0]), (MAX_FILES, "49999"));
    }

    #[test]
    fn a_file_may_come_twice_but_not_in_two_versions() {
        let mut files = set(&[("a", &["b"])]);
        assert_eq!(files.add(file("a", &["b"])), Ok(()));
        assert_eq!(files.add(file("a", &[])), Err(FileSetError::Ambiguous("a".to_owned())));
        assert_eq!(files.add(file("", &[])), Err(FileSetError::Unnamed));
        let malformed = files.add(vec![0x0a, 0xff]);
        assert!(matches!(malformed, Err(FileSetError::Malformed(_))), "{malformed:?}");
    }

    #[test]
    fn bytes_and_names_of_imports_count_towards_the_limit() {
        let mut files = FileSet::new(100);
        assert_eq!(files.add(file("a", &[])), Ok(()));
        let many = file("b", &[""; 40]);
        assert!(many.len() < 100);
        assert_eq!(files.add(many), Err(FileSetError::TooLarge { limit: 100 }));
    }
}
