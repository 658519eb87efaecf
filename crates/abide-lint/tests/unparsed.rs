//! Nothing is concluded from a file that does not parse.
//!
//! `DAMAGES` sets how many damages are tried, `SEED` which.

#![allow(clippy::disallowed_methods, reason = "the test reads its own fixtures")]

mod damage;

use std::path::Path;

use damage::Damages;
use fastrand::Rng;

#[test]
fn damage_of_one_file_accuses_no_other() {
    let number = |name: &str| std::env::var(name).ok().and_then(|it| it.parse::<u64>().ok());
    let (count, seed) = (number("DAMAGES").unwrap_or(2_000), number("SEED").unwrap_or(1));
    let damages = Damages::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata"));
    let mut rng = Rng::with_seed(seed);
    let outcomes: Vec<Result<bool, String>> =
        (0..count).map(|_| damages.try_one(&mut rng)).collect();
    let tried = outcomes.iter().filter(|it| it.as_ref().is_ok_and(|parses| !parses)).count();
    let wrong: String = outcomes.iter().filter_map(|it| it.as_ref().err().cloned()).collect();
    assert!(wrong.is_empty(), "SEED={seed}\n{wrong}");
    assert!(tried as u64 * 3 > count, "{tried} of {count} damages broke a file");
}
