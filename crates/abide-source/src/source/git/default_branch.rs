//! The branch that work is merged into.

use std::path::Path;

use super::repository::discover;

/// The old side that a comparison has by default.
pub enum DefaultBranch {
    /// There is no repository around the folder.
    NoRepository,
    /// There is one, but nothing says which branch it is, or nothing was committed yet.
    Unknown,
    /// The name of a revision, such as `main` or `origin/main`.
    Named(String),
}

/// The default branch of the repository around a folder: what `origin/HEAD` names, else `main`,
/// `master`, or the only branch.
pub fn default_branch(folder: &Path) -> DefaultBranch {
    let Ok(repository) = discover(folder) else { return DefaultBranch::NoRepository };
    let repository = repository.to_thread_local();
    let exists = |name: &str| matches!(repository.try_find_reference(name), Ok(Some(_)));
    let remote = repository.try_find_reference("refs/remotes/origin/HEAD").ok().flatten();
    let target = remote.and_then(|it| {
        let name = it.target().try_name()?.as_bstr().to_string();
        name.strip_prefix("refs/remotes/origin/").map(str::to_owned)
    });
    let usual = || ["main", "master"].into_iter().map(str::to_owned);
    let only = || {
        let references = repository.references().ok()?;
        let mut branches = references.local_branches().ok()?.filter_map(Result::ok);
        let only = branches.next()?.name().shorten().to_string();
        branches.next().is_none().then_some(only)
    };
    let local = |name: &String| exists(&format!("refs/heads/{name}"));
    let on_remote = |name: &String| exists(&format!("refs/remotes/origin/{name}"));
    let found = target
        .into_iter()
        .chain(usual())
        .find_map(|name| match () {
            () if local(&name) => Some(name),
            () if on_remote(&name) => Some(format!("origin/{name}")),
            () => None,
        })
        .or_else(only);
    found.map_or(DefaultBranch::Unknown, DefaultBranch::Named)
}

/// With fewer commits than these, there is no history to speak of.
const LONG: usize = 20;

/// Returns true if the branch that is checked out has many commits.
pub fn has_long_history(folder: &Path) -> bool {
    let Ok(repository) = discover(folder) else { return false };
    let repository = repository.to_thread_local();
    let Ok(head) = repository.head_id() else { return false };
    let walk = head.ancestors().first_parent_only().all();
    walk.is_ok_and(|walk| walk.filter_map(Result::ok).nth(LONG - 1).is_some())
}
