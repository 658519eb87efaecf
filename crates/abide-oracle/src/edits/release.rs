//! The law of an upgrade and a release: the tree links at every step, and its own check reports
//! nothing that it did not report before.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use abide_harness::Result;
use abide_harness::corpora::{self, Corpus};
use abide_harness::programs::{Protoc, output};
use abide_schema::{PackageVersion, format_api_name};
use serde_json::Value;

use crate::edits::upgrade::compile_tree;

pub(crate) const CANDIDATE: &str = "package_version_status = NEXT_MAJOR_VERSION_CANDIDATE";

/// How many packages of googleapis are tried.
const SAMPLE: usize = 30;

/// The most files that a package of the sample may need.
const LARGEST: usize = 120;

/// Which packages these are.
const SEED: u64 = 14;

/// The options that name a package of generated code.
const LANGUAGE_PACKAGES: [&str; 6] = [
    "csharp_namespace",
    "go_package",
    "java_package",
    "objc_class_prefix",
    "php_namespace",
    "ruby_package",
];

/// A tree that is upgraded and released.
pub(crate) struct Life<'a> {
    pub(crate) source: &'a Corpus,
    pub(crate) told: String,
    pub(crate) preset: &'a str,
    /// What its `abide.toml` says.
    pub(crate) config: String,
    pub(crate) closure: &'a str,
}

/// What came of it.
pub(crate) struct Lived {
    pub(crate) told: String,
    pub(crate) faults: Vec<String>,
    /// Whether the tree was upgraded: a deprecated type that is in use prevents it.
    upgraded: bool,
}

/// The number of findings by whether the file was generated, the rule, the name of the file and the
/// name of the element.
type Findings = BTreeMap<(bool, String, String, String), usize>;

impl Life<'_> {
    /// Writes the candidates of a tree into it and releases them. Everything must link at every
    /// step, there must be no findings that the source did not have, no two majors may share a
    /// package of generated code, and a second release must do nothing.
    pub(crate) fn live(&self, protoc: &Protoc, abide: &Path) -> Result<Lived> {
        let Life { source, told, closure, .. } = self;
        let name = format!("{}-live", source.name);
        let root = corpora::make_fresh_folder(&name)?;
        for file in &source.files {
            corpora::write(&root.join(file), &fs::read(source.root.join(file))?)?;
        }
        // A check asks the policy, not the command line, which candidates are needed.
        // Real protos do not say how removed values are converted.
        let config = format!("rules.conversion-missing = \"off\"\n{}", self.config);
        fs::write(root.join("abide.toml"), config)?;
        let run = |args: &[&str]| -> Result<Output> {
            let mut command = Command::new(abide);
            command.args(args).arg(&root).args(["--preset", self.preset]);
            for import in &source.imports {
                command.arg("-I").arg(import);
            }
            output(&mut command)
        };
        let tree = || corpora::tree(&name, root.clone(), source.imports.clone());
        let links = |tree: &Corpus, files: &[String]| -> Result<()> {
            compile_tree(tree, &tree.roots(), files, protoc, false).map(drop)
        };
        let mut faults = Vec::new();
        let expect = |faults: &mut Vec<String>, ran: &Output, what: &str| {
            if !ran.status.success() {
                let said = String::from_utf8_lossy(&ran.stderr).into_owned();
                faults.push(format!("{what} of {told} fails: {said}"));
            }
        };

        let before = parse_findings(&run(&CHECK)?, &source.files)?;
        let upgraded = run(&["upgrade", "--write", "--quiet"])?;
        if String::from_utf8_lossy(&upgraded.stderr).contains("deprecated-type-in-use") {
            let told = "a deprecated type is in use".to_owned();
            return Ok(Lived { told, faults, upgraded: false });
        }
        expect(&mut faults, &upgraded, "the upgrade");
        // The source may refer to candidates that do not exist.
        let written = tree()?;
        let is_made = |file: &&String| source.files.binary_search(file).is_err();
        let made: Vec<String> = written.files.iter().filter(is_made).cloned().collect();
        if !made.is_empty() {
            links(&written, &made)?;
        }
        let after = parse_findings(&run(&CHECK)?, &source.files)?;
        let mut added = find_added(&before, &after);
        let all = added.len();
        // A package that is not upgraded may use both versions until the release.
        added.retain(|(_, rule, ..)| rule != "one-definition" || *closure != "type");
        let diamonds = all - added.len();
        let mut left_alphas = alphas_beside_candidates(&mut added);

        let release = ["release", "--write", "--outside-window", "--quiet"];
        expect(&mut faults, &run(&release)?, "the release");
        let now = tree()?;
        links(&now, &now.files)?;
        let state = || -> Result<BTreeMap<String, Vec<u8>>> {
            let files = tree()?.files.into_iter();
            files.map(|file| Ok((file.clone(), fs::read(root.join(file))?))).collect()
        };
        let released = state()?;
        let after = parse_findings(&run(&CHECK)?, &source.files)?;
        let mut since = self::find_added(&before, &after);
        left_alphas += alphas_beside_candidates(&mut since);
        added.extend(since);
        let candidate = |text: &&Vec<u8>| String::from_utf8_lossy(text).contains(CANDIDATE);
        let left = released.values().filter(candidate).count();
        faults.extend(list_shared_files(&released).map(|it| format!("{told}: {it}")));
        expect(&mut faults, &run(&release)?, "the second release");
        if state()? != released {
            faults.push(format!("a second release of {told} changes something"));
        }
        // With the closure `all`, most packages have no reason to be released.
        if left > 0 && *closure != "all" {
            faults.push(format!("the release of {told} leaves {left} candidates"));
        }
        let told = format!(
            "{} candidates link and add {} findings, {diamonds} of two definitions and {left_alphas} \
             of old alphas; released, the tree links, and {left} candidates stay",
            made.len(),
            added.len()
        );
        faults.extend(added.into_iter().map(|(is_made, rule, file, element)| {
            format!("{} adds {rule} in {file} at {element} (candidate: {is_made})", self.told)
        }));
        Ok(Lived { told, faults, upgraded: true })
    }
}

