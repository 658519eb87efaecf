//! How strongly files depend on each other.

/// How one file depends on another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// It imports the file.
    Import,
    /// A field, an extension or a method of it uses a type of the file.
    Type,
    /// It sets a custom option that the file declares.
    Option,
}

impl Level {
    /// Every level.
    pub const ALL: [Level; 3] = [Level::Import, Level::Type, Level::Option];

    /// The levels that carry meaning: an import that nothing needs is none.
    pub const USED: [Level; 2] = [Level::Type, Level::Option];

    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Level::Import => "import",
            Level::Type => "type",
            Level::Option => "option",
        }
    }
}

/// How often something is used, by level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts([u32; 3]);

impl Counts {
    /// How many uses there are at a level.
    pub fn at(&self, level: Level) -> u32 {
        self.0[level as usize]
    }

    /// Whether there is a use at one of the levels.
    pub fn any(&self, levels: &[Level]) -> bool {
        levels.iter().any(|&level| self.at(level) > 0)
    }

    pub(super) fn add_use(&mut self, level: Level) {
        self.0[level as usize] += 1;
    }

    pub(super) fn add(&mut self, other: Counts) {
        for (sum, count) in self.0.iter_mut().zip(other.0) {
            *sum = sum.saturating_add(count);
        }
    }
}
