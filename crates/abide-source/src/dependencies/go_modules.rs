//! Go modules: those that `go.mod` requires, in `vendor` or in the cache of Go.

use std::path::{Path, PathBuf};

use super::machine::Machine;
use super::package::{FoundPackage, TreePlace, is_inner_path, is_path_part};
use crate::source::{LinkLimits, MountedFiles};

/// The modules that the nearest `go.mod` requires.
pub(super) fn list_modules(place: &TreePlace<'_>, machine: &Machine) -> Vec<FoundPackage> {
    let Some((folder, text)) = place.texts("go.mod").next() else { return Vec::new() };
    let GoRequirements { required, replaced } = GoRequirements::parse(&text);
    let files = |module: &GoModule| {
        let vendored = folder.join("vendor").join(&module.path);
        if vendored.is_dir() {
            return MountedFiles::Folder(vendored);
        }
        let replacement = replaced.iter().find(|it| it.is_of(module)).map(|it| &it.by);
        let found = match replacement {
            Some(Replacement::Folder(path)) => find_replacement(folder, path),
            Some(Replacement::Module(other)) => other.find_cached(machine),
            None => module.find_cached(machine),
        };
        found.map(MountedFiles::Folder).unwrap_or_else(|| {
            MountedFiles::Missing(format!(
                "the Go module `{}` is not in Go's cache at {}: run `go mod download {}`",
                module.path, module.version, module.path
            ))
        })
    };
    let found = |module: &GoModule| FoundPackage {
        name: module.path.clone(),
        version: module.version.clone(),
        files: files(module),
    };
    required.iter().map(found).collect()
}

/// A folder that replaces a module, if it is in reach of the tree.
fn find_replacement(folder: &Path, path: &str) -> Option<PathBuf> {
    let found = std::fs::canonicalize(folder.join(path)).ok()?;
    LinkLimits::around(folder, &[]).is_in_reach(&found).then_some(found).filter(|it| it.is_dir())
}

/// A module at a version.
#[derive(Debug, PartialEq, Eq)]
struct GoModule {
    path: String,
    version: String,
}

impl GoModule {
    fn new(path: &str, version: &str) -> Option<GoModule> {
        let [path, version] = [path, version].map(|it| it.trim_matches('"').to_owned());
        (is_inner_path(&path) && is_path_part(&version)).then_some(GoModule { path, version })
    }

    /// Its folder in the cache of Go.
    fn find_cached(&self, machine: &Machine) -> Option<PathBuf> {
        let name = format!("{}@{}", escape_upper(&self.path), escape_upper(&self.version));
        machine.go_cache.as_ref().map(|it| it.join(name)).filter(|it| it.is_dir())
    }
}

/// The name of a module on disks that do not tell cases apart: `!` before what was a capital.
fn escape_upper(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii_uppercase() {
            escaped.push('!');
        }
        escaped.push(c.to_ascii_lowercase());
    }
    escaped
}

/// The use of something else instead of a module.
#[derive(Debug, PartialEq, Eq)]
struct GoReplacement {
    path: String,
    /// `None`: all versions.
    version: Option<String>,
    by: Replacement,
}

#[derive(Debug, PartialEq, Eq)]
enum Replacement {
    Folder(String),
    Module(GoModule),
}

impl GoReplacement {
    fn is_of(&self, module: &GoModule) -> bool {
        self.path == module.path && self.version.as_ref().is_none_or(|it| *it == module.version)
    }
}

/// The parts of `go.mod` that choose versions.
#[derive(Debug, Default, PartialEq, Eq)]
struct GoRequirements {
    required: Vec<GoModule>,
    replaced: Vec<GoReplacement>,
}

impl GoRequirements {
    fn parse(text: &str) -> GoRequirements {
        let mut found = GoRequirements::default();
        let mut block = "";
        for line in text.lines() {
            let line = line.split("//").next().unwrap_or_default();
            let words: Vec<&str> = line.split_whitespace().collect();
            match &words[..] {
                [")"] => block = "",
                [word, "("] => block = word,
                [] => {}
                words if !block.is_empty() => found.add(block, words),
                [word, rest @ ..] => found.add(word, rest),
            }
        }
        found
    }

    fn add(&mut self, word: &str, rest: &[&str]) {
        match (word, rest) {
            ("require", [path, version]) => self.required.extend(GoModule::new(path, version)),
            ("replace", _) => self.replaced.extend(read_replacement(rest)),
            _ => {}
        }
    }
}

fn read_replacement(words: &[&str]) -> Option<GoReplacement> {
    let arrow = words.iter().position(|it| *it == "=>")?;
    let (was, by) = (words.get(..arrow)?, words.get(arrow + 1..)?);
    let by = match by {
        [path] => Replacement::Folder(path.trim_matches('"').to_owned()),
        [path, version] => Replacement::Module(GoModule::new(path, version)?),
        _ => return None,
    };
    let (path, version) = match was {
        [path] => (path, None),
        [path, version] => (path, Some((*version).to_owned())),
        _ => return None,
    };
    Some(GoReplacement { path: (*path).to_owned(), version, by })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_lines_and_comments_of_go_mod_are_read() {
        let text = "module a\n\ngo 1.21\n\nrequire (\n\tgithub.com/Acme/api v1.2.0 // indirect\n\t\
                    ../up v1\n)\nrequire k8s.io/api v0.28.1\nreplace k8s.io/api => ./staging\n\
                    replace (\n\tx.y/z v1.0.0 => x.y/w v2.0.0\n)\nexclude a.b/c v1.0.0\n";
        let found = GoRequirements::parse(text);
        let module = |path: &str, version: &str| GoModule::new(path, version).expect("it is one");
        assert_eq!(
            found.required,
            [module("github.com/Acme/api", "v1.2.0"), module("k8s.io/api", "v0.28.1")]
        );
        assert_eq!(found.replaced.len(), 2);
        assert!(found.replaced[0].is_of(&found.required[1]));
        assert_eq!(found.replaced[1].by, Replacement::Module(module("x.y/w", "v2.0.0")));
        assert_eq!(escape_upper("github.com/Acme/api"), "github.com/!acme/api");
    }
}
