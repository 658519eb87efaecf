//! Crates: those that `Cargo.lock` records, in the sources that Cargo keeps of its registries.

use std::path::PathBuf;

use super::machine::Machine;
use super::package::{FoundPackage, TreePlace, is_path_part, list_entries};
use crate::source::MountedFiles;

/// The crates that the nearest `Cargo.lock` records.
pub(super) fn list_crates(place: &TreePlace<'_>, machine: &Machine) -> Vec<FoundPackage> {
    let Some((folder, text)) = place.texts("Cargo.lock").next() else { return Vec::new() };
    let sources = machine.cargo_home.iter().flat_map(|it| list_entries(&it.join("registry/src")));
    let sources: Vec<PathBuf> = sources.map(|(_, path)| path).collect();
    let found = |(name, version): (String, String)| {
        let vendored = folder.join("vendor").join(&name);
        let cached = sources.iter().map(|it| it.join(format!("{name}-{version}")));
        let vendored = vendored.join("Cargo.toml").is_file().then_some(vendored);
        let files = vendored.or_else(|| cached.into_iter().find(|it| it.is_dir()));
        let files = files.map(MountedFiles::Folder).unwrap_or_else(|| {
            MountedFiles::Missing(format!(
                "the crate `{name}` {version} is not in Cargo's sources: run `cargo fetch`"
            ))
        });
        FoundPackage { name, version, files }
    };
    parse_lock(&text).into_iter().map(found).collect()
}

/// The names and versions of the crates from registries.
fn parse_lock(text: &str) -> Vec<(String, String)> {
    let mut crates = Vec::new();
    for table in text.split("[[package]]").skip(1) {
        let value = |key: &str| {
            let mut lines = table.lines();
            let value = lines.find_map(|it| it.strip_prefix(key)?.trim().strip_prefix('='))?;
            Some(value.trim().trim_matches('"').to_owned())
        };
        let is_part = |it: &String| is_path_part(it);
        if let (Some(name), Some(version), Some(_)) =
            (value("name").filter(is_part), value("version").filter(is_part), value("source"))
        {
            crates.push((name, version));
        }
    }
    crates
}

#[cfg(test)]
mod tests {
    #[test]
    fn crates_of_registries_are_read() {
        let text = "version = 4\n\n[[package]]\nname = \"own\"\nversion = \"0.1.0\"\n\n\
                    [[package]]\nname = \"envoy-types\"\nversion = \"0.7.7\"\nsource = \
                    \"registry+https://example.com\"\n";
        assert_eq!(super::parse_lock(text), [("envoy-types".to_owned(), "0.7.7".to_owned())]);
    }
}
