//! Laws about what is written and what is found, on more generated files than the tests have time for.

use std::sync::atomic::{AtomicUsize, Ordering};

use abide_harness::Result;
use abide_harness::programs::workspace;
use fastrand::Rng;

use self::damage::Damages;
use self::fixable::try_fixes as fix_tree;
use self::lost_symbols::try_symbols as compare_symbols;
use self::placements::{Layout, placed, violation};
use super::{run_in_parallel, schemas};

#[path = "../../../abide-lint/tests/damage/mod.rs"]
mod damage;
#[path = "../../../abide-lint/tests/fixable/mod.rs"]
mod fixable;
#[path = "../../../abide-lint/tests/lost_symbols/mod.rs"]
mod lost_symbols;
#[path = "../../../abide-format/tests/placements/mod.rs"]
mod placements;

/// The layouts that must keep what a file says.
const LAYOUTS: [(&str, Layout); 2] = [
    ("format", |text| abide_format::format(text).ok()),
    ("candidates", abide_upgrade::format_canonically),
];

/// Lays out this many files with comments and options at any place; true if each says the same.
pub(crate) fn try_placements(count: u64, seed: u64) -> Result<bool> {
    let failures = run_in_parallel(count, |id| {
        let text = placed(&mut Rng::with_seed(seed ^ id.rotate_left(32)));
        LAYOUTS.into_iter().find_map(|(name, layout)| {
            let why = violation(&text, layout)?;
            Some(format!("{name}: {why}\nof\n{}", String::from_utf8_lossy(&text)))
        })
    })?;
    Ok(report("placements", seed, count, "files laid out twice", &failures))
}

/// Fixes this many trees; true if each fix stood or fell by itself.
pub(crate) fn try_fixes(count: u64, seed: u64) -> Result<bool> {
    let [fixed, refused] = [AtomicUsize::new(0), AtomicUsize::new(0)];
    let failures = run_in_parallel(count, |id| {
        let tried = match fix_tree(&mut Rng::with_seed(seed ^ id.rotate_left(32))) {
            Ok(tried) => tried,
            Err(why) => return Some(why),
        };
        fixed.fetch_add(tried.fixed, Ordering::Relaxed);
        refused.fetch_add(tried.refused, Ordering::Relaxed);
        None
    })?;
    let [fixed, refused] = [fixed, refused].map(AtomicUsize::into_inner);
    let what = format!("trees with {fixed} findings fixed and {refused} fixes refused");
    Ok(report("fixes", seed, count, &what, &failures))
}

/// Damages this many files; true if each was called what it is, and nothing else was accused.
pub(crate) fn try_damages(count: u64, seed: u64) -> Result<bool> {
    let damages = Damages::read(&workspace()?.join("testdata"));
    let broken = AtomicUsize::new(0);
    let failures = run_in_parallel(count, |id| {
        let parses = match damages.try_one(&mut Rng::with_seed(seed ^ id.rotate_left(32))) {
            Ok(parses) => parses,
            Err(why) => return Some(why),
        };
        broken.fetch_add(usize::from(!parses), Ordering::Relaxed);
        None
    })?;
    let what = format!("damages of which {} broke a file", broken.into_inner());
    Ok(report("damages", seed, count, &what, &failures))
}

/// Compares this many pairs of trees; true if what generated code loses was always found.
pub(crate) fn try_symbols(count: u64, seed: u64) -> Result<bool> {
    let losing = AtomicUsize::new(0);
    let failures = run_in_parallel(count, |id| {
        match compare_symbols(&mut Rng::with_seed(seed ^ id.rotate_left(32))) {
            Ok(languages) => {
                losing.fetch_add(languages, Ordering::Relaxed);
                None
            }
            Err(why) => Some(why),
        }
    })?;
    let what = format!("pairs with {} losses in a language", losing.into_inner());
    Ok(report("symbols", seed, count, &what, &failures))
}

pub(super) fn report(part: &str, seed: u64, count: u64, what: &str, failures: &[String]) -> bool {
    for failure in failures.iter().take(5) {
        println!("{failure}");
    }
    println!("soundness: {part}: seed {seed}, {count} {what}: {} failures", failures.len());
    failures.is_empty()
}
