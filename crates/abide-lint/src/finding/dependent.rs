//! A package that a change reaches.

/// A package that uses a changed type of another package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependent {
    /// Its name.
    pub package: String,
    /// The full names of an element of the package, of the types between, and of the changed type:
    /// a shortest path.
    pub path: Vec<String>,
}
