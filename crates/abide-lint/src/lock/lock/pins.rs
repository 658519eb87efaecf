//! What `abide.lock` records of things outside of the tree: dependencies, and the files that the
//! configuration builds on.

use super::{Lock, TextDigest};

/// The content of a dependency that was brought.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DependencyPin {
    /// The URL of its repository.
    pub url: String,
    /// The revision that was asked for; `HEAD` is the default branch.
    pub rev: String,
    /// The commit that the revision meant.
    pub commit: String,
    /// The SHA-256 of the list of its files, as 64 hexadecimal digits.
    pub content: String,
}

impl Lock {
    /// The recorded content of a dependency; `None` if nothing, or two things after a merge, are
    /// recorded.
    pub fn dependency(&self, name: &str) -> Option<&DependencyPin> {
        let pins = self.dependencies.get(name)?;
        pins.first().filter(|_| pins.len() == 1)
    }

    /// Returns true if a merge left two different contents of a dependency.
    pub fn is_dependency_unresolved(&self, name: &str) -> bool {
        self.dependencies.get(name).is_some_and(|pins| pins.len() > 1)
    }

    /// The names of the recorded dependencies, sorted.
    pub fn dependency_names(&self) -> impl Iterator<Item = &str> {
        self.dependencies.keys().map(String::as_str)
    }

    /// Records the content of a dependency, in place of what is recorded.
    pub fn set_dependency(&mut self, name: &str, pin: DependencyPin) {
        self.dependencies.insert(name.to_owned(), [pin].into());
    }

    /// Forgets a dependency.
    pub fn forget_dependency(&mut self, name: &str) {
        self.dependencies.remove(name);
    }

    /// Returns true if anything is recorded about a file that the configuration builds on.
    pub fn has_base(&self, name: &str) -> bool {
        self.bases.contains_key(name)
    }

    /// Returns true if this text of a file that the configuration builds on is recorded. After a
    /// merge two may be.
    pub fn is_base(&self, name: &str, text: &[u8]) -> bool {
        self.bases.get(name).is_some_and(|all| all.contains(&TextDigest::of(text)))
    }

    /// Records the texts of the files that the configuration builds on, in place of all that are
    /// recorded.
    pub fn set_bases<'t>(&mut self, bases: impl Iterator<Item = (&'t str, &'t [u8])>) {
        self.bases =
            bases.map(|(name, text)| (name.to_owned(), [TextDigest::of(text)].into())).collect();
    }

    /// Returns true if it records anything outside of the tree.
    pub(super) fn has_pins(&self) -> bool {
        !self.dependencies.is_empty() || !self.bases.is_empty()
    }
}
