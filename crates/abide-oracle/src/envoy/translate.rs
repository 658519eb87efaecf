//! Carries bootstraps of Envoy's v2 API to v3 and asks a real Envoy whether it accepts them.
//!
//! The files of `testdata/instances/ladder` are written by us: one or more for every rung from a fully
//! static configuration to one that comes over a stream. Beside them stand bootstraps of all kinds that are made
//! of the parts in `testdata/instances/shapes.txt`.

mod shapes;

use std::fs;
use std::path::Path;
use std::process::Command;

use abide_harness::corpora::{self, Corpus};
use abide_harness::envoys::{Envoy, envoys};
use abide_harness::programs::{output, workspace};
use abide_harness::{ExternalPaths, Result};

use self::shapes::{WATCHED, list_comments, write_shapes};

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
        let name = format!("translate-{}", api.name);
        agreed &= carry_folder(api, abide, newest, &workspace()?.join(LADDER), &name)?;
    }
    // The newest tree is that of the program which judges them.
    if let Some(api) = archives.iter().find(|it| Some(&&*it.name) == APIS.first()) {
        let shapes = corpora::make_fresh_folder("shapes")?;
        write_shapes(&shapes)?;
        agreed &= carry_folder(api, abide, newest, &shapes, "translate-shapes")?;
        agreed &= keep_comments(&shapes, &shapes.with_file_name("translate-shapes"))?;
    }
    Ok(agreed)
}

/// Carries the files of a folder up, down and up again; true if nothing is lost and all are accepted.
fn carry_folder(
    api: &Corpus,
    abide: &Path,
    envoy: &Envoy,
    from: &Path,
    name: &str,
) -> Result<bool> {
    let folder = corpora::make_fresh_folder(name)?;
    let files = list_files(from)?;
    let agreed = carry(api, abide, from, &folder)?;
    let mut accepted = 0;
    for folder in [folder.join("up"), folder.join("again")] {
        // What the bootstraps watch.
        fs::create_dir_all(folder.join("runtime/current"))?;
        for name in WATCHED {
            corpora::write(&folder.join(name), b"resources: []\n")?;
        }
        for file in &files {
            accepted += usize::from(is_accepted(envoy, &folder, file)?);
        }
    }
    println!(
        "{name}: {} files from v2 to v3; Envoy {} accepts {accepted} of {} (there; there, back and \
         there again)",
        files.len(),
        envoy.version,
        files.len() * 2
    );
    Ok(agreed && accepted == files.len() * 2 && !files.is_empty())
}

/// The names of the bootstraps in a folder.
fn list_files(folder: &Path) -> Result<Vec<String>> {
    let files: Vec<_> = fs::read_dir(folder)?.collect::<std::io::Result<_>>()?;
    let names = files.iter().map(|it| it.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|it| it != SECRETS).collect();
    names.sort();
    Ok(names)
}

/// True if all files that were carried up still have the comments of those that they were carried from.
fn keep_comments(old: &Path, carried: &Path) -> Result<bool> {
    let mut agreed = true;
    for file in list_files(old)? {
        let new = carried.join("up").join(&file);
        let (old_text, new_text) =
            (fs::read_to_string(old.join(&file))?, fs::read_to_string(&new)?);
        if list_comments(&old_text) != list_comments(&new_text) {
            println!("  {}: comments are lost or stand in another order", new.display());
            agreed = false;
        }
    }
    Ok(agreed)
}

/// True if Envoy takes a bootstrap.
fn is_accepted(envoy: &Envoy, folder: &Path, file: &str) -> Result<bool> {
    let mut command = Command::new(&envoy.program);
    command.args(["--mode", "validate", "--base-id", BASE_ID, "-l", "error", "-c", file]);
    let ran = output(command.current_dir(folder))?;
    if !ran.status.success() {
        let said = String::from_utf8_lossy(&ran.stderr);
        println!("  {}/{file}: {}", folder.display(), said.get(..500).unwrap_or(&said));
    }
    Ok(ran.status.success())
}

/// Carries a folder there, back, and there again; true if nothing is lost.
fn carry(api: &Corpus, abide: &Path, from: &Path, folder: &Path) -> Result<bool> {
    let translate = |direction: &str, from: &Path, to: &str| -> Result<bool> {
        let mut command = Command::new(abide);
        command.args(["config", direction]).arg(from);
        command.arg("--api").arg(&api.root);
        for import in &api.imports {
            command.arg("-I").arg(import);
        }
        command.args(["--out", to]).current_dir(folder);
        let ran = output(&mut command)?;
        let text = String::from_utf8_lossy(&ran.stdout);
        if !ran.status.success() {
            println!("  {direction}: {text}{}", String::from_utf8_lossy(&ran.stderr));
        }
        Ok(ran.status.success())
    };
    Ok(translate("upgrade", from, "up/")?
        & translate("downgrade", &folder.join("up"), "down/")?
        & translate("upgrade", &folder.join("down"), "again/")?)
}
