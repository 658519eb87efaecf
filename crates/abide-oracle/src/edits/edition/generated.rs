//! Generated code without the descriptors in it, which say in which edition a file is.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use abide_harness::Result;
use abide_harness::corpora::{self, Corpus};
use abide_harness::programs::{Protoc, stdout};

/// Each generator of protoc by its flag, and the endings of its files.
const GENERATORS: &[(&str, &[&str])] = &[
    ("cpp_out", &["h", "cc"]),
    ("java_out", &["java"]),
    ("python_out", &["py"]),
    ("pyi_out", &["pyi"]),
];

/// The files that the generators write for a tree, by path.
pub(super) fn generate(tree: &Corpus, protoc: &Protoc) -> Result<BTreeMap<PathBuf, String>> {
    let root = corpora::make_fresh_folder(&format!("{}-generated", tree.name))?;
    let mut command = protoc.command(&tree.roots());
    for (flag, _) in GENERATORS {
        let folder = root.join(flag);
        fs::create_dir_all(&folder)?;
        command.arg(format!("--{flag}={}", folder.display()));
    }
    stdout(command.arg(format!("@{}", tree.list()?.display())))?;
    let mut found = BTreeMap::new();
    collect_files(&root, &root, &mut found)?;
    fs::remove_dir_all(&root)?;
    Ok(found)
}

fn collect_files(root: &Path, folder: &Path, found: &mut BTreeMap<PathBuf, String>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect_files(root, &path, found)?;
            continue;
        }
        let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
        let ending = path.extension().unwrap_or_default().to_string_lossy();
        let is_known = GENERATORS.iter().any(|it| it.1.contains(&&*ending));
        if !is_known {
            return Err(format!("an unknown kind of generated file: {}", path.display()).into());
        }
        found.insert(path.strip_prefix(root)?.to_owned(), strip_descriptors(&text));
    }
    Ok(())
}

/// The lines of a file, without comments, descriptors and what loads the files of features.
fn strip_descriptors(text: &str) -> String {
    let mut kept = String::new();
    let mut is_descriptor = false;
    let mut is_list = false;
    for line in text.lines().map(str::trim) {
        // C++: the descriptors of imported files, of which those of features are new.
        if line.ends_with("_deps,") || line.starts_with("nullptr,") {
            continue;
        }
        if line.contains("_deps[") || line.ends_with("DescriptorTable* PROTOBUF_NONNULL const") {
            is_list = true;
        }
        if is_list {
            is_list = !line.starts_with("};");
            continue;
        }
        // Java: the descriptor, and what it registers, up to the end of the class of the file.
        is_descriptor |= line.starts_with("java.lang.String[] descriptorData");
        is_descriptor &= !line.starts_with("// @@protoc_insertion_point(outer_class_scope)");
        if !is_descriptor && !is_mark(line) {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// Returns true if a line is about the text of a file, or about the descriptor of it.
fn is_mark(line: &str) -> bool {
    const STARTS: [&str; 6] = ["\"", "//", "*", "/*", "#", "DESCRIPTOR = "];
    const PARTS: [&str; 5] =
        ["_serialized_", "_loaded_options", "_features", "_5ffeatures", "FeaturesProto"];
    let is_size = line.trim_end_matches(',').bytes().all(|it| it.is_ascii_digit());
    let is_include = line.starts_with("#include") && !line.contains("_features");
    !is_include
        && (is_size
            || STARTS.iter().any(|it| line.starts_with(it))
            || PARTS.iter().any(|it| line.contains(it)))
}

/// The first line that differs, on both sides.
pub(super) fn find_first_difference(before: Option<&String>, after: Option<&String>) -> String {
    let (Some(before), Some(after)) = (before, after) else {
        return if before.is_some() { "is no longer generated" } else { "is new" }.to_owned();
    };
    let (mut old, mut new) = (before.lines(), after.lines());
    loop {
        let pair = (old.next(), new.next());
        if pair.0 != pair.1 || pair.0.is_none() {
            let show = |it: Option<&str>| it.unwrap_or("the end").to_owned();
            return format!("`{}` became `{}`", show(pair.0), show(pair.1));
        }
    }
}
