//! Finds the files that patterns of `abide.toml` match.

use std::path::Path;

use abide_source::{LinkLimits, list_visible_files};
use ignore::overrides::OverrideBuilder;

use crate::error::Error;

/// The names of the files in a folder whose paths match one of the patterns of a key, sorted.
/// Hidden files, ignored files and links are left out.
pub(crate) fn list_matching(
    folder: &Path,
    patterns: &[String],
    links: &LinkLimits,
    key: &str,
) -> Result<Vec<String>, Error> {
    let refuse = |error: ignore::Error| Error::Usage(format!("`{key}`: {error}"));
    let mut overrides = OverrideBuilder::new(folder);
    for pattern in patterns {
        // A pattern counts from the folder, as all paths of `abide.toml` do.
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
        overrides.add(&format!("/{}", pattern.trim_start_matches('/'))).map_err(refuse)?;
    }
    let overrides = overrides.build().map_err(refuse)?;
    let files = list_visible_files(folder, links, &|path: &Path, is_folder: bool| {
        overrides.matched(path, is_folder).map(|_| ())
    });
    let files = files.map_err(|(path, error)| Error::File {
        what: format!("cannot read `{}`", path.display()),
        error,
    })?;
    let files = files.into_iter().filter(|it| !it.is_link);
    let mut names: Vec<String> = files.map(|it| it.path.display().to_string()).collect();
    names.sort();
    Ok(names)
}
