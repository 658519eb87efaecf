//! Generates Bazel BUILD files for trees that follow Envoy's conventions: one
//! target `pkg` for each folder, declared with `api_proto_package`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use abide_schema::{FileDecl, FileId, SourceFile, Tree};

use super::release_candidates::ReleaseResult;
use crate::candidate::GeneratedFile;
use crate::plan::{FileRole, FileRoles, UpgradePolicy, UpgradeSettings};

/// The start of a generated BUILD file.
pub const BUILD_MARK: &str = "# Made by abide: DO NOT EDIT.\n";

/// A BUILD file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildFile {
    /// A file of the tree in the same root.
    pub beside: FileId,
    /// Its path, relative to that root.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// The needs of the build of a folder.
#[derive(Debug)]
struct BuildNeeds {
    beside: FileId,
    services: bool,
    labels: BTreeSet<String>,
}

/// The BUILD files of the folders with generated files; none unless the policy
/// turns them on.
pub fn build_files(
    tree: &Tree,
    settings: UpgradeSettings<'_>,
    made: &[GeneratedFile],
) -> Vec<BuildFile> {
    let policy = settings.policy;
    if !policy.build_files {
        return Vec::new();
    }
    let mut folders: BTreeMap<String, BuildNeeds> = BTreeMap::new();
    for file in made {
        let path: Arc<str> = file.path.as_str().into();
        let (display, text) = (Arc::clone(&path), file.text.as_slice().into());
        let decl = FileDecl::parse(SourceFile { path, display, root: 0, imported: false, text });
        let folder = get_folder(&file.path).to_owned();
        let needs = folders.entry(folder).or_insert_with(|| BuildNeeds {
            beside: file.from,
            services: false,
            labels: BTreeSet::new(),
        });
        needs.add(policy, &decl);
        // Building a version needs its source version too: messages are
        // translated between the two.
        if !decl.messages.is_empty() {
            needs.labels.extend(find_label(policy, tree.file(file.from).path()));
        }
    }
    // Files that are edited by hand may be in the same folder.
    let standings = FileRoles::from_tree(tree, policy);
    for file in tree.files().filter(|it| standings.get(*it) == FileRole::Active) {
        if let Some(needs) = folders.get_mut(get_folder(file.path())) {
            needs.add(policy, file.decl());
        }
    }
    let written = |(folder, needs): (String, BuildNeeds)| {
        let path = if folder.is_empty() { "BUILD".to_owned() } else { format!("{folder}/BUILD") };
        BuildFile { beside: needs.beside, path, text: needs.render(&format!("//{folder}:pkg")) }
    };
    folders.into_iter().map(written).collect()
}

/// The BUILD file that lists which folders are active after a release and which
/// are frozen; `None` unless the policy turns it on and something is released.
pub fn build_version_file(
    tree: &Tree,
    settings: UpgradeSettings<'_>,
    made: &ReleaseResult,
) -> Option<BuildFile> {
    let beside = made.files.first().filter(|_| settings.policy.build_files)?.from;
    let standings = FileRoles::from_tree(tree, settings.policy);
    let mut folders: BTreeMap<&str, bool> = BTreeMap::new();
    for file in tree.files() {
        match standings.get(file) {
            FileRole::Active => drop(folders.insert(get_folder(file.path()), true)),
            FileRole::Frozen => drop(folders.entry(get_folder(file.path())).or_insert(false)),
            FileRole::Candidate | FileRole::HandMaintained | FileRole::Excluded => {}
        }
    }
    for file in &made.files {
        let from = tree.file(file.from);
        if standings.get(from) != FileRole::HandMaintained {
            folders.insert(get_folder(from.path()), false);
        }
    }
    folders.extend(made.files.iter().map(|file| (get_folder(&file.path), true)));
    let library = |name: &str, active: bool| {
        let mut labels: Vec<String> = folders
            .iter()
            .filter(|(_, is_active)| **is_active == active)
            .map(|(folder, _)| format!("        \"//{folder}:pkg\",\n"))
            .collect();
        sort(&mut labels);
        format!(
            "\nproto_library(\n    name = \"{name}\",\n    visibility = \
             [\"//visibility:public\"],\n    deps = [\n{}    ],\n)\n",
            labels.concat()
        )
    };
    let text = format!(
        "{BUILD_MARK}\nload(\"@rules_proto//proto:defs.bzl\", \"proto_library\")\n\n\
         licenses([\"notice\"])  # Apache 2\n{}{}",
        library("active_protos", true),
        library("frozen_protos", false)
    );
    Some(BuildFile { beside, path: "versioning/BUILD".to_owned(), text })
}

/// Sorts labels as Bazel's formatter does: a target before its subfolders.
fn sort<S: AsRef<str>>(labels: &mut [S]) {
    labels.sort_by_key(|label| label.as_ref().replace(':', "!"));
}

impl BuildNeeds {
    fn add(&mut self, policy: &UpgradePolicy, file: &FileDecl) {
        self.services |= !file.services.is_empty();
        self.labels.extend(file.imports.iter().filter_map(|it| find_label(policy, &it.path)));
    }

    fn render(&self, own: &str) -> String {
        let mut labels: Vec<&str> = self.labels.iter().map(String::as_str).collect();
        labels.retain(|label| *label != own);
        sort(&mut labels);
        let mut fields = String::new();
        if self.services {
            fields += "    has_services = True,\n";
        }
        match &labels[..] {
            [] => {}
            [label] => fields += &format!("    deps = [\"{label}\"],\n"),
            labels => {
                let lines = labels.iter().map(|label| format!("        \"{label}\",\n"));
                fields += &format!("    deps = [\n{}    ],\n", lines.collect::<String>());
            }
        }
        let fields = if fields.is_empty() { fields } else { format!("\n{fields}") };
        format!(
            "{BUILD_MARK}\nload(\"@envoy_api//bazel:api_build_system.bzl\", \
             \"api_proto_package\")\n\nlicenses([\"notice\"])  # Apache 2\n\n\
             api_proto_package({fields})\n"
        )
    }
}

fn get_folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The label of a file: that of the longest prefix of its path in the policy;
/// `None` if the file needs no label.
fn find_label(policy: &UpgradePolicy, path: &str) -> Option<String> {
    let known = policy.build_labels.iter().filter(|(start, _)| path.starts_with(start.as_str()));
    match known.max_by_key(|(start, _)| start.len()).map(|(_, label)| label.as_str()) {
        Some("") => None,
        Some(repository) if repository.ends_with("//") => {
            Some(format!("{repository}{}:pkg", get_folder(path)))
        }
        Some(label) => Some(label.to_owned()),
        None => Some(format!("//{}:pkg", get_folder(path))),
    }
}
