//! The laws of each command.

use std::collections::BTreeSet;

use super::dice::Dice;
use super::edits::ActiveFile;
use super::lock::{list_memory, list_versions};
use super::repository::{Files, Repository};
use super::text::{list_statements, replace_line};

/// The rules about what the next `abide bump` and `abide upgrade` do.
const OPEN_WORK: [&str; 3] = ["version-not-bumped", "candidate-edited", "deprecated-type-in-use"];

/// The errors of a tree: rule and element.
pub(super) type Errors = BTreeSet<(String, String)>;

impl Repository {
    /// No error appears but those about open work.
    #[track_caller]
    pub(super) fn expect_no_new_error(&mut self, known: &Errors, against: &str) {
        let found = self.errors(&["--against", against]);
        self.expect_only(&found, known);
    }

    #[track_caller]
    fn expect_only(&mut self, found: &Errors, known: &Errors) {
        let new: Vec<_> = found
            .difference(known)
            .filter(|(rule, _)| !OPEN_WORK.contains(&rule.as_str()))
            .cloned()
            .collect();
        self.law(new.is_empty(), "what commands make has no error", || format!("{new:?}"));
    }

    /// Runs a command that has `--write`, `--diff` and `--check`. Returns its status.
    #[track_caller]
    pub(super) fn write_lawfully(&mut self, command: &str, dice: &mut Dice) -> i32 {
        let before = self.files();
        let patch = dice.once_in(3).then(|| self.abide(&[command, "--diff"]));
        if dice.once_in(3) {
            self.abide(&[command, "--check"]);
        }
        let looked = self.files();
        self.law(looked == before, "looking changes nothing", || command.to_owned());
        let ran = self.abide(&[command, "--write"]);
        self.tell(format!("{command}: {}", ran.said().trim()));
        let made = self.files();
        if let Some(patch) = patch.filter(|_| ran.status == 0) {
            self.restore(&before);
            self.write(".patch", &patch.stdout);
            let applied =
                patch.stdout.is_empty() || self.try_git(&["apply", "--allow-empty", ".patch"]).0;
            let _ = std::fs::remove_file(self.path().join(".patch"));
            let patched = self.protos();
            let mut wanted = made.clone();
            wanted.remove("abide.lock");
            self.law(applied && patched == wanted, "a patch makes what --write makes", || {
                format!("{command}: applied {applied}: {}", differ(&patched, &wanted))
            });
            self.restore(&made);
        }
        let again = self.abide(&[command, "--write"]);
        let twice = self.files();
        self.law(
            twice == made && again.status == ran.status,
            "a second --write changes nothing",
            || {
                format!(
                    "{command}: {} then {}\n{}",
                    ran.status,
                    again.said(),
                    differ(&made, &twice)
                )
            },
        );
        if ran.status == 0 {
            let checked = self.abide(&[command, "--check"]);
            self.law(checked.status == 0, "--check is content after --write", || {
                format!("{command}: {}", checked.said())
            });
        }
        self.keep_memory(&before, &made);
        ran.status
    }

    /// Nothing that the lock remembers is forgotten, and no version falls.
    #[track_caller]
    pub(super) fn keep_memory(&mut self, before: &Files, after: &Files) {
        let lock = |files: &Files| files.get("abide.lock").cloned().unwrap_or_default();
        let (old, new) = (lock(before), lock(after));
        let kept = list_memory(&new);
        let lost: Vec<String> = list_memory(&old).difference(&kept).cloned().collect();
        self.law(lost.is_empty(), "the lock forgets nothing", || format!("{lost:?}"));
        let now = list_versions(&new);
        for (package, version) in list_versions(&old) {
            let falls = now.get(&package).is_some_and(|it| *it < version);
            self.law(!falls, "no version falls", || format!("{package}: {version:?} {now:?}"));
        }
    }

    /// Upgrades. Files that people write stay as they are.
    #[track_caller]
    pub(super) fn upgrade(&mut self, dice: &mut Dice) -> i32 {
        let sources = self.sources();
        let status = self.write_lawfully("upgrade", dice);
        let after = self.sources();
        self.law(sources == after, "an upgrade leaves every source alone", || {
            differ(&sources, &after)
        });
        status
    }

