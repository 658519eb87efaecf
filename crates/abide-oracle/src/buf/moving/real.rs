//! Packages of googleapis that move from buf to Abide: `buf lint` and `abide check` must report the
//! same in them, and `buf breaking` and `abide breaking` refuse the same files of two releases.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use abide_harness::Result;
use abide_harness::corpora::{self, Corpus};
use serde_json::Value;

const PACKAGES: &[&str] = &[
    "google/bigtable/v2",
    "google/cloud/kms/v1",
    "google/cloud/speech/v2",
    "google/cloud/tasks/v2",
    "google/cloud/translate/v3",
    "google/cloud/vision/v1",
    "google/devtools/build/v1",
    "google/firestore/v1",
    "google/logging/v2",
    "google/longrunning",
    "google/monitoring/v3",
    "google/pubsub/v1",
    "google/spanner/v1",
    "google/storage/v2",
];

/// What each package is judged by; `deps` holds what it imports.
const SETTINGS: &[(&str, &str)] = &[
    ("defaults", "lint:\n  ignore: [deps]\n"),
    ("comments", "lint:\n  use: [STANDARD, COMMENTS, UNARY_RPC]\n  ignore: [deps]\n"),
    (
        "options",
        "lint:\n  use: [STANDARD]\n  except: [PACKAGE_VERSION_SUFFIX]\n  ignore: [deps]\n  \
         enum_zero_value_suffix: _NONE\n  service_suffix: API\n  \
         rpc_allow_google_protobuf_empty_responses: true\n",
    ),
];

/// The categories of breaking rules that the releases are compared by.
const CATEGORIES: &[&str] = &["FILE", "PACKAGE", "WIRE_JSON", "WIRE"];

/// A finding: its file, its line unless buf knows none, and the rule of buf.
type Finding = (String, Option<u64>, String);

/// Compares both tools on each package with all settings; true if nothing differs.
pub(super) fn lint(abide: &Path, googleapis: &Corpus) -> Result<bool> {
    let (mut compared, mut differences) = (0, 0);
    for package in PACKAGES {
        for (name, lint) in SETTINGS {
            let folder = corpora::make_fresh_folder("moving")?;
            lay_out(googleapis, package, &folder, lint)?;
            let by_buf = run_buf(&folder)?;
            let by_abide = run_abide(abide, &folder, &by_buf)?;
            compared += by_buf.len();
            for (path, line, rule) in by_buf.symmetric_difference(&by_abide) {
                differences += 1;
                let line = line.map_or(String::new(), |line| format!(":{line}"));
                println!("moving: {package} with {name}: only one reports {path}{line}: {rule}");
            }
        }
    }
    println!(
        "moving: {} packages of googleapis, each with {} settings: {compared} findings, \
         {differences} differ",
        PACKAGES.len(),
        SETTINGS.len()
    );
    Ok(differences == 0 && compared > 0)
}

/// Compares the files in which both tools refuse what changed between two releases.
pub(super) fn breaking(abide: &Path, old: &Corpus, new: &Corpus) -> Result<bool> {
    let (mut refused, mut differences) = (0, 0);
    for package in PACKAGES {
        for category in CATEGORIES {
            let folder = corpora::make_fresh_folder("moving")?;
            let settings = format!("breaking:\n  use: [{category}]\n");
            lay_out(old, package, &folder.join("old"), &settings)?;
            lay_out(new, package, &folder.join("new"), &settings)?;
            let folder = folder.join("new");
            let against = ["breaking", "--against", "../old"];
            let said =
                read_json_lines("buf".as_ref(), &[&against[..], BUF_JSON].concat(), &folder)?;
            let path = |it: &Value| it["path"].as_str().unwrap_or_default().to_owned();
            let by_buf: BTreeSet<String> = said.iter().map(path).collect();
            read_json_lines(abide, &["init", "--from", "buf.yaml", "--quiet"], &folder)?;
            let said = read_json_lines(abide, &[&against[..], ABIDE_JSON].concat(), &folder)?;
            let errors = said.iter().filter(|it| it["severity"] == "error");
            let by_abide: BTreeSet<String> = errors.map(path).collect();
            refused += by_buf.len();
            for path in by_buf.symmetric_difference(&by_abide) {
                differences += 1;
                println!("moving: {package} by {category}: only one refuses {path}");
            }
        }
    }
    println!(
        "moving: two releases of {} packages by {} categories: {refused} files refused, \
         {differences} differ",
        PACKAGES.len(),
        CATEGORIES.len()
    );
    Ok(differences == 0 && refused > 0)
}

