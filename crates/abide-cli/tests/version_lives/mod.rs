//! Lives of packages: random edits, and every command that follows, under laws. For the tests, and for
//! `cargo xtask soundness`, which plays more of them and begins with real trees as well.
#![allow(clippy::disallowed_methods, clippy::expect_used, clippy::panic, unreachable_pub)] // A test, wherever it runs.
#![allow(dead_code, reason = "the tests begin with generated trees alone, and count nothing")]

mod dice;
mod edits;
mod laws;
mod lock;
mod merges;
mod repository;
mod start;
mod text;

pub use self::repository::Programs;
#[allow(unused_imports, reason = "the tests begin with generated trees alone")]
pub use self::start::{RealTree, Start};

use self::dice::Dice;
use self::edits::ACTS;
use self::laws::Errors;
use self::merges::Merge;
use self::repository::Repository;

/// What was done in a life, or in many.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub commands: usize,
    pub checks: usize,
    pub upgrades: usize,
    pub releases: usize,
    pub merges: usize,
    /// Merges in which people have to decide, since both edited the same lines.
    pub conflicts: usize,
    /// Merges of which one side changed what the other froze.
    pub refused: usize,
}

impl Tally {
    /// The counts of both.
    pub fn plus(self, other: Tally) -> Tally {
        Tally {
            commands: self.commands + other.commands,
            checks: self.checks + other.checks,
            upgrades: self.upgrades + other.upgrades,
            releases: self.releases + other.releases,
            merges: self.merges + other.merges,
            conflicts: self.conflicts + other.conflicts,
            refused: self.refused + other.refused,
        }
    }
}

/// The number of steps of a life.
const STEPS: usize = 10;

/// Lives the life of this seed, from a tree of its own or from `start`.
///
/// # Panics
///
/// If a law is broken: with what happened, the law, and what is there instead.
pub fn live(programs: &Programs, start: Option<Start>, seed: u64) -> Tally {
    let mut dice = Dice::new(seed);
    let start = start.unwrap_or_else(|| Start::generated(&mut dice));
    let mut life = Life::begin(programs, &start, seed, &mut dice);
    for _ in 0..STEPS {
        life.step(&mut dice);
    }
    let repository = &life.repository;
    Tally { commands: repository.commands, checks: repository.checks, ..life.tally }
}

struct Life {
    repository: Repository,
    tally: Tally,
    /// The errors that the tree had from the start.
    known: Errors,
    /// The number of the last tag.
    release: u32,
    /// The last number that a new element got.
    number: u32,
}

impl Life {
    fn begin(programs: &Programs, start: &Start, seed: u64, dice: &mut Dice) -> Life {
        let mut repository = Repository::new(programs, start);
        repository.tell(format!("seed {seed}: {}", start.name));
        if dice.once_in(2) {
            repository.write(".gitattributes", "abide.lock merge=union\n");
        }
        let bumped = repository.abide(&["bump", "--write"]);
        repository.law(bumped.status == 0, "a tree gets its first versions", || bumped.said());
        let known = repository.errors(&[]);
        repository.law(known.is_empty() || !start.is_clean, "a new tree is clean", || {
            format!("{known:?}")
        });
        let mut life = Life { repository, tally: Tally::default(), known, release: 0, number: 0 };
        life.tag();
        life
    }

    fn against(&self) -> String {
        format!("git:r{}", self.release)
    }

    fn tag(&mut self) {
        self.repository.commit("work");
        self.repository.git(&["tag", &format!("r{}", self.release)]);
    }

    fn step(&mut self, dice: &mut Dice) {
        let against = self.against();
        match dice.roll(12) {
            0..=4 => {
                self.number += 1;
                self.repository.act(ACTS[dice.roll(ACTS.len())], self.number, dice);
            }
            5 | 6 => {
                self.repository.upgrade(dice);
                self.tally.upgrades += 1;
            }
            7 => self.try_release(dice),
            8 => {
                let files = self.repository.active_files();
                if let Some(file) = dice.pick(&files) {
                    self.repository.try_to_break(file, &against, dice);
                }
            }
            9 => self.repository.edit_candidate(dice),
            _ => {
                self.tally.merges += 1;
                match self.repository.merge(&self.known, &against, &mut self.number, dice) {
                    Merge::Done => {}
                    Merge::Conflict => self.tally.conflicts += 1,
                    Merge::Refused => self.tally.refused += 1,
                }
            }
        }
        self.repository.bump(&self.known, &against);
        if dice.once_in(3) {
            self.release += 1;
            self.repository.tell(format!("tag r{}", self.release));
            self.tag();
        }
    }

    /// A release makes no error, or changes nothing.
    fn try_release(&mut self, dice: &mut Dice) {
        let before = self.repository.files();
        let status = self.repository.write_lawfully("release", dice);
        self.tally.releases += usize::from(status == 0);
        let after = self.repository.files();
        if status == 1 {
            self.repository.law(before == after, "a refused release changes nothing", String::new);
        }
        let against = self.against();
        self.repository.expect_no_new_error(&self.known, &against);
    }
}
