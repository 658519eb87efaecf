//! Records what protolint says of the repositories of `testdata/protolint`, which a test compares
//! with `abide check`. api-linter is in no registry of packages, so nothing is compared with it.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use abide_harness::Result;
use serde_json::Value;

use crate::buf::moving::record;

/// Rules about the layout of files, which `abide format` writes.
const LAYOUT: [&str; 5] =
    ["IMPORTS_SORTED", "INDENT", "MAX_LINE_LENGTH", "ORDER", "QUOTE_CONSISTENT"];

/// Runs protolint on each repository and rewrites what is recorded; true if it is unchanged.
pub(crate) fn run() -> Result<bool> {
    record("protolint", "protolint", run_protolint)
}

fn run_protolint(folder: &Path) -> Result<Vec<String>> {
    let said = Command::new("protolint")
        .args(["lint", "-reporter", "json", "."])
        .current_dir(folder)
        .output()
        .map_err(|error| {
            format!("protolint not found, run `pip install protolint-bin`: {error}")
        })?;
    let both = [said.stdout, said.stderr].concat();
    if !matches!(said.status.code(), Some(0 | 1)) {
        return Err(String::from_utf8_lossy(&both).into_owned().into());
    }
    let report: Value = serde_json::from_slice(&both)?;
    let mut lines = BTreeSet::new();
    for finding in report["lints"].as_array().into_iter().flatten() {
        let text = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
        if !LAYOUT.contains(&text("rule").as_str()) {
            lines.insert((text("filename"), finding["line"].as_u64().unwrap_or(1), text("rule")));
        }
    }
    Ok(lines.into_iter().map(|(path, line, rule)| format!("{path}:{line}: {rule}")).collect())
}
