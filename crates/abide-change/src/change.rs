//! One element on both sides of a comparison, or on one side alone.

/// One element on both sides, or on the only side that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change<T> {
    /// The new side alone has it.
    Added(T),
    /// The old side alone has it.
    Removed(T),
    /// Both sides have it.
    Both {
        /// As it was.
        old: T,
        /// As it is.
        new: T,
    },
}

impl<T: Copy> Change<T> {
    /// The old side.
    pub fn old(self) -> Option<T> {
        match self {
            Change::Added(_) => None,
            Change::Removed(old) | Change::Both { old, .. } => Some(old),
        }
    }

    /// The new side.
    #[allow(clippy::new_ret_no_self, reason = "it is a side, and makes nothing")]
    pub fn new(self) -> Option<T> {
        match self {
            Change::Removed(_) => None,
            Change::Added(new) | Change::Both { new, .. } => Some(new),
        }
    }

    /// Both sides.
    pub fn both(self) -> Option<(T, T)> {
        match self {
            Change::Both { old, new } => Some((old, new)),
            _ => None,
        }
    }

    /// The same for what the element belongs to, or is wrapped in.
    pub fn map<U>(self, with: impl Fn(T) -> U) -> Change<U> {
        match self {
            Change::Added(new) => Change::Added(with(new)),
            Change::Removed(old) => Change::Removed(with(old)),
            Change::Both { old, new } => Change::Both { old: with(old), new: with(new) },
        }
    }
}
