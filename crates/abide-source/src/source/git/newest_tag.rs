//! The newest of the tags that match a pattern: `newest(v*)`.

use abide_schema::Glob;
use gix::Repository;
use semver::Version;

use crate::printable::escape_unprintable;
use crate::source::failure::SourceError;

/// The number of tags that are named where none matches.
const MOST_NAMED: usize = 10;

/// The reference that a revision names: for `newest(PATTERN)`, the tag with the highest version of
/// those that match, by the order of semantic versions; otherwise the revision itself.
pub(super) fn find_newest_tag(repo: &Repository, revision: &str) -> Result<String, SourceError> {
    let pattern = revision.strip_prefix("newest(").and_then(|it| it.strip_suffix(')'));
    let Some(pattern) = pattern else { return Ok(revision.to_owned()) };
    let unknown = |advice: String| SourceError::UnknownRevision {
        revision: revision.to_owned(),
        advice,
        may_come: true,
    };
    let glob = Glob::new(pattern).map_err(|reason| SourceError::unusable(revision, reason))?;
    let tags = list_tags(repo);
    let matching = tags.iter().filter(|it| glob.matches(it));
    let newest = matching.filter_map(|tag| Some((parse_version(pattern, tag)?, tag))).max();
    newest.map(|(_, tag)| format!("refs/tags/{tag}")).ok_or_else(|| {
        if repo.head().is_ok_and(|it| it.is_unborn()) {
            let advice = "there is no commit yet".to_owned();
            return SourceError::NoCommitYet { revision: revision.to_owned(), advice };
        }
        let names: Vec<String> = tags
            .iter()
            .take(MOST_NAMED)
            .map(|it| format!("`{}`", escape_unprintable(it)))
            .collect();
        let more = match tags.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        unknown(match tags.is_empty() {
            true => "the repository has no tags: tag the last release".to_owned(),
            false => format!(
                "no tag with a version matches `{}`; the tags are {}{more}",
                escape_unprintable(pattern),
                names.join(", ")
            ),
        })
    })
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
