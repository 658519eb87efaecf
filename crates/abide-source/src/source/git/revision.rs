//! The object that a revision names, and what to do if there is none.

use gix::bstr::ByteSlice;
use gix::{ObjectId, Repository};

use super::objects::{MissingObject, REPAIR};
use crate::printable::escape_unprintable;
use crate::source::failure::SourceError;
use crate::source::paths::strip_folder;

/// The object that a revision names, as in `git rev-parse`.
///
/// A name with several meanings is refused, where git warns and takes the tag: who may push a tag
/// need not be who may merge, and a tag with the name of a branch would turn a comparison off.
pub(super) fn resolve_revision(repo: &Repository, revision: &str) -> Result<ObjectId, SourceError> {
    let name = strip_suffixes(revision);
    let meanings = list_meanings(repo, name);
    if meanings.len() > 1 {
        return Err(SourceError::AmbiguousRevision { name: name.to_owned(), meanings });
    }
    // A full name is no short one of something else, such as the tag `refs/heads/main`.
    let is_named = !name.starts_with("refs/") || !meanings.is_empty();
    let parsed = (!revision.is_empty() && is_named).then(|| repo.rev_parse_single(revision).ok());
    let parsed = parsed.flatten().or_else(|| find_on_origin(repo, revision, &meanings));
    parsed.map(|id| id.detach()).ok_or_else(|| {
        let Absence { advice, until } = Absence::of(repo, revision);
        let revision = revision.to_owned();
        match until {
            Until::FirstCommit => SourceError::NoCommitYet { revision, advice },
            Until::SomeDay => SourceError::UnknownRevision { revision, advice, may_come: true },
            Until::Never => SourceError::UnknownRevision { revision, advice, may_come: false },
        }
    })
}

/// The branch of `origin` with a name that nothing local has: runners check out one commit, and know
/// the branches of their remote alone.
fn find_on_origin<'r>(
    repo: &'r Repository,
    revision: &str,
    meanings: &[String],
) -> Option<gix::Id<'r>> {
    let name = strip_suffixes(revision);
    let is_branch = !name.is_empty() && !matches!(name, "HEAD" | "@") && !name.starts_with("refs/");
    let full = format!("refs/remotes/origin/{name}");
    let exists = || repo.try_find_reference(full.as_str()).is_ok_and(|it| it.is_some());
    if !is_branch || !meanings.is_empty() || revision.contains("..") || !exists() {
        return None;
    }
    repo.rev_parse_single(format!("refs/remotes/origin/{revision}").as_str()).ok()
}

/// The name at the beginning of a revision: `main` of `main~3` and of `main@{1}`.
fn strip_suffixes(revision: &str) -> &str {
    let end = revision.find(['~', '^']).unwrap_or(revision.len());
    let end = revision.find("@{").map_or(end, |at| at.min(end));
    &revision[..end]
}

/// The references that a name may mean, by the rules of `git rev-parse` for short names; one that
/// is also a part of an object's id may mean that, too. Nobody can put anything before `HEAD`.
fn list_meanings(repo: &Repository, name: &str) -> Vec<String> {
    if name.is_empty() || name == "HEAD" || name == "@" {
        return Vec::new();
    }
    let exists = |full: &String| {
        let found = repo.try_find_reference(full.as_str()).ok().flatten();
        found.is_some_and(|it| it.name().as_bstr() == full.as_bytes().as_bstr())
    };
    if name.starts_with("refs/") {
        return [name.to_owned()].into_iter().filter(exists).collect();
    }
    let kinds = ["refs/", "refs/tags/", "refs/heads/", "refs/remotes/"];
    let mut names: Vec<String> = kinds.iter().map(|kind| format!("{kind}{name}")).collect();
    names.push(format!("refs/remotes/{name}/HEAD"));
    names.retain(exists);
    // `git describe` writes a part of the id behind `-g`.
    let id = name.rsplit_once("-g").map_or(name, |(_, id)| id);
    if !names.is_empty() && (4..40).contains(&id.len()) {
        let prefix = gix::hash::Prefix::from_hex(id).ok();
        let object = prefix.and_then(|it| repo.objects.lookup_prefix(it, None).ok()??.ok());
        let is_other = |id: &ObjectId| {
            let mut named = names.iter().filter_map(|it| repo.rev_parse_single(&**it).ok());
            !named.any(|it| {
                it == *id
                    || it.object().is_ok_and(|it| it.peel_to_commit().is_ok_and(|it| it.id == *id))
            })
        };
        names.extend(object.filter(is_other).map(|it| it.to_string()));
    }
    names
}

pub(super) fn resolve_commit(repo: &Repository, revision: &str) -> Result<ObjectId, SourceError> {
    let id = resolve_revision(repo, revision)?;
    repo.find_object(id).and_then(|object| Ok(object.peel_to_commit()?.id)).map_err(|_| {
        SourceError::UnknownRevision {
            revision: revision.to_owned(),
            advice: "it is not a commit, so it has no merge base: name a branch, a tag or a commit"
                .to_owned(),
            may_come: false,
        }
    })
}

/// The best common ancestor of two revisions, and the commit of the second.
pub(super) fn merge_base(
    repo: &Repository,
    revision: &str,
    with: &str,
) -> Result<(ObjectId, ObjectId), SourceError> {
    let (one, two) = (resolve_commit(repo, revision)?, resolve_commit(repo, with)?);
    match repo.merge_base(one, two) {
        Ok(Some(base)) => Ok((base.detach(), two)),
        found => Err(SourceError::NoMergeBase {
            revision: revision.to_owned(),
            with: with.to_owned(),
            advice: if is_shallow(repo) {
                "the history is shallow, run `git fetch --unshallow`".to_owned()
            } else if found.is_err() {
                format!("commits between them are missing or damaged: {REPAIR}")
            } else {
                "their histories are unrelated, name the revision without `...`".to_owned()
            },
        }),
    }
}

