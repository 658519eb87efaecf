//! The law of fixes over generated trees.

mod fixable;

use fixable::try_fixes;

/// How many trees are fixed; the soundness program tries more.
const TREES: u64 = 40;

#[test]
fn each_fix_stands_or_falls_by_itself() {
    let (mut fixed, mut refused) = (0, 0);
    for seed in 0..TREES {
        match try_fixes(&mut fastrand::Rng::with_seed(seed)) {
            Ok(tried) => (fixed, refused) = (fixed + tried.fixed, refused + tried.refused),
            Err(why) => panic!("seed {seed}: {why}"),
        }
    }
    assert!(fixed > 200 && refused > 40, "{fixed} fixed, {refused} refused: too few are a proof");
}
