//! Compatibility in the words of schema registries.

use abide_change::Direction;

/// A mode of compatibility, as schema registries name them: who can be upgraded first, and whether
/// all old versions count or only the newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compatibility {
    /// No change is an error because of whom it breaks.
    None,
    /// Readers are upgraded first: they read what the last version wrote.
    Backward,
    /// The same for all versions.
    BackwardTransitive,
    /// Writers are upgraded first: the last version reads what they write.
    Forward,
    /// The same for all versions.
    ForwardTransitive,
    /// In any order.
    Full,
    /// The same for all versions.
    FullTransitive,
}

impl Compatibility {
    /// All modes with their names.
    pub const ALL: &[(&str, Compatibility)] = &[
        ("none", Compatibility::None),
        ("backward", Compatibility::Backward),
        ("backward-transitive", Compatibility::BackwardTransitive),
        ("forward", Compatibility::Forward),
        ("forward-transitive", Compatibility::ForwardTransitive),
        ("full", Compatibility::Full),
        ("full-transitive", Compatibility::FullTransitive),
    ];

    /// Returns the mode with this name.
    pub fn find(name: &str) -> Option<Compatibility> {
        Compatibility::ALL.iter().find(|it| it.0 == name).map(|it| it.1)
    }

    /// The directions whose breaks are errors.
    pub const fn directions(self) -> &'static [Direction] {
        use Compatibility::{
            Backward, BackwardTransitive, Forward, ForwardTransitive, Full, FullTransitive, None,
        };
        match self {
            None => &[],
            Backward | BackwardTransitive => &[Direction::Backward],
            Forward | ForwardTransitive => &[Direction::Forward],
            Full | FullTransitive => &[Direction::Backward, Direction::Forward],
        }
    }

    /// Returns true if all old trees count, and not only the newest.
    pub const fn is_transitive(self) -> bool {
        matches!(
            self,
            Compatibility::BackwardTransitive
                | Compatibility::ForwardTransitive
                | Compatibility::FullTransitive
        )
    }
}
