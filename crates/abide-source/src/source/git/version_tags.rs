//! Tags chosen by their versions: `newest(v*)` and `every(v1.*)`.

use abide_schema::Glob;
use gix::Repository;
use semver::Version;

use crate::printable::escape_unprintable;
use crate::source::failure::SourceError;

/// The number of tags that are named where none matches.
const MOST_NAMED: usize = 10;

/// A choice of tags by their versions.
#[derive(Clone, Copy)]
enum TagChoice<'a> {
    /// `newest(PATTERN)`: the one with the highest version.
    Newest(&'a str),
    /// `every(PATTERN)`: all of them.
    Every(&'a str),
}

impl TagChoice<'_> {
    /// Reads a revision; `None` if it names no tags by their versions.
    fn parse(revision: &str) -> Option<TagChoice<'_>> {
        let inside = |name: &str| revision.strip_prefix(name)?.strip_suffix(')');
        inside("newest(").map(TagChoice::Newest).or_else(|| inside("every(").map(TagChoice::Every))
    }
}

/// Returns true if a revision may name more than one tag.
pub(super) fn names_several(revision: &str) -> bool {
    matches!(TagChoice::parse(revision), Some(TagChoice::Every(_)))
}

/// Resolves a choice of tags to them, the lowest version first, by the order of semantic versions;
/// `None` if the revision is no such choice.
pub(super) fn resolve_tags(
    repo: &Repository,
    revision: &str,
) -> Result<Option<Vec<(Version, String)>>, SourceError> {
    let (pattern, is_newest) = match TagChoice::parse(revision) {
        None => return Ok(None),
        Some(TagChoice::Newest(pattern)) => (pattern, true),
        Some(TagChoice::Every(pattern)) => (pattern, false),
    };
    let mut found = find_matching_tags(repo, revision, pattern)?;
    if is_newest {
        found.drain(..found.len() - 1);
    }
    Ok(Some(found))
}

/// Resolves the revision of one tree: for `newest(PATTERN)` the reference of that tag, otherwise the
/// revision itself.
pub(super) fn resolve_newest_tag(repo: &Repository, revision: &str) -> Result<String, SourceError> {
    let Some(mut tags) = resolve_tags(repo, revision)? else { return Ok(revision.to_owned()) };
    if names_several(revision) {
        let advice = "it may name several trees, so it can only be what `check` and `breaking` \
                      compare with: `--against`; name one tag, or `git:newest(…)`";
        return Err(SourceError::unusable(format!("git:{revision}"), advice.to_owned()));
    }
    Ok(tags.pop().map_or_else(|| revision.to_owned(), |(_, tag)| format!("refs/tags/{tag}")))
}

/// The version of a tag that is named in full; `None` if there is no such tag.
pub(super) fn find_version(repo: &Repository, tag: &str) -> Option<Version> {
    repo.try_find_reference(&format!("refs/tags/{tag}")).ok()??;
    parse_version("*", tag)
}

/// The tags that match a pattern and have a version, the lowest one first. There is at least one.
fn find_matching_tags(
    repo: &Repository,
    revision: &str,
    pattern: &str,
) -> Result<Vec<(Version, String)>, SourceError> {
    let glob = Glob::new(pattern).map_err(|reason| SourceError::unusable(revision, reason))?;
    let tags = list_tags(repo);
    let matching = tags.iter().filter(|it| glob.matches(it));
    let mut found: Vec<(Version, String)> =
        matching.filter_map(|tag| Some((parse_version(pattern, tag)?, tag.clone()))).collect();
    found.sort();
    if !found.is_empty() {
        return Ok(found);
    }
    if repo.head().is_ok_and(|it| it.is_unborn()) {
        let advice = "there is no commit yet".to_owned();
        return Err(SourceError::NoCommitYet { revision: revision.to_owned(), advice });
    }
    let advice = describe_tags(&tags, pattern);
    Err(SourceError::UnknownRevision { revision: revision.to_owned(), advice, may_come: true })
}

/// The tags that there are, where none matches a pattern.
fn describe_tags(tags: &[String], pattern: &str) -> String {
    if tags.is_empty() {
        return "the repository has no tags: tag the last release".to_owned();
    }
    let names: Vec<String> =
        tags.iter().take(MOST_NAMED).map(|it| format!("`{}`", escape_unprintable(it))).collect();
    let more = match tags.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "no tag with a version matches `{}`; the tags are {}{more}",
        escape_unprintable(pattern),
        names.join(", ")
    )
}

/// The tags of a repository, sorted by name.
fn list_tags(repo: &Repository) -> Vec<String> {
    let Ok(references) = repo.references() else { return Vec::new() };
    let Ok(found) = references.tags() else { return Vec::new() };
    let name = |it: gix::Reference<'_>| it.name().shorten().to_string();
    let mut tags: Vec<String> = found.filter_map(Result::ok).map(name).collect();
    tags.sort();
    tags
}

/// The version in a tag: what stands where the pattern leaves it open, with `v` before it or not.
/// Numbers that are left out are zero.
fn parse_version(pattern: &str, tag: &str) -> Option<Version> {
    let literal = pattern.find(['*', '?', '[', '{']).unwrap_or(0);
    let text = tag.get(literal..)?;
    let text = &text[text.find(|it: char| it.is_ascii_digit())?..];
    let end = text.find(['-', '+']).unwrap_or(text.len());
    let (numbers, rest) = text.split_at(end);
    let given = numbers.split('.').count();
    let missing = ".0".repeat(3usize.checked_sub(given)?);
    Version::parse(&format!("{numbers}{missing}{rest}")).ok()
}

#[cfg(test)]
mod tests {
    use super::parse_version;

    #[test]
    fn versions_stand_where_the_pattern_is_open() {
        let version =
            |pattern: &str, tag: &str| parse_version(pattern, tag).map(|it| it.to_string());
        assert_eq!(version("v*", "v1.4.0").as_deref(), Some("1.4.0"));
        assert_eq!(version("v*", "v2").as_deref(), Some("2.0.0"));
        assert_eq!(version("*", "v1.5.0-rc.1").as_deref(), Some("1.5.0-rc.1"));
        assert_eq!(version("api/v2-*", "api/v2-1.3").as_deref(), Some("1.3.0"));
        assert_eq!(version("v*", "vendor"), None);
        assert_eq!(version("v*", "v1.2.3.4"), None);
    }
}