    /// The protos that are no candidates.
    fn sources(&self) -> Files {
        let is_made = |text: &str| {
            text.contains("DO NOT EDIT") || text.contains("NEXT_MAJOR_VERSION_CANDIDATE")
        };
        self.protos().into_iter().filter(|(_, text)| !is_made(text)).collect()
    }

    /// Records versions against the last release, in one step. No error is left.
    #[track_caller]
    pub(super) fn bump(&mut self, known: &Errors, against: &str) {
        let before = self.files();
        let ran = self.abide(&["bump", "--write", "--against", against]);
        self.law(ran.status == 0, "lawful work gets a version", || ran.said());
        let made = self.files();
        self.keep_memory(&before, &made);
        if before != made {
            let again = self.abide(&["bump", "--write", "--against", against]);
            let twice = self.files();
            self.law(again.status == 0 && made == twice, "a second bump changes nothing", || {
                format!("{}{}", again.said(), differ(&made, &twice))
            });
        }
        let checked = self.abide(&["bump", "--check", "--against", against]);
        self.law(checked.status == 0, "what is recorded is found", || checked.said());
        let found = self.errors(&["--against", against]);
        let unrecorded: Vec<_> = found.iter().filter(|it| it.0 == "version-not-bumped").collect();
        self.law(unrecorded.is_empty(), "check is content with versions", || {
            format!("{unrecorded:?}")
        });
        self.expect_only(&found, known);
    }

    /// Removing what the last release had is an error and gets no version; undone, it is as before.
    #[track_caller]
    pub(super) fn try_to_break(&mut self, file: &ActiveFile, against: &str, dice: &mut Dice) {
        let released = self.try_git(&["show", &format!("{}:{}", &against[4..], file.path)]);
        if !released.0 || file.text.contains("work_in_progress") {
            return;
        }
        let kept: Vec<String> =
            list_statements(&released.1).into_iter().map(|it| it.name).collect();
        let mut there = list_statements(&file.text);
        there.retain(|it| it.is_plain && !it.is_value && kept.contains(&it.name));
        let Some(chosen) = dice.pick(&there) else { return };
        let (files, known) = (self.files(), self.errors(&["--against", against]));
        self.tell(format!("{}: `{}` is removed", file.path, chosen.name));
        self.write(&file.path, &replace_line(&file.text, chosen.line, |_| String::new()));
        let found = self.errors(&["--against", against]);
        let is_found = found.difference(&known).any(|it| !OPEN_WORK.contains(&it.0.as_str()));
        self.law(is_found, "a removal is an error", || format!("{found:?}"));
        let bumped = self.abide(&["bump", "--write", "--against", against]);
        self.law(bumped.status == 1, "a break gets no version", || bumped.said());
        self.restore(&files);
        let undone = self.errors(&["--against", against]);
        self.law(undone == known, "what is undone is as before", || {
            format!("{known:?} {undone:?}")
        });
        self.tell("which is undone");
    }

    /// What a person wrote into a candidate is never lost.
    #[track_caller]
    pub(super) fn edit_candidate(&mut self, dice: &mut Dice) {
        let candidates: Vec<(String, String)> = self
            .protos()
            .into_iter()
            .filter(|(_, text)| text.starts_with("// Code generated by abide upgrade"))
            .collect();
        let Some((path, text)) = dice.pick(&candidates) else { return };
        let files = self.files();
        self.tell(format!("{path} is edited by hand"));
        let edited = format!("{text}\nmessage ByHand {{\n  string id = 1;\n}}\n");
        self.write(path, &edited);
        for command in ["upgrade", "release"] {
            let ran = self.abide(&[command, "--write"]);
            let kept = self.read(path) == edited;
            self.law(kept && ran.status == 1, "an edit of a candidate is kept", || ran.said());
            let name = path.strip_prefix("proto/").unwrap_or(path);
            let is_named = command == "release" || ran.stderr.contains(name);
            self.law(is_named, "an edit of a candidate is named", || ran.said());
            self.restore(&files);
            self.write(path, &edited);
        }
        self.restore(&files);
    }
}

/// The paths at which two trees differ, with a text of one of them.
pub(super) fn differ(left: &Files, right: &Files) -> String {
    let all: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    let differing: Vec<&String> =
        all.into_iter().filter(|it| left.get(*it) != right.get(*it)).collect();
    let first = differing.first().map(|it| (left.get(*it), right.get(*it)));
    format!("{differing:?}\n{first:#?}")
}
