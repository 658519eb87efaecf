//! Real trees to compare and to measure, unpacked under `target/`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::read::GzDecoder;

use crate::programs::{stdout, target, workspace};
use crate::{ExternalPaths, Result};

/// The release of google-proto-files for which figures are comparable.
const GOOGLEAPIS: &str = "google-proto-files@5.0.3";

/// An older release to compare with.
const GOOGLEAPIS_BEFORE: &str = "google-proto-files@4.2.0";

/// The archive that the others import from; it is not checked itself.
const DEPS: &str = "deps";

/// A tree, with what is needed to compile it.
#[derive(Clone)]
pub struct Corpus {
    /// The name by which reports call it.
    pub name: String,
    /// The folder from which its files are imported.
    pub root: PathBuf,
    /// Folders of imports that are not in the tree itself.
    pub imports: Vec<PathBuf>,
    /// Every file to compile, relative to the root, sorted.
    pub files: Vec<String>,
}

impl Corpus {
    fn new(name: &str, root: PathBuf, imports: Vec<PathBuf>) -> Result<Self> {
        let files = list_proto_files(&root)?;
        let name = name.to_owned();
        Ok(Self { name, root, imports, files })
    }

    /// The folders in which imports are looked up, the tree itself first.
    pub fn roots(&self) -> Vec<&Path> {
        [&self.root].into_iter().chain(&self.imports).map(PathBuf::as_path).collect()
    }

    /// Writes the list of files, which protoc accepts as `@LIST`: a command line
    /// cannot have thousands of names.
    pub fn list(&self) -> Result<PathBuf> {
        let path = stage()?.join(format!("{}.files", self.name));
        fs::write(&path, self.files.join("\n") + "\n")?;
        Ok(path)
    }

    /// The size of all its files in bytes.
    pub fn bytes(&self) -> Result<u64> {
        let sizes = self.files.iter().map(|file| Ok(fs::metadata(self.root.join(file))?.len()));
        sizes.sum()
    }
}

/// The tree in a folder with written files.
pub fn tree(name: &str, root: PathBuf, imports: Vec<PathBuf>) -> Result<Corpus> {
    Corpus::new(name, root, imports)
}

/// The folder of all unpacked trees.
pub fn stage() -> Result<PathBuf> {
    Ok(target()?.join("oracle"))
}

/// The trees of the archives beside the workspace; none if the folder does not
/// exist.
pub fn unpack_archives(paths: &ExternalPaths) -> Result<Vec<Corpus>> {
    let shared = paths.shared.clone().unwrap_or(workspace()?.join("../shared"));
    let folder = shared.join("corpora");
    let Ok(entries) = fs::read_dir(&folder) else {
        println!("SKIPPED: no `{}`: nothing is compared on its trees", folder.display());
        return Ok(Vec::new());
    };
    let mut names = BTreeSet::new();
    for entry in entries {
        let file_name = entry?.file_name();
        names.extend(file_name.to_string_lossy().strip_suffix(".tar.gz").map(str::to_owned));
    }
    let mut trees = Vec::new();
    for name in &names {
        let root = make_fresh_folder(name)?;
        let archive = fs::File::open(folder.join(format!("{name}.tar.gz")))?;
        tar::Archive::new(GzDecoder::new(archive)).unpack(&root)?;
        if name != DEPS {
            trees.push((name, root));
        }
    }
    let deps = stage()?.join(DEPS);
    trees.into_iter().map(|(name, root)| Corpus::new(name, root, vec![deps.clone()])).collect()
}

/// googleapis, installed by npm unless the caller names a folder.
///
/// The package's `google/protobuf` folder is left out: it would shadow the
/// well-known types of the protoc in use, and has editions that no released protoc
/// supports.
pub fn googleapis(paths: &ExternalPaths) -> Result<Corpus> {
    let package = match &paths.googleapis {
        Some(package) => package.clone(),
        None => find_installed(GOOGLEAPIS)?,
    };
    googleapis_in("googleapis", &package)
}

/// googleapis two years earlier.
pub fn googleapis_before() -> Result<Corpus> {
    googleapis_in("googleapis-before", &find_installed(GOOGLEAPIS_BEFORE)?)
}

fn googleapis_in(name: &str, package: &Path) -> Result<Corpus> {
    let root = make_fresh_folder(name)?;
    let files = list_proto_files(package)?;
    let (shadowing, files): (Vec<_>, Vec<_>) =
        files.iter().partition(|file| file.starts_with("google/protobuf/"));
    for file in files {
        write(&root.join(file), &fs::read(package.join(file))?)?;
    }
    println!("{name}: left out {}: {shadowing:?}", shadowing.len());
    Corpus::new(name, root, Vec::new())
}

