//! The levels at which files depend on each other, with counts.

/// The level of a dependency between files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DependencyLevel {
    /// It imports the file.
    Import,
    /// A field, an extension or a method of it uses a type of the file.
    Type,
    /// It sets a custom option that the file declares.
    Option,
}

impl DependencyLevel {
    /// Every level.
    pub const ALL: [DependencyLevel; 3] =
        [DependencyLevel::Import, DependencyLevel::Type, DependencyLevel::Option];

    /// The levels that carry meaning: an import that nothing needs is none.
    pub const USED: [DependencyLevel; 2] = [DependencyLevel::Type, DependencyLevel::Option];

    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            DependencyLevel::Import => "import",
            DependencyLevel::Type => "type",
            DependencyLevel::Option => "option",
        }
    }
}

/// The number of uses, by level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LevelCounts([u32; 3]);

impl LevelCounts {
    /// Returns the number of uses at a level.
    pub fn count_at(&self, level: DependencyLevel) -> u32 {
        self.0[level as usize]
    }

    /// Returns true if there is a use at one of the levels.
    pub fn has_any(&self, levels: &[DependencyLevel]) -> bool {
        levels.iter().any(|&level| self.count_at(level) > 0)
    }

    pub(super) fn add_use(&mut self, level: DependencyLevel) {
        self.0[level as usize] += 1;
    }

    pub(super) fn add(&mut self, other: LevelCounts) {
        for (sum, count) in self.0.iter_mut().zip(other.0) {
            *sum = sum.saturating_add(count);
        }
    }
}
