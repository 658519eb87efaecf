//! Creates repositories with many commits at once, to test histories.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Result;
use crate::corpora;

/// The committer date of the first commit: 2023-11-14.
const BEGIN: u64 = 1_700_000_000;

/// A commit to make.
#[derive(Default)]
pub struct Commit {
    /// The subject of its message.
    pub subject: String,
    /// The files that it writes, with their texts; a file without a text is removed.
    pub files: Vec<(String, Option<Vec<u8>>)>,
    /// The commits of a branch that it merges, which start at the commit before it.
    pub side: Vec<Commit>,
}

/// Creates a repository with these commits in one line of first parents, hours apart, oldest first.
pub fn build_repository(name: &str, commits: &[Commit], hours: u64) -> Result<PathBuf> {
    let folder = corpora::make_fresh_folder(name)?;
    git(&folder, &["init", "--quiet"], &[])?;
    let mut stream: Vec<u8> = Vec::new();
    for (number, commit) in (0..).zip(commits) {
        let seconds = BEGIN + number * hours * 3600;
        for (at, side) in commit.side.iter().enumerate() {
            let from = if at == 0 { "from refs/heads/main\n" } else { "" };
            add(&mut stream, side, "side", seconds, from)?;
        }
        let merged = if commit.side.is_empty() { "" } else { "merge refs/heads/side\n" };
        add(&mut stream, commit, "main", seconds, merged)?;
    }
    git(&folder, &["fast-import", "--quiet"], &stream)?;
    git(&folder, &["symbolic-ref", "HEAD", "refs/heads/main"], &[])?;
    Ok(folder)
}

/// Adds a commit to a stream that git imports. `parents` are those besides the last of its branch.
fn add(
    stream: &mut Vec<u8>,
    commit: &Commit,
    branch: &str,
    seconds: u64,
    parents: &str,
) -> Result<()> {
    let mut head = String::new();
    writeln!(head, "commit refs/heads/{branch}\ncommitter A <a@example.com> {seconds} +0000")?;
    write!(head, "data {}\n{}\n{parents}", commit.subject.len(), commit.subject)?;
    stream.extend(head.as_bytes());
    for (path, text) in &commit.files {
        match text {
            Some(text) => {
                stream.extend(format!("M 100644 inline {path}\ndata {}\n", text.len()).bytes());
                stream.extend(text);
                stream.push(b'\n');
            }
            None => stream.extend(format!("D {path}\n").bytes()),
        }
    }
    Ok(())
}

/// Writes the files of the last commit to the folder.
pub fn check_out(folder: &Path) -> Result<()> {
    git(folder, &["reset", "--quiet", "--hard"], &[])
}

/// Packs a repository as clones have it: most objects are deltas of others.
pub fn pack(folder: &Path) -> Result<()> {
    git(folder, &["repack", "-q", "-a", "-d", "-f", "--depth=50", "--window=10"], &[])
}

fn git(folder: &Path, arguments: &[&str], input: &[u8]) -> Result<()> {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(folder).stdin(Stdio::piped());
    for variable in ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"] {
        command.env(variable, "/dev/null");
    }
    let mut child = command.spawn().map_err(|error| format!("cannot run `git`: {error}"))?;
    child.stdin.take().ok_or("the input is piped")?.write_all(input)?;
    if !child.wait()?.success() {
        return Err(format!("`git {}` failed", arguments.join(" ")).into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::stdout;

    #[test]
    fn a_branch_starts_at_the_commit_before_and_is_merged() {
        let commit = |subject: &str, path: &str, side: Vec<Commit>| Commit {
            subject: subject.to_owned(),
            files: vec![(path.to_owned(), Some(b"text".to_vec()))],
            side,
        };
        let side = vec![commit("beside", "c", Vec::new()), commit("again", "d", Vec::new())];
        let commits = [
            commit("first", "a", Vec::new()),
            commit("second", "b", Vec::new()),
            commit("merge", "e", side),
        ];
        let folder = build_repository("test-merge", &commits, 1).unwrap();
        let mut log = Command::new("git");
        log.args(["log", "--topo-order", "--format=%s: %p"]).current_dir(&folder);
        let log = stdout(&mut log).unwrap();
        let lines: Vec<(&str, usize)> = log
            .lines()
            .filter_map(|line| line.split_once(": "))
            .map(|(subject, parents)| (subject, parents.split_whitespace().count()))
            .collect();
        assert_eq!(lines, [("merge", 2), ("again", 1), ("beside", 1), ("second", 1), ("first", 0)]);
    }
}
