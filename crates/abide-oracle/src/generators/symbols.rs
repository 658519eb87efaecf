//! Compares the model of generated code with the real generators.
//!
//! Every symbol that `abide_change::symbols` claims must be declared in what the
//! generators write, with the same signature; and whatever they declare must be
//! claimed, or belong to a family that the model leaves out with a reason.

mod cpp;
mod declared;
mod go;
mod java;
mod tokens;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use abide_change::Language;
use abide_harness::Result;
use abide_harness::corpora::{self, Corpus, make_fresh_folder};
use abide_harness::programs::{Protoc, output, stdout, workspace};
use abide_schema::{Element, File, FileDecl, SourceFile, Tree, find_missing_imports};

use self::declared::Declared;

/// Our own files whose options have package names that are not valid names;
/// generators happen to write them.
const NO_NAMES: &[&str] = &["bad_utf8.proto", "bad_utf8_string.proto", "tolerated.proto"];

/// The symbols of one language for some files.
struct Sides {
    model: Declared,
    generated: Declared,
}

/// Compares the model with the generators on our own files and on a sample of a
/// real tree; true if nothing differs.
pub(crate) fn run(trees: &[Corpus], protoc: &Protoc, show: usize) -> Result<bool> {
    let generators = Generators::find()?;
    let mut own = corpora::own()?;
    // The generators are older than edition 2026.
    own.files.retain(|it| !it.starts_with("editions_2026"));
    let mut corpora = vec![own, corpora::folder("symbols", "testdata/symbols")?];
    if let Some(tree) = trees.iter().find(|tree| tree.name == "envoy-head") {
        corpora.push(corpora::slice_tree(tree, 12)?);
    }
    let mut agreed = true;
    for corpus in &corpora {
        let tree = tree(corpus)?;
        for language in Language::ALL {
            agreed &= compare(corpus, &tree, language, &generators, protoc, show)?;
        }
    }
    Ok(agreed)
}

struct Generators {
    protoc: PathBuf,
}

impl Generators {
    fn find() -> Result<Generators> {
        let protoc = protoc_bin_vendored::protoc_bin_path()?;
        let version = stdout(Command::new(&protoc).arg("--version"))?;
        let go = stdout(Command::new("protoc-gen-go").arg("--version"))
            .map_err(|error| format!("`apt-get install protoc-gen-go`: {error}"))?;
        let grpc = stdout(Command::new("protoc-gen-go-grpc").arg("--version"))
            .map_err(|error| format!("`apt-get install protoc-gen-go-grpc`: {error}"))?;
        println!("symbols: {}, {}, {}", version.trim(), go.trim(), grpc.trim());
        Ok(Generators { protoc })
    }

    fn command(&self, corpus: &Corpus, protoc: &Protoc) -> Command {
        let mut command = Command::new(&self.protoc);
        for root in corpus.roots().into_iter().chain([protoc.include.as_path()]) {
            command.arg("-I").arg(root);
        }
        command
    }
}

/// The path of gRPC's generator for a language, which prints no version.
fn find_plugin(plugin: &str) -> Result<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).map(|folder| folder.join(plugin));
    found.into_iter().find(|path| path.exists()).ok_or_else(|| {
        let packages = "protobuf-compiler-grpc protobuf-compiler-grpc-java-plugin";
        format!("no `{plugin}`: `apt-get install {packages}`").into()
    })
}

/// A corpus, linked with all its imports.
fn tree(corpus: &Corpus) -> Result<Tree> {
    let parse = |path: &str, bytes: Vec<u8>, imported: bool| {
        let path: Arc<str> = path.into();
        let (display, text) = (path.clone(), bytes.into());
        Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported, text }))
    };
    let mut files = Vec::new();
    for path in &corpus.files {
        files.push(parse(path, fs::read(corpus.root.join(path))?, false));
    }
    loop {
        let known = files.len();
        for path in find_missing_imports(&files) {
            let roots = corpus.imports.iter().map(|root| root.join(&*path));
            if let Some(file) = roots.into_iter().find(|file| file.exists()) {
                files.push(parse(&path, fs::read(file)?, true));
            }
        }
        if files.len() == known {
            return Ok(Tree::link(files));
        }
    }
}

