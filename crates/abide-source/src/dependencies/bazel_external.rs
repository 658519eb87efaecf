//! External repositories of Bazel, in the folder of its outputs.

use std::path::{Path, PathBuf};

use super::package::{FoundPackage, TreePlace, list_entries};
use crate::source::MountedFiles;

/// The external repositories that Bazel has fetched for the nearest workspace around a tree.
pub(super) fn list_repositories(place: &TreePlace<'_>) -> Vec<FoundPackage> {
    let mut folders = place.folders().iter();
    let Some((workspace, external)) = folders.find_map(|it| Some((it, find_external(it)?))) else {
        return Vec::new();
    };
    let versions = read_versions(workspace, place);
    let mut found: Vec<FoundPackage> = Vec::new();
    for (entry, path) in list_entries(&external) {
        // With modules, a version or the name of an extension follows behind one of these.
        let end = entry.find(['~', '+']).unwrap_or(entry.len());
        let (name, rest) = entry.split_at(end);
        let version = rest.trim_start_matches(['~', '+']);
        let is_other = version.contains(['~', '+']) || name.is_empty() || entry.starts_with('@');
        if is_other || !path.is_dir() || found.iter().any(|it| it.name == name) {
            continue;
        }
        let declared = versions.iter().find(|it| it.0 == name).map(|it| it.1.clone());
        let version = match version {
            "" => declared.unwrap_or_else(|| "unknown".to_owned()),
            version => version.to_owned(),
        };
        let files = MountedFiles::Folder(path);
        found.push(FoundPackage { name: name.to_owned(), version, files });
    }
    found
}

/// The folder of external repositories, by the link that Bazel leaves in a workspace. Only a link
/// that looks like one of Bazel is followed.
fn find_external(workspace: &Path) -> Option<PathBuf> {
    let outputs = std::fs::canonicalize(workspace.join("bazel-out")).ok()?;
    let execution = outputs.parent()?.parent()?;
    let is_output = outputs.ends_with("bazel-out") && execution.ends_with("execroot");
    let base = execution.parent().filter(|_| is_output)?;
    let external = base.join("external");
    (external.is_dir() && base.join("DO_NOT_BUILD_HERE").is_file()).then_some(external)
}

/// The versions of `bazel_dep(name = …, version = …)` in the file of a workspace.
fn read_versions(workspace: &Path, place: &TreePlace<'_>) -> Vec<(String, String)> {
    let mut texts = place.texts("MODULE.bazel");
    let Some((_, text)) = texts.find(|(folder, _)| *folder == workspace) else {
        return Vec::new();
    };
    let value = |call: &str, key: &str| {
        let (_, rest) = call.split_once(key)?;
        let rest = rest.trim_start().strip_prefix('=')?.trim_start().strip_prefix('"')?;
        Some(rest.split('"').next()?.to_owned())
    };
    let calls = text.split("bazel_dep(").skip(1).filter_map(|it| it.split(')').next());
    calls.filter_map(|call| Some((value(call, "name")?, value(call, "version")?))).collect()
}
