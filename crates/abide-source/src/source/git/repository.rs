//! Opens repositories and finds the trees of commits.

use std::path::Path;

use gix::error::MetadataValue;
use gix::sec::Trust;
use gix::sec::trust::{DefaultForLevel, Mapping};
use gix::{ObjectId, Repository, ThreadSafeRepository};

use super::objects::MissingObject;
use crate::source::failure::{SourceError, quote_error};

/// The number of entries that a tree may have. Ten nested folders, each with ten names for the
/// next, would otherwise keep the walk busy forever.
pub(super) const MAX_ENTRIES: usize = 10_000_000;

/// Opens the repository that encloses a folder.
pub(super) fn discover(base: &Path) -> Result<ThreadSafeRepository, SourceError> {
    let discovery = || gix::discover::upwards::Options {
        // Like git, do not fail if a ceiling folder is somewhere else.
        match_ceiling_dir_or_error: false,
        ..Default::default()
    };
    ThreadSafeRepository::discover_with_environment_overrides_opts(
        base,
        discovery(),
        Mapping { full: set_options(Trust::Full), reduced: set_options(Trust::Reduced) },
    )
    .map_err(|error| {
        let base_name = base.display().to_string();
        if gix::discover::upwards_opts(base, discovery().apply_environment()).is_err() {
            return SourceError::NoRepository { base: base_name };
        }
        let key = MetadataValue::String("extensions.objectFormat".to_owned());
        let is_format = error.metadata().any(|it| it.get("key") == Some(&key));
        let reason = if is_format && error.is_unsupported() {
            "its git repository uses the object format `sha256`, which is not supported: name a \
             folder, or an archive from `git archive`"
                .to_owned()
        } else {
            format!("its git repository cannot be opened: {}", quote_error(error.probable_cause()))
        };
        SourceError::unusable(base_name, reason)
    })
}

/// The settings of every repository. A replaced object (`git replace`) would show another old tree than
/// the one that a clone has.
fn set_options(trust: Trust) -> gix::open::Options {
    gix::open::Options::default_for_level(trust).config_overrides(["core.useReplaceRefs=false"])
}

/// Finds the tree of a commit or a tag, or the tree itself.
pub(super) fn find_tree(repo: &Repository, id: ObjectId) -> Result<ObjectId, String> {
    let object = repo.find_object(id).map_err(|_| MissingObject::commit(id).to_string())?;
    let commit = match object.kind {
        gix::object::Kind::Tree => return Ok(id),
        _ => {
            object.peel_to_commit().map_err(|_| "it is not a commit, or its objects are missing")?
        }
    };
    let tree = commit.tree_id().map_err(|_| MissingObject::commit(commit.id).to_string())?.detach();
    match repo.find_tree(tree) {
        Ok(_) => Ok(tree),
        Err(_) => Err(MissingObject::tree(tree).to_string()),
    }
}