/// Installs a package with npm in its own folder.
fn find_installed(package: &str) -> Result<PathBuf> {
    let prefix = target()?.join("npm").join(package);
    let folder = prefix.join("node_modules/google-proto-files");
    if !folder.exists() {
        fs::create_dir_all(&prefix)?;
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-save", "--no-audit", "--no-fund", "--prefix"]);
        stdout(npm.arg(&prefix).arg(package))?;
    }
    Ok(folder)
}

/// A tree with its imports as one tree that buf can read.
pub fn join_with_imports(tree: &Corpus) -> Result<Corpus> {
    let name = format!("envoy-{}", tree.name);
    let root = make_fresh_folder(&name)?;
    let mut from = vec![(&tree.root, tree.files.clone())];
    for import in &tree.imports {
        from.push((import, list_proto_files(import)?));
    }
    for (folder, files) in from {
        for file in &files {
            write(&root.join(file), &fs::read(folder.join(file))?)?;
        }
    }
    fs::write(root.join("buf.yaml"), "version: v2\n")?;
    Corpus::new(&name, root, Vec::new())
}

/// Releases of the crate envoy-types, which contains the Envoy API of its time with
/// all imports. Each tree is named after its version.
pub fn envoy_types(versions: &[&str]) -> Result<Vec<Corpus>> {
    let vendor = target()?.join("envoy-types");
    versions
        .iter()
        .map(|version| {
            let package = vendor.join(version).join("vendor/envoy-types/proto");
            if !package.exists() {
                fetch(&vendor.join(version), version)?;
            }
            let mut imports = Vec::new();
            for entry in fs::read_dir(&package)? {
                let path = entry?.path();
                if path.file_name() == Some("cel-spec".as_ref()) {
                    imports.push(path.join("proto"));
                } else if path.file_name() == Some("opencensus-proto".as_ref()) {
                    imports.push(path.join("src"));
                } else if path.file_name() != Some("data-plane-api".as_ref()) {
                    imports.push(path);
                }
            }
            imports.sort();
            Corpus::new(version, package.join("data-plane-api"), imports)
        })
        .collect()
}

/// Fetches a release with cargo, without building it.
fn fetch(folder: &Path, version: &str) -> Result<()> {
    write(&folder.join("src/lib.rs"), b"")?;
    let manifest = format!(
        "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\
         [dependencies]\nenvoy-types = {{ version = \"={version}\", default-features = false }}\n\
         [workspace]\n"
    );
    write(&folder.join("Cargo.toml"), manifest.as_bytes())?;
    let mut cargo = Command::new("cargo");
    stdout(cargo.current_dir(folder).args(["vendor", "--quiet", "vendor"])).map(drop)
}

/// A tree of these files.
pub fn write_tree(name: &str, files: &[(String, String)]) -> Result<Corpus> {
    let root = make_fresh_folder(name)?;
    for (path, text) in files {
        write(&root.join(path), text.as_bytes())?;
    }
    let imports = ["testdata/imports", "api"].map(|it| workspace().map(|root| root.join(it)));
    Corpus::new(name, root, imports.into_iter().collect::<Result<_>>()?)
}

/// Our own small files that compile, one for each feature and pitfall.
pub fn own() -> Result<Corpus> {
    folder("own", "testdata/protoc")
}

/// The files of one of our folders.
pub fn folder(name: &str, folder: &str) -> Result<Corpus> {
    let root = make_fresh_folder(name)?;
    let folder = workspace()?.join(folder);
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        if let Some(name) = path.file_name().filter(|_| path.extension() == Some("proto".as_ref()))
        {
            fs::copy(&path, root.join(name))?;
        }
    }
    Corpus::new(name, root, Vec::new())
}

/// Every `step`-th folder of a tree, with the imports of its files: a smaller tree
/// with similar files.
pub fn slice_tree(tree: &Corpus, step: usize) -> Result<Corpus> {
    let name = format!("{}-slice", tree.name);
    let folders: BTreeSet<_> = tree.files.iter().map(|file| Path::new(file).parent()).collect();
    let folders: BTreeSet<_> = folders.into_iter().step_by(step).collect();
    let inside = |file: &&String| folders.contains(&Path::new(file.as_str()).parent());
    let wanted = tree.files.iter().filter(inside).cloned().collect();
    with_imports(tree, &name, wanted)
}

/// Some files of a tree, with all that they import.
pub fn with_imports(tree: &Corpus, name: &str, mut wanted: Vec<String>) -> Result<Corpus> {
    let root = make_fresh_folder(name)?;
    let mut seen: BTreeSet<String> = wanted.iter().cloned().collect();
    while let Some(file) = wanted.pop() {
        let bytes = fs::read(tree.root.join(&file))?;
        for import in list_imports(&String::from_utf8_lossy(&bytes)) {
            if tree.root.join(import).exists() && seen.insert(import.to_owned()) {
                wanted.push(import.to_owned());
            }
        }
        write(&root.join(&file), &bytes)?;
    }
    Corpus::new(name, root, tree.imports.clone())
}

