//! Carries bootstraps of Envoy's v2 API to v3 and asks a real Envoy whether it accepts them.
//!
//! The files of `testdata/instances/ladder` are written by us: one or more for every rung from a fully
//! static configuration to one that comes over a stream.

use std::fs;
use std::path::Path;
use std::process::Command;

use abide_harness::corpora::{self, Corpus};
use abide_harness::envoys::{Envoy, envoys};
use abide_harness::programs::{output, workspace};
use abide_harness::{ExternalPaths, Result};

/// Where the bootstraps are.
const LADDER: &str = "testdata/instances/ladder";

/// The file that a bootstrap reads; it is none itself.
const SECRETS: &str = "secrets.yaml";

/// The trees that have both versions.
const APIS: &[&str] = &["envoy-head", "envoy-v2-to-v3"];

/// Keeps these Envoys apart from others on the machine.
const BASE_ID: &str = "7300";

/// Translates and validates all; true if nothing is lost and all are accepted.
pub(crate) fn run(paths: &ExternalPaths, abide: &Path) -> Result<bool> {
    let archives = corpora::unpack_archives(paths)?;
    let envoys = envoys()?;
    let newest = envoys.first().ok_or("no Envoy is installed")?;
    let mut agreed = true;
    for name in APIS {
        let Some(api) = archives.iter().find(|it| it.name == *name) else {
            println!("SKIPPED: translate: there is no tree `{name}`");
            continue;
        };
        agreed &= with_api(api, abide, newest)?;
    }
    Ok(agreed)
}

fn with_api(api: &Corpus, abide: &Path, envoy: &Envoy) -> Result<bool> {
    let ladder = workspace()?.join(LADDER);
    let folder = corpora::make_fresh_folder(&format!("translate-{}", api.name))?;
    // What the bootstraps watch.
    fs::create_dir_all(folder.join("up/runtime/current"))?;
    let translate = |direction: &str, from: &Path, to: &str| -> Result<bool> {
        let mut command = Command::new(abide);
        command.args(["config", direction]).arg(from);
        command.arg("--api").arg(&api.root);
        for import in &api.imports {
            command.arg("-I").arg(import);
        }
        command.args(["--out", to]).current_dir(&folder);
        let ran = output(&mut command)?;
        let text = String::from_utf8_lossy(&ran.stdout);
        if !ran.status.success() {
            println!("  {direction}: {text}{}", String::from_utf8_lossy(&ran.stderr));
        }
        Ok(ran.status.success())
    };
    // There, back, and there again.
    let mut agreed = translate("upgrade", &ladder, "up/")?;
    agreed &= translate("downgrade", &folder.join("up"), "down/")?;
    agreed &= translate("upgrade", &folder.join("down"), "again/")?;
    fs::create_dir_all(folder.join("again/runtime/current"))?;
    let mut accepted = 0;
    let mut files: Vec<_> = fs::read_dir(&ladder)?.collect::<std::io::Result<_>>()?;
    files.sort_by_key(fs::DirEntry::file_name);
    files.retain(|it| it.file_name() != SECRETS);
    for rung in &files {
        for folder in [folder.join("up"), folder.join("again")] {
            let mut command = Command::new(&envoy.program);
            command.args(["--mode", "validate", "--base-id", BASE_ID, "-l", "error", "-c"]);
            command.arg(rung.file_name()).current_dir(&folder);
            let ran = output(&mut command)?;
            match ran.status.success() {
                true => accepted += 1,
                false => println!(
                    "  {}/{}: {}",
                    folder.display(),
                    rung.file_name().display(),
                    String::from_utf8_lossy(&ran.stderr)
                ),
            }
        }
    }
    println!(
        "translate: {}: {} files from v2 to v3; Envoy {} accepts {accepted} of {} (there; there, back \
         and there again)",
        api.name,
        files.len() + 1,
        envoy.version,
        files.len() * 2
    );
    Ok(agreed && accepted == files.len() * 2 && !files.is_empty())
}
