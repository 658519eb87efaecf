//! Two branches that both changed, bumped, upgraded or released, and come together.

use super::dice::Dice;
use super::edits::ACTS;
use super::laws::Errors;
use super::lock::{list_frozen, list_memory};
use super::repository::Repository;

/// How two branches came together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Merge {
    /// Without a conflict, or with one that `abide bump --write` resolves.
    Done,
    /// Two people edited the same lines of a proto: they have to decide.
    Conflict,
    /// One side changed what the other froze, which is reported.
    Refused,
}

/// What a branch did.
struct Branch {
    lock: String,
    /// The packages that it changed.
    changed: Vec<String>,
    has_released: bool,
}

impl Repository {
    fn work_on_branch(
        &mut self,
        name: &str,
        (known, against): (&Errors, &str),
        number: &mut u32,
        dice: &mut Dice,
    ) -> Branch {
        self.tell(format!("-- branch {name}"));
        self.git(&["checkout", "--quiet", "-b", name, "base"]);
        let (mut changed, mut has_released) = (Vec::new(), false);
        for _ in 0..1 + dice.roll(2) {
            *number += 1;
            changed.extend(self.act(ACTS[dice.roll(ACTS.len())], *number, dice));
            self.bump(known, against);
        }
        if dice.once_in(2) && self.upgrade(dice) == 0 && dice.once_in(3) {
            has_released = self.write_lawfully("release", dice) == 0;
        }
        self.bump(known, against);
        self.commit(name);
        Branch { lock: self.read("abide.lock"), changed, has_released }
    }

    /// Two branches begin here, and are merged.
    pub(super) fn merge(
        &mut self,
        known: &Errors,
        against: &str,
        number: &mut u32,
        dice: &mut Dice,
    ) -> Merge {
        self.commit("base");
        self.git(&["branch", "--force", "base"]);
        let one = self.work_on_branch("one", (known, against), number, dice);
        let two = self.work_on_branch("two", (known, against), number, dice);
        self.tell("-- they are merged");
        let before = self.git(&["rev-parse", "HEAD"]);
        let (is_clean, said) = self.try_git(&["merge", "--quiet", "--no-edit", "one"]);
        self.tell(format!("git: {}", said.trim()));
        let outcome = self.resolve(is_clean, (&one, &two), known, against, dice);
        if outcome != Merge::Done {
            self.git(&["reset", "--quiet", "--hard", before.trim()]);
            self.git(&["clean", "--quiet", "-fd"]);
        }
        self.commit("merged");
        self.git(&["checkout", "--quiet", "-B", "main"]);
        self.git(&["branch", "--quiet", "-D", "one", "two"]);
        self.tell(format!("-- {outcome:?}"));
        outcome
    }

    fn resolve(
        &mut self,
        is_clean: bool,
        (one, two): (&Branch, &Branch),
        known: &Errors,
        against: &str,
        dice: &mut Dice,
    ) -> Merge {
        if !is_clean && !self.settle_conflicts() {
            return Merge::Conflict;
        }
        let froze = |own: &Branch, other: &Branch| {
            let frozen = list_frozen(&own.lock);
            own.has_released && other.changed.iter().any(|it| frozen.contains(it))
        };
        if froze(one, two) || froze(two, one) || one.has_released || two.has_released {
            let before = self.files();
            let bumped = self.abide(&["bump", "--write", "--against", against]);
            let lock = self.read("abide.lock");
            self.expect_both(&lock, one, two);
            if bumped.status == 1 {
                self.restore(&before);
                return Merge::Refused;
            }
        }
        self.bump(known, against);
        let lock = self.read("abide.lock");
        self.expect_both(&lock, one, two);
        self.upgrade(dice);
        self.bump(known, against);
        Merge::Done
    }

    /// Resolves conflicts in what commands write. Returns false if people have to.
    fn settle_conflicts(&mut self) -> bool {
        let conflicts = self.git(&["diff", "--name-only", "--diff-filter=U"]);
        for path in conflicts.lines() {
            let text = self.read(path);
            let is_made = path == "abide.lock" || is_record_alone(&text);
            if !is_made {
                self.tell(format!("a conflict in {path}"));
                return false;
            }
        }
        true
    }

    /// No line of either side is lost. Of two that froze a package, each as it was there, one stays.
    #[track_caller]
    fn expect_both(&mut self, lock: &str, one: &Branch, two: &Branch) {
        let kept = list_memory(lock);
        let [one, two] = [one, two].map(|it| list_memory(&it.lock));
        for (side, other) in [(&one, &two), (&two, &one)] {
            let is_frozen_by_both = |line: &String| {
                let package = line.strip_prefix("frozen ").and_then(|it| it.split(' ').next());
                let start = package.map(|it| format!("frozen {it} "));
                start.is_some_and(|it| other.intersection(&kept).any(|line| line.starts_with(&it)))
            };
            let lost: Vec<&String> =
                side.difference(&kept).filter(|it| !is_frozen_by_both(it)).collect();
            self.law(lost.is_empty(), "a merge loses no line of the lock", || {
                format!("{lost:?}\n{lock}")
            });
        }
    }
}

/// Returns true if every conflict of a proto is about a recorded version or hash.
fn is_record_alone(text: &str) -> bool {
    let mut inside = false;
    for line in text.lines() {
        match line.split(' ').next().unwrap_or_default() {
            "<<<<<<<" => inside = true,
            ">>>>>>>" => inside = false,
            "=======" => {}
            _ if inside => {
                let line = line.trim();
                let is_record =
                    ["version:", "hash:", "introduced:"].iter().any(|it| line.starts_with(it));
                if !is_record {
                    return false;
                }
            }
            _ => {}
        }
    }
    text.contains("<<<<<<<")
}
