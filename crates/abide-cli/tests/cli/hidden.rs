//! Tricks that try to hide a change, each with its right end: `testdata/hidden/tricks.txt`.
//! `SNAPSHOTS=overwrite` writes what Abide says today into the table.

use std::collections::BTreeSet;
use std::path::Path;

use crate::hiding::{Trick, make_repository, read_tricks, write_tricks};
use crate::run::{Ran, abide};

/// The exit status, and the rules that report errors.
fn judge(folder: &Path, args: &[&str]) -> String {
    let ran = abide(folder, &[&["check", "--format", "json"], args].concat());
    let rules = find_failing_rules(&ran);
    format!("{} {rules}", ran.status).trim_end().to_owned()
}

fn find_failing_rules(ran: &Ran) -> String {
    // Beside an error of the whole run, findings are of what could be read.
    if ran.status == 2 {
        return String::new();
    }
    let errors = ran.json().into_iter().filter(|it| it["severity"] == "error");
    let rules: BTreeSet<String> =
        errors.filter_map(|it| it["rule"].as_str().map(str::to_owned)).collect();
    Vec::from_iter(rules).join(" ")
}

/// Plays a trick. Returns what Abide says of it, and what it says with `--changed`.
fn judge_trick(trick: &Trick, repository: &Path) -> [String; 2] {
    let folder = trick.play(repository, env!("CARGO_BIN_EXE_abide").as_ref());
    let folder = folder.path().join("repository");
    [&["--against", "git:main"][..], &["--against", "git:main", "--changed"]]
        .map(|args| judge(&folder, args))
}

/// Judges all tricks, several at once.
fn judge_all(tricks: &[Trick]) -> Vec<[String; 2]> {
    let repository = make_repository();
    let repository = repository.path();
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let shares = tricks.chunks(tricks.len().div_ceil(workers));
        let threads: Vec<_> = shares
            .map(|share| {
                scope.spawn(|| share.iter().map(|it| judge_trick(it, repository)).collect())
            })
            .collect();
        threads.into_iter().flat_map(|it| -> Vec<_> { it.join().expect("no panic") }).collect()
    })
}

#[test]
fn no_trick_hides_a_change() {
    let mut tricks = read_tricks();
    assert!(tricks.len() >= 143, "only {} tricks", tricks.len());
    let found = judge_all(&tricks);
    let mut wrong = Vec::new();
    for (trick, [whole, changed]) in tricks.iter_mut().zip(found) {
        if whole != trick.abide || changed != trick.abide {
            wrong.push(format!("{}: {whole}, with --changed: {changed}", trick.name));
        }
        if whole.starts_with('0') == trick.why.is_empty() {
            wrong.push(format!("{}: a reason is there if and only if it passes", trick.name));
        }
        trick.abide = whole;
    }
    if std::env::var_os("SNAPSHOTS").is_some_and(|it| it == "overwrite") {
        write_tricks(&tricks);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