const BUF_JSON: &[&str] = &["--error-format", "json"];
const ABIDE_JSON: &[&str] = &["--quiet", "--format", "json"];

/// Writes a package to the module `own` of a folder, and what it imports to `deps`.
fn lay_out(googleapis: &Corpus, package: &str, folder: &Path, settings: &str) -> Result<()> {
    let inside = |file: &&String| Path::new(file.as_str()).parent() == Some(Path::new(package));
    let own: Vec<String> = googleapis.files.iter().filter(inside).cloned().collect();
    if own.is_empty() {
        return Err(format!("googleapis has no package in {package}").into());
    }
    let all = corpora::with_imports(googleapis, "moving-imports", own.clone())?;
    for file in &all.files {
        let part = if own.contains(file) { "own" } else { "deps" };
        let bytes = std::fs::read(all.root.join(file))?;
        corpora::write(&folder.join(part).join(file), &bytes)?;
    }
    let modules = if all.files.len() > own.len() { "  - path: deps\n" } else { "" };
    let config = format!("version: v2\nmodules:\n  - path: own\n{modules}{settings}");
    corpora::write(&folder.join("buf.yaml"), config.as_bytes())
}

/// Runs a program that may find something, and reads what it prints as lines of JSON.
fn read_json_lines(program: &Path, args: &[&str], folder: &Path) -> Result<Vec<Value>> {
    let said = Command::new(program).args(args).current_dir(folder).output()?;
    if !matches!(said.status.code(), Some(0 | 1 | 100)) {
        return Err(String::from_utf8_lossy(&said.stderr).into_owned().into());
    }
    let text = String::from_utf8(said.stdout)?;
    let lines = text.lines().filter(|line| line.starts_with('{'));
    lines.map(|line| Ok(serde_json::from_str(line)?)).collect()
}

fn run_buf(folder: &Path) -> Result<BTreeSet<Finding>> {
    let mut findings = BTreeSet::new();
    for it in read_json_lines("buf".as_ref(), &[&["lint"], BUF_JSON].concat(), folder)? {
        let text = |key: &str| it[key].as_str().unwrap_or_default().to_owned();
        let at = (it["start_line"].as_u64(), it["start_column"].as_u64());
        // At the first byte it reports what has no place.
        let line = at.0.filter(|_| !matches!(at, (Some(1), Some(1))));
        findings.insert((text("path"), line, text("type")));
    }
    Ok(findings)
}

/// What Abide reports after it took over the settings. Where buf knows no place, none is compared.
fn run_abide(abide: &Path, folder: &Path, by_buf: &BTreeSet<Finding>) -> Result<BTreeSet<Finding>> {
    read_json_lines(abide, &["init", "--from", "buf.yaml", "--quiet"], folder)?;
    let mut findings = BTreeSet::new();
    for it in read_json_lines(abide, &[&["check"], ABIDE_JSON].concat(), folder)? {
        if it["kind"] != "finding" || it["severity"] != "error" {
            continue;
        }
        let path = it["path"].as_str().unwrap_or_default().to_owned();
        let aliases = it["aliases"].as_array().into_iter().flatten();
        let of_buf = aliases.filter_map(|alias| alias.as_str()?.strip_prefix("buf:")).next();
        let rule = of_buf.or(it["rule"].as_str()).unwrap_or_default().to_owned();
        let placeless = (path.clone(), None, rule.clone());
        findings.insert(match by_buf.contains(&placeless) {
            true => placeless,
            false => (path, it["start"]["line"].as_u64(), rule),
        });
    }
    Ok(findings)
}
