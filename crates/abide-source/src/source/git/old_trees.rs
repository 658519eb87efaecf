//! Several old trees to compare with: which ones they are, and which is the newest.

use std::path::Path;

use gix::Repository;
use semver::Version;

use super::repository::discover;
use super::revision::{merge_base, resolve_revision};
use super::timeline::read_date;
use super::version_tags::{find_version, names_several, resolve_tags};
use crate::source::spec::split_subdir;

/// An old tree, with what says how old it is.
struct OldTreeSpec {
    spec: String,
    /// The version of its tag.
    version: Option<Version>,
    /// The time of its commit, in seconds.
    committed: Option<i64>,
}

/// Lists the old trees that these sources name, each of them once: one for each tag of
/// `git:every(…)`. A single source stays as it is written.
///
/// The newest comes last: they are in the order of their versions if all of them are tags with a
/// version, else in the order of their commits if all of them are revisions, else as they are named.
/// A source that cannot be resolved stays as it is, so that opening it says why.
pub fn list_old_trees(specs: &[&str], base: &Path) -> Vec<String> {
    let may_be_many = specs.iter().any(|it| names_several(split_revision(it).0));
    if specs.len() < 2 && !may_be_many {
        return specs.iter().map(|it| (*it).to_owned()).collect();
    }
    let repository = discover(base).ok().map(|it| it.to_thread_local());
    let mut trees: Vec<OldTreeSpec> = Vec::new();
    for tree in specs.iter().flat_map(|spec| expand(repository.as_ref(), spec)) {
        if !trees.iter().any(|known| known.spec == tree.spec) {
            trees.push(tree);
        }
    }
    if trees.iter().all(|it| it.version.is_some()) {
        trees.sort_by(|a, b| a.version.cmp(&b.version));
    } else if trees.iter().all(|it| it.committed.is_some()) {
        trees.sort_by_key(|it| it.committed);
    }
    trees.into_iter().map(|it| it.spec).collect()
}

/// The revision that a source names and its SUBDIR; an empty revision if it is none of git.
fn split_revision(spec: &str) -> (&str, Option<&str>) {
    spec.strip_prefix("git:").map_or(("", None), split_subdir)
}

/// The trees that one source names.
fn expand(repo: Option<&Repository>, spec: &str) -> Vec<OldTreeSpec> {
    let alone =
        |version, committed| vec![OldTreeSpec { spec: spec.to_owned(), version, committed }];
    let (revision, subdir) = split_revision(spec);
    let Some(repo) = repo.filter(|_| !revision.is_empty()) else { return alone(None, None) };
    match resolve_tags(repo, revision) {
        Ok(Some(tags)) => {
            let tree = |(version, tag): (Version, String)| OldTreeSpec {
                committed: find_commit_time(repo, &format!("refs/tags/{tag}")),
                spec: format!("git:{tag}{}", subdir.map(|it| format!(":{it}")).unwrap_or_default()),
                version: Some(version),
            };
            tags.into_iter().map(tree).collect()
        }
        Ok(None) => alone(find_version(repo, revision), find_commit_time(repo, revision)),
        Err(_) => alone(None, None),
    }
}

/// The time of the commit that a revision names, or the merge base with `HEAD` for `REV...`.
fn find_commit_time(repo: &Repository, revision: &str) -> Option<i64> {
    let commit = match revision.strip_suffix("...") {
        Some(revision) => merge_base(repo, revision, "HEAD").ok()?.0,
        None => resolve_revision(repo, revision).ok()?,
    };
    let commit = repo.find_object(commit).ok()?.peel_to_commit().ok()?;
    read_date(&commit.data)
}
