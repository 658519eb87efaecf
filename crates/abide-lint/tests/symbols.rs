//! The law of generated code over generated trees.

mod lost_symbols;
mod schemas;

use lost_symbols::try_symbols;

/// How many pairs of trees are compared; the soundness program compares more.
const PAIRS: u64 = 300;

#[test]
fn what_generated_code_loses_is_found() {
    let mut losing = 0;
    for seed in 0..PAIRS {
        match try_symbols(&mut fastrand::Rng::with_seed(seed)) {
            Ok(languages) => losing += languages,
            Err(why) => panic!("seed {seed}: {why}"),
        }
    }
    assert!(losing > 150, "{losing}: too few are a proof");
}
