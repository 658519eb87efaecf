//! `[[dependency]]`: trees of others that imports come from.

use abide_syntax::Span;
use toml_edit::{Item, TableLike};

use super::toml_reader::{TomlReader, entries, span};
use crate::wording::suggest;

/// A tree of others that imports come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigDependency {
    /// Its name, which is also that of its folder.
    pub name: String,
    /// The place that it comes from.
    pub origin: DependencyOrigin,
    /// The commit, tag or branch of a repository; `None`: its default branch.
    pub rev: Option<String>,
    /// The folder of it that import paths count from; "" is its top.
    pub subdir: String,
    /// The files and folders to bring, from `subdir`; if empty, all.
    pub paths: Vec<String>,
    /// The beginning of the import paths of its files that its folders leave out.
    pub import_prefix: String,
    /// Where the table stands.
    pub span: Span,
}

/// The place that a dependency comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DependencyOrigin {
    /// A git repository, by its URL.
    Git(String),
    /// A package of another tool, which that tool brings.
    Package(PackageKind, String),
}

impl DependencyOrigin {
    /// Reads what `from` holds: `buf.build/acme/api`, `go:example.com/api`, `npm:@acme/api`, …
    pub fn parse(text: &str) -> Option<DependencyOrigin> {
        let named = |kind: &PackageKind| {
            let name = text.strip_prefix(kind.word())?.strip_prefix(':')?;
            is_package_name(name).then(|| DependencyOrigin::Package(*kind, name.to_owned()))
        };
        if let Some(named) = PackageKind::ALL.iter().find_map(named) {
            return Some(named);
        }
        let parts: Vec<&str> = text.split('/').collect();
        let is_module = parts.len() == 3 && parts[0].contains('.') && is_package_name(text);
        is_module.then(|| DependencyOrigin::Package(PackageKind::Buf, text.to_owned()))
    }

    /// The text that `from` or `git` holds.
    pub fn written(&self) -> String {
        match self {
            DependencyOrigin::Git(url) => url.clone(),
            DependencyOrigin::Package(PackageKind::Buf, name) => name.clone(),
            DependencyOrigin::Package(kind, name) => format!("{}:{name}", kind.word()),
        }
    }
}

/// A kind of package that may hold protos.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PackageKind {
    /// A module of buf's registry, in buf's cache.
    Buf,
    /// A Go module, in `vendor` or in Go's cache.
    Go,
    /// A crate, in Cargo's sources.
    Cargo,
    /// A distribution of Python, in `site-packages`.
    Python,
    /// A package of npm, in `node_modules`.
    Npm,
    /// An external repository of Bazel.
    Bazel,
}

impl PackageKind {
    /// Every kind, in the order in which they are searched.
    pub const ALL: &[PackageKind] = &[
        PackageKind::Buf,
        PackageKind::Go,
        PackageKind::Python,
        PackageKind::Npm,
        PackageKind::Cargo,
        PackageKind::Bazel,
    ];

    /// The word before the colon of `from`.
    pub const fn word(self) -> &'static str {
        match self {
            PackageKind::Buf => "buf",
            PackageKind::Go => "go",
            PackageKind::Cargo => "cargo",
            PackageKind::Python => "python",
            PackageKind::Npm => "npm",
            PackageKind::Bazel => "bazel",
        }
    }
}

/// Returns true if a name is safe to be a part of a path: no folder of it leads up or is hidden.
fn is_package_name(name: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && !part.contains(|c: char| c.is_whitespace() || c.is_control() || c == '\\')
    };
    name.split('/').all(is_part)
}

/// Returns true if a path stays in its folder: relative, with `/`, and without `..`.
fn is_inside(path: &str) -> bool {
    let is_part = |part: &str| part != ".." && !part.contains(['\\', ':']);
    !path.starts_with('/') && path.split('/').all(is_part)
}

/// Returns true if a name can be that of a folder, and be written in a lock.
fn is_folder_name(name: &str) -> bool {
    let is_usual = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !name.is_empty() && !name.starts_with('.') && name.chars().all(is_usual)
}

/// A path without `.` and empty parts.
fn normalize(path: &str) -> String {
    path.split('/').filter(|it| !matches!(*it, "" | ".")).collect::<Vec<_>>().join("/")
}

