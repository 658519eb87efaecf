//! Computes the versions that the packages of a real API would have had: `abide
//! history` over the releases of the crate envoy-types, each as a commit.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use abide_harness::Result;
use abide_harness::corpora::{self, Corpus};
use abide_harness::programs::{stdout, workspace};
use abide_harness::repository::{Commit, build_repository};
use serde_json::Value;

/// Every release, oldest first.
const RELEASES: &[&str] = &[
    "0.1.0", "0.1.1", "0.2.0", "0.3.0", "0.4.0", "0.5.0", "0.5.1", "0.5.2", "0.5.3", "0.5.4",
    "0.5.5", "0.5.6", "0.6.0", "0.6.1", "0.7.0", "0.7.1", "0.7.2", "0.7.3", "0.7.4", "0.7.5",
    "0.7.6", "0.7.7",
];

/// The number of reasons in the table for a break; any other change has one.
const REASONS: usize = 2;

const TABLE: &str = "testdata/bump/envoy-types.md";

const HEAD: &str = "# The versions of Envoy's packages, release by release\n\n\
Every release of the crate `envoy-types` contains the Envoy API of its time. Here each release is \
a commit, oldest first, and `abide history` with the preset `envoy` computes the version of each \
package from its changes. `cargo xtask oracle --only versions` rewrites this file, and fails if \
it changes.\n\n\
A row is a package whose own meaning changed. `refused` is a break that no version of the package \
may have: `abide bump` does not record a version, and the history continues with a minor. \
`allowed` is a break of an element that was work in progress or, by its comment, not implemented; \
it counts as a minor. One line lists the packages that only depend on a changed type, another the \
first versions.\n";

/// Writes the table; true if it is unchanged.
pub(crate) fn run(abide: &Path) -> Result<bool> {
    let releases = corpora::envoy_types(RELEASES)?;
    let folder = build_repository("versions", &build_commits(&releases)?, 24)?;
    fs::write(
        folder.join("abide.toml"),
        "preset = \"envoy\"\nroots = [\"api\"]\nimport-paths = [\"deps\"]\n",
    )?;
    let told =
        stdout(Command::new(abide).args(["history", "--format", "json"]).current_dir(&folder))?;
    let lines = told.lines().map(|line| Ok(serde_json::from_str(line)?));
    let lines: Vec<Value> = lines.collect::<Result<_>>()?;
    let table = render_table(&lines)?;
    let path = workspace()?.join(TABLE);
    let before = fs::read_to_string(&path).unwrap_or_default();
    fs::write(&path, &table)?;
    let is_same = before == table;
    let said = if is_same { "as recorded" } else { "the table changed: review it" };
    println!("versions: {} releases, {said}", RELEASES.len());
    Ok(is_same)
}

/// A commit for each release, with its changes.
fn build_commits(releases: &[Corpus]) -> Result<Vec<Commit>> {
    let mut before: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut commits = Vec::new();
    for release in releases {
        let now = read_release_files(release)?;
        let gone = before.keys().filter(|path| !now.contains_key(*path));
        let mut files: Vec<_> = gone.map(|path| (path.clone(), None)).collect();
        let changed = now.iter().filter(|(path, text)| before.get(*path) != Some(text));
        files.extend(changed.map(|(path, text)| (path.clone(), Some(text.clone()))));
        commits.push(Commit { subject: release.name.clone(), files, side: Vec::new() });
        before = now;
    }
    Ok(commits)
}

/// The files of a release: those of the API, and its imports.
fn read_release_files(release: &Corpus) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    for path in &release.files {
        files.insert(format!("api/{path}"), fs::read(release.root.join(path))?);
    }
    for root in &release.imports {
        for path in corpora::list_proto_files(root)? {
            let text = fs::read(root.join(&path))?;
            files.entry(format!("deps/{path}")).or_insert(text);
        }
    }
    Ok(files)
}

