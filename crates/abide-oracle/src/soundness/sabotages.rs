//! Laws of lives are seen to fail: each is broken by a binary that lies in one way.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::panic::{self, catch_unwind};
use std::path::Path;

use abide_harness::Result;
use abide_harness::programs::{self, workspace};
use tempfile::TempDir;

use super::laws::report;
use super::run_in_parallel;
use super::version_lives::{Programs, live};

/// How a law is broken.
struct Sabotage {
    law: &'static str,
    /// What a shell does before the real command runs.
    before: &'static str,
    /// What it does afterwards; `status` is what the command ended with.
    after: &'static str,
}

const fn lie(law: &'static str, before: &'static str, after: &'static str) -> Sabotage {
    Sabotage { law, before, after }
}

const SABOTAGES: [Sabotage; 24] = [
    lie("no command crashes", "", "is upgrade && status=101"),
    lie("no command is refused as wrong", "", "is upgrade && status=2"),
    lie("a tree gets its first versions", "", "is bump && status=1"),
    lie("a new tree is clean", "", "is check && report lie T0"),
    lie("what commands make has no error", "", "is check && was checked && report lie T0"),
    lie("looking changes nothing", "", "has --diff && damage_lock"),
    lie("a patch makes what --write makes", "has --diff && exec >/dev/null", ""),
    lie("a second --write changes nothing", "", "is upgrade && has --write && damage_lock"),
    lie("--check is content after --write", "", "is upgrade && has --check && status=1"),
    lie("the lock forgets nothing", "", "is bump && was bumped && sed -i '/^field/d' abide.lock"),
    lie(
        "no version falls",
        "",
        "is bump && was bumped && sed -i -E 's/^(package [^ ]+) 1[^ ]+/\\1 0.1.0/' abide.lock",
    ),
    lie("an upgrade leaves every source alone", "", "is upgrade && has --write && mark_sources"),
    lie("lawful work gets a version", "", "is bump && was bumped && status=1"),
    lie("a second bump changes nothing", "", "is bump && has --write && damage_lock"),
    lie("what is recorded is found", "", "is bump && has --check && status=1"),
    lie(
        "check is content with versions",
        "",
        "is check && was checked && report version-not-bumped T0",
    ),
    lie("a removal is an error", "is check && exec >/dev/null", "is check && status=0"),
    lie("a break gets no version", "", "is bump && status=0"),
    lie(
        "what is undone is as before",
        "",
        "is check && was checked && report candidate-edited T$$",
    ),
    lie("an edit of a candidate is kept", "is upgrade && has --write && drop_edits", ""),
    lie("an edit of a candidate is named", "is upgrade && exec 2>/dev/null", ""),
    lie(
        "a refused release changes nothing",
        "",
        "is release && has --write && [ $status = 1 ] && ! grep -q '# lie' abide.lock && damage_lock",
    ),
    lie("a deprecation is written or refused", "is deprecate && exit 0", ""),
    lie(
        "a merge loses no line of the lock",
        "",
        "is bump && is_merged && sed -i '/^field/d' abide.lock",
    ),
];

/// What sabotages are written in.
const SHELL: &str = r##"#!/bin/sh
command=$1 all="$*"
is() { [ "$command" = "$1" ]; }
has() { case "$all" in *"$1"*) return 0 ;; esac; return 1; }
was() { [ -e ".git/$1" ] || { touch ".git/$1"; return 1; }; }
is_merged() { [ -e .git/MERGE_HEAD ] || git rev-parse --quiet --verify HEAD^2 >/dev/null; }
damage_lock() { echo "# lie" >>abide.lock; }
drop_edits() { grep -rl ByHand proto | xargs -r sed -i '/ByHand/d'; }
mark_sources() {
  for file in $(grep -rlE '^package [a-z.]+[.]v[13];' proto); do
    grep -q '^// Lie' "$file" || echo '// Lie' >>"$file"
  done
}
report() { echo "{\"severity\":\"error\",\"rule\":\"$1\",\"element\":\"$2\"}"; }
"##;

/// Breaks every law in at most this many lives; true if each is seen to fail.
pub(crate) fn try_sabotages(lives: u64, seed: u64, abide: Option<&Path>) -> Result<bool> {
    if lives == 0 {
        return Ok(true);
    }
    let abide = programs::abide(abide)?;
    let api = workspace()?.join("api");
    let folder = TempDir::new()?;
    let mut liars = Vec::new();
    for (number, Sabotage { law, before, after }) in SABOTAGES.iter().enumerate() {
        let liar = folder.path().join(format!("abide-{number}"));
        let real = abide.display();
        let text = format!("{SHELL}{before}\n'{real}' \"$@\"\nstatus=$?\n{after}\nexit $status\n");
        fs::write(&liar, text)?;
        fs::set_permissions(&liar, Permissions::from_mode(0o755))?;
        liars.push((*law, Programs { abide: liar, api: api.clone() }));
    }
    // What a violation says is expected here, and long.
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let failures = run_in_parallel(liars.len() as u64, |number| {
        let (law, programs) = &liars[number as usize];
        find_unseen(law, programs, (lives, seed))
    });
    panic::set_hook(hook);
    let failures = failures?;
    let what = format!("laws of lives broken by a binary that lies, within {lives} lives");
    Ok(report("sabotages", seed, liars.len() as u64, &what, &failures))
}

/// Lives with a liar until its law is seen to fail. Returns what to say if it never is.
fn find_unseen(law: &str, programs: &Programs, (lives, seed): (u64, u64)) -> Option<String> {
    let wanted = format!("VIOLATED: {law}\n");
    for id in 0..lives {
        let life = seed.wrapping_mul(1 << 32) ^ id;
        let Err(why) = catch_unwind(|| live(programs, None, life)) else { continue };
        let said = why.downcast::<String>().map_or_else(|_| String::new(), |it| *it);
        if said.contains(&wanted) {
            return None;
        }
    }
    Some(format!("`{law}` was never seen to fail"))
}