impl TomlReader<'_> {
    /// `[[dependency]]`, in the order of the text.
    pub(super) fn config_dependencies(&mut self, item: &Item) -> Vec<ConfigDependency> {
        let mut all: Vec<ConfigDependency> = Vec::new();
        for (table, at) in self.tables(item) {
            let Some(one) = self.config_dependency(table, at) else { continue };
            if all.iter().any(|it| it.name == one.name) {
                let message = format!("two dependencies are named `{}`", one.name);
                self.error(at, message, Some("give each its own name".to_owned()));
            }
            all.push(one);
        }
        all
    }

    fn config_dependency(&mut self, table: &dyn TableLike, at: Span) -> Option<ConfigDependency> {
        const KEYS: &[&str] = &["name", "git", "from", "rev", "subdir", "paths", "import-prefix"];
        let before = self.errors.len();
        let (mut name, mut git, mut from, mut rev) = (None, None, None, None);
        let (mut subdir, mut import_prefix, mut paths) = (String::new(), String::new(), Vec::new());
        for entry in entries(table) {
            let item = entry.item;
            match entry.key {
                "name" => name = self.folder_name(item),
                "git" => git = self.repository_url(item),
                "from" => from = self.package_origin(item),
                "rev" => rev = self.revision(item),
                "subdir" => subdir = self.inner_path(item).unwrap_or_default(),
                "import-prefix" => import_prefix = self.inner_path(item).unwrap_or_default(),
                "paths" => {
                    for (path, at) in self.strings(item) {
                        paths.extend(self.check_inner_path(&path, at));
                    }
                }
                _ => self.unknown_key(&entry, "`[[dependency]]`", KEYS),
            }
        }
        if self.errors.len() > before {
            return None;
        }
        let origin = match (git, from) {
            (Some(git), None) => git,
            (None, Some(from)) => from,
            (both, _) => {
                let message = match both {
                    Some(_) => "a dependency has `git` or `from`, not both",
                    None => "a dependency needs `git` or `from`",
                };
                let help = "write `git = \"https://…\"`, or `from = \"buf.build/OWNER/NAME\"`";
                self.error(at, message, Some(help.to_owned()));
                return None;
            }
        };
        let Some(name) = name.or_else(|| suggest_name(&origin)) else {
            self.error(at, "a dependency needs `name`", None);
            return None;
        };
        Some(ConfigDependency { name, origin, rev, subdir, paths, import_prefix, span: at })
    }

    fn folder_name(&mut self, item: &Item) -> Option<String> {
        let name = self.string(item)?;
        if is_folder_name(&name) {
            return Some(name);
        }
        let help = "use letters, digits, `-`, `_` and `.`: it names a folder".to_owned();
        self.error(span(item), format!("`{name}` is not the name of a dependency"), Some(help));
        None
    }

    fn repository_url(&mut self, item: &Item) -> Option<DependencyOrigin> {
        let url = self.string(item)?;
        // The git program would take what begins with a dash for an option.
        let is_url = !url.is_empty()
            && !url.starts_with('-')
            && !url.contains(|c: char| c.is_whitespace() || c.is_control());
        if is_url && !url.starts_with("ext::") {
            return Some(DependencyOrigin::Git(url));
        }
        let help = "write one such as `https://github.com/googleapis/googleapis`".to_owned();
        self.error(span(item), format!("`{url}` is not the URL of a repository"), Some(help));
        None
    }

    fn package_origin(&mut self, item: &Item) -> Option<DependencyOrigin> {
        let text = self.string(item)?;
        let found = DependencyOrigin::parse(&text);
        if found.is_none() {
            let words = PackageKind::ALL.iter().map(|it| it.word());
            let before = text.split(':').next().unwrap_or_default();
            let near = suggest(before, words.clone()).filter(|_| text.contains(':'));
            let words: Vec<String> = words.map(|it| format!("`{it}:NAME`")).collect();
            let help = near.unwrap_or_else(|| {
                format!("write `buf.build/OWNER/NAME`, or one of {}", words.join(", "))
            });
            self.error(span(item), format!("`{text}` does not name a package"), Some(help));
        }
        found
    }

    fn revision(&mut self, item: &Item) -> Option<String> {
        let rev = self.string(item)?;
        let is_odd = |c: char| c.is_whitespace() || c.is_control() || matches!(c, ':' | '~' | '^');
        if !rev.is_empty() && !rev.starts_with('-') && !rev.contains(is_odd) {
            return Some(rev);
        }
        let help = "name a commit, a tag or a branch".to_owned();
        self.error(span(item), format!("`{rev}` is not a revision"), Some(help));
        None
    }

    /// A path that stays in its folder.
    pub(super) fn inner_path(&mut self, item: &Item) -> Option<String> {
        let path = self.string(item)?;
        self.check_inner_path(&path, span(item))
    }

    fn check_inner_path(&mut self, path: &str, at: Span) -> Option<String> {
        if is_inside(path) {
            return Some(normalize(path));
        }
        let help = "write a relative path with `/`, without `..`".to_owned();
        self.error(at, format!("`{path}` leads out of its folder"), Some(help));
        None
    }
}

/// The name of a dependency without one: the last part of where it comes from.
fn suggest_name(origin: &DependencyOrigin) -> Option<String> {
    let written = match origin {
        DependencyOrigin::Git(url) => url.trim_end_matches('/').trim_end_matches(".git"),
        DependencyOrigin::Package(_, name) => name,
    };
    let last = written.rsplit(['/', ':']).next()?;
    is_folder_name(last).then(|| last.to_owned())
}