/// Several copies of googleapis, each in another package.
pub fn multiply_tree(tree: &Corpus, times: u32) -> Result<Corpus> {
    let name = format!("{}-times-{times}", tree.name);
    let root = make_fresh_folder(&name)?;
    for file in &tree.files {
        let text = String::from_utf8(fs::read(tree.root.join(file))?)?;
        for copy in 1..=times {
            let path = root.join(format!("w{copy}")).join(file);
            write(&path, move_to_copy(&text, copy).as_bytes())?;
        }
    }
    Corpus::new(&name, root, tree.imports.clone())
}

/// A file of googleapis moved into the package `w<copy>`.
///
/// A relative name still finds its target, since the innermost `google` is now
/// `w<copy>.google`; only the well-known types need a leading dot. Extensions
/// of the well-known options move to numbers of their own.
fn move_to_copy(text: &str, copy: u32) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    let mut extending = false;
    for line in text.split_inclusive('\n') {
        let code = line.trim_start();
        if let Some(path) = read_import(line).filter(|path| !path.starts_with("google/protobuf/")) {
            out.push_str(&line.replacen(path, &format!("w{copy}/{path}"), 1));
            continue;
        }
        if code.starts_with("package ") {
            out.push_str(&line.replacen("package ", &format!("package w{copy}."), 1));
            continue;
        }
        extending |= code.starts_with("extend google.protobuf.");
        extending &= !code.starts_with('}');
        let number = line.split_once(" = ").and_then(|(_, end)| {
            let digits = end.find(|c: char| !c.is_ascii_digit())?;
            end[..digits].parse::<u32>().ok()
        });
        let line = match number {
            Some(number) if extending => {
                line.replacen(&number.to_string(), &(number + copy * 1_000_000).to_string(), 1)
            }
            _ => line.to_owned(),
        };
        let mut rest = line.as_str();
        while let Some(at) = rest.find("google.") {
            let (before, name) = rest.split_at(at);
            out.push_str(before);
            let absolute = before.ends_with('.')
                && !before[..before.len() - 1].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            let alone = !before.ends_with(|c: char| c.is_alphanumeric() || "_./".contains(c));
            let known = name.starts_with("google.protobuf.");
            if known && alone {
                out.push('.');
            } else if absolute && !known {
                out.push_str(&format!("w{copy}."));
            }
            out.push_str("google.");
            rest = &name["google.".len()..];
        }
        out.push_str(rest);
    }
    out
}

/// The paths that a file imports, if each is on its own line.
fn list_imports(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(read_import)
}

fn read_import(line: &str) -> Option<&str> {
    let (keyword, rest) = line.trim_start().split_once('"')?;
    keyword.starts_with("import ").then(|| rest.split_once('"')).flatten().map(|(path, _)| path)
}

/// An empty folder with this name in the stage.
pub fn make_fresh_folder(name: &str) -> Result<PathBuf> {
    let folder = stage()?.join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Writes a file and the folders above it.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    Ok(fs::write(path, bytes)?)
}

/// All `.proto` files in a folder and its subfolders, relative to it, sorted.
pub fn list_proto_files(root: &Path) -> Result<Vec<String>> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let path = entry.path();
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else if path.extension() == Some("proto".as_ref()) {
                let relative = path.strip_prefix(root)?;
                files.push(relative.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::move_to_copy;

    #[test]
    fn a_moved_file_keeps_its_meaning() {
        let text = "package google.a.v1;\nimport \"google/api/http.proto\";\n\
                    import \"google/protobuf/any.proto\";\n\
                    extend google.protobuf.MethodOptions {\n  Rule http = 72295728 [packed = false];\n}\n\
                    .google.b.T t = 1 [(google.api.x) = \"a.google.protobuf.C\"];\n\
                    google.protobuf.Any any = 2; .google.protobuf.Any other = 3;\n";
        let expected = "package w2.google.a.v1;\nimport \"w2/google/api/http.proto\";\n\
                    import \"google/protobuf/any.proto\";\n\
                    extend .google.protobuf.MethodOptions {\n  Rule http = 74295728 [packed = false];\n}\n\
                    .w2.google.b.T t = 1 [(google.api.x) = \"a.google.protobuf.C\"];\n\
                    .google.protobuf.Any any = 2; .google.protobuf.Any other = 3;\n";
        assert_eq!(move_to_copy(text, 2), expected);
    }
}