fn compare(
    corpus: &Corpus,
    tree: &Tree,
    language: Language,
    generators: &Generators,
    protoc: &Protoc,
    show: usize,
) -> Result<bool> {
    let ours = |file: &File<'_>| {
        !file.path().starts_with("google/protobuf/") && !NO_NAMES.contains(&file.path())
    };
    let mut files: Vec<File<'_>> = tree.files().filter(ours).collect();
    let mut left_out = Vec::new();
    if language == Language::Go {
        // This release does not support editions.
        let (known, other) = files.into_iter().partition(|it| !it.decl().edition.is_edition());
        files = known;
        left_out = other;
    }
    let out = make_fresh_folder(&format!("symbols/{}-{}", corpus.name, name(language)))?;
    let refused = generate(corpus, &files, language, &out, generators, protoc)?;
    files.retain(|file| !refused.contains(file));
    left_out.extend(refused);

    let generated = match language {
        Language::Cpp => cpp::scan(&out, &files)?,
        Language::Go => go::scan(&out, &files)?,
        Language::Java => java::scan(&out)?,
        Language::Python => introspect(&out, &files)?,
    };
    let mut sides = Sides { model: Declared::new(), generated };
    if language == Language::Python {
        let refused = |file: &File<'_>| {
            let mark = format!("!{}", file.path());
            sides.generated.iter().any(|(name, _)| *name == mark)
        };
        let (other, known) = files.into_iter().partition(|file| refused(file));
        files = known;
        left_out.extend::<Vec<_>>(other);
        for (file, error) in sides.generated.extract_if(.., |(name, _)| name.starts_with('!')) {
            println!("  {}: {error}", &file[1..]);
        }
    }
    for file in &files {
        sides.model.extend(list_modelled_symbols(language, *file));
    }
    if sides.model.is_empty() {
        return Err(format!("nothing was compared in `{}`", corpus.name).into());
    }
    let missing: Vec<_> = sides.model.difference(&sides.generated).collect();
    let mut families = 0;
    let extra: Vec<_> = sides
        .generated
        .difference(&sides.model)
        .filter(|(symbol, signature)| {
            // The base class of all messages of a file is that of the first one.
            let is_base = signature.starts_with("class:");
            let is_family = match language {
                _ if is_base => true,
                Language::Cpp => cpp::is_left_out(symbol),
                Language::Go => go::is_left_out(symbol, signature),
                Language::Java => java::is_left_out(symbol, signature, &sides.model),
                Language::Python => false,
            };
            families += usize::from(is_family);
            !is_family
        })
        .collect();
    println!(
        "{} {}: {} files, {} not generated; {} symbols claimed, {} not found; \
         {} declared, {families} in families left out, {} not claimed",
        corpus.name,
        name(language),
        files.len(),
        left_out.len(),
        sides.model.len(),
        missing.len(),
        sides.generated.len(),
        extra.len(),
    );
    for (kind, symbols) in [("not found", &missing), ("not claimed", &extra)] {
        for (symbol, signature) in symbols.iter().take(show) {
            println!("  {kind}: {symbol}  {signature}");
        }
    }
    Ok(missing.is_empty() && extra.is_empty())
}

fn name(language: Language) -> &'static str {
    match language {
        Language::Cpp => "cpp",
        Language::Go => "go",
        Language::Java => "java",
        Language::Python => "python",
    }
}

