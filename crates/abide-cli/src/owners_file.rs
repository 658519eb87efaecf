//! The `CODEOWNERS` of the repository that a tree is in.

use std::path::Path;

use abide_lint::{CodeOwners, Forge, PackageFiles, PackageOwners};
use abide_source::printable::escape_unprintable;
use abide_source::{LinkLimits, OWNERS, Source, join};
use abide_syntax::LineIndex;

use crate::args::TreeArgs;
use crate::error::Error;
use crate::render::full_path;
use crate::settings::Settings;

/// The folders in which the forges look for the file, in this order.
const FOLDERS: [(&str, Option<Forge>); 4] = [
    (".github", Some(Forge::GitHub)),
    ("", None),
    ("docs", None),
    (".gitlab", Some(Forge::GitLab)),
];

/// A `CODEOWNERS` file.
pub(crate) struct OwnersFile {
    /// Its path from the top of the repository.
    pub(crate) path: String,
    text: String,
    /// The owners that it lists.
    pub(crate) owners: CodeOwners,
}

impl OwnersFile {
    /// Finds the file: in the revision if the tree is one, in the archive if it is one, else on
    /// disk at the top of the repository.
    pub(crate) fn find(source: &Source, settings: &Settings) -> Result<Option<OwnersFile>, Error> {
        let top = settings.find_top();
        for (folder, forge) in FOLDERS {
            let path = join(folder, OWNERS);
            let bytes = match source.folder() {
                Some(_) => read_on_disk(&top.join(&path), &settings.links(&top))?,
                None if source.prefix().is_some() => {
                    source.read_at_top(&path)?.map(|it| it.to_vec())
                }
                None => source.read_text(&path)?.map(|it| it.to_vec()),
            };
            if let Some(bytes) = bytes {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let owners = CodeOwners::parse(&text, forge);
                return Ok(Some(OwnersFile { path, text, owners }));
            }
        }
        Ok(None)
    }

    /// The errors in its lines, one phrase each, with their places.
    pub(crate) fn list_problems(&self) -> Vec<String> {
        let index = LineIndex::new(self.text.as_bytes());
        self.owners
            .problems
            .iter()
            .map(|it: &abide_lint::ConfigError| {
                let at = index.position(self.text.as_bytes(), it.span.start);
                let help = it.help.as_ref().map_or_else(String::new, |help| format!(": {help}"));
                let path = &self.path;
                escape_unprintable(&format!(
                    "{path}:{}:{}: {}{help}",
                    at.line, at.column, it.message
                ))
            })
            .collect()
    }
}

/// The owners of packages, whose files are given by their paths in the tree.
pub(crate) fn find_package_owners(
    files: &PackageFiles,
    file: Option<&OwnersFile>,
    source: &Source,
    settings: &Settings,
    tree: &TreeArgs,
) -> Vec<PackageOwners> {
    let prefix = source.prefix().unwrap_or_else(|| settings.prefix(tree));
    PackageOwners::of(files, file.map(|it| &it.owners), |path| full_path(&prefix, path))
}

fn read_on_disk(path: &Path, links: &LinkLimits) -> Result<Option<Vec<u8>>, Error> {
    if !path.exists() {
        return Ok(None);
    }
    links
        .read(path)
        .map(Some)
        .map_err(|error| Error::File { what: format!("cannot read `{}`", path.display()), error })
}