/// Upgrades and releases some packages of googleapis, each with what it imports; true if all obey
/// the law.
pub(crate) fn release_sample(
    googleapis: &Corpus,
    protoc: &Protoc,
    abide: &Path,
    show: usize,
) -> Result<bool> {
    let mut packages: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in &googleapis.files {
        let text = fs::read_to_string(googleapis.root.join(file))?;
        let package = text.lines().find_map(|it| it.strip_prefix("package ")?.strip_suffix(';'));
        let is_stable =
            |it: &&str| PackageVersion::from_package(it).is_some_and(|it| it.is_stable());
        if let Some(package) = package.filter(is_stable) {
            packages.entry(package.to_owned()).or_default().push(file.clone());
        }
    }
    let mut packages: Vec<(String, Vec<String>)> = packages.into_iter().collect();
    fastrand::Rng::with_seed(SEED).shuffle(&mut packages);
    let (mut tried, mut refused, mut faults) = (0, 0, Vec::new());
    for (package, files) in packages {
        if tried + refused == SAMPLE {
            break;
        }
        let source = corpora::with_imports(googleapis, "googleapis-package", files)?;
        if source.files.len() > LARGEST {
            continue;
        }
        let config = format!("upgrade.always = [\"{package}\"]\n");
        let told = format!("`{package}`");
        let life = Life { source: &source, told, preset: "google", config, closure: "package" };
        let lived = life.live(protoc, abide)?;
        match lived.upgraded {
            true => tried += 1,
            false => refused += 1,
        }
        faults.extend(lived.faults);
    }
    println!(
        "upgrade of googleapis: {tried} packages upgraded and released, {} faults; {refused} \
         refused because a deprecated type is in use",
        faults.len()
    );
    for fault in faults.iter().take(show.max(1) * 8) {
        println!("  {fault}");
    }
    Ok(faults.is_empty() && tried > 0)
}

/// The findings that were not there before, or not as often. A finding of a generated file may
/// come from its source.
fn find_added(before: &Findings, after: &Findings) -> Vec<(bool, String, String, String)> {
    let is_new = |(key, count): &(&(bool, String, String, String), &usize)| {
        let (_, rule, file, element) = *key;
        let had = before.get(&(false, rule.clone(), file.clone(), element.clone()));
        **count > had.copied().unwrap_or(0)
    };
    after.iter().filter(is_new).map(|(key, _)| key.clone()).collect()
}

/// Takes out the findings about old alphas that somebody left in the tree, and counts them: beside
/// a candidate they are one major too many, which is true and nothing that an upgrade may delete.
fn alphas_beside_candidates(added: &mut Vec<(bool, String, String, String)>) -> usize {
    let all = added.len();
    added.retain(|(is_made, rule, ..)| rule != "two-candidates" || *is_made);
    all - added.len()
}

/// The packages of generated code that two versions of an API share.
fn list_shared_files(files: &BTreeMap<String, Vec<u8>>) -> impl Iterator<Item = String> {
    let mut packages: BTreeMap<(&str, String), BTreeSet<String>> = BTreeMap::new();
    for text in files.values() {
        let text = String::from_utf8_lossy(text);
        let package = text.lines().find_map(|it| it.strip_prefix("package ")?.strip_suffix(';'));
        let Some(package) = package else { continue };
        for option in LANGUAGE_PACKAGES {
            let start = format!("option {option} = \"");
            let value =
                text.lines().find_map(|it| it.strip_prefix(&start)?.split(['"', ';']).next());
            if let Some(value) = value.filter(|it| !it.is_empty()) {
                let users = packages.entry((option, value.to_owned())).or_default();
                users.insert(package.to_owned());
            }
        }
    }
    packages.into_iter().filter_map(|((option, value), users)| {
        let stable =
            |it: &&String| PackageVersion::from_package(it).is_some_and(|it| it.is_stable());
        let users: Vec<&String> = users.iter().filter(stable).collect();
        let apis: BTreeSet<Option<String>> = users.iter().map(|it| format_api_name(it)).collect();
        (apis.len() < users.len()).then(|| format!("{users:?} share the {option} `{value}`"))
    })
}

const CHECK: [&str; 3] = ["check", "--format=json", "--as-of=2026-01-15"];

fn parse_findings(ran: &Output, source: &[String]) -> Result<Findings> {
    let mut found = Findings::new();
    for line in String::from_utf8_lossy(&ran.stdout).lines() {
        let line: Value = serde_json::from_str(line)?;
        let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
        if text("kind") != "finding" {
            continue;
        }
        let path = text("path");
        let last = |text: &str, at: char| text.rsplit(at).next().unwrap_or_default().to_owned();
        let is_made = source.binary_search(&path).is_err();
        let element =
            if text("element") == text("package") { String::new() } else { text("element") };
        let key = (is_made, text("rule"), last(&path, '/'), last(&element, '.'));
        *found.entry(key).or_default() += 1;
    }
    if found.is_empty() && ran.stdout.is_empty() {
        return Err(String::from_utf8_lossy(&ran.stderr).into_owned().into());
    }
    Ok(found)
}