fn render_table(lines: &[Value]) -> Result<String> {
    let mut out = HEAD.to_owned();
    let releases = lines.split(|line| line["kind"] == "commit").skip(1);
    let names = lines.iter().filter(|line| line["kind"] == "commit");
    let mut silent: BTreeSet<&str> = RELEASES.iter().copied().collect();
    for (commit, rows) in names.zip(releases) {
        let name = word(commit, "subject")?;
        silent.remove(name);
        let rows: Vec<&Value> = rows.iter().filter(|row| row["kind"] == "package").collect();
        write!(out, "\n## {name}\n\n")?;
        render_release(&mut out, &rows)?;
    }
    let silent: Vec<&str> = silent.into_iter().collect();
    writeln!(out, "\nReleases in which no proto of the API changed: {}.", silent.join(", "))?;
    Ok(out)
}

fn render_release(out: &mut String, rows: &[&Value]) -> Result<()> {
    let is = |row: &Value, key: &str| !row[key].is_null();
    let (there, first): (Vec<&&Value>, Vec<&&Value>) = rows.iter().partition(|row| is(row, "from"));
    let same = |row: &Value, key: &str| row[key] == row[format!("{key}_old")];
    let (catching, own): (Vec<&&Value>, Vec<&&Value>) =
        there.into_iter().filter(|row| !same(row, "closure")).partition(|row| same(row, "own"));
    if !own.is_empty() {
        writeln!(out, "| package | version | | why |\n|---|---|---|---|")?;
    }
    for row in &own {
        let required = match word(row, "verdict")? {
            "refused" => "refused",
            "breaking" => "allowed",
            _ if !is(row, "to") => "",
            _ => word(row, "required")?,
        };
        let version = match row["to"].as_str() {
            Some(to) => format!("{} → {to}", word(row, "from")?),
            None => format!("{} → gone", word(row, "from")?),
        };
        writeln!(
            out,
            "| {} | {version} | {required} | {} |",
            word(row, "package")?,
            render_reasons(row)?
        )?;
    }
    let listed = |rows: &[&&Value]| -> Result<String> {
        let names: Vec<&str> =
            rows.iter().map(|row| word(row, "package")).collect::<Result<_>>()?;
        Ok(names.join(", "))
    };
    if !catching.is_empty() {
        writeln!(out, "\nTo catch up, {}: {}.", catching.len(), listed(&catching)?)?;
    }
    match first.len() {
        0 => {}
        // All packages of the first release.
        count if count == rows.len() => {
            writeln!(out, "{count} packages start with the first version of their major.")?;
        }
        count => writeln!(out, "\nNew, {count}: {}.", listed(&first)?)?,
    }
    Ok(())
}

/// The most severe reasons of a row, one for each rule.
fn render_reasons(row: &Value) -> Result<String> {
    let all = row["reasons"].as_array().map(Vec::as_slice).unwrap_or_default();
    let counts: Vec<&Value> = all.iter().filter(|it| it["bump"] != "none").collect();
    let most = if word(row, "verdict")? == "compatible" { 1 } else { REASONS };
    let package = format!("{}.", word(row, "package")?);
    let mut rules: Vec<&str> = Vec::new();
    let mut told: Vec<String> = Vec::new();
    for reason in &counts {
        let rule = word(reason, "rule")?;
        if told.len() < most && !rules.contains(&rule) {
            let holder = word(reason, "element")?.strip_prefix(&package);
            let holder = holder.and_then(|it| it.rsplit_once('.')).map(|(holder, _)| holder);
            let holder = holder.map_or_else(String::new, |it| format!("`{it}`: "));
            let message = word(reason, "message")?.replace(&package, "").replace('|', "\\|");
            told.push(format!("{holder}{message}"));
            rules.push(rule);
        }
    }
    match counts.len() - told.len() {
        0 => {}
        more => told.push(format!("and {more} more")),
    }
    Ok(told.join("; "))
}

fn word<'v>(line: &'v Value, key: &str) -> Result<&'v str> {
    line[key].as_str().ok_or_else(|| format!("no `{key}` in {line}").into())
}
