//! The packages of a tree.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::decl::FileDecl;
use crate::ids::{FileId, PackageId};
use crate::tree::{PackageData, PackageVersion};

/// Gathers the files of each package, and which package each file has.
pub(super) fn collect_packages(
    files: &[Arc<FileDecl>],
    unknown: &BTreeSet<Box<str>>,
) -> (Vec<PackageData>, Vec<PackageId>) {
    let names: Vec<&str> = files.iter().map(|file| file.package_name()).collect();
    let mut order: Vec<usize> = (0..files.len()).collect();
    order.sort_by_key(|&index| names[index]);
    let mut packages: Vec<PackageData> = Vec::new();
    let mut package_of = vec![PackageId(0); files.len()];
    for index in order {
        let name = names[index];
        if packages.last().is_none_or(|package| package.name != name) {
            packages.push(PackageData {
                name: name.to_owned(),
                version: PackageVersion::from_package(name),
                files: Vec::new(),
                is_unknown: unknown.contains(name),
            });
        }
        package_of[index] = PackageId(packages.len() as u32 - 1);
        if let Some(package) = packages.last_mut() {
            package.files.push(FileId(index as u32));
        }
    }
    (packages, package_of)
}