/// A revision that is not there.
struct Absence {
    /// The reason and the remedy.
    advice: String,
    until: Until,
}

/// The event after which a missing revision will be there.
enum Until {
    /// With the first commit.
    FirstCommit,
    /// One day, such as the tag of the first release.
    SomeDay,
    Never,
}

impl Absence {
    fn of(repo: &Repository, revision: &str) -> Self {
        let never = |advice: &str| Self { advice: advice.to_owned(), until: Until::Never };
        let not_yet = |advice: &str| Self { advice: advice.to_owned(), until: Until::SomeDay };
        let first = |advice: &str| Self { advice: advice.to_owned(), until: Until::FirstCommit };
        if revision.is_empty() {
            return never("write one after `git:`, such as `git:main`");
        }
        if revision.contains("..") {
            return never("it is a range: name one revision, or `REV...` for the merge base");
        }
        let storage = repo.config_snapshot().string("extensions.refStorage");
        if storage.is_some_and(|it| it.eq_ignore_ascii_case(b"reftable")) {
            return never(
                "the repository stores its references in a reftable, which is not supported: run \
                 `git refs migrate --ref-format=files`",
            );
        }
        if is_unborn(repo) {
            return first("the repository has no commit yet: make the first one");
        }
        // `main~3` needs `main` first, and then enough history.
        let name = &revision[..revision.find(['~', '^', '@', '{']).unwrap_or(revision.len())];
        let named = repo.rev_parse_single(if name.is_empty() { "HEAD" } else { name }).ok();
        if name != revision && (name.is_empty() || named.is_some()) {
            let is_first = named
                .and_then(|id| id.object().ok()?.peel_to_commit().ok())
                .is_some_and(|commit| commit.parent_ids().next().is_none());
            return match is_shallow(repo) {
                true => never("the history is shallow, run `git fetch --unshallow`"),
                false if is_first => not_yet(&format!(
                    "the history does not reach that far back: `{name}` is the first commit"
                )),
                false => not_yet("the history does not reach that far back"),
            };
        }
        if name == "HEAD" {
            let head = repo.head().ok().and_then(|it| it.id());
            if let Some(id) = head {
                return never(&MissingObject::commit(id.detach()).to_string());
            }
            return first("the current branch has no commit yet");
        }
        let is_hex = name.len() >= 4 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        // As git tells the hooks that run before a push is accepted.
        if is_hex && std::env::var_os("GIT_QUARANTINE_PATH").is_some() {
            return never(&format!(
                "git keeps the commits of a push apart until it is accepted: run `git archive \
                 --output=new.tar {name}` and name `new.tar`"
            ));
        }
        let advice = fetch_advice(repo, name, is_hex);
        Self { advice, until: if is_hex { Until::Never } else { Until::SomeDay } }
    }
}

/// A history of which nothing is known is not called shallow.
fn is_shallow(repo: &Repository) -> bool {
    repo.is_shallow().unwrap_or(false)
}

/// Returns true if nothing was ever committed or fetched.
fn is_unborn(repo: &Repository) -> bool {
    repo.head().is_ok_and(|head| head.is_unborn())
        && repo.references().is_ok_and(|all| all.all().is_ok_and(|mut all| all.next().is_none()))
}

/// The command to run to fetch what a name means, or to find out what was meant.
fn fetch_advice(repo: &Repository, name: &str, is_hex: bool) -> String {
    let is_version =
        name.strip_prefix('v').unwrap_or(name).starts_with(|it: char| it.is_ascii_digit());
    let tag = name.strip_prefix("refs/tags/").or((is_version && !is_hex).then_some(name));
    let remotes = repo.remote_names();
    let Some(remote) = remotes
        .iter()
        .map(|name| name.to_str_lossy())
        .find(|remote| remote == "origin")
        .or_else(|| remotes.iter().next().map(|name| name.to_str_lossy()))
    else {
        let current = repo.head_name().ok().flatten();
        return match (tag, current) {
            (Some(_), _) => "there is no such tag, `git tag` lists those that exist".to_owned(),
            (None, Some(branch)) if !is_hex => format!(
                "check its spelling with `git branch --all` and `git tag` (the current branch is \
                 `{}`)",
                escape_unprintable(&branch.shorten().to_str_lossy())
            ),
            _ => "check its spelling with `git branch --all` and `git tag`".to_owned(),
        };
    };
    let of_remote = remotes.iter().find_map(|remote| {
        let remote = remote.to_str().ok()?;
        let name = name.strip_prefix("refs/remotes/").unwrap_or(name);
        Some((remote, strip_folder(name, remote)?))
    });
    if let Some((remote, branch)) = of_remote {
        format!("run `git fetch {remote} {branch}:refs/remotes/{remote}/{branch}`")
    } else if is_hex && name.len() == 40 {
        format!("run `git fetch {remote} {name}`")
    } else if is_hex {
        match is_shallow(repo) {
            true => format!("run `git fetch --unshallow {remote}`"),
            false => format!("run `git fetch {remote}`"),
        }
    } else if let Some(tag) = tag {
        format!("if `{remote}` has this tag, run `git fetch {remote} tag {tag}`")
    } else if let Some(branch) = name.strip_prefix("refs/heads/") {
        format!("run `git fetch {remote} {branch}:{branch}`")
    } else {
        format!(
            "run `git fetch {remote} {name}:{name}`, or for a tag `git fetch {remote} tag {name}`"
        )
    }
}