/// Runs the generators of a language; returns the files that they refuse.
fn generate<'t>(
    corpus: &Corpus,
    files: &[File<'t>],
    language: Language,
    out: &Path,
    generators: &Generators,
    protoc: &Protoc,
) -> Result<Vec<File<'t>>> {
    let run = |files: &[File<'t>]| -> Result<bool> {
        let list = out.join("files.txt");
        let mut paths: Vec<&str> = files.iter().map(|file| file.path()).collect();
        if language == Language::Python {
            let tree = files.iter().flat_map(|file| file.tree.files());
            let features = tree.map(|file| file.path()).filter(|path| {
                path.starts_with("google/protobuf/") && path.ends_with("_features.proto")
            });
            paths.extend(features);
            paths.sort_unstable();
            paths.dedup();
        }
        fs::write(&list, paths.join("\n") + "\n")?;
        let mut command = generators.command(corpus, protoc);
        command.arg(format!("--{}_out={}", name(language), out.display()));
        if language == Language::Go {
            command.arg(format!("--go-grpc_out={}", out.display()));
            for plugin in ["go", "go-grpc"] {
                command.arg(format!("--{plugin}_opt=paths=source_relative"));
                // Without a valid import path in the file, a flag sets it.
                let has_path =
                    |file: &File<'_>| file.go_package().is_some_and(|(path, _)| path.contains("/"));
                for file in files[0].tree.files().filter(|file| !has_path(file)) {
                    let folder = file.path().rsplit_once('/').map_or("top", |(folder, _)| folder);
                    command.arg(format!("--{plugin}_opt=M{}=example.com/{folder}", file.path()));
                }
            }
        }
        let ran = output(command.arg(format!("@{}", list.display())))?;
        if !ran.status.success() {
            if let [file] = files {
                let said = String::from_utf8_lossy(&ran.stderr);
                let error = said.lines().find(|line| !line.contains("warning"));
                println!("  {}: {}", file.path(), error.unwrap_or_default());
            }
            return Ok(false);
        }
        if language == Language::Python {
            let mut grpc = protoc.command(&corpus.roots());
            grpc.arg(format!("--grpc_python_out={}", out.display()));
            stdout(grpc.arg(format!("@{}", list.display())))?;
        }
        if matches!(language, Language::Cpp | Language::Java) {
            let has_rpc = |file: &&File<'_>| {
                file.services().len() > 0
                    && !file.decl().edition.is_edition()
                    && (language == Language::Java || !is_generic(**file))
            };
            let paths: Vec<&str> = files.iter().filter(has_rpc).map(|file| file.path()).collect();
            let mut grpc = generators.command(corpus, protoc);
            let plugin = find_plugin(&format!("grpc_{}_plugin", name(language)))?;
            grpc.arg(format!("--plugin=protoc-gen-grpc={}", plugin.display()));
            grpc.arg(format!("--grpc_out={}", out.display()));
            if !paths.is_empty() {
                stdout(grpc.args(paths))?;
            }
        }
        Ok(true)
    };
    if run(files)? {
        return Ok(Vec::new());
    }
    let mut refused = Vec::new();
    for file in files {
        if !run(&[*file])? {
            refused.push(*file);
        }
    }
    Ok(refused)
}

/// Whether any generator writes the services of a file: gRPC's generators for C++
/// and Java do not support editions.
fn has_services(language: Language, file: File<'_>) -> bool {
    !matches!(language, Language::Cpp | Language::Java)
        || !file.decl().edition.is_edition()
        || is_generic(file)
}

fn is_generic(file: File<'_>) -> bool {
    let options = file.options();
    options.and_then(|options| options.get_bool(file.tree, "cc_generic_services")) == Some(true)
}

/// The symbols that the model claims for a file, without those that are not
/// declarations (an `#include`, an `import`) or that no available generator writes.
fn list_modelled_symbols(language: Language, file: File<'_>) -> Declared {
    let known = |it: &Element<'_>| {
        !matches!(it, Element::Service(_) | Element::Method(_)) || has_services(language, file)
    };
    let mut symbols: Vec<_> = file
        .elements()
        .filter(known)
        .flat_map(|it| abide_change::list_symbols(language, it))
        .collect();
    symbols.extend(abide_change::list_symbols_of_file(language, file));
    // These have no single declaration.
    symbols.retain(|it| !it.signature.contains("#include") && it.signature != "namespace");
    let normal = |symbol: abide_change::GeneratedSymbol| match language {
        Language::Cpp => Some(cpp::normal(&symbol, file)),
        Language::Go => go::normal(&symbol, file),
        Language::Java => Some((symbol.name, tokens::normalize_signature(&symbol.signature))),
        Language::Python => Some((symbol.name, symbol.signature)),
    };
    symbols.into_iter().filter_map(normal).collect()
}

/// What Python finds in the imported modules.
fn introspect(out: &Path, files: &[File<'_>]) -> Result<Declared> {
    let script = workspace()?.join("crates/abide-oracle/src/generators/symbols/introspect.py");
    let list = out.join("modules.txt");
    let paths: Vec<&str> = files.iter().map(|file| file.path()).collect();
    fs::write(&list, paths.join("\n") + "\n")?;
    let found = stdout(Command::new("python3").arg(script).arg(out).arg(list))?;
    let lines = found.lines().filter_map(|line| line.split_once('\t'));
    Ok(lines.map(|(name, signature)| (name.to_owned(), signature.to_owned())).collect())
}
